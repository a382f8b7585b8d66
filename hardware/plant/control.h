/* The lines on the control socket (hardware/firmware/README.md, "Control lines").
 *
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#ifndef TABLECTL_CONTROL_H
#define TABLECTL_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "board.h"

#define CONTROL_CLIENTS 4
#define CONTROL_LINE 1024
#define CONTROL_ANSWER 6144

typedef struct {
    int fd; /* -1: free */
    char line[CONTROL_LINE];
    size_t length;
} control_client_t;

typedef struct {
    int listener;
    const char *path;
    control_client_t clients[CONTROL_CLIENTS];
    bool quit;
    double behind; /* real seconds by which the chip is late, for the snapshot */
} control_t;

void control_init(control_t *c);
/* Listens at a Unix socket, unless `path` is NULL; NULL, or what is wrong. */
const char *control_open(control_t *c, const char *path);
/* Answers what has come in, waiting for it at most so long. */
void control_serve(control_t *c, board_t *b, int wait_ms);
/* Lets chip time pass and carries the serial line's bytes. False: the firmware has crashed. */
bool control_run(board_t *b, uint32_t us);
void control_close(control_t *c);

/* One line's answer, without the newline. */
void control_answer(control_t *c, board_t *b, char *line, char answer[CONTROL_ANSWER]);

#endif
