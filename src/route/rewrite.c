/* SPDX-License-Identifier: MIT */
/*
 * Continuous numbers for one sender (RFC 3550 5.1). Inside one source a number is moved by a
 * constant, so that loss and reordering stay visible to the receiver as they are. A new source, or
 * a source that jumps (a publisher that restarted on its old SSRC), gets a new constant: its first
 * packet takes the number after the highest sent, and a timestamp ahead by the time that passed. A
 * late packet from before that point would need a number that is taken, so it is dropped.
 */
#include <leat/route.h>

void leat_rewriter_init(struct leat_rewriter *r, uint32_t clock_hz, uint16_t first_seq,
                        uint32_t first_ts)
{
    memset(r, 0, sizeof *r);
    r->clock_hz = clock_hz;
    r->sent_seq = (uint16_t)(first_seq - 1);
    r->sent_ts = first_ts;
}

void leat_rewriter_new_source(struct leat_rewriter *r)
{
    r->has_source = false;
}

static void begin_source(struct leat_rewriter *r, uint16_t seq, uint32_t timestamp,
                         uint64_t arrived_us)
{
    uint32_t out_ts = r->sent_ts;
    if (r->has_sent) {
        uint64_t passed_us = arrived_us > r->sent_us ? arrived_us - r->sent_us : 0;
        uint64_t ticks = passed_us * r->clock_hz / 1000000;
        out_ts += (uint32_t)(ticks > 0 ? ticks : 1);
    }
    r->seq_offset = (uint16_t)(r->sent_seq + 1 - seq);
    r->ts_offset = out_ts - timestamp;
    r->source_first = r->source_highest = seq;
    r->has_source = true;
}

enum leat_rewrite_verdict leat_rewriter_map(struct leat_rewriter *r, uint16_t seq,
                                            uint32_t timestamp, uint64_t arrived_us,
                                            uint16_t *out_seq, uint32_t *out_ts)
{
    int jump = r->has_source ? leat_seq16_diff(seq, r->source_highest) : 0;
    if (!r->has_source || jump > LEAT_REWRITE_JUMP_MAX || jump < -LEAT_REWRITE_JUMP_MAX) {
        begin_source(r, seq, timestamp, arrived_us);
    } else if (leat_seq16_newer(r->source_first, seq)) {
        return LEAT_REWRITE_LATE;
    }
    *out_seq = (uint16_t)(seq + r->seq_offset);
    *out_ts = timestamp + r->ts_offset;
    if (!leat_seq16_newer(r->source_highest, seq)) {
        r->source_highest = seq;
        r->sent_seq = *out_seq;
        r->sent_ts = *out_ts;
        r->sent_us = arrived_us;
        r->has_sent = true;
    }
    /* Keep the first number within half the circle of the highest, or "late" would turn its sign.
     */
    if (leat_seq16_diff(r->source_highest, r->source_first) > LEAT_REWRITE_JUMP_MAX) {
        r->source_first = (uint16_t)(r->source_highest - LEAT_REWRITE_JUMP_MAX);
    }
    return LEAT_REWRITE_OK;
}

bool leat_rewriter_skip(struct leat_rewriter *r, uint16_t seq)
{
    if (!r->has_source || leat_seq16_diff(seq, r->source_highest) != 1) {
        return false; /* a hole before it is still open: its numbers must stay free */
    }
    r->seq_offset = (uint16_t)(r->seq_offset - 1);
    r->source_highest = seq;
    /* What was before the skip keeps numbers that the old offset gave: it counts as late from here
     * on. */
    r->source_first = (uint16_t)(seq + 1);
    return true;
}
