/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "hex.h"

#include <leat/rtcp.h>

/** The types of a datagram in order, "200/0 202/1", then "!" when it ends in a malformed packet. */
static const char *list_packets(const char *datagram, char *out, size_t cap)
{
    struct octets o;
    struct leat_span d = hex(&o, datagram);
    struct leat_reader r;
    struct leat_rtcp p;
    size_t len = 0;
    out[0] = '\0';
    leat_reader_init(&r, d.data, d.len);
    while (leat_rtcp_next(&r, &p)) {
        len += (size_t)snprintf(out + len, cap - len, "%s%u/%u", len != 0 ? " " : "", p.type,
                                p.count_or_fmt);
    }
    if (r.failed) {
        (void)snprintf(out + len, cap - len, "!");
    }
    return out;
}

static struct leat_rtcp first_packet(struct octets *o, const char *datagram)
{
    struct leat_span d = hex(o, datagram);
    struct leat_reader r;
    struct leat_rtcp p;
    leat_reader_init(&r, d.data, d.len);
    LEAT_CHECK(leat_rtcp_next(&r, &p));
    return p;
}

static void next__compounds_and_reduced_size__every_packet_is_found(void)
{
    static const struct {
        const char *datagram, *packets;
    } rows[] = {
        /* Chromium: SR, SDES, XR; RR and XR; transport feedback padded by one octet */
        {"80c800062f291bafeeb8796c46c40d0a5c9bfba10000002c000093f1"
         "81ca00062f291baf0110632b363967686d315763366452303667000080cf00052f291baf0500000300000001"
         "796c2f39000016b6",
         "200/0 202/1 207/0"},
        {"81c90007000000012f291baf00000000000075940000011e0000000000000000"
         "80cf00040000000104000002eeb8796c2f3929ed",
         "201/1 207/0"},
        {"afcd0006000000012f291baf00010005005a1e002005ad1f25202201", "205/15"},
        /* RR, SDES, NACK and PLI in one datagram; a PLI alone */
        {"80c9000100000001 81ca00030000000101026162 00000000 81cd00030000000122222222 00010000"
         "81ce00020000000122222222",
         "201/0 202/1 205/1 206/1"},
        {"81ce00021111111122222222", "206/1"},
        /* unknown types are returned; an empty BYE */
        {"80c00000 80df0001 00000001", "192/0 223/0"},
        {"80cb0000", "203/0"},
        {"", ""},
        /* malformed: version, length, half a header, padding of 0, of more than there is, of
           nothing */
        {"00c9000100000001", "!"},
        {"80c9000200000001", "!"},
        {"80c9000100000001 80c9", "201/0!"},
        {"80c9000100000001 81ce0002", "201/0!"},
        {"a0c9000100000000", "!"},
        {"a0c9000100000005", "!"},
        {"a0c90000", "!"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        char found[128];
        LEAT_CHECK_STR(list_packets(rows[i].datagram, found, sizeof(found)), rows[i].packets);
    }
}

static void next__padding__is_not_part_of_the_body(void)
{
    struct octets o;
    struct leat_rtcp p = first_packet(&o, "a0c90002 01020304 00000004");
    LEAT_CHECK_INT(p.body.len, 4);
    LEAT_CHECK_INT(p.ssrc, 0x01020304);
    p = first_packet(&o, "afcd0006000000012f291baf00010005005a1e002005ad1f25202201");
    LEAT_CHECK_INT(p.body.len, 23);
    p = first_packet(&o, "80cb0000");
    LEAT_CHECK_INT(p.ssrc, 0);
}

static void sender_info__chromium_report__is_read(void)
{
    struct octets o;
    struct leat_rtcp_sender_info info;
    struct leat_rtcp p =
        first_packet(&o, "80c800062f291bafeeb8796c46c40d0a5c9bfba10000002c000093f1");
    LEAT_CHECK(leat_rtcp_read_sender_info(&p, &info));
    LEAT_CHECK(info.ntp == 0xeeb8796c46c40d0a);
    LEAT_CHECK_INT(info.rtp_timestamp, 0x5c9bfba1);
    LEAT_CHECK_INT(info.packets, 44);
    LEAT_CHECK_INT(info.octets, 37873);
    p = first_packet(&o, "80c800052f291bafeeb8796c46c40d0a5c9bfba10000002c");
    LEAT_CHECK(!leat_rtcp_read_sender_info(&p, &info));
    p = first_packet(&o, "80c900062f291bafeeb8796c46c40d0a5c9bfba10000002c000093f1");
    LEAT_CHECK(!leat_rtcp_read_sender_info(&p, &info));
}

static const struct leat_rtcp_block blocks[2] = {
    {0x11223344, 51, -5, 0x0001fffe, 0x1234, 0xaabbccdd, 0x00018000},
    {0xffffffff, 255, 8388607, 1, 0, 0, 0},
};
static const struct leat_rtcp_sender_info sender_info = {0xe8e8e8e8a5a5a5a5, 0xdeadbeef, 1000,
                                                         1200000};

static bool blocks_equal(const struct leat_rtcp_block *a, const struct leat_rtcp_block *b)
{
    return a->ssrc == b->ssrc && a->fraction_lost == b->fraction_lost && a->lost == b->lost &&
           a->highest_seq == b->highest_seq && a->jitter == b->jitter && a->last_sr == b->last_sr &&
           a->delay_since_sr == b->delay_since_sr;
}

/* Octets by aiortc 1.4.0. */
#define RR_TWO                                                                                     \
    "82c9000d000000011122334433fffffb0001fffe00001234aabbccdd00018000ffffffffff7fffff000000010000" \
    "0"                                                                                            \
    "0000000000000000000"
#define SR_ONE                                                                                     \
    "81c8000c01020304e8e8e8e8a5a5a5a5deadbeef000003e800124f801122334433fffffb0001fffe00001234aabb" \
    "cc"                                                                                           \
    "dd00018000"

static void blocks__of_sr_and_rr__are_read(void)
{
    struct octets o;
    struct leat_rtcp_block found[LEAT_RTCP_BLOCKS_MAX];
    struct leat_rtcp p = first_packet(&o, RR_TWO);
    LEAT_CHECK_INT(leat_rtcp_read_blocks(&p, found), 2);
    LEAT_CHECK(blocks_equal(&found[0], &blocks[0]));
    LEAT_CHECK(blocks_equal(&found[1], &blocks[1]));
    p = first_packet(&o, SR_ONE);
    LEAT_CHECK_INT(leat_rtcp_read_blocks(&p, found), 1);
    LEAT_CHECK(blocks_equal(&found[0], &blocks[0]));
}

static void blocks__count_says_more_than_there_is__only_whole_ones(void)
{
    struct octets o;
    struct leat_rtcp_block found[LEAT_RTCP_BLOCKS_MAX];
    struct leat_rtcp p =
        first_packet(&o, "9fc90007 00000001 11223344 33fffffb 0001fffe 00001234 aabbccdd 00018000");
    LEAT_CHECK_INT(leat_rtcp_read_blocks(&p, found), 1);
    p = first_packet(&o, "9fc90006 00000001 11223344 33fffffb 0001fffe 00001234 aabbccdd");
    LEAT_CHECK_INT(leat_rtcp_read_blocks(&p, found), 0);
    /* what stands behind the counted blocks is a profile's extension */
    p = first_packet(&o, "80c90007 00000001 11223344 33fffffb 0001fffe 00001234 aabbccdd 00018000");
    LEAT_CHECK_INT(leat_rtcp_read_blocks(&p, found), 0);
    p = first_packet(&o, "81ca0007 00000001 11223344 33fffffb 0001fffe 00001234 aabbccdd 00018000");
    LEAT_CHECK_INT(leat_rtcp_read_blocks(&p, found), 0);
}

static void pli__right_and_wrong_packets__media_ssrc(void)
{
    struct octets o;
    uint32_t ssrc = 0;
    struct leat_rtcp p = first_packet(&o, "81ce0002 11111111 22222222");
    LEAT_CHECK(leat_rtcp_read_pli(&p, &ssrc));
    LEAT_CHECK_INT(ssrc, 0x22222222);
    p = first_packet(&o, "81ce0001 11111111");
    LEAT_CHECK(!leat_rtcp_read_pli(&p, &ssrc));
    p = first_packet(&o, "82ce0002 11111111 22222222");
    LEAT_CHECK(!leat_rtcp_read_pli(&p, &ssrc));
    p = first_packet(&o, "81cd0002 11111111 22222222");
    LEAT_CHECK(!leat_rtcp_read_pli(&p, &ssrc));
}

static void fir__entries__each_names_its_ssrc(void)
{
    struct octets o;
    size_t cursor = 0;
    uint32_t ssrc = 0;
    uint8_t nr = 0;
    struct leat_rtcp p =
        first_packet(&o, "84ce0006 11111111 00000000 22222222 01000000 33333333 ff000000");
    LEAT_CHECK(leat_rtcp_read_fir(&p, &cursor, &ssrc, &nr));
    LEAT_CHECK_INT(ssrc, 0x22222222);
    LEAT_CHECK_INT(nr, 1);
    LEAT_CHECK(leat_rtcp_read_fir(&p, &cursor, &ssrc, &nr));
    LEAT_CHECK_INT(ssrc, 0x33333333);
    LEAT_CHECK_INT(nr, 255);
    LEAT_CHECK(!leat_rtcp_read_fir(&p, &cursor, &ssrc, &nr));
    cursor = 0;
    p = first_packet(&o, "84ce0003 11111111 00000000 22222222");
    LEAT_CHECK(!leat_rtcp_read_fir(&p, &cursor, &ssrc, &nr));
    p = first_packet(&o, "84ce0001 11111111");
    LEAT_CHECK(!leat_rtcp_read_fir(&p, &cursor, &ssrc, &nr));
    p = first_packet(&o, "81ce0004 11111111 00000000 22222222 01000000");
    LEAT_CHECK(!leat_rtcp_read_fir(&p, &cursor, &ssrc, &nr));
}

static void bye__sources__as_many_as_counted_and_present(void)
{
    struct octets o;
    size_t cursor = 0;
    uint32_t ssrc = 0;
    /* two sources and a reason that must not be taken for a third */
    struct leat_rtcp p = first_packet(&o, "82cb0003 00000001 fffffffe 03627965");
    LEAT_CHECK(leat_rtcp_read_bye(&p, &cursor, &ssrc));
    LEAT_CHECK_INT(ssrc, 1);
    LEAT_CHECK(leat_rtcp_read_bye(&p, &cursor, &ssrc));
    LEAT_CHECK_INT(ssrc, 0xfffffffe);
    LEAT_CHECK(!leat_rtcp_read_bye(&p, &cursor, &ssrc));
    cursor = 0;
    p = first_packet(&o, "9fcb0001 00000001");
    LEAT_CHECK(leat_rtcp_read_bye(&p, &cursor, &ssrc));
    LEAT_CHECK(!leat_rtcp_read_bye(&p, &cursor, &ssrc));
}

static void check_written(const struct leat_writer *w, const char *expected)
{
    struct octets o;
    hex(&o, expected);
    LEAT_CHECK(!w->failed);
    LEAT_CHECK_MEM(w->start, leat_writer_len(w), o.data, o.len);
}

static void write__reports__as_another_implementation_writes_them(void)
{
    uint8_t out[256];
    struct leat_writer w;
    leat_writer_init(&w, out, sizeof(out));
    leat_rtcp_write_rr(&w, 1, blocks, 2);
    check_written(&w, RR_TWO);
    leat_writer_init(&w, out, sizeof(out));
    leat_rtcp_write_rr(&w, 1, NULL, 0);
    check_written(&w, "80c9000100000001");
    leat_writer_init(&w, out, sizeof(out));
    leat_rtcp_write_sr(&w, 0x01020304, &sender_info, blocks, 1);
    check_written(&w, SR_ONE);
}

static void write__sdes_of_each_length__ends_with_zero_to_a_word(void)
{
    static const struct {
        const char *cname, *expected;
    } rows[] = {
        {"a", "81ca00020102030401016100"},
        {"ab", "81ca0003010203040102616200000000"},
        {"abc", "81ca0003010203040103616263000000"},
        {"abcd", "81ca0003010203040104616263640000"},
        {"", "81ca0002010203040100 0000"},
        {"abcde", "81ca0003010203040105616263646500"},
        {"abcdef", "81ca000401020304010661626364656600000000"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        uint8_t out[64];
        struct leat_writer w;
        leat_writer_init(&w, out, sizeof(out));
        leat_rtcp_write_sdes_cname(&w, 0x01020304, rows[i].cname);
        check_written(&w, rows[i].expected);
    }
}

static void write__feedback_and_bye__have_their_octets(void)
{
    const uint32_t sources[2] = {1, 0xfffffffe};
    uint8_t out[256];
    struct leat_writer w;
    leat_writer_init(&w, out, sizeof(out));
    leat_rtcp_write_bye(&w, sources, 2);
    leat_rtcp_write_pli(&w, 0x11111111, 0x22222222);
    leat_rtcp_write_fir(&w, 0x11111111, 0x22222222, 1);
    check_written(&w, "82cb000200000001fffffffe 81ce00021111111122222222"
                      "84ce0004 11111111 00000000 22222222 01000000");
}

static void write__too_much__fails_and_stays_failed(void)
{
    static const uint32_t sources[32];
    static const struct leat_rtcp_block many[32];
    uint8_t out[2048];
    char cname[257];
    struct leat_writer w;
    memset(cname, 'x', sizeof(cname) - 1);
    cname[256] = '\0';
    leat_writer_init(&w, out, sizeof(out));
    leat_rtcp_write_sdes_cname(&w, 1, cname + 1);
    LEAT_CHECK(!w.failed);
    leat_rtcp_write_sdes_cname(&w, 1, cname);
    LEAT_CHECK(w.failed);
    leat_writer_init(&w, out, sizeof(out));
    leat_rtcp_write_bye(&w, sources, 32);
    LEAT_CHECK(w.failed);
    leat_writer_init(&w, out, sizeof(out));
    leat_rtcp_write_rr(&w, 1, many, 32);
    LEAT_CHECK(w.failed);
    for (size_t cap = 0; cap < 12; cap++) {
        leat_writer_init(&w, out, cap);
        leat_rtcp_write_pli(&w, 1, 2);
        LEAT_CHECK_ROW(cap, w.failed);
    }
}

static void ntp__of_unix_time__counts_from_1900(void)
{
    /* 2023-06-01T12:00:00.25Z by aiortc 1.4.0 */
    LEAT_CHECK(leat_ntp_from_unix_us(1685620800250000) == 0xe82306c040000000);
    LEAT_CHECK(leat_ntp_from_unix_us(0) == (uint64_t)2208988800 << 32);
    /* the era ends on 2036-02-07T06:28:16Z (RFC 5905 6) */
    LEAT_CHECK(leat_ntp_from_unix_us(2085978496000000) == 0);
}

LEAT_TESTS(LEAT_TEST(next__compounds_and_reduced_size__every_packet_is_found),
           LEAT_TEST(next__padding__is_not_part_of_the_body),
           LEAT_TEST(sender_info__chromium_report__is_read),
           LEAT_TEST(blocks__of_sr_and_rr__are_read),
           LEAT_TEST(blocks__count_says_more_than_there_is__only_whole_ones),
           LEAT_TEST(pli__right_and_wrong_packets__media_ssrc),
           LEAT_TEST(fir__entries__each_names_its_ssrc),
           LEAT_TEST(bye__sources__as_many_as_counted_and_present),
           LEAT_TEST(write__reports__as_another_implementation_writes_them),
           LEAT_TEST(write__sdes_of_each_length__ends_with_zero_to_a_word),
           LEAT_TEST(write__feedback_and_bye__have_their_octets),
           LEAT_TEST(write__too_much__fails_and_stays_failed),
           LEAT_TEST(ntp__of_unix_time__counts_from_1900))
