/* SPDX-License-Identifier: MIT */
/*
 * Attacks on "no index twice" (RFC 3711 9.1, RFC 7714 8.4): one key stream over two contents gives
 * both away, and under GCM the key of the tags too. Whoever sends is asked for the same index again
 * in every way that a session can be; what it let out is judged by its key stream, which is the
 * plaintext's difference to the ciphertext and must never repeat.
 */
#include "srtp_test.h"

#define MARK 0xee
#define SSRC 0x0badcafeu

/* RTP whose payload differs from any other's of the same number. */
static struct octets content(uint32_t ssrc, uint16_t seq, uint8_t variant)
{
    struct octets o = rtp(ssrc, seq, 40);
    o.data[12 + 17] = variant;
    return o;
}

static struct leat_srtp_job job_of(struct leat_srtp *s, const struct octets *plain,
                                   struct octets *out)
{
    memset(out->data, MARK, sizeof(out->data));
    return (struct leat_srtp_job){.session = s,
                                  .header = leat_span(plain->data, 12),
                                  .payload = leat_span(plain->data + 12, plain->len - 12),
                                  .out = out->data,
                                  .cap = sizeof(out->data),
                                  .out_len = 4711,
                                  .verdict = LEAT_SRTP_FAILED};
}

static bool is_untouched(const struct octets *out)
{
    for (size_t i = 0; i < sizeof(out->data); i++) {
        if (out->data[i] != MARK) {
            return false;
        }
    }
    return true;
}

static void check_refused(struct leat_srtp *s, struct octets plain)
{
    struct octets out;
    struct leat_srtp_job j = job_of(s, &plain, &out);
    size_t len = 4711;
    leat_srtp_protect_batch(&j, 1);
    LEAT_CHECK_INT(j.verdict, LEAT_SRTP_INDEX_USED);
    LEAT_CHECK(is_untouched(&out));
    LEAT_CHECK_INT(
        leat_srtp_protect(s, leat_span(plain.data, plain.len), out.data, sizeof(out.data), &len),
        LEAT_SRTP_INDEX_USED);
    LEAT_CHECK(is_untouched(&out));
    LEAT_CHECK_INT(len, 4711);
}

/* ---- the same number again ---- */

/* What a rewriting sender may change about a packet when it is sent once more. */
#define CHANGES 8

static struct octets changed(struct octets o, size_t row)
{
    switch (row) {
    case 0: /* nothing: even identical octets are not ours to send twice */
        break;
    case 1:
        o.data[12] ^= 0x01; /* a picture id */
        break;
    case 2:
        o.data[1] ^= 0x80; /* the marker, as the last packet of another layer has it */
        break;
    case 3:
        o.data[7] ^= 0x10; /* timestamp */
        break;
    case 4:
        o.data[1] ^= 0x01; /* payload type */
        break;
    case 5:
        o.len -= 11; /* a layer taken away */
        break;
    case 6:
        o.len += 100;
        break;
    default:
        o.len = 12; /* nothing but a header */
        break;
    }
    return o;
}

static void protect__number_again_with_other_contents__refused_and_nothing_written(void)
{
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        struct leat_srtp *s = session(all_profiles[p]);
        for (uint16_t seq = 65530; seq != 6; seq++) { /* over the wrap */
            struct octets plain = content(SSRC, seq, 1);
            LEAT_CHECK(sealed(s, plain).len != 0);
            for (size_t row = 0; row < CHANGES; row++) {
                check_refused(s, changed(plain, row));
            }
        }
        for (uint16_t seq = 65530; seq != 6; seq++) { /* and late */
            check_refused(s, content(SSRC, seq, 2));
        }
        leat_srtp_free(s);
    }
}

#define BATCH 130

/* Job `second` has the number of job `first`: in one lot, next to each other, in different lots. */
static void batch__number_twice_in_one_batch__first_only(void)
{
    static const struct {
        size_t first, second;
    } rows[] = {{0, 1}, {0, 63}, {5, 40}, {3, 64}, {63, 64}, {10, 129}, {128, 129}};
    static struct octets plains[BATCH], outs[BATCH];
    static struct leat_srtp_job jobs[BATCH];
    for (size_t row = 0; row < LEAT_ARRAY_LEN(rows) * LEAT_ARRAY_LEN(all_profiles); row++) {
        size_t first = rows[row / 4].first, second = rows[row / 4].second;
        struct leat_srtp *s = session(all_profiles[row % 4]);
        for (size_t i = 0; i < BATCH; i++) {
            plains[i] = content(SSRC, (uint16_t)(65500 + (i == second ? first : i)), (uint8_t)i);
            jobs[i] = job_of(s, &plains[i], &outs[i]);
        }
        leat_srtp_protect_batch(jobs, BATCH);
        for (size_t i = 0; i < BATCH; i++) {
            LEAT_CHECK_ROW(row,
                           jobs[i].verdict == (i == second ? LEAT_SRTP_INDEX_USED : LEAT_SRTP_OK));
            LEAT_CHECK_ROW(row, is_untouched(&outs[i]) == (i == second));
        }
        struct leat_srtp *receiver = session(all_profiles[row % 4]);
        for (size_t i = 0; i < BATCH; i++) { /* the refused one did not harm its neighbours */
            struct octets got;
            outs[i].len = jobs[i].out_len;
            if (i != second) {
                LEAT_CHECK_ROW(row, opened(receiver, outs[i], &got) == LEAT_SRTP_OK);
                LEAT_CHECK_MEM(got.data, got.len, plains[i].data, plains[i].len);
            }
        }
        leat_srtp_free(receiver);
        leat_srtp_free(s);
    }
}

static void batch__same_number_of_other_sessions_and_streams__all_sent(void)
{
    struct leat_srtp *a = session(LEAT_SRTP_AEAD_AES_128_GCM);
    struct leat_srtp *b = session(LEAT_SRTP_AES128_CM_SHA1_80);
    static struct octets plains[40], outs[40];
    struct leat_srtp_job jobs[40];
    for (uint32_t i = 0; i < 40; i++) {
        plains[i] = content(SSRC + i / 2, 77, 0);
        jobs[i] = job_of(i % 2 == 0 ? a : b, &plains[i], &outs[i]);
    }
    leat_srtp_protect_batch(jobs, 40);
    for (size_t i = 0; i < 40; i++) {
        LEAT_CHECK_ROW(i, jobs[i].verdict == LEAT_SRTP_OK);
    }
    leat_srtp_free(a);
    leat_srtp_free(b);
}

/* ---- streams that end and come back ---- */

/* A sender is closed, thousands of others come and go, and one is made anew with the first one's
 * SSRC that counts from where that one began. */
static void session__stream_comes_back__its_numbers_stay_used(void)
{
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        struct leat_srtp *s = session(all_profiles[p]);
        for (uint16_t seq = 100; seq < 150; seq++) {
            LEAT_CHECK(sealed(s, content(SSRC, seq, 1)).len != 0);
            LEAT_CHECK(sealed_rtcp(s, rr(SSRC, 1)).len != 0);
        }
        for (uint32_t other = 1; other < 3000; other++) {
            LEAT_CHECK(sealed(s, content(SSRC + other, 100, 1)).len != 0);
        }
        for (uint16_t seq = 100; seq < 150; seq++) {
            check_refused(s, content(SSRC, seq, 2));
        }
        LEAT_CHECK(sealed(s, content(SSRC, 150, 2)).len != 0);
        struct octets report = sealed_rtcp(s, rr(SSRC, 2));
        bool is_aead = all_profiles[p] >= LEAT_SRTP_AEAD_AES_128_GCM;
        LEAT_CHECK_INT(leat_get_u32(report.data + report.len - (is_aead ? 4 : 14)), 0x80000033);
        leat_srtp_free(s);
    }
}

/* A refusal for want of room or shape uses no index and writes nothing. */
static void protect__no_room_or_broken__number_still_free(void)
{
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        struct leat_srtp *s = session(all_profiles[p]);
        struct octets plain = content(SSRC, 9, 1), out;
        struct leat_srtp_job j = job_of(s, &plain, &out);
        size_t caps[] = {0, LEAT_SRTP_TRAILER_MAX - 1, plain.len,
                         plain.len + LEAT_SRTP_TRAILER_MAX - 1};
        for (size_t i = 0; i < LEAT_ARRAY_LEN(caps); i++) {
            j.cap = caps[i];
            leat_srtp_protect_batch(&j, 1);
            LEAT_CHECK_ROW(i, j.verdict == LEAT_SRTP_NO_ROOM && is_untouched(&out));
        }
        static const size_t header_lens[] = {0, 1, 8, 11, 13, 16};
        j.cap = sizeof(out.data);
        for (size_t i = 0; i < LEAT_ARRAY_LEN(header_lens); i++) {
            j.header.len = header_lens[i];
            leat_srtp_protect_batch(&j, 1);
            LEAT_CHECK_ROW(i, j.verdict == LEAT_SRTP_MALFORMED && is_untouched(&out));
        }
        j.header.len = 12;
        j.payload.len = 65535 - 12 + 1;
        leat_srtp_protect_batch(&j, 1);
        LEAT_CHECK(j.verdict == LEAT_SRTP_MALFORMED && is_untouched(&out));
        j.payload.len = plain.len - 12;
        leat_srtp_protect_batch(&j, 1);
        LEAT_CHECK_INT(j.verdict, LEAT_SRTP_OK);
        leat_srtp_free(s);
    }
}

/* ---- no key stream twice ---- */

#define STREAM_LEN 16
#define PACKETS 20000

static uint8_t streams[PACKETS][STREAM_LEN];
static size_t stream_count;

static void keep_stream(const struct octets *plain, const struct octets *out, size_t at)
{
    if (out->len != 0 && stream_count < PACKETS) {
        for (size_t i = 0; i < STREAM_LEN; i++) {
            streams[stream_count][i] = plain->data[at + i] ^ out->data[at + i];
        }
        stream_count++;
    }
}

static int order(const void *a, const void *b)
{
    return memcmp(a, b, STREAM_LEN);
}

/* Numbers drawn around a place that creeps over the wrap, so that most are asked for several times,
 * with SRTCP of the same SSRCs between. */
static void protect__random_numbers__no_key_stream_twice(void)
{
    struct leat_rng rng;
    const uint8_t seed[32] = {9};
    leat_rng_init_seeded(&rng, seed);
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        struct leat_srtp *s = session(all_profiles[p]);
        stream_count = 0;
        for (uint32_t n = 0; n < 60000 && stream_count < PACKETS; n++) {
            uint32_t ssrc = SSRC + leat_rng_below(&rng, 4);
            uint16_t seq = (uint16_t)(65000 + n / 16 + leat_rng_below(&rng, 40) * (n % 64 == 0));
            seq = (uint16_t)(seq - leat_rng_below(&rng, n % 7 == 0 ? 1100 : 20));
            struct octets plain = content(ssrc, seq, (uint8_t)n), out = sealed(s, plain);
            keep_stream(&plain, &out, 12);
            if (n % 8 == 0) {
                plain = rr(ssrc, 1);
                out = sealed_rtcp(s, plain);
                keep_stream(&plain, &out, 8);
            }
        }
        LEAT_CHECK(stream_count > 5000);
        qsort(streams, stream_count, STREAM_LEN, order);
        for (size_t i = 1; i < stream_count; i++) {
            LEAT_CHECK_ROW(i, memcmp(streams[i - 1], streams[i], STREAM_LEN) != 0);
        }
        leat_srtp_free(s);
    }
    leat_rng_deinit(&rng);
}

LEAT_TESTS(LEAT_TEST(protect__number_again_with_other_contents__refused_and_nothing_written),
           LEAT_TEST(batch__number_twice_in_one_batch__first_only),
           LEAT_TEST(batch__same_number_of_other_sessions_and_streams__all_sent),
           LEAT_TEST(session__stream_comes_back__its_numbers_stay_used),
           LEAT_TEST(protect__no_room_or_broken__number_still_free),
           LEAT_TEST(protect__random_numbers__no_key_stream_twice))
