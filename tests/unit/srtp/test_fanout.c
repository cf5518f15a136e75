/* SPDX-License-Identifier: MIT */
/*
 * Our framing against libsrtp2's, octet for octet: random packets of random streams under every
 * profile, in batches of every size, by every provider and CPU level that runs here. Then our own
 * receiving half, which is libsrtp2 over our ciphers, opens all of it.
 *
 * Work is done in rounds. In each one the sessions of both kinds are new, the library's own types
 * are in use while packets are sent, ours while they are opened. LEAT_TEST_PACKETS sets how many
 * packets there are in all, LEAT_TEST_SEED makes them others.
 */
#include <stdlib.h>

#include <leat/srtp.h>

#include "harness.h"
#include "oracle.h"
#include "session.h"

#define PACKETS_DEFAULT 1000000
#define PACKETS_TELLING 20000
#define ROUND_PACKETS 8000 /* at most, between two changes of the types */
#define SESSIONS 16
#define STREAMS 3 /* of each session */
#define BATCH_MAX 200
#define RTCP_BURST 24 /* between two batches */
#define PACKET_MAX 1500
#define RTCP_MAX 1400
#define ROOM (PACKET_MAX + LEAT_SRTP_TRAILER_MAX)
#define GUARD 16
#define GUARD_OCTET 0xa5
#define POOL_LEN (1u << 16)

static const enum leat_srtp_profile profiles[] = {
    LEAT_SRTP_AES128_CM_SHA1_80, LEAT_SRTP_AES128_CM_SHA1_32, LEAT_SRTP_AEAD_AES_128_GCM,
    LEAT_SRTP_AEAD_AES_256_GCM};

struct stream {
    uint64_t highest; /* index */
    bool is_started;
};

struct pair {
    struct leat_srtp_keys keys;
    struct leat_srtp *ours, *receiver;
    srtp_t stock;
    struct stream streams[STREAMS];
};

struct record {
    unsigned session;
    bool is_rtcp;
    size_t plain_len, sealed_len;
    uint8_t plain[PACKET_MAX], sealed[ROOM];
};

struct round {
    struct pair pairs[SESSIONS];
    size_t count;
    struct record *records; /* ROUND_PACKETS, what was sent */
};

/* One packet of a batch before it is sent. */
struct draft {
    uint8_t plain[PACKET_MAX], expected[ROOM], out[ROOM + GUARD], before[ROOM + GUARD];
    const uint8_t *payload; /* its own or the one that is shared */
    size_t header_len, len, expected_len;
    unsigned session;
    struct stream *stream, stream_before;
    enum leat_srtp_verdict verdict;
};

static uint64_t random_state;
static uint8_t pool[POOL_LEN + PACKET_MAX]; /* random octets that contents are cut from */
static uint64_t sent, refused, no_room, sent_rtcp, highest_roc;

/** Marsaglia's xorshift64. */
static uint32_t draw(uint32_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 16) % bound);
}

static bool one_in(uint32_t n)
{
    return draw(n) == 0;
}

static void fill(uint8_t *out, size_t len)
{
    memcpy(out, pool + draw(POOL_LEN), len);
}

/* ---- packets ---- */

/* The extension block at `at` within `room` octets. @return its length, 0 for none. */
static size_t put_extension(uint8_t *at, size_t room)
{
    static const uint16_t ids[] = {0xbede, 0x1000, 0x100f, 0x4242};
    if (room < 4 || one_in(4)) {
        return 0;
    }
    size_t words_max = (room - 4) / 4;
    size_t words = one_in(5) ? 0 : one_in(10) ? draw(300) : draw(8);
    words = words < words_max ? words : words_max;
    fill(at, 4 + 4 * words);
    leat_put_u16(at, ids[draw(4)]);
    leat_put_u16(at + 2, (uint16_t)words);
    return 4 + 4 * words;
}

/* A sequence number as a network delivers them: mostly the next, some late, some again, some far
 * ahead, so that the roll-over counter rises above 1 soon. Never one whose index would be below 0:
 * there libsrtp2 guesses otherwise. */
static uint16_t next_seq(struct stream *s)
{
    uint64_t index = s->highest + 1;
    if (!s->is_started) {
        index = draw(65536);
    } else if (one_in(12)) {
        uint64_t behind = draw(one_in(2) ? 30 : LEAT_SRTP_REPLAY_WINDOW + 6);
        index = s->highest - (behind < s->highest ? behind : s->highest);
    } else if (one_in(8)) {
        index = s->highest + 1 + (one_in(2) ? draw(32767) : draw(1200));
    }
    if (!s->is_started || index > s->highest) {
        s->highest = index;
        highest_roc = index >> 16 > highest_roc ? index >> 16 : highest_roc;
    }
    s->is_started = true;
    return (uint16_t)index;
}

static void make_rtp(struct draft *d, struct pair *pair)
{
    uint32_t stream = draw(STREAMS);
    size_t target = one_in(8) ? 12 + draw(8) : 12 + draw(PACKET_MAX - 12 + 1);
    uint8_t *p = d->plain;
    d->stream = &pair->streams[stream];
    d->stream_before = *d->stream;
    size_t csrcs = one_in(3) ? draw(16) : 0;
    csrcs = csrcs < (target - 12) / 4 ? csrcs : (target - 12) / 4;
    d->header_len = 12 + 4 * csrcs;
    fill(p, d->header_len);
    p[0] = (uint8_t)(0x80 | csrcs);
    leat_put_u16(p + 2, next_seq(d->stream));
    leat_put_u32(p + 8, 0x10000000u * stream + (uint32_t)(pair->keys.send.key[0] & 1));
    size_t extension_len = put_extension(p + d->header_len, target - d->header_len);
    p[0] |= extension_len != 0 ? 0x10 : 0;
    d->header_len += extension_len;
    d->len = one_in(20) ? d->header_len : target; /* now and then no payload at all */
    d->payload = p + d->header_len;
    fill(p + d->header_len, d->len - d->header_len);
    if (d->len > d->header_len && one_in(10)) {
        size_t padding = 1 + draw((uint32_t)(d->len - d->header_len));
        p[0] |= 0x20;
        p[d->len - 1] = (uint8_t)(padding < 255 ? padding : 255);
    }
}

/* ---- one batch ---- */

static void record(struct round *r, unsigned session, bool is_rtcp, struct leat_span plain,
                   struct leat_span sealed)
{
    struct record *k = &r->records[r->count++];
    k->session = session;
    k->is_rtcp = is_rtcp;
    k->plain_len = plain.len;
    k->sealed_len = sealed.len;
    memcpy(k->plain, plain.data, plain.len);
    memcpy(k->sealed, sealed.data, sealed.len);
}

/* Where header and payload stand: apart, header in its place, both in their places, or payload
 * only. Room is exact at times, and at times too small. */
static void place(struct draft *d, struct leat_srtp_job *j, struct pair *pair)
{
    size_t payload_len = d->len - d->header_len;
    bool is_header_there = one_in(2), is_payload_there = one_in(3);
    memset(d->out, GUARD_OCTET, sizeof(d->out));
    if (is_header_there) {
        memcpy(d->out, d->plain, d->header_len);
    }
    if (is_payload_there) {
        memcpy(d->out + d->header_len, d->plain + d->header_len, payload_len);
    }
    *j = (struct leat_srtp_job){
        .session = pair->ours,
        .header = leat_span(is_header_there ? d->out : d->plain, d->header_len),
        .payload = leat_span(is_payload_there ? d->out + d->header_len : d->payload, payload_len),
        .out = d->out,
        .cap = one_in(2) ? d->len + LEAT_SRTP_TRAILER_MAX : ROOM,
        .verdict = LEAT_SRTP_FAILED,
    };
    if (d->verdict == LEAT_SRTP_NO_ROOM) {
        j->cap = one_in(4) ? draw(LEAT_SRTP_TRAILER_MAX) : d->len + LEAT_SRTP_TRAILER_MAX - 1;
    }
    if (d->verdict != LEAT_SRTP_OK) {
        memcpy(d->before, d->out, sizeof(d->out));
    }
}

/* The same payload for another receiver, as a fan-out has it. */
static void share_payload(struct draft *d, const struct draft *first)
{
    size_t payload_len = first->len - first->header_len;
    if (d->header_len + payload_len <= PACKET_MAX) {
        d->payload = first->plain + first->header_len;
        d->len = d->header_len + payload_len;
        memcpy(d->plain + d->header_len, d->payload, payload_len);
    }
}

/* What libsrtp2 makes of it. Without room there is nothing to compare, and no index is used. */
static void expect(struct draft *d, struct pair *pair)
{
    if (one_in(150)) {
        d->verdict = LEAT_SRTP_NO_ROOM;
        *d->stream = d->stream_before;
        no_room++;
        return;
    }
    memcpy(d->expected, d->plain, d->len);
    d->expected_len = d->len;
    d->verdict = oracle_protect(pair->stock, d->expected, &d->expected_len);
    refused += d->verdict == LEAT_SRTP_INDEX_USED;
}

static void check_job(struct round *r, const struct leat_srtp_job *j, const struct draft *d)
{
    LEAT_CHECK_INT(j->verdict, d->verdict);
    if (d->verdict != LEAT_SRTP_OK) { /* nothing was written */
        LEAT_CHECK_MEM(d->out, sizeof(d->out), d->before, sizeof(d->before));
        return;
    }
    LEAT_CHECK_MEM(d->out, j->out_len, d->expected, d->expected_len);
    for (size_t i = j->cap; i < sizeof(d->out); i++) {
        LEAT_CHECK(d->out[i] == GUARD_OCTET);
    }
    record(r, d->session, false, leat_span(d->plain, d->len), leat_span(d->out, j->out_len));
    sent++;
}

static size_t batch_size(void)
{
    static const size_t edges[] = {
        1, 16, LEAT_SRTP_BATCH_MAX - 1, LEAT_SRTP_BATCH_MAX, LEAT_SRTP_BATCH_MAX + 1, BATCH_MAX};
    return one_in(3) ? edges[draw(6)] : one_in(3) ? 1 + draw(BATCH_MAX) : 1 + draw(20);
}

static void send_batch(struct round *r)
{
    static struct draft drafts[BATCH_MAX];
    static struct leat_srtp_job jobs[BATCH_MAX];
    size_t count = batch_size();
    bool is_one_session = one_in(6), is_one_profile = one_in(3), is_one_payload = one_in(2);
    unsigned session = draw(SESSIONS);
    for (size_t i = 0; i < count; i++) {
        struct draft *d = &drafts[i];
        if (!is_one_session) { /* the profile goes by fours */
            session = is_one_profile ? (session + 4 * draw(4)) % SESSIONS : draw(SESSIONS);
        }
        d->session = session;
        make_rtp(d, &r->pairs[session]);
        if (i > 0 && is_one_payload) {
            share_payload(d, &drafts[0]);
        }
        expect(d, &r->pairs[session]);
        place(d, &jobs[i], &r->pairs[session]);
    }
    leat_srtp_protect_batch(jobs, count);
    for (size_t i = 0; i < count && leat_test_failures == 0; i++) {
        check_job(r, &jobs[i], &drafts[i]);
    }
}

/* ---- SRTCP ---- */

static void send_rtcp(struct round *r)
{
    uint8_t plain[RTCP_MAX], expected[ROOM], out[ROOM + GUARD];
    unsigned session = draw(SESSIONS);
    struct pair *pair = &r->pairs[session];
    size_t len = one_in(3) ? 8 + 4 * draw(12) : 8 + draw(RTCP_MAX - 8 + 1), out_len = 0;
    size_t expected_len = len, cap = len + LEAT_SRTP_TRAILER_MAX;
    fill(plain, len);
    plain[0] = (uint8_t)(0x80 | (plain[0] & 0x3f));
    leat_put_u32(plain + 4, draw(STREAMS) * 0x10000000u);
    memset(out, GUARD_OCTET, sizeof(out));
    if (one_in(50)) {
        LEAT_CHECK_INT(
            leat_srtp_protect_rtcp(pair->ours, leat_span(plain, len), out, cap - 1, &out_len),
            LEAT_SRTP_NO_ROOM);
        LEAT_CHECK(out[0] == GUARD_OCTET && out_len == 0);
    }
    memcpy(expected, plain, len);
    LEAT_CHECK_INT(oracle_protect_rtcp(pair->stock, expected, &expected_len), LEAT_SRTP_OK);
    LEAT_CHECK_INT(leat_srtp_protect_rtcp(pair->ours, leat_span(plain, len), out, cap, &out_len),
                   LEAT_SRTP_OK);
    LEAT_CHECK_MEM(out, out_len, expected, expected_len);
    for (size_t i = cap; i < sizeof(out); i++) {
        LEAT_CHECK(out[i] == GUARD_OCTET);
    }
    record(r, session, true, leat_span(plain, len), leat_span(out, out_len));
    sent_rtcp++;
}

/* ---- rounds ---- */

static void round_open(struct round *r)
{
    r->count = 0;
    for (unsigned i = 0; i < SESSIONS; i++) {
        struct pair *p = &r->pairs[i];
        memset(p, 0, sizeof(*p));
        p->keys.profile = profiles[i % LEAT_ARRAY_LEN(profiles)];
        fill(p->keys.send.key, sizeof(p->keys.send.key));
        fill(p->keys.send.salt, sizeof(p->keys.send.salt));
        p->keys.receive = p->keys.send;
        if (leat_srtp_new(&p->ours, &p->keys, LEAT_SRTP_SSRCS_MAX) != 0 ||
            leat_srtp_new(&p->receiver, &p->keys, LEAT_SRTP_SSRCS_MAX) != 0) {
            abort();
        }
        p->stock = oracle_new(&p->keys);
    }
}

static void round_close(struct round *r)
{
    for (unsigned i = 0; i < SESSIONS; i++) {
        leat_srtp_free(r->pairs[i].ours);
        leat_srtp_free(r->pairs[i].receiver);
        oracle_free(r->pairs[i].stock);
    }
}

static void open_all(struct round *r)
{
    for (size_t i = 0; i < r->count && leat_test_failures == 0; i++) {
        struct record *k = &r->records[i];
        struct leat_srtp *receiver = r->pairs[k->session].receiver;
        size_t len = k->sealed_len;
        LEAT_CHECK_ROW(i, (k->is_rtcp ? leat_srtp_unprotect_rtcp(receiver, k->sealed, &len)
                                      : leat_srtp_unprotect(receiver, k->sealed, &len, NULL)) ==
                              LEAT_SRTP_OK);
        LEAT_CHECK_MEM(k->sealed, len, k->plain, k->plain_len);
    }
}

static void run_round(struct round *r, size_t packets)
{
    oracle_use_types(true);
    round_open(r);
    while (r->count < packets && r->count + BATCH_MAX + RTCP_BURST < ROUND_PACKETS &&
           leat_test_failures == 0) {
        send_batch(r);
        for (uint32_t n = draw(RTCP_BURST); n > 0; n--) {
            send_rtcp(r);
        }
    }
    oracle_use_types(false);
    open_all(r);
    round_close(r);
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

/* Under one choice of provider and level; NULL: no preference. */
static void run_pinned(const char *provider, const char *level, uint64_t packets)
{
    const struct leat_crypto_options options = {.provider = provider, .level = level};
    static struct round r;
    LEAT_CHECK_INT(leat_crypto_start_with(&options), 0);
    r.records = malloc(ROUND_PACKETS * sizeof(*r.records));
    if (r.records == NULL) {
        abort();
    }
    for (uint64_t done = 0; done < packets && leat_test_failures == 0; done += r.count) {
        run_round(&r, packets - done < ROUND_PACKETS ? packets - done : ROUND_PACKETS);
    }
    if (leat_test_failures != 0) {
        fprintf(stderr, "    with provider %s, level %s\n", provider != NULL ? provider : "any",
                level != NULL ? level : "the machine's");
    }
    free(r.records);
}

static void fanout__random_packets__as_libsrtp2_and_all_open(void)
{
    static const char *const levels[] = {NULL, "sse", "avx2", "avx512"};
    struct leat_rng rng;
    uint8_t seed[32] = {0};
    uint64_t packets = from_environment("LEAT_TEST_PACKETS", PACKETS_DEFAULT);
    size_t providers = 0;
    leat_put_u64(seed, from_environment("LEAT_TEST_SEED", 1));
    LEAT_CHECK_INT(leat_crypto_start(), 0);
    leat_rng_init_seeded(&rng, seed);
    leat_rng_fill(&rng, pool, sizeof(pool));
    random_state = leat_rng_u64(&rng) | 1;
    while (leat_crypto_provider_name(providers) != NULL) {
        providers++;
    }
    uint64_t share = packets / (providers + LEAT_ARRAY_LEN(levels)) + 1;
    for (size_t i = 0; i < providers && leat_test_failures == 0; i++) {
        run_pinned(leat_crypto_provider_name(i), NULL, share);
    }
    for (size_t i = 0; i < LEAT_ARRAY_LEN(levels) && leat_test_failures == 0; i++) {
        run_pinned(NULL, levels[i], share);
    }
    LEAT_CHECK(sent + sent_rtcp >= packets);
    if (packets >= PACKETS_TELLING) { /* that every kind came often */
        LEAT_CHECK(sent_rtcp > packets / 20);
        LEAT_CHECK(refused > packets / 400);
        LEAT_CHECK(no_room > packets / 400);
        LEAT_CHECK(highest_roc > 1);
    }
    printf("%" PRIu64 " RTP, %" PRIu64 " RTCP, %" PRIu64 " refused, %" PRIu64
           " without room, roll-over counter up to %" PRIu64 "\n",
           sent, sent_rtcp, refused, no_room, highest_roc);
    leat_rng_deinit(&rng);
}

/* ---- counters that no test reaches by sending ---- */

/* The next packet of both sides, compared. */
static void send_next(struct pair *p, uint16_t seq, size_t payload_len)
{
    uint8_t plain[64] = {0x80, 96}, expected[64 + LEAT_SRTP_TRAILER_MAX], out[sizeof(expected)];
    size_t len = 12 + payload_len, expected_len = len, out_len = 0;
    leat_put_u16(plain + 2, seq);
    leat_put_u32(plain + 8, 0xcafebabe);
    fill(plain + 12, payload_len);
    memcpy(expected, plain, len);
    LEAT_CHECK_INT(oracle_protect(p->stock, expected, &expected_len), LEAT_SRTP_OK);
    LEAT_CHECK_INT(leat_srtp_protect(p->ours, leat_span(plain, len), out, sizeof(out), &out_len),
                   LEAT_SRTP_OK);
    LEAT_CHECK_MEM(out, out_len, expected, expected_len);
}

/* libsrtp2 is told a roll-over counter, ours has its state set; then both go over a wrap. */
static void fanout__high_roll_over_counters__as_libsrtp2(void)
{
    static const uint32_t counters[] = {2,          0x7fff,     0xffff,     0x10000,
                                        0x12345678, 0x7fffffff, 0x80000000, 0xfffffffe};
    static struct round r;
    random_state = 3;
    LEAT_CHECK_INT(leat_crypto_start(), 0);
    oracle_use_types(true);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(counters); i++) {
        round_open(&r);
        for (unsigned n = 0; n < LEAT_ARRAY_LEN(profiles); n++) {
            struct pair *p = &r.pairs[n];
            send_next(p, 65530, 20);
            srtp_set_stream_roc(p->stock, 0xcafebabe, counters[i]);
            leat__srtp_outgoing_get(&p->ours->send.outgoing, 0xcafebabe)->index =
                (uint64_t)counters[i] << 16 | 65530;
            for (unsigned k = 1; k < 40; k++) {
                send_next(p, (uint16_t)(65530 + k), k);
            }
        }
        round_close(&r);
    }
}

static void fanout__srtcp_index_over_16_bits__as_libsrtp2(void)
{
    static struct round r;
    uint8_t plain[12] = {0x80, 0xc9, 0, 2}, expected[64], out[64];
    random_state = 4;
    LEAT_CHECK_INT(leat_crypto_start(), 0);
    oracle_use_types(true);
    round_open(&r);
    for (uint32_t i = 0; i < 4 * 66000 && leat_test_failures == 0; i++) {
        struct pair *p = &r.pairs[i % 4];
        size_t expected_len = sizeof(plain), out_len = 0;
        memcpy(expected, plain, sizeof(plain));
        (void)oracle_protect_rtcp(p->stock, expected, &expected_len);
        (void)leat_srtp_protect_rtcp(p->ours, leat_span(plain, sizeof(plain)), out, sizeof(out),
                                     &out_len);
        LEAT_CHECK_MEM(out, out_len, expected, expected_len);
    }
    round_close(&r);
}

LEAT_TESTS(LEAT_TEST(fanout__random_packets__as_libsrtp2_and_all_open),
           LEAT_TEST(fanout__high_roll_over_counters__as_libsrtp2),
           LEAT_TEST(fanout__srtcp_index_over_16_bits__as_libsrtp2))
