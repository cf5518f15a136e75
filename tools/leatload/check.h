/* SPDX-License-Identifier: MIT */
/**
 * @file  What a subscriber expects of one of its streams, and what came.
 * @module loadgen
 */
#ifndef LEAT_LOADGEN_CHECK_H
#define LEAT_LOADGEN_CHECK_H

#include <leat/rtcp.h>

#include "media.h"

#define LEAT_LOAD_WINDOW 2048 /**< packets; one that is later still counts as a duplicate */

/** One fate a packet. */
enum leat_load_fate {
    LEAT_LOAD_RIGHT,
    LEAT_LOAD_REORDERED, /**< right, but behind a later one */
    LEAT_LOAD_DUPLICATE,
    LEAT_LOAD_WRONG_PT,
    LEAT_LOAD_WRONG_MID,
    LEAT_LOAD_WRONG_CRC,     /**< damaged or not complete */
    LEAT_LOAD_WRONG_PATTERN, /**< undamaged octets that no publisher sent so */
    LEAT_LOAD_WRONG_SOURCE,  /**< of another publisher or kind, or not sent yet */
    LEAT_LOAD_WRONG_SEQ,     /**< the sequence number is not in step with the counter */
    LEAT_LOAD_WRONG_TIMESTAMP,
    LEAT_LOAD_FATES
};

/** "pt", "crc", ...: what is wrong; for the two that are not, "reordered" and "duplicate". */
const char *leat_load_fate_text(enum leat_load_fate fate);

struct leat_load_stream {
    const struct leat_load_sender *from;
    uint32_t ssrc;
    uint8_t pt, mid_ext;
    char mid[LEAT_MID_MAX + 1];
    bool is_started;
    uint32_t highest; /**< counter */
    uint16_t seq_offset;
    uint32_t timestamp_offset;
    uint64_t seen[LEAT_LOAD_WINDOW / 64];
    uint64_t unique; /**< different packets that were right */
    uint64_t fates[LEAT_LOAD_FATES];
    struct leat_rtp_receiver rx; /**< for our receiver reports */
};

/** from, ssrc, pt, mid_ext and mid are the caller's. */
void leat_load_stream_init(struct leat_load_stream *s);
/** @param stamp gets what the packet says of itself; good with RIGHT and REORDERED only */
enum leat_load_fate leat_load_stream_take(struct leat_load_stream *s, const struct leat_rtp *p,
                                          struct leat_span packet, uint64_t now_us,
                                          struct leat_load_stamp *stamp);
/** Of all that was sent. */
uint64_t leat_load_stream_lost(const struct leat_load_stream *s);

#endif
