/* SPDX-License-Identifier: MIT */
/* Routes that change while media flows: whatever a sender is pointed at, its receiver sees one
 * stream with continuous numbers that goes on with a keyframe. */
#include "world.h"

#include "harness.h"

#define LIMIT_US 400000u

static void check_whole(const struct world_stream *s)
{
    LEAT_CHECK_INT(s->wrong, 0);
    LEAT_CHECK_INT(s->duplicates, 0);
    LEAT_CHECK_INT(s->gaps, 0);
    LEAT_CHECK_INT(s->late, 0);
    LEAT_CHECK_INT(s->backward_ts, 0);
    LEAT_CHECK(!s->began_without_keyframe);
}

struct pair {
    struct world *w;
    struct world_client *a, *b;
};

/** A running call. */
static struct pair connect_pair(uint64_t seed)
{
    struct pair p = {.w = world_new(seed)};
    p.a = world_add(p.w, WORLD_PUBLISHER);
    p.b = world_add(p.w, WORLD_SUBSCRIBER);
    LEAT_CHECK_INT(world_route(p.w, p.b, p.a), 0);
    world_run(p.w, 1000);
    LEAT_CHECK(p.b->video.packets > 30);
    return p;
}

static void route__paused_and_resumed__goes_on_at_a_keyframe(void)
{
    struct pair p = connect_pair(1);
    LEAT_CHECK_INT(world_route_one(p.w, p.b, "1", p.a, "1", true), 0);
    LEAT_CHECK_INT(world_route_one(p.w, p.b, "0", p.a, "0", true), 0);
    world_run(p.w, 10);
    LEAT_CHECK_INT(p.b->route_video, LEAT_ROUTE_PAUSED);
    uint64_t video = p.b->video.packets, audio = p.b->audio.packets;
    world_run(p.w, 1000);
    LEAT_CHECK_INT(p.b->video.packets, video);
    LEAT_CHECK_INT(p.b->audio.packets, audio);
    uint64_t requests = p.a->keyframe_requests;
    LEAT_CHECK_INT(world_route(p.w, p.b, p.a), 0);
    world_run(p.w, 1000);
    LEAT_CHECK(p.a->keyframe_requests > requests);
    LEAT_CHECK(p.b->video.packets > video + 40);
    LEAT_CHECK(p.b->audio.packets > audio + 40);
    LEAT_CHECK_INT(p.b->route_video, LEAT_ROUTE_FLOWING);
    check_whole(&p.b->video);
    check_whole(&p.b->audio);
    world_free(p.w);
}

static void route__resumed_while_the_source_is_deaf__waits_for_the_keyframe(void)
{
    struct pair p = connect_pair(2);
    p.a->ignores_keyframe_requests = true;
    (void)world_route_one(p.w, p.b, "1", p.a, "1", true);
    world_run(p.w, 500);
    uint64_t video = p.b->video.packets;
    (void)world_route_one(p.w, p.b, "1", p.a, "1", false);
    uint64_t requests = p.a->keyframe_requests;
    world_run(p.w, 60000);
    LEAT_CHECK_INT(p.b->video.packets, video);
    LEAT_CHECK_INT(p.b->route_video, LEAT_ROUTE_KEYFRAME);
    /* asked again and again, for as long as somebody waits, but not faster than once in a second */
    LEAT_CHECK(p.a->keyframe_requests >= requests + 50);
    LEAT_CHECK(p.a->keyframe_requests <= requests + 65);
    p.a->ignores_keyframe_requests = false;
    world_run(p.w, 2500);
    LEAT_CHECK(p.b->video.packets > video + 40);
    check_whole(&p.b->video);
    world_free(p.w);
}

static void route__nobody_waits_any_more__source_is_left_alone(void)
{
    struct pair p = connect_pair(3);
    p.a->ignores_keyframe_requests = true;
    (void)world_route_one(p.w, p.b, "1", p.a, "1", true);
    (void)world_route_one(p.w, p.b, "1", p.a, "1", false);
    world_run(p.w, 3000);
    LEAT_CHECK_INT(world_route(p.w, p.b, NULL), 0);
    world_run(p.w, 100);
    uint64_t requests = p.a->keyframe_requests;
    world_run(p.w, 10000);
    LEAT_CHECK(p.a->keyframe_requests <= requests + 1);
    world_free(p.w);
}

static void route__repointed_again_and_again__one_stream(void)
{
    struct world *w = world_new(4);
    struct world_client *a = world_add(w, WORLD_PUBLISHER), *c = world_add(w, WORLD_PUBLISHER);
    struct world_client *b = world_add(w, WORLD_SUBSCRIBER);
    world_run(w, 1000);
    for (unsigned i = 0; i < 20; i++) {
        uint64_t packets = b->video.packets;
        LEAT_CHECK_INT(world_route(w, b, i % 2 == 0 ? a : c), 0);
        world_run(w, 350 + 37 * i);
        LEAT_CHECK_ROW(i, b->video.packets > packets + 8);
        LEAT_CHECK_ROW(i, b->video.source == (i % 2 == 0 ? a : c)->index);
        LEAT_CHECK_ROW(i, b->audio.source == (i % 2 == 0 ? a : c)->index);
        LEAT_CHECK_INT(b->route_video, LEAT_ROUTE_FLOWING);
        LEAT_CHECK_STR(b->route_reason, "");
    }
    LEAT_CHECK_INT(b->video.switches, 19);
    LEAT_CHECK_INT(b->audio.switches, 19);
    LEAT_CHECK_INT(b->video.renumbered + b->audio.renumbered, 0);
    check_whole(&b->video);
    check_whole(&b->audio);
    LEAT_CHECK(b->video.longest_pause_us < LIMIT_US + 100000);
    world_free(w);
}

static void route__repointed_between_equal_ssrcs__switches_at_once(void)
{
    struct world *w = world_new(5);
    struct world_client *a = world_add(w, WORLD_PUBLISHER), *c = world_add(w, WORLD_PUBLISHER);
    struct world_client *b = world_add(w, WORLD_SUBSCRIBER), *d = world_add(w, WORLD_SUBSCRIBER);
    c->video_ssrc = a->video_ssrc; /* c's are learnt by MID: the tables are each peer's own */
    c->audio_ssrc = a->audio_ssrc;
    c->video_seq = (uint16_t)(a->video_seq + 1000); /* and nothing else tells them apart */
    c->audio_seq = (uint16_t)(a->audio_seq + 1000);
    (void)world_route(w, b, a);
    (void)world_route(w, d, c);
    world_run(w, 1000);
    (void)world_route(w, b, c);
    (void)world_route(w, d, a);
    world_run(w, 1000);
    LEAT_CHECK_INT(b->video.source, c->index);
    LEAT_CHECK_INT(d->video.source, a->index);
    LEAT_CHECK_INT(b->video.switches + d->video.switches, 2);
    LEAT_CHECK(b->video.packets > 70 && d->video.packets > 70);
    check_whole(&b->video);
    check_whole(&d->video);
    check_whole(&b->audio);
    check_whole(&d->audio);
    world_free(w);
}

/** So many packets of a publisher at one instant. */
static void burst(struct world_client *a, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        world_publish(a);
    }
}

static void route__repointed_in_a_chunked_release__old_source_is_withdrawn(void)
{
    struct world *w = world_new(6);
    struct world_client *a = world_add(w, WORLD_PUBLISHER), *c = world_add(w, WORLD_PUBLISHER);
    struct world_client *b = world_add(w, WORLD_SUBSCRIBER), *d = world_add(w, WORLD_SUBSCRIBER);
    (void)world_route(w, b, a);
    (void)world_route(w, d, a);
    world_run(w, 1000);
    world_hold(w, true);
    burst(a, 150);
    world_run(w, 5); /* 300 packets wait for each of two receivers */
    LEAT_CHECK(world_release(w));
    uint64_t sent = leat_sfu_counters_of(world_sfu(w))->rtp_out;
    (void)world_route(w, b, c);
    (void)world_route(w, d, c);
    while (world_release(w)) {
    }
    LEAT_CHECK_INT(leat_sfu_counters_of(world_sfu(w))->rtp_out, sent);
    world_hold(w, false);
    world_run(w, 1000);
    LEAT_CHECK_INT(b->video.source, c->index);
    LEAT_CHECK_INT(b->video.switches, 1);
    LEAT_CHECK_INT(d->audio.switches, 1);
    check_whole(&b->video);
    check_whole(&b->audio);
    check_whole(&d->video);
    check_whole(&d->audio);
    world_free(w);
}

static void route__stopped_in_a_chunked_release__nothing_more_leaves(void)
{
    for (int is_paused = 0; is_paused < 2; is_paused++) {
        struct pair p = connect_pair(19);
        struct leat_media_desc senders[2];
        world_describe(&senders[0], LEAT_KIND_AUDIO, "0", p.b->our_audio_ssrc, false);
        world_describe(&senders[1], LEAT_KIND_VIDEO, "1", p.b->our_video_ssrc, false);
        world_hold(p.w, true);
        burst(p.a, 100);
        world_run(p.w, 5);
        uint64_t video = p.b->video.packets, audio = p.b->audio.packets;
        senders[1].is_active = false;
        if (is_paused) {
            (void)world_route_one(p.w, p.b, "1", p.a, "1", true);
        } else {
            (void)world_media(p.w, p.b, NULL, 0, senders, 2);
        }
        world_hold(p.w, false);
        world_run(p.w, 200);
        LEAT_CHECK_INT(p.b->video.packets, video);
        LEAT_CHECK(p.b->audio.packets >= audio + 100);
        senders[1].is_active = true;
        if (is_paused) {
            (void)world_route_one(p.w, p.b, "1", p.a, "1", false);
        } else {
            (void)world_media(p.w, p.b, NULL, 0, senders, 2);
        }
        world_run(p.w, 1500);
        LEAT_CHECK(p.b->video.packets > video + 40);
        check_whole(&p.b->video);
        check_whole(&p.b->audio);
        world_free(p.w);
    }
}

static void route__queue_over_its_size__sheds_without_a_hole(void)
{
    struct pair p = connect_pair(7);
    world_hold(p.w, true);
    burst(p.a, 400); /* 800 packets, 512 have room */
    world_run(p.w, 5);
    LEAT_CHECK(leat_sfu_counters_of(world_sfu(p.w))->queue_dropped > 140);
    world_hold(p.w, false);
    world_run(p.w, 2000);
    LEAT_CHECK_INT(p.b->video.renumbered, 1);
    LEAT_CHECK_INT(p.b->audio.renumbered, 1);
    LEAT_CHECK_INT(p.b->route_video, LEAT_ROUTE_FLOWING);
    LEAT_CHECK(p.b->video.packets > 250 + 90);
    check_whole(&p.b->video);
    check_whole(&p.b->audio);
    world_free(p.w);
}

static void route__to_null__stops_and_may_start_again(void)
{
    struct pair p = connect_pair(8);
    LEAT_CHECK_INT(world_route(p.w, p.b, NULL), 0);
    world_run(p.w, 10);
    LEAT_CHECK_INT(p.b->route_video, LEAT_ROUTE_NONE);
    LEAT_CHECK_INT(p.b->route_audio, LEAT_ROUTE_NONE);
    LEAT_CHECK_STR(p.b->route_reason, "set");
    uint64_t packets = p.b->video.packets;
    world_run(p.w, 1000);
    LEAT_CHECK_INT(p.b->video.packets, packets);
    LEAT_CHECK_INT(world_route(p.w, p.b, p.a), 0);
    world_run(p.w, 1000);
    LEAT_CHECK(p.b->video.packets > packets + 40);
    check_whole(&p.b->video);
    check_whole(&p.b->audio);
    world_free(p.w);
}

static void route__source_closes__ends_with_its_reason(void)
{
    struct pair p = connect_pair(9);
    world_close(p.w, p.a, LEAT_PEER_END_CLOSED);
    world_run(p.w, 100);
    LEAT_CHECK_INT(p.b->route_video, LEAT_ROUTE_NONE);
    LEAT_CHECK_INT(p.b->route_audio, LEAT_ROUTE_NONE);
    LEAT_CHECK_STR(p.b->route_reason, "source_ended");
    LEAT_CHECK_INT(p.b->state, LEAT_PEER_CONNECTED);
    struct world_client *c = world_add(p.w, WORLD_PUBLISHER);
    LEAT_CHECK_INT(world_route(p.w, p.b, c), 0);
    world_run(p.w, 1000);
    LEAT_CHECK_INT(p.b->video.source, c->index);
    check_whole(&p.b->video);
    check_whole(&p.b->audio);
    world_free(p.w);
}

static void route__source_section_goes__ends_with_its_reason(void)
{
    struct pair p = connect_pair(10);
    struct leat_media_desc audio;
    world_describe(&audio, LEAT_KIND_AUDIO, "0", p.a->audio_ssrc, true);
    LEAT_CHECK_INT(world_media(p.w, p.a, &audio, 1, NULL, 0), 0);
    world_run(p.w, 1000);
    LEAT_CHECK_INT(p.b->route_video, LEAT_ROUTE_NONE);
    LEAT_CHECK_STR(p.b->route_reason, "section_ended");
    LEAT_CHECK_INT(p.a->track_video, LEAT_TRACK_ENDED);
    LEAT_CHECK_INT(p.b->route_audio, LEAT_ROUTE_FLOWING);
    LEAT_CHECK(p.b->audio.packets > 70);
    check_whole(&p.b->audio);
    world_free(p.w);
}

static void route__inactive_section__suspends_and_goes_on_at_a_keyframe(void)
{
    struct pair p = connect_pair(11);
    struct leat_media_desc senders[2];
    world_describe(&senders[0], LEAT_KIND_AUDIO, "0", p.b->our_audio_ssrc, false);
    world_describe(&senders[1], LEAT_KIND_VIDEO, "1", p.b->our_video_ssrc, false);
    senders[1].is_active = false;
    LEAT_CHECK_INT(world_media(p.w, p.b, NULL, 0, senders, 2), 0);
    world_run(p.w, 10);
    LEAT_CHECK_INT(p.b->route_video, LEAT_ROUTE_SUSPENDED);
    uint64_t packets = p.b->video.packets;
    world_run(p.w, 1000);
    LEAT_CHECK_INT(p.b->video.packets, packets);
    senders[1].is_active = true;
    LEAT_CHECK_INT(world_media(p.w, p.b, NULL, 0, senders, 2), 0);
    world_run(p.w, 1500);
    LEAT_CHECK_INT(p.b->route_video, LEAT_ROUTE_FLOWING);
    LEAT_CHECK(p.b->video.packets > packets + 50);
    check_whole(&p.b->video);
    check_whole(&p.b->audio);
    LEAT_CHECK_INT(p.b->audio.renumbered, 0);
    world_free(p.w);
}

static void route__sender_with_another_ssrc__is_another_stream(void)
{
    struct pair p = connect_pair(12);
    struct leat_media_desc senders[2];
    world_describe(&senders[0], LEAT_KIND_AUDIO, "0", p.b->our_audio_ssrc, false);
    world_describe(&senders[1], LEAT_KIND_VIDEO, "1", p.b->our_video_ssrc ^ 0x00aa0000, false);
    LEAT_CHECK_INT(world_media(p.w, p.b, NULL, 0, senders, 2), 0);
    world_run(p.w, 100);
    LEAT_CHECK_INT(p.b->route_video, LEAT_ROUTE_NONE);
    p.b->our_video_ssrc = senders[1].ssrc;
    memset(&p.b->video, 0, sizeof p.b->video);
    LEAT_CHECK_INT(world_route_one(p.w, p.b, "1", p.a, "1", false), 0);
    world_run(p.w, 1000);
    LEAT_CHECK(p.b->video.packets > 30);
    LEAT_CHECK(p.b->video.highest_seq < 0x8000 + 100);
    check_whole(&p.b->video);
    check_whole(&p.b->audio);
    world_free(p.w);
}

static void route__codec_taken_away_in_a_chunked_release__nothing_wrong_leaves(void)
{
    struct pair p = connect_pair(13);
    struct leat_media_desc senders[2];
    world_describe(&senders[0], LEAT_KIND_AUDIO, "0", p.b->our_audio_ssrc, false);
    world_describe(&senders[1], LEAT_KIND_VIDEO, "1", p.b->our_video_ssrc, false);
    senders[1].codecs[0].name = LEAT_CODEC_VP9;
    world_hold(p.w, true);
    burst(p.a, 50);
    world_run(p.w, 5);
    LEAT_CHECK_INT(world_media(p.w, p.b, NULL, 0, senders, 2), 0);
    world_hold(p.w, false);
    uint64_t packets = p.b->video.packets, audio = p.b->audio.packets;
    world_run(p.w, 500);
    LEAT_CHECK_INT(p.b->video.packets, packets);
    LEAT_CHECK_INT(p.b->audio.packets >= audio + 70, 1);
    senders[1].codecs[0].name = LEAT_CODEC_VP8;
    LEAT_CHECK_INT(world_media(p.w, p.b, NULL, 0, senders, 2), 0);
    world_run(p.w, 1500);
    LEAT_CHECK(p.b->video.packets > packets + 40);
    check_whole(&p.b->video);
    check_whole(&p.b->audio);
    world_free(p.w);
}

/** A packet of a publisher that is padding and nothing else (RFC 3550 5.1). */
static void send_padding(struct world_client *a)
{
    uint8_t packet[64] = {0x90, 96};
    const uint8_t ext[8] = {0xbe, 0xde, 0x00, 0x01, 0x40, '1', 0, 0};
    leat_put_u16(packet + 2, a->video_seq++);
    leat_put_u32(packet + 4, a->video_ts);
    leat_put_u32(packet + 8, a->video_ssrc);
    memcpy(packet + 12, ext, sizeof ext);
    packet[0] |= 0x20;
    packet[20 + 15] = 16;
    (void)world_send_rtp(a, leat_span(packet, 20 + 16));
}

static void route__padding_only_packets__leave_no_hole(void)
{
    struct pair p = connect_pair(14);
    for (unsigned i = 0; i < 100; i++) {
        world_publish(p.a); /* media and padding arrive as one burst */
        send_padding(p.a);
        if (i % 3 == 0) {
            send_padding(p.a);
        }
        world_run(p.w, 20);
    }
    LEAT_CHECK(leat_sfu_counters_of(world_sfu(p.w))->rtp_padding_only > 130);
    LEAT_CHECK(p.b->video.packets > 180);
    LEAT_CHECK_INT(p.b->video.wrong, 0);
    LEAT_CHECK_INT(p.b->video.gaps, 0);
    LEAT_CHECK_INT(p.b->video.backward_ts, 0);
    LEAT_CHECK_INT(p.b->audio.gaps, 0);
    world_free(p.w);
}

/** Packets of a payload type that nobody agreed on. */
static void send_odd(struct world_client *a, uint32_t ssrc, uint16_t seq)
{
    uint8_t packet[64] = {0x90, 99};
    const uint8_t ext[8] = {0xbe, 0xde, 0x00, 0x01, 0x40, '1', 0, 0};
    leat_put_u16(packet + 2, seq);
    leat_put_u32(packet + 8, ssrc);
    memcpy(packet + 12, ext, sizeof ext);
    (void)world_send_rtp(a, leat_span(packet, sizeof packet));
}

static void route__odd_payload_type_in_the_stream__leaves_no_hole(void)
{
    struct pair p = connect_pair(16);
    for (unsigned i = 0; i < 20; i++) {
        send_odd(p.a, p.a->video_ssrc, p.a->video_seq++);
        world_run(p.w, 200);
    }
    LEAT_CHECK(p.b->video.packets > 100);
    check_whole(&p.b->video);
    LEAT_CHECK_INT(p.b->audio.renumbered, 0);
    world_free(p.w);
}

static void route__odd_payload_type_beside_the_stream__does_not_disturb_it(void)
{
    struct pair p = connect_pair(17);
    uint64_t packets = p.b->video.packets, requests = p.a->keyframe_requests;
    for (uint16_t i = 0; i < 50; i++) {
        send_odd(p.a, 0x66660000, i);
        world_run(p.w, 20);
    }
    LEAT_CHECK(p.b->video.packets >= packets + 49);
    LEAT_CHECK_INT(p.a->keyframe_requests, requests);
    LEAT_CHECK_INT(p.b->video.renumbered, 0);
    check_whole(&p.b->video);
    world_free(p.w);
}

static void route__source_declares_another_ssrc__switches_at_once(void)
{
    struct pair p = connect_pair(18);
    for (unsigned i = 0; i < 6; i++) {
        struct leat_media_desc tracks[2];
        p.a->audio_ssrc += 0x1000;
        p.a->video_ssrc += 0x1000;
        world_describe(&tracks[0], LEAT_KIND_AUDIO, "0", p.a->audio_ssrc, true);
        world_describe(&tracks[1], LEAT_KIND_VIDEO, "1", p.a->video_ssrc, true);
        LEAT_CHECK_INT(world_media(p.w, p.a, tracks, 2, NULL, 0), 0);
        world_run(p.w, 700);
    }
    LEAT_CHECK(p.b->audio.longest_pause_us < 50000);
    LEAT_CHECK(p.b->video.longest_pause_us < LIMIT_US + 50000);
    LEAT_CHECK_INT(p.b->route_video, LEAT_ROUTE_FLOWING);
    check_whole(&p.b->video);
    check_whole(&p.b->audio);
    world_free(p.w);
}

static void route__ends_that_do_not_exist__change_nothing(void)
{
    struct pair p = connect_pair(15);
    struct world_client *gone = world_add(p.w, WORLD_PUBLISHER);
    world_close(p.w, gone, LEAT_PEER_END_CLOSED);
    LEAT_CHECK_INT(world_route_one(p.w, p.b, "1", gone, "1", false), LEAT_E_MISSING);
    LEAT_CHECK_INT(world_route_one(p.w, p.b, "7", p.a, "1", false), LEAT_E_MISSING);
    LEAT_CHECK_INT(world_route_one(p.w, p.b, "1", p.a, "7", false), LEAT_E_MISSING);
    LEAT_CHECK_INT(world_route_one(p.w, gone, "1", p.a, "1", false), LEAT_E_MISSING);
    LEAT_CHECK_INT(world_route_one(p.w, p.a, "1", p.b, "1", false), LEAT_E_MISSING);
    uint64_t packets = p.b->video.packets;
    world_run(p.w, 500);
    LEAT_CHECK(p.b->video.packets > packets + 20);
    check_whole(&p.b->video);
    world_free(p.w);
}

LEAT_TESTS(LEAT_TEST(route__paused_and_resumed__goes_on_at_a_keyframe),
           LEAT_TEST(route__resumed_while_the_source_is_deaf__waits_for_the_keyframe),
           LEAT_TEST(route__nobody_waits_any_more__source_is_left_alone),
           LEAT_TEST(route__repointed_again_and_again__one_stream),
           LEAT_TEST(route__repointed_between_equal_ssrcs__switches_at_once),
           LEAT_TEST(route__repointed_in_a_chunked_release__old_source_is_withdrawn),
           LEAT_TEST(route__stopped_in_a_chunked_release__nothing_more_leaves),
           LEAT_TEST(route__queue_over_its_size__sheds_without_a_hole),
           LEAT_TEST(route__to_null__stops_and_may_start_again),
           LEAT_TEST(route__source_closes__ends_with_its_reason),
           LEAT_TEST(route__source_section_goes__ends_with_its_reason),
           LEAT_TEST(route__inactive_section__suspends_and_goes_on_at_a_keyframe),
           LEAT_TEST(route__sender_with_another_ssrc__is_another_stream),
           LEAT_TEST(route__codec_taken_away_in_a_chunked_release__nothing_wrong_leaves),
           LEAT_TEST(route__padding_only_packets__leave_no_hole),
           LEAT_TEST(route__odd_payload_type_in_the_stream__leaves_no_hole),
           LEAT_TEST(route__odd_payload_type_beside_the_stream__does_not_disturb_it),
           LEAT_TEST(route__source_declares_another_ssrc__switches_at_once),
           LEAT_TEST(route__ends_that_do_not_exist__change_nothing))
