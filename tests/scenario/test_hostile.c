/* SPDX-License-Identifier: MIT */
/* What strangers and hostile peers send costs neither memory nor another peer's packets. Each test
 * runs beside an established call that must lose nothing. */
#include <malloc.h>
#include <stdlib.h>

#include "world.h"

#include "harness.h"

#define BATCH 50

extern size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

/** Heap in use. */
static size_t allocated(void)
{
    if (__sanitizer_get_current_allocated_bytes != NULL) {
        return __sanitizer_get_current_allocated_bytes();
    }
    return mallinfo2().uordblks;
}

/** A call that must not notice. */
struct call {
    struct world *w;
    struct world_client *a, *b;
    size_t heap;
};

static struct call begin(uint64_t seed)
{
    struct call call = {.w = world_new(seed)};
    call.a = world_add(call.w, WORLD_PUBLISHER);
    call.b = world_add(call.w, WORLD_SUBSCRIBER);
    LEAT_CHECK_INT(world_route(call.w, call.b, call.a), 0);
    world_run(call.w, 1000);
    call.heap = allocated();
    return call;
}

/** @param growth  octets of heap that may stay */
static void check_and_end(struct call *call, size_t growth)
{
    uint64_t packets = call->b->video.packets;
    world_run(call->w, 500);
    size_t heap = allocated();
    LEAT_CHECK(heap < call->heap + growth);
    LEAT_CHECK(call->b->video.packets >= packets + 24);
    LEAT_CHECK_INT(call->b->video.gaps + call->b->audio.gaps, 0);
    LEAT_CHECK_INT(call->b->video.wrong + call->b->audio.wrong, 0);
    LEAT_CHECK_INT(call->b->video.duplicates + call->b->audio.duplicates, 0);
    LEAT_CHECK(call->b->video.longest_pause_us < 30000);
    LEAT_CHECK_INT(call->a->state, LEAT_PEER_CONNECTED);
    LEAT_CHECK_INT(call->b->state, LEAT_PEER_CONNECTED);
    world_free(call->w);
}

static const struct leat_sfu_counters *counters(struct world *w)
{
    return leat_sfu_counters_of(world_sfu(w));
}

static size_t random_octets(struct world *w, uint8_t *octets, size_t most)
{
    size_t len = leat_rng_below(world_rng(w), (uint32_t)most + 1);
    leat_rng_fill(world_rng(w), octets, len);
    return len;
}

static struct leat_tuple stranger(struct world *w)
{
    return world_from(world_address((uint8_t)leat_rng_u32(world_rng(w)),
                                    (uint16_t)(1 + leat_rng_below(world_rng(w), 65535))));
}

static void hostile__random_datagrams_from_strangers__nothing_happens(void)
{
    struct call call = begin(1);
    uint8_t octets[1500];
    for (unsigned i = 0; i < 50000; i++) {
        size_t len = random_octets(call.w, octets, i % 100 == 0 ? sizeof octets : 120);
        struct leat_tuple tuple = stranger(call.w);
        world_inject(call.w, octets, len, &tuple);
        if (i % BATCH == 0) {
            world_run(call.w, 1);
        }
    }
    LEAT_CHECK_INT(world_stray(call.w), 0);
    LEAT_CHECK_INT(leat_sfu_peer_count(world_sfu(call.w)), 2);
    check_and_end(&call, 4096);
}

static void hostile__random_datagrams_from_a_valid_tuple__nothing_happens(void)
{
    struct call call = begin(2);
    struct world_client *victim = world_add(call.w, WORLD_BOTH);
    struct world_client *watcher = world_add(call.w, WORLD_SUBSCRIBER);
    (void)world_route(call.w, watcher, victim);
    world_run(call.w, 1000);
    call.heap = allocated();
    const struct leat_tuple tuple = world_from(victim->client.params.tuple.local);
    for (unsigned i = 0; i < 20000; i++) {
        uint8_t octets[200];
        size_t len = random_octets(call.w, octets, sizeof octets);
        if (i % 4 == 1 && len > 13) { /* a DTLS record that is whole */
            octets[0] = (uint8_t)(20 + octets[0] % 5);
            leat_put_u16(octets + 1, 0xfefd);
            leat_put_u16(octets + 3, octets[4] & 1);
            leat_put_u16(octets + 11, (uint16_t)(len - 13));
        } else if (i % 4 == 2 && len > 12) { /* SRTP or SRTCP on an SSRC that exists */
            octets[0] = (uint8_t)(0x80 | (octets[0] & 0x3f));
            leat_put_u32(octets + 8, victim->video_ssrc);
        }
        world_inject(call.w, octets, len, &tuple);
        if (i % BATCH == 0) {
            world_run(call.w, 1);
        }
    }
    world_run(call.w, 500);
    LEAT_CHECK_INT(victim->state, LEAT_PEER_CONNECTED);
    LEAT_CHECK_INT(watcher->video.gaps + watcher->video.wrong + watcher->video.duplicates, 0);
    LEAT_CHECK(watcher->video.packets > 60);
    check_and_end(&call, 4096);
}

static void hostile__every_first_octet__goes_to_its_class(void)
{
    struct call call = begin(3);
    const struct leat_sfu_counters before = *counters(call.w);
    const struct leat_tuple valid = world_from(call.a->client.params.tuple.local);
    const struct leat_tuple unknown = world_from(world_address(66, 6666));
    uint64_t packets = before.rtp_in;
    call.a->is_sending = false;
    world_run(call.w, 10);
    packets = counters(call.w)->rtp_in;
    for (unsigned first = 0; first < 256; first++) {
        uint8_t octets[41] = {(uint8_t)first, 0x60};
        world_inject(call.w, octets, sizeof octets, &unknown);
        world_inject(call.w, octets, sizeof octets, &valid);
        world_inject(call.w, octets, 1, &valid);
    }
    world_inject(call.w, "", 0, &valid);
    world_run(call.w, 10);
    const struct leat_sfu_counters *now = counters(call.w);
    /* RFC 7983: 0..3 STUN, 20..63 DTLS, 128..191 RTP; one octet says nothing */
    LEAT_CHECK_INT(now->stun_malformed - before.stun_malformed, 2 * 4);
    LEAT_CHECK_INT(now->unknown_tuple - before.unknown_tuple, 44 + 64);
    LEAT_CHECK_INT(now->unknown_class - before.unknown_class, 2 * (256 - 4 - 44 - 64) + 256 + 1);
    LEAT_CHECK_INT(now->rtp_in, packets);
    LEAT_CHECK_INT(world_stray(call.w), 0);
    call.a->is_sending = true;
    call.b->video.longest_pause_us = 0;
    world_run(call.w, 100);
    call.b->video.longest_pause_us = 0;
    check_and_end(&call, 4096);
}

/** A STUN header, then attributes that are random but well-formed, with names that exist now and
 * then. */
static size_t random_stun(struct world *w, const struct world_client *c, uint8_t *out, size_t cap)
{
    static const uint16_t types[] = {0x0006, 0x0008, 0x0024, 0x0025, 0x8029, 0x802a,
                                     0x8028, 0x0020, 0x7ffe, 0x8022, 0x0009, 0x001c};
    struct leat_rng *rng = world_rng(w);
    struct leat_writer writer;
    leat_writer_init(&writer, out, cap);
    leat_write_u16(&writer,
                   (uint16_t)(leat_rng_below(rng, 4) == 0 ? leat_rng_u32(rng) & 0x3fff : 1));
    leat_write_u16(&writer, 0);
    leat_write_u32(&writer, 0x2112a442);
    leat_write_u64(&writer, leat_rng_u64(rng));
    leat_write_u32(&writer, leat_rng_u32(rng));
    if (leat_rng_below(rng, 2) == 0) {
        char name[64];
        int len =
            snprintf(name, sizeof name, "%s:%s", c->server.ufrag, c->client.params.local.ufrag);
        leat_write_u16(&writer, 6);
        leat_write_u16(&writer, (uint16_t)len);
        leat_write_bytes(&writer, (const uint8_t *)name, (size_t)len);
        leat_write_zeros(&writer, (size_t)(-len & 3));
    }
    for (uint32_t i = leat_rng_below(rng, 6); i > 0; i--) {
        uint8_t value[40];
        uint16_t len = (uint16_t)leat_rng_below(rng, sizeof value + 1);
        leat_rng_fill(rng, value, sizeof value);
        leat_write_u16(&writer, types[leat_rng_below(rng, LEAT_ARRAY_LEN(types))]);
        leat_write_u16(&writer, len);
        leat_write_bytes(&writer, value, len);
        leat_write_zeros(&writer, (size_t)(-len & 3));
    }
    size_t len = leat_writer_len(&writer);
    leat_put_u16(out + 2, (uint16_t)(len - 20));
    return len;
}

static void hostile__a_hundred_thousand_random_checks__silence(void)
{
    struct call call = begin(4);
    for (unsigned i = 0; i < 100000; i++) {
        uint8_t octets[512];
        size_t len = random_stun(call.w, call.a, octets, sizeof octets);
        if (i % 7 == 0) {
            octets[leat_rng_below(world_rng(call.w), (uint32_t)len)] ^= 0x40;
        }
        struct leat_tuple tuple = stranger(call.w);
        world_inject(call.w, octets, i % 11 == 0 ? len / 2 : len, &tuple);
        if (i % BATCH == 0) {
            world_run(call.w, 1);
        }
    }
    world_run(call.w, 10);
    const struct leat_sfu_counters *c = counters(call.w);
    LEAT_CHECK(c->stun_malformed > 5000);
    LEAT_CHECK(c->stun_refused > 5000);
    LEAT_CHECK(c->stun_unknown_ufrag > 5000);
    LEAT_CHECK_INT(world_stray(call.w), 0);
    check_and_end(&call, 4096);
}

/* ---- peers that are who they are, and hostile ---- */

static void send_video(struct world_client *c, uint32_t ssrc, uint16_t seq, const char *mid,
                       size_t payload_len)
{
    uint8_t payload[1900] = {0x10, 0x00}, packet[LEAT_PACKET_MAX];
    struct leat_rtp_ext_out ext = {4, leat_span_str(mid)};
    size_t len = leat_rtp_compose(packet, sizeof packet, true, 96, seq, 90u * seq, ssrc, NULL, 0,
                                  &ext, 1, leat_span(payload, payload_len));
    LEAT_CHECK(len > 0);
    (void)world_send_rtp(c, leat_span(packet, len));
}

static uint64_t over_limit(struct world *w, const struct world_client *c)
{
    struct leat_command *command = leat_command_new(LEAT_COMMAND_STATS, 0);
    uint64_t count = 0;
    LEAT_CHECK_INT(world_execute(w, command, true), 0);
    for (size_t i = 0; i < command->stat_count; i++) {
        const struct leat_stat *s = &command->stats[i];
        count += s->type == LEAT_STAT_TRANSPORT && s->peer == c->handle
                     ? s->transport.srtp_ssrc_limit
                     : 0;
    }
    leat_command_free(command);
    return count;
}

static void hostile__flood_of_ssrcs__ends_at_the_limit(void)
{
    struct call call = begin(5);
    struct world_client *flooder = world_add(call.w, WORLD_PUBLISHER);
    struct world_client *watcher = world_add(call.w, WORLD_SUBSCRIBER);
    (void)world_route(call.w, watcher, flooder);
    world_run(call.w, 1000);
    for (uint32_t i = 0; i < 5000; i++) {
        send_video(flooder, 0x50000000 + i, (uint16_t)i, "1", 100);
        if (i % BATCH == 0) {
            world_run(call.w, 1);
        }
    }
    world_run(call.w, 500);
    LEAT_CHECK(over_limit(call.w, flooder) > 4900);
    /* what its own watcher gets is its declared stream */
    LEAT_CHECK_INT(watcher->video.gaps + watcher->video.wrong, 0);
    LEAT_CHECK(watcher->video.packets > 60);
    check_and_end(&call, SIZE_MAX / 2); /* the flooder itself keeps a stream an SSRC */
}

static void hostile__odd_packets_of_a_publisher__are_forwarded_or_dropped_whole(void)
{
    struct call call = begin(6);
    struct world_client *odd = world_add(call.w, WORLD_PUBLISHER);
    struct world_client *watcher = world_add(call.w, WORLD_SUBSCRIBER);
    (void)world_route(call.w, watcher, odd);
    world_run(call.w, 1000);
    odd->is_sending = false;
    world_run(call.w, 100);
    call.heap = allocated();
    uint64_t bad = watcher->client.counters.bad_in, got = watcher->client.counters.rtp_in;
    uint16_t seq = odd->video_seq;
    for (size_t len = 0; len <= 1880; len += 8) {
        send_video(odd, odd->video_ssrc, seq++, "1", len);
        world_run(call.w, 1);
    }
    for (unsigned i = 0; i < 2000; i++) { /* any header over the right SSRC */
        uint8_t packet[300];
        size_t len = 12 + random_octets(call.w, packet + 12, sizeof packet - 12);
        leat_rng_fill(world_rng(call.w), packet, 12);
        packet[0] = (uint8_t)(0x80 | (packet[0] & 0x3f));
        leat_put_u16(packet + 2, seq++);
        leat_put_u32(packet + 8, odd->video_ssrc);
        (void)world_send_rtp(odd, leat_span(packet, len));
        if (i % 10 == 0) {
            world_run(call.w, 1);
        }
    }
    world_run(call.w, 100);
    LEAT_CHECK_INT(watcher->client.counters.bad_in, bad);
    LEAT_CHECK(watcher->client.counters.rtp_in > got + 230);
    LEAT_CHECK(counters(call.w)->rtp_malformed > 0);
    LEAT_CHECK_INT(odd->state, LEAT_PEER_CONNECTED);
    check_and_end(&call, 65536);
}

static void hostile__mids_of_others_and_of_nobody__stay_in_the_peer(void)
{
    struct call call = begin(7);
    struct world_client *liar = world_add(call.w, WORLD_PUBLISHER);
    world_run(call.w, 1000);
    liar->is_sending = false;
    world_run(call.w, 10);
    call.heap = allocated();
    uint64_t unknown = counters(call.w)->rtp_unknown_ssrc;
    for (uint16_t i = 0; i < 20; i++) {
        send_video(liar, 0x60000001, i, "7", 100);
    }
    for (uint16_t i = 0; i < 20; i++) { /* the other publisher's SSRC */
        send_video(liar, call.a->video_ssrc, i, "1", 100);
    }
    world_run(call.w, 100);
    LEAT_CHECK_INT(counters(call.w)->rtp_unknown_ssrc, unknown + 20);
    check_and_end(&call, 65536);
}

static void hostile__peers_that_never_finish__all_are_given_up(void)
{
    struct call call = begin(8);
    struct world_client *half[30];
    for (size_t i = 0; i < LEAT_ARRAY_LEN(half); i++) {
        half[i] = world_add(call.w, WORLD_PUBLISHER);
    }
    world_run(call.w, 3); /* each has sent its hello */
    for (size_t i = 0; i < LEAT_ARRAY_LEN(half); i++) {
        half[i]->down.is_cut = true;
    }
    world_run(call.w, 45000);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(half); i++) {
        LEAT_CHECK_ROW(i, half[i]->ended_events == 1);
    }
    LEAT_CHECK_INT(leat_sfu_peer_count(world_sfu(call.w)), 2);
    check_and_end(&call, 30 * 65536); /* the clients are still there */
}

LEAT_TESTS(LEAT_TEST(hostile__random_datagrams_from_strangers__nothing_happens),
           LEAT_TEST(hostile__random_datagrams_from_a_valid_tuple__nothing_happens),
           LEAT_TEST(hostile__every_first_octet__goes_to_its_class),
           LEAT_TEST(hostile__a_hundred_thousand_random_checks__silence),
           LEAT_TEST(hostile__flood_of_ssrcs__ends_at_the_limit),
           LEAT_TEST(hostile__odd_packets_of_a_publisher__are_forwarded_or_dropped_whole),
           LEAT_TEST(hostile__mids_of_others_and_of_nobody__stay_in_the_peer),
           LEAT_TEST(hostile__peers_that_never_finish__all_are_given_up))
