/* SPDX-License-Identifier: MIT */
/* One peer and one client on a line without delay or loss; jobs run when the test says so. */
#include <leat/list.h>
#include <leat/peer.h>

#include "client.h"
#include "harness.h"
#include "rooms.h"

#define DATAGRAMS_MAX 64
#define SECOND_US 1000000u

struct datagram {
    struct leat_tuple tuple; /* as its receiver sees it */
    size_t len;
    uint8_t data[2048];
};

struct outlet {
    struct leat_sink sink;
    struct rooms rooms;
    struct datagram items[DATAGRAMS_MAX];
    size_t count;
    bool is_full;
    const struct leat_peer *watched; /* whose state is noted when an encrypted flight leaves */
    enum leat_peer_state state_at_finish;
};

struct line {
    uint64_t now_us;
    struct leat_rng rng;
    struct leat_dtls_identity *ours, *theirs;
    struct leat_peer_params peer_params;
    struct leat_client_params client_params;
    struct leat_peer *peer;
    struct leat_client client;
    struct outlet from_peer, from_client;
    bool holds_jobs;
    struct datagram latest_dtls; /* of the client */
    uint16_t dtls_port;          /* the client's records come from there; 0: from its own */
};

static uint8_t *reserve(struct leat_sink *sink, size_t len)
{
    struct outlet *o = LEAT_CONTAINER(sink, struct outlet, sink);
    return !o->is_full && o->count < DATAGRAMS_MAX ? rooms_reserve(&o->rooms, len) : NULL;
}

static void commit_room(struct leat_sink *sink, uint8_t *room, size_t len,
                        const struct leat_tuple *tuple)
{
    struct outlet *o = LEAT_CONTAINER(sink, struct outlet, sink);
    struct datagram *d = &o->items[o->count++];
    LEAT_CHECK(len <= sizeof d->data);
    memcpy(d->data, room, len);
    d->tuple = (struct leat_tuple){tuple->remote, tuple->local};
    d->len = len;
    if (o->watched != NULL && d->data[0] == 20) { /* ChangeCipherSpec */
        o->state_at_finish = leat_peer_state_of(o->watched);
    }
}

static void commit(struct leat_sink *sink, size_t len, const struct leat_tuple *tuple)
{
    struct outlet *o = LEAT_CONTAINER(sink, struct outlet, sink);
    commit_room(sink, o->rooms.last, len, tuple);
}

/** An RTP packet with a header of 12 octets, in a batch of its own. */
static enum leat_srtp_verdict send_rtp(struct leat_peer *p, struct leat_span plain,
                                       struct leat_sink *out)
{
    static struct leat_peer_batch batch;
    batch.count = 0;
    uint8_t *room = leat_peer_batch_room(&batch, p, plain.len, out);
    if (room == NULL) {
        const struct outlet *o = LEAT_CONTAINER(out, struct outlet, sink);
        return o->is_full ? LEAT_SRTP_NO_ROOM : LEAT_SRTP_FAILED;
    }
    memcpy(room, plain.data, 12);
    leat_peer_batch_add(&batch, 12, leat_span(plain.data + 12, plain.len - 12));
    leat_peer_batch_send(&batch, 1, out);
    return batch.jobs[0].verdict;
}

static struct leat_tuple tuple_of(uint16_t port)
{
    static const uint8_t ours[4] = {192, 0, 2, 1}, theirs[4] = {198, 51, 100, 1};
    return (struct leat_tuple){leat_addr_v4(ours, 3478), leat_addr_v4(theirs, port)};
}

static struct leat_tuple swapped(const struct leat_tuple *t)
{
    return (struct leat_tuple){t->remote, t->local};
}

static void prepare(struct line *l)
{
    static const uint8_t seed[32] = {7};
    static bool has_srtp;
    memset(l, 0, sizeof *l);
    LEAT_CHECK_INT(leat_crypto_start(), 0);
    LEAT_CHECK_INT(has_srtp ? 0 : leat_srtp_start(), 0);
    has_srtp = true;
    leat_rng_init_seeded(&l->rng, seed);
    l->now_us = 3 * SECOND_US;
    l->from_peer.sink = l->from_client.sink = (struct leat_sink){reserve, commit, commit_room};
    LEAT_CHECK_INT(leat_dtls_identity_new(&l->ours, &l->rng, 1700000000), 0);
    LEAT_CHECK_INT(leat_dtls_identity_new(&l->theirs, &l->rng, 1700000000), 0);
    struct leat_peer_params *p = &l->peer_params;
    struct leat_client_params *c = &l->client_params;
    leat_ice_local_make(&p->ice_local, &l->rng, 0, 1);
    leat_ice_local_make(&c->local, &l->rng, 1, 2);
    memcpy(p->remote_ufrag, c->local.ufrag, sizeof c->local.ufrag);
    memcpy(c->remote_ufrag, p->ice_local.ufrag, sizeof p->ice_local.ufrag);
    memcpy(c->remote_pwd, p->ice_local.pwd, sizeof p->ice_local.pwd);
    struct leat_tuple tuple = tuple_of(5000);
    c->tuple = swapped(&tuple);
    p->dtls = (struct leat_dtls_params){.identity = l->ours,
                                        .role = LEAT_DTLS_SERVER,
                                        .profiles = {LEAT_SRTP_AES128_CM_SHA1_80},
                                        .profile_count = 1};
    c->dtls = p->dtls;
    c->dtls.identity = l->theirs;
    c->dtls.role = LEAT_DTLS_CLIENT;
    leat_dtls_identity_fingerprint(l->theirs, p->dtls.remote_fingerprint);
    leat_dtls_identity_fingerprint(l->ours, c->dtls.remote_fingerprint);
}

static void begin(struct line *l)
{
    LEAT_CHECK_INT(leat_peer_new(&l->peer, &l->peer_params, l->now_us), 0);
    LEAT_CHECK_INT(leat_client_init(&l->client, &l->client_params, &l->rng, l->now_us), 0);
}

static void end(struct line *l)
{
    leat_peer_free(l->peer);
    leat_client_deinit(&l->client);
    leat_dtls_identity_free(l->ours);
    leat_dtls_identity_free(l->theirs);
}

static void to_peer(struct line *l, struct datagram *d)
{
    struct leat_stun_msg m;
    struct leat_ice_change change;
    switch (leat_demux(leat_span(d->data, d->len))) {
    case LEAT_DEMUX_STUN:
        LEAT_CHECK_INT(leat_stun_parse(&m, leat_span(d->data, d->len)), LEAT_STUN_OK);
        if (leat_peer_check_stun(l->peer, &m, &d->tuple, l->now_us) == LEAT_ICE_OK) {
            leat_peer_accept_stun(l->peer, &m, &d->tuple, l->now_us, &l->from_peer.sink, &change);
        }
        break;
    case LEAT_DEMUX_DTLS:
        d->tuple = l->dtls_port != 0 ? tuple_of(l->dtls_port) : d->tuple;
        l->latest_dtls = *d;
        leat_peer_receive_dtls(l->peer, leat_span(d->data, d->len), &d->tuple, l->now_us,
                               &l->from_peer.sink);
        break;
    case LEAT_DEMUX_RTP:
    case LEAT_DEMUX_RTCP:
    case LEAT_DEMUX_UNKNOWN:
        break;
    }
}

static void run_job(struct line *l)
{
    leat_peer_job_begin(l->peer, l->now_us);
    leat_peer_job_run(l->peer, &l->rng);
    leat_peer_job_end(l->peer, l->now_us, &l->from_peer.sink);
}

/** All that can happen at this instant. */
static void settle(struct line *l)
{
    bool has_moved = true;
    while (has_moved) {
        has_moved = false;
        leat_client_tick(&l->client, l->now_us, &l->rng, &l->from_client.sink);
        for (size_t i = 0; i < l->from_client.count; i++) {
            to_peer(l, &l->from_client.items[i]);
            has_moved = true;
        }
        l->from_client.count = 0;
        while (!l->holds_jobs && leat_peer_wants_job(l->peer)) {
            run_job(l);
            has_moved = true;
        }
        for (size_t i = 0; i < l->from_peer.count; i++) {
            struct datagram *d = &l->from_peer.items[i];
            (void)leat_client_receive(&l->client, d->data, &d->len, l->now_us, &l->rng,
                                      &l->from_client.sink);
            has_moved = true;
        }
        l->from_peer.count = 0;
    }
}

static void tick(struct line *l)
{
    struct leat_ice_change change;
    do {
        leat_peer_tick(l->peer, l->now_us, &l->from_peer.sink, &change);
    } while (change.tuple_removed);
}

static void connect(struct line *l)
{
    prepare(l);
    begin(l);
    settle(l);
    LEAT_CHECK_INT(leat_peer_state_of(l->peer), LEAT_PEER_CONNECTED);
    LEAT_CHECK_INT(l->client.state, LEAT_CLIENT_CONNECTED);
}

/** One protected packet of the client. */
static struct datagram rtp_of(struct line *l, uint32_t ssrc, uint16_t seq)
{
    uint8_t packet[40] = {0x80, 96};
    leat_put_u16(packet + 2, seq);
    leat_put_u32(packet + 8, ssrc);
    l->from_client.count = 0;
    LEAT_CHECK_INT(
        leat_client_send_rtp(&l->client, leat_span(packet, sizeof packet), &l->from_client.sink),
        0);
    l->from_client.count = 0;
    return l->from_client.items[0];
}

static enum leat_srtp_verdict open_rtp(struct line *l, struct datagram d)
{
    return leat_peer_unprotect(l->peer, d.data, &d.len, &d.tuple, l->now_us, false);
}

/* ---- states ---- */

static void states__from_new_to_connected__each_told_once(void)
{
    struct line l;
    prepare(&l);
    begin(&l);
    l.holds_jobs = true;
    LEAT_CHECK_INT(leat_peer_state_of(l.peer), LEAT_PEER_NEW);
    LEAT_CHECK(!leat_peer_take_state_change(l.peer));
    LEAT_CHECK(leat_peer_selected(l.peer) == NULL);
    settle(&l);
    LEAT_CHECK_INT(leat_peer_state_of(l.peer), LEAT_PEER_CONNECTING);
    LEAT_CHECK(leat_peer_take_state_change(l.peer));
    LEAT_CHECK(!leat_peer_take_state_change(l.peer));
    struct leat_tuple tuple = tuple_of(5000);
    LEAT_CHECK(leat_peer_selected(l.peer) != NULL &&
               leat_tuple_equal(leat_peer_selected(l.peer), &tuple));
    LEAT_CHECK_INT(leat_peer_srtp_profile(l.peer), LEAT_SRTP_PROFILE_NONE);
    LEAT_CHECK_STR(leat_peer_dtls_cipher(l.peer), "");
    l.holds_jobs = false;
    l.from_peer.watched = l.peer;
    settle(&l);
    LEAT_CHECK_INT(leat_peer_state_of(l.peer), LEAT_PEER_CONNECTED);
    LEAT_CHECK(leat_peer_take_state_change(l.peer));
    LEAT_CHECK(!leat_peer_take_state_change(l.peer));
    LEAT_CHECK_INT(leat_peer_srtp_profile(l.peer), LEAT_SRTP_AES128_CM_SHA1_80);
    LEAT_CHECK(strstr(leat_peer_dtls_cipher(l.peer), "ECDHE-ECDSA") != NULL ||
               strstr(leat_peer_dtls_cipher(l.peer), "ECDHE_ECDSA") != NULL);
    LEAT_CHECK_INT(leat_peer_dtls_role(l.peer), LEAT_DTLS_SERVER);
    /* the remote's media may be right behind its Finished */
    LEAT_CHECK_INT(l.from_peer.state_at_finish, LEAT_PEER_CONNECTED);
    end(&l);
}

static void times__of_a_join__are_when_each_thing_happened(void)
{
    static const uint8_t packet[40] = {0x80, 96, 1, 2, 0, 0, 0, 0, 1, 2, 3, 4};
    struct line l;
    prepare(&l);
    begin(&l);
    const struct leat_peer_times *t = leat_peer_times_of(l.peer);
    LEAT_CHECK(t->check_us == 0 && t->selected_us == 0 && t->connected_us == 0 && t->media_us == 0);
    uint64_t start_us = l.now_us;
    l.holds_jobs = true;
    settle(&l);
    LEAT_CHECK(t->check_us >= start_us && t->selected_us >= t->check_us);
    LEAT_CHECK(!leat_peer_is_shaking_hands(l.peer));
    LEAT_CHECK_INT(t->connected_us, 0);
    l.now_us += SECOND_US;
    l.holds_jobs = false;
    settle(&l);
    LEAT_CHECK(t->connected_us >= start_us + SECOND_US && t->connected_us <= l.now_us);
    LEAT_CHECK_INT(t->media_us, 0);
    uint64_t connected_us = t->connected_us;
    l.now_us += SECOND_US;
    LEAT_CHECK_INT(
        leat_client_send_rtp(&l.client, leat_span(packet, sizeof packet), &l.from_client.sink), 0);
    struct datagram d = l.from_client.items[l.from_client.count - 1];
    LEAT_CHECK_INT(open_rtp(&l, d), LEAT_SRTP_OK);
    LEAT_CHECK_INT(t->media_us, l.now_us);
    LEAT_CHECK_INT(t->connected_us, connected_us);
    end(&l);
}

static void texts__every_state_and_end__is_a_word_of_its_own(void)
{
    static const char *const states[] = {"new", "connecting", "connected", "ended"};
    static const char *const ends[] = {"",
                                       "closed",
                                       "closed_by_remote",
                                       "ice_timeout",
                                       "consent_expired",
                                       "dtls_timeout",
                                       "dtls_failed",
                                       "dtls_alert",
                                       "fingerprint_mismatch",
                                       "no_certificate",
                                       "no_srtp_profile",
                                       "internal",
                                       "shutdown"};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(states); i++) {
        LEAT_CHECK_STR(leat_peer_state_text((enum leat_peer_state)i), states[i]);
    }
    for (size_t i = 0; i < LEAT_ARRAY_LEN(ends); i++) {
        LEAT_CHECK_STR(leat_peer_end_text((enum leat_peer_end)i), ends[i]);
    }
    LEAT_CHECK_INT(LEAT_ARRAY_LEN(ends), LEAT_PEER_END_SHUTDOWN + 1);
}

/* ---- ends ---- */

/** Ended is for good: nothing is answered, opened, sent or waited for. */
static void check_dead(struct line *l, enum leat_peer_end reason)
{
    LEAT_CHECK_INT(leat_peer_state_of(l->peer), LEAT_PEER_ENDED);
    LEAT_CHECK_INT(leat_peer_end_of(l->peer), reason);
    LEAT_CHECK(leat_peer_take_state_change(l->peer));
    LEAT_CHECK(!leat_peer_take_state_change(l->peer));
    LEAT_CHECK(leat_peer_deadline(l->peer) == LEAT_NEVER);
    LEAT_CHECK(!leat_peer_wants_job(l->peer));
    struct leat_tuple tuple = tuple_of(5000);
    LEAT_CHECK(!leat_peer_is_tuple_busy(l->peer, &tuple, l->now_us));
    uint8_t packet[40] = {0x80, 96}, hello[20] = {22, 0xfe, 0xfd};
    size_t len = sizeof packet;
    l->from_peer.count = 0;
    LEAT_CHECK_INT(send_rtp(l->peer, leat_span(packet, len), &l->from_peer.sink), LEAT_SRTP_FAILED);
    LEAT_CHECK_INT(leat_peer_unprotect(l->peer, packet, &len, &tuple, l->now_us, false),
                   LEAT_SRTP_FAILED);
    leat_peer_receive_dtls(l->peer, leat_span(hello, sizeof hello), &tuple, l->now_us,
                           &l->from_peer.sink);
    leat_peer_close(l->peer, LEAT_PEER_END_SHUTDOWN, l->now_us, &l->from_peer.sink);
    tick(l);
    LEAT_CHECK_INT(l->from_peer.count, 0);
    LEAT_CHECK_INT(leat_peer_end_of(l->peer), reason);
    LEAT_CHECK(!leat_peer_take_state_change(l->peer));
}

static void ends__closed_by_the_controller__the_client_is_told(void)
{
    struct line l;
    connect(&l);
    (void)leat_peer_take_state_change(l.peer);
    leat_peer_close(l.peer, LEAT_PEER_END_CLOSED, l.now_us, &l.from_peer.sink);
    LEAT_CHECK_INT(l.from_peer.count, 1);
    settle(&l);
    LEAT_CHECK_INT(l.client.state, LEAT_CLIENT_ENDED);
    LEAT_CHECK_INT(l.client.end, LEAT_DTLS_END_CLOSED);
    check_dead(&l, LEAT_PEER_END_CLOSED);
    end(&l);
}

static void ends__closed_by_the_remote__at_once(void)
{
    struct line l;
    connect(&l);
    (void)leat_peer_take_state_change(l.peer);
    leat_client_close(&l.client, l.now_us, &l.from_client.sink);
    settle(&l);
    check_dead(&l, LEAT_PEER_END_CLOSED_BY_REMOTE);
    end(&l);
}

static void ends__closed_before_anything__silently(void)
{
    struct line l;
    prepare(&l);
    begin(&l);
    leat_peer_close(l.peer, LEAT_PEER_END_CLOSED, l.now_us, &l.from_peer.sink);
    LEAT_CHECK_INT(l.from_peer.count, 0);
    check_dead(&l, LEAT_PEER_END_CLOSED);
    end(&l);
}

static void ends__other_certificate__fingerprint_mismatch_and_no_keys(void)
{
    struct line l;
    prepare(&l);
    l.peer_params.dtls.remote_fingerprint[0] ^= 1;
    begin(&l);
    settle(&l);
    LEAT_CHECK_INT(leat_peer_srtp_profile(l.peer), LEAT_SRTP_PROFILE_NONE);
    LEAT_CHECK_INT(l.client.state, LEAT_CLIENT_ENDED);
    check_dead(&l, LEAT_PEER_END_FINGERPRINT);
    end(&l);
}

static void ends__other_profile__no_srtp_profile(void)
{
    struct line l;
    prepare(&l);
    l.client_params.dtls.profiles[0] = LEAT_SRTP_AES128_CM_SHA1_32;
    begin(&l);
    settle(&l);
    check_dead(&l, LEAT_PEER_END_NO_SRTP_PROFILE);
    end(&l);
}

static void ends__nothing_for_thirty_seconds__ice_timeout(void)
{
    struct line l;
    prepare(&l);
    begin(&l);
    LEAT_CHECK_INT(leat_peer_deadline(l.peer), l.now_us + 30 * SECOND_US);
    l.now_us += 30 * SECOND_US - 1;
    tick(&l);
    LEAT_CHECK_INT(leat_peer_state_of(l.peer), LEAT_PEER_NEW);
    l.now_us += 1;
    tick(&l);
    check_dead(&l, LEAT_PEER_END_ICE_TIMEOUT);
    end(&l);
}

static void ends__connected_and_silent_for_thirty_seconds__consent_expired(void)
{
    struct line l;
    connect(&l);
    (void)leat_peer_take_state_change(l.peer);
    l.now_us += 30 * SECOND_US - 1;
    (void)open_rtp(&l, rtp_of(&l, 9, 1)); /* media is no consent */
    tick(&l);
    LEAT_CHECK_INT(leat_peer_state_of(l.peer), LEAT_PEER_CONNECTED);
    l.now_us += 1;
    l.from_peer.count = 0;
    tick(&l);
    LEAT_CHECK_INT(l.from_peer.count, 0); /* without consent not even an alert (RFC 7675 5.1) */
    check_dead(&l, LEAT_PEER_END_CONSENT_EXPIRED);
    end(&l);
}

/* ---- jobs ---- */

static void close__while_a_job_runs__carried_out_when_it_is_back(void)
{
    struct line l;
    prepare(&l);
    begin(&l);
    l.holds_jobs = true;
    settle(&l);
    LEAT_CHECK(leat_peer_wants_job(l.peer));
    leat_peer_job_begin(l.peer, l.now_us);
    LEAT_CHECK(leat_peer_is_job_running(l.peer));
    LEAT_CHECK(!leat_peer_wants_job(l.peer));
    (void)leat_peer_take_state_change(l.peer);
    leat_peer_close(l.peer, LEAT_PEER_END_SHUTDOWN, l.now_us, &l.from_peer.sink);
    LEAT_CHECK_INT(leat_peer_state_of(l.peer), LEAT_PEER_ENDED); /* told at once */
    LEAT_CHECK_INT(l.from_peer.count, 0);                        /* the session is the job's */
    leat_peer_job_run(l.peer, &l.rng);
    leat_peer_job_end(l.peer, l.now_us, &l.from_peer.sink);
    LEAT_CHECK(l.from_peer.count > 0);
    settle(&l);
    LEAT_CHECK_INT(l.client.state, LEAT_CLIENT_ENDED);
    check_dead(&l, LEAT_PEER_END_SHUTDOWN);
    end(&l);
}

static void tick__while_a_job_runs__leaves_the_session_alone(void)
{
    struct line l;
    prepare(&l);
    begin(&l);
    l.holds_jobs = true;
    settle(&l);
    leat_peer_job_begin(l.peer, l.now_us);
    uint64_t deadline = leat_peer_deadline(l.peer);
    LEAT_CHECK_INT(deadline, l.now_us + 30 * SECOND_US); /* consent only */
    l.now_us += 10 * SECOND_US;
    tick(&l);
    LEAT_CHECK_STR(leat_peer_dtls_cipher(l.peer), "");
    LEAT_CHECK_INT(leat_peer_state_of(l.peer), LEAT_PEER_CONNECTING);
    leat_peer_job_run(l.peer, &l.rng);
    leat_peer_job_end(l.peer, l.now_us, &l.from_peer.sink);
    LEAT_CHECK_INT(leat_peer_state_of(l.peer), LEAT_PEER_CONNECTING);
    end(&l);
}

/* ---- tuples ---- */

static void busy__authentic_traffic_within_a_second__is_not_moved(void)
{
    struct line l;
    connect(&l);
    struct leat_tuple tuple = tuple_of(5000), other = tuple_of(5001);
    uint64_t checked_us = l.now_us;
    LEAT_CHECK(leat_peer_is_tuple_busy(l.peer, &tuple, checked_us));
    LEAT_CHECK(leat_peer_is_tuple_busy(l.peer, &tuple, checked_us + SECOND_US - 1));
    LEAT_CHECK(!leat_peer_is_tuple_busy(l.peer, &tuple, checked_us + SECOND_US));
    LEAT_CHECK(!leat_peer_is_tuple_busy(l.peer, &other, checked_us));
    l.now_us += 5 * SECOND_US;
    struct datagram d = rtp_of(&l, 9, 1);
    struct datagram broken = d;
    broken.data[30] ^= 1;
    LEAT_CHECK_INT(open_rtp(&l, broken), LEAT_SRTP_AUTH_FAIL);
    LEAT_CHECK(!leat_peer_is_tuple_busy(l.peer, &tuple, l.now_us));
    LEAT_CHECK_INT(open_rtp(&l, d), LEAT_SRTP_OK);
    LEAT_CHECK(leat_peer_is_tuple_busy(l.peer, &tuple, l.now_us + SECOND_US - 1));
    LEAT_CHECK(!leat_peer_is_tuple_busy(l.peer, &tuple, l.now_us + SECOND_US));
    LEAT_CHECK_INT(open_rtp(&l, d), LEAT_SRTP_REPLAY);
    end(&l);
}

static void removed_tuple__is_heard_no_more(void)
{
    struct line l;
    connect(&l);
    struct leat_tuple tuple = tuple_of(5000);
    leat_peer_remove_tuple(l.peer, &tuple);
    LEAT_CHECK(leat_peer_selected(l.peer) == NULL);
    LEAT_CHECK_INT(open_rtp(&l, rtp_of(&l, 9, 1)), LEAT_SRTP_FAILED);
    uint8_t packet[40] = {0x80, 96};
    LEAT_CHECK_INT(send_rtp(l.peer, leat_span(packet, sizeof packet), &l.from_peer.sink),
                   LEAT_SRTP_FAILED);
    LEAT_CHECK_INT(leat_peer_counters_of(l.peer)->send_no_tuple, 1);
    LEAT_CHECK_INT(leat_peer_counters_of(l.peer)->srtp_early, 1);
    l.client.check_us = l.now_us; /* the next check brings it back */
    settle(&l);
    LEAT_CHECK_INT(open_rtp(&l, rtp_of(&l, 9, 2)), LEAT_SRTP_OK);
    end(&l);
}

/* ---- media ---- */

static void unprotect__before_the_keys_or_from_elsewhere__early(void)
{
    struct line l;
    prepare(&l);
    begin(&l);
    struct datagram d = {.tuple = tuple_of(5000), .len = 60, .data = {0x80, 96}};
    LEAT_CHECK_INT(open_rtp(&l, d), LEAT_SRTP_FAILED);
    LEAT_CHECK_INT(leat_peer_counters_of(l.peer)->srtp_early, 1);
    settle(&l);
    d = rtp_of(&l, 9, 1);
    d.tuple = tuple_of(5001);
    LEAT_CHECK_INT(open_rtp(&l, d), LEAT_SRTP_FAILED);
    LEAT_CHECK_INT(leat_peer_counters_of(l.peer)->srtp_early, 2);
    d.tuple = tuple_of(5000); /* and it is no replay now: the other one moved nothing */
    LEAT_CHECK_INT(open_rtp(&l, d), LEAT_SRTP_OK);
    end(&l);
}

static void unprotect__each_verdict__has_its_counter(void)
{
    struct line l;
    prepare(&l);
    l.peer_params.ssrc_limit = 2;
    begin(&l);
    settle(&l);
    struct datagram d = rtp_of(&l, 1, 1), cut = d;
    cut.len = 15;
    LEAT_CHECK_INT(open_rtp(&l, d), LEAT_SRTP_OK);
    LEAT_CHECK_INT(open_rtp(&l, d), LEAT_SRTP_REPLAY);
    LEAT_CHECK_INT(open_rtp(&l, cut), LEAT_SRTP_MALFORMED);
    LEAT_CHECK_INT(open_rtp(&l, rtp_of(&l, 2, 1)), LEAT_SRTP_OK);
    LEAT_CHECK_INT(open_rtp(&l, rtp_of(&l, 3, 1)), LEAT_SRTP_SSRC_LIMIT);
    d = rtp_of(&l, 2, 2);
    d.data[d.len - 1] ^= 1;
    LEAT_CHECK_INT(open_rtp(&l, d), LEAT_SRTP_AUTH_FAIL);
    const struct leat_peer_counters *c = leat_peer_counters_of(l.peer);
    LEAT_CHECK_INT(c->srtp_replay, 1);
    LEAT_CHECK_INT(c->srtp_malformed, 1);
    LEAT_CHECK_INT(c->srtp_ssrc_limit, 1);
    LEAT_CHECK_INT(c->srtp_auth_fail, 1);
    LEAT_CHECK_INT(c->srtp_early, 0);
    end(&l);
}

static void send__full_sink__counted_and_no_index_used(void)
{
    struct line l;
    connect(&l);
    uint8_t packet[40] = {0x80, 96, 0x20, 0};
    l.from_peer.is_full = true;
    LEAT_CHECK_INT(send_rtp(l.peer, leat_span(packet, sizeof packet), &l.from_peer.sink),
                   LEAT_SRTP_NO_ROOM);
    l.from_peer.is_full = false;
    LEAT_CHECK_INT(send_rtp(l.peer, leat_span(packet, sizeof packet), &l.from_peer.sink),
                   LEAT_SRTP_OK);
    LEAT_CHECK_INT(send_rtp(l.peer, leat_span(packet, sizeof packet), &l.from_peer.sink),
                   LEAT_SRTP_INDEX_USED);
    const struct leat_peer_counters *c = leat_peer_counters_of(l.peer);
    LEAT_CHECK_INT(c->send_sink_full, 1);
    LEAT_CHECK_INT(c->send_index_used, 1);
    LEAT_CHECK_INT(l.from_peer.count, 1);
    l.from_peer.count = 0;
    struct datagram d = l.from_peer.items[0];
    LEAT_CHECK_INT(
        leat_client_receive(&l.client, d.data, &d.len, l.now_us, &l.rng, &l.from_client.sink),
        LEAT_CLIENT_RTP);
    LEAT_CHECK_MEM(d.data, d.len, packet, sizeof packet);
    end(&l);
}

static void dtls__from_a_tuple_that_was_not_checked__dropped(void)
{
    struct line l;
    prepare(&l);
    begin(&l);
    l.dtls_port = 5001; /* a real hello, but not from where the check came from */
    settle(&l);
    LEAT_CHECK_INT(leat_peer_state_of(l.peer), LEAT_PEER_CONNECTING);
    LEAT_CHECK(leat_peer_counters_of(l.peer)->dtls_dropped > 0);
    LEAT_CHECK_INT(l.client.state, LEAT_CLIENT_CONNECTING);
    LEAT_CHECK(!leat_peer_wants_job(l.peer));
    end(&l);
}

/** Datagrams that answer a repetition of the client's last flight, one octet of it changed. */
static size_t answers_to_repeat(struct line *l, size_t wrong_octet)
{
    struct datagram d = l->latest_dtls;
    d.data[d.len - 1] ^= (uint8_t)wrong_octet;
    l->from_peer.count = 0;
    leat_peer_receive_dtls(l->peer, leat_span(d.data, d.len), &d.tuple, l->now_us,
                           &l->from_peer.sink);
    return l->from_peer.count;
}

static void dtls__last_flight__is_repeated_until_the_first_good_packet(void)
{
    struct line l;
    connect(&l);
    const struct leat_peer_counters *c = leat_peer_counters_of(l.peer);
    LEAT_CHECK_INT(answers_to_repeat(&l, 0), 1);
    LEAT_CHECK_INT(l.from_peer.items[0].data[0], 20); /* ChangeCipherSpec comes first */
    LEAT_CHECK_INT(answers_to_repeat(&l, 0), 0);
    l.now_us += LEAT_DTLS_FLIGHT_AGAIN_US;
    LEAT_CHECK_INT(answers_to_repeat(&l, 1), 0); /* forged */
    struct datagram d = rtp_of(&l, 7, 1);
    d.data[20] ^= 1;
    LEAT_CHECK_INT(open_rtp(&l, d), LEAT_SRTP_AUTH_FAIL);
    LEAT_CHECK_INT(answers_to_repeat(&l, 0), 1);
    l.now_us += LEAT_DTLS_FLIGHT_AGAIN_US;
    d.data[20] ^= 1;
    LEAT_CHECK_INT(open_rtp(&l, d), LEAT_SRTP_OK);
    LEAT_CHECK_INT(answers_to_repeat(&l, 0), 0);
    LEAT_CHECK_INT(c->dtls_flights_repeated, 2);
    LEAT_CHECK_INT(c->dtls_forged, 1);
    LEAT_CHECK_INT(leat_peer_state_of(l.peer), LEAT_PEER_CONNECTED);
    end(&l);
}

static void dtls__last_flight_of_a_silent_peer__is_kept_for_240_s(void)
{
    struct line l;
    connect(&l);
    uint64_t connected_us = l.now_us;
    while (l.now_us < connected_us + LEAT_DTLS_FLIGHT_US) {
        l.now_us += 5 * SECOND_US;
        LEAT_CHECK(leat_peer_deadline(l.peer) <= l.now_us + 30 * SECOND_US);
        tick(&l);
        settle(&l);
        LEAT_CHECK_ROW(l.now_us / SECOND_US,
                       answers_to_repeat(&l, 0) ==
                           (l.now_us < connected_us + LEAT_DTLS_FLIGHT_US ? 1 : 0));
    }
    LEAT_CHECK_INT(leat_peer_state_of(l.peer), LEAT_PEER_CONNECTED);
    end(&l);
}

LEAT_TESTS(LEAT_TEST(states__from_new_to_connected__each_told_once),
           LEAT_TEST(times__of_a_join__are_when_each_thing_happened),
           LEAT_TEST(texts__every_state_and_end__is_a_word_of_its_own),
           LEAT_TEST(ends__closed_by_the_controller__the_client_is_told),
           LEAT_TEST(ends__closed_by_the_remote__at_once),
           LEAT_TEST(ends__closed_before_anything__silently),
           LEAT_TEST(ends__other_certificate__fingerprint_mismatch_and_no_keys),
           LEAT_TEST(ends__other_profile__no_srtp_profile),
           LEAT_TEST(ends__nothing_for_thirty_seconds__ice_timeout),
           LEAT_TEST(ends__connected_and_silent_for_thirty_seconds__consent_expired),
           LEAT_TEST(close__while_a_job_runs__carried_out_when_it_is_back),
           LEAT_TEST(tick__while_a_job_runs__leaves_the_session_alone),
           LEAT_TEST(busy__authentic_traffic_within_a_second__is_not_moved),
           LEAT_TEST(removed_tuple__is_heard_no_more),
           LEAT_TEST(unprotect__before_the_keys_or_from_elsewhere__early),
           LEAT_TEST(unprotect__each_verdict__has_its_counter),
           LEAT_TEST(send__full_sink__counted_and_no_index_used),
           LEAT_TEST(dtls__last_flight__is_repeated_until_the_first_good_packet),
           LEAT_TEST(dtls__last_flight_of_a_silent_peer__is_kept_for_240_s),
           LEAT_TEST(dtls__from_a_tuple_that_was_not_checked__dropped))
