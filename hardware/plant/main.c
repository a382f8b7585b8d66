/* tableplant: the firmware's ELF in simavr with a table on its pins, in scaled real time.
 *
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "board.h"
#include "control.h"

#define SLICE_US 500        /* of chip time between looks at the outside */
#define MAX_LAG_S 0.25      /* a chip that is later than this gives up catching up */
#define SILENT_S 3.0        /* of chip time after which a firmware that says nothing is told */
#define WAIT_MS 100         /* for a control line, in lockstep */
#define MAX_PATCHES 16
#define USAGE 2
#define CRASHED 3

typedef struct {
    const char *elf, *pty, *control, *memory, *loader;
    double speed, machine, inertia;
    bool lockstep;
    unsigned long seed;
    char *patches[MAX_PATCHES];
    int patch_count;
} options_t;

static volatile sig_atomic_t stopped;

static void on_signal(int number) {
    (void)number;
    stopped = 1;
}

static int complain(const char *what, const char *why) {
    fprintf(stderr, "tableplant: %s: %s\n", what, why);
    return USAGE;
}

static const char HELP[] =
    "usage: tableplant ELF --pty PATH [--control PATH] [--speed S] [--machine K] [--seed N]\n"
    "                  [--memory FILE] [--patch SYMBOL=HEX] [--loader HEX] [--lockstep] [--inertia MS]\n"
    "Runs the firmware in simavr with a table on its pins (hardware/firmware/README.md).\n"
    "  --pty PATH       symbolic link to the pseudo-terminal of the serial line\n"
    "  --control PATH   Unix socket for control lines\n"
    "  --speed S        chip seconds in a real second (default 1)\n"
    "  --machine K      the machine moves K times as fast in chip time (default 1)\n"
    "  --seed N         of the tiles' arrival\n"
    "  --memory FILE    the EEPROM, read at start and written at exit\n"
    "  --patch SYM=HEX  bytes written over a symbol in flash; repeatable\n"
    "  --loader HEX     a boot loader, which every reset starts, as on a real board\n"
    "  --lockstep       time passes only by the control line `run MS`\n"
    "  --inertia MS     the motors' time constant, and with it their starting current (0)\n";

static int parse(int count, char **arguments, options_t *o) {
    static const struct option NAMES[] = {
        {"pty", 1, NULL, 'p'},     {"control", 1, NULL, 'c'}, {"speed", 1, NULL, 's'},
        {"machine", 1, NULL, 'k'}, {"seed", 1, NULL, 'n'},    {"memory", 1, NULL, 'm'},
        {"patch", 1, NULL, 'x'},   {"loader", 1, NULL, 'l'},  {"lockstep", 0, NULL, 't'},
        {"inertia", 1, NULL, 'i'},
        {"help", 0, NULL, 'h'},    {NULL, 0, NULL, 0},
    };
    int found;
    while ((found = getopt_long(count, arguments, "h", NAMES, NULL)) != -1) {
        switch (found) {
        case 'p': o->pty = optarg; break;
        case 'c': o->control = optarg; break;
        case 's': o->speed = atof(optarg); break;
        case 'k': o->machine = atof(optarg); break;
        case 'n': o->seed = strtoul(optarg, NULL, 0); break;
        case 'm': o->memory = optarg; break;
        case 'l': o->loader = optarg; break;
        case 'i': o->inertia = atof(optarg) / 1e3; break;
        case 't': o->lockstep = true; break;
        case 'x':
            if (o->patch_count == MAX_PATCHES) {
                return complain("--patch", "too many");
            }
            o->patches[o->patch_count++] = optarg;
            break;
        case 'h': fputs(HELP, stdout); exit(0);
        default: fputs(HELP, stderr); return USAGE;
        }
    }
    if (optind != count - 1 || o->pty == NULL) {
        fputs(HELP, stderr);
        return USAGE;
    }
    o->elf = arguments[optind];
    if (!(o->speed > 0) || !(o->machine > 0)) {
        return complain("--speed, --machine", "must be numbers above 0");
    }
    return 0;
}

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void sleep_s(double seconds) {
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

static int load_memory(board_t *b, const char *path) {
    uint8_t memory[EEPROM_SIZE];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return errno == ENOENT ? 0 : complain(path, strerror(errno)); /* a new chip */
    }
    size_t count = fread(memory, 1, sizeof memory, file);
    fclose(file);
    if (count != sizeof memory) {
        return complain(path, "must have 4096 bytes");
    }
    board_write_eeprom(b, memory);
    return 0;
}

static int save_memory(const board_t *b, const char *path) {
    uint8_t memory[EEPROM_SIZE];
    board_read_eeprom(b, memory);
    FILE *file = fopen(path, "wb");
    bool written = file != NULL && fwrite(memory, 1, sizeof memory, file) == sizeof memory;
    if (file == NULL || fclose(file) != 0 || !written) {
        return complain(path, strerror(errno));
    }
    return 0;
}

/* Says where the table is once the firmware has spoken; false: it is silent for too long. */
static bool announce(const board_t *b, const options_t *o) {
    static bool announced;
    if (!announced && b->serial.spoken) {
        announced = true;
        printf("%s\n", o->pty);
        fflush(stdout);
    }
    return announced || board_seconds(b) < SILENT_S;
}

/* One slice of chip time; 0, or the exit code. */
static int run_slice(board_t *b, const options_t *o) {
    if (!control_run(b, SLICE_US)) {
        return complain(o->elf, "the firmware has crashed"), CRASHED;
    }
    return announce(b, o) ? 0 : (complain(o->elf, "the firmware sends nothing"), CRASHED);
}

static int run_in_real_time(board_t *b, control_t *c, const options_t *o) {
    double slice_s = SLICE_US / 1e6 / o->speed;
    double due = now_s();
    int code = 0;
    while (!stopped && !c->quit && code == 0) {
        code = run_slice(b, o);
        control_serve(c, b, 0);
        due += slice_s;
        double early = due - now_s();
        c->behind = early < 0 ? -early : 0;
        if (early > 0) {
            sleep_s(early);
        } else if (early < -MAX_LAG_S) {
            due = now_s();
        }
    }
    return code;
}

/* Until the firmware has spoken, then only as told: a busy machine changes nothing. */
static int run_in_lockstep(board_t *b, control_t *c, const options_t *o) {
    int code = 0;
    while (!b->serial.spoken && code == 0) {
        code = run_slice(b, o);
    }
    while (!stopped && !c->quit && code == 0) {
        control_serve(c, b, WAIT_MS);
        code = b->crashed ? (complain(o->elf, "the firmware has crashed"), CRASHED) : 0;
    }
    return code;
}

int main(int count, char **arguments) {
    static board_t board;
    static control_t control;
    static options_t options = {.speed = 1, .machine = 1};
    int code = parse(count, arguments, &options);
    if (code != 0) {
        return code;
    }
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    board.machine_speed = options.machine;
    machine_init(&board.machine, options.seed);
    board.machine.inertia = options.inertia > 0 ? options.inertia : 0;
    control_init(&control);
    const char *wrong = serial_open(&board.serial, options.pty);
    if (wrong != NULL) {
        return complain(options.pty, wrong);
    }
    wrong = board_load(&board, options.elf, options.patches, options.patch_count);
    if (wrong == NULL && options.loader != NULL) {
        wrong = board_load_boot(&board, options.loader);
    }
    if (wrong == NULL && options.memory != NULL && load_memory(&board, options.memory) != 0) {
        wrong = "not loaded";
    }
    if (wrong == NULL) {
        wrong = control_open(&control, options.control);
    }
    if (wrong != NULL) {
        code = complain(options.elf, wrong);
    } else {
        board_power_on(&board, "power-on");
        code = options.lockstep ? run_in_lockstep(&board, &control, &options)
                                : run_in_real_time(&board, &control, &options);
    }
    control_close(&control);
    if (wrong == NULL && options.memory != NULL && save_memory(&board, options.memory) != 0) {
        code = USAGE;
    }
    serial_close(&board.serial);
    return code;
}
