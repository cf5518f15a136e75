/* SPDX-License-Identifier: MIT */
/*
 * A peer's life: NEW until the first authentic check, CONNECTING while DTLS runs, CONNECTED once
 * the SRTP keys are in place, ENDED with one reason and for good. ICE decides which tuples are
 * heard and where things are sent (RFC 8445 12), DTLS runs on whatever valid tuple its records come
 * from (RFC 8842 5), SRTP is opened from valid tuples only (media.c).
 *
 * While a DTLS job runs the session belongs to it: a close is carried out when it comes back.
 */
#include <stdlib.h>

#include "private.h"

static void set_state(struct leat_peer *p, enum leat_peer_state state, enum leat_peer_end end)
{
    if (p->state == LEAT_PEER_ENDED || p->state == state) {
        return;
    }
    p->state = state;
    p->end = end;
    p->has_state_change = true;
}

int leat_peer_new(struct leat_peer **out, const struct leat_peer_params *params, uint64_t now_us)
{
    struct leat_peer *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return LEAT_E_NOMEM;
    }
    int error = leat_dtls_new(&p->dtls, &params->dtls, now_us);
    if (error != 0) {
        free(p);
        return error;
    }
    p->ssrc_limit = params->ssrc_limit != 0 ? params->ssrc_limit : LEAT_SRTP_SSRCS_MAX;
    leat_ice_init(&p->ice, &params->ice_local, leat_span_str(params->remote_ufrag), now_us);
    *out = p;
    return 0;
}

void leat_peer_free(struct leat_peer *p)
{
    if (p == NULL) {
        return;
    }
    leat_ice_deinit(&p->ice);
    leat_dtls_free(p->dtls);
    leat_srtp_free(p->srtp);
    free(p);
}

/* ---- ICE ---- */

enum leat_ice_verdict leat_peer_check_stun(struct leat_peer *p, const struct leat_stun_msg *m,
                                           const struct leat_tuple *tuple, uint64_t now_us)
{
    enum leat_ice_verdict verdict = leat_ice_check(&p->ice, m, tuple, now_us);
    switch (verdict) {
    case LEAT_ICE_OK:
    case LEAT_ICE_INDICATION:
        break;
    case LEAT_ICE_REPLAYED:
        p->counters.stun_replayed++;
        break;
    case LEAT_ICE_BAD_METHOD:
    case LEAT_ICE_BAD_USERNAME:
    case LEAT_ICE_BAD_INTEGRITY:
        p->counters.stun_rejected++;
        break;
    }
    return verdict;
}

static void add_change(struct leat_peer *p, const struct leat_ice_change *change)
{
    if (change->selected_changed) {
        p->counters.selected_changes++;
    }
}

void leat_peer_accept_stun(struct leat_peer *p, const struct leat_stun_msg *m,
                           const struct leat_tuple *tuple, uint64_t now_us, struct leat_sink *out,
                           struct leat_ice_change *change)
{
    memset(change, 0, sizeof *change);
    if (p->state == LEAT_PEER_ENDED) {
        return;
    }
    p->counters.datagrams_in++;
    p->counters.octets_in += m->raw.len;
    leat_ice_accept(&p->ice, m, tuple, now_us, out, change);
    add_change(p, change);
    if (p->ice.tuple_count == 0) {
        return; /* an authentic request that got an error only */
    }
    if (p->times.check_us == 0) {
        p->times.check_us = now_us;
    }
    if (p->times.selected_us == 0 && leat_ice_selected(&p->ice) != NULL) {
        p->times.selected_us = now_us;
    }
    if (p->state == LEAT_PEER_NEW) {
        set_state(p, LEAT_PEER_CONNECTING, LEAT_PEER_END_NONE);
        if (!p->has_dtls_tuple) {
            p->dtls_tuple = *tuple;
            p->has_dtls_tuple = true;
        }
        leat_dtls_start(p->dtls, p->ice.first_reply_us, now_us);
    }
}

void leat_peer_restart_ice(struct leat_peer *p, const struct leat_ice_local *local,
                           struct leat_span remote_ufrag, uint64_t now_us)
{
    leat_ice_restart(&p->ice, local, remote_ufrag, now_us);
}

void leat_peer_remove_tuple(struct leat_peer *p, const struct leat_tuple *tuple)
{
    leat_ice_remove_tuple(&p->ice, tuple);
}

bool leat_peer_is_tuple_busy(const struct leat_peer *p, const struct leat_tuple *tuple,
                             uint64_t now_us)
{
    const uint64_t window_us = 1000000;
    if (p->state == LEAT_PEER_ENDED) {
        return false;
    }
    if (p->media_us != 0 && now_us - p->media_us < window_us &&
        leat_tuple_equal(&p->media_tuple, tuple)) {
        return true;
    }
    for (size_t i = 0; i < p->ice.tuple_count; i++) {
        const struct leat_ice_tuple *t = &p->ice.tuples[i];
        if (leat_tuple_equal(&t->tuple, tuple)) {
            return now_us - t->checked_us < window_us;
        }
    }
    return false;
}

/* ---- DTLS ---- */

static enum leat_peer_end end_of_dtls(enum leat_dtls_end end)
{
    switch (end) {
    case LEAT_DTLS_END_NONE:
    case LEAT_DTLS_END_INTERNAL:
        return LEAT_PEER_END_INTERNAL;
    case LEAT_DTLS_END_CLOSED:
        return LEAT_PEER_END_CLOSED_BY_REMOTE;
    case LEAT_DTLS_END_FINGERPRINT:
        return LEAT_PEER_END_FINGERPRINT;
    case LEAT_DTLS_END_NO_CERT:
        return LEAT_PEER_END_NO_CERTIFICATE;
    case LEAT_DTLS_END_NO_PROFILE:
        return LEAT_PEER_END_NO_SRTP_PROFILE;
    case LEAT_DTLS_END_ALERT:
        return LEAT_PEER_END_DTLS_ALERT;
    case LEAT_DTLS_END_TIMEOUT:
        return LEAT_PEER_END_DTLS_TIMEOUT;
    case LEAT_DTLS_END_PROTOCOL:
        return LEAT_PEER_END_DTLS_FAILED;
    }
    return LEAT_PEER_END_INTERNAL;
}

/** Where the next DTLS datagram goes: RFC 8445 12.1 after nomination, before it to where the
 * remote's records come from. */
static const struct leat_tuple *dtls_destination(const struct leat_peer *p)
{
    if (p->ice.is_nominated || !p->has_dtls_tuple ||
        !leat_ice_is_valid_tuple(&p->ice, &p->dtls_tuple)) {
        return leat_ice_selected(&p->ice);
    }
    return &p->dtls_tuple;
}

static void take_events(struct leat_peer *p, uint64_t now_us)
{
    struct leat_dtls_event event;
    while (leat_dtls_next_event(p->dtls, &event)) {
        if (event.type == LEAT_DTLS_EVENT_CONNECTED) {
            if (leat_srtp_new(&p->srtp, &event.keys, p->ssrc_limit) == 0) {
                set_state(p, LEAT_PEER_CONNECTED, LEAT_PEER_END_NONE);
                p->times.connected_us = now_us;
            } else {
                set_state(p, LEAT_PEER_ENDED, LEAT_PEER_END_INTERNAL);
                leat_dtls_close(p->dtls, now_us); /* so that the remote need not wait */
            }
        } else if (event.type == LEAT_DTLS_EVENT_ENDED) {
            set_state(p, LEAT_PEER_ENDED, end_of_dtls(event.end));
        }
        leat_wipe(&event, sizeof event);
    }
}

static void copy_dtls_counters(struct leat_peer *p)
{
    const struct leat_dtls_counters *c = leat_dtls_counters_of(p->dtls);
    p->counters.dtls_forged = c->records_forged;
    p->counters.dtls_replayed = c->records_replayed;
    p->counters.dtls_data_dropped = c->data_dropped;
    p->counters.dtls_flights_repeated = c->flights_repeated;
}

/** Events first, so that keys are in place before the flight that ends the handshake leaves. */
static void pump_dtls(struct leat_peer *p, uint64_t now_us, struct leat_sink *out)
{
    copy_dtls_counters(p);
    take_events(p, now_us);
    const struct leat_tuple *to = dtls_destination(p);
    struct leat_span datagram;
    while (leat_dtls_next_datagram(p->dtls, &datagram)) {
        if (to == NULL) {
            p->counters.send_no_tuple++;
            continue;
        }
        uint8_t *room = out->reserve(out, datagram.len);
        if (room == NULL) {
            p->counters.send_sink_full++;
            continue;
        }
        memcpy(room, datagram.data, datagram.len);
        out->commit(out, datagram.len, to);
        p->counters.datagrams_out++;
        p->counters.octets_out += datagram.len;
    }
}

void leat_peer_receive_dtls(struct leat_peer *p, struct leat_span datagram,
                            const struct leat_tuple *tuple, uint64_t now_us, struct leat_sink *out)
{
    p->counters.datagrams_in++;
    p->counters.octets_in += datagram.len;
    if (p->state == LEAT_PEER_ENDED || !leat_ice_is_valid_tuple(&p->ice, tuple)) {
        p->counters.dtls_dropped++;
        return;
    }
    switch (leat_dtls_receive(p->dtls, datagram, now_us)) {
    case LEAT_DTLS_OK:
        p->dtls_tuple = *tuple;
        p->has_dtls_tuple = true;
        break;
    case LEAT_DTLS_MALFORMED:
        p->counters.dtls_malformed++;
        break;
    case LEAT_DTLS_QUEUE_FULL:
    case LEAT_DTLS_IGNORED:
        p->counters.dtls_dropped++;
        break;
    }
    if (!leat_dtls_is_job_running(p->dtls)) {
        pump_dtls(p, now_us, out);
    }
}

bool leat_peer_wants_job(const struct leat_peer *p)
{
    return p->state != LEAT_PEER_ENDED && leat_dtls_wants_job(p->dtls);
}

bool leat_peer_is_shaking_hands(const struct leat_peer *p)
{
    return leat_dtls_is_shaking_hands(p->dtls);
}

bool leat_peer_is_job_running(const struct leat_peer *p)
{
    return leat_dtls_is_job_running(p->dtls);
}

void leat_peer_job_begin(struct leat_peer *p, uint64_t now_us)
{
    leat_dtls_job_begin(p->dtls, now_us);
}

void leat_peer_job_run(struct leat_peer *p, struct leat_rng *rng)
{
    leat_dtls_job_run(p->dtls, rng);
}

void leat_peer_job_end(struct leat_peer *p, uint64_t now_us, struct leat_sink *out)
{
    leat_dtls_job_end(p->dtls, now_us);
    if (p->state == LEAT_PEER_ENDED && !p->is_close_wanted) {
        return; /* consent ran out meanwhile */
    }
    if (p->is_close_wanted) {
        p->is_close_wanted = false;
        leat_dtls_close(p->dtls, now_us);
    }
    pump_dtls(p, now_us, out);
}

/* ---- life ---- */

uint64_t leat_peer_deadline(const struct leat_peer *p)
{
    if (p->state == LEAT_PEER_ENDED) {
        return LEAT_NEVER;
    }
    uint64_t ice = leat_ice_deadline(&p->ice);
    uint64_t dtls = leat_dtls_is_job_running(p->dtls) ? LEAT_NEVER : leat_dtls_deadline(p->dtls);
    return ice < dtls ? ice : dtls;
}

void leat_peer_tick(struct leat_peer *p, uint64_t now_us, struct leat_sink *out,
                    struct leat_ice_change *change)
{
    memset(change, 0, sizeof *change);
    if (p->state == LEAT_PEER_ENDED) {
        return;
    }
    if (!leat_ice_tick(&p->ice, now_us, change)) {
        /* Without consent nothing is sent any more, an alert included (RFC 7675 5.1). */
        set_state(p, LEAT_PEER_ENDED,
                  p->ice.checked_us == 0 ? LEAT_PEER_END_ICE_TIMEOUT
                                         : LEAT_PEER_END_CONSENT_EXPIRED);
        return;
    }
    add_change(p, change);
    if (!leat_dtls_is_job_running(p->dtls) && leat_dtls_deadline(p->dtls) <= now_us) {
        leat_dtls_tick(p->dtls, now_us);
        pump_dtls(p, now_us, out);
    }
}

void leat_peer_close(struct leat_peer *p, enum leat_peer_end end, uint64_t now_us,
                     struct leat_sink *out)
{
    if (p->state == LEAT_PEER_ENDED) {
        return;
    }
    if (leat_dtls_is_job_running(p->dtls)) {
        p->is_close_wanted = true;
        set_state(p, LEAT_PEER_ENDED, end);
        return;
    }
    leat_dtls_close(p->dtls, now_us);
    set_state(p, LEAT_PEER_ENDED, end);
    pump_dtls(p, now_us, out);
}

enum leat_peer_state leat_peer_state_of(const struct leat_peer *p)
{
    return p->state;
}

enum leat_peer_end leat_peer_end_of(const struct leat_peer *p)
{
    return p->end;
}

bool leat_peer_take_state_change(struct leat_peer *p)
{
    bool changed = p->has_state_change;
    p->has_state_change = false;
    return changed;
}

const struct leat_tuple *leat_peer_selected(const struct leat_peer *p)
{
    return leat_ice_selected(&p->ice);
}

const struct leat_ice *leat_peer_ice(const struct leat_peer *p)
{
    return &p->ice;
}

const struct leat_peer_counters *leat_peer_counters_of(const struct leat_peer *p)
{
    return &p->counters;
}

enum leat_srtp_profile leat_peer_srtp_profile(const struct leat_peer *p)
{
    return p->srtp != NULL ? leat_srtp_profile_of(p->srtp) : LEAT_SRTP_PROFILE_NONE;
}

const char *leat_peer_dtls_cipher(const struct leat_peer *p)
{
    return leat_dtls_is_job_running(p->dtls) ? "" : leat_dtls_cipher(p->dtls);
}

enum leat_dtls_role leat_peer_dtls_role(const struct leat_peer *p)
{
    return leat_dtls_role_of(p->dtls);
}

const struct leat_peer_times *leat_peer_times_of(const struct leat_peer *p)
{
    return &p->times;
}
