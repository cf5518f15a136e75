/* SPDX-License-Identifier: MIT */
/*
 * The check of one received stream. The publisher lives in this process, so what must come is
 * known: every packet it made, once, in order, with the payload type and MID of this receiver and
 * with sequence numbers and timestamps that keep a constant distance from the publisher's.
 */
#include "check.h"

static const char *const fate_texts[LEAT_LOAD_FATES] = {
    "right", "reordered", "duplicate", "pt",       "mid",
    "crc",   "pattern",   "source",    "sequence", "timestamp",
};

const char *leat_load_fate_text(enum leat_load_fate fate)
{
    return fate_texts[fate];
}

void leat_load_stream_init(struct leat_load_stream *s)
{
    leat_rtp_receiver_init(&s->rx, s->from->clock_hz);
}

static bool is_mid_right(const struct leat_load_stream *s, const struct leat_rtp *p,
                         struct leat_span packet)
{
    struct leat_span mid;
    return leat_rtp_find_ext(p, packet, s->mid_ext, &mid) &&
           leat_span_equal(mid, leat_span_str(s->mid));
}

static enum leat_load_fate fate_of_payload(enum leat_load_payload verdict)
{
    switch (verdict) {
    case LEAT_LOAD_PAYLOAD_OK:
        break;
    case LEAT_LOAD_PAYLOAD_SHORT:
    case LEAT_LOAD_PAYLOAD_CRC:
        return LEAT_LOAD_WRONG_CRC;
    case LEAT_LOAD_PAYLOAD_FOREIGN:
        return LEAT_LOAD_WRONG_SOURCE;
    case LEAT_LOAD_PAYLOAD_PATTERN:
        return LEAT_LOAD_WRONG_PATTERN;
    }
    return LEAT_LOAD_RIGHT;
}

static uint64_t *word_of(struct leat_load_stream *s, uint32_t counter)
{
    return &s->seen[counter % LEAT_LOAD_WINDOW / 64];
}

/** Forget what leaves the window when `counter` becomes the highest. */
static void advance(struct leat_load_stream *s, uint32_t counter)
{
    if (counter - s->highest >= LEAT_LOAD_WINDOW) {
        memset(s->seen, 0, sizeof s->seen);
    } else {
        for (uint32_t i = s->highest + 1; i != counter + 1; i++) {
            *word_of(s, i) &= ~(UINT64_C(1) << (i % 64));
        }
    }
    s->highest = counter;
}

static enum leat_load_fate place(struct leat_load_stream *s, uint32_t counter)
{
    uint64_t bit = UINT64_C(1) << (counter % 64);
    bool is_behind = counter < s->highest;
    if (counter > s->highest) {
        advance(s, counter);
    } else if (s->highest - counter >= LEAT_LOAD_WINDOW || (*word_of(s, counter) & bit) != 0) {
        return LEAT_LOAD_DUPLICATE;
    }
    *word_of(s, counter) |= bit;
    s->unique++;
    return is_behind ? LEAT_LOAD_REORDERED : LEAT_LOAD_RIGHT;
}

static enum leat_load_fate examine(struct leat_load_stream *s, const struct leat_rtp *p,
                                   struct leat_span packet, struct leat_load_stamp *stamp)
{
    if (p->pt != s->pt) {
        return LEAT_LOAD_WRONG_PT;
    }
    if (!is_mid_right(s, p, packet)) {
        return LEAT_LOAD_WRONG_MID;
    }
    struct leat_span payload = leat_span(packet.data + p->payload_offset, p->payload_len);
    enum leat_load_fate fate =
        fate_of_payload(leat_load_payload_read(payload, s->from->kind, stamp));
    if (fate != LEAT_LOAD_RIGHT) {
        return fate;
    }
    if (stamp->publisher != s->from->publisher || stamp->counter >= s->from->counter) {
        return LEAT_LOAD_WRONG_SOURCE;
    }
    uint16_t seq_offset = (uint16_t)(p->seq - stamp->counter);
    uint32_t timestamp_offset = p->timestamp - stamp->timestamp;
    if (!s->is_started) {
        s->is_started = true;
        s->highest = stamp->counter;
        s->seq_offset = seq_offset;
        s->timestamp_offset = timestamp_offset;
    }
    if (seq_offset != s->seq_offset) {
        return LEAT_LOAD_WRONG_SEQ;
    }
    if (timestamp_offset != s->timestamp_offset) {
        return LEAT_LOAD_WRONG_TIMESTAMP;
    }
    return place(s, stamp->counter);
}

enum leat_load_fate leat_load_stream_take(struct leat_load_stream *s, const struct leat_rtp *p,
                                          struct leat_span packet, uint64_t now_us,
                                          struct leat_load_stamp *stamp)
{
    enum leat_load_fate fate = examine(s, p, packet, stamp);
    s->fates[fate]++;
    leat_rtp_receiver_add(&s->rx, p->seq, p->timestamp, packet.len, now_us);
    return fate;
}

uint64_t leat_load_stream_lost(const struct leat_load_stream *s)
{
    return s->from->counter - s->unique;
}
