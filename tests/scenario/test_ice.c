/* SPDX-License-Identifier: MIT */
/* Addresses that change, checks that stop, requests that are forged or replayed: media goes where
 * an authentic check sent it, and nowhere else. */
#include "world.h"

#include "harness.h"

static void check_fair(const struct world_stream *s)
{
    LEAT_CHECK_INT(s->wrong, 0);
    LEAT_CHECK_INT(s->duplicates, 0);
    LEAT_CHECK_INT(s->renumbered, 0);
    LEAT_CHECK(!s->began_without_keyframe);
}

static const struct leat_sfu_counters *counters(struct world *w)
{
    return leat_sfu_counters_of(world_sfu(w));
}

struct pair {
    struct world *w;
    struct world_client *a, *b;
};

static void frequent_consent(struct leat_command *open, struct leat_client_params *client)
{
    (void)open;
    client->consent_us = 500000;
}

/** A running call. */
static struct pair connect_pair(uint64_t seed)
{
    struct pair p = {.w = world_new(seed)};
    p.a = world_add(p.w, WORLD_PUBLISHER);
    p.b = world_add_with(p.w, WORLD_SUBSCRIBER, frequent_consent);
    LEAT_CHECK_INT(world_route(p.w, p.b, p.a), 0);
    world_run(p.w, 1000);
    LEAT_CHECK(p.b->video.packets > 30);
    return p;
}

/* ---- captured datagrams ---- */

static uint8_t captured[LEAT_PACKET_MAX];
static size_t captured_len;
static enum leat_demux captured_class;

/** The last datagram of the class. */
static bool capture(struct world_client *c, const struct leat_tuple *tuple, const uint8_t *data,
                    size_t len)
{
    (void)c;
    (void)tuple;
    if (leat_demux(leat_span(data, len)) == captured_class) {
        memcpy(captured, data, len);
        captured_len = len;
    }
    return true;
}

/* ---- addresses that change ---- */

static void ice__receiver_behind_a_nat_that_rebinds__media_follows_its_check(void)
{
    struct pair p = connect_pair(1);
    struct leat_addr moved = p.b->client.params.tuple.local;
    for (unsigned i = 0; i < 5; i++) {
        moved.port++;
        uint64_t stray = world_stray(p.w);
        leat_client_rebind(&p.b->client, &moved, world_now(p.w));
        world_run(p.w, 700);
        LEAT_CHECK(world_stray(p.w) - stray <= 4);
    }
    LEAT_CHECK(p.b->video.gaps <= 5);
    LEAT_CHECK(p.b->video.longest_pause_us < 50000);
    check_fair(&p.b->video);
    check_fair(&p.b->audio);
    world_free(p.w);
}

static void ice__nat_rebinds_unnoticed__the_next_consent_check_repairs_it(void)
{
    struct pair p = connect_pair(2);
    p.a->client.params.tuple.local.port += 7;
    p.b->client.params.tuple.local.port += 7;
    world_run(p.w, 5000);
    LEAT_CHECK(p.b->video.longest_pause_us > 100000); /* it was a real one */
    LEAT_CHECK(p.b->video.longest_pause_us < 2600000);
    uint64_t packets = p.b->video.packets;
    world_run(p.w, 1000);
    LEAT_CHECK(p.b->video.packets >= packets + 49);
    check_fair(&p.b->video);
    world_free(p.w);
}

static struct leat_addr watched;
static uint64_t at_watched, at_other;

static bool count_media(struct world_client *c, const struct leat_tuple *tuple, const uint8_t *data,
                        size_t len)
{
    (void)c;
    if (leat_demux(leat_span(data, len)) == LEAT_DEMUX_RTP) {
        *(leat_addr_equal(&tuple->local, &watched) ? &at_watched : &at_other) += 1;
    }
    return true;
}

/** Puts a request with the lowest priority in the place of the client's own. */
static bool lower_priority(struct world_client *c, const struct leat_tuple *tuple,
                           const uint8_t *data, size_t len)
{
    struct leat_stun_msg m;
    uint8_t request[512];
    struct leat_writer writer;
    if (leat_stun_parse(&m, leat_span(data, len)) != LEAT_STUN_OK) {
        return true;
    }
    leat_writer_init(&writer, request, sizeof request);
    leat_stun_begin(&writer, LEAT_STUN_REQUEST, 1, m.tid);
    leat_stun_add_username(&writer, leat_span_str(c->server.ufrag),
                           leat_span_str(c->client.params.local.ufrag));
    leat_stun_add_u64(&writer, LEAT_STUN_ATTR_ICE_CONTROLLING, c->client.tie_breaker);
    leat_stun_add_flag(&writer, LEAT_STUN_ATTR_USE_CANDIDATE);
    leat_stun_add_u32(&writer, LEAT_STUN_ATTR_PRIORITY, 1);
    size_t request_len = leat_stun_end(&writer, &c->client.remote_key);
    world_inject(c->world, request, request_len, tuple);
    return false;
}

static void ice__switch_to_a_network_of_lower_priority__followed_when_the_client_insists(void)
{
    struct pair p = connect_pair(3);
    p.b->also = p.b->client.params.tuple.local; /* the old network still works */
    watched = world_address(9, 7000);
    at_watched = at_other = 0;
    p.b->up.filter = lower_priority;
    p.b->down.filter = count_media;
    world_run(p.w, 700); /* so that the old tuple was checked within the last second */
    leat_client_rebind(&p.b->client, &watched, world_now(p.w));
    uint64_t before = at_other;
    world_run(p.w, 300);
    LEAT_CHECK_INT(at_watched, 0); /* one check is not enough while the better tuple lives */
    LEAT_CHECK(at_other >= before + 28);
    world_run(p.w, 400);
    LEAT_CHECK(at_watched > 10);
    before = at_other;
    world_run(p.w, 1000);
    LEAT_CHECK_INT(at_other, before);
    LEAT_CHECK_INT(p.b->video.gaps + p.b->audio.gaps, 0);
    LEAT_CHECK(p.b->video.longest_pause_us < 50000);
    check_fair(&p.b->video);
    world_free(p.w);
}

static bool replies_from_where_it_was_asked(struct world_client *c, const struct leat_tuple *tuple,
                                            const uint8_t *data, size_t len)
{
    (void)data;
    (void)len;
    at_other += leat_addr_equal(&tuple->remote, &c->client.params.tuple.remote) ? 0 : 1;
    return true;
}

static void use_second_address(struct leat_command *open, struct leat_client_params *client)
{
    static const uint8_t ip[4] = {192, 0, 2, 2};
    (void)open;
    client->tuple.remote = leat_addr_v4(ip, 3479);
}

static void ice__daemon_with_two_addresses__answers_from_the_one_that_was_asked(void)
{
    struct world *w = world_new(4);
    struct world_client *a = world_add_with(w, WORLD_PUBLISHER, use_second_address);
    struct world_client *b = world_add_with(w, WORLD_SUBSCRIBER, use_second_address);
    struct world_client *c = world_add(w, WORLD_SUBSCRIBER);
    struct world_client *all[] = {a, b, c};
    at_other = 0;
    for (size_t i = 0; i < LEAT_ARRAY_LEN(all); i++) {
        all[i]->down.filter = replies_from_where_it_was_asked;
    }
    (void)world_route(w, b, a);
    (void)world_route(w, c, a);
    world_run(w, 2000);
    LEAT_CHECK(b->video.packets > 70 && c->video.packets > 70);
    LEAT_CHECK_INT(at_other, 0);
    world_free(w);
}

/* ---- consent ---- */

static void ice__silence_for_thirty_seconds__ends_once_with_consent_expired(void)
{
    struct pair p = connect_pair(5);
    p.a->up.is_cut = true;
    world_run(p.w, 27000);
    LEAT_CHECK_INT(p.a->state, LEAT_PEER_CONNECTED);
    world_run(p.w, 3500);
    LEAT_CHECK_INT(p.a->state, LEAT_PEER_ENDED);
    LEAT_CHECK_INT(p.a->end, LEAT_PEER_END_CONSENT_EXPIRED);
    LEAT_CHECK_INT(p.b->route_video, LEAT_ROUTE_NONE);
    LEAT_CHECK_STR(p.b->route_reason, "source_ended");
    uint64_t unknown = counters(p.w)->stun_unknown_ufrag, stray = world_stray(p.w);
    p.a->up.is_cut = false;
    world_inject_check(p.w,
                       &(struct world_check){p.a->server.ufrag, p.a->client.params.local.ufrag,
                                             p.a->server.pwd, 1, false, false, false},
                       world_address(1, 1));
    world_run(p.w, 5000);
    LEAT_CHECK(counters(p.w)->stun_unknown_ufrag > unknown);
    LEAT_CHECK_INT(world_stray(p.w), stray);
    LEAT_CHECK_INT(p.a->ended_events, 1);
    LEAT_CHECK_INT(p.b->state, LEAT_PEER_CONNECTED);
    LEAT_CHECK_INT(leat_sfu_peer_count(world_sfu(p.w)), 1);
    world_free(p.w);
}

static void ice__media_without_checks__is_no_consent(void)
{
    struct pair p = connect_pair(6);
    captured_class = LEAT_DEMUX_RTP;
    p.a->client.params.consent_us = 3600u * 1000000u; /* it goes on sending but never asks again */
    p.a->client.check_us = LEAT_NEVER;
    world_run(p.w, 31000);
    LEAT_CHECK_INT(p.a->end, LEAT_PEER_END_CONSENT_EXPIRED);
    world_free(p.w);
}

static void ice__no_check_at_all__ends_with_ice_timeout(void)
{
    struct world *w = world_new(7);
    struct world_client *a = world_add(w, WORLD_PUBLISHER);
    a->up.is_cut = true;
    world_run(w, 29900);
    LEAT_CHECK_INT(a->state, LEAT_PEER_NEW);
    world_run(w, 200);
    LEAT_CHECK_INT(a->state, LEAT_PEER_ENDED);
    LEAT_CHECK_INT(a->end, LEAT_PEER_END_ICE_TIMEOUT);
    LEAT_CHECK_INT(a->ended_events, 1);
    LEAT_CHECK_INT(leat_sfu_peer_count(world_sfu(w)), 0);
    world_free(w);
}

static void ice__tuple_left_behind__is_forgotten_after_thirty_seconds(void)
{
    struct pair p = connect_pair(8);
    struct leat_tuple old = world_from(p.a->client.params.tuple.local);
    struct leat_addr moved = world_address(3, 3);
    const uint8_t rtp[40] = {0x80, 96};
    leat_client_rebind(&p.a->client, &moved, world_now(p.w));
    world_run(p.w, 25000);
    uint64_t unknown = counters(p.w)->unknown_tuple;
    world_inject(p.w, rtp, sizeof rtp, &old);
    world_run(p.w, 6000);
    LEAT_CHECK_INT(counters(p.w)->unknown_tuple, unknown);
    world_inject(p.w, rtp, sizeof rtp, &old);
    world_run(p.w, 10);
    LEAT_CHECK_INT(counters(p.w)->unknown_tuple, unknown + 1);
    LEAT_CHECK_INT(p.a->state, LEAT_PEER_CONNECTED);
    world_free(p.w);
}

/* ---- restart ---- */

static void ice__restart_in_a_call__media_and_keys_stay(void)
{
    struct pair p = connect_pair(9);
    const struct leat_srtp *keys[2] = {p.a->client.srtp, p.b->client.srtp};
    uint64_t jobs = counters(p.w)->jobs;
    for (unsigned i = 0; i < 5; i++) {
        struct world_check old = world_check_of(p.b);
        char server_ufrag[sizeof p.b->server.ufrag], client_ufrag[64], pwd[64];
        (void)snprintf(server_ufrag, sizeof server_ufrag, "%s", old.server_ufrag);
        (void)snprintf(client_ufrag, sizeof client_ufrag, "%s", old.client_ufrag);
        (void)snprintf(pwd, sizeof pwd, "%s", old.pwd);
        uint64_t answered = p.b->client.counters.checks_answered;
        world_restart_ice(p.w, p.a);
        world_restart_ice(p.w, p.b);
        world_run(p.w, 1000);
        LEAT_CHECK(p.b->client.counters.checks_answered > answered);
        uint64_t refused = counters(p.w)->stun_refused + counters(p.w)->stun_unknown_ufrag;
        uint64_t stray = world_stray(p.w);
        world_inject_check(
            p.w, &(struct world_check){server_ufrag, client_ufrag, pwd, 9, false, false, false},
            world_address(1, 1));
        world_run(p.w, 10);
        LEAT_CHECK_INT(counters(p.w)->stun_refused + counters(p.w)->stun_unknown_ufrag,
                       refused + 1);
        LEAT_CHECK_INT(world_stray(p.w), stray);
    }
    world_run(p.w, 31000);
    LEAT_CHECK_INT(p.a->state, LEAT_PEER_CONNECTED);
    LEAT_CHECK_INT(p.b->state, LEAT_PEER_CONNECTED);
    LEAT_CHECK_INT(p.b->video.gaps + p.b->audio.gaps, 0);
    LEAT_CHECK(p.b->video.longest_pause_us < 30000);
    check_fair(&p.b->video);
    check_fair(&p.b->audio);
    LEAT_CHECK_INT(counters(p.w)->jobs, jobs);
    LEAT_CHECK(p.a->client.srtp == keys[0] && p.b->client.srtp == keys[1]);
    world_free(p.w);
}

/** The daemon's half of a restart: the client learns of it later, or never. */
static void restart_daemon(struct world *w, struct world_client *c, struct leat_ice_local *server,
                           struct leat_ice_local *client)
{
    struct leat_command *command = leat_command_new(LEAT_COMMAND_RESTART_ICE, c->handle);
    leat_ice_local_make(server, world_rng(w), 0, 77);
    leat_ice_local_make(client, world_rng(w), 1, 12345);
    command->ice_local = *server;
    (void)leat_text_copy(command->remote_ufrag, sizeof command->remote_ufrag,
                         leat_span_str(client->ufrag));
    LEAT_CHECK_INT(world_execute(w, command, false), 0);
}

static void ice__restarted_twice_before_the_client_moves__the_running_one_is_answered(void)
{
    struct pair p = connect_pair(10);
    struct leat_ice_local server, client;
    restart_daemon(p.w, p.b, &server, &client);
    world_run(p.w, 1000);
    restart_daemon(p.w, p.b, &server, &client);
    uint64_t answered = p.b->client.counters.checks_answered;
    world_run(p.w, 25000);
    LEAT_CHECK(p.b->client.counters.checks_answered >= answered + 45);
    p.b->server = server;
    leat_client_restart_ice(&p.b->client, &client, server.ufrag, server.pwd, world_now(p.w));
    world_run(p.w, 40000);
    LEAT_CHECK_INT(p.b->state, LEAT_PEER_CONNECTED);
    LEAT_CHECK_INT(p.b->video.gaps, 0);
    LEAT_CHECK(p.b->video.longest_pause_us < 30000);
    world_free(p.w);
}

static void ice__restarted_with_a_ufrag_that_is_taken__changes_nothing(void)
{
    struct pair p = connect_pair(11);
    struct leat_command *command = leat_command_new(LEAT_COMMAND_RESTART_ICE, p.b->handle);
    command->ice_local = p.a->server;
    (void)leat_text_copy(command->remote_ufrag, sizeof command->remote_ufrag,
                         leat_span_str("other"));
    LEAT_CHECK_INT(world_execute(p.w, command, false), LEAT_E_EXISTS);
    world_run(p.w, 35000);
    LEAT_CHECK_INT(p.a->state, LEAT_PEER_CONNECTED);
    LEAT_CHECK_INT(p.b->state, LEAT_PEER_CONNECTED);
    LEAT_CHECK_INT(p.b->video.gaps, 0);
    world_free(p.w);
}

/* ---- requests that must do nothing ---- */

static void ice__captured_request_from_elsewhere__moves_nothing(void)
{
    struct pair p = connect_pair(12);
    captured_class = LEAT_DEMUX_STUN;
    captured_len = 0;
    p.b->up.filter = capture;
    world_run(p.w, 1000);
    LEAT_CHECK(captured_len > 0);
    uint64_t refused = counters(p.w)->stun_refused;
    for (uint16_t i = 0; i < 100; i++) {
        struct leat_tuple thief = world_from(world_address(66, (uint16_t)(1000 + i)));
        world_inject(p.w, captured, captured_len, &thief);
        world_run(p.w, 10);
    }
    LEAT_CHECK_INT(counters(p.w)->stun_refused, refused + 100);
    LEAT_CHECK_INT(world_stray(p.w), 0);
    LEAT_CHECK_INT(p.b->video.gaps, 0);
    world_free(p.w);
}

static void ice__request_that_overtakes_the_original__media_stays_where_the_client_is(void)
{
    struct pair p = connect_pair(13);
    captured_class = LEAT_DEMUX_STUN;
    captured_len = 0;
    p.b->up.filter = capture;
    p.b->up.delay_us = 30000;
    uint64_t sent = p.b->client.counters.checks_sent;
    while (p.b->client.counters.checks_sent == sent) {
        world_run(p.w, 1);
    }
    struct leat_tuple thief = world_from(world_address(66, 1000)); /* it is there first */
    world_inject(p.w, captured, captured_len, &thief);
    world_run(p.w, 5000);
    LEAT_CHECK(world_stray(p.w) <= 2); /* the answer, and at most what fits before the next check */
    LEAT_CHECK_INT(p.b->video.gaps, 0);
    LEAT_CHECK(p.b->video.longest_pause_us < 50000);
    world_free(p.w);
}

static void ice__strangers__get_no_answer(void)
{
    struct pair p = connect_pair(14);
    static const uint8_t bare[20] = {0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42, 1};
    struct leat_tuple stranger = world_from(world_address(66, 1000));
    struct world_check unknown = world_check_of(p.b), wrong_pwd = world_check_of(p.b),
                       other = world_check_of(p.b), none = world_check_of(p.b);
    unknown.server_ufrag = "nobodyknows1";
    wrong_pwd.pwd = "not the password of anybody";
    other.client_ufrag = "else";
    none.has_no_integrity = true;
    uint64_t before = counters(p.w)->stun_unknown_ufrag, refused = counters(p.w)->stun_refused;
    for (unsigned i = 0; i < 100; i++) {
        world_inject(p.w, bare, sizeof bare, &stranger);
        world_inject_check(p.w, &unknown, stranger.remote);
        world_inject_check(p.w, &wrong_pwd, stranger.remote);
        world_inject_check(p.w, &other, stranger.remote);
        world_inject_check(p.w, &none, stranger.remote);
        world_run(p.w, 1);
    }
    LEAT_CHECK_INT(counters(p.w)->stun_unknown_ufrag, before + 200);
    LEAT_CHECK_INT(counters(p.w)->stun_refused, refused + 300);
    LEAT_CHECK_INT(world_stray(p.w), 0);
    LEAT_CHECK_INT(p.b->video.gaps, 0);
    world_free(p.w);
}

static void ice__media_and_dtls_from_a_tuple_that_was_not_checked__are_ignored(void)
{
    struct pair p = connect_pair(15);
    struct leat_tuple stranger = world_from(world_address(66, 1000));
    struct leat_tuple others = world_from(p.b->client.params.tuple.local);
    static const uint8_t hello[60] = {22, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 47, 1};
    captured_class = LEAT_DEMUX_RTP;
    p.a->up.filter = capture;
    p.a->up.delay_us = 30000;
    for (unsigned i = 0; i < 50; i++) {
        world_run(p.w, 20);
        world_inject(p.w, captured, captured_len, &stranger); /* before the original arrives */
        world_inject(p.w, captured, captured_len, &others);
        world_inject(p.w, hello, sizeof hello, &stranger);
    }
    world_run(p.w, 100);
    LEAT_CHECK_INT(counters(p.w)->unknown_tuple, 100);
    LEAT_CHECK_INT(world_stray(p.w), 0);
    LEAT_CHECK_INT(p.b->video.duplicates + p.b->video.gaps + p.b->video.late, 0);
    LEAT_CHECK_INT(p.b->audio.duplicates + p.b->audio.gaps + p.b->audio.late, 0);
    check_fair(&p.b->video);
    world_free(p.w);
}

/* ---- a tuple that belongs to another peer ---- */

static void ice__address_of_an_active_peer__cannot_be_taken(void)
{
    struct pair p = connect_pair(16);
    struct world_client *c = world_add(p.w, WORLD_SUBSCRIBER);
    world_run(p.w, 1000);
    LEAT_CHECK_INT(c->state, LEAT_PEER_CONNECTED);
    struct leat_addr of_a = p.a->client.params.tuple.local;
    for (unsigned i = 0; i < 20; i++) {
        struct world_check f = world_check_of(c);
        world_inject_check(p.w, &f, of_a);
        world_run(p.w, 50);
    }
    LEAT_CHECK_INT(counters(p.w)->stun_foreign_tuple, 20);
    LEAT_CHECK_INT(p.b->video.gaps, 0);
    LEAT_CHECK(p.b->video.longest_pause_us < 30000);
    world_free(p.w);
}

static void ice__address_of_a_peer_that_left_it__goes_to_its_new_owner(void)
{
    struct pair p = connect_pair(17);
    struct leat_addr of_a = p.a->client.params.tuple.local, moved = world_address(8, 800);
    p.a->client.params.tuple.local = moved; /* unnoticed: no check yet */
    p.a->up.is_cut = true;
    world_run(p.w, 1100);
    struct world_client *c = world_add(p.w, WORLD_PUBLISHER);
    c->client.params.tuple.local = of_a;
    world_run(p.w, 1000);
    LEAT_CHECK_INT(c->state, LEAT_PEER_CONNECTED);
    LEAT_CHECK_INT(counters(p.w)->stun_foreign_tuple, 0);
    p.a->up.is_cut = false;
    world_run(p.w, 3000);
    uint64_t packets = p.b->video.packets;
    world_run(p.w, 1000);
    LEAT_CHECK(p.b->video.packets >= packets + 49);
    LEAT_CHECK_INT(p.b->video.source, p.a->index);
    LEAT_CHECK_INT(world_route(p.w, p.b, c), 0);
    world_run(p.w, 1000);
    LEAT_CHECK_INT(p.b->video.source, c->index);
    LEAT_CHECK_INT(p.a->state, LEAT_PEER_CONNECTED);
    world_free(p.w);
}

static void ice__request_that_gets_an_error__takes_no_tuple(void)
{
    struct pair p = connect_pair(18);
    struct world_client *c = world_add(p.w, WORLD_SUBSCRIBER);
    world_run(p.w, 1000);
    p.a->is_sending = false;
    world_run(p.w, 1100);
    struct world_check f = world_check_of(c);
    f.is_controlled = true;
    p.a->client.check_us = LEAT_NEVER; /* so that nothing repairs the tuple */
    world_run(p.w, 1100);
    world_inject_check(p.w, &f, p.a->client.params.tuple.local);
    world_run(p.w, 10);
    uint64_t packets = p.b->video.packets;
    p.a->is_sending = true;
    world_run(p.w, 500);
    LEAT_CHECK(p.b->video.packets >= packets + 24);
    world_free(p.w);
}

LEAT_TESTS(LEAT_TEST(ice__receiver_behind_a_nat_that_rebinds__media_follows_its_check),
           LEAT_TEST(ice__nat_rebinds_unnoticed__the_next_consent_check_repairs_it),
           LEAT_TEST(ice__switch_to_a_network_of_lower_priority__followed_when_the_client_insists),
           LEAT_TEST(ice__daemon_with_two_addresses__answers_from_the_one_that_was_asked),
           LEAT_TEST(ice__silence_for_thirty_seconds__ends_once_with_consent_expired),
           LEAT_TEST(ice__media_without_checks__is_no_consent),
           LEAT_TEST(ice__no_check_at_all__ends_with_ice_timeout),
           LEAT_TEST(ice__tuple_left_behind__is_forgotten_after_thirty_seconds),
           LEAT_TEST(ice__restart_in_a_call__media_and_keys_stay),
           LEAT_TEST(ice__restarted_twice_before_the_client_moves__the_running_one_is_answered),
           LEAT_TEST(ice__restarted_with_a_ufrag_that_is_taken__changes_nothing),
           LEAT_TEST(ice__captured_request_from_elsewhere__moves_nothing),
           LEAT_TEST(ice__request_that_overtakes_the_original__media_stays_where_the_client_is),
           LEAT_TEST(ice__strangers__get_no_answer),
           LEAT_TEST(ice__media_and_dtls_from_a_tuple_that_was_not_checked__are_ignored),
           LEAT_TEST(ice__address_of_an_active_peer__cannot_be_taken),
           LEAT_TEST(ice__address_of_a_peer_that_left_it__goes_to_its_new_owner),
           LEAT_TEST(ice__request_that_gets_an_error__takes_no_tuple))
