/* SPDX-License-Identifier: MIT */
/*
 * Reception statistics against numbers worked out by hand from RFC 3550 6.4.1, A.3 and A.8.
 */
#include "harness.h"

#include <leat/bytes.h>
#include <leat/rtcp.h>

#define SSRC 0x11223344u

static struct leat_rtcp_block report(struct leat_rtp_receiver *r, uint64_t now_us)
{
    struct leat_rtcp_block b;
    leat_rtp_receiver_report(r, SSRC, now_us, &b);
    LEAT_CHECK_INT(b.ssrc, SSRC);
    return b;
}

/** `count` packets from `seq` on, 20 ms and 20 ms of timestamp apart. */
static void feed(struct leat_rtp_receiver *r, uint32_t seq, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = seq + i;
        leat_rtp_receiver_add(r, (uint16_t)n, n * (r->clock_hz / 50), 100, (uint64_t)n * 20000);
    }
}

static void report__nothing_lost__is_clean(void)
{
    struct leat_rtp_receiver r;
    leat_rtp_receiver_init(&r, 48000);
    feed(&r, 1000, 50);
    struct leat_rtcp_block b = report(&r, 0);
    LEAT_CHECK_INT(b.fraction_lost, 0);
    LEAT_CHECK_INT(b.lost, 0);
    LEAT_CHECK_INT(b.highest_seq, 1049);
    LEAT_CHECK_INT(b.jitter, 0);
    LEAT_CHECK_INT(b.last_sr, 0);
    LEAT_CHECK_INT(b.delay_since_sr, 0);
    LEAT_CHECK_INT(r.packets, 50);
    LEAT_CHECK_INT(r.octets, 5000);
}

static void report__across_the_wrap__cycles_are_in_the_upper_half(void)
{
    struct leat_rtp_receiver r;
    leat_rtp_receiver_init(&r, 90000);
    feed(&r, 65530, 20);
    struct leat_rtcp_block b = report(&r, 0);
    LEAT_CHECK_INT(b.highest_seq, 0x10000 + 13);
    LEAT_CHECK_INT(b.lost, 0);
    LEAT_CHECK_INT(b.fraction_lost, 0);
}

static void report__a_quarter_lost__fraction_is_of_the_interval(void)
{
    struct leat_rtp_receiver r;
    leat_rtp_receiver_init(&r, 90000);
    for (uint16_t seq = 0; seq < 100; seq++) {
        if (seq % 4 != 1) {
            leat_rtp_receiver_add(&r, seq, seq, 1, 0);
        }
    }
    struct leat_rtcp_block b = report(&r, 0);
    LEAT_CHECK_INT(b.lost, 25);
    LEAT_CHECK_INT(b.fraction_lost, 64); /* 25 of 100 */
    for (uint16_t seq = 100; seq < 200; seq++) {
        leat_rtp_receiver_add(&r, seq, seq, 1, 0);
    }
    b = report(&r, 0);
    LEAT_CHECK_INT(b.lost, 25);
    LEAT_CHECK_INT(b.fraction_lost, 0);
    for (uint16_t seq = 201; seq < 300; seq += 2) {
        leat_rtp_receiver_add(&r, seq, seq, 1, 0);
    }
    b = report(&r, 0);
    LEAT_CHECK_INT(b.lost, 75);
    LEAT_CHECK_INT(b.fraction_lost, 128); /* 50 of 100 */
}

static void report__one_packet_in_ten_twice__lost_is_negative(void)
{
    struct leat_rtp_receiver r;
    leat_rtp_receiver_init(&r, 90000);
    for (uint16_t seq = 0; seq < 100; seq++) {
        leat_rtp_receiver_add(&r, seq, seq, 1, 0);
        if (seq % 10 == 9) {
            leat_rtp_receiver_add(&r, seq, seq, 1, 0);
        }
    }
    LEAT_CHECK_INT(leat_rtp_receiver_lost(&r), -10);
    struct leat_rtcp_block b = report(&r, 0);
    LEAT_CHECK_INT(b.lost, -10);
    LEAT_CHECK_INT(b.fraction_lost, 0);
    uint8_t out[64];
    struct leat_writer w;
    leat_writer_init(&w, out, sizeof(out));
    leat_rtcp_write_rr(&w, 1, &b, 1);
    LEAT_CHECK_MEM(out + 13, (size_t)3, "\xff\xff\xf6", (size_t)3);
}

static void report__reordered_packets__are_not_lost(void)
{
    static const uint16_t order[] = {10, 12, 11, 15, 13, 14, 16, 65535, 18, 17};
    struct leat_rtp_receiver r;
    leat_rtp_receiver_init(&r, 90000);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(order); i++) {
        if (order[i] != 65535) {
            leat_rtp_receiver_add(&r, order[i], order[i], 1, 0);
        }
    }
    LEAT_CHECK_INT(leat_rtp_receiver_lost(&r), 0);
    LEAT_CHECK_INT(report(&r, 0).highest_seq, 18);
}

static void report__no_packet_in_the_interval__fraction_is_zero(void)
{
    struct leat_rtp_receiver r;
    leat_rtp_receiver_init(&r, 90000);
    struct leat_rtcp_block b = report(&r, 0);
    LEAT_CHECK_INT(b.fraction_lost, 0);
    LEAT_CHECK_INT(b.lost, 0);
    LEAT_CHECK_INT(b.highest_seq, 0);
    feed(&r, 5, 10);
    (void)report(&r, 0);
    b = report(&r, 0);
    LEAT_CHECK_INT(b.fraction_lost, 0);
    LEAT_CHECK_INT(b.lost, 0);
}

static void report__nearly_everything_lost__fraction_does_not_wrap(void)
{
    struct leat_rtp_receiver r;
    leat_rtp_receiver_init(&r, 90000);
    feed(&r, 0, 1);
    (void)report(&r, 0);
    leat_rtp_receiver_add(&r, 2000, 0, 1, 0);
    struct leat_rtcp_block b = report(&r, 0);
    LEAT_CHECK_INT(b.fraction_lost, 255); /* 1999 of 2000 */
    LEAT_CHECK_INT(b.lost, 1999);
}

static void report__more_than_24_bits__is_clamped(void)
{
    struct leat_rtp_receiver r;
    leat_rtp_receiver_init(&r, 90000);
    feed(&r, 0, 1);
    r.highest += 0x1000000;
    LEAT_CHECK_INT(report(&r, 0).lost, 0x7fffff);
    LEAT_CHECK_INT(leat_rtp_receiver_lost(&r), 0x1000000);
    r.packets += 0x3000000;
    LEAT_CHECK_INT(report(&r, 0).lost, -0x800000);
}

static void report__source_restarts_its_numbers__loss_goes_on(void)
{
    struct leat_rtp_receiver r;
    leat_rtp_receiver_init(&r, 90000);
    feed(&r, 20000, 10);
    leat_rtp_receiver_add(&r, 20011, 0, 1, 0); /* 20010 is lost */
    LEAT_CHECK_INT(leat_rtp_receiver_lost(&r), 1);
    feed(&r, 100, 50);
    LEAT_CHECK_INT(leat_rtp_receiver_lost(&r), 1);
    struct leat_rtcp_block b = report(&r, 0);
    LEAT_CHECK_INT(b.lost, 1);
    LEAT_CHECK_INT(b.highest_seq, 0x10000 + 149);
    leat_rtp_receiver_add(&r, 151, 0, 1, 0); /* 150 is lost */
    LEAT_CHECK_INT(leat_rtp_receiver_lost(&r), 2);
}

static void report__one_stray_number__moves_nothing(void)
{
    struct leat_rtp_receiver r;
    leat_rtp_receiver_init(&r, 90000);
    feed(&r, 20000, 10);
    leat_rtp_receiver_add(&r, 40000, 0, 1, 0);
    feed(&r, 20010, 10);
    LEAT_CHECK_INT(report(&r, 0).highest_seq, 20019);
    LEAT_CHECK_INT(leat_rtp_receiver_lost(&r), -1);
}

static void jitter__late_by_turns__is_in_rtp_units(void)
{
    static const uint32_t clocks[] = {90000, 48000};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(clocks); i++) {
        struct leat_rtp_receiver r;
        uint32_t step = clocks[i] / 50; /* 20 ms */
        leat_rtp_receiver_init(&r, clocks[i]);
        /* every other packet is 10 ms late: |D| is 10 ms always and so J goes to 10 ms */
        for (uint32_t n = 0; n < 1000; n++) {
            leat_rtp_receiver_add(&r, (uint16_t)n, n * step, 1,
                                  5000000 + (uint64_t)n * 20000 + (n % 2) * 10000);
        }
        uint32_t jitter = report(&r, 0).jitter;
        LEAT_CHECK_ROW(i, jitter >= clocks[i] / 100 - 1 && jitter <= clocks[i] / 100);
        double seconds = leat_rtp_receiver_jitter_s(&r);
        LEAT_CHECK_ROW(i, seconds > 0.00998 && seconds <= 0.010);
    }
}

static void jitter__first_difference__counts_a_sixteenth(void)
{
    struct leat_rtp_receiver r;
    leat_rtp_receiver_init(&r, 90000);
    leat_rtp_receiver_add(&r, 1, 0xfffffff0, 1, 1000000);
    /* 3000 units of timestamp, across its wrap, and 33.333 + 16 ms of time: D = 1440 */
    leat_rtp_receiver_add(&r, 2, 0xfffffff0 + 3000u, 1, 1000000 + 33334 + 16000);
    LEAT_CHECK_INT(report(&r, 0).jitter, 1440 / 16);
}

static void jitter__packets_of_one_frame__do_not_count(void)
{
    struct leat_rtp_receiver r;
    leat_rtp_receiver_init(&r, 90000);
    for (uint32_t frame = 0; frame < 30; frame++) {
        for (uint32_t n = 0; n < 5; n++) {
            leat_rtp_receiver_add(&r, (uint16_t)(frame * 5 + n), frame * 3600, 1,
                                  (uint64_t)frame * 40000 + n * 3000);
        }
    }
    LEAT_CHECK_INT(report(&r, 0).jitter, 0);
}

static void jitter__new_timeline__is_no_jitter(void)
{
    struct leat_rtp_receiver r;
    leat_rtp_receiver_init(&r, 90000);
    leat_rtp_receiver_add(&r, 1, 0, 1, 0);
    leat_rtp_receiver_add(&r, 2, 0x80000000, 1, 20000);
    leat_rtp_receiver_add(&r, 3, 0x80000000 + 1800, 1, 40000);
    LEAT_CHECK_INT(report(&r, 0).jitter, 0);
}

static void jitter__product_of_time_and_clock_over_64_bits__does_not_count(void)
{
    struct leat_rtp_receiver r;
    leat_rtp_receiver_init(&r, 90000);
    const uint64_t now_us = UINT64_MAX / 90000 - 10000;
    leat_rtp_receiver_add(&r, 1, 0, 1, now_us);
    leat_rtp_receiver_add(&r, 2, 1800, 1, now_us + 20000 + 16000);
    LEAT_CHECK_INT(report(&r, 0).jitter, 1440 / 16);
    leat_rtp_receiver_init(&r, 0);
    leat_rtp_receiver_add(&r, 1, 0, 1, now_us);
    leat_rtp_receiver_add(&r, 2, 1800, 1, now_us + 20000);
    LEAT_CHECK_INT(report(&r, 0).jitter, 0);
    LEAT_CHECK(leat_rtp_receiver_jitter_s(&r) <= 0.0);
}

static void last_sr__delay__is_in_65536ths_of_a_second(void)
{
    struct leat_rtp_receiver r;
    leat_rtp_receiver_init(&r, 90000);
    leat_rtp_receiver_sr(&r, 0xe8e8aabbccdd1111, 10000000);
    struct leat_rtcp_block b = report(&r, 11500000);
    LEAT_CHECK_INT(b.last_sr, 0xaabbccdd);
    LEAT_CHECK_INT(b.delay_since_sr, 0x18000);
    LEAT_CHECK_INT(report(&r, 9000000).delay_since_sr, 0);
    LEAT_CHECK_INT(report(&r, 10000000 + 100000000000).delay_since_sr, UINT32_MAX);
}

LEAT_TESTS(LEAT_TEST(report__nothing_lost__is_clean),
           LEAT_TEST(report__across_the_wrap__cycles_are_in_the_upper_half),
           LEAT_TEST(report__a_quarter_lost__fraction_is_of_the_interval),
           LEAT_TEST(report__one_packet_in_ten_twice__lost_is_negative),
           LEAT_TEST(report__reordered_packets__are_not_lost),
           LEAT_TEST(report__no_packet_in_the_interval__fraction_is_zero),
           LEAT_TEST(report__nearly_everything_lost__fraction_does_not_wrap),
           LEAT_TEST(report__more_than_24_bits__is_clamped),
           LEAT_TEST(report__source_restarts_its_numbers__loss_goes_on),
           LEAT_TEST(report__one_stray_number__moves_nothing),
           LEAT_TEST(jitter__late_by_turns__is_in_rtp_units),
           LEAT_TEST(jitter__first_difference__counts_a_sixteenth),
           LEAT_TEST(jitter__packets_of_one_frame__do_not_count),
           LEAT_TEST(jitter__new_timeline__is_no_jitter),
           LEAT_TEST(jitter__product_of_time_and_clock_over_64_bits__does_not_count),
           LEAT_TEST(last_sr__delay__is_in_65536ths_of_a_second))
