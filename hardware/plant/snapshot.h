/* The state of chip and machine as JSON. SPDX-License-Identifier: AGPL-3.0-or-later */
#ifndef TABLECTL_SNAPSHOT_H
#define TABLECTL_SNAPSHOT_H

#include <stddef.h>

#include "board.h"

void snapshot_write(const board_t *b, double behind, char *out, size_t space);

#endif
