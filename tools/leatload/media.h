/* SPDX-License-Identifier: MIT */
/**
 * @file  The media that leatload sends: packets that say who made them, which one each is and
 * when, filled with a pattern and closed by a CRC-32; paced evenly.
 * @module loadgen
 *
 * A video payload begins like VP8 (RFC 7741), so that keyframes are seen. Octets of a payload:
 *
 *     video only: descriptor 1, frame header 10 | mark 2  kind 1  publisher 2  counter 4
 *     timestamp 4  sent_us 8 | pattern ... | CRC-32 of everything before it 4
 */
#ifndef LEAT_LOADGEN_MEDIA_H
#define LEAT_LOADGEN_MEDIA_H

#include <leat/media.h>
#include <leat/rtp.h>

#define LEAT_LOAD_AUDIO_SIZE 160 /**< octets of an audio packet, RTP header included */

/** What a payload says about itself. */
struct leat_load_stamp {
    enum leat_kind kind;
    uint16_t publisher;
    uint32_t counter;   /**< 0, 1, ... of this publisher and kind */
    uint32_t timestamp; /**< RTP time as it was sent */
    uint64_t sent_us;   /**< monotonic clock of this machine */
};

/** Where a packet stands in its frame. */
enum leat_load_place { LEAT_LOAD_INSIDE, LEAT_LOAD_FRAME_START, LEAT_LOAD_KEYFRAME_START };

enum leat_load_payload {
    LEAT_LOAD_PAYLOAD_OK,
    LEAT_LOAD_PAYLOAD_SHORT,
    LEAT_LOAD_PAYLOAD_CRC,
    LEAT_LOAD_PAYLOAD_FOREIGN, /**< the CRC is right, but it is not ours or of the other kind */
    LEAT_LOAD_PAYLOAD_PATTERN
};

/** Fill a whole payload. @return false when len is too small. */
bool leat_load_payload_write(uint8_t *out, size_t len, const struct leat_load_stamp *stamp,
                             enum leat_load_place place);
enum leat_load_payload leat_load_payload_read(struct leat_span payload, enum leat_kind kind,
                                              struct leat_load_stamp *stamp);

/** One stream of a publisher. */
struct leat_load_sender {
    enum leat_kind kind;
    uint16_t publisher;
    uint8_t pt, mid_ext; /**< mid_ext: id of the MID extension */
    char mid[LEAT_MID_MAX + 1];
    uint32_t ssrc, clock_hz;
    uint16_t first_seq;
    uint32_t first_timestamp;
    size_t size;            /**< octets of each RTP packet */
    uint64_t interval_ns;   /**< between packets */
    uint32_t frame_packets; /**< packets that share a timestamp */
    uint64_t start_us;      /**< when packet 0 is due; moved when the generator falls behind */
    uint64_t behind_us;     /**< how far it was moved in all */
    uint32_t counter;       /**< packets made */
    bool wants_keyframe;    /**< the next frame is one */
    uint64_t keyframes;
};

/** Fill the pace: video at a rate, in frames of about 1/30 s. */
void leat_load_sender_pace_video(struct leat_load_sender *s, unsigned rate_kbps, size_t size);
/** Audio: 20 ms packets. */
void leat_load_sender_pace_audio(struct leat_load_sender *s);
/** When the next packet leaves. */
uint64_t leat_load_sender_due(const struct leat_load_sender *s);
/** A generator that could not keep up does not make up for it in one burst: the schedule moves. */
void leat_load_sender_catch_up(struct leat_load_sender *s, uint64_t now_us);
/** RTP time of an instant. */
uint32_t leat_load_sender_timestamp(const struct leat_load_sender *s, uint64_t now_us);
/** The next packet. @return octets, 0 when they do not fit. */
size_t leat_load_sender_make(struct leat_load_sender *s, uint64_t now_us, uint8_t *out, size_t cap);

#endif
