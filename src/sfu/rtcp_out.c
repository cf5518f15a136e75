/* SPDX-License-Identifier: MIT */
/*
 * RTCP of our own. Once a second and peer (randomised by half, RFC 3550 6.2), a compound: a sender
 * report for each sender that sent since the last one, a receiver report over what came in, CNAMEs.
 * Keyframe requests go at once, alone where reduced size was negotiated (RFC 5506), else behind an
 * empty receiver report.
 *
 * A sender report maps the RTP time of the receiver's stream to leatd's wall clock. The source's
 * own report gives RTP time against the publisher's clock; the offset of that clock is one a peer
 * (rtcp_in.c), so that its audio and video stay in sync. Before the first report of the source, the
 * arrival of its newest packet stands in.
 */
#include "private.h"

#define REPORT_US 1000000u
#define RTCP_MAX                                                                                   \
    1100 /* octets before protection, so that a datagram stays under the MTU of 1200               \
          */
#define STALLED_US 3000000u
#define SR_AGE_MAX_US 60000000 /* a source's report counts for so long */

static void send_rtcp(struct leat_sfu *s, struct leat_sfu_slot *slot, const struct leat_writer *w,
                      struct leat_sink *out)
{
    if (w->failed || leat_writer_len(w) == 0) {
        return;
    }
    if (leat_peer_send_rtcp(slot->peer, leat_span(w->start, leat_writer_len(w)), out) ==
        LEAT_SRTP_OK) {
        s->counters.rtcp_out++;
    }
}

/* ---- keyframe requests ---- */

static bool send_keyframe_request(struct leat_sfu *s, struct leat_sfu_track *t,
                                  struct leat_sink *out)
{
    uint8_t octets[128];
    struct leat_writer w;
    struct leat_sfu_slot *slot = t->slot;
    if (t->active < 0) {
        return false;
    }
    uint32_t ssrc = t->sources[t->active].ssrc;
    const struct leat_codec *codec = leat__sfu_codec(&t->desc, t->sources[t->active].pt);
    if (codec == NULL || (!codec->has_pli && !codec->has_fir)) {
        return false; /* the source cannot be asked */
    }
    leat_writer_init(&w, octets, sizeof octets);
    if (!t->desc.is_rsize) {
        leat_rtcp_write_rr(&w, slot->rtcp_ssrc, NULL, 0);
        leat_rtcp_write_sdes_cname(&w, slot->rtcp_ssrc, slot->cname);
    }
    if (codec->has_pli) {
        leat_rtcp_write_pli(&w, slot->rtcp_ssrc, ssrc);
        t->pli_sent++;
    } else {
        leat_rtcp_write_fir(&w, slot->rtcp_ssrc, ssrc, t->fir_seq_nr++);
        t->fir_sent++;
    }
    s->counters.keyframe_requests++;
    send_rtcp(s, slot, &w, out);
    return true;
}

bool leat__sfu_want_keyframe(struct leat_sfu *s, struct leat_sfu_track *t, uint64_t now_us,
                             struct leat_sink *out)
{
    if (t->active < 0) {
        return false; /* nothing came yet: its first packet that is no keyframe asks again */
    }
    bool is_due = leat_keyframe_want(&t->keyframes, now_us);
    leat__sfu_rearm(s, t->slot);
    return is_due && send_keyframe_request(s, t, out);
}

void leat__sfu_keyframe_tick(struct leat_sfu *s, struct leat_sfu_track *t, uint64_t now_us,
                             struct leat_sink *out)
{
    if (leat_keyframe_tick(&t->keyframes, now_us)) {
        (void)send_keyframe_request(s, t, out);
    }
}

/* ---- reports ---- */

static int64_t ticks_of(int64_t passed_us, const struct leat_sfu_sender *sender)
{
    return passed_us * (int64_t)sender->rewriter.clock_hz / 1000000;
}

/** The RTP time of the receiver's stream at this instant. */
static uint32_t timestamp_now(const struct leat_sfu *s, const struct leat_sfu_sender *sender,
                              uint64_t now_us)
{
    const struct leat_sfu_track *t = sender->track;
    const struct leat_sfu_slot *from = t->slot;
    const struct leat_sfu_source *source = &t->sources[t->active];
    if (source->has_sr && from->has_clock) {
        int64_t publisher_us = (int64_t)(now_us + s->unix_offset_us) - from->clock_offset_us;
        int64_t passed_us = publisher_us - (int64_t)source->sr_unix_us;
        /* Whatever a publisher claims: reports come every few seconds, so more than that between
         * its last one and now is nonsense, and could overflow. */
        if (passed_us > -SR_AGE_MAX_US && passed_us < SR_AGE_MAX_US) {
            return leat_rewriter_timestamp(
                &sender->rewriter, source->sr_timestamp + (uint32_t)ticks_of(passed_us, sender));
        }
    }
    int64_t passed_us = (int64_t)(now_us - source->last_us);
    return leat_rewriter_timestamp(&sender->rewriter,
                                   source->last_timestamp + (uint32_t)ticks_of(passed_us, sender));
}

static bool can_report(const struct leat_sfu_sender *sender)
{
    return sender->track != NULL && sender->track->active >= 0 && sender->rewriter.has_source &&
           sender->packets > 0 &&
           sender->track->sources[sender->track->active].ssrc == sender->rewriter_ssrc;
}

static void write_sr(struct leat_sfu *s, const struct leat_sfu_sender *sender, uint64_t now_us,
                     struct leat_writer *w)
{
    struct leat_rtcp_sender_info info = {
        .ntp = leat_ntp_from_unix_us(now_us + s->unix_offset_us),
        .rtp_timestamp = timestamp_now(s, sender, now_us),
        .packets = (uint32_t)sender->packets,
        .octets = (uint32_t)sender->octets,
    };
    leat_rtcp_write_sr(w, sender->desc.ssrc, &info, NULL, 0);
    leat_rtcp_write_sdes_cname(w, sender->desc.ssrc, sender->slot->cname);
}

/** Room of one SR or RR with its SDES, which takes 44 octets at most. */
static bool has_room(const struct leat_writer *w, size_t octets)
{
    return (size_t)(w->end - w->at) >= octets;
}

static void report_senders(struct leat_sfu *s, struct leat_sfu_slot *slot, uint64_t now_us,
                           struct leat_writer *w, struct leat_sink *out)
{
    for (size_t i = 0; i < slot->sender_count; i++) {
        const struct leat_sfu_sender *sender = slot->senders[i];
        if (!can_report(sender) || now_us - sender->last_sent_us > 10 * REPORT_US) {
            continue;
        }
        if (!has_room(w, 28 + 48)) {
            send_rtcp(s, slot, w, out);
            w->at = w->start;
        }
        write_sr(s, sender, now_us, w);
    }
}

static void write_rr(struct leat_sfu *s, struct leat_sfu_slot *slot,
                     const struct leat_rtcp_block *blocks, size_t count, struct leat_writer *w,
                     struct leat_sink *out)
{
    if (!has_room(w, 8 + 24 * count + 48)) {
        send_rtcp(s, slot, w, out);
        w->at = w->start;
    }
    leat_rtcp_write_rr(w, slot->rtcp_ssrc, blocks, count);
    leat_rtcp_write_sdes_cname(w, slot->rtcp_ssrc, slot->cname);
}

static void report_sources(struct leat_sfu *s, struct leat_sfu_slot *slot, uint64_t now_us,
                           struct leat_writer *w, struct leat_sink *out)
{
    struct leat_rtcp_block blocks[LEAT_RTCP_BLOCKS_MAX];
    size_t count = 0;
    for (size_t t = 0; t < slot->track_count; t++) {
        for (size_t i = 0; i < slot->tracks[t]->source_count; i++) {
            struct leat_sfu_source *source = &slot->tracks[t]->sources[i];
            if (!source->rx.is_started || now_us - source->last_us >= STALLED_US) {
                continue;
            }
            if (count == LEAT_RTCP_BLOCKS_MAX) {
                write_rr(s, slot, blocks, count, w, out);
                count = 0;
            }
            leat_rtp_receiver_report(&source->rx, source->ssrc, now_us, &blocks[count++]);
        }
    }
    if (count > 0 || leat_writer_len(w) == 0) { /* sender reports are a whole compound */
        write_rr(s, slot, blocks, count, w, out);
    }
}

static void find_stalled(struct leat_sfu *s, struct leat_sfu_slot *slot, uint64_t now_us)
{
    for (size_t i = 0; i < slot->track_count; i++) {
        struct leat_sfu_track *t = slot->tracks[i];
        uint64_t last_us = t->active >= 0 ? t->sources[t->active].last_us : 0;
        if (t->state == LEAT_TRACK_LIVE && now_us - last_us > STALLED_US) {
            leat__sfu_track_state(s, t, LEAT_TRACK_STALLED);
        }
    }
}

void leat__sfu_report(struct leat_sfu *s, struct leat_sfu_slot *slot, uint64_t now_us,
                      struct leat_sink *out)
{
    uint8_t octets[RTCP_MAX];
    struct leat_writer w;
    leat_writer_init(&w, octets, sizeof octets);
    report_senders(s, slot, now_us, &w, out);
    report_sources(s, slot, now_us, &w, out);
    send_rtcp(s, slot, &w, out);
    find_stalled(s, slot, now_us);
    slot->report_us = now_us + REPORT_US / 2 + leat_rng_below(s->params.rng, REPORT_US);
}
