/* SPDX-License-Identifier: MIT */
/*
 * The shard's front: which peer a datagram belongs to, timers, jobs, life and death of the whole.
 *
 * A datagram is classed by its first octets (RFC 7983). STUN finds its peer by the local ufrag, and
 * only an authentic request makes or moves a tuple; DTLS and SRTP find theirs by the tuple. What
 * fits nowhere is counted and dropped: nothing is allocated, answered or logged for a stranger. A
 * tuple whose owner had authentic traffic within the last second stays with its owner, so that a
 * second peer cannot take it over by replaying or guessing.
 */
#include <stdlib.h>

#include "private.h"

int leat_sfu_new(struct leat_sfu **out, const struct leat_sfu_params *params)
{
    struct leat_sfu *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return LEAT_E_NOMEM;
    }
    s->params = *params;
    leat_list_init(&s->wanting);
    leat_list_init(&s->releasing);
    leat_list_init(&s->zombies);
    leat_list_init(&s->events);
    leat_heap_init(&s->timers);
    uint8_t seeds[3][16];
    leat_rng_fill(params->rng, seeds, sizeof seeds);
    leat_map_init(&s->by_handle, seeds[0]);
    leat_map_init(&s->by_ufrag, seeds[1]);
    leat_map_init(&s->by_tuple, seeds[2]);
    leat_wipe(seeds, sizeof seeds);
    int error = leat_pool_init(&s->pool, params->packets);
    if (error != 0) {
        leat_sfu_free(s);
        return error;
    }
    *out = s;
    return 0;
}

void leat_sfu_free(struct leat_sfu *s)
{
    if (s == NULL) {
        return;
    }
    size_t cursor = 0;
    struct leat_sfu_slot *slot;
    while ((slot = leat_map_next(&s->by_handle, &cursor)) != NULL) {
        leat__sfu_slot_free(s, slot);
        cursor = 0;
    }
    struct leat_sfu_event event;
    while (leat_sfu_next_event(s, &event)) {
        free(event.final_stats);
    }
    leat_map_deinit(&s->by_handle);
    leat_map_deinit(&s->by_ufrag);
    leat_map_deinit(&s->by_tuple);
    leat_heap_deinit(&s->timers);
    leat_pool_deinit(&s->pool);
    free(s);
}

/* ---- datagrams in ---- */

static struct leat_span tuple_key(const struct leat_tuple *t)
{
    return leat_span(t, sizeof *t);
}

static void receive_stun(struct leat_sfu *s, struct leat_datagram *d, uint64_t now_us,
                         struct leat_sink *out)
{
    struct leat_stun_msg m;
    if (leat_stun_parse(&m, leat_span(d->data, d->len)) != LEAT_STUN_OK) {
        s->counters.stun_malformed++;
        return;
    }
    struct leat_span local, remote;
    struct leat_sfu_slot *slot = NULL;
    if (leat_stun_split_username(m.username, &local, &remote)) {
        slot = leat_map_get(&s->by_ufrag, local);
    }
    if (slot == NULL) {
        s->counters.stun_unknown_ufrag++;
        return;
    }
    if (leat_peer_check_stun(slot->peer, &m, &d->tuple, now_us) != LEAT_ICE_OK) {
        s->counters.stun_refused++;
        return;
    }
    struct leat_sfu_slot *owner = leat_map_get(&s->by_tuple, tuple_key(&d->tuple));
    bool is_foreign = owner != NULL && owner != slot;
    if (is_foreign && leat_peer_is_tuple_busy(owner->peer, &d->tuple, now_us)) {
        s->counters.stun_foreign_tuple++;
        return;
    }
    struct leat_ice_change change;
    leat_peer_accept_stun(slot->peer, &m, &d->tuple, now_us, out, &change);
    if (is_foreign && change.tuple_added) {
        struct leat_ice_change lost = {.tuple_removed = true, .removed = d->tuple};
        leat_peer_remove_tuple(owner->peer, &d->tuple);
        leat__sfu_apply_ice_change(s, owner, &lost);
    }
    leat__sfu_apply_ice_change(s, slot, &change);
    leat__sfu_after(s, slot, now_us);
}

static void receive_one(struct leat_sfu *s, struct leat_datagram *d, uint64_t now_us,
                        struct leat_sink *out)
{
    enum leat_demux class_ = leat_demux(leat_span(d->data, d->len));
    if (class_ == LEAT_DEMUX_STUN) {
        receive_stun(s, d, now_us, out);
        return;
    }
    if (class_ == LEAT_DEMUX_UNKNOWN) {
        s->counters.unknown_class++;
        return;
    }
    struct leat_sfu_slot *slot = leat_map_get(&s->by_tuple, tuple_key(&d->tuple));
    if (slot == NULL) {
        s->counters.unknown_tuple++;
        return;
    }
    if (class_ == LEAT_DEMUX_DTLS) {
        leat_peer_receive_dtls(slot->peer, leat_span(d->data, d->len), &d->tuple, now_us, out);
        leat__sfu_after(s, slot, now_us);
        return;
    }
    if (class_ == LEAT_DEMUX_RTP) {
        leat__sfu_receive_rtp(s, slot, d, now_us, out);
        return;
    }
    size_t len = d->len;
    if (leat_peer_unprotect(slot->peer, d->data, &len, &d->tuple, now_us, true) == LEAT_SRTP_OK) {
        s->counters.rtcp_in++;
        leat__sfu_receive_rtcp(s, slot, leat_span(d->data, len), now_us, out);
    }
}

void leat_sfu_receive(struct leat_sfu *s, struct leat_datagram *datagrams, size_t count,
                      uint64_t now_us, struct leat_sink *out)
{
    s->counters.bursts++;
    s->counters.datagrams += count;
    for (size_t i = 0; i < count; i++) {
        receive_one(s, &datagrams[i], now_us, out);
    }
}

/* ---- time ---- */

uint64_t leat_sfu_deadline(const struct leat_sfu *s)
{
    const struct leat_heap_node *n = leat_heap_peek(&s->timers);
    return n != NULL ? n->deadline_us : LEAT_NEVER;
}

static void tick_peer(struct leat_sfu *s, struct leat_sfu_slot *slot, uint64_t now_us,
                      struct leat_sink *out)
{
    struct leat_ice_change change;
    do {
        leat_peer_tick(slot->peer, now_us, out, &change);
        leat__sfu_apply_ice_change(s, slot, &change);
    } while (change.tuple_removed);
    for (size_t i = 0; i < slot->track_count; i++) {
        leat__sfu_keyframe_tick(s, slot->tracks[i], now_us, out);
    }
    if (slot->report_us <= now_us && leat_peer_state_of(slot->peer) == LEAT_PEER_CONNECTED) {
        leat__sfu_report(s, slot, now_us, out);
    }
    leat__sfu_after(s, slot, now_us);
}

void leat_sfu_tick(struct leat_sfu *s, uint64_t now_us, uint64_t unix_us, struct leat_sink *out)
{
    s->unix_offset_us = unix_us - now_us;
    struct leat_heap_node *n;
    while ((n = leat_heap_peek(&s->timers)) != NULL && n->deadline_us <= now_us) {
        struct leat_sfu_slot *slot = LEAT_CONTAINER(n, struct leat_sfu_slot, timer);
        uint64_t was = n->deadline_us;
        tick_peer(s, slot, now_us, out);
        n = leat_heap_peek(&s->timers);
        if (n != NULL && n->deadline_us == was && n->deadline_us <= now_us &&
            LEAT_CONTAINER(n, struct leat_sfu_slot, timer) == slot) {
            /* Whatever asked for this instant did nothing about it: look again in a moment rather
             * than spin. */
            (void)leat_heap_set(&s->timers, n, now_us + 1000);
        }
    }
}

/* ---- jobs ---- */

void leat__sfu_forget_job(struct leat_sfu *s, struct leat_sfu_slot *slot)
{
    if (!leat_list_is_empty(&slot->jobs_node)) {
        leat_list_remove(&slot->jobs_node);
        s->wanting_count--;
    }
}

struct leat_sfu_job *leat_sfu_next_job(struct leat_sfu *s, uint64_t now_us)
{
    while (s->jobs_running < s->params.jobs_max && !leat_list_is_empty(&s->wanting)) {
        struct leat_sfu_slot *slot =
            LEAT_CONTAINER(s->wanting.next, struct leat_sfu_slot, jobs_node);
        leat__sfu_forget_job(s, slot);
        if (!leat_peer_wants_job(slot->peer)) {
            continue;
        }
        leat_peer_job_begin(slot->peer, now_us);
        s->jobs_running++;
        s->counters.jobs++;
        leat__sfu_rearm(s, slot);
        slot->job.slot = slot;
        return &slot->job;
    }
    return NULL;
}

void leat_sfu_job_run(struct leat_sfu_job *job, struct leat_rng *rng)
{
    leat_peer_job_run(job->slot->peer, rng);
}

void leat_sfu_job_done(struct leat_sfu *s, struct leat_sfu_job *job, uint64_t now_us,
                       struct leat_sink *out)
{
    struct leat_sfu_slot *slot = job->slot;
    s->jobs_running--;
    leat_peer_job_end(slot->peer, now_us, out);
    if (slot->is_ended) {
        leat__sfu_slot_free(s, slot);
        return;
    }
    leat__sfu_after(s, slot, now_us);
}

void leat_sfu_close_all(struct leat_sfu *s, enum leat_peer_end end, uint64_t now_us,
                        struct leat_sink *out)
{
    size_t cursor = 0;
    struct leat_sfu_slot *slot;
    while ((slot = leat_map_next(&s->by_handle, &cursor)) != NULL) {
        leat_peer_close(slot->peer, end, now_us, out);
        leat__sfu_after(s, slot, now_us);
        cursor = 0; /* the map has changed */
    }
}

size_t leat_sfu_jobs_running(const struct leat_sfu *s)
{
    return s->jobs_running;
}

const struct leat_sfu_counters *leat_sfu_counters_of(const struct leat_sfu *s)
{
    return &s->counters;
}

size_t leat_sfu_peer_count(const struct leat_sfu *s)
{
    return s->by_handle.count;
}
