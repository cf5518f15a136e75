/* SPDX-License-Identifier: MIT */
/* Broken, cut and forged packets, in memory of exactly their size, and what they leave behind:
 * nothing. */
#include "srtp_test.h"

typedef enum leat_srtp_verdict (*unprotect)(struct leat_srtp *s, uint8_t *pkt, size_t *len);

static enum leat_srtp_verdict unprotect_rtp(struct leat_srtp *s, uint8_t *pkt, size_t *len)
{
    return leat_srtp_unprotect(s, pkt, len, NULL);
}

/* In a block of exactly `len` octets, so that a read or write past it is seen. */
static enum leat_srtp_verdict opened_exact(struct leat_srtp *s, unprotect f, const uint8_t *pkt,
                                           size_t len)
{
    uint8_t *block = malloc(len != 0 ? len : 1);
    if (len != 0) {
        memcpy(block, pkt, len);
    }
    size_t n = len;
    enum leat_srtp_verdict v = f(s, block, &n);
    if (v != LEAT_SRTP_OK) {
        LEAT_CHECK_INT(n, len);
    }
    free(block);
    return v;
}

/* All that can be wrong by length or one bit; the session has room for one SSRC, which no forgery
 * may take. */
static void sweep(enum leat_srtp_profile profile, unprotect f, struct octets good,
                  struct octets next)
{
    for (int known = 0; known < 2; known++) {
        struct leat_srtp *s = session_with_limit(profile, 1);
        struct octets target = known ? next : good;
        if (known) {
            LEAT_CHECK_INT(opened_exact(s, f, good.data, good.len), LEAT_SRTP_OK);
        }
        for (size_t len = 0; len < target.len; len++) {
            LEAT_CHECK_ROW(len, opened_exact(s, f, target.data, len) != LEAT_SRTP_OK);
        }
        for (size_t bit = 0; bit < 8 * target.len; bit++) {
            struct octets bad = target;
            bad.data[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
            LEAT_CHECK_ROW(bit, opened_exact(s, f, bad.data, bad.len) != LEAT_SRTP_OK);
        }
        LEAT_CHECK_INT(opened_exact(s, f, target.data, target.len), LEAT_SRTP_OK);
        LEAT_CHECK_INT(opened_exact(s, f, target.data, target.len), LEAT_SRTP_REPLAY);
        leat_srtp_free(s);
    }
}

static void unprotect__cut_or_flipped__refused_without_trace(void)
{
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        struct leat_srtp *a = session(all_profiles[p]);
        struct octets plain = rtp(9, 100, 40);
        plain.data[0] = 0x92; /* two CSRCs and an extension block of two words */
        leat_put_u32(plain.data + 20, 0xbede0002);
        struct octets good = sealed(a, plain);
        leat_put_u16(plain.data + 2, 101);
        struct octets next = sealed(a, plain);
        LEAT_CHECK(good.len != 0 && next.len != 0);
        sweep(all_profiles[p], unprotect_rtp, good, next);
        leat_srtp_free(a);
    }
}

static void unprotect_rtcp__cut_or_flipped__refused_without_trace(void)
{
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        struct leat_srtp *a = session(all_profiles[p]);
        struct octets good = sealed_rtcp(a, rr(9, 1)), next = sealed_rtcp(a, rr(9, 1));
        sweep(all_profiles[p], leat_srtp_unprotect_rtcp, good, next);
        leat_srtp_free(a);
    }
}

static void unprotect__too_short__malformed(void)
{
    static const size_t rtp_least[] = {22, 16, 28, 28}, rtcp_least[] = {22, 22, 28, 28};
    uint8_t zeros[64] = {0x80};
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        struct leat_srtp *s = session(all_profiles[p]);
        for (size_t len = 0; len < sizeof(zeros); len++) {
            zeros[1] = 0x60;
            LEAT_CHECK_ROW(len,
                           opened_exact(s, unprotect_rtp, zeros, len) ==
                               (len < rtp_least[p] ? LEAT_SRTP_MALFORMED : LEAT_SRTP_AUTH_FAIL));
            zeros[1] = 0xc9; /* the E bit is 0 everywhere */
            LEAT_CHECK_ROW(len,
                           opened_exact(s, leat_srtp_unprotect_rtcp, zeros, len) ==
                               (len < rtcp_least[p] ? LEAT_SRTP_MALFORMED : LEAT_SRTP_AUTH_FAIL));
        }
        leat_srtp_free(s);
    }
}

/* Header shapes that reach past the packet (tag excluded). */
static void unprotect__header_overruns__malformed(void)
{
    static const char *const heads[] = {
        "8f600005000000001122334400000001",         /* 15 CSRCs, one there */
        "90600007000000001122334400000000",         /* an extension block longer than the packet: */
        "906000040000000011223344bedeffff01020304", /* 65535 words */
        "40600001000000001122334400000000",         /* version 1 */
        "00600001000000001122334400000000",         /* version 0 */
        "c0600001000000001122334400000000",         /* version 3 */
    };
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        struct leat_srtp *s = session(all_profiles[p]);
        for (size_t i = 0; i < LEAT_ARRAY_LEN(heads); i++) {
            struct octets pkt = from_hex(heads[i]);
            if (i == 1) {
                pkt.data[15] = 200;
            }
            pkt.len += all_profiles[p] == LEAT_SRTP_AES128_CM_SHA1_32 ? 4 : 10;
            LEAT_CHECK_ROW(i, opened_exact(s, unprotect_rtp, pkt.data, pkt.len) ==
                                  LEAT_SRTP_MALFORMED);
            pkt.data[1] = 0xc9;
            if (i >= 3) {
                pkt.len += 20;
                LEAT_CHECK_ROW(i, opened_exact(s, leat_srtp_unprotect_rtcp, pkt.data, pkt.len) ==
                                      LEAT_SRTP_MALFORMED);
            }
        }
        leat_srtp_free(s);
    }
}

/* Authentic under the session's keys, but not encrypted (made with HMAC and AES-GCM of another
 * library). */
static void unprotect_rtcp__not_encrypted__auth_fail(void)
{
    static const char *const packets[] = {
        "80c9000111223344000000011f7d63d035125fed0760",
        "80c9000111223344000000011f7d63d035125fed0760",
        "80c9000111223344b8a9087a1ec09578aba8edf5c7d1510a00000001",
    };
    for (size_t p = 0; p < LEAT_ARRAY_LEN(packets); p++) {
        struct leat_srtp *s = session_with_limit(all_profiles[p], 1);
        LEAT_CHECK_ROW(p, opened_rtcp(s, from_hex(packets[p]), NULL) == LEAT_SRTP_AUTH_FAIL);
        LEAT_CHECK_ROW(p, opened_rtcp(s, sealed_rtcp(s, rr(9, 1)), NULL) == LEAT_SRTP_OK);
        leat_srtp_free(s);
    }
}

static void unprotect__plain_rtp_or_other_key__auth_fail(void)
{
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        struct leat_srtp *s = session(all_profiles[p]), *other;
        struct leat_srtp_keys keys = counting_keys(all_profiles[p]);
        keys.send.salt[0] ^= 1;
        LEAT_CHECK_INT(leat_srtp_new(&other, &keys, 8), 0);
        LEAT_CHECK_INT(opened(s, rtp(9, 1, 100), NULL), LEAT_SRTP_AUTH_FAIL);
        LEAT_CHECK_INT(opened(s, sealed(other, rtp(9, 1, 100)), NULL), LEAT_SRTP_AUTH_FAIL);
        LEAT_CHECK_INT(opened_rtcp(s, sealed_rtcp(other, rr(9, 1)), NULL), LEAT_SRTP_AUTH_FAIL);
        LEAT_CHECK_INT(opened(s, sealed(s, rtp(9, 1, 100)), NULL), LEAT_SRTP_OK);
        leat_srtp_free(s);
        leat_srtp_free(other);
    }
}

static void unprotect__huge_packets__one_verdict_each(void)
{
    static uint8_t big[70000], out[70000];
    static const size_t lens[] = {1500, 2048, 2049, 9000, 65507, 65535};
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        struct leat_srtp *s = session(all_profiles[p]);
        for (size_t i = 0; i < LEAT_ARRAY_LEN(lens); i++) {
            memset(big, 0x80, sizeof(big));
            LEAT_CHECK_ROW(i, opened_exact(s, unprotect_rtp, big, lens[i]) == LEAT_SRTP_AUTH_FAIL);
            size_t plain_len = lens[i] - 16, out_len;
            leat_put_u16(big + 2, (uint16_t)(i + 1));
            LEAT_CHECK_ROW(i, leat_srtp_protect(s, leat_span(big, plain_len), out, sizeof(out),
                                                &out_len) == LEAT_SRTP_OK);
            LEAT_CHECK_ROW(i, opened_exact(s, unprotect_rtp, out, out_len) == LEAT_SRTP_OK);
        }
        LEAT_CHECK_INT(opened_exact(s, unprotect_rtp, big, 65536), LEAT_SRTP_MALFORMED);
        LEAT_CHECK_INT(opened_exact(s, leat_srtp_unprotect_rtcp, big, 65536), LEAT_SRTP_MALFORMED);
        leat_srtp_free(s);
    }
}

/* ---- sending ---- */

static void protect__not_rtp__malformed_and_no_index_used(void)
{
    static const char *const bad[] = {
        "",
        "8060000100000000112233",                   /* 11 octets */
        "006000010000000011223344",                 /* version 0 */
        "c06000010000000011223344",                 /* version 3 */
        "816000010000000011223344",                 /* a CSRC that is not there */
        "906000010000000011223344",                 /* an extension header that is not there */
        "906000010000000011223344bede0001",         /* a block that is not there */
        "8f60000100000000112233440000000100000002", /* 15 CSRCs, two there */
    };
    struct leat_srtp *s = session(LEAT_SRTP_AES128_CM_SHA1_80);
    uint8_t out[400];
    size_t out_len = 77;
    for (size_t i = 0; i < LEAT_ARRAY_LEN(bad); i++) {
        struct octets plain = from_hex(bad[i]);
        uint8_t *block = malloc(plain.len + 1);
        memcpy(block, plain.data, plain.len);
        LEAT_CHECK_ROW(i, leat_srtp_protect(s, leat_span(block, plain.len), out, sizeof(out),
                                            &out_len) == LEAT_SRTP_MALFORMED);
        free(block);
    }
    struct octets short_rtcp = from_hex("80c90001112233"), v1 = from_hex("40c9000111223344");
    LEAT_CHECK_INT(
        leat_srtp_protect_rtcp(s, leat_span(short_rtcp.data, 7), out, sizeof(out), &out_len),
        LEAT_SRTP_MALFORMED);
    LEAT_CHECK_INT(leat_srtp_protect_rtcp(s, leat_span(v1.data, 8), out, sizeof(out), &out_len),
                   LEAT_SRTP_MALFORMED);
    LEAT_CHECK_INT(out_len, 77);
    LEAT_CHECK(sealed(s, rtp(0x11223344, 1, 4)).len != 0);
    leat_srtp_free(s);
}

/* Room for exactly plaintext and trailer; one octet less is refused and uses no index. */
static void protect__exact_room__fits(void)
{
    static const size_t rtp_added[] = {10, 4, 16, 16}, rtcp_added[] = {14, 14, 20, 20};
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        struct leat_srtp *s = session(all_profiles[p]);
        for (uint16_t seq = 1; seq <= 300; seq += 13) {
            struct octets plain = rtp(9, seq, seq), report = rr(9, seq % 31);
            struct leat_span in = leat_span(plain.data, plain.len);
            size_t cap = plain.len + LEAT_SRTP_TRAILER_MAX, len = 0;
            uint8_t *out = malloc(cap);
            LEAT_CHECK_INT(leat_srtp_protect(s, in, out, cap - 1, &len), LEAT_SRTP_NO_ROOM);
            LEAT_CHECK_INT(leat_srtp_protect(s, in, out, 10, &len), LEAT_SRTP_NO_ROOM);
            LEAT_CHECK_INT(leat_srtp_protect(s, in, out, cap, &len), LEAT_SRTP_OK);
            LEAT_CHECK_INT(len, plain.len + rtp_added[p]);
            free(out);

            in = leat_span(report.data, report.len);
            cap = report.len + LEAT_SRTP_TRAILER_MAX;
            out = malloc(cap);
            LEAT_CHECK_INT(leat_srtp_protect_rtcp(s, in, out, cap - 1, &len), LEAT_SRTP_NO_ROOM);
            LEAT_CHECK_INT(leat_srtp_protect_rtcp(s, in, out, cap, &len), LEAT_SRTP_OK);
            LEAT_CHECK_INT(len, report.len + rtcp_added[p]);
            free(out);
        }
        leat_srtp_free(s);
    }
}

/* Only the input is read: a fan-out protects one plaintext for many. */
static void protect__one_plaintext_many_peers__unchanged(void)
{
    struct leat_srtp *a = session(LEAT_SRTP_AES128_CM_SHA1_80);
    struct leat_srtp *b = session(LEAT_SRTP_AEAD_AES_256_GCM);
    struct octets plain = rtp(9, 1, 1000), before = plain, got;
    struct octets for_a = sealed(a, plain), for_b = sealed(b, plain);
    LEAT_CHECK_MEM(plain.data, plain.len, before.data, before.len);
    LEAT_CHECK_INT(opened(a, for_a, &got), LEAT_SRTP_OK);
    LEAT_CHECK_MEM(got.data, got.len, before.data, before.len);
    LEAT_CHECK_INT(opened(b, for_b, &got), LEAT_SRTP_OK);
    LEAT_CHECK_MEM(got.data, got.len, before.data, before.len);
    leat_srtp_free(a);
    leat_srtp_free(b);
}

LEAT_TESTS(LEAT_TEST(unprotect__cut_or_flipped__refused_without_trace),
           LEAT_TEST(unprotect_rtcp__cut_or_flipped__refused_without_trace),
           LEAT_TEST(unprotect__too_short__malformed),
           LEAT_TEST(unprotect__header_overruns__malformed),
           LEAT_TEST(unprotect_rtcp__not_encrypted__auth_fail),
           LEAT_TEST(unprotect__plain_rtp_or_other_key__auth_fail),
           LEAT_TEST(unprotect__huge_packets__one_verdict_each),
           LEAT_TEST(protect__not_rtp__malformed_and_no_index_used),
           LEAT_TEST(protect__exact_room__fits),
           LEAT_TEST(protect__one_plaintext_many_peers__unchanged))
