/* SPDX-License-Identifier: MIT */
/*
 * A client of the daemon: checks go out every 50 ms, doubling to 1.6 s, until one is answered (RFC
 * 8445 14.3), then every consent_us; each carries USE-CANDIDATE unless the nomination is held. DTLS
 * starts with the first answer. One candidate pair is all it knows, which is what a client of an
 * ICE-lite server with one good candidate does.
 */
#include "client.h"

#define CHECK_FIRST_US 50000u
#define CHECK_RETRIES_MAX 5 /* doublings */
#define CONSENT_US 2500000u
#define SSRCS_MAX 512 /* incoming: LEAT_SECTIONS_MAX senders and who reports on them */
#define PRIORITY                                                                                   \
    0x6e7f1effu /* a peer-reflexive candidate of local preference 65535 - 256 (RFC 8445 5.1.2) */

static void set_remote(struct leat_client *c, const char *ufrag, const char *pwd)
{
    (void)leat_text_copy(c->params.remote_ufrag, sizeof c->params.remote_ufrag,
                         leat_span_str(ufrag));
    (void)leat_text_copy(c->params.remote_pwd, sizeof c->params.remote_pwd, leat_span_str(pwd));
    leat_hmac_sha1_init(&c->remote_key, pwd, strlen(pwd));
}

int leat_client_init(struct leat_client *c, const struct leat_client_params *params,
                     struct leat_rng *rng, uint64_t now_us)
{
    memset(c, 0, sizeof *c);
    c->params = *params;
    if (c->params.consent_us == 0) {
        c->params.consent_us = CONSENT_US;
    }
    set_remote(c, params->remote_ufrag, params->remote_pwd);
    c->tie_breaker = leat_rng_u64(rng);
    c->started_us = c->check_us = now_us;
    return leat_dtls_new(&c->dtls, &params->dtls, now_us);
}

void leat_client_deinit(struct leat_client *c)
{
    leat_dtls_free(c->dtls);
    leat_srtp_free(c->srtp);
    leat_hmac_sha1_deinit(&c->remote_key);
    leat_wipe(c, sizeof *c);
}

/* ---- ICE ---- */

static void send_check(struct leat_client *c, uint64_t now_us, struct leat_rng *rng,
                       struct leat_sink *out)
{
    if (!c->is_check_running) {
        leat_rng_fill(rng, c->tid, sizeof c->tid);
        c->is_check_running = true;
        c->retries = 0;
    } else if (c->retries < CHECK_RETRIES_MAX) {
        c->retries++;
    } else {
        leat_rng_fill(rng, c->tid,
                      sizeof c->tid); /* the old transaction is given up, the next one begins */
    }
    c->check_us = now_us + ((uint64_t)CHECK_FIRST_US << c->retries);
    uint8_t octets[640];
    struct leat_writer w;
    leat_writer_init(&w, octets, sizeof octets);
    leat_stun_begin(&w, LEAT_STUN_REQUEST, 1, c->tid);
    leat_stun_add_username(&w, leat_span_str(c->params.remote_ufrag),
                           leat_span_str(c->params.local.ufrag));
    leat_stun_add_u64(&w, LEAT_STUN_ATTR_ICE_CONTROLLING, c->tie_breaker);
    if (!c->params.holds_nomination) {
        leat_stun_add_flag(&w, LEAT_STUN_ATTR_USE_CANDIDATE);
    }
    leat_stun_add_u32(&w, LEAT_STUN_ATTR_PRIORITY, PRIORITY);
    size_t len = leat_stun_end(&w, &c->remote_key);
    uint8_t *room = len != 0 ? out->reserve(out, len) : NULL;
    if (room != NULL) {
        memcpy(room, octets, len);
        out->commit(out, len, &c->params.tuple);
        c->counters.checks_sent++;
    }
}

static void receive_stun(struct leat_client *c, struct leat_span datagram, uint64_t now_us)
{
    struct leat_stun_msg m;
    if (leat_stun_parse(&m, datagram) != LEAT_STUN_OK || !c->is_check_running ||
        memcmp(m.tid, c->tid, sizeof c->tid) != 0 ||
        !leat_stun_check_integrity(&m, &c->remote_key)) {
        return;
    }
    if (m.class_ == LEAT_STUN_ERROR) {
        c->counters.checks_failed++;
        return;
    }
    if (m.class_ != LEAT_STUN_SUCCESS || !m.has_mapped) {
        return;
    }
    c->counters.checks_answered++;
    c->mapped = m.mapped;
    c->is_check_running = false;
    c->check_us = now_us + c->params.consent_us;
    if (c->state == LEAT_CLIENT_CHECKING) {
        c->state = LEAT_CLIENT_CONNECTING;
        c->valid_us = now_us;
        leat_dtls_start(c->dtls, now_us, now_us);
    }
}

/* ---- DTLS ---- */

static void take_dtls_event(struct leat_client *c, struct leat_dtls_event *event, uint64_t now_us)
{
    if (event->type == LEAT_DTLS_EVENT_CONNECTED) {
        bool has_keys = leat_srtp_new(&c->srtp, &event->keys, SSRCS_MAX) == 0;
        c->state = has_keys ? LEAT_CLIENT_CONNECTED : LEAT_CLIENT_ENDED;
        c->end = has_keys ? LEAT_DTLS_END_NONE : LEAT_DTLS_END_INTERNAL;
        c->connected_us = now_us;
    } else if (event->type == LEAT_DTLS_EVENT_ENDED) {
        c->state = LEAT_CLIENT_ENDED;
        c->end = event->end;
    }
    leat_wipe(event, sizeof *event);
}

static void pump_dtls(struct leat_client *c, uint64_t now_us, struct leat_rng *rng,
                      struct leat_sink *out)
{
    while (leat_dtls_wants_job(c->dtls)) {
        leat_dtls_job_begin(c->dtls, now_us);
        leat_dtls_job_run(c->dtls, rng);
        leat_dtls_job_end(c->dtls, now_us);
    }
    struct leat_dtls_event event;
    while (leat_dtls_next_event(c->dtls, &event)) {
        take_dtls_event(c, &event, now_us);
    }
    struct leat_span datagram;
    while (leat_dtls_next_datagram(c->dtls, &datagram)) {
        uint8_t *room = out->reserve(out, datagram.len);
        if (room != NULL) {
            memcpy(room, datagram.data, datagram.len);
            out->commit(out, datagram.len, &c->params.tuple);
        }
    }
}

/* ---- media ---- */

static enum leat_client_input receive_media(struct leat_client *c, uint8_t *data, size_t *len,
                                            bool is_rtcp)
{
    enum leat_srtp_verdict verdict = LEAT_SRTP_FAILED;
    if (c->srtp != NULL) {
        verdict = is_rtcp ? leat_srtp_unprotect_rtcp(c->srtp, data, len)
                          : leat_srtp_unprotect(c->srtp, data, len, NULL);
    }
    if (verdict != LEAT_SRTP_OK) {
        c->counters.bad_in++;
        return LEAT_CLIENT_NOTHING;
    }
    if (is_rtcp) {
        c->counters.rtcp_in++;
        return LEAT_CLIENT_RTCP;
    }
    c->counters.rtp_in++;
    return LEAT_CLIENT_RTP;
}

enum leat_client_input leat_client_receive(struct leat_client *c, uint8_t *data, size_t *len,
                                           uint64_t now_us, struct leat_rng *rng,
                                           struct leat_sink *out)
{
    switch (leat_demux(leat_span(data, *len))) {
    case LEAT_DEMUX_STUN:
        receive_stun(c, leat_span(data, *len), now_us);
        pump_dtls(c, now_us, rng, out);
        break;
    case LEAT_DEMUX_DTLS:
        (void)leat_dtls_receive(c->dtls, leat_span(data, *len), now_us);
        pump_dtls(c, now_us, rng, out);
        break;
    case LEAT_DEMUX_RTP:
        return receive_media(c, data, len, false);
    case LEAT_DEMUX_RTCP:
        return receive_media(c, data, len, true);
    case LEAT_DEMUX_UNKNOWN:
        break;
    }
    return LEAT_CLIENT_NOTHING;
}

static int send_media(struct leat_client *c, struct leat_span plain, struct leat_sink *out,
                      bool is_rtcp)
{
    if (c->srtp == NULL || c->state != LEAT_CLIENT_CONNECTED) {
        return LEAT_E_STATE;
    }
    size_t len = 0, cap = plain.len + LEAT_SRTP_TRAILER_MAX;
    uint8_t *room = out->reserve(out, cap);
    if (room == NULL) {
        c->counters.send_failed++;
        return LEAT_E_RANGE;
    }
    enum leat_srtp_verdict verdict = is_rtcp
                                         ? leat_srtp_protect_rtcp(c->srtp, plain, room, cap, &len)
                                         : leat_srtp_protect(c->srtp, plain, room, cap, &len);
    if (verdict != LEAT_SRTP_OK) {
        c->counters.send_failed++;
        return LEAT_E_CRYPTO;
    }
    out->commit(out, len, &c->params.tuple);
    c->counters.rtp_out += is_rtcp ? 0 : 1;
    return 0;
}

int leat_client_send_rtp(struct leat_client *c, struct leat_span plain, struct leat_sink *out)
{
    return send_media(c, plain, out, false);
}

int leat_client_send_rtcp(struct leat_client *c, struct leat_span plain, struct leat_sink *out)
{
    return send_media(c, plain, out, true);
}

/* ---- life ---- */

uint64_t leat_client_deadline(const struct leat_client *c)
{
    if (c->state == LEAT_CLIENT_ENDED) {
        return LEAT_NEVER;
    }
    uint64_t dtls = leat_dtls_deadline(c->dtls);
    return dtls < c->check_us ? dtls : c->check_us;
}

void leat_client_tick(struct leat_client *c, uint64_t now_us, struct leat_rng *rng,
                      struct leat_sink *out)
{
    if (c->state == LEAT_CLIENT_ENDED) {
        return;
    }
    if (c->check_us <= now_us) {
        send_check(c, now_us, rng, out);
    }
    if (leat_dtls_deadline(c->dtls) <= now_us) {
        leat_dtls_tick(c->dtls, now_us);
    }
    pump_dtls(c, now_us, rng, out);
}

void leat_client_restart_ice(struct leat_client *c, const struct leat_ice_local *local,
                             const char *remote_ufrag, const char *remote_pwd, uint64_t now_us)
{
    c->params.local = *local;
    set_remote(c, remote_ufrag, remote_pwd);
    c->is_check_running = false;
    c->check_us = now_us;
}

void leat_client_rebind(struct leat_client *c, const struct leat_addr *local, uint64_t now_us)
{
    c->params.tuple.local = *local;
    c->is_check_running = false;
    c->check_us = now_us;
}

void leat_client_nominate(struct leat_client *c, uint64_t now_us)
{
    c->params.holds_nomination = false;
    c->is_check_running = false;
    c->check_us = now_us;
}

void leat_client_close(struct leat_client *c, uint64_t now_us, struct leat_sink *out)
{
    if (c->state == LEAT_CLIENT_ENDED) {
        return;
    }
    leat_dtls_close(c->dtls, now_us);
    struct leat_span datagram;
    while (leat_dtls_next_datagram(c->dtls, &datagram)) {
        uint8_t *room = out->reserve(out, datagram.len);
        if (room != NULL) {
            memcpy(room, datagram.data, datagram.len);
            out->commit(out, datagram.len, &c->params.tuple);
        }
    }
    c->state = LEAT_CLIENT_ENDED;
    c->end = LEAT_DTLS_END_CLOSED;
}
