/* The table's end of the reliable link (docs/protocol.md, "The link"): sessions, sequence numbers,
 * acknowledgement, retransmission. Times are milliseconds of the wire's clock.
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#ifndef TABLECTL_LINK_H
#define TABLECTL_LINK_H

#include "framing.h"

/* The longest message that goes reliably from the table to the host. */
#define LINK_MESSAGE_MAX TC_SIZE_LINK_REPORT

typedef struct {
    uint8_t length;
    uint8_t seq; /* of a message in flight */
    bool repeated;
    uint32_t first_sent;
    uint8_t bytes[LINK_MESSAGE_MAX];
} outgoing_t;

typedef struct {
    uint8_t next; /* index of the next waiting or free message, or LINK_NO_SLOT */
    uint8_t length;
    uint8_t bytes[LINK_MESSAGE_MAX];
} waiting_t;

#define LINK_NO_SLOT 0xFFu
#define LINK_FRAMES_A_CALL 2u

typedef struct {
    uint32_t frames_sent, frames_received;
    uint16_t bad_frames, retransmissions, timeouts, duplicates, out_of_order;
    uint16_t naks_sent, naks_received, resets_sent, resets_received, sessions;
} link_counters_t;

typedef struct link {
    void *owner; /* handed to the link_on_... functions */
    bool open;
    uint16_t session;
    link_counters_t counters;
    decoder_t decoder;

    waiting_t waiting[TC_QUEUE_LIMIT]; /* a linked list, and the list of what is free */
    uint8_t first_waiting, last_waiting, first_free;
    outgoing_t flight[TC_WINDOW]; /* a ring */
    uint8_t flight_first, flight_count;
    uint8_t next_seq, expected;
    uint8_t timeouts_in_a_row; /* of the oldest frame in flight */

    bool deadline_set, ack_owed, noise, gap, nak_owed;
    uint32_t deadline, last_rst, last_repeat;
    bool rst_sent_before;
    bool measured; /* a round trip is known */
    uint16_t smoothed8, variation4; /* RFC 6298's SRTT and RTTVAR in 1/8 and 1/4 ms */
    uint16_t timeout, measured_timeout;
} link_t;

/* What the owner must provide. Payloads are valid during the call only. */
void link_on_bytes(void *owner, const uint8_t *data, uint8_t length); /* to the line */
void link_on_syn(void *owner, uint16_t session, const uint8_t *payload, uint8_t length);
void link_on_message(void *owner, const uint8_t *payload, uint8_t length); /* once, in order */
void link_on_datagram(void *owner, const uint8_t *payload, uint8_t length);
void link_on_heard(void *owner); /* a good frame of the session has come */
void link_on_end(void *owner); /* the session is over, by the other side or by time-outs */

void link_init(link_t *link, void *owner);
void link_receive(link_t *link, const uint8_t *data, uint16_t length, uint32_t now);
void link_poll(link_t *link, uint32_t now);

/* Answers a SYN and opens its session; `again` only repeats the answer. */
void link_accept(link_t *link, uint16_t session, const uint8_t *hello, uint8_t length, bool again);
/* Answers a SYN without opening a session. */
void link_refuse(link_t *link, uint16_t session, const uint8_t *hello, uint8_t length);

/* Queues a message, sent by the next poll or receive; false when TC_QUEUE_LIMIT wait already. */
bool link_send(link_t *link, const uint8_t *message, uint8_t length);
/* As link_send, after a waiting message of the same kind has been taken out of the queue. */
bool link_send_latest(link_t *link, const uint8_t *message, uint8_t length);
void link_send_datagram(link_t *link, uint16_t session, const uint8_t *message, uint8_t length);

#endif
