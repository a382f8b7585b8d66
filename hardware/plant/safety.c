/* SPDX-License-Identifier: AGPL-3.0-or-later */
#include "safety.h"

#include <string.h>

void safety_init(safety_t *s) {
    memset(s, 0, sizeof *s);
    s->opened_at = s->off_at = NEVER;
    for (int end = 0; end < 2; end++) {
        for (int side = 0; side < SIDES; side++) {
            s->closed_at[end][side] = NEVER;
        }
    }
}

static void look_at_e_stop(safety_t *s, uint64_t now, uint64_t grace, bool open, bool any) {
    if (!open) {
        s->counted = false;
        if (s->opened_at != NEVER && s->off_at == NEVER) {
            s->off_at = now; /* released before the motors were off: counted above if too late */
        }
        return;
    }
    if (!any && s->off_at == NEVER) {
        s->off_at = now;
    }
    if (any && now - s->opened_at > grace && !s->counted) {
        s->counted = true;
        s->e_stop_violations++;
    }
}

static void look_at_tray(safety_t *s, uint64_t now, uint64_t grace, int side, double lift,
                         bool bottom, bool top) {
    const bool closed[2] = {bottom, top};
    for (int end = 0; end < 2; end++) {
        if (!closed[end]) {
            s->closed_at[end][side] = NEVER;
        } else if (s->closed_at[end][side] == NEVER) {
            s->closed_at[end][side] = now;
        }
    }
    uint64_t since = s->closed_at[lift > 0][side];
    bool wrong = lift != 0 && since != NEVER && now - since > grace;
    s->limit_violations += wrong && !s->driving[side];
    s->driving[side] = wrong;
}

void safety_look(safety_t *s, uint64_t now, uint64_t grace, const sensors_t *sensors, bool any,
                 const double lift[SIDES]) {
    look_at_e_stop(s, now, grace, sensors->e_stop_open, any);
    for (int side = 0; side < SIDES; side++) {
        look_at_tray(s, now, grace, side, lift[side], sensors->lift_bottom[side],
                     sensors->lift_top[side]);
    }
}
