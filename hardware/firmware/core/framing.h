/* Frames on the line: COBS between zero bytes, with a CRC-16 (docs/protocol.md, "Frames").
 * SPDX-License-Identifier: AGPL-3.0-or-later
 */
#ifndef TABLECTL_FRAMING_H
#define TABLECTL_FRAMING_H

#include "../protocol.h"

#define FRAME_HEADER 5u
#define FRAME_CRC 2u

typedef struct {
    uint8_t kind; /* enum tc_frame_kind */
    uint16_t session;
    uint8_t seq;
    uint8_t ack;
    const uint8_t *payload;
    uint8_t length; /* of the payload */
} frame_t;

/* Cuts a stream into frames; holds one frame at most and starts afresh at every zero byte. */
typedef struct {
    uint8_t buffer[TC_MAX_STUFFED];
    uint8_t length;
    bool overlong;
} decoder_t;

typedef enum { DECODED_NOTHING, DECODED_FRAME, DECODED_BAD } decoded_t;

/* CRC-16/CCITT-FALSE; start with 0xFFFF. */
uint16_t crc16(uint16_t crc, const uint8_t *data, uint16_t length);

/* Writes header, payload and CRC, stuffed and closed by a zero, at most TC_MAX_STUFFED + 1 bytes;
 * returns how many. The payload must not be longer than TC_MAX_PAYLOAD. */
uint8_t frame_encode(const frame_t *frame, uint8_t *out);

/* Takes one byte. With DECODED_FRAME, `frame` points into the decoder until the next byte. */
decoded_t decoder_take(decoder_t *decoder, uint8_t byte, frame_t *frame);

#endif
