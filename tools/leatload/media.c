/* SPDX-License-Identifier: MIT */
/*
 * Making and reading leatload's packets. The pattern depends on publisher and counter, so that a
 * payload put together from two packets is seen even where lengths agree; the CRC tells damage from
 * confusion.
 */
#include "media.h"

#define MARK 0x4c54 /* "LT" */
#define VIDEO_PREFIX 11
#define STAMP_LEN 21
#define CRC_LEN 4
#define PAYLOAD_MAX 1500
#define FRAMES_PER_S 30
#define BEHIND_MAX_US 100000u

/* ---- payload ---- */

static uint8_t pattern_seed(const struct leat_load_stamp *stamp)
{
    uint32_t mixed = (stamp->counter ^ ((uint32_t)stamp->publisher << 20)) * 2654435761u;
    return (uint8_t)(mixed >> 24);
}

static void write_prefix(struct leat_writer *w, enum leat_load_place place)
{
    if (place == LEAT_LOAD_INSIDE) {
        leat_write_zeros(w, VIDEO_PREFIX); /* descriptor without S: a continuation */
        return;
    }
    bool is_key = place == LEAT_LOAD_KEYFRAME_START;
    leat_write_u8(w, 0x10);                 /* S, partition 0 */
    leat_write_u8(w, is_key ? 0x10 : 0x11); /* show_frame; P is 0 in a keyframe (RFC 6386 9.1) */
    leat_write_u16(w, 0);
    leat_write_u24(w, is_key ? 0x9d012a : 0); /* start code */
    leat_write_u16(w, 0x8002);                /* 640, 360: little-endian */
    leat_write_u16(w, 0x6801);
}

bool leat_load_payload_write(uint8_t *out, size_t len, const struct leat_load_stamp *stamp,
                             enum leat_load_place place)
{
    struct leat_writer w;
    leat_writer_init(&w, out, len);
    if (stamp->kind == LEAT_KIND_VIDEO) {
        write_prefix(&w, place);
    }
    leat_write_u16(&w, MARK);
    leat_write_u8(&w, (uint8_t)stamp->kind);
    leat_write_u16(&w, stamp->publisher);
    leat_write_u32(&w, stamp->counter);
    leat_write_u32(&w, stamp->timestamp);
    leat_write_u64(&w, stamp->sent_us);
    size_t done = leat_writer_len(&w);
    if (w.failed || len - done < CRC_LEN) {
        return false;
    }
    uint8_t *pattern = out + done;
    uint8_t seed = pattern_seed(stamp);
    size_t pattern_len = len - done - CRC_LEN;
    for (size_t i = 0; i < pattern_len; i++) {
        pattern[i] = (uint8_t)(seed + 167 * i);
    }
    leat_put_u32(out + len - CRC_LEN, leat_crc32(0, out, len - CRC_LEN));
    return true;
}

static bool is_pattern_right(const uint8_t *pattern, size_t len, uint8_t seed)
{
    uint8_t different = 0;
    for (size_t i = 0; i < len; i++) {
        different |= (uint8_t)(pattern[i] ^ (uint8_t)(seed + 167 * i));
    }
    return different == 0;
}

enum leat_load_payload leat_load_payload_read(struct leat_span payload, enum leat_kind kind,
                                              struct leat_load_stamp *stamp)
{
    struct leat_reader r;
    leat_reader_init(&r, payload.data, payload.len);
    if (kind == LEAT_KIND_VIDEO) {
        leat_read_skip(&r, VIDEO_PREFIX);
    }
    uint16_t mark = leat_read_u16(&r);
    uint8_t of_kind = leat_read_u8(&r);
    stamp->kind = kind;
    stamp->publisher = leat_read_u16(&r);
    stamp->counter = leat_read_u32(&r);
    stamp->timestamp = leat_read_u32(&r);
    stamp->sent_us = leat_read_u64(&r);
    if (r.failed || leat_reader_left(&r) < CRC_LEN) {
        return LEAT_LOAD_PAYLOAD_SHORT;
    }
    struct leat_span pattern = leat_read_span(&r, leat_reader_left(&r) - CRC_LEN);
    uint32_t crc = leat_read_u32(&r);
    if (crc != leat_crc32(0, payload.data, payload.len - CRC_LEN)) {
        return LEAT_LOAD_PAYLOAD_CRC;
    }
    if (mark != MARK || of_kind != kind) {
        return LEAT_LOAD_PAYLOAD_FOREIGN;
    }
    return is_pattern_right(pattern.data, pattern.len, pattern_seed(stamp))
               ? LEAT_LOAD_PAYLOAD_OK
               : LEAT_LOAD_PAYLOAD_PATTERN;
}

/* ---- pace ---- */

void leat_load_sender_pace_video(struct leat_load_sender *s, unsigned rate_kbps, size_t size)
{
    s->size = size;
    s->clock_hz = 90000;
    s->interval_ns = (uint64_t)size * 8 * 1000000 / rate_kbps;
    uint64_t packets = 1000000000u / FRAMES_PER_S / s->interval_ns;
    s->frame_packets = packets > 0 ? (uint32_t)packets : 1;
}

void leat_load_sender_pace_audio(struct leat_load_sender *s)
{
    s->size = LEAT_LOAD_AUDIO_SIZE;
    s->clock_hz = 48000;
    s->interval_ns = 20000000;
    s->frame_packets = 1;
}

uint64_t leat_load_sender_due(const struct leat_load_sender *s)
{
    return s->start_us + s->counter * s->interval_ns / 1000;
}

void leat_load_sender_catch_up(struct leat_load_sender *s, uint64_t now_us)
{
    uint64_t due_us = leat_load_sender_due(s);
    if (now_us > due_us && now_us - due_us > BEHIND_MAX_US) {
        s->start_us += now_us - due_us;
        s->behind_us += now_us - due_us;
    }
}

uint32_t leat_load_sender_timestamp(const struct leat_load_sender *s, uint64_t now_us)
{
    uint64_t begun_us = s->start_us - s->behind_us;
    uint64_t passed_us = now_us > begun_us ? now_us - begun_us : 0;
    return s->first_timestamp + (uint32_t)(passed_us * s->clock_hz / 1000000);
}

/** The frame's instant, not the packet's. */
static uint32_t frame_timestamp(const struct leat_load_sender *s)
{
    uint64_t first = s->counter - s->counter % s->frame_packets;
    uint64_t at_us = first * s->interval_ns / 1000;
    return s->first_timestamp + (uint32_t)(at_us * s->clock_hz / 1000000);
}

size_t leat_load_sender_make(struct leat_load_sender *s, uint64_t now_us, uint8_t *out, size_t cap)
{
    uint8_t payload[PAYLOAD_MAX];
    uint32_t in_frame = s->counter % s->frame_packets;
    enum leat_load_place place = in_frame == 0 ? LEAT_LOAD_FRAME_START : LEAT_LOAD_INSIDE;
    if (place == LEAT_LOAD_FRAME_START && (s->wants_keyframe || s->counter == 0)) {
        place = LEAT_LOAD_KEYFRAME_START;
    }
    struct leat_rtp_ext_out mid = {s->mid_ext, leat_span_str(s->mid)};
    size_t head = LEAT_RTP_HEADER_MIN + 4 + (1 + mid.data.len + 3) / 4 * 4;
    struct leat_load_stamp stamp = {s->kind, s->publisher, s->counter, frame_timestamp(s), now_us};
    if (s->size < head || s->size - head > sizeof payload ||
        !leat_load_payload_write(payload, s->size - head, &stamp, place)) {
        return 0;
    }
    size_t len = leat_rtp_compose(out, cap, in_frame + 1 == s->frame_packets, s->pt,
                                  (uint16_t)(s->first_seq + s->counter), stamp.timestamp, s->ssrc,
                                  NULL, 0, &mid, 1, leat_span(payload, s->size - head));
    if (len != 0) {
        s->counter++;
        if (place == LEAT_LOAD_KEYFRAME_START) {
            s->keyframes++;
            s->wants_keyframe = false;
        }
    }
    return len;
}
