/* SPDX-License-Identifier: MIT */
/*
 * Slots: a peer with its tracks and senders from OPEN to its end. A peer that ends tells so once,
 * with its final statistics, loses its tuples and ufrags at once and closes every route from and to
 * it; if a handshake job still owns its session, the slot waits in `zombies` until the job comes
 * back.
 */
#include <stdlib.h>

#include "private.h"

static const char source_ended[] = "source_ended";
static const char section_ended[] = "section_ended";

struct leat_sfu_slot *leat__sfu_find(const struct leat_sfu *s, leat_handle handle)
{
    return leat_map_get(&s->by_handle, leat_span(&handle, sizeof handle));
}

struct leat_sfu_track *leat__sfu_track(const struct leat_sfu_slot *slot, const char *mid)
{
    for (size_t i = 0; i < slot->track_count; i++) {
        if (strcmp(slot->tracks[i]->desc.mid, mid) == 0) {
            return slot->tracks[i];
        }
    }
    return NULL;
}

struct leat_sfu_sender *leat__sfu_sender(const struct leat_sfu_slot *slot, const char *mid)
{
    for (size_t i = 0; i < slot->sender_count; i++) {
        if (strcmp(slot->senders[i]->desc.mid, mid) == 0) {
            return slot->senders[i];
        }
    }
    return NULL;
}

/* ---- the peer's SSRC table ---- */

struct leat_sfu_ssrc *leat__sfu_ssrc_entry(const struct leat_sfu_slot *slot, uint32_t ssrc)
{
    if (slot->ssrcs == NULL) {
        return NULL;
    }
    uint32_t at = (ssrc * 2654435761u) >> 16;
    for (size_t i = 0; i < LEAT_SFU_SSRC_TABLE; i++) {
        struct leat_sfu_ssrc *e = &slot->ssrcs[(at + i) & (LEAT_SFU_SSRC_TABLE - 1)];
        if (!e->is_used || e->ssrc == ssrc) {
            return e;
        }
    }
    return NULL;
}

static void enter_sources(struct leat_sfu_slot *slot, bool are_declared)
{
    for (size_t t = 0; t < slot->track_count; t++) {
        for (size_t i = 0; i < slot->tracks[t]->source_count; i++) {
            const struct leat_sfu_source *source = &slot->tracks[t]->sources[i];
            struct leat_sfu_ssrc *e = leat__sfu_ssrc_entry(slot, source->ssrc);
            if (source->is_declared == are_declared && e != NULL && !e->is_used) {
                *e = (struct leat_sfu_ssrc){.ssrc = source->ssrc,
                                            .is_used = true,
                                            .source = (uint8_t)i,
                                            .track = (uint16_t)t};
            }
        }
    }
}

/* An SSRC that stands twice is the first section's, and a declaration beats what was learnt. */
void leat__sfu_ssrcs_rebuild(struct leat_sfu_slot *slot)
{
    if (slot->ssrcs != NULL) {
        memset(slot->ssrcs, 0, LEAT_SFU_SSRC_TABLE * sizeof *slot->ssrcs);
        enter_sources(slot, true);
        enter_sources(slot, false);
    }
}

/* ---- tracks and senders ---- */

static uint32_t first_clock(const struct leat_media_desc *d)
{
    return d->codec_count > 0 ? d->codecs[0].clock_hz : 90000;
}

static struct leat_sfu_source *source_of(struct leat_sfu_track *t, uint32_t ssrc)
{
    for (size_t i = 0; i < t->source_count; i++) {
        if (t->sources[i].ssrc == ssrc) {
            return &t->sources[i];
        }
    }
    return NULL;
}

/* Whoever sends next is forwarded when an SSRC is new: the old one may have ended without a word.
 */
static void declare_sources(struct leat_sfu_track *t)
{
    for (size_t i = 0; i < t->source_count; i++) {
        t->sources[i].is_declared = false;
    }
    for (size_t i = 0; i < t->desc.encoding_count; i++) {
        uint32_t ssrc = t->desc.encodings[i].ssrc;
        struct leat_sfu_source *source = ssrc != 0 ? source_of(t, ssrc) : NULL;
        if (ssrc != 0 && source == NULL) {
            source = leat__sfu_source_add(t, ssrc);
            t->active = -1;
        }
        if (source != NULL) {
            source->is_declared = true;
        }
    }
}

static void track_free(struct leat_sfu *s, struct leat_sfu_track *t, const char *reason)
{
    if (t == NULL) {
        return;
    }
    leat__sfu_track_unlink(s, t, reason);
    if (!t->slot->is_ended) {
        leat__sfu_track_state(s, t, LEAT_TRACK_ENDED);
    }
    free(t->receivers);
    free(t);
}

static void sender_free(struct leat_sfu *s, struct leat_sfu_sender *sender, const char *reason)
{
    if (sender == NULL) {
        return;
    }
    leat__sfu_route_clear(s, sender, reason); /* what waits is withdrawn too */
    free(sender);
}

/** The sections of `descs`, taking over what of `old` has the same mid and kind; what is not in
 * descs stays in old. */
static int adopt_tracks(struct leat_sfu_slot *slot, const struct leat_media_desc *descs,
                        size_t count, struct leat_sfu_track ***out)
{
    struct leat_sfu_track **now = calloc(count > 0 ? count : 1, sizeof *now);
    if (now == NULL) {
        return LEAT_E_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        struct leat_sfu_track *t = leat__sfu_track(slot, descs[i].mid);
        if (t == NULL || t->desc.kind != descs[i].kind) {
            t = calloc(1, sizeof *t);
            if (t == NULL) {
                for (size_t k = 0; k < i; k++) {
                    if (now[k]->slot == NULL) {
                        free(now[k]);
                    }
                }
                free(now);
                return LEAT_E_NOMEM;
            }
            t->active = -1;
        }
        now[i] = t;
    }
    *out = now;
    return 0;
}

static int adopt_senders(struct leat_sfu_slot *slot, const struct leat_media_desc *descs,
                         size_t count, struct leat_sfu_sender ***out)
{
    struct leat_sfu_sender **now = calloc(count > 0 ? count : 1, sizeof *now);
    if (now == NULL) {
        return LEAT_E_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        struct leat_sfu_sender *sender = leat__sfu_sender(slot, descs[i].mid);
        if (sender == NULL ||
            sender->desc.ssrc !=
                descs[i].ssrc) { /* another SSRC is another stream (RFC 3711 9.1) */
            sender = calloc(1, sizeof *sender);
            if (sender == NULL) {
                for (size_t k = 0; k < i; k++) {
                    if (now[k]->slot == NULL) {
                        free(now[k]);
                    }
                }
                free(now);
                return LEAT_E_NOMEM;
            }
            sender->fir_seq_nr = -1;
        }
        now[i] = sender;
    }
    *out = now;
    return 0;
}

static bool is_among(void *const *list, size_t count, const void *p)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i] == p) {
            return true;
        }
    }
    return false;
}

static void install_tracks(struct leat_sfu *s, struct leat_sfu_slot *slot,
                           struct leat_sfu_track **now, size_t count,
                           const struct leat_media_desc *descs)
{
    for (size_t i = 0; i < slot->track_count; i++) {
        if (!is_among((void *const *)now, count, slot->tracks[i])) {
            track_free(s, slot->tracks[i], section_ended);
        }
    }
    free(slot->tracks);
    slot->tracks = now;
    slot->track_count = count;
    for (size_t i = 0; i < count; i++) {
        now[i]->slot = slot;
        now[i]->desc = descs[i];
        declare_sources(now[i]);
        for (size_t k = 0; k < now[i]->receiver_count; k++) {
            leat__sfu_route_remap(now[i]->receivers[k]);
        }
        leat__sfu_route_states_of(s, now[i]);
    }
    leat__sfu_ssrcs_rebuild(slot);
}

static void install_senders(struct leat_sfu *s, struct leat_sfu_slot *slot,
                            struct leat_sfu_sender **now, size_t count,
                            const struct leat_media_desc *descs)
{
    for (size_t i = 0; i < slot->sender_count; i++) {
        if (!is_among((void *const *)now, count, slot->senders[i])) {
            sender_free(s, slot->senders[i], section_ended);
        }
    }
    free(slot->senders);
    slot->senders = now;
    slot->sender_count = count;
    for (size_t i = 0; i < count; i++) {
        struct leat_sfu_sender *sender = now[i];
        sender->slot = slot;
        sender->desc = descs[i];
        if (!sender->has_rewriter) {
            uint16_t first_seq =
                (uint16_t)(1024 + leat_rng_below(s->params.rng, (1u << 15) - 1024));
            leat_rewriter_init(&sender->rewriter, first_clock(&descs[i]), first_seq,
                               leat_rng_u32(s->params.rng));
            sender->has_rewriter = true;
        }
        if (!sender->desc.is_active) {
            leat__sfu_withdraw(sender);
        }
        leat__sfu_route_remap(sender);
        leat__sfu_route_state(s, sender, "");
    }
}

/** Memory that a peer with such media needs on the packet path. */
static int reserve_paths(struct leat_sfu_slot *slot, size_t track_count, size_t sender_count)
{
    if (track_count > 0 && slot->ssrcs == NULL) {
        slot->ssrcs = calloc(LEAT_SFU_SSRC_TABLE, sizeof *slot->ssrcs);
        if (slot->ssrcs == NULL) {
            return LEAT_E_NOMEM;
        }
    }
    if (sender_count > 0 && slot->queue == NULL) {
        slot->queue = calloc(LEAT_SFU_QUEUE_FIRST, sizeof *slot->queue);
        slot->queue_cap = LEAT_SFU_QUEUE_FIRST;
        if (slot->queue == NULL) {
            return LEAT_E_NOMEM;
        }
    }
    return 0;
}

/** A mid names one section of each direction, an SSRC of ours one stream (RFC 3711 9.1). */
static bool are_distinct(const struct leat_media_desc *descs, size_t count, bool are_senders)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(descs[i].mid, descs[k].mid) == 0 ||
                (are_senders && descs[i].ssrc == descs[k].ssrc)) {
                return false;
            }
        }
    }
    return true;
}

static int set_media(struct leat_sfu *s, struct leat_sfu_slot *slot, const struct leat_command *c)
{
    struct leat_sfu_track **tracks = NULL;
    struct leat_sfu_sender **senders = NULL;
    if (c->track_count > LEAT_SECTIONS_MAX || c->sender_count > LEAT_SECTIONS_MAX) {
        return LEAT_E_RANGE;
    }
    if (!are_distinct(c->tracks, c->track_count, false) ||
        !are_distinct(c->senders, c->sender_count, true)) {
        return LEAT_E_INVALID;
    }
    int error = reserve_paths(slot, c->track_count, c->sender_count);
    if (error == 0) {
        error = adopt_tracks(slot, c->tracks, c->track_count, &tracks);
    }
    if (error == 0) {
        error = adopt_senders(slot, c->senders, c->sender_count, &senders);
    }
    if (error != 0) {
        for (size_t i = 0; tracks != NULL && i < c->track_count; i++) {
            if (tracks[i]->slot == NULL) {
                free(tracks[i]);
            }
        }
        free(tracks);
        return error;
    }
    install_tracks(s, slot, tracks, c->track_count, c->tracks);
    install_senders(s, slot, senders, c->sender_count, c->senders);
    return 0;
}

int leat__sfu_media_set(struct leat_sfu *s, struct leat_command *c, uint64_t now_us)
{
    struct leat_sfu_slot *slot = leat__sfu_find(s, c->handle);
    if (slot == NULL) {
        return LEAT_E_MISSING;
    }
    int error = set_media(s, slot, c);
    leat__sfu_after(s, slot, now_us);
    return error;
}

/* ---- open, restart ---- */

static int add_ufrag(struct leat_sfu *s, struct leat_sfu_slot *slot,
                     const struct leat_ice_local *local)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(slot->ufrags); i++) {
        if (slot->ufrags[i].ufrag[0] == '\0') {
            slot->ufrags[i] = *local;
            int error = leat_map_add(&s->by_ufrag, leat_span_str(slot->ufrags[i].ufrag), slot);
            if (error != 0) {
                slot->ufrags[i].ufrag[0] = '\0';
            }
            return error;
        }
    }
    return LEAT_E_RANGE;
}

static void drop_ufrag(struct leat_sfu *s, struct leat_sfu_slot *slot, size_t i)
{
    if (slot->ufrags[i].ufrag[0] != '\0') {
        leat_map_remove(&s->by_ufrag, leat_span_str(slot->ufrags[i].ufrag));
        leat_wipe(&slot->ufrags[i], sizeof slot->ufrags[i]);
    }
}

int leat__sfu_open(struct leat_sfu *s, struct leat_command *c, uint64_t now_us)
{
    if (leat__sfu_find(s, c->handle) != NULL) {
        return LEAT_E_EXISTS;
    }
    if (s->by_handle.count >= s->params.peers_max) {
        return LEAT_E_RANGE;
    }
    struct leat_sfu_slot *slot = calloc(1, sizeof *slot);
    if (slot == NULL) {
        return LEAT_E_NOMEM;
    }
    slot->handle = c->handle;
    slot->report_us = LEAT_NEVER;
    slot->rtcp_ssrc = c->rtcp_ssrc;
    memcpy(slot->cname, c->cname, sizeof slot->cname);
    leat_list_init(&slot->jobs_node);
    leat_list_init(&slot->release_node);
    leat_list_init(&slot->zombie_node);
    int error = leat_map_add(&s->by_handle, leat_span(&slot->handle, sizeof slot->handle), slot);
    if (error != 0) {
        free(slot);
        return error;
    }
    error = leat_peer_new(&slot->peer, &c->params, now_us);
    if (error == 0) {
        error = add_ufrag(s, slot, &c->params.ice_local);
    }
    if (error == 0) {
        error = leat_heap_reserve(&s->timers, s->by_handle.count);
    }
    if (error == 0) {
        error = set_media(s, slot, c);
    }
    if (error != 0) {
        leat__sfu_slot_free(s, slot);
        return error;
    }
    s->counters.peers_total++;
    leat__sfu_after(s, slot, now_us);
    return 0;
}

int leat__sfu_restart_ice(struct leat_sfu *s, struct leat_command *c, uint64_t now_us)
{
    struct leat_sfu_slot *slot = leat__sfu_find(s, c->handle);
    if (slot == NULL) {
        return LEAT_E_MISSING;
    }
    int error = add_ufrag(s, slot, &c->ice_local);
    if (error != 0) {
        return error;
    }
    leat_peer_restart_ice(slot->peer, &c->ice_local, leat_span_str(c->remote_ufrag), now_us);
    const struct leat_ice *ice = leat_peer_ice(slot->peer);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(slot->ufrags); i++) {
        if (strcmp(slot->ufrags[i].ufrag, ice->now.local.ufrag) != 0 &&
            strcmp(slot->ufrags[i].ufrag, ice->before.local.ufrag) != 0) {
            drop_ufrag(s, slot, i);
        }
    }
    leat__sfu_after(s, slot, now_us);
    return 0;
}

/* ---- what a peer's calls changed ---- */

void leat__sfu_apply_ice_change(struct leat_sfu *s, struct leat_sfu_slot *slot,
                                const struct leat_ice_change *change)
{
    if (change->tuple_removed) {
        for (size_t i = 0; i < LEAT_ICE_TUPLES_MAX; i++) {
            if (leat_tuple_equal(&slot->tuples[i], &change->removed)) {
                leat_map_remove(&s->by_tuple, leat_span(&slot->tuples[i], sizeof slot->tuples[i]));
                memset(&slot->tuples[i], 0, sizeof slot->tuples[i]);
            }
        }
    }
    if (change->tuple_added) {
        for (size_t i = 0; i < LEAT_ICE_TUPLES_MAX; i++) {
            if (slot->tuples[i].remote.family == LEAT_FAMILY_NONE) {
                slot->tuples[i] = change->added;
                if (leat_map_add(&s->by_tuple, leat_span(&slot->tuples[i], sizeof slot->tuples[i]),
                                 slot) != 0) {
                    memset(&slot->tuples[i], 0, sizeof slot->tuples[i]);
                    leat_peer_remove_tuple(slot->peer, &change->added);
                }
                return;
            }
        }
    }
}

static void drop_keys(struct leat_sfu *s, struct leat_sfu_slot *slot)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(slot->ufrags); i++) {
        drop_ufrag(s, slot, i);
    }
    for (size_t i = 0; i < LEAT_ICE_TUPLES_MAX; i++) {
        if (slot->tuples[i].remote.family != LEAT_FAMILY_NONE) {
            leat_map_remove(&s->by_tuple, leat_span(&slot->tuples[i], sizeof slot->tuples[i]));
            memset(&slot->tuples[i], 0, sizeof slot->tuples[i]);
        }
    }
}

/** Everything but the peer itself: nothing finds the slot any more. */
static void detach(struct leat_sfu *s, struct leat_sfu_slot *slot)
{
    drop_keys(s, slot);
    leat_map_remove(&s->by_handle, leat_span(&slot->handle, sizeof slot->handle));
    leat_heap_remove(&s->timers, &slot->timer);
    leat__sfu_forget_job(s, slot);
    for (size_t i = 0; i < slot->sender_count; i++) {
        sender_free(s, slot->senders[i], source_ended);
    }
    slot->sender_count = 0;
    for (size_t i = 0; i < slot->track_count; i++) {
        track_free(s, slot->tracks[i], source_ended);
    }
    slot->track_count = 0;
    for (size_t i = 0; i < slot->queue_len; i++) {
        leat_packet_unref(slot->queue[(slot->queue_head + i) & (slot->queue_cap - 1)].packet);
    }
    slot->queue_len = 0;
    leat_list_remove(&slot->release_node);
}

void leat__sfu_slot_free(struct leat_sfu *s, struct leat_sfu_slot *slot)
{
    if (!slot->is_ended) {
        slot->is_ended = true;
        detach(s, slot);
    }
    leat_list_remove(&slot->zombie_node);
    leat_peer_free(slot->peer);
    free(slot->tracks);
    free(slot->senders);
    free(slot->ssrcs);
    free(slot->queue);
    leat_wipe(slot, sizeof *slot);
    free(slot);
}

static void tell_state(struct leat_sfu *s, struct leat_sfu_slot *slot)
{
    struct leat_sfu_event *e = leat__sfu_event_add(s, LEAT_EVENT_PEER_STATE, slot->handle);
    if (e == NULL) {
        return;
    }
    e->peer_state = leat_peer_state_of(slot->peer);
    e->end = leat_peer_end_of(slot->peer);
    const struct leat_tuple *selected = leat_peer_selected(slot->peer);
    if (selected != NULL) {
        e->remote = selected->remote;
    }
    if (e->peer_state == LEAT_PEER_ENDED) {
        (void)leat__sfu_stats_of(slot, &e->final_stats, &e->final_stat_count);
    }
}

void leat__sfu_rearm(struct leat_sfu *s, struct leat_sfu_slot *slot)
{
    uint64_t deadline = leat_peer_deadline(slot->peer);
    if (slot->report_us < deadline) {
        deadline = slot->report_us;
    }
    for (size_t i = 0; i < slot->track_count; i++) {
        uint64_t keyframe = leat_keyframe_deadline(&slot->tracks[i]->keyframes);
        if (keyframe < deadline) {
            deadline = keyframe;
        }
    }
    (void)leat_heap_set(&s->timers, &slot->timer, deadline); /* reserved at open */
}

static void on_state(struct leat_sfu *s, struct leat_sfu_slot *slot, uint64_t now_us)
{
    tell_state(s, slot);
    if (leat_peer_state_of(slot->peer) == LEAT_PEER_CONNECTED) {
        slot->report_us = now_us + 100000;
        for (size_t i = 0; i < slot->sender_count; i++) {
            leat__sfu_route_state(s, slot->senders[i], "");
        }
    }
}

/** First come, first served. When too many wait, a hello is left for its client to repeat: what has
 * been begun ends in time instead of everything being late. */
static void stand_in_line(struct leat_sfu *s, struct leat_sfu_slot *slot)
{
    if (s->wanting_count >= s->params.waiting_max && !leat_peer_is_shaking_hands(slot->peer)) {
        s->counters.jobs_shed++;
        return;
    }
    leat_list_add_tail(&s->wanting, &slot->jobs_node);
    s->wanting_count++;
    if (s->wanting_count > s->counters.jobs_queued_max) {
        s->counters.jobs_queued_max = s->wanting_count;
    }
}

void leat__sfu_after(struct leat_sfu *s, struct leat_sfu_slot *slot, uint64_t now_us)
{
    if (slot->is_ended) {
        return;
    }
    if (leat_peer_take_state_change(slot->peer)) {
        on_state(s, slot, now_us);
    }
    if (leat_peer_state_of(slot->peer) == LEAT_PEER_ENDED) {
        slot->is_ended = true;
        detach(s, slot);
        if (leat_peer_is_job_running(slot->peer)) {
            leat_list_add_tail(&s->zombies, &slot->zombie_node);
        } else {
            leat__sfu_slot_free(s, slot);
        }
        return;
    }
    if (leat_list_is_empty(&slot->jobs_node) && !leat_peer_is_job_running(slot->peer) &&
        leat_peer_wants_job(slot->peer)) {
        stand_in_line(s, slot);
    }
    leat__sfu_rearm(s, slot);
}
