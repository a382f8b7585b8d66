/* SPDX-License-Identifier: AGPL-3.0-or-later */
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "snapshot.h"

#define FREE (-1)
#define SLICE_US 500u
#define MAX_RUN_MS 60000u

static const char OK[] = "ok";

/* --- the lines; each answers "ok", or what is wrong with it --- */

static const char *on_press(board_t *b, const char *rest) {
    int seat, button;
    if (sscanf(rest, "%d %d", &seat, &button) != 2) {
        return "error press SEAT BUTTON";
    }
    return chain_press(&b->chain, seat, button) ? OK : "error seats 0 to 3, buttons 0 to 5";
}

static const char *on_dice(board_t *b, const char *rest) {
    int first, second;
    if (sscanf(rest, "%d %d", &first, &second) != 2) {
        return "error dice A B";
    }
    return chain_dice(&b->chain, first, second) ? OK : "error a die shows 1 to 6";
}

static const char *set_contact(bool *open, const char *rest) {
    if (strcmp(rest, "open") != 0 && strcmp(rest, "closed") != 0) {
        return "error say open or closed";
    }
    *open = strcmp(rest, "open") == 0;
    return OK;
}

static const char *on_e_stop(board_t *b, const char *rest) {
    return set_contact(&b->machine.e_stop_open, rest);
}

static const char *on_cover(board_t *b, const char *rest) {
    return set_contact(&b->machine.cover_open, rest);
}

static const char *on_fault(board_t *b, const char *rest) {
    static char answer[160];
    const char *wrong = machine_break(&b->machine, rest);
    if (wrong == NULL) {
        return OK;
    }
    snprintf(answer, sizeof answer, "error %s", wrong);
    return answer;
}

static const char *on_repair(board_t *b, const char *rest) {
    (void)rest;
    machine_repair(&b->machine);
    return OK;
}

static const char *on_add_tiles(board_t *b, const char *rest) {
    int side, tiles;
    if (sscanf(rest, "%d %d", &side, &tiles) != 2 || side < 0 || side >= SIDES || tiles < 0) {
        return "error add-tiles SIDE N";
    }
    b->machine.supply[side] += tiles;
    return OK;
}

static const char *start(board_t *b, const char *reason) {
    return board_power_on(b, reason) ? OK
                                     : "error REASON: power-on external brown-out watchdog software";
}

static const char *on_power(board_t *b, const char *rest) {
    if (strcmp(rest, "off") == 0) {
        board_power_off(b);
        return OK;
    }
    if (strncmp(rest, "on", 2) != 0) {
        return "error power off, or power on [REASON]";
    }
    return start(b, rest[2] == ' ' ? rest + 3 : "power-on");
}

static const char *on_restart(board_t *b, const char *rest) {
    const char *reason = *rest ? rest : "watchdog";
    if (strcmp(reason, "power-on") == 0) {
        board_power_off(b);
    }
    return start(b, reason);
}

static const char *on_hang(board_t *b, const char *rest) {
    (void)rest;
    return board_hang(b) ? OK : "error the firmware has no endless loop to be put into";
}

static const char *on_eeprom(board_t *b, const char *rest) {
    unsigned address, byte;
    int end;
    uint8_t memory[EEPROM_SIZE];
    if (b->powered) {
        return "error power off first";
    }
    if (sscanf(rest, "%i %n", (int *)&address, &end) != 1 || rest[end] == '\0') {
        return "error eeprom ADDRESS HEX";
    }
    board_read_eeprom(b, memory);
    for (const char *hex = rest + end; *hex != '\0'; hex += 2) {
        if (sscanf(hex, "%2x", &byte) != 1 || hex[1] == '\0' || address >= EEPROM_SIZE) {
            return "error eeprom ADDRESS HEX, 4096 bytes there are";
        }
        memory[address++] = (uint8_t)byte;
    }
    board_write_eeprom(b, memory);
    return OK;
}

static const char *on_machine(board_t *b, const char *rest) {
    double speed;
    if (sscanf(rest, "%lf", &speed) != 1 || !(speed > 0 && speed <= 100)) {
        return "error machine SPEED";
    }
    b->machine_speed = speed;
    return OK;
}

bool control_run(board_t *b, uint32_t us) {
    for (uint32_t left = us; left > 0;) {
        uint32_t slice = left < SLICE_US ? left : SLICE_US;
        serial_exchange(&b->serial);
        if (!board_run(b, (uint64_t)b->avr->frequency / 1000000u * slice)) {
            return false;
        }
        left -= slice;
    }
    serial_exchange(&b->serial);
    return true;
}

static const char *on_run(board_t *b, const char *rest) {
    unsigned ms;
    if (sscanf(rest, "%u", &ms) != 1 || ms > MAX_RUN_MS) {
        return "error run MS, 60000 at most";
    }
    return control_run(b, 1000u * ms) ? OK : "error the firmware has crashed";
}

static const struct {
    const char *name;
    const char *(*answer)(board_t *, const char *);
} LINES[] = {
    {"press", on_press},   {"dice", on_dice},     {"e-stop", on_e_stop},
    {"cover", on_cover},   {"fault", on_fault},   {"repair", on_repair},
    {"power", on_power},   {"hang", on_hang},     {"restart", on_restart},
    {"eeprom", on_eeprom}, {"machine", on_machine}, {"add-tiles", on_add_tiles},
    {"run", on_run},
};

void control_answer(control_t *c, board_t *b, char *line, char answer[CONTROL_ANSWER]) {
    char *rest = strchr(line, ' ');
    if (rest != NULL) {
        *rest++ = '\0';
    } else {
        rest = line + strlen(line);
    }
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        if (strcmp(line, LINES[i].name) == 0) {
            snprintf(answer, CONTROL_ANSWER, "%s", LINES[i].answer(b, rest));
            return;
        }
    }
    if (strcmp(line, "snapshot") == 0) {
        size_t used = (size_t)snprintf(answer, CONTROL_ANSWER, "ok ");
        snapshot_write(b, c->behind, answer + used, CONTROL_ANSWER - used);
    } else if (strcmp(line, "quit") == 0) {
        c->quit = true;
        snprintf(answer, CONTROL_ANSWER, "ok");
    } else {
        snprintf(answer, CONTROL_ANSWER, "error no such line: %.60s", line);
    }
}

/* --- the socket --- */

void control_init(control_t *c) {
    for (int i = 0; i < CONTROL_CLIENTS; i++) {
        c->clients[i].fd = FREE;
    }
    c->listener = FREE;
}

const char *control_open(control_t *c, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (path == NULL) {
        return NULL;
    }
    if (strlen(path) >= sizeof address.sun_path) {
        return "the control socket's path is too long (107 characters at most)";
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    unlink(path);
    c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->listener < 0 || bind(c->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(c->listener, CONTROL_CLIENTS) != 0) {
        return strerror(errno);
    }
    c->path = path;
    return NULL;
}

static void hang_up(control_client_t *client) {
    close(client->fd);
    client->fd = FREE;
}

static void accept_one(control_t *c) {
    int fd = accept4(c->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        return;
    }
    for (int i = 0; i < CONTROL_CLIENTS; i++) {
        if (c->clients[i].fd == FREE) {
            c->clients[i].fd = fd;
            c->clients[i].length = 0;
            return;
        }
    }
    close(fd);
}

static void answer_lines(control_t *c, board_t *b, control_client_t *client) {
    char answer[CONTROL_ANSWER];
    char *end;
    while (client->fd != FREE &&
           (end = memchr(client->line, '\n', client->length)) != NULL) {
        *end = '\0';
        control_answer(c, b, client->line, answer);
        size_t length = strlen(answer);
        answer[length++] = '\n';
        if (send(client->fd, answer, length, MSG_NOSIGNAL) != (ssize_t)length) {
            hang_up(client);
            return;
        }
        client->length -= (size_t)(end + 1 - client->line);
        memmove(client->line, end + 1, client->length);
    }
}

static void wait_for_lines(const control_t *c, int wait_ms) {
    struct pollfd watched[1 + CONTROL_CLIENTS] = {{c->listener, POLLIN, 0}};
    nfds_t count = 1;
    for (int i = 0; i < CONTROL_CLIENTS; i++) {
        if (c->clients[i].fd != FREE) {
            watched[count++] = (struct pollfd){c->clients[i].fd, POLLIN, 0};
        }
    }
    poll(watched, count, wait_ms);
}

void control_serve(control_t *c, board_t *b, int wait_ms) {
    if (c->listener == FREE) {
        return;
    }
    if (wait_ms > 0) {
        wait_for_lines(c, wait_ms);
    }
    accept_one(c);
    for (int i = 0; i < CONTROL_CLIENTS; i++) {
        control_client_t *client = &c->clients[i];
        if (client->fd == FREE) {
            continue;
        }
        size_t space = CONTROL_LINE - client->length;
        ssize_t count = recv(client->fd, client->line + client->length, space, 0);
        if (count == 0 || (count < 0 && errno != EAGAIN) || space == 0) {
            hang_up(client);
        } else if (count > 0) {
            client->length += (size_t)count;
            answer_lines(c, b, client);
        }
    }
}

void control_close(control_t *c) {
    for (int i = 0; i < CONTROL_CLIENTS; i++) {
        if (c->clients[i].fd != FREE) {
            hang_up(&c->clients[i]);
        }
    }
    if (c->listener != FREE) {
        close(c->listener);
    }
    if (c->path != NULL) {
        unlink(c->path);
    }
}
