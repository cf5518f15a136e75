/* SPDX-License-Identifier: MIT */
/**
 * @file  What a route does to a packet: numbers that stay continuous for the receiver whatever the
 * source does, payload types by codec, header extensions by URI; and the limiter of keyframe
 * requests towards a source.
 * @module route
 */
#ifndef LEAT_ROUTE_H
#define LEAT_ROUTE_H

#include <leat/heap.h>
#include <leat/media.h>
#include <leat/rtp.h>

/* ---- continuous numbers of one sender ---- */

/** A source may jump by so many numbers before it counts as restarted. */
#define LEAT_REWRITE_JUMP_MAX 3000

struct leat_rewriter {
    uint32_t clock_hz;
    bool has_sent;       /**< something was sent on this SSRC, whatever the source */
    bool has_source;     /**< the offsets below belong to the running source */
    uint16_t seq_offset; /**< out = in + offset */
    uint32_t ts_offset;
    uint16_t source_first;   /**< first number taken from the running source */
    uint16_t source_highest; /**< highest one */
    uint16_t sent_seq;       /**< highest sent */
    uint32_t sent_ts;        /**< of the packet with the highest number */
    uint64_t sent_us;        /**< when that one had arrived */
};

enum leat_rewrite_verdict {
    LEAT_REWRITE_OK,
    LEAT_REWRITE_LATE /**< older than the first packet of this source: its number belongs to what
                         was sent before */
};

/** @param first_seq  1024..2^15-1, so that a receiver never needs our roll-over counter
 *  @param first_ts   random */
void leat_rewriter_init(struct leat_rewriter *r, uint32_t clock_hz, uint16_t first_seq,
                        uint32_t first_ts);
/** The next packet comes from another source: it continues the numbers (next number, timestamp on
 * by the time that passed). */
void leat_rewriter_new_source(struct leat_rewriter *r);
/** Map the numbers of one packet. A jump of more than LEAT_REWRITE_JUMP_MAX is a restart of the
 * source and stays continuous too. */
enum leat_rewrite_verdict leat_rewriter_map(struct leat_rewriter *r, uint16_t seq,
                                            uint32_t timestamp, uint64_t arrived_us,
                                            uint16_t *out_seq, uint32_t *out_ts);
/** A packet of the source that is not forwarded (padding only): the next ones close the gap.
 * @return false when they cannot, because it is not the one after the newest. */
bool leat_rewriter_skip(struct leat_rewriter *r, uint16_t seq);
/** A source timestamp in the sender's timeline; meaningful while has_source. */
static inline uint32_t leat_rewriter_timestamp(const struct leat_rewriter *r, uint32_t source_ts)
{
    return source_ts + r->ts_offset;
}

/* ---- payload types ---- */

struct leat_pt_map {
    uint8_t to[128];   /**< by the source's payload type; 0xff: not carried */
    uint8_t name[128]; /**< enum leat_codec_name of the source's payload type */
};

/** @return how many of the track's codecs the sender can carry. */
size_t leat_pt_map_build(struct leat_pt_map *m, const struct leat_media_desc *track,
                         const struct leat_media_desc *sender);

/* ---- the packet itself ---- */

/**
 * Compose the receiver's header: our SSRC, the numbers given, the receiver's payload type and
 * extension ids, the source's marker and CSRCs. Extensions that the receiver did not negotiate are
 * left out; MID is the receiver's section's. The payload that belongs to it is the source's
 * (leat_route_payload).
 * @param in       the source's packet, parsed
 * @param from     ids of the source's section
 * @param to       the sender
 * @return octets written, 0 when it does not fit
 */
size_t leat_route_header(uint8_t *out, size_t cap, const struct leat_rtp *in,
                         struct leat_span packet, const struct leat_exts *from,
                         const struct leat_media_desc *to, uint8_t pt, uint16_t seq,
                         uint32_t timestamp);
/** Without the source's padding. */
static inline struct leat_span leat_route_payload(const struct leat_rtp *in,
                                                  struct leat_span packet)
{
    return leat_span(packet.data + in->payload_offset, in->payload_len);
}

/* ---- keyframe requests towards one source ---- */

#define LEAT_KEYFRAME_INTERVAL_US 400000u /**< between two requests, whatever the cause */
#define LEAT_KEYFRAME_RETRY_US 1000000u   /**< asked again when none was seen */
#define LEAT_KEYFRAME_GIVE_UP 30 /**< retries without a keyframe; a new cause starts over */

struct leat_keyframe_limiter {
    bool is_pending; /**< somebody waits for a keyframe */
    bool is_unsent;  /**< the pending request was held back by the interval */
    uint32_t retries;
    uint64_t sent_us; /**< last request; 0 = never */
    uint64_t requested, sent;
};

/** A cause (PLI, FIR, a join, a re-point). @return true when a request must go out now. */
bool leat_keyframe_want(struct leat_keyframe_limiter *l, uint64_t now_us);
/** A keyframe started. */
void leat_keyframe_seen(struct leat_keyframe_limiter *l);
/** Nobody waits any more. */
void leat_keyframe_forget(struct leat_keyframe_limiter *l);
uint64_t leat_keyframe_deadline(const struct leat_keyframe_limiter *l);
/** @return true when a request must go out now (held back before, or unanswered). */
bool leat_keyframe_tick(struct leat_keyframe_limiter *l, uint64_t now_us);

#endif
