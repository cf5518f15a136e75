/* SPDX-License-Identifier: MIT */
/*
 * No index twice, seen from the wire: every protected datagram that leaves the shard is noted, and
 * at the end no two with the same receiver, SSRC and index may differ (RFC 3711 9.1, RFC 7714 8.4).
 * Sections end and come back with their SSRC, routes change between publishers with equal SSRCs,
 * and the shard's generator gives the same first numbers again and again.
 */
#include "world.h"

#include "harness.h"

#include <stdlib.h>

#define NOTES_MAX 100000
#define KNOWN_MAX 64

/* Which profile it is makes no difference to indexes; these two are negotiated everywhere. */
static const enum leat_srtp_profile profiles[] = {LEAT_SRTP_AES128_CM_SHA1_80,
                                                  LEAT_SRTP_AES128_CM_SHA1_32};

#define RTCP_TRAILER_LEN 14 /* index and tag, with either profile (RFC 3711 3.4) */

struct note {
    leat_handle receiver;
    uint64_t index, digest;
    uint32_t ssrc;
    bool is_rtcp;
};

/* The highest index of each stream, as its receiver computes it (RFC 3711 3.3.1). */
struct known {
    leat_handle receiver;
    uint32_t ssrc;
    uint64_t highest;
};

static struct note notes[NOTES_MAX];
static struct known known[KNOWN_MAX];
static size_t note_count, known_count;
static enum leat_srtp_profile profile;

static uint64_t index_of(leat_handle receiver, uint32_t ssrc, uint16_t seq)
{
    for (size_t i = 0; i < known_count; i++) {
        struct known *k = &known[i];
        if (k->receiver == receiver && k->ssrc == ssrc) {
            uint64_t index = k->highest + (uint64_t)(int16_t)(uint16_t)(seq - k->highest);
            k->highest = index > k->highest ? index : k->highest;
            return index;
        }
    }
    if (known_count == KNOWN_MAX) {
        abort();
    }
    known[known_count++] = (struct known){receiver, ssrc, seq};
    return seq;
}

/* FNV-1a. */
static uint64_t digest_of(const uint8_t *data, size_t len)
{
    uint64_t digest = 0xcbf29ce484222325;
    for (size_t i = 0; i < len; i++) {
        digest = (digest ^ data[i]) * 0x100000001b3;
    }
    return digest;
}

static bool take_note(struct world_client *c, const struct leat_tuple *tuple, const uint8_t *data,
                      size_t len)
{
    enum leat_demux kind = leat_demux(leat_span(data, len));
    (void)tuple;
    if (kind != LEAT_DEMUX_RTP && kind != LEAT_DEMUX_RTCP) {
        return true;
    }
    if (note_count == NOTES_MAX || len < RTCP_TRAILER_LEN) {
        abort();
    }
    struct note *n = &notes[note_count++];
    *n = (struct note){
        .receiver = c->handle, .digest = digest_of(data, len), .is_rtcp = kind == LEAT_DEMUX_RTCP};
    n->ssrc = leat_get_u32(data + (n->is_rtcp ? 4 : 8));
    if (n->is_rtcp) {
        n->index = leat_get_u32(data + len - RTCP_TRAILER_LEN);
    } else {
        n->index = index_of(c->handle, n->ssrc, leat_get_u16(data + 2));
    }
    return true;
}

static int order(const void *left, const void *right)
{
    const struct note *a = left, *b = right;
    if (a->receiver != b->receiver) {
        return a->receiver < b->receiver ? -1 : 1;
    }
    if (a->is_rtcp != b->is_rtcp) {
        return a->is_rtcp ? 1 : -1;
    }
    if (a->ssrc != b->ssrc) {
        return a->ssrc < b->ssrc ? -1 : 1;
    }
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Nothing of ours resends, so not even the same octets leave twice. */
static void check_notes(void)
{
    qsort(notes, note_count, sizeof notes[0], order);
    for (size_t i = 1; i < note_count; i++) {
        if (order(&notes[i - 1], &notes[i]) == 0) {
            LEAT_CHECK_ROW(i, notes[i - 1].digest == notes[i].digest);
            LEAT_CHECK_ROW(i, false && "an index went out twice");
        }
    }
}

/* ---- the run ---- */

static void set_profile(struct leat_command *open, struct leat_client_params *client)
{
    open->params.dtls.profiles[0] = client->dtls.profiles[0] = profile;
}

struct room {
    struct world *w;
    struct world_client *a, *c, *b, *d; /* two publishers of equal SSRCs, two subscribers */
};

static struct room room_new(size_t row)
{
    struct room r = {.w = world_new(40 + row)};
    profile = profiles[row];
    note_count = known_count = 0;
    r.a = world_add_with(r.w, WORLD_PUBLISHER, set_profile);
    r.c = world_add_with(r.w, WORLD_PUBLISHER, set_profile);
    r.b = world_add_with(r.w, WORLD_SUBSCRIBER, set_profile);
    r.d = world_add_with(r.w, WORLD_SUBSCRIBER, set_profile);
    r.c->video_ssrc = r.a->video_ssrc; /* each is learnt by MID */
    r.c->audio_ssrc = r.a->audio_ssrc;
    r.c->video_seq = r.a->video_seq;
    r.c->audio_seq = r.a->audio_seq;
    r.a->down.filter = r.c->down.filter = r.b->down.filter = r.d->down.filter = take_note;
    LEAT_CHECK_INT(world_route(r.w, r.b, r.a), 0);
    LEAT_CHECK_INT(world_route(r.w, r.d, r.c), 0);
    world_run(r.w, 1000);
    LEAT_CHECK(r.b->video.packets > 30);
    return r;
}

/* What the shard draws next is the same for each `turn`, first numbers of senders among it. */
static void rewind_random(struct world *w, unsigned turn)
{
    const uint8_t seed[32] = {0x11, (uint8_t)turn};
    leat_rng_init_seeded(world_rng(w), seed);
}

/* The subscriber's sections end and come back with the SSRCs that they had. Numbers that are asked
 * for again are refused, as are those too old; only a longer stay than before gets beyond them. */
static void end_and_return(struct room *r, struct world_client *to, struct world_client *from,
                           unsigned round)
{
    struct leat_media_desc senders[2];
    world_describe(&senders[0], LEAT_KIND_AUDIO, "0", to->our_audio_ssrc, false);
    world_describe(&senders[1], LEAT_KIND_VIDEO, "1", to->our_video_ssrc, false);
    LEAT_CHECK_INT(world_media(r->w, to, NULL, 0, senders, 0), 0);
    world_run(r->w, 60);
    rewind_random(r->w, round / 3);
    LEAT_CHECK_INT(world_media(r->w, to, NULL, 0, senders, 2), 0);
    LEAT_CHECK_INT(world_route(r->w, to, from), 0);
    world_run(r->w, 300 * (1 + round % 3));
}

static uint64_t refusals(struct world *w)
{
    struct leat_command *c = leat_command_new(LEAT_COMMAND_STATS, 0);
    uint64_t sum = 0;
    LEAT_CHECK_INT(world_execute(w, c, true), 0);
    for (size_t i = 0; i < c->stat_count; i++) {
        if (c->stats[i].type == LEAT_STAT_TRANSPORT) {
            sum += c->stats[i].transport.send_index_used;
        }
    }
    leat_command_free(c);
    return sum;
}

static void index__sections_end_and_come_back__none_twice(void)
{
    for (size_t row = 0; row < LEAT_ARRAY_LEN(profiles); row++) {
        struct room r = room_new(row);
        for (unsigned i = 0; i < 15; i++) {
            end_and_return(&r, r.b, i % 2 == 0 ? r.a : r.c, i);
            end_and_return(&r, r.d, i % 3 == 0 ? r.a : r.c, i);
        }
        LEAT_CHECK(refusals(r.w) > 50); /* it was tried */
        LEAT_CHECK(note_count > 600);
        LEAT_CHECK_INT(r.b->client.counters.bad_in + r.d->client.counters.bad_in, 0);
        check_notes();
        world_free(r.w);
    }
}

static void index__repointed_between_equal_ssrcs__none_twice(void)
{
    for (size_t row = 0; row < LEAT_ARRAY_LEN(profiles); row++) {
        struct room r = room_new(row);
        for (unsigned i = 0; i < 12; i++) {
            struct world_client *one = i % 2 == 0 ? r.c : r.a, *other = i % 2 == 0 ? r.a : r.c;
            world_hold(r.w, i % 3 == 0); /* with packets of the old source in the queue */
            world_run(r.w, 40);
            LEAT_CHECK_INT(world_route(r.w, r.b, one), 0);
            LEAT_CHECK_INT(world_route_one(r.w, r.d, "1", other, "1", i % 4 == 3), 0);
            LEAT_CHECK_INT(world_route_one(r.w, r.d, "0", i % 4 == 2 ? NULL : other, "0", false),
                           0);
            world_hold(r.w, false);
            world_run(r.w, 450);
        }
        LEAT_CHECK_INT(refusals(r.w), 0);
        LEAT_CHECK(note_count > 800);
        LEAT_CHECK(r.b->video.switches > 8);
        LEAT_CHECK_INT(r.b->client.counters.bad_in + r.d->client.counters.bad_in, 0);
        check_notes();
        world_free(r.w);
    }
}

static void index__publishers_come_anew_and_numbers_repeat__none_twice(void)
{
    for (size_t row = 0; row < LEAT_ARRAY_LEN(profiles); row++) {
        struct room r = room_new(row);
        for (unsigned i = 0; i < 6; i++) {
            uint16_t video = r.a->video_seq, audio = r.a->audio_seq;
            world_run(r.w, 200);
            r.a->video_seq = video; /* the publisher counts from there once more */
            r.a->audio_seq = audio;
            world_run(r.w, 200);
            if (i % 2 == 1) {
                world_close(r.w, r.c, LEAT_PEER_END_CLOSED);
                rewind_random(r.w, 0);
                r.c = world_add_with(r.w, WORLD_PUBLISHER, set_profile);
                r.c->video_ssrc = r.a->video_ssrc;
                r.c->down.filter = take_note;
                LEAT_CHECK_INT(world_route(r.w, r.d, r.c), 0);
                world_run(r.w, 500);
            }
        }
        LEAT_CHECK(note_count > 500);
        LEAT_CHECK_INT(r.b->client.counters.bad_in + r.d->client.counters.bad_in, 0);
        check_notes();
        world_free(r.w);
    }
}

LEAT_TESTS(LEAT_TEST(index__sections_end_and_come_back__none_twice),
           LEAT_TEST(index__repointed_between_equal_ssrcs__none_twice),
           LEAT_TEST(index__publishers_come_anew_and_numbers_repeat__none_twice))
