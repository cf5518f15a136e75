/* SPDX-License-Identifier: MIT */
/* A publisher's audio and video reach subscribers, whole and in order, over good paths and bad
 * ones. */
#include "world.h"

#include "harness.h"

/** A stream without a fault of the daemon's; what the network lost may be missing. */
static void check_clean(const struct world_stream *s)
{
    LEAT_CHECK_INT(s->wrong, 0);
    LEAT_CHECK_INT(s->duplicates, 0);
    LEAT_CHECK_INT(s->backward_ts, 0);
    LEAT_CHECK(!s->began_without_keyframe);
}

/** The same, and nothing is missing. */
static void check_whole(const struct world_stream *s)
{
    check_clean(s);
    LEAT_CHECK_INT(s->gaps, 0);
    LEAT_CHECK_INT(s->late, 0);
}

static void call__good_network__everything_arrives_in_order(void)
{
    struct world *w = world_new(1);
    struct world_client *a = world_add(w, WORLD_PUBLISHER);
    struct world_client *b = world_add(w, WORLD_SUBSCRIBER);
    LEAT_CHECK_INT(world_route(w, b, a), 0);
    world_run(w, 3000);
    LEAT_CHECK_INT(a->state, LEAT_PEER_CONNECTED);
    LEAT_CHECK_INT(b->state, LEAT_PEER_CONNECTED);
    LEAT_CHECK(b->audio.packets > 100);
    LEAT_CHECK(b->video.packets > 100);
    check_whole(&b->audio);
    check_whole(&b->video);
    LEAT_CHECK_INT(b->video.renumbered + b->audio.renumbered, 0);
    LEAT_CHECK_INT(b->route_video, LEAT_ROUTE_FLOWING);
    LEAT_CHECK_INT(b->route_audio, LEAT_ROUTE_FLOWING);
    LEAT_CHECK_INT(a->track_video, LEAT_TRACK_LIVE);
    LEAT_CHECK(b->sender_reports > 0);
    LEAT_CHECK(a->receiver_reports > 0);
    LEAT_CHECK_INT(a->broken_rtcp + b->broken_rtcp, 0);
    world_free(w);
}

/** What a subscriber has and what the network took, so that nothing is left to the daemon. */
static uint64_t accounted(const struct world_client *a, const struct world_client *b)
{
    return b->audio.packets + b->video.packets + a->up.lost_rtp + b->down.lost_rtp;
}

static void spoil(struct world_link *link, unsigned per_mille)
{
    link->loss = link->duplicate = link->reorder = per_mille;
    link->jitter_us = 30000;
}

static void run_bad_network(uint64_t seed, unsigned per_mille)
{
    struct world *w = world_new(seed);
    struct world_client *a = world_add(w, WORLD_PUBLISHER);
    struct world_client *b = world_add(w, WORLD_SUBSCRIBER);
    (void)world_route(w, b, a);
    world_run(w, 500);
    a->is_sending = false;
    world_run(w, 100);
    uint64_t sent = a->client.counters.rtp_out, had = accounted(a, b);
    spoil(&a->up, per_mille);
    spoil(&b->down, per_mille);
    a->is_sending = true;
    world_run(w, 3000);
    a->is_sending = false;
    world_run(w, 1000);
    sent = a->client.counters.rtp_out - sent;
    LEAT_CHECK(sent >= 290);
    LEAT_CHECK(a->up.lost_rtp > 0 && b->down.lost_rtp > 0 && b->video.late > 0);
    LEAT_CHECK_ROW(seed, accounted(a, b) - had == sent);
    check_clean(&b->audio);
    check_clean(&b->video);
    LEAT_CHECK_INT(b->audio.renumbered + b->video.renumbered, 0);
    LEAT_CHECK_INT(b->audio.switches + b->video.switches, 0);
    world_free(w);
}

static void call__loss_and_disorder__only_what_the_network_lost_is_missing(void)
{
    static const unsigned rates[] = {50, 100, 200, 300};
    for (uint64_t seed = 0; seed < 20; seed++) {
        run_bad_network(100 + seed, rates[seed % LEAT_ARRAY_LEN(rates)]);
    }
}

static void call__late_join__begins_with_a_keyframe_that_was_asked_for(void)
{
    struct world *w = world_new(2);
    struct world_client *a = world_add(w, WORLD_PUBLISHER);
    world_run(w, 3000);
    LEAT_CHECK_INT(a->keyframe_requests, 0);
    struct world_client *b = world_add(w, WORLD_SUBSCRIBER);
    (void)world_route(w, b, a);
    world_run(w, 1000);
    LEAT_CHECK(a->keyframe_requests >= 1);
    LEAT_CHECK(a->keyframe_requests <= 3);
    LEAT_CHECK(b->video.packets > 20);
    check_whole(&b->video);
    check_whole(&b->audio);
    world_free(w);
}

static void call__sixteen_subscribers__each_gets_everything(void)
{
    struct world *w = world_new(3);
    struct world_client *a = world_add(w, WORLD_PUBLISHER), *b[16];
    for (size_t i = 0; i < LEAT_ARRAY_LEN(b); i++) {
        b[i] = world_add(w, WORLD_SUBSCRIBER);
        (void)world_route(w, b[i], a);
    }
    world_run(w, 4000);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(b); i++) {
        LEAT_CHECK_ROW(i, b[i]->video.packets > 150 && b[i]->audio.packets > 150);
        check_whole(&b[i]->video);
        check_whole(&b[i]->audio);
    }
    LEAT_CHECK(a->keyframe_requests <= 6);
    world_free(w);
}

static void call__publisher_restarts_with_new_ssrcs__numbers_go_on(void)
{
    struct world *w = world_new(4);
    struct world_client *a = world_add(w, WORLD_PUBLISHER);
    struct world_client *b = world_add(w, WORLD_SUBSCRIBER);
    (void)world_route(w, b, a);
    world_run(w, 2000);
    for (uint32_t i = 1; i <= 5; i++) {
        uint64_t packets = b->video.packets;
        a->audio_ssrc += 0x100;
        a->video_ssrc += 0x100;
        a->audio_seq = (uint16_t)leat_rng_u32(world_rng(w));
        a->video_seq = (uint16_t)leat_rng_u32(world_rng(w));
        a->audio_ts = leat_rng_u32(world_rng(w));
        a->video_ts = leat_rng_u32(world_rng(w));
        world_run(w, 1500);
        LEAT_CHECK_INT(b->video.renumbered, i);
        LEAT_CHECK_INT(b->audio.renumbered, i);
        LEAT_CHECK(b->video.packets > packets + 40);
    }
    check_whole(&b->video);
    check_whole(&b->audio);
    LEAT_CHECK(b->video.longest_pause_us < 700000);
    world_free(w);
}

static void call__publisher_restarts_on_its_ssrc__numbers_go_on(void)
{
    struct world *w = world_new(5);
    struct world_client *a = world_add(w, WORLD_PUBLISHER);
    struct world_client *b = world_add(w, WORLD_SUBSCRIBER);
    (void)world_route(w, b, a);
    world_run(w, 2000);
    a->video_seq = (uint16_t)(a->video_seq + 9000);
    a->video_ts += 0x70000000;
    a->wants_keyframe = true;
    world_run(w, 1000);
    LEAT_CHECK_INT(b->video.renumbered, 1);
    LEAT_CHECK(b->video.packets > 120);
    check_whole(&b->video);
    world_free(w);
}

static void call__source_numbers_wrap__nothing_happens(void)
{
    struct world *w = world_new(6);
    struct world_client *a = world_add(w, WORLD_PUBLISHER);
    struct world_client *b = world_add(w, WORLD_SUBSCRIBER);
    a->audio_seq = a->video_seq = 65500;
    a->audio_ts = a->video_ts = UINT32_MAX - 30000;
    (void)world_route(w, b, a);
    world_run(w, 3000);
    LEAT_CHECK(a->video_seq < 1000); /* it did wrap */
    LEAT_CHECK_INT(b->video.renumbered + b->audio.renumbered, 0);
    LEAT_CHECK(b->video.packets > 120);
    check_whole(&b->video);
    check_whole(&b->audio);
    world_free(w);
}

static void call__mute_for_five_seconds__track_stalls_and_resumes(void)
{
    struct world *w = world_new(7);
    struct world_client *a = world_add(w, WORLD_PUBLISHER);
    struct world_client *b = world_add(w, WORLD_SUBSCRIBER);
    (void)world_route(w, b, a);
    world_run(w, 2000);
    a->is_sending = false;
    world_run(w, 2500);
    LEAT_CHECK_INT(a->track_video, LEAT_TRACK_LIVE);
    world_run(w, 2500);
    LEAT_CHECK_INT(a->track_video, LEAT_TRACK_STALLED);
    LEAT_CHECK_INT(a->track_audio, LEAT_TRACK_STALLED);
    LEAT_CHECK_INT(b->route_video, LEAT_ROUTE_WAITING);
    a->is_sending = true;
    world_run(w, 1000);
    LEAT_CHECK_INT(a->track_video, LEAT_TRACK_LIVE);
    LEAT_CHECK_INT(a->track_audio, LEAT_TRACK_LIVE);
    LEAT_CHECK_INT(b->route_video, LEAT_ROUTE_FLOWING);
    LEAT_CHECK_INT(b->route_audio, LEAT_ROUTE_FLOWING);
    check_whole(&b->video);
    check_whole(&b->audio);
    LEAT_CHECK_INT(b->video.renumbered, 0);
    world_free(w);
}

static void call__loop_to_itself__own_media_comes_back(void)
{
    struct world *w = world_new(8);
    struct world_client *a = world_add(w, WORLD_BOTH);
    LEAT_CHECK_INT(world_route(w, a, a), 0);
    world_run(w, 3000);
    LEAT_CHECK(a->video.packets > 120);
    LEAT_CHECK(a->audio.packets > 120);
    check_whole(&a->video);
    check_whole(&a->audio);
    world_close(w, a, LEAT_PEER_END_CLOSED);
    world_run(w, 100);
    LEAT_CHECK_INT(a->end, LEAT_PEER_END_CLOSED);
    world_free(w);
}

static void call__everybody_sees_everybody__each_gets_his_neighbour(void)
{
    struct world *w = world_new(9);
    struct world_client *c[6];
    for (size_t i = 0; i < LEAT_ARRAY_LEN(c); i++) {
        c[i] = world_add(w, WORLD_BOTH);
    }
    for (size_t i = 0; i < LEAT_ARRAY_LEN(c); i++) {
        LEAT_CHECK_INT(world_route(w, c[i], c[(i + 1) % LEAT_ARRAY_LEN(c)]), 0);
    }
    world_run(w, 3000);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(c); i++) {
        LEAT_CHECK_INT(c[i]->video.source, (i + 1) % LEAT_ARRAY_LEN(c));
        LEAT_CHECK(c[i]->video.packets > 100);
        check_whole(&c[i]->video);
        check_whole(&c[i]->audio);
    }
    world_free(w);
}

/** Four in one room, each watching the next; one after the other leaves and comes back. */
static void call__leave_and_rejoin_twenty_times__the_rest_goes_on(void)
{
    struct world *w = world_new(10);
    struct world_client *c[4];
    for (size_t i = 0; i < LEAT_ARRAY_LEN(c); i++) {
        c[i] = world_add(w, WORLD_BOTH);
    }
    for (size_t i = 0; i < LEAT_ARRAY_LEN(c); i++) {
        (void)world_route(w, c[i], c[(i + 1) % 4]);
    }
    world_run(w, 1000);
    for (size_t round = 0; round < 20; round++) {
        struct world_client *leaver = c[round % 4], *watcher = c[(round + 3) % 4];
        uint64_t packets = watcher->video.packets;
        if (round % 3 == 0) { /* reload: nobody says good-bye */
            world_rejoin(w, leaver);
            world_run(w, 1200); /* until its address is no longer the old peer's */
        } else {
            world_close(w, leaver, LEAT_PEER_END_CLOSED);
            world_rejoin(w, leaver);
        }
        LEAT_CHECK_INT(world_route(w, leaver, c[(round + 1) % 4]), 0);
        LEAT_CHECK_INT(world_route(w, watcher, leaver), 0);
        world_run(w, 1500);
        LEAT_CHECK_ROW(round, leaver->state == LEAT_PEER_CONNECTED);
        LEAT_CHECK_ROW(round, leaver->video.packets > 20);
        LEAT_CHECK_ROW(round, watcher->video.packets > packets + 20);
    }
    world_run(w, 31000);
    LEAT_CHECK_INT(leat_sfu_peer_count(world_sfu(w)), 4); /* the reloaded ones lost consent */
    for (size_t i = 0; i < LEAT_ARRAY_LEN(c); i++) {
        check_whole(&c[i]->video);
        check_whole(&c[i]->audio);
    }
    world_free(w);
}

LEAT_TESTS(LEAT_TEST(call__good_network__everything_arrives_in_order),
           LEAT_TEST(call__loss_and_disorder__only_what_the_network_lost_is_missing),
           LEAT_TEST(call__late_join__begins_with_a_keyframe_that_was_asked_for),
           LEAT_TEST(call__sixteen_subscribers__each_gets_everything),
           LEAT_TEST(call__publisher_restarts_with_new_ssrcs__numbers_go_on),
           LEAT_TEST(call__publisher_restarts_on_its_ssrc__numbers_go_on),
           LEAT_TEST(call__source_numbers_wrap__nothing_happens),
           LEAT_TEST(call__mute_for_five_seconds__track_stalls_and_resumes),
           LEAT_TEST(call__loop_to_itself__own_media_comes_back),
           LEAT_TEST(call__everybody_sees_everybody__each_gets_his_neighbour),
           LEAT_TEST(call__leave_and_rejoin_twenty_times__the_rest_goes_on))
