/* A table as a process: the core on a pseudo-terminal, its machine on control lines (README.md).
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "world.h"

#define TICK_MS 2
#define LATE_MS 500 /* a process that slept longer does not make up for it */
#define REPLY_MAX 8192
#define LINE_MAX_BYTES 256

typedef struct {
    const char *pty, *control, *memory, *patch;
    double speed;
    unsigned seed;
} options_t;

typedef struct {
    int line, line_far, listener, client;
    char request[LINE_MAX_BYTES];
    size_t request_length;
} ends_t;

static volatile sig_atomic_t stopping;

static void on_signal(int number) {
    (void)number;
    stopping = 1;
}

static void die(const char *what) {
    fprintf(stderr, "table_peer: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

/* --- options --- */

static void usage(void) {
    fputs("usage: table_peer --pty PATH [--control PATH] [--speed S] [--seed N] "
          "[--memory FILE] [--patch tc_identity=HEX]\n",
          stderr);
    exit(2);
}

static options_t parse(int argc, char **argv) {
    static const struct option names[] = {
        {"pty", required_argument, NULL, 'p'},    {"control", required_argument, NULL, 'c'},
        {"speed", required_argument, NULL, 's'},  {"seed", required_argument, NULL, 'n'},
        {"memory", required_argument, NULL, 'm'}, {"patch", required_argument, NULL, 'x'},
        {NULL, 0, NULL, 0},
    };
    options_t options = {NULL, NULL, NULL, NULL, 1.0, 0};
    int which;
    while ((which = getopt_long(argc, argv, "", names, NULL)) != -1) {
        char *end = optarg;
        switch (which) {
        case 'p': options.pty = optarg; break;
        case 'c': options.control = optarg; break;
        case 's': options.speed = strtod(optarg, &end); break;
        case 'n': options.seed = (unsigned)strtoul(optarg, &end, 0); break;
        case 'm': options.memory = optarg; break;
        case 'x': options.patch = optarg; break;
        default: usage();
        }
        if ((which == 's' || which == 'n') && (*end != '\0' || end == optarg)) {
            usage();
        }
    }
    if (options.pty == NULL || !(options.speed > 0) || optind != argc) {
        usage();
    }
    return options;
}

/* --- ends --- */

static void open_line(ends_t *ends, const char *path) {
    struct termios raw;
    char name[128];
    if (openpty(&ends->line, &ends->line_far, NULL, NULL, NULL) != 0 ||
        tcgetattr(ends->line_far, &raw) != 0) {
        die("pseudo-terminal");
    }
    cfmakeraw(&raw);
    struct stat there;
    if (tcsetattr(ends->line_far, TCSANOW, &raw) != 0 ||
        ttyname_r(ends->line_far, name, sizeof name) != 0) {
        die("pseudo-terminal");
    }
    if (lstat(path, &there) == 0 && !S_ISLNK(there.st_mode)) {
        fprintf(stderr, "table_peer: %s exists and is no symbolic link\n", path);
        exit(2);
    }
    (void)unlink(path);
    if (symlink(name, path) != 0 || fcntl(ends->line, F_SETFL, O_NONBLOCK) != 0) {
        die(path);
    }
}

static void open_control(ends_t *ends, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    ends->listener = ends->client = -1;
    if (path == NULL) {
        return;
    }
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        die(path);
    }
    strcpy(address.sun_path, path);
    (void)unlink(path);
    ends->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (ends->listener < 0 ||
        bind(ends->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(ends->listener, 4) != 0) {
        die(path);
    }
}

static void load_memory(world_t *world, const char *path) {
    FILE *file = path != NULL ? fopen(path, "rb") : NULL;
    if (file == NULL) {
        return; /* a new one */
    }
    (void)!fread(world->hal.eeprom, 1, HAL_EEPROM_SIZE, file);
    fclose(file);
}

static void save_memory(const world_t *world, const char *path) {
    FILE *file = path != NULL ? fopen(path, "wb") : NULL;
    if (path != NULL && (file == NULL || fwrite(world->hal.eeprom, 1, HAL_EEPROM_SIZE, file) !=
                                             HAL_EEPROM_SIZE)) {
        die(path);
    }
    if (file != NULL) {
        fclose(file);
    }
}

/* --- turning --- */

static void hang_up(ends_t *ends) {
    close(ends->client);
    ends->client = -1;
    ends->request_length = 0;
}

static void answer(world_t *world, ends_t *ends, const char *line) {
    static char reply[REPLY_MAX];
    if (strcmp(line, "quit") == 0) {
        stopping = 1;
        strcpy(reply, "ok");
    } else {
        world_control(world, line, reply, sizeof reply - 1);
    }
    strcat(reply, "\n");
    if (send(ends->client, reply, strlen(reply), MSG_NOSIGNAL) < 0) {
        hang_up(ends);
    }
}

static void read_control(world_t *world, ends_t *ends) {
    size_t room = sizeof ends->request - ends->request_length - 1;
    ssize_t got = recv(ends->client, ends->request + ends->request_length, room, 0);
    if (got <= 0) {
        if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            hang_up(ends);
        }
        return;
    }
    ends->request_length += (size_t)got;
    ends->request[ends->request_length] = '\0';
    char *line = ends->request, *end;
    while (ends->client >= 0 && (end = strchr(line, '\n')) != NULL) {
        *end = '\0';
        answer(world, ends, line);
        line = end + 1;
    }
    if (ends->client < 0) {
        return;
    }
    ends->request_length = strlen(line);
    memmove(ends->request, line, ends->request_length + 1);
    if (ends->request_length >= sizeof ends->request - 1) {
        hang_up(ends); /* no line is so long */
    }
}

static void read_line(world_t *world, const ends_t *ends, uint32_t wire_ms) {
    uint8_t data[1024];
    ssize_t got = read(ends->line, data, sizeof data);
    if (got > 0) {
        world_receive(world, data, (size_t)got, wire_ms);
    }
}

static void write_line(world_t *world, const ends_t *ends) {
    uint8_t data[WORLD_OUTPUT];
    size_t length = world_take_output(world, data, sizeof data);
    if (length > 0 && write(ends->line, data, length) < 0 && errno != EAGAIN && errno != EIO) {
        die("writing to the line"); /* who does not read loses bytes, as on a wire */
    }
}

static void wait_for(const ends_t *ends) {
    struct pollfd fds[3] = {
        {ends->line, POLLIN, 0}, {ends->listener, POLLIN, 0}, {ends->client, POLLIN, 0}};
    (void)poll(fds, 3, TICK_MS);
}

static void run(world_t *world, ends_t *ends, double speed) {
    uint64_t start = now_us(), last = start;
    double owed = 0; /* milliseconds of the machine */
    while (!stopping) {
        wait_for(ends);
        uint64_t now = now_us();
        uint64_t elapsed = now - last < LATE_MS * 1000u ? now - last : LATE_MS * 1000u;
        last = now;
        uint32_t wire_ms = (uint32_t)((now - start) / 1000u);
        if (ends->listener >= 0 && ends->client < 0) {
            ends->client = accept4(ends->listener, NULL, NULL, SOCK_NONBLOCK);
        }
        if (ends->client >= 0) {
            read_control(world, ends);
        }
        read_line(world, ends, wire_ms);
        owed += (double)elapsed / 1000.0 * speed;
        uint32_t ticks = (uint32_t)owed;
        owed -= ticks;
        world_advance(world, wire_ms, ticks);
        write_line(world, ends);
    }
}

int main(int argc, char **argv) {
    options_t options = parse(argc, argv);
    world_t *world = world_new(options.seed);
    if (world == NULL) {
        die("memory");
    }
    if (options.patch != NULL && !world_patch(world, options.patch)) {
        usage();
    }
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    ends_t ends = {0};
    open_line(&ends, options.pty);
    open_control(&ends, options.control);
    load_memory(world, options.memory);
    world_power_on(world, TC_RESET_REASON_POWER_ON);
    printf("%s\n", options.pty);
    fflush(stdout);
    run(world, &ends, options.speed);
    save_memory(world, options.memory);
    (void)unlink(options.pty);
    if (options.control != NULL) {
        (void)unlink(options.control);
    }
    world_free(world);
    return 0;
}
