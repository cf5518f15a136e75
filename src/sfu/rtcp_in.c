/* SPDX-License-Identifier: MIT */
/*
 * RTCP from a peer. It ends here: every packet of a compound is served by its own media SSRC (RFC
 * 3550 6.1, RFC 5506), and nothing is passed on as it came. Sender reports give the publisher's
 * clock, report blocks the receiver's view, PLI and FIR become one limited request towards the
 * source of the route, whoever asked.
 */
#include "private.h"

#define PLI_WINDOW_US 10000000u
#define SR_TIMESTAMP_MAX_S 60 /* between a report's RTP time and the newest packet's */

static struct leat_sfu_sender *sender_by_ssrc(const struct leat_sfu_slot *slot, uint32_t ssrc)
{
    for (size_t i = 0; i < slot->sender_count; i++) {
        if (slot->senders[i]->desc.ssrc == ssrc) {
            return slot->senders[i];
        }
    }
    return NULL;
}

static struct leat_sfu_source *source_by_ssrc(const struct leat_sfu_slot *slot, uint32_t ssrc)
{
    const struct leat_sfu_ssrc *e = leat__sfu_ssrc_entry(slot, ssrc);
    return e != NULL && e->is_used ? &slot->tracks[e->track]->sources[e->source] : NULL;
}

/** Microseconds since 1970 of a 32.32 NTP time. */
static uint64_t unix_us_of_ntp(uint64_t ntp)
{
    const uint64_t epoch_s = 2208988800u; /* RFC 868 */
    uint64_t seconds = ntp >> 32;
    uint64_t fraction_us = ((ntp & 0xffffffffu) * 1000000u) >> 32;
    return seconds >= epoch_s ? (seconds - epoch_s) * 1000000u + fraction_us : 0;
}

/**
 * One clock offset a publishing peer, for its audio and video alike: the least of (arrival -
 * sender's time) is the one with the least transit. It is forgotten after a minute, so that clock
 * drift is followed, and at once when the clock is set.
 */
static void learn_clock(struct leat_sfu *s, struct leat_sfu_slot *slot, uint64_t sender_unix_us,
                        uint64_t now_us)
{
    const uint64_t forget_us = 60000000;
    const int64_t step_us = 1000000; /* more than transit varies: its clock was set back */
    int64_t offset = (int64_t)(now_us + s->unix_offset_us) - (int64_t)sender_unix_us;
    if (!slot->has_clock || offset < slot->clock_offset_us ||
        offset - slot->clock_offset_us > step_us || now_us - slot->clock_us > forget_us) {
        slot->has_clock = true;
        slot->clock_offset_us = offset;
        slot->clock_us = now_us;
    }
}

static void take_sender_info(struct leat_sfu *s, struct leat_sfu_slot *slot,
                             const struct leat_rtcp *p, uint64_t now_us)
{
    struct leat_rtcp_sender_info info;
    struct leat_sfu_source *source = source_by_ssrc(slot, p->ssrc);
    if (source == NULL || !leat_rtcp_read_sender_info(p, &info)) {
        return;
    }
    leat_rtp_receiver_sr(&source->rx, info.ntp, now_us);
    uint64_t sender_unix_us = unix_us_of_ntp(info.ntp);
    if (sender_unix_us == 0) {
        return; /* a sender without a wall clock (RFC 3550 6.4.1 allows zero) */
    }
    int64_t off = leat_seq32_diff(info.rtp_timestamp, source->last_timestamp);
    int64_t most = (int64_t)source->rx.clock_hz * SR_TIMESTAMP_MAX_S;
    if (source->last_us != 0 && (off > most || off < -most)) {
        return; /* not of the stream that comes here */
    }
    source->has_sr = true;
    source->sr_unix_us = sender_unix_us;
    source->sr_timestamp = info.rtp_timestamp;
    learn_clock(s, slot, sender_unix_us, now_us);
}

static void take_blocks(struct leat_sfu *s, struct leat_sfu_slot *slot, const struct leat_rtcp *p,
                        uint64_t now_us)
{
    struct leat_rtcp_block blocks[LEAT_RTCP_BLOCKS_MAX];
    size_t count = leat_rtcp_read_blocks(p, blocks);
    uint32_t now_mid = (uint32_t)(leat_ntp_from_unix_us(now_us + s->unix_offset_us) >> 16);
    for (size_t i = 0; i < count; i++) {
        struct leat_sfu_sender *sender = sender_by_ssrc(slot, blocks[i].ssrc);
        if (sender == NULL) {
            continue;
        }
        sender->report = blocks[i];
        sender->has_report = true;
        sender->report_us = now_us;
        /* A last SR in the future, or a delay longer than the time since: not a measurement (RFC
         * 3550 6.4.1). */
        int32_t round_trip = leat_seq32_diff(now_mid, blocks[i].last_sr + blocks[i].delay_since_sr);
        if (blocks[i].last_sr != 0 && round_trip >= 0) {
            sender->round_trip_s = (double)round_trip / 65536.0;
        }
    }
}

static void count_request(struct leat_sfu_sender *sender, uint64_t now_us)
{
    if (now_us - sender->pli_window_us > PLI_WINDOW_US) {
        sender->pli_window_us = now_us;
        sender->pli_in_window = 0;
    }
    sender->pli_in_window++;
}

static void pass_request(struct leat_sfu *s, struct leat_sfu_sender *sender, uint64_t now_us,
                         struct leat_sink *out)
{
    count_request(sender, now_us);
    if (sender->track != NULL && !sender->is_paused &&
        sender->track->desc.kind == LEAT_KIND_VIDEO) {
        (void)leat__sfu_want_keyframe(s, sender->track, now_us, out);
    }
}

static void take_payload_feedback(struct leat_sfu *s, struct leat_sfu_slot *slot,
                                  const struct leat_rtcp *p, uint64_t now_us, struct leat_sink *out)
{
    uint32_t ssrc;
    if (p->count_or_fmt == LEAT_PSFB_PLI && leat_rtcp_read_pli(p, &ssrc)) {
        struct leat_sfu_sender *sender = sender_by_ssrc(slot, ssrc);
        if (sender != NULL) {
            sender->pli_received++;
            pass_request(s, sender, now_us, out);
        }
        return;
    }
    size_t cursor = 0;
    uint8_t seq_nr;
    while (p->count_or_fmt == LEAT_PSFB_FIR && leat_rtcp_read_fir(p, &cursor, &ssrc, &seq_nr)) {
        struct leat_sfu_sender *sender = sender_by_ssrc(slot, ssrc);
        if (sender != NULL &&
            sender->fir_seq_nr != seq_nr) { /* the same number is a repetition (RFC 5104 4.3.1.1) */
            sender->fir_seq_nr = seq_nr;
            sender->fir_received++;
            pass_request(s, sender, now_us, out);
        }
    }
}

/** The track is told stalled by the next report's look at it, if nothing else comes: a remote must
 * not cause events as fast as it can send. */
static void take_bye(struct leat_sfu_slot *slot, const struct leat_rtcp *p)
{
    size_t cursor = 0;
    uint32_t ssrc;
    while (leat_rtcp_read_bye(p, &cursor, &ssrc)) {
        const struct leat_sfu_ssrc *e = leat__sfu_ssrc_entry(slot, ssrc);
        if (e == NULL || !e->is_used) {
            continue;
        }
        struct leat_sfu_track *t = slot->tracks[e->track];
        if (t->active == e->source) {
            t->active = -1; /* another SSRC of the track takes over at once */
        }
    }
}

void leat__sfu_receive_rtcp(struct leat_sfu *s, struct leat_sfu_slot *slot,
                            struct leat_span compound, uint64_t now_us, struct leat_sink *out)
{
    struct leat_reader r;
    struct leat_rtcp p;
    leat_reader_init(&r, compound.data, compound.len);
    while (leat_rtcp_next(&r, &p)) {
        switch (p.type) {
        case LEAT_RTCP_SR:
            take_sender_info(s, slot, &p, now_us);
            take_blocks(s, slot, &p, now_us);
            break;
        case LEAT_RTCP_RR:
            take_blocks(s, slot, &p, now_us);
            break;
        case LEAT_RTCP_PSFB:
            take_payload_feedback(s, slot, &p, now_us, out);
            break;
        case LEAT_RTCP_BYE:
            take_bye(slot, &p);
            break;
        default: /* a number from the network: SDES, APP, XR, transport feedback and what is not
                    known yet */
            break;
        }
    }
    s->counters.rtcp_malformed += r.failed ? 1 : 0;
}
