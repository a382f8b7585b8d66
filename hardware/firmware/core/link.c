#include "link.h"

#include <string.h>

static bool reached(uint32_t now, uint32_t when) { return (int32_t)(now - when) >= 0; }

/* --- sending frames --- */

static void transmit(link_t *link, uint8_t kind, uint16_t session, uint8_t seq,
                     const uint8_t *payload, uint8_t length) {
    uint8_t out[TC_MAX_STUFFED + 1u];
    uint8_t ack = (kind == TC_FRAME_KIND_SYN_ACK || kind == TC_FRAME_KIND_RST) ? 0u : link->expected;
    frame_t frame = {kind, session, seq, ack, payload, length};
    link->counters.frames_sent++;
    link_on_bytes(link->owner, out, frame_encode(&frame, out));
}

static void transmit_data(link_t *link, const outgoing_t *item) {
    link->ack_owed = false;
    transmit(link, TC_FRAME_KIND_DATA, link->session, item->seq, item->bytes, item->length);
}

static outgoing_t *in_flight(link_t *link, uint8_t index) {
    return &link->flight[(link->flight_first + index) % TC_WINDOW];
}

static void set_deadline(link_t *link, uint32_t now) {
    link->deadline_set = link->flight_count > 0u;
    link->deadline = now + link->timeout;
}

/* Go back: everything unacknowledged again, in order. */
static void retransmit(link_t *link, uint32_t now) {
    link->last_repeat = now;
    for (uint8_t i = 0; i < link->flight_count; i++) {
        outgoing_t *item = in_flight(link, i);
        item->repeated = true;
        link->counters.retransmissions++;
        transmit_data(link, item);
    }
    set_deadline(link, now);
}

/* --- the queue --- */

static void queue_clear(link_t *link) {
    for (uint8_t i = 0; i < TC_QUEUE_LIMIT; i++) {
        link->waiting[i].next = (uint8_t)(i + 1u < TC_QUEUE_LIMIT ? i + 1u : LINK_NO_SLOT);
    }
    link->first_free = 0;
    link->first_waiting = link->last_waiting = LINK_NO_SLOT;
}

/* Takes `slot`, which follows `before`, out of the queue. */
static void queue_remove(link_t *link, uint8_t before, uint8_t slot) {
    uint8_t after = link->waiting[slot].next;
    if (before == LINK_NO_SLOT) {
        link->first_waiting = after;
    } else {
        link->waiting[before].next = after;
    }
    if (link->last_waiting == slot) {
        link->last_waiting = before;
    }
    link->waiting[slot].next = link->first_free;
    link->first_free = slot;
}

static bool queue_add(link_t *link, const uint8_t *message, uint8_t length) {
    uint8_t slot = link->first_free;
    if (slot == LINK_NO_SLOT || length > LINK_MESSAGE_MAX) {
        return false;
    }
    waiting_t *item = &link->waiting[slot];
    link->first_free = item->next;
    item->next = LINK_NO_SLOT;
    item->length = length;
    memcpy(item->bytes, message, length);
    if (link->last_waiting == LINK_NO_SLOT) {
        link->first_waiting = slot;
    } else {
        link->waiting[link->last_waiting].next = slot;
    }
    link->last_waiting = slot;
    return true;
}

/* Sends what waits, a few frames a call: encoding takes the chip a fifth of a millisecond each. */
static void fill_window(link_t *link, uint32_t now) {
    for (uint8_t i = 0; i < LINK_FRAMES_A_CALL; i++) {
        if (!link->open || link->first_waiting == LINK_NO_SLOT ||
            link->flight_count >= TC_WINDOW) {
            return;
        }
        const waiting_t *item = &link->waiting[link->first_waiting];
        outgoing_t *out = in_flight(link, link->flight_count);
        out->length = item->length;
        memcpy(out->bytes, item->bytes, item->length);
        out->seq = link->next_seq++;
        out->repeated = false;
        out->first_sent = now;
        link->flight_count++;
        queue_remove(link, LINK_NO_SLOT, link->first_waiting);
        transmit_data(link, out);
        if (!link->deadline_set) {
            set_deadline(link, now);
        }
    }
}

bool link_send(link_t *link, const uint8_t *message, uint8_t length) {
    return queue_add(link, message, length);
}

bool link_send_latest(link_t *link, const uint8_t *message, uint8_t length) {
    uint8_t before = LINK_NO_SLOT;
    for (uint8_t slot = link->first_waiting; slot != LINK_NO_SLOT;) {
        uint8_t next = link->waiting[slot].next;
        if (link->waiting[slot].bytes[0] == message[0]) {
            queue_remove(link, before, slot);
        } else {
            before = slot;
        }
        slot = next;
    }
    return queue_add(link, message, length);
}

void link_send_datagram(link_t *link, uint16_t session, const uint8_t *message, uint8_t length) {
    transmit(link, TC_FRAME_KIND_DATAGRAM, session, 0, message, length);
}

/* --- sessions --- */

static void restart(link_t *link, uint16_t session, bool open) {
    link->session = session;
    link->open = open;
    queue_clear(link);
    link->flight_first = link->flight_count = 0;
    link->next_seq = link->expected = 0;
    link->timeouts_in_a_row = 0;
    link->deadline_set = link->ack_owed = link->noise = link->gap = link->nak_owed = false;
    link->measured = false;
    link->timeout = link->measured_timeout = TC_INITIAL_TIMEOUT_MS;
}

void link_init(link_t *link, void *owner) {
    memset(link, 0, sizeof *link);
    link->owner = owner;
    restart(link, 0, false);
}

void link_accept(link_t *link, uint16_t session, const uint8_t *hello, uint8_t length, bool again) {
    if (!(again && link->open && session == link->session)) {
        restart(link, session, true);
        link->counters.sessions++;
    }
    transmit(link, TC_FRAME_KIND_SYN_ACK, session, 0, hello, length);
}

void link_refuse(link_t *link, uint16_t session, const uint8_t *hello, uint8_t length) {
    transmit(link, TC_FRAME_KIND_SYN_ACK, session, 0, hello, length);
}

static void end_session(link_t *link) {
    restart(link, 0, false);
    link_on_end(link->owner);
}

/* --- round trips, after RFC 6298 --- */

static void measured(link_t *link, uint32_t milliseconds) {
    uint16_t rtt = (uint16_t)(milliseconds > TC_MAX_TIMEOUT_MS ? TC_MAX_TIMEOUT_MS : milliseconds);
    if (!link->measured) {
        link->measured = true;
        link->smoothed8 = (uint16_t)(rtt * 8u);
        link->variation4 = (uint16_t)(rtt * 2u);
    } else {
        uint16_t smoothed = link->smoothed8 / 8u;
        uint16_t deviation = (uint16_t)(smoothed > rtt ? smoothed - rtt : rtt - smoothed);
        link->variation4 = (uint16_t)(link->variation4 - link->variation4 / 4u + deviation);
        link->smoothed8 = (uint16_t)(link->smoothed8 - smoothed + rtt);
    }
    uint16_t wanted = (uint16_t)(link->smoothed8 / 8u + link->variation4);
    if (wanted < TC_MIN_TIMEOUT_MS) {
        wanted = TC_MIN_TIMEOUT_MS;
    } else if (wanted > TC_MAX_TIMEOUT_MS) {
        wanted = TC_MAX_TIMEOUT_MS;
    }
    link->timeout = link->measured_timeout = wanted;
}

static void on_ack(link_t *link, uint8_t ack, uint32_t now) {
    if (link->flight_count == 0u) {
        return;
    }
    uint8_t acknowledged = (uint8_t)(ack - in_flight(link, 0)->seq);
    if (acknowledged == 0u || acknowledged > link->flight_count) {
        return;
    }
    while (acknowledged-- > 0u) {
        const outgoing_t *done = in_flight(link, 0);
        if (!done->repeated) { /* Karn's rule */
            measured(link, now - done->first_sent);
        }
        link->flight_first = (uint8_t)((link->flight_first + 1u) % TC_WINDOW);
        link->flight_count--;
    }
    link->timeouts_in_a_row = 0;
    set_deadline(link, now);
}

/* --- receiving --- */

static void on_data(link_t *link, const frame_t *frame) {
    uint8_t ahead = (uint8_t)(frame->seq - link->expected);
    link->ack_owed = true;
    if (ahead == 0u) {
        link->expected++;
        link->gap = false;
        link_on_message(link->owner, frame->payload, frame->length);
    } else if (ahead >= 128u) {
        link->counters.duplicates++;
    } else {
        link->counters.out_of_order++;
        link->nak_owed = link->nak_owed || !link->gap;
        link->gap = true;
    }
}

/* A frame of a session that is not ours: say so, seldom, and never to an RST. */
static void on_stranger(link_t *link, const frame_t *frame, uint32_t now) {
    bool asks = frame->kind == TC_FRAME_KIND_DATA || frame->kind == TC_FRAME_KIND_DATAGRAM;
    if (asks && (!link->rst_sent_before || reached(now, link->last_rst + TC_RST_INTERVAL_MS))) {
        link->rst_sent_before = true;
        link->last_rst = now;
        link->counters.resets_sent++;
        transmit(link, TC_FRAME_KIND_RST, frame->session, 0, NULL, 0);
    }
}

static void on_session_frame(link_t *link, const frame_t *frame, uint32_t now) {
    link->noise = false;
    link_on_heard(link->owner);
    if (frame->kind == TC_FRAME_KIND_RST) {
        link->counters.resets_received++;
        end_session(link);
        return;
    }
    on_ack(link, frame->ack, now);
    if (frame->kind == TC_FRAME_KIND_DATAGRAM) {
        link_on_datagram(link->owner, frame->payload, frame->length);
        /* After time-outs a heartbeat shows that the line is back: do not sit out the doubling. */
        if (link->timeouts_in_a_row > 0u && link->flight_count > 0u &&
            reached(now, link->last_repeat + link->measured_timeout)) {
            retransmit(link, now);
        }
    } else if (frame->kind == TC_FRAME_KIND_NAK) {
        link->counters.naks_received++;
        if (link->flight_count > 0u && in_flight(link, 0)->seq == frame->ack) {
            retransmit(link, now);
        }
    } else if (frame->kind == TC_FRAME_KIND_DATA) {
        on_data(link, frame);
    }
}

static void on_frame(link_t *link, const frame_t *frame, uint32_t now) {
    link->counters.frames_received++;
    if (frame->kind == TC_FRAME_KIND_SYN) {
        link_on_syn(link->owner, frame->session, frame->payload, frame->length);
    } else if (frame->kind == TC_FRAME_KIND_SYN_ACK ||
               (frame->kind == TC_FRAME_KIND_DATAGRAM && frame->session == 0u)) {
        return; /* a table's words; nothing that a host says */
    } else if (!link->open || frame->session != link->session) {
        on_stranger(link, frame, now);
    } else {
        on_session_frame(link, frame, now);
    }
}

void link_receive(link_t *link, const uint8_t *data, uint16_t length, uint32_t now) {
    for (uint16_t i = 0; i < length; i++) {
        frame_t frame;
        decoded_t decoded = decoder_take(&link->decoder, data[i], &frame);
        if (decoded == DECODED_BAD) {
            link->counters.bad_frames++;
            link->nak_owed = link->nak_owed || !(link->noise || link->gap);
            link->noise = true;
        } else if (decoded == DECODED_FRAME) {
            on_frame(link, &frame, now);
        }
    }
    if (link->nak_owed && link->open) {
        link->counters.naks_sent++;
        link->ack_owed = false;
        transmit(link, TC_FRAME_KIND_NAK, link->session, 0, NULL, 0);
    }
    link->nak_owed = false;
    fill_window(link, now);
    if (link->ack_owed && link->open) {
        transmit(link, TC_FRAME_KIND_ACK, link->session, 0, NULL, 0);
    }
    link->ack_owed = false;
}

void link_poll(link_t *link, uint32_t now) {
    fill_window(link, now);
    if (!link->deadline_set || !reached(now, link->deadline)) {
        return;
    }
    link->counters.timeouts++;
    if (++link->timeouts_in_a_row >= TC_MAX_TIMEOUTS) {
        end_session(link);
        return;
    }
    uint16_t doubled = (uint16_t)(2u * link->timeout);
    link->timeout = doubled > TC_MAX_TIMEOUT_MS ? TC_MAX_TIMEOUT_MS : doubled;
    retransmit(link, now);
}
