#include "framing.h"

#ifdef __AVR__
#include <util/crc16.h>
#else
static uint16_t _crc_xmodem_update(uint16_t crc, uint8_t byte) {
    uint8_t x = (uint8_t)((uint8_t)(crc >> 8) ^ byte);
    x = (uint8_t)(x ^ (x >> 4));
    return (uint16_t)((uint16_t)(crc << 8) ^ (uint16_t)((uint16_t)x << 12) ^
                      (uint16_t)((uint16_t)x << 5) ^ x);
}
#endif

uint16_t crc16(uint16_t crc, const uint8_t *data, uint16_t length) {
    while (length-- > 0u) {
        crc = _crc_xmodem_update(crc, *data++);
    }
    return crc;
}

/* Where the stuffing stands: the block's code byte waits at `code_at` for its end. */
typedef struct {
    uint8_t *out;
    uint8_t code_at;
    uint8_t end;
} stuffing_t;

static void stuff(stuffing_t *s, const uint8_t *data, uint8_t length) {
    for (uint8_t i = 0; i < length; i++) {
        if (data[i] == 0u) {
            s->out[s->code_at] = (uint8_t)(s->end - s->code_at);
            s->code_at = s->end++;
        } else {
            s->out[s->end++] = data[i]; /* a frame is shorter than 254 bytes: no code 255 */
        }
    }
}

uint8_t frame_encode(const frame_t *frame, uint8_t *out) {
    uint8_t header[FRAME_HEADER];
    header[0] = frame->kind;
    (void)tc_put_u16(header + 1, frame->session);
    header[3] = frame->seq;
    header[4] = frame->ack;
    uint16_t sum = crc16(crc16(0xFFFFu, header, FRAME_HEADER), frame->payload, frame->length);
    uint8_t tail[FRAME_CRC];
    (void)tc_put_u16(tail, sum);

    stuffing_t s = {out, 0, 1};
    stuff(&s, header, FRAME_HEADER);
    stuff(&s, frame->payload, frame->length);
    stuff(&s, tail, FRAME_CRC);
    out[s.code_at] = (uint8_t)(s.end - s.code_at);
    out[s.end++] = 0u;
    return s.end;
}

/* Undoes the stuffing in place; the new length, or 0 when it cannot be. */
static uint8_t unstuff(uint8_t *data, uint8_t length) {
    uint8_t from = 0, to = 0;
    while (from < length) {
        uint8_t code = data[from++];
        if (code - 1u > (uint8_t)(length - from)) {
            return 0;
        }
        for (uint8_t i = 1; i < code; i++) {
            data[to++] = data[from++];
        }
        if (from < length) {
            data[to++] = 0u;
        }
    }
    return to;
}

static bool parse(uint8_t *data, uint8_t stuffed, frame_t *frame) {
    uint8_t length = unstuff(data, stuffed);
    if (length < FRAME_HEADER + FRAME_CRC) {
        return false;
    }
    length = (uint8_t)(length - FRAME_CRC);
    if (crc16(0xFFFFu, data, length) != tc_get_u16(data + length)) {
        return false;
    }
    frame->kind = data[0];
    frame->session = tc_get_u16(data + 1);
    frame->seq = data[3];
    frame->ack = data[4];
    frame->payload = data + FRAME_HEADER;
    frame->length = (uint8_t)(length - FRAME_HEADER);
    return frame->kind >= TC_FRAME_KIND_DATA && frame->kind <= TC_FRAME_KIND_RST;
}

decoded_t decoder_take(decoder_t *decoder, uint8_t byte, frame_t *frame) {
    if (byte != 0u) {
        if (decoder->overlong || decoder->length >= TC_MAX_STUFFED) {
            decoder->overlong = true;
        } else {
            decoder->buffer[decoder->length++] = byte;
        }
        return DECODED_NOTHING;
    }
    uint8_t length = decoder->length;
    bool overlong = decoder->overlong;
    decoder->length = 0;
    decoder->overlong = false;
    if (overlong) {
        return DECODED_BAD;
    }
    if (length == 0u) {
        return DECODED_NOTHING;
    }
    return parse(decoder->buffer, length, frame) ? DECODED_FRAME : DECODED_BAD;
}
