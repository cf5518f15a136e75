/* SPDX-License-Identifier: MIT */
/* Known packets, SSRCs and the roll-over counter, replay, and the marks of what was sent. */
#include "srtp_test.h"

/* ---- known packets (libsrtp2 over NSS made them) ---- */

#define KAT_RTP_CM80                                                                               \
    "8060000100000000112233440079caba689c4ec3e08bddab9227f10c46050ae7b655f7a43ee6b1807d5d"
#define KAT_RTP_GCM128                                                                             \
    "806000010000000011223344800219adbed14e2b087a9415b08b298bca45510299ca4e900abbd1688c6ffcff6723" \
    "9ff9"
#define KAT_RTCP_CM80 "80c9000111223344800000014fcdf7e29ab9cdb4fa38"
#define KAT_RTCP_GCM128 "80c9000111223344d47a8a3e12e6dc2fbfe3c829a36ab32d80000001"
/* SSRC 9, sequence number 0, roll-over counter 1 */
#define KAT_RTP_ROC_1 "806000000000000000000009dff8cdc11896554dbee8de0e83c554b724731483"

static struct octets known_plain(void)
{
    struct octets plain = rtp(0x11223344, 1, 20);
    leat_put_u32(plain.data + 4, 0);
    return plain;
}

static void protect__known_keys__known_packets(void)
{
    static const struct {
        enum leat_srtp_profile profile;
        const char *rtp, *rtcp;
    } rows[] = {{LEAT_SRTP_AES128_CM_SHA1_80, KAT_RTP_CM80, KAT_RTCP_CM80},
                {LEAT_SRTP_AES128_CM_SHA1_32, NULL, KAT_RTCP_CM80}, /* 80-bit tag for RTCP */
                {LEAT_SRTP_AEAD_AES_128_GCM, KAT_RTP_GCM128, KAT_RTCP_GCM128}};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct leat_srtp *s = session(rows[i].profile);
        struct octets want = from_hex(rows[i].rtcp), plain = rr(0x11223344, 0), got;
        struct octets ours = sealed_rtcp(s, plain);
        LEAT_CHECK_MEM(ours.data, ours.len, want.data, want.len);
        LEAT_CHECK_ROW(i, opened_rtcp(s, want, &got) == LEAT_SRTP_OK);
        LEAT_CHECK_MEM(got.data, got.len, plain.data, plain.len);
        if (rows[i].rtp != NULL) {
            want = from_hex(rows[i].rtp);
            plain = known_plain();
            ours = sealed(s, plain);
            LEAT_CHECK_MEM(ours.data, ours.len, want.data, want.len);
            LEAT_CHECK_ROW(i, opened(s, want, &got) == LEAT_SRTP_OK);
            LEAT_CHECK_MEM(got.data, got.len, plain.data, plain.len);
        }
        LEAT_CHECK_INT(leat_srtp_profile_of(s), rows[i].profile);
        leat_srtp_free(s);
    }
}

static void unprotect__first_packet_has_roc_1__opens(void)
{
    struct leat_srtp *s = session(LEAT_SRTP_AES128_CM_SHA1_80);
    struct octets got, plain = rtp(9, 0, 10);
    LEAT_CHECK_INT(opened(s, from_hex(KAT_RTP_ROC_1), &got), LEAT_SRTP_OK);
    LEAT_CHECK_MEM(got.data, got.len, plain.data, plain.len);
    LEAT_CHECK_INT(opened(s, from_hex(KAT_RTP_ROC_1), NULL), LEAT_SRTP_REPLAY);
    leat_srtp_free(s);
}

static void profile_32__tags__four_and_ten_octets(void)
{
    struct leat_srtp *s = session(LEAT_SRTP_AES128_CM_SHA1_32);
    LEAT_CHECK_INT(sealed(s, rtp(1, 1, 20)).len, 32 + 4);
    LEAT_CHECK_INT(sealed_rtcp(s, rr(1, 0)).len, 8 + 4 + 10);
    leat_srtp_free(s);
}

static void directions__different_keys__not_mixed_up(void)
{
    struct leat_srtp *a = session(LEAT_SRTP_AES128_CM_SHA1_80), *b, *c;
    struct leat_srtp_keys keys = counting_keys(LEAT_SRTP_AES128_CM_SHA1_80);
    keys.receive.key[0] ^= 1;
    LEAT_CHECK_INT(leat_srtp_new(&b, &keys, 8), 0);
    struct leat_srtp_keys other = keys;
    other.send = keys.receive;
    other.receive = keys.send;
    LEAT_CHECK_INT(leat_srtp_new(&c, &other, 8), 0);
    LEAT_CHECK_INT(opened(b, sealed(a, rtp(1, 1, 20)), NULL), LEAT_SRTP_AUTH_FAIL);
    LEAT_CHECK_INT(opened(b, sealed(c, rtp(1, 1, 20)), NULL), LEAT_SRTP_OK);
    LEAT_CHECK_INT(opened(c, sealed(b, rtp(1, 1, 20)), NULL), LEAT_SRTP_OK);
    LEAT_CHECK_INT(opened_rtcp(c, sealed_rtcp(b, rr(1, 0)), NULL), LEAT_SRTP_OK);
    leat_srtp_free(a);
    leat_srtp_free(b);
    leat_srtp_free(c);
}

static void new__no_profile_or_no_ssrcs__invalid(void)
{
    struct leat_srtp_keys keys = {.profile = LEAT_SRTP_PROFILE_NONE};
    struct leat_srtp *s = NULL;
    LEAT_CHECK_INT(leat_srtp_new(&s, &keys, 8), LEAT_E_INVALID);
    keys.profile = LEAT_SRTP_AES128_CM_SHA1_80;
    LEAT_CHECK_INT(leat_srtp_new(&s, &keys, 0), LEAT_E_INVALID);
    LEAT_CHECK(s == NULL);
    leat_srtp_free(NULL);
}

/* ---- the roll-over counter of new SSRCs ---- */

static void unprotect__lost_all_before_the_wrap__goes_on(void)
{
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        struct leat_srtp *a = session(all_profiles[p]), *b = session(all_profiles[p]);
        size_t ok = 0;
        for (uint16_t i = 0; i < 2006; i++) {
            struct octets pkt = sealed(a, rtp(9, (uint16_t)(65530 + i), 30));
            ok += i >= 6 && opened(b, pkt, NULL) == LEAT_SRTP_OK;
        }
        LEAT_CHECK_INT(ok, 2000);
        leat_srtp_free(a);
        leat_srtp_free(b);
    }
}

static void unprotect__reordered_over_the_wrap__all_open(void)
{
    static const uint16_t order[] = {65533, 65535, 0, 1, 65534, 2};
    static const uint16_t late_first[] = {2, 65534, 1, 65533, 0, 65535};
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        struct leat_srtp *a = session(all_profiles[p]), *b = session(all_profiles[p]);
        struct leat_srtp *c = session(all_profiles[p]);
        struct octets pkts[6];
        for (uint16_t i = 0; i < 6; i++) {
            pkts[i] = sealed(a, rtp(9, (uint16_t)(65533 + i), 30));
            sealed(a, rtp(10, (uint16_t)(500 + i), 30));
        }
        for (size_t i = 0; i < 6; i++) {
            LEAT_CHECK_ROW(i, opened(b, pkts[(uint16_t)(order[i] - 65533)], NULL) == LEAT_SRTP_OK);
            LEAT_CHECK_ROW(i, opened(c, pkts[(uint16_t)(late_first[i] - 65533)], NULL) ==
                                  LEAT_SRTP_OK);
        }
        leat_srtp_free(a);
        leat_srtp_free(b);
        leat_srtp_free(c);
    }
}

static void unprotect__two_ssrcs_one_wraps__counters_apart(void)
{
    struct leat_srtp *a = session(LEAT_SRTP_AEAD_AES_128_GCM);
    struct leat_srtp *b = session(LEAT_SRTP_AEAD_AES_128_GCM);
    for (uint16_t i = 0; i < 100; i++) {
        LEAT_CHECK_ROW(i, opened(b, sealed(a, rtp(1, (uint16_t)(65500 + i), 9)), NULL) == 0);
        LEAT_CHECK_ROW(i, opened(b, sealed(a, rtp(2, (uint16_t)(100 + i), 9)), NULL) == 0);
    }
    leat_srtp_free(a);
    leat_srtp_free(b);
}

/* A sender report before any media: the first RTP packet still gets both tries. */
static void unprotect__rtcp_first__rtp_may_have_roc_1(void)
{
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        struct leat_srtp *a = session(all_profiles[p]), *b = session(all_profiles[p]);
        bool is_new = true;
        LEAT_CHECK_INT(opened_rtcp(b, sealed_rtcp(a, rr(9, 1)), NULL), LEAT_SRTP_OK);
        sealed(a, rtp(9, 65535, 30));
        struct octets pkt = sealed(a, rtp(9, 0, 30));
        LEAT_CHECK_INT(leat_srtp_unprotect(b, pkt.data, &pkt.len, &is_new), LEAT_SRTP_OK);
        LEAT_CHECK(is_new);
        pkt = sealed(a, rtp(9, 1, 30));
        LEAT_CHECK_INT(leat_srtp_unprotect(b, pkt.data, &pkt.len, &is_new), LEAT_SRTP_OK);
        LEAT_CHECK(!is_new);
        LEAT_CHECK_INT(opened_rtcp(b, sealed_rtcp(a, rr(9, 1)), NULL), LEAT_SRTP_OK);
        leat_srtp_free(a);
        leat_srtp_free(b);
    }
}

/* The try with a counter of 1 must not outlive its failure. */
static void unprotect__rtcp_first_then_forged_rtp__good_rtp_opens(void)
{
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        struct leat_srtp *a = session(all_profiles[p]), *b = session(all_profiles[p]);
        LEAT_CHECK_INT(opened_rtcp(b, sealed_rtcp(a, rr(9, 1)), NULL), LEAT_SRTP_OK);
        struct octets good = sealed(a, rtp(9, 700, 30)), forged = good;
        forged.data[20] ^= 1;
        LEAT_CHECK_INT(opened(b, forged, NULL), LEAT_SRTP_AUTH_FAIL);
        LEAT_CHECK_INT(opened(b, good, NULL), LEAT_SRTP_OK);
        leat_srtp_free(a);
        leat_srtp_free(b);
    }
}

/* ---- known and unknown SSRCs ---- */

static void unprotect__new_ssrc__told_once(void)
{
    struct leat_srtp *s = session(LEAT_SRTP_AES128_CM_SHA1_80);
    bool is_new = false;
    struct octets pkt = sealed(s, rtp(5, 1, 20));
    LEAT_CHECK_INT(leat_srtp_unprotect(s, pkt.data, &pkt.len, &is_new), LEAT_SRTP_OK);
    LEAT_CHECK(is_new);
    pkt = sealed(s, rtp(5, 2, 20));
    LEAT_CHECK_INT(leat_srtp_unprotect(s, pkt.data, &pkt.len, &is_new), LEAT_SRTP_OK);
    LEAT_CHECK(!is_new);
    pkt = sealed(s, rtp(6, 2, 20));
    pkt.data[pkt.len - 1] ^= 1;
    is_new = true;
    LEAT_CHECK_INT(leat_srtp_unprotect(s, pkt.data, &pkt.len, &is_new), LEAT_SRTP_AUTH_FAIL);
    LEAT_CHECK(!is_new);
    leat_srtp_free(s);
}

static void unprotect__over_the_limit__refused_and_the_known_go_on(void)
{
    struct leat_srtp *a = session(LEAT_SRTP_AES128_CM_SHA1_80);
    struct leat_srtp *b = session_with_limit(LEAT_SRTP_AES128_CM_SHA1_80, 3);
    for (uint32_t i = 0; i < 100; i++) { /* forgeries take no place */
        struct octets forged = sealed(a, rtp(1000 + i, 1, 20));
        forged.data[13] ^= 1;
        LEAT_CHECK_INT(opened(b, forged, NULL), LEAT_SRTP_AUTH_FAIL);
        forged = sealed_rtcp(a, rr(1000 + i, 0));
        forged.data[forged.len - 1] ^= 1;
        LEAT_CHECK_INT(opened_rtcp(b, forged, NULL), LEAT_SRTP_AUTH_FAIL);
    }
    LEAT_CHECK_INT(opened(b, sealed(a, rtp(1, 1, 20)), NULL), LEAT_SRTP_OK);
    LEAT_CHECK_INT(opened(b, sealed(a, rtp(2, 1, 20)), NULL), LEAT_SRTP_OK);
    LEAT_CHECK_INT(opened_rtcp(b, sealed_rtcp(a, rr(3, 0)), NULL), LEAT_SRTP_OK);
    LEAT_CHECK_INT(opened(b, sealed(a, rtp(4, 1, 20)), NULL), LEAT_SRTP_SSRC_LIMIT);
    LEAT_CHECK_INT(opened_rtcp(b, sealed_rtcp(a, rr(4, 0)), NULL), LEAT_SRTP_SSRC_LIMIT);
    for (uint32_t ssrc = 1; ssrc <= 3; ssrc++) {
        LEAT_CHECK_INT(opened(b, sealed(a, rtp(ssrc, 2, 20)), NULL), LEAT_SRTP_OK);
        LEAT_CHECK_INT(opened_rtcp(b, sealed_rtcp(a, rr(ssrc, 0)), NULL), LEAT_SRTP_OK);
    }
    leat_srtp_free(a);
    leat_srtp_free(b);
}

/* SSRC 0 and ~0 are SSRCs like others; many of them grow the tables. */
static void tables__hundreds_of_ssrcs__each_its_own_stream(void)
{
    struct leat_srtp *a = session(LEAT_SRTP_AES128_CM_SHA1_80);
    struct leat_srtp *b = session_with_limit(LEAT_SRTP_AES128_CM_SHA1_80, 300);
    for (uint16_t seq = 1; seq < 4; seq++) {
        for (uint32_t i = 0; i < 300; i++) {
            uint32_t ssrc = i == 299 ? 0xffffffff : i * 0x01000000 + i;
            struct octets pkt = sealed(a, rtp(ssrc, (uint16_t)(seq * 400 + i), 10));
            LEAT_CHECK_ROW(i, opened(b, pkt, NULL) == LEAT_SRTP_OK);
            LEAT_CHECK_ROW(i, opened(b, pkt, NULL) == LEAT_SRTP_REPLAY);
        }
    }
    leat_srtp_free(a);
    leat_srtp_free(b);
}

/* ---- replay ---- */

static void unprotect__again_or_behind_the_window__replay(void)
{
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        struct leat_srtp *a = session(all_profiles[p]), *b = session(all_profiles[p]);
        static struct octets pkts[1100];
        for (uint16_t i = 0; i < 1100; i++) {
            pkts[i] = sealed(a, rtp(9, (uint16_t)(65000 + i), 10));
        }
        LEAT_CHECK_INT(opened(b, pkts[1], NULL), LEAT_SRTP_OK);
        LEAT_CHECK_INT(opened(b, pkts[1], NULL), LEAT_SRTP_REPLAY);
        LEAT_CHECK_INT(opened(b, pkts[1025], NULL), LEAT_SRTP_OK);
        LEAT_CHECK_INT(opened(b, pkts[1], NULL), LEAT_SRTP_REPLAY); /* 1024 behind: too old */
        LEAT_CHECK_INT(opened(b, pkts[2], NULL), LEAT_SRTP_OK);     /* 1023 behind: inside */
        LEAT_CHECK_INT(opened(b, pkts[2], NULL), LEAT_SRTP_REPLAY);
        LEAT_CHECK_INT(opened(b, pkts[26], NULL), LEAT_SRTP_OK); /* a retransmission 999 behind */
        LEAT_CHECK_INT(opened(b, pkts[1025], NULL), LEAT_SRTP_REPLAY);
        leat_srtp_free(a);
        leat_srtp_free(b);
    }
}

static void unprotect_rtcp__again__replay(void)
{
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        struct leat_srtp *a = session(all_profiles[p]), *b = session(all_profiles[p]);
        struct octets one = sealed_rtcp(a, rr(9, 1)), two = sealed_rtcp(a, rr(9, 1));
        LEAT_CHECK_INT(opened_rtcp(b, two, NULL), LEAT_SRTP_OK);
        LEAT_CHECK_INT(opened_rtcp(b, two, NULL), LEAT_SRTP_REPLAY);
        LEAT_CHECK_INT(opened_rtcp(b, one, NULL), LEAT_SRTP_OK);
        LEAT_CHECK_INT(opened_rtcp(b, one, NULL), LEAT_SRTP_REPLAY);
        leat_srtp_free(a);
        leat_srtp_free(b);
    }
}

/* ---- what was sent ---- */

static enum leat_srtp_verdict try_seq(struct leat_srtp *s, uint32_t ssrc, uint16_t seq)
{
    struct octets plain = rtp(ssrc, seq, 20), out;
    return leat_srtp_protect(s, leat_span(plain.data, plain.len), out.data, sizeof(out.data),
                             &out.len);
}

static void protect__index_used_or_too_old__refused(void)
{
    static const struct {
        uint16_t seq;
        enum leat_srtp_verdict want;
    } rows[] = {
        {40000, LEAT_SRTP_OK},         /* the first may be any */
        {40000, LEAT_SRTP_INDEX_USED}, /* the same */
        {39999, LEAT_SRTP_OK},         /* below, but never used */
        {39999, LEAT_SRTP_INDEX_USED},
        {40002, LEAT_SRTP_OK},
        {40001, LEAT_SRTP_OK}, /* late */
        {40001, LEAT_SRTP_INDEX_USED},
        {41000, LEAT_SRTP_OK},
        {40000, LEAT_SRTP_INDEX_USED}, /* still known */
        {39998, LEAT_SRTP_OK},         /* 1002 behind, never used */
        {42023, LEAT_SRTP_OK},
        {41000, LEAT_SRTP_INDEX_USED}, /* 1023 behind: the last one that is known */
        {40999, LEAT_SRTP_INDEX_USED}, /* 1024 behind: nobody knows */
        {43047, LEAT_SRTP_OK},         /* a step of the whole window forgets all of it */
        {42024, LEAT_SRTP_OK},         /* same bit as nothing used in this window */
        {42024, LEAT_SRTP_INDEX_USED},
        {65535, LEAT_SRTP_OK},
        {0, LEAT_SRTP_OK}, /* wraps */
        {65535, LEAT_SRTP_INDEX_USED},
        {65534, LEAT_SRTP_OK}, /* late over the wrap: under the roll-over counter before */
        {65534, LEAT_SRTP_INDEX_USED},
        {40003, LEAT_SRTP_INDEX_USED},
        {0, LEAT_SRTP_INDEX_USED},
        {32768, LEAT_SRTP_INDEX_USED}, /* 2^15 ahead: could as well be behind */
        {32767, LEAT_SRTP_OK},
        {65534, LEAT_SRTP_OK},
        {32765, LEAT_SRTP_OK}, /* second wrap */
        {65534, LEAT_SRTP_INDEX_USED},
        {32766, LEAT_SRTP_OK},
    };
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        struct leat_srtp *s = session(all_profiles[p]);
        for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
            LEAT_CHECK_ROW(i, try_seq(s, 9, rows[i].seq) == rows[i].want);
        }
        LEAT_CHECK_INT(try_seq(s, 10, 5), LEAT_SRTP_OK); /* another SSRC, its own mark */
        leat_srtp_free(s);
    }
}

static void protect__first_sequence_number_0__once(void)
{
    struct leat_srtp *s = session(LEAT_SRTP_AES128_CM_SHA1_80);
    LEAT_CHECK_INT(try_seq(s, 9, 0), LEAT_SRTP_OK);
    LEAT_CHECK_INT(try_seq(s, 9, 0), LEAT_SRTP_INDEX_USED);
    LEAT_CHECK_INT(try_seq(s, 9, 65535), LEAT_SRTP_INDEX_USED); /* would be below index 0 */
    LEAT_CHECK_INT(try_seq(s, 9, 1), LEAT_SRTP_OK);
    leat_srtp_free(s);
}

/* Two whole turns of the sequence number: sender and receiver agree all the way. */
static void protect__two_wraps__all_open(void)
{
    struct leat_srtp *a = session(LEAT_SRTP_AES128_CM_SHA1_80);
    struct leat_srtp *b = session(LEAT_SRTP_AES128_CM_SHA1_80);
    size_t ok = 0, count = 0;
    for (uint32_t n = 1000; n < 1000 + 2 * 65536; n += 97) {
        count++;
        ok += opened(b, sealed(a, rtp(9, (uint16_t)n, 5)), NULL) == LEAT_SRTP_OK;
    }
    LEAT_CHECK_INT(ok, count);
    leat_srtp_free(a);
    leat_srtp_free(b);
}

/* The index stands before the tag, in AEAD profiles behind it; it counts from 1 per SSRC, whatever
 * else is sent. */
static void protect_rtcp__index__rises_per_ssrc(void)
{
    for (size_t p = 0; p < LEAT_ARRAY_LEN(all_profiles); p++) {
        struct leat_srtp *s = session(all_profiles[p]);
        bool is_aead = all_profiles[p] >= LEAT_SRTP_AEAD_AES_128_GCM;
        for (uint32_t i = 1; i <= 50; i++) {
            for (uint32_t ssrc = 1; ssrc <= 3; ssrc++) {
                struct octets out = sealed_rtcp(s, rr(ssrc, i % 3));
                size_t at = out.len - (is_aead ? 4 : 14);
                LEAT_CHECK_INT(leat_get_u32(out.data + at), 0x80000000u + i);
            }
            sealed(s, rtp(i, (uint16_t)i, 3));
        }
        leat_srtp_free(s);
    }
}

LEAT_TESTS(LEAT_TEST(protect__known_keys__known_packets),
           LEAT_TEST(unprotect__first_packet_has_roc_1__opens),
           LEAT_TEST(profile_32__tags__four_and_ten_octets),
           LEAT_TEST(directions__different_keys__not_mixed_up),
           LEAT_TEST(new__no_profile_or_no_ssrcs__invalid),
           LEAT_TEST(unprotect__lost_all_before_the_wrap__goes_on),
           LEAT_TEST(unprotect__reordered_over_the_wrap__all_open),
           LEAT_TEST(unprotect__two_ssrcs_one_wraps__counters_apart),
           LEAT_TEST(unprotect__rtcp_first__rtp_may_have_roc_1),
           LEAT_TEST(unprotect__rtcp_first_then_forged_rtp__good_rtp_opens),
           LEAT_TEST(unprotect__new_ssrc__told_once),
           LEAT_TEST(unprotect__over_the_limit__refused_and_the_known_go_on),
           LEAT_TEST(tables__hundreds_of_ssrcs__each_its_own_stream),
           LEAT_TEST(unprotect__again_or_behind_the_window__replay),
           LEAT_TEST(unprotect_rtcp__again__replay),
           LEAT_TEST(protect__index_used_or_too_old__refused),
           LEAT_TEST(protect__first_sequence_number_0__once),
           LEAT_TEST(protect__two_wraps__all_open), LEAT_TEST(protect_rtcp__index__rises_per_ssrc))
