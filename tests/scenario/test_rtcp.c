/* SPDX-License-Identifier: MIT */
/* Reports and requests in both directions: what the daemon makes of RTCP, and what it sends itself.
 */
#include <stdlib.h>

#include "world.h"

#include "harness.h"

struct pair {
    struct world *w;
    struct world_client *a, *b;
};

static struct pair connect_with(uint64_t seed,
                                void (*change)(struct leat_command *, struct leat_client_params *))
{
    struct pair p = {.w = world_new(seed)};
    p.a = world_add_with(p.w, WORLD_PUBLISHER, change);
    p.b = world_add(p.w, WORLD_SUBSCRIBER);
    LEAT_CHECK_INT(world_route(p.w, p.b, p.a), 0);
    world_run(p.w, 1000);
    LEAT_CHECK(p.b->video.packets > 30);
    return p;
}

static struct pair connect_pair(uint64_t seed)
{
    return connect_with(seed, NULL);
}

static const struct leat_sfu_counters *counters(struct world *w)
{
    return leat_sfu_counters_of(world_sfu(w));
}

/** The record of one kind about an SSRC; zero when there is none. */
static struct leat_stat stat_of(struct world *w, enum leat_stat_type type, uint32_t ssrc)
{
    struct leat_stat found = {0};
    struct leat_command *c = leat_command_new(LEAT_COMMAND_STATS, 0);
    LEAT_CHECK_INT(world_execute(w, c, true), 0);
    for (size_t i = 0; i < c->stat_count; i++) {
        if (c->stats[i].type == type && c->stats[i].ssrc == ssrc) {
            found = c->stats[i];
        }
    }
    leat_command_free(c);
    return found;
}

static void send_pli(struct world_client *c, uint32_t ssrc)
{
    uint8_t octets[64];
    struct leat_writer w;
    leat_writer_init(&w, octets, sizeof octets);
    leat_rtcp_write_pli(&w, 0x99, ssrc);
    (void)world_send_rtcp(c, leat_span(octets, leat_writer_len(&w)));
}

static void send_fir(struct world_client *c, uint32_t ssrc, uint8_t seq_nr)
{
    uint8_t octets[64];
    struct leat_writer w;
    leat_writer_init(&w, octets, sizeof octets);
    leat_rtcp_write_fir(&w, 0x99, ssrc, seq_nr);
    (void)world_send_rtcp(c, leat_span(octets, leat_writer_len(&w)));
}

/* ---- keyframe requests ---- */

static void rtcp__two_hundred_requests_a_second__few_reach_the_publisher(void)
{
    struct world *w = world_new(1);
    struct world_client *a = world_add(w, WORLD_PUBLISHER), *b[4];
    for (size_t i = 0; i < LEAT_ARRAY_LEN(b); i++) {
        b[i] = world_add(w, WORLD_SUBSCRIBER);
        (void)world_route(w, b[i], a);
    }
    world_run(w, 1000);
    uint64_t requests = a->keyframe_requests;
    for (unsigned i = 0; i < 500; i++) {
        for (size_t k = 0; k < LEAT_ARRAY_LEN(b); k++) {
            send_pli(b[k], b[k]->our_video_ssrc);
        }
        world_run(w, 20);
    }
    LEAT_CHECK(a->keyframe_requests >= requests + 20); /* 10 s with one in 400 ms at most */
    LEAT_CHECK(a->keyframe_requests <= requests + 26);
    world_run(w, 1000);
    requests = a->keyframe_requests;
    world_run(w, 3000);
    LEAT_CHECK_INT(a->keyframe_requests, requests);
    LEAT_CHECK_INT(stat_of(w, LEAT_STAT_OUTBOUND, b[2]->our_video_ssrc).pli, 500);
    world_free(w);
}

static unsigned requests_to_drop;

static bool drop_requests(struct world_client *c, const struct leat_tuple *tuple,
                          const uint8_t *data, size_t len)
{
    (void)c;
    (void)tuple;
    bool is_request = leat_demux(leat_span(data, len)) == LEAT_DEMUX_RTCP &&
                      data[1] == LEAT_RTCP_PSFB; /* the first header is in the clear */
    if (is_request && requests_to_drop > 0) {
        requests_to_drop--;
        return false;
    }
    return true;
}

static void rtcp__first_requests_lost__asked_again(void)
{
    for (unsigned lost = 1; lost <= 3; lost++) {
        struct world *w = world_new(10 + lost);
        struct world_client *a = world_add(w, WORLD_PUBLISHER);
        a->down.filter = drop_requests;
        requests_to_drop = 0;
        world_run(w, 1000);
        requests_to_drop = lost;
        struct world_client *b = world_add(w, WORLD_SUBSCRIBER);
        (void)world_route(w, b, a);
        world_run(w, 200 + 1000 * lost - 300);
        LEAT_CHECK_INT(b->video.packets, 0);
        world_run(w, 300);
        LEAT_CHECK_INT(requests_to_drop, 0);
        LEAT_CHECK(b->video.packets > 0);
        LEAT_CHECK(!b->video.began_without_keyframe);
        world_free(w);
    }
}

static void rtcp__fir_repeated__counts_once(void)
{
    struct pair p = connect_pair(20);
    uint64_t requests = p.a->keyframe_requests;
    for (unsigned i = 0; i < 20; i++) {
        send_fir(p.b, p.b->our_video_ssrc, 7);
        world_run(p.w, 100);
    }
    LEAT_CHECK_INT(p.a->keyframe_requests, requests + 1);
    send_fir(p.b, p.b->our_video_ssrc, 8);
    world_run(p.w, 1000);
    LEAT_CHECK_INT(p.a->keyframe_requests, requests + 2);
    LEAT_CHECK_INT(stat_of(p.w, LEAT_STAT_OUTBOUND, p.b->our_video_ssrc).fir, 2);
    world_free(p.w);
}

static unsigned reduced;

static bool count_reduced(struct world_client *c, const struct leat_tuple *tuple,
                          const uint8_t *data, size_t len)
{
    (void)c;
    (void)tuple;
    reduced += leat_demux(leat_span(data, len)) == LEAT_DEMUX_RTCP && data[1] == LEAT_RTCP_PSFB;
    return true;
}

static void no_reduced_size(struct leat_command *open, struct leat_client_params *client)
{
    (void)client;
    open->tracks[0].is_rsize = open->tracks[1].is_rsize = false;
}

static void rtcp__no_reduced_size_agreed__requests_are_compounds(void)
{
    struct pair p = connect_with(30, no_reduced_size);
    reduced = 0;
    p.a->down.filter = count_reduced;
    uint64_t requests = p.a->keyframe_requests;
    send_pli(p.b, p.b->our_video_ssrc);
    world_run(p.w, 500);
    LEAT_CHECK_INT(p.a->keyframe_requests, requests + 1);
    LEAT_CHECK_INT(reduced, 0);
    world_free(p.w);
}

static void fir_only(struct leat_command *open, struct leat_client_params *client)
{
    (void)client;
    open->tracks[1].codecs[0].has_pli = false;
}

static unsigned firs, plis;

static void count_kinds(struct world_client *c, struct leat_span compound)
{
    struct leat_reader r;
    struct leat_rtcp p;
    (void)c;
    leat_reader_init(&r, compound.data, compound.len);
    while (leat_rtcp_next(&r, &p)) {
        firs += p.type == LEAT_RTCP_PSFB && p.count_or_fmt == LEAT_PSFB_FIR;
        plis += p.type == LEAT_RTCP_PSFB && p.count_or_fmt == LEAT_PSFB_PLI;
    }
}

static void rtcp__publisher_that_knows_fir_only__is_sent_fir(void)
{
    struct pair p = connect_with(31, fir_only);
    firs = plis = 0;
    p.a->on_rtcp = count_kinds;
    send_pli(p.b, p.b->our_video_ssrc);
    world_run(p.w, 500);
    LEAT_CHECK_INT(firs, 1);
    LEAT_CHECK_INT(plis, 0);
    LEAT_CHECK_INT(stat_of(p.w, LEAT_STAT_INBOUND, p.a->video_ssrc).fir >= 1, 1);
    world_free(p.w);
}

/* ---- sender reports ---- */

static void check_sync(const struct world_client *b, uint64_t least)
{
    LEAT_CHECK(b->sync_checks >= least);
    LEAT_CHECK(b->sync_error_us < 5000);
    LEAT_CHECK(b->audio.lag_us > -5000 && b->audio.lag_us < 60000);
    LEAT_CHECK(b->video.lag_us > -5000 && b->video.lag_us < 60000);
}

static void rtcp__publishers_clock_is_wrong__audio_and_video_stay_in_sync(void)
{
    static const int64_t errors_us[] = {0, 5000000, -5000000, 400ll * 86400 * 1000000};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(errors_us); i++) {
        struct world *w = world_new(40 + i);
        struct world_client *a = world_add(w, WORLD_PUBLISHER);
        struct world_client *b = world_add(w, WORLD_SUBSCRIBER);
        a->clock_error_us = errors_us[i];
        a->up.jitter_us = b->down.jitter_us = 10000;
        (void)world_route(w, b, a);
        world_run(w, 15000);
        check_sync(b, 9);
        world_free(w);
    }
}

static void rtcp__repointed_between_wrong_clocks__audio_and_video_stay_in_sync(void)
{
    struct world *w = world_new(50);
    struct world_client *a = world_add(w, WORLD_PUBLISHER), *c = world_add(w, WORLD_PUBLISHER);
    struct world_client *b = world_add(w, WORLD_SUBSCRIBER);
    a->clock_error_us = -2000000;
    c->clock_error_us = 3000000;
    for (unsigned i = 0; i < 10; i++) {
        (void)world_route(w, b, i % 2 == 0 ? a : c);
        world_run(w, 3000);
        check_sync(b, 2 * i + 1);
    }
    LEAT_CHECK_INT(b->video.gaps + b->audio.gaps, 0);
    world_free(w);
}

static void rtcp__publishers_clock_is_set__followed_at_once(void)
{
    static const int64_t steps_us[] = {2000000, -2000000, 3600000000, -3600000000};
    struct pair p = connect_pair(52);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(steps_us); i++) {
        p.a->clock_error_us += steps_us[i];
        world_run(p.w, 4000);
        p.b->sync_error_us = 0;
        p.b->sync_checks = 0;
        world_run(p.w, 5000);
        check_sync(p.b, 2);
    }
    world_free(p.w);
}

static void rtcp__reports_of_the_publisher_lost__arrival_stands_in(void)
{
    struct world *w = world_new(51);
    struct world_client *a = world_add(w, WORLD_PUBLISHER), *b = world_add(w, WORLD_SUBSCRIBER);
    a->next_sr_us = LEAT_NEVER;
    (void)world_route(w, b, a);
    world_run(w, 5000);
    check_sync(b, 3);
    world_free(w);
}

/* ---- receiver reports ---- */

static void rtcp__ten_percent_lost_upstream__reported_to_the_publisher(void)
{
    struct pair p = connect_pair(60);
    uint64_t lost_before = p.a->up.lost_rtp;
    unsigned fractions = 0, reports = 0;
    p.a->up.loss = 100;
    p.a->up.jitter_us = 20000;
    uint64_t blocks = 0;
    for (unsigned i = 0; i < 600; i++) {
        world_run(p.w, 50);
        if (p.a->blocks != blocks) {
            blocks = p.a->blocks;
            fractions += p.a->block_video.fraction_lost;
            reports++;
        }
    }
    LEAT_CHECK(reports > 20);
    double fraction = (double)fractions / reports / 256.0;
    LEAT_CHECK(fraction > 0.07 && fraction < 0.13);
    p.a->up.loss = 0;
    world_run(p.w, 3000);
    uint64_t lost = p.a->up.lost_rtp - lost_before;
    LEAT_CHECK_INT(p.a->block_audio.lost + p.a->block_video.lost, (int64_t)lost);
    LEAT_CHECK_INT(p.a->block_video.fraction_lost, 0);
    LEAT_CHECK((uint16_t)(p.a->video_seq - p.a->block_video.highest_seq) < 80);
    /* of a uniform delay of 0..J the mean difference of two packets is J / 3: 600 units of 90 kHz
     */
    LEAT_CHECK(p.a->block_video.jitter > 400 && p.a->block_video.jitter < 800);
    LEAT_CHECK(p.a->block_video.last_sr != 0);
    LEAT_CHECK(p.a->block_video.delay_since_sr < 65536 * 5 / 4);
    world_free(p.w);
}

static void rtcp__good_path__nothing_lost_and_no_jitter(void)
{
    struct pair p = connect_pair(61);
    world_run(p.w, 5000);
    LEAT_CHECK(p.a->blocks > 6);
    LEAT_CHECK_INT(p.a->block_audio.lost + p.a->block_video.lost, 0);
    LEAT_CHECK(p.a->block_audio.jitter < 2);
    world_free(p.w);
}

static void send_block(struct world_client *c, const struct leat_rtcp_block *block)
{
    uint8_t octets[128];
    struct leat_writer w;
    leat_writer_init(&w, octets, sizeof octets);
    leat_rtcp_write_rr(&w, 0x99, block, 1);
    (void)world_send_rtcp(c, leat_span(octets, leat_writer_len(&w)));
}

static void rtcp__report_of_a_receiver__loss_and_round_trip_are_known(void)
{
    struct pair p = connect_pair(62);
    p.b->up.delay_us = p.b->down.delay_us = 15000;
    while (p.b->video.lag_ntp == 0) {
        world_run(p.w, 1);
    }
    uint64_t ntp = p.b->video.lag_ntp;
    world_run(p.w, 1);
    while (p.b->video.lag_ntp == ntp) {
        world_run(p.w, 1);
    }
    struct leat_rtcp_block block = {.ssrc = p.b->our_video_ssrc,
                                    .fraction_lost = 64,
                                    .lost = -3,
                                    .jitter = 900,
                                    .last_sr = (uint32_t)(p.b->video.lag_ntp >> 16),
                                    .delay_since_sr = 65536 / 10};
    world_run(p.w, 100);
    send_block(p.b, &block);
    world_run(p.w, 20);
    struct leat_stat s = stat_of(p.w, LEAT_STAT_REMOTE_INBOUND, p.b->our_video_ssrc);
    LEAT_CHECK(s.fraction_lost == 0.25);
    LEAT_CHECK_INT(s.packets_lost, -3);
    LEAT_CHECK(s.jitter_s > 0.0099 && s.jitter_s < 0.0101);
    LEAT_CHECK(s.round_trip_s > 0.029 && s.round_trip_s < 0.033);
    block.last_sr += 65536 * 60; /* in the future: no measurement */
    block.fraction_lost = 0;
    send_block(p.b, &block);
    world_run(p.w, 20);
    s = stat_of(p.w, LEAT_STAT_REMOTE_INBOUND, p.b->our_video_ssrc);
    LEAT_CHECK(s.fraction_lost == 0.0);
    LEAT_CHECK(s.round_trip_s > 0.029 && s.round_trip_s < 0.033);
    LEAT_CHECK_INT(p.a->keyframe_requests <= 1, 1); /* loss is the receiver's own affair */
    world_free(p.w);
}

static uint64_t last_blocks;

static void count_blocks(struct world_client *c, struct leat_span compound)
{
    struct leat_reader r;
    struct leat_rtcp p;
    (void)c;
    leat_reader_init(&r, compound.data, compound.len);
    while (leat_rtcp_next(&r, &p)) {
        last_blocks += p.type == LEAT_RTCP_RR ? p.count_or_fmt : 0;
    }
}

static void rtcp__more_sources_than_fit_one_report__all_are_reported(void)
{
    struct pair p = connect_pair(63);
    struct leat_media_desc *tracks = calloc(40, sizeof *tracks);
    for (uint32_t i = 0; i < 40; i++) {
        char mid[8];
        (void)snprintf(mid, sizeof mid, "m%u", i);
        world_describe(&tracks[i], LEAT_KIND_AUDIO, mid, 0x7000 + i, true);
    }
    p.a->is_sending = false;
    world_run(p.w, 4000);
    LEAT_CHECK_INT(world_media(p.w, p.a, tracks, 40, NULL, 0), 0);
    for (uint32_t i = 0; i < 40; i++) {
        uint8_t packet[32] = {0x80, 111, 0, 1};
        leat_put_u32(packet + 8, 0x7000 + i);
        LEAT_CHECK_INT(world_send_rtp(p.a, leat_span(packet, sizeof packet)), 0);
    }
    last_blocks = 0;
    p.a->on_rtcp = count_blocks;
    uint64_t reports = p.a->receiver_reports;
    while (p.a->receiver_reports == reports) {
        world_run(p.w, 5);
    }
    world_run(p.w, 20);
    LEAT_CHECK_INT(last_blocks, 40);
    LEAT_CHECK_INT(p.a->receiver_reports, reports + 2);
    free(tracks);
    world_free(p.w);
}

/* ---- BYE ---- */

static void send_bye(struct world_client *a)
{
    uint8_t octets[64];
    struct leat_writer w;
    uint32_t ssrcs[2] = {a->audio_ssrc, a->video_ssrc};
    leat_writer_init(&w, octets, sizeof octets);
    leat_rtcp_write_bye(&w, ssrcs, 2);
    (void)world_send_rtcp(a, leat_span(octets, leat_writer_len(&w)));
}

static void rtcp__bye__track_stalls_soon(void)
{
    struct pair p = connect_pair(70);
    p.a->is_sending = false;
    send_bye(p.a);
    world_run(p.w, 1700);
    LEAT_CHECK_INT(p.a->track_video, LEAT_TRACK_STALLED);
    LEAT_CHECK_INT(p.a->track_audio, LEAT_TRACK_STALLED);
    LEAT_CHECK_INT(p.b->byes, 0);
    world_free(p.w);
}

static void rtcp__bye_and_a_new_ssrc__switches_at_once(void)
{
    struct pair p = connect_pair(71);
    for (unsigned i = 0; i < 5; i++) {
        send_bye(p.a);
        p.a->audio_ssrc += 16;
        p.a->video_ssrc += 16;
        world_run(p.w, 300);
    }
    LEAT_CHECK_INT(p.b->audio.renumbered, 0); /* not a packet was missed */
    LEAT_CHECK_INT(p.b->video.gaps + p.b->video.wrong, 0);
    LEAT_CHECK(!p.b->video.began_without_keyframe);
    LEAT_CHECK(p.b->audio.longest_pause_us < 50000);
    LEAT_CHECK(p.b->video.longest_pause_us < 500000);
    LEAT_CHECK_INT(p.a->track_video, LEAT_TRACK_LIVE);
    world_free(p.w);
}

static void rtcp__storm_of_byes__is_no_storm_of_events(void)
{
    struct pair p = connect_pair(72);
    unsigned tracks = p.a->track_events, routes = p.b->route_events;
    for (unsigned i = 0; i < 1000; i++) {
        send_bye(p.a);
        world_publish(p.a);
        world_run(p.w, 2);
    }
    LEAT_CHECK(p.a->track_events - tracks <= 12);
    LEAT_CHECK(p.b->route_events - routes <= 12);
    world_run(p.w, 500);
    LEAT_CHECK_INT(p.b->video.gaps + p.b->video.wrong + p.b->video.duplicates, 0);
    world_free(p.w);
}

static void rtcp__bye_of_a_receiver__reaches_nobody(void)
{
    struct pair p = connect_pair(73);
    uint8_t octets[64];
    struct leat_writer w;
    uint32_t ssrcs[3] = {0x99, p.b->our_video_ssrc, p.a->video_ssrc};
    leat_writer_init(&w, octets, sizeof octets);
    leat_rtcp_write_bye(&w, ssrcs, 3);
    (void)world_send_rtcp(p.b, leat_span(octets, leat_writer_len(&w)));
    uint64_t packets = p.b->video.packets;
    world_run(p.w, 1000);
    LEAT_CHECK_INT(p.a->byes, 0);
    LEAT_CHECK(p.b->video.packets >= packets + 49);
    world_free(p.w);
}

/* ---- compounds ---- */

static void rtcp__several_kinds_in_one_datagram__each_is_served(void)
{
    struct pair p = connect_pair(80);
    uint8_t octets[256];
    struct leat_writer w;
    struct leat_rtcp_block blocks[2] = {
        {.ssrc = p.b->our_audio_ssrc, .fraction_lost = 32},
        {.ssrc = p.b->our_video_ssrc, .fraction_lost = 128},
    };
    leat_writer_init(&w, octets, sizeof octets);
    leat_rtcp_write_rr(&w, 0x99, blocks, 2);
    leat_rtcp_write_sdes_cname(&w, 0x99, "fox");
    leat_write_u32(&w, 0x81cd0003); /* a generic NACK, which nobody agreed on */
    leat_write_u32(&w, 0x99);
    leat_write_u32(&w, p.b->our_video_ssrc);
    leat_write_u32(&w, 0x00010000);
    leat_rtcp_write_pli(&w, 0x99, p.b->our_video_ssrc);
    leat_rtcp_write_fir(&w, 0x99, p.b->our_video_ssrc, 1);
    uint64_t requests = p.a->keyframe_requests;
    (void)world_send_rtcp(p.b, leat_span(octets, leat_writer_len(&w)));
    world_run(p.w, 1000);
    LEAT_CHECK(stat_of(p.w, LEAT_STAT_REMOTE_INBOUND, p.b->our_audio_ssrc).fraction_lost == 0.125);
    LEAT_CHECK(stat_of(p.w, LEAT_STAT_REMOTE_INBOUND, p.b->our_video_ssrc).fraction_lost == 0.5);
    struct leat_stat s = stat_of(p.w, LEAT_STAT_OUTBOUND, p.b->our_video_ssrc);
    LEAT_CHECK_INT(s.pli, 1);
    LEAT_CHECK_INT(s.fir, 1);
    LEAT_CHECK(p.a->keyframe_requests > requests);
    LEAT_CHECK_INT(counters(p.w)->rtcp_malformed, 0);
    world_free(p.w);
}

static void rtcp__broken_behind_a_request__counted_and_the_request_served(void)
{
    struct pair p = connect_pair(81);
    uint8_t octets[64];
    struct leat_writer w;
    leat_writer_init(&w, octets, sizeof octets);
    leat_rtcp_write_pli(&w, 0x99, p.b->our_video_ssrc);
    leat_write_u32(&w, 0x81ce0020); /* longer than the datagram */
    uint64_t requests = p.a->keyframe_requests;
    (void)world_send_rtcp(p.b, leat_span(octets, leat_writer_len(&w)));
    world_run(p.w, 100);
    LEAT_CHECK_INT(p.a->keyframe_requests, requests + 1);
    LEAT_CHECK_INT(counters(p.w)->rtcp_malformed, 1);
    world_free(p.w);
}

static void rtcp__random_packets__disturb_nothing(void)
{
    struct pair p = connect_pair(82);
    for (unsigned i = 0; i < 3000; i++) {
        uint8_t octets[200];
        leat_rng_fill(world_rng(p.w), octets, sizeof octets);
        octets[0] = (uint8_t)(0x80 | (octets[0] & 0x3f));
        octets[1] = (uint8_t)(200 + octets[1] % 8);
        leat_put_u16(octets + 2, (uint16_t)(octets[2] % 50));
        leat_put_u32(octets + 4, 0x99);
        if (i % 2 == 0) {
            leat_put_u32(octets + 8, p.b->our_video_ssrc);
        }
        (void)world_send_rtcp(i % 3 == 0 ? p.a : p.b,
                              leat_span(octets, 8 + 4 * leat_rng_below(world_rng(p.w), 48)));
        if (i % 10 == 0) {
            world_run(p.w, 1);
        }
    }
    world_run(p.w, 1000);
    LEAT_CHECK(counters(p.w)->rtcp_malformed > 500);
    LEAT_CHECK_INT(p.b->video.gaps + p.b->video.wrong, 0);
    LEAT_CHECK(p.b->video.packets > 90);
    world_free(p.w);
}

static void rtcp__ssrcs_that_nobody_has__ignored(void)
{
    struct pair p = connect_pair(83);
    struct world_client *c = world_add(p.w, WORLD_SUBSCRIBER);
    (void)world_route(p.w, c, p.a);
    world_run(p.w, 1500);
    uint64_t requests = p.a->keyframe_requests;
    struct leat_rtcp_block block = {.ssrc = 0xdeadbeef, .fraction_lost = 255};
    for (unsigned i = 0; i < 20; i++) {
        send_pli(p.b, 0xdeadbeef);
        send_pli(p.b, c->our_video_ssrc); /* somebody else's */
        send_pli(p.b, p.a->video_ssrc);
        send_pli(p.b, p.b->our_audio_ssrc);
        send_fir(p.b, 0xdeadbeef, (uint8_t)i);
        send_block(p.b, &block);
        world_run(p.w, 100);
    }
    LEAT_CHECK_INT(p.a->keyframe_requests, requests);
    LEAT_CHECK_INT(stat_of(p.w, LEAT_STAT_OUTBOUND, c->our_video_ssrc).pli, 0);
    LEAT_CHECK_INT(p.b->video.gaps, 0);
    world_free(p.w);
}

static void send_sr_at(struct world_client *c, uint64_t ntp)
{
    uint8_t octets[64];
    struct leat_writer w;
    struct leat_rtcp_sender_info info = {.ntp = ntp, .rtp_timestamp = 1, .packets = 1, .octets = 1};
    leat_writer_init(&w, octets, sizeof octets);
    leat_rtcp_write_sr(&w, c->video_ssrc, &info, NULL, 0);
    (void)world_send_rtcp(c, leat_span(octets, leat_writer_len(&w)));
}

/** NTP times from both ends of the era: no overflow (sanitizers watch), and reports stay sane. */
static void sender_report__clock_of_another_age__ignored(void)
{
    struct world *w = world_new(3);
    struct world_client *a = world_add(w, WORLD_PUBLISHER);
    struct world_client *b = world_add(w, WORLD_SUBSCRIBER);
    (void)world_route(w, b, a);
    world_run(w, 2000);
    for (int i = 0; i < 3; i++) {
        send_sr_at(a, 0xffffffff00000000u);
        world_run(w, 700);
        send_sr_at(a, 2208988801ull << 32);
        world_run(w, 700);
        int32_t ahead = leat_seq32_diff(b->sr_rtp_video, b->video.last_ts);
        LEAT_CHECK_ROW(i, ahead > -90000 * 3 && ahead < 90000 * 3);
    }
    world_free(w);
}

LEAT_TESTS(LEAT_TEST(sender_report__clock_of_another_age__ignored),
           LEAT_TEST(rtcp__two_hundred_requests_a_second__few_reach_the_publisher),
           LEAT_TEST(rtcp__first_requests_lost__asked_again),
           LEAT_TEST(rtcp__fir_repeated__counts_once),
           LEAT_TEST(rtcp__no_reduced_size_agreed__requests_are_compounds),
           LEAT_TEST(rtcp__publisher_that_knows_fir_only__is_sent_fir),
           LEAT_TEST(rtcp__publishers_clock_is_wrong__audio_and_video_stay_in_sync),
           LEAT_TEST(rtcp__repointed_between_wrong_clocks__audio_and_video_stay_in_sync),
           LEAT_TEST(rtcp__publishers_clock_is_set__followed_at_once),
           LEAT_TEST(rtcp__reports_of_the_publisher_lost__arrival_stands_in),
           LEAT_TEST(rtcp__ten_percent_lost_upstream__reported_to_the_publisher),
           LEAT_TEST(rtcp__good_path__nothing_lost_and_no_jitter),
           LEAT_TEST(rtcp__report_of_a_receiver__loss_and_round_trip_are_known),
           LEAT_TEST(rtcp__more_sources_than_fit_one_report__all_are_reported),
           LEAT_TEST(rtcp__bye__track_stalls_soon),
           LEAT_TEST(rtcp__bye_and_a_new_ssrc__switches_at_once),
           LEAT_TEST(rtcp__storm_of_byes__is_no_storm_of_events),
           LEAT_TEST(rtcp__bye_of_a_receiver__reaches_nobody),
           LEAT_TEST(rtcp__several_kinds_in_one_datagram__each_is_served),
           LEAT_TEST(rtcp__broken_behind_a_request__counted_and_the_request_served),
           LEAT_TEST(rtcp__random_packets__disturb_nothing),
           LEAT_TEST(rtcp__ssrcs_that_nobody_has__ignored))
