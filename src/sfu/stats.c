/* SPDX-License-Identifier: MIT */
/* Flat statistics records of peers, tracks and senders, and the facts of one route for
 * route.explain. */
#include <stdlib.h>

#include "private.h"

#define UNKNOWN (-1.0)
#define REPORT_FRESH_US 15000000u /* receivers report every few seconds */

static struct leat_stat *add(struct leat_stat *stats, size_t *count, enum leat_stat_type type,
                             leat_handle peer)
{
    struct leat_stat *stat = &stats[(*count)++];
    stat->type = type;
    stat->peer = peer;
    stat->jitter_s = stat->round_trip_s = stat->fraction_lost = UNKNOWN;
    return stat;
}

static void fill_transport(struct leat_stat *stat, const struct leat_peer *peer)
{
    stat->state = leat_peer_state_of(peer);
    stat->transport = *leat_peer_counters_of(peer);
    stat->times = *leat_peer_times_of(peer);
    const struct leat_tuple *selected = leat_peer_selected(peer);
    if (selected != NULL) {
        stat->selected = *selected;
    }
    stat->profile = leat_peer_srtp_profile(peer);
    stat->dtls_role = leat_peer_dtls_role(peer);
    (void)leat_text_copy(stat->dtls_cipher, sizeof stat->dtls_cipher,
                         leat_span_str(leat_peer_dtls_cipher(peer)));
}

static void add_track(struct leat_stat *stats, size_t *count, const struct leat_sfu_track *t)
{
    for (size_t i = 0; i < t->source_count; i++) {
        const struct leat_sfu_source *source = &t->sources[i];
        struct leat_stat *stat = add(stats, count, LEAT_STAT_INBOUND, t->slot->handle);
        memcpy(stat->mid, t->desc.mid, sizeof stat->mid);
        stat->kind = t->desc.kind;
        stat->ssrc = source->ssrc;
        stat->packets = source->rx.packets;
        stat->octets = source->payload_octets;
        stat->packets_lost = source->rx.is_started ? leat_rtp_receiver_lost(&source->rx) : 0;
        stat->jitter_s = source->rx.is_started ? leat_rtp_receiver_jitter_s(&source->rx) : UNKNOWN;
        stat->discarded = source->discarded;
        stat->keyframes = source->keyframes;
        stat->last_packet_us = source->last_us;
        if (t->active ==
            (int)i) { /* requests are the track's; they name the SSRC that is forwarded */
            stat->pli = t->pli_sent;
            stat->fir = t->fir_sent;
        }
    }
}

static void add_sender(struct leat_stat *stats, size_t *count, const struct leat_sfu_sender *sender)
{
    struct leat_stat *stat = add(stats, count, LEAT_STAT_OUTBOUND, sender->slot->handle);
    memcpy(stat->mid, sender->desc.mid, sizeof stat->mid);
    stat->kind = sender->desc.kind;
    stat->ssrc = sender->desc.ssrc;
    stat->packets = sender->packets;
    stat->octets = sender->octets;
    stat->dropped = sender->dropped;
    stat->pli = sender->pli_received;
    stat->fir = sender->fir_received;
    stat->last_packet_us = sender->last_sent_us;
    if (!sender->has_report) {
        return;
    }
    struct leat_stat *remote = add(stats, count, LEAT_STAT_REMOTE_INBOUND, sender->slot->handle);
    memcpy(remote->mid, sender->desc.mid, sizeof remote->mid);
    remote->kind = sender->desc.kind;
    remote->ssrc = sender->desc.ssrc;
    remote->packets_lost = sender->report.lost;
    remote->fraction_lost = (double)sender->report.fraction_lost / 256.0;
    remote->jitter_s = (double)sender->report.jitter / (double)sender->rewriter.clock_hz;
    remote->round_trip_s = sender->round_trip_s > 0 ? sender->round_trip_s : UNKNOWN;
}

static size_t records_of(const struct leat_sfu_slot *slot)
{
    return 1 + LEAT_ENCODINGS_MAX * slot->track_count + 2 * slot->sender_count;
}

static void add_peer(struct leat_stat *stats, size_t *count, const struct leat_sfu_slot *slot)
{
    fill_transport(add(stats, count, LEAT_STAT_TRANSPORT, slot->handle), slot->peer);
    for (size_t i = 0; i < slot->track_count; i++) {
        add_track(stats, count, slot->tracks[i]);
    }
    for (size_t i = 0; i < slot->sender_count; i++) {
        add_sender(stats, count, slot->senders[i]);
    }
}

int leat__sfu_stats_of(const struct leat_sfu_slot *slot, struct leat_stat **stats, size_t *count)
{
    *count = 0;
    *stats = calloc(records_of(slot), sizeof **stats);
    if (*stats == NULL) {
        return LEAT_E_NOMEM;
    }
    add_peer(*stats, count, slot);
    return 0;
}

/** The wanted peers one after the other: of the list, or all. */
static const struct leat_sfu_slot *next_wanted(const struct leat_sfu *s,
                                               const struct leat_command *c, size_t *cursor)
{
    if (c->handle_count == 0) {
        return leat_map_next(&s->by_handle, cursor);
    }
    while (*cursor < c->handle_count) {
        const struct leat_sfu_slot *slot = leat__sfu_find(s, c->handles[(*cursor)++]);
        if (slot != NULL) {
            return slot;
        }
    }
    return NULL;
}

int leat__sfu_stats(struct leat_sfu *s, struct leat_command *c)
{
    size_t cap = 0, cursor = 0;
    const struct leat_sfu_slot *slot;
    while ((slot = next_wanted(s, c, &cursor)) != NULL) {
        cap += records_of(slot);
    }
    c->stat_count = 0;
    c->stats = calloc(cap > 0 ? cap : 1, sizeof *c->stats);
    if (c->stats == NULL) {
        return LEAT_E_NOMEM;
    }
    cursor = 0;
    while ((slot = next_wanted(s, c, &cursor)) != NULL) {
        add_peer(c->stats, &c->stat_count, slot);
    }
    return 0;
}

static void explain_source(const struct leat_sfu_track *t, struct leat_explain *x)
{
    x->has_source = true;
    x->track_active = t->desc.is_active;
    x->from_state = leat_peer_state_of(t->slot->peer);
    x->source_auth_fail = leat_peer_counters_of(t->slot->peer)->srtp_auth_fail;
    x->keyframe_requests = t->keyframes.sent;
    if (t->active >= 0) {
        x->source_packets = t->sources[t->active].rx.packets;
        x->source_last_us = t->sources[t->active].last_us;
    }
}

int leat__sfu_explain(const struct leat_sfu *s, struct leat_command *c, uint64_t now_us)
{
    struct leat_explain *x = &c->explain;
    const struct leat_sfu_slot *slot = leat__sfu_find(s, c->handle);
    const struct leat_sfu_sender *sender = slot != NULL ? leat__sfu_sender(slot, c->mid) : NULL;
    memset(x, 0, sizeof *x);
    if (sender == NULL) {
        return LEAT_E_MISSING;
    }
    x->has_sender = true;
    x->has_route = sender->has_route;
    x->is_paused = sender->is_paused;
    x->sender_active = sender->desc.is_active;
    x->to_state = leat_peer_state_of(slot->peer);
    x->profile = leat_peer_srtp_profile(slot->peer);
    x->waits_for_keyframe = sender->needs_keyframe;
    x->unmapped_payload = sender->unmapped - sender->unmapped_before;
    x->forwarded = sender->packets - sender->packets_before;
    x->dropped = sender->dropped - sender->dropped_before;
    bool is_fresh = sender->has_report && now_us - sender->report_us < REPORT_FRESH_US;
    x->fraction_lost = is_fresh ? (double)sender->report.fraction_lost / 256.0 : UNKNOWN;
    x->receiver_pli = sender->pli_received;
    x->receiver_fir = sender->fir_received;
    x->receiver_pli_recent = now_us - sender->pli_window_us < 10000000 ? sender->pli_in_window : 0;
    if (sender->track != NULL) {
        explain_source(sender->track, x);
    }
    return 0;
}
