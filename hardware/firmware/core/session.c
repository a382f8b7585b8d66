/* Handshake, heartbeats, and the way from frames to commands and from events to frames. */
#include <string.h>

#include "table.h"

/* Message id, identity and protocol version: the same in every version's hello. */
#define HELLO_PREFIX 19u

static uint8_t hello_now(const table_t *t, bool accepted, uint8_t *message) {
    tc_table_hello_t hello;
    memcpy(hello.identity, t->identity.identity, sizeof hello.identity);
    hello.protocol_major = t->identity.protocol_major;
    hello.protocol_minor = t->identity.protocol_minor;
    hello.accepted = accepted;
    hello.firmware_major = t->identity.firmware[0];
    hello.firmware_minor = t->identity.firmware[1];
    hello.firmware_patch = t->identity.firmware[2];
    hello.capabilities = t->identity.capabilities;
    hello.configuration_crc = t->config.crc;
    hello.reset_reason = t->reset_reason;
    hello.interrupted_motion = t->interrupted;
    hello.board_serial = t->config.board_serial;
    hello.boot_count = t->memory.boot_count;
    hello.uptime_ms = t->uptime_ms;
    return (uint8_t)tc_encode_table_hello(message, &hello);
}

void session_start(table_t *t) {
    link_init(&t->link, t);
    uint8_t banner[TC_SIZE_TABLE_HELLO];
    link_send_datagram(&t->link, 0, banner, hello_now(t, true, banner));
}

/* --- out --- */

static void count_dropped(table_t *t) {
    if (t->events_dropped < 0xFFFFu) {
        t->events_dropped++;
    }
}

void emit(table_t *t, const uint8_t *message, uint8_t length) {
    if (!t->link.open || !link_send(&t->link, message, length)) {
        count_dropped(t);
    }
}

void emit_latest(table_t *t, const uint8_t *message, uint8_t length) {
    if (t->link.open && !link_send_latest(&t->link, message, length)) {
        count_dropped(t);
    }
}

/* --- in: called by the link --- */

void link_on_bytes(void *owner, const uint8_t *data, uint8_t length) {
    const table_t *t = owner;
    hal_line_write(t->hal, data, length);
}

static void hear_host(table_t *t) {
    t->host_known = true;
    t->host_heard_ms = t->wire_ms;
}

static void check_host(table_t *t) {
    bool heard = t->host_known && t->wire_ms - t->host_heard_ms <= t->config.silence;
    if (!heard) {
        t->host_known = false; /* so that the clock's wrap does not bring it back */
    }
    set_host_alive(t, heard && t->link.open);
}

/* The same SYN as the running session's, its random number included: the answer was lost. */
static bool is_repeated(const table_t *t, uint16_t session, const uint8_t *payload,
                        uint8_t length) {
    return t->link.open && t->last_syn.session == session && t->last_syn.length == length &&
           memcmp(t->last_syn.bytes, payload, length) == 0;
}

void link_on_syn(void *owner, uint16_t session, const uint8_t *payload, uint8_t length) {
    table_t *t = owner;
    static const char host[16] = TC_HOST_IDENTITY;
    if (session == 0u || length < HELLO_PREFIX || payload[0] != TC_MSG_HOST_HELLO ||
        memcmp(payload + 1, host, sizeof host) != 0) {
        t->malformed++;
        return;
    }
    uint8_t hello[TC_SIZE_TABLE_HELLO];
    if (payload[17] != t->identity.protocol_major) {
        link_refuse(&t->link, session, hello, hello_now(t, false, hello));
        return;
    }
    bool again = is_repeated(t, session, payload, length);
    t->last_syn.session = session;
    t->last_syn.length = length;
    memcpy(t->last_syn.bytes, payload, length);
    hear_host(t);
    link_accept(&t->link, session, hello, hello_now(t, true, hello), again);
    if (!again) {
        t->periodic_due = true;
        check_host(t);
        emit_state(t, true);
        emit_stacks(t);
    }
}

void link_on_message(void *owner, const uint8_t *payload, uint8_t length) {
    execute(owner, payload, length);
}

/* Heartbeats; that they came is all that they say. */
void link_on_datagram(void *owner, const uint8_t *payload, uint8_t length) {
    (void)owner;
    (void)payload;
    (void)length;
}

void link_on_heard(void *owner) { hear_host(owner); }

void link_on_end(void *owner) { check_host(owner); }

/* --- the owner's calls --- */

void table_receive(table_t *t, const uint8_t *data, uint16_t length, uint32_t wire_ms) {
    t->wire_ms = wire_ms;
    link_receive(&t->link, data, length, wire_ms);
}

static void send_periodic(table_t *t) {
    if (t->periodic_due || (int32_t)(t->wire_ms - t->next_beat_ms) >= 0) {
        t->next_beat_ms = t->wire_ms + TC_HEARTBEAT_INTERVAL_MS;
        tc_table_heartbeat_t beat = {t->uptime_ms, table_mode(t)};
        uint8_t message[TC_SIZE_TABLE_HEARTBEAT];
        uint8_t length = (uint8_t)tc_encode_table_heartbeat(message, &beat);
        link_send_datagram(&t->link, t->link.session, message, length);
    }
    if (t->periodic_due || (int32_t)(t->wire_ms - t->next_report_ms) >= 0) {
        t->next_report_ms = t->wire_ms + TC_REPORT_INTERVAL_MS;
        emit_link_report(t, false);
    }
    t->periodic_due = false;
}

void table_poll(table_t *t, uint32_t wire_ms) {
    t->wire_ms = wire_ms;
    check_host(t);
    link_poll(&t->link, wire_ms);
    if (t->link.open) {
        send_periodic(t);
    }
}
