/* SPDX-License-Identifier: MIT */
/* Whole handshakes between two sessions: loss, closing, refusals, limits. */
#include <pthread.h>

#include "network.h"

static bool can_gcm(int which)
{
    return leat_dtls_backend_has_profile(net_backend(which), LEAT_SRTP_AEAD_AES_128_GCM);
}

static void handshake__quiet_network__connects_with_mirrored_keys(void)
{
    struct network net;
    net_init(&net, 1);
    LEAT_CHECK_STR(leat_dtls_cipher(net.ends[SERVER].d), "");
    LEAT_CHECK(leat_dtls_deadline(net.ends[SERVER].d) == LEAT_NEVER);
    net_start(&net);
    net_run(&net, 1000000);
    LEAT_CHECK(net_is_connected(&net));
    LEAT_CHECK(net_keys_mirror(&net));
    LEAT_CHECK_INT(net.ends[SERVER].keys.profile, can_gcm(SERVER) && can_gcm(CLIENT)
                                                      ? LEAT_SRTP_AEAD_AES_128_GCM
                                                      : LEAT_SRTP_AES128_CM_SHA1_80);
    for (int i = 0; i < 2; i++) {
        LEAT_CHECK_STR(leat_dtls_cipher(net.ends[i].d), "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256");
        LEAT_CHECK_INT(net.ends[i].connected_events, 1);
        LEAT_CHECK(net.ends[i].largest <= LEAT_DTLS_MTU);
        LEAT_CHECK(!leat_dtls_wants_job(net.ends[i].d));
    }
    LEAT_CHECK(leat_dtls_deadline(net.ends[CLIENT].d) == LEAT_NEVER);
    /* four flights: three of them one way each before the server, the fourth for the client */
    LEAT_CHECK_INT(net.ends[SERVER].connected_us, 1000000 + 3 * DELAY_US);
    LEAT_CHECK_INT(net.ends[CLIENT].connected_us, 1000000 + 4 * DELAY_US);
    net_deinit(&net);
}

static void handshake__other_seed__other_keys(void)
{
    struct network a, b;
    net_init(&a, 1);
    net_init(&b, 2);
    net_start(&a);
    net_start(&b);
    net_run(&a, 1000000);
    net_run(&b, 1000000);
    LEAT_CHECK(memcmp(&a.ends[0].keys.send, &b.ends[0].keys.send, sizeof(a.ends[0].keys.send)));
    net_deinit(&a);
    net_deinit(&b);
}

/* ---- loss ---- */

struct losses {
    int from;
    size_t first, count; /* datagrams of that side */
};

static unsigned lose(struct network *net, int from, size_t index, uint64_t *delay_us)
{
    const struct losses *l = net->rule_state;
    (void)delay_us;
    return from == l->from && index >= l->first && index < l->first + l->count ? 0 : 1;
}

/* On a quiet network the client sends datagram 0 (hello) and 1 (its second flight), the server 0
 * and 1. A flight that is lost twice is first repeated whole, then in datagrams of 508 octets. */
static void handshake__each_flight_lost_once_twice_and_more__connects(void)
{
    for (int from = 0; from < 2; from++) {
        for (size_t first = 0; first < 3; first++) {
            for (size_t count = 1; count < 5; count++) { /* the fifth would come after 31 s */
                struct network net;
                struct losses l = {from, first, count};
                net_init(&net, 3);
                net.rule = lose;
                net.rule_state = &l;
                net_start(&net);
                net_run(&net, 29000000);
                size_t row = (size_t)from * 100 + first * 10 + count;
                LEAT_CHECK_ROW(row, net_is_connected(&net));
                LEAT_CHECK_ROW(row, net_keys_mirror(&net));
                LEAT_CHECK_ROW(row, net.ends[0].connected_events == 1);
                LEAT_CHECK_ROW(row, net.ends[0].largest <= LEAT_DTLS_MTU);
                net_deinit(&net);
            }
        }
    }
}

static void handshake__last_flight_lost_for_10_s__is_answered_when_asked_again(void)
{
    struct network net;
    struct losses l = {SERVER, 1, 3}; /* the client asks again after 1, 3 and 7 s */
    net_init(&net, 4);
    net.rule = lose;
    net.rule_state = &l;
    net_start(&net);
    net_run(&net, 500000);
    LEAT_CHECK(net.ends[SERVER].is_connected);
    LEAT_CHECK(!net.ends[CLIENT].is_connected);
    net_run(&net, 9000000);
    LEAT_CHECK(net_is_connected(&net) && net_keys_mirror(&net));
    net_deinit(&net);
}

/* From then on nothing is lost: else what is repeated at 1, 3, 7 and 15 s might be, one time in
 * 400, and the limit of 30 s pass. */
#define BETTER_US 12000000u

static unsigned chance(struct network *net, int from, size_t index, uint64_t *delay_us)
{
    struct leat_rng *dice = net->rule_state;
    (void)from;
    (void)index;
    uint32_t roll = leat_rng_below(dice, 100);
    *delay_us += leat_rng_below(dice, 4) == 0 ? 30000 : 0; /* a quarter arrives late */
    return roll < 40 ? (roll < 30 && net->now_us < BETTER_US ? 0 : 2) : 1;
}

static void handshake__30_percent_lost_10_doubled_25_late__200_connect(void)
{
    for (size_t seed = 0; seed < 200; seed++) {
        struct network net;
        struct leat_rng dice;
        const uint8_t dice_seed[32] = {(uint8_t)seed, 0xd1, 0xce};
        leat_rng_init_seeded(&dice, dice_seed);
        net_init(&net, (uint8_t)seed);
        net.rule = chance;
        net.rule_state = &dice;
        net_start(&net);
        net_run(&net, 30000000);
        LEAT_CHECK_ROW(seed, net_is_connected(&net));
        LEAT_CHECK_ROW(seed, net_keys_mirror(&net));
        net_deinit(&net);
    }
}

static unsigned twice(struct network *net, int from, size_t index, uint64_t *delay_us)
{
    (void)net;
    (void)from;
    *delay_us += index % 2 * 1000;
    return 3;
}

static void handshake__every_datagram_three_times__connects_once(void)
{
    struct network net;
    net_init(&net, 5);
    net.rule = twice;
    net_start(&net);
    net_run(&net, 5000000);
    LEAT_CHECK(net_is_connected(&net) && net_keys_mirror(&net));
    LEAT_CHECK_INT(net.ends[SERVER].connected_events, 1);
    LEAT_CHECK_INT(net.ends[CLIENT].connected_events, 1);
    net_deinit(&net);
}

static struct leat_span flying_span(const struct network *net, size_t i)
{
    return leat_span(net->flying[i].data, net->flying[i].len);
}

/* Up to where the client's second flight is on its way; it is net->flying[0]. */
static void up_to_second_flight(struct network *net, uint8_t seed)
{
    net_init(net, seed);
    net_start(net);
    net_run(net, 2 * DELAY_US);
    LEAT_CHECK_INT(net->flying_count, 1);
}

/* ---- the server's first timeout ---- */

static void server_timeout__follows_the_round_trip__within_100_ms_and_1_s(void)
{
    static const struct {
        uint64_t hello_after_us, expected_us;
    } rows[] = {
        {2000, 100000}, {50000, 100000}, {80000, 160000}, {499000, 998000}, {900000, 1000000}};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct network net;
        net_init(&net, 6);
        struct leat_dtls *server = net.ends[SERVER].d, *client = net.ends[CLIENT].d;
        uint64_t reply_us = net.now_us;
        leat_dtls_start(server, reply_us, reply_us);
        leat_dtls_start(client, reply_us, reply_us);
        leat_dtls_start(server, reply_us + 77, reply_us + 77); /* repeating changes nothing */
        LEAT_CHECK_ROW(i, leat_dtls_deadline(server) == reply_us + LEAT_DTLS_HANDSHAKE_US);
        net_work(&net, CLIENT);
        LEAT_CHECK_ROW(i, leat_dtls_deadline(client) == reply_us + 1000000);
        net.now_us = reply_us + rows[i].hello_after_us;
        (void)leat_dtls_receive(server, leat_span(net.flying[0].data, net.flying[0].len),
                                net.now_us);
        leat_dtls_job_begin(server, net.now_us);
        leat_dtls_job_run(server, &net.rng);
        LEAT_CHECK_ROW(i, leat_dtls_deadline(server) == LEAT_NEVER);
        net.now_us +=
            7000; /* the job waited for a thread: the timer starts when its flight leaves */
        leat_dtls_job_end(server, net.now_us);
        LEAT_CHECK_ROW(i, leat_dtls_deadline(server) == net.now_us + rows[i].expected_us);
        net_work(&net, SERVER);
        size_t flight = net.ends[SERVER].sent;
        net.now_us += rows[i].expected_us;
        LEAT_CHECK_ROW(i, !leat_dtls_wants_job(server));
        leat_dtls_tick(server, net.now_us);
        LEAT_CHECK_ROW(i, leat_dtls_wants_job(server));
        net_work(&net, SERVER);
        LEAT_CHECK_ROW(i, net.ends[SERVER].sent == 2 * flight);
        LEAT_CHECK_ROW(i, leat_dtls_deadline(server) == net.now_us + 2 * rows[i].expected_us);
        net_deinit(&net);
    }
}

static void timer__useless_datagrams__do_not_put_it_off(void)
{
    static const uint8_t junk[] = {22, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, 9, 0, 2, 1, 2};
    struct network net;
    struct losses l = {SERVER, 0, 1};
    net_init(&net, 7);
    net.rule = lose;
    net.rule_state = &l;
    net_start(&net);
    net_run(&net, 20000);
    uint64_t deadline_us = leat_dtls_deadline(net.ends[SERVER].d);
    net.now_us += 10000;
    LEAT_CHECK_INT(leat_dtls_receive(net.ends[SERVER].d, leat_span(junk, sizeof(junk)), net.now_us),
                   LEAT_DTLS_OK);
    net_work(&net, SERVER);
    LEAT_CHECK(leat_dtls_deadline(net.ends[SERVER].d) == deadline_us);
    net_deinit(&net);
}

static void timer__already_due_when_a_datagram_comes__does_not_swallow_it(void)
{
    struct network net;
    up_to_second_flight(&net, 24);
    net.now_us += 2000000; /* nobody ticked */
    (void)leat_dtls_receive(net.ends[SERVER].d, flying_span(&net, 0), net.now_us);
    net_work(&net, SERVER);
    LEAT_CHECK(net.ends[SERVER].is_connected);
    net_deinit(&net);
}

static unsigned nothing(struct network *net, int from, size_t index, uint64_t *delay_us)
{
    (void)net, (void)from, (void)index, (void)delay_us;
    return 0;
}

static void limit__nobody_answers__ends_with_timeout_after_30_s(void)
{
    struct network net;
    net_init(&net, 8);
    net.rule = nothing;
    net_start(&net);
    net_run(&net, LEAT_DTLS_HANDSHAKE_US - 1);
    LEAT_CHECK(!net.ends[SERVER].is_ended && !net.ends[CLIENT].is_ended);
    LEAT_CHECK(net.ends[CLIENT].sent >= 5); /* at 0, 1, 3, 7 and 15 s */
    net_run(&net, 1);
    for (int i = 0; i < 2; i++) {
        LEAT_CHECK(net.ends[i].is_ended);
        LEAT_CHECK_INT(net.ends[i].end, LEAT_DTLS_END_TIMEOUT);
        LEAT_CHECK(leat_dtls_deadline(net.ends[i].d) == LEAT_NEVER);
    }
    net_deinit(&net);
}

/* ---- refusals ---- */

static void replace(struct network *net, int which, const struct leat_dtls_params *p)
{
    leat_dtls_free(net->ends[which].d);
    LEAT_CHECK_INT(leat_dtls_new(&net->ends[which].d, p, net->now_us), 0);
}

static void fingerprint__of_another_certificate__ends_both_ways(void)
{
    for (int which = 0; which < 2; which++) {
        struct network net;
        struct leat_dtls_params p;
        net_init(&net, 9);
        net_params(&p, which, which, 2);
        replace(&net, which, &p);
        net_start(&net);
        net_run(&net, 5000000);
        LEAT_CHECK(!net.ends[which].is_connected);
        LEAT_CHECK(net.ends[which].is_ended);
        LEAT_CHECK_INT(net.ends[which].end, LEAT_DTLS_END_FINGERPRINT);
        LEAT_CHECK(!net.ends[1 - which].is_connected);
        LEAT_CHECK_INT(net.ends[1 - which].end, LEAT_DTLS_END_ALERT); /* it was sent and read */
        LEAT_CHECK_INT(net.ends[which].ended_events, 1);
        net_deinit(&net);
    }
}

static void fingerprint__one_bit_off__ends(void)
{
    struct network net;
    struct leat_dtls_params p;
    net_init(&net, 10);
    net_params(&p, SERVER, SERVER, CLIENT);
    p.remote_fingerprint[31] ^= 1;
    replace(&net, SERVER, &p);
    net_start(&net);
    net_run(&net, 5000000);
    LEAT_CHECK_INT(net.ends[SERVER].end, LEAT_DTLS_END_FINGERPRINT);
    net_deinit(&net);
}

static void profile__none_in_common__ends_before_a_flight(void)
{
    struct network net;
    struct leat_dtls_params p;
    net_init(&net, 11);
    net_params(&p, SERVER, SERVER, CLIENT);
    p.profiles[0] = LEAT_SRTP_AES128_CM_SHA1_32;
    p.profile_count = 1;
    replace(&net, SERVER, &p);
    net_start(&net);
    net_run(&net, 5000000);
    LEAT_CHECK_INT(net.ends[SERVER].end, LEAT_DTLS_END_NO_PROFILE);
    LEAT_CHECK_INT(net.ends[SERVER].sent, 1); /* the alert */
    LEAT_CHECK_INT(net.ends[SERVER].largest, 15);
    LEAT_CHECK_INT(net.ends[CLIENT].end, LEAT_DTLS_END_ALERT);
    net_deinit(&net);
}

static void profile__sha1_32_alone__is_negotiated(void)
{
    struct network net;
    struct leat_dtls_params p;
    net_init(&net, 12);
    for (int i = 0; i < 2; i++) {
        net_params(&p, i, i, 1 - i);
        p.profiles[0] = LEAT_SRTP_AES128_CM_SHA1_32;
        p.profile_count = 1;
        replace(&net, i, &p);
    }
    net_start(&net);
    net_run(&net, 1000000);
    LEAT_CHECK(net_is_connected(&net) && net_keys_mirror(&net));
    LEAT_CHECK_INT(net.ends[CLIENT].keys.profile, LEAT_SRTP_AES128_CM_SHA1_32);
    net_deinit(&net);
}

/* What both can is chosen by the server's order, whatever the client prefers. */
static void profile__several_in_common__is_the_first_of_the_servers(void)
{
    enum { CM_80 = 1, CM_32 = 2, GCM_128 = 7, GCM_256 = 8 };
    static const struct {
        int server[4], client[4], expected, without_gcm;
    } rows[] = {
        {{CM_80, CM_32}, {CM_32, CM_80}, CM_80, CM_80},
        {{CM_32, CM_80}, {CM_80, CM_32}, CM_32, CM_32},
        {{GCM_128, GCM_256, CM_80}, {CM_80, GCM_256, GCM_128}, GCM_128, CM_80}, /* as Chromium */
        {{GCM_256, GCM_128, CM_80}, {CM_80, GCM_256, GCM_128}, GCM_256, CM_80},
        {{GCM_256, CM_32, CM_80}, {GCM_128, CM_80, CM_32}, CM_32, CM_32},
        {{CM_80, CM_80, CM_32}, {CM_32, CM_32, CM_80, CM_80}, CM_80, CM_80},
        {{CM_80, GCM_256}, {GCM_256, GCM_128, CM_80, CM_32}, CM_80, CM_80},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct network net;
        net_init(&net, 25);
        for (int side = 0; side < 2; side++) {
            const int *list = side == SERVER ? rows[i].server : rows[i].client;
            struct leat_dtls_params p;
            net_params(&p, side, side, 1 - side);
            for (p.profile_count = 0; p.profile_count < 4 && list[p.profile_count] != 0;
                 p.profile_count++) {
                p.profiles[p.profile_count] = (enum leat_srtp_profile)list[p.profile_count];
            }
            replace(&net, side, &p);
        }
        net_start(&net);
        net_run(&net, 1000000);
        LEAT_CHECK_ROW(i, net_is_connected(&net) && net_keys_mirror(&net));
        int expected = can_gcm(SERVER) && can_gcm(CLIENT) ? rows[i].expected : rows[i].without_gcm;
        LEAT_CHECK_ROW(i, (int)net.ends[CLIENT].keys.profile == expected);
        net_deinit(&net);
    }
}

static void new__only_profiles_that_the_library_lacks__is_unsupported(void)
{
    struct leat_dtls *d;
    struct leat_dtls_params p;
    net_params(&p, SERVER, SERVER, CLIENT);
    p.profile_count = 1; /* GCM */
    LEAT_CHECK_INT(leat_dtls_new(&d, &p, 0), can_gcm(SERVER) ? 0 : LEAT_E_UNSUPPORTED);
    leat_dtls_free(d);
    p.profile_count = 0;
    LEAT_CHECK_INT(leat_dtls_new(&d, &p, 0), LEAT_E_UNSUPPORTED);
    p.profile_count = LEAT_SRTP_PROFILES_MAX + 1;
    LEAT_CHECK_INT(leat_dtls_new(&d, &p, 0), LEAT_E_INVALID);
    leat_dtls_free(NULL);
}

/* ---- closing ---- */

static void identity__given_up_by_its_owner__lives_as_long_as_its_sessions(void)
{
    struct network net;
    struct leat_dtls_params p;
    struct leat_dtls_identity *own;
    net_init(&net, 16);
    LEAT_CHECK_INT(leat_dtls_identity_new(&own, &net.rng, NOW_S), 0);
    net_params(&p, SERVER, SERVER, CLIENT);
    p.identity = own;
    replace(&net, SERVER, &p);
    net_params(&p, CLIENT, CLIENT, SERVER);
    leat_dtls_identity_fingerprint(own, p.remote_fingerprint);
    replace(&net, CLIENT, &p);
    LEAT_CHECK(leat_dtls_identity_hold(own) == own);
    leat_dtls_identity_free(own);
    leat_dtls_identity_free(own); /* what is left is the session's hold */
    net_start(&net);
    net_run(&net, 1000000);
    LEAT_CHECK(net_is_connected(&net));
    net_deinit(&net);
}

static void close__of_either_side__ends_both_once_with_closed(void)
{
    for (int which = 0; which < 2; which++) {
        struct network net;
        net_init(&net, 13);
        net_start(&net);
        net_run(&net, 1000000);
        LEAT_CHECK(net_is_connected(&net));
        leat_dtls_close(net.ends[which].d, net.now_us);
        leat_dtls_close(net.ends[which].d, net.now_us);
        net_run(&net, 1000000);
        for (int i = 0; i < 2; i++) {
            LEAT_CHECK_INT(net.ends[i].end, LEAT_DTLS_END_CLOSED);
            LEAT_CHECK_INT(net.ends[i].ended_events, 1);
            LEAT_CHECK(!leat_dtls_is_connected(net.ends[i].d));
        }
        LEAT_CHECK_INT(net.ends[which].sent, 3);
        LEAT_CHECK_INT(net.ends[1 - which].sent, 3); /* answered with a close_notify */
        net_deinit(&net);
    }
}

static void close__in_the_handshake__sends_a_fatal_alert(void)
{
    for (int which = 0; which < 2; which++) {
        struct network net;
        net_init(&net, 14);
        net_start(&net);
        net_run(&net, DELAY_US + 1000); /* the server has answered the hello */
        leat_dtls_close(net.ends[which].d, net.now_us);
        net_run(&net, 1000000);
        LEAT_CHECK_INT(net.ends[which].end, LEAT_DTLS_END_CLOSED);
        LEAT_CHECK_INT(net.ends[1 - which].end, LEAT_DTLS_END_ALERT);
        net_deinit(&net);
    }
}

static void close__before_anything__ends_without_a_datagram(void)
{
    struct network net;
    net_init(&net, 15);
    leat_dtls_close(net.ends[SERVER].d, net.now_us);
    net_run(&net, 1000);
    LEAT_CHECK_INT(net.ends[SERVER].end, LEAT_DTLS_END_CLOSED);
    LEAT_CHECK_INT(net.ends[SERVER].sent, 0);
    LEAT_CHECK_INT(leat_dtls_receive(net.ends[SERVER].d, leat_span("abc", 3), 0),
                   LEAT_DTLS_IGNORED);
    net_deinit(&net);
}

/* ---- jobs ---- */

static void queue__ninth_datagram_while_a_job_runs__is_refused(void)
{
    struct network net;
    up_to_second_flight(&net, 16);
    struct leat_dtls *server = net.ends[SERVER].d;
    LEAT_CHECK_INT(leat_dtls_receive(server, flying_span(&net, 0), net.now_us), LEAT_DTLS_OK);
    leat_dtls_job_begin(server, net.now_us);
    LEAT_CHECK(leat_dtls_is_job_running(server) && !leat_dtls_wants_job(server));
    for (size_t i = 0; i < LEAT_DTLS_QUEUE; i++) {
        LEAT_CHECK_ROW(i,
                       leat_dtls_receive(server, flying_span(&net, 0), net.now_us) == LEAT_DTLS_OK);
    }
    LEAT_CHECK_INT(leat_dtls_receive(server, flying_span(&net, 0), net.now_us),
                   LEAT_DTLS_QUEUE_FULL);
    LEAT_CHECK(!leat_dtls_is_connected(server));
    leat_dtls_job_run(server, &net.rng);
    LEAT_CHECK(!leat_dtls_is_connected(server)); /* nothing shows before job_end */
    struct leat_dtls_event event;
    struct leat_span datagram;
    LEAT_CHECK(!leat_dtls_next_event(server, &event));
    LEAT_CHECK(!leat_dtls_next_datagram(server, &datagram));
    leat_dtls_job_end(server, net.now_us);
    LEAT_CHECK(leat_dtls_is_connected(server));
    net_run(&net, 1000000);
    LEAT_CHECK(net_is_connected(&net) && net_keys_mirror(&net));
    net_deinit(&net);
}

static void close__while_a_job_runs__is_carried_out_when_it_ends(void)
{
    struct network net;
    up_to_second_flight(&net, 17);
    struct leat_dtls *server = net.ends[SERVER].d;
    (void)leat_dtls_receive(server, flying_span(&net, 0), net.now_us);
    leat_dtls_job_begin(server, net.now_us);
    leat_dtls_close(server, net.now_us);
    leat_dtls_tick(server, net.now_us + 100000000);
    leat_dtls_job_run(server, &net.rng);
    leat_dtls_job_end(server, net.now_us);
    net_work(&net, SERVER);
    LEAT_CHECK_INT(net.ends[SERVER].connected_events, 0);
    LEAT_CHECK_INT(net.ends[SERVER].ended_events, 1);
    LEAT_CHECK_INT(net.ends[SERVER].end, LEAT_DTLS_END_CLOSED);
    net_deinit(&net);
}

static void alert__while_a_job_runs__ends_when_the_job_has_not_connected(void)
{
    static const uint8_t fatal[] = {21, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 5, 0, 2, 2, 40};
    struct network net;
    net_init(&net, 18);
    net_start(&net);
    net_work(&net, CLIENT);
    struct leat_dtls *server = net.ends[SERVER].d;
    (void)leat_dtls_receive(server, flying_span(&net, 0), net.now_us);
    leat_dtls_job_begin(server, net.now_us);
    LEAT_CHECK_INT(leat_dtls_receive(server, leat_span(fatal, sizeof(fatal)), net.now_us),
                   LEAT_DTLS_OK);
    leat_dtls_job_run(server, &net.rng);
    leat_dtls_job_end(server, net.now_us);
    net_work(&net, SERVER);
    LEAT_CHECK_INT(net.ends[SERVER].end, LEAT_DTLS_END_ALERT);
    net_deinit(&net);
}

struct worker {
    struct leat_dtls *d;
    struct leat_rng rng;
};

static void *run_job(void *state)
{
    struct worker *w = state;
    leat_dtls_job_run(w->d, &w->rng);
    return NULL;
}

/* Each job on a thread of its own while the owner's thread goes on using the session. */
static void work_threaded(struct network *net, int which, struct worker *w)
{
    struct end_point *e = &net->ends[which];
    while (leat_dtls_wants_job(e->d)) {
        pthread_t thread;
        struct leat_dtls_event event;
        struct leat_span datagram;
        w->d = e->d;
        leat_dtls_job_begin(e->d, net->now_us);
        LEAT_CHECK_INT(pthread_create(&thread, NULL, run_job, w), 0);
        for (size_t i = 0; i < net->flying_count; i++) {
            (void)leat_dtls_receive(e->d, flying_span(net, i), net->now_us);
        }
        LEAT_CHECK(!leat_dtls_next_event(e->d, &event));
        LEAT_CHECK(!leat_dtls_next_datagram(e->d, &datagram));
        LEAT_CHECK(leat_dtls_deadline(e->d) == LEAT_NEVER);
        leat_dtls_tick(e->d, net->now_us);
        (void)leat_dtls_is_connected(e->d);
        LEAT_CHECK_INT(pthread_join(thread, NULL), 0);
        leat_dtls_job_end(e->d, net->now_us);
    }
    net_take_events(net, e);
    net_send(net, which);
}

static void job__on_other_threads__connects(void)
{
    struct network net;
    struct worker worker = {0};
    net_init(&net, 19);
    net_rng(&worker.rng, 99);
    net_start(&net);
    for (int i = 0; i < 8; i++) {
        work_threaded(&net, CLIENT, &worker);
        work_threaded(&net, SERVER, &worker);
        size_t count = net.flying_count;
        for (size_t k = 0; k < count; k++) {
            (void)leat_dtls_receive(net.ends[net.flying[k].to].d, flying_span(&net, k), net.now_us);
        }
        net.flying_count -= count;
    }
    LEAT_CHECK(net_is_connected(&net) && net_keys_mirror(&net));
    net_deinit(&net);
}

/* Identities, and what a backend keeps in them, serve all threads at once. */
static void *connect_some(void *state)
{
    unsigned *connected = state;
    for (uint8_t i = 0; i < 4; i++) {
        struct network net;
        net_init(&net, (uint8_t)(100 + i));
        net_start(&net);
        net_run(&net, 1000000);
        *connected += net_is_connected(&net) && net_keys_mirror(&net) ? 1 : 0;
        net_deinit(&net);
    }
    return NULL;
}

static void identity__of_8_threads_at_once__connects_them_all(void)
{
    pthread_t threads[8];
    unsigned connected[LEAT_ARRAY_LEN(threads)] = {0};
    (void)net_identity(SERVER), (void)net_identity(CLIENT); /* made here */
    for (size_t i = 0; i < LEAT_ARRAY_LEN(threads); i++) {
        LEAT_CHECK_INT(pthread_create(&threads[i], NULL, connect_some, &connected[i]), 0);
    }
    for (size_t i = 0; i < LEAT_ARRAY_LEN(threads); i++) {
        LEAT_CHECK_INT(pthread_join(threads[i], NULL), 0);
        LEAT_CHECK_ROW(i, connected[i] == 4);
    }
}

/* ---- established ---- */

static void established__fresh_hello_and_plaintext__are_ignored(void)
{
    static const uint8_t fatal[] = {21, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 5, 0, 2, 2, 40};
    struct network net;
    net_init(&net, 20);
    net_start(&net);
    net_work(&net, CLIENT);
    struct flying hello = net.flying[0];
    net_run(&net, 1000000);
    struct leat_dtls *server = net.ends[SERVER].d;
    size_t sent = net.ends[SERVER].sent;
    LEAT_CHECK_INT(leat_dtls_receive(server, leat_span(hello.data, hello.len), net.now_us),
                   LEAT_DTLS_IGNORED);
    LEAT_CHECK_INT(leat_dtls_receive(server, leat_span(fatal, sizeof(fatal)), net.now_us),
                   LEAT_DTLS_IGNORED);
    LEAT_CHECK_INT(leat_dtls_receive(server, leat_span(fatal, 12), net.now_us),
                   LEAT_DTLS_MALFORMED);
    net_work(&net, SERVER);
    LEAT_CHECK(leat_dtls_is_connected(server) && !leat_dtls_wants_job(server));
    LEAT_CHECK_INT(net.ends[SERVER].sent, sent);
    net_deinit(&net);
}

/* Records of the second flight one by one, in an order: [first], [last], ... */
static size_t cut_records(const struct flying *f, struct leat_span *out, size_t cap)
{
    size_t count = 0;
    for (size_t at = 0; at + 13 <= f->len && count < cap; count++) {
        size_t len = 13 + (size_t)leat_get_u16(f->data + at + 11);
        out[count] = leat_span(f->data + at, len);
        at += len;
    }
    return count;
}

static void second_flight__records_in_reverse_and_junk_between__connects(void)
{
    /* an encrypted-looking Finished that is none, a runt, a plaintext warning */
    static const uint8_t junk[] = {22,  0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, 9, 0, 30, 0,  0,
                                   0,   0,    0,    0, 0, 9, 1, 2, 3, 4, 5, 6, 7,  8,  9,
                                   10,  1,    1,    1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  21, 254,
                                   253, 0,    0,    0, 0, 0, 0, 0, 9, 0, 2, 1, 0};
    struct network net;
    up_to_second_flight(&net, 22);
    struct leat_span records[16];
    struct flying flight = net.flying[0];
    net.flying_count = 0;
    size_t count = cut_records(&flight, records, LEAT_ARRAY_LEN(records));
    LEAT_CHECK(count >= 5);
    struct leat_dtls *server = net.ends[SERVER].d;
    for (size_t i = count; i-- > 0;) {
        LEAT_CHECK_ROW(i, leat_dtls_receive(server, leat_span(junk, sizeof(junk)), net.now_us) ==
                              LEAT_DTLS_OK);
        (void)leat_dtls_receive(server, records[i], net.now_us);
        net_work(&net, SERVER);
    }
    /* the junk took the place of the Finished: the client's next try brings it */
    net_run(&net, 5000000);
    LEAT_CHECK(net_is_connected(&net) && net_keys_mirror(&net));
    net_deinit(&net);
}

static void second_flight__records_in_reverse__connects_at_once(void)
{
    struct network net;
    up_to_second_flight(&net, 23);
    struct leat_span records[16];
    struct flying flight = net.flying[0];
    net.flying_count = 0;
    size_t count = cut_records(&flight, records, LEAT_ARRAY_LEN(records));
    for (size_t i = count; i-- > 0;) {
        (void)leat_dtls_receive(net.ends[SERVER].d, records[i], net.now_us);
        net_work(&net, SERVER);
    }
    LEAT_CHECK(net.ends[SERVER].is_connected);
    net_deinit(&net);
}

/* ---- what is repeated ---- */

/* Numbers of the records of one flight, epoch and all. @return how many */
static size_t read_numbers(const struct network *net, size_t first, uint64_t *out, size_t cap)
{
    size_t count = 0;
    for (size_t i = first; i < net->flying_count; i++) {
        struct leat_span records[16];
        size_t n = cut_records(&net->flying[i], records, LEAT_ARRAY_LEN(records));
        for (size_t k = 0; k < n && count < cap; k++) {
            out[count++] = leat_get_u64(records[k].data + 3);
        }
    }
    return count;
}

static void check_numbers(const struct network *net, size_t least)
{
    uint64_t numbers[100];
    size_t count = read_numbers(net, 0, numbers, LEAT_ARRAY_LEN(numbers));
    LEAT_CHECK(count >= least);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            LEAT_CHECK_ROW(i, numbers[i] != numbers[k]);
        }
    }
}

/* The client has sent its second flight and repeated it: they are what flies. @return where the
 * last begins */
static size_t repeat_second_flight(struct network *net, uint8_t seed, int times)
{
    net_init(net, seed);
    net_start(net);
    net_run(net, DELAY_US); /* the server has answered */
    LEAT_CHECK_INT(net->flying_count, 1);
    struct flying answer = net->flying[0];
    (void)leat_dtls_receive(net->ends[CLIENT].d, leat_span(answer.data, answer.len), net->now_us);
    net->flying_count = 0;
    net_work(net, CLIENT);
    size_t last = 0;
    for (int i = 0; i < times; i++) {
        last = net->flying_count;
        net->now_us = leat_dtls_deadline(net->ends[CLIENT].d);
        leat_dtls_tick(net->ends[CLIENT].d, net->now_us);
        net_work(net, CLIENT);
        LEAT_CHECK_ROW(i, net->flying_count > last);
    }
    return last;
}

/* A remote that has had a number drops the record unread, and its own lost flight with it. */
static void second_flight__repeated__has_fresh_numbers_and_connects(void)
{
    struct network net;
    size_t last = repeat_second_flight(&net, 26, 4);
    check_numbers(&net, 5 * 5);
    /* the first four are lost */
    memmove(net.flying, net.flying + last, (net.flying_count - last) * sizeof(net.flying[0]));
    net.flying_count -= last;
    net_run(&net, 100000);
    LEAT_CHECK(net_is_connected(&net) && net_keys_mirror(&net));
    net_deinit(&net);
}

/* A forged message ends the handshake; the alert must not have a number of a repeated Finished,
 * which would be a nonce twice with ChaCha20-Poly1305. */
static void second_flight__repeated_and_then_refused__has_no_number_twice(void)
{
    static const uint8_t forged[] = {22, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 9, 0, 13, /* record */
                                     13, 0,    0,    1, 0, 5, 0, 0, 0, 0, 0, 1, 0}; /* message 5 */
    struct network net;
    (void)repeat_second_flight(&net, 28, 1);
    size_t before = net.flying_count;
    (void)leat_dtls_receive(net.ends[CLIENT].d, leat_span(forged, sizeof(forged)), net.now_us);
    net_work(&net, CLIENT);
    LEAT_CHECK(net.ends[CLIENT].is_ended);
    LEAT_CHECK_INT(net.flying_count, before + 1);
    check_numbers(&net, 2 * 5 + 1);
    net_deinit(&net);
}

/* The generator of a job is the session's source with mbedTLS, the thread's own with OpenSSL. */
static void randomness__of_a_handshake__is_ours(void)
{
    struct network net;
    net_init(&net, 27);
    const struct leat_rng *thread = leat_rng_thread();
    uint64_t drawn = thread->refills * LEAT_RNG_BLOCK + thread->at;
    net_start(&net);
    net_run(&net, 1000000);
    LEAT_CHECK(net_is_connected(&net));
    bool is_from_thread =
        net_backend(SERVER) == LEAT_DTLS_OPENSSL || net_backend(CLIENT) == LEAT_DTLS_OPENSSL;
    drawn = thread->refills * LEAT_RNG_BLOCK + thread->at - drawn;
    LEAT_CHECK_INT(drawn >= 32 + 32, is_from_thread); /* a random and a key's scalar, at least */
    net_deinit(&net);
}

LEAT_TESTS(LEAT_TEST(handshake__quiet_network__connects_with_mirrored_keys),
           LEAT_TEST(handshake__other_seed__other_keys),
           LEAT_TEST(handshake__each_flight_lost_once_twice_and_more__connects),
           LEAT_TEST(handshake__last_flight_lost_for_10_s__is_answered_when_asked_again),
           LEAT_TEST(handshake__30_percent_lost_10_doubled_25_late__200_connect),
           LEAT_TEST(handshake__every_datagram_three_times__connects_once),
           LEAT_TEST(server_timeout__follows_the_round_trip__within_100_ms_and_1_s),
           LEAT_TEST(timer__useless_datagrams__do_not_put_it_off),
           LEAT_TEST(timer__already_due_when_a_datagram_comes__does_not_swallow_it),
           LEAT_TEST(limit__nobody_answers__ends_with_timeout_after_30_s),
           LEAT_TEST(fingerprint__of_another_certificate__ends_both_ways),
           LEAT_TEST(fingerprint__one_bit_off__ends),
           LEAT_TEST(profile__none_in_common__ends_before_a_flight),
           LEAT_TEST(profile__sha1_32_alone__is_negotiated),
           LEAT_TEST(profile__several_in_common__is_the_first_of_the_servers),
           LEAT_TEST(new__only_profiles_that_the_library_lacks__is_unsupported),
           LEAT_TEST(identity__given_up_by_its_owner__lives_as_long_as_its_sessions),
           LEAT_TEST(close__of_either_side__ends_both_once_with_closed),
           LEAT_TEST(close__in_the_handshake__sends_a_fatal_alert),
           LEAT_TEST(close__before_anything__ends_without_a_datagram),
           LEAT_TEST(queue__ninth_datagram_while_a_job_runs__is_refused),
           LEAT_TEST(close__while_a_job_runs__is_carried_out_when_it_ends),
           LEAT_TEST(alert__while_a_job_runs__ends_when_the_job_has_not_connected),
           LEAT_TEST(job__on_other_threads__connects),
           LEAT_TEST(identity__of_8_threads_at_once__connects_them_all),
           LEAT_TEST(established__fresh_hello_and_plaintext__are_ignored),
           LEAT_TEST(second_flight__records_in_reverse_and_junk_between__connects),
           LEAT_TEST(second_flight__records_in_reverse__connects_at_once),
           LEAT_TEST(second_flight__repeated__has_fresh_numbers_and_connects),
           LEAT_TEST(second_flight__repeated_and_then_refused__has_no_number_twice),
           LEAT_TEST(randomness__of_a_handshake__is_ours))
