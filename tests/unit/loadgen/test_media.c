/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "media.h"

#define NOW_US 1000000u

static struct leat_load_sender video(unsigned rate_kbps, size_t size)
{
    struct leat_load_sender s = {.kind = LEAT_KIND_VIDEO,
                                 .publisher = 7,
                                 .pt = 96,
                                 .mid_ext = 3,
                                 .mid = "0",
                                 .ssrc = 0xcafe,
                                 .first_seq = 65530,
                                 .first_timestamp = 0xffffff00,
                                 .start_us = NOW_US};
    leat_load_sender_pace_video(&s, rate_kbps, size);
    return s;
}

static void payload__written__reads_back(void)
{
    static const enum leat_kind kinds[] = {LEAT_KIND_AUDIO, LEAT_KIND_VIDEO};
    for (size_t i = 0; i < 2; i++) {
        struct leat_load_stamp in = {kinds[i], 65535, 0x12345678, 0x9abcdef0, 0x1122334455667788};
        struct leat_load_stamp out = {0};
        uint8_t payload[200];
        LEAT_CHECK(leat_load_payload_write(payload, sizeof payload, &in, LEAT_LOAD_INSIDE));
        LEAT_CHECK_INT(leat_load_payload_read(leat_span(payload, sizeof payload), kinds[i], &out),
                       LEAT_LOAD_PAYLOAD_OK);
        LEAT_CHECK(out.kind == in.kind && out.publisher == in.publisher);
        LEAT_CHECK(out.counter == in.counter && out.timestamp == in.timestamp);
        LEAT_CHECK(out.sent_us == in.sent_us);
    }
}

static void payload__video__is_vp8_to_the_daemon(void)
{
    static const struct {
        enum leat_load_place place;
        bool is_key, is_start;
    } rows[] = {{LEAT_LOAD_INSIDE, false, false},
                {LEAT_LOAD_FRAME_START, false, true},
                {LEAT_LOAD_KEYFRAME_START, true, true}};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct leat_load_stamp stamp = {LEAT_KIND_VIDEO, 0, 0, 0, 0};
        uint8_t payload[100];
        LEAT_CHECK(leat_load_payload_write(payload, sizeof payload, &stamp, rows[i].place));
        struct leat_payload_info info =
            leat_payload_inspect(LEAT_CODEC_VP8, leat_span(payload, sizeof payload));
        LEAT_CHECK_ROW(i, info.is_keyframe_start == rows[i].is_key);
        LEAT_CHECK_ROW(i, info.is_frame_start == rows[i].is_start);
    }
}

static void payload__any_changed_octet__is_found(void)
{
    struct leat_load_stamp stamp = {LEAT_KIND_VIDEO, 1, 2, 3, 4};
    uint8_t payload[120];
    for (size_t i = 0; i < sizeof payload; i++) {
        LEAT_CHECK(leat_load_payload_write(payload, sizeof payload, &stamp, LEAT_LOAD_INSIDE));
        payload[i] ^= 0x40;
        struct leat_load_stamp out;
        LEAT_CHECK_ROW(i, leat_load_payload_read(leat_span(payload, sizeof payload),
                                                 LEAT_KIND_VIDEO, &out) == LEAT_LOAD_PAYLOAD_CRC);
    }
}

static void payload__cut_off__is_found(void)
{
    struct leat_load_stamp stamp = {LEAT_KIND_AUDIO, 1, 2, 3, 4}, out;
    uint8_t payload[60];
    LEAT_CHECK(leat_load_payload_write(payload, sizeof payload, &stamp, LEAT_LOAD_INSIDE));
    for (size_t len = 0; len < sizeof payload; len++) {
        LEAT_CHECK_ROW(len, leat_load_payload_read(leat_span(payload, len), LEAT_KIND_AUDIO,
                                                   &out) != LEAT_LOAD_PAYLOAD_OK);
    }
    LEAT_CHECK(!leat_load_payload_write(payload, 24, &stamp, LEAT_LOAD_INSIDE));
    LEAT_CHECK(leat_load_payload_write(payload, 25, &stamp, LEAT_LOAD_INSIDE));
}

/** The CRC is made good again: only the pattern tells. */
static void payload__halves_of_two_packets__are_found(void)
{
    struct leat_load_stamp a = {LEAT_KIND_VIDEO, 1, 10, 3, 4}, b = {LEAT_KIND_VIDEO, 1, 11, 3, 4};
    struct leat_load_stamp out;
    uint8_t first[200], second[200];
    LEAT_CHECK(leat_load_payload_write(first, sizeof first, &a, LEAT_LOAD_INSIDE));
    LEAT_CHECK(leat_load_payload_write(second, sizeof second, &b, LEAT_LOAD_INSIDE));
    memcpy(first + 100, second + 100, 100);
    leat_put_u32(first + 196, leat_crc32(0, first, 196));
    LEAT_CHECK_INT(leat_load_payload_read(leat_span(first, sizeof first), LEAT_KIND_VIDEO, &out),
                   LEAT_LOAD_PAYLOAD_PATTERN);
    LEAT_CHECK_INT(leat_load_payload_read(leat_span(second, sizeof second), LEAT_KIND_AUDIO, &out),
                   LEAT_LOAD_PAYLOAD_FOREIGN);
}

static void sender__packets__are_what_was_asked_for(void)
{
    struct leat_load_sender s = video(1920, 1200);
    uint8_t packet[1500];
    LEAT_CHECK_INT(s.interval_ns, 5000000); /* 9600 bits at 1920 bit/ms */
    LEAT_CHECK_INT(s.frame_packets, 6);     /* 200 packets/s in frames of 1/30 s */
    for (uint32_t i = 0; i < 20; i++) {
        struct leat_rtp p;
        struct leat_span mid;
        LEAT_CHECK_INT(leat_load_sender_due(&s), NOW_US + i * 5000);
        size_t len = leat_load_sender_make(&s, NOW_US, packet, sizeof packet);
        LEAT_CHECK_INT(len, 1200);
        LEAT_CHECK(leat_rtp_parse(&p, leat_span(packet, len)));
        LEAT_CHECK_ROW(i, p.pt == 96 && p.ssrc == 0xcafe);
        LEAT_CHECK_ROW(i, p.seq == (uint16_t)(65530 + i));
        LEAT_CHECK_ROW(i, p.timestamp == 0xffffff00u + i / 6 * 2700); /* 30 ms a frame */
        LEAT_CHECK_ROW(i, p.marker == (i % 6 == 5));
        LEAT_CHECK_ROW(i, leat_rtp_find_ext(&p, leat_span(packet, len), 3, &mid) &&
                              leat_span_equal(mid, leat_span_str("0")));
    }
    LEAT_CHECK_INT(leat_load_sender_make(&s, NOW_US, packet, 1199), 0);
    LEAT_CHECK_INT(s.counter, 20);
}

static bool makes_keyframe(struct leat_load_sender *s)
{
    uint8_t packet[1500];
    struct leat_rtp p;
    size_t len = leat_load_sender_make(s, NOW_US, packet, sizeof packet);
    return leat_rtp_parse(&p, leat_span(packet, len)) &&
           leat_payload_inspect(LEAT_CODEC_VP8, leat_span(packet + p.payload_offset, p.payload_len))
               .is_keyframe_start;
}

static void sender__keyframe__is_the_first_and_the_next_frame_asked_for(void)
{
    struct leat_load_sender s = video(1920, 1200);
    for (uint32_t i = 0; i < 30; i++) {
        s.wants_keyframe = s.wants_keyframe || i == 8;
        LEAT_CHECK_ROW(i, makes_keyframe(&s) == (i == 0 || i == 12));
    }
    LEAT_CHECK_INT(s.keyframes, 2);
}

static void sender__behind__moves_its_schedule_once(void)
{
    struct leat_load_sender s = video(1920, 1200);
    leat_load_sender_catch_up(&s, NOW_US + 99000);
    LEAT_CHECK_INT(leat_load_sender_due(&s), NOW_US);
    leat_load_sender_catch_up(&s, NOW_US + 500000);
    LEAT_CHECK_INT(leat_load_sender_due(&s), NOW_US + 500000);
    LEAT_CHECK_INT(s.behind_us, 500000);
    leat_load_sender_catch_up(&s, NOW_US + 500000);
    LEAT_CHECK_INT(s.behind_us, 500000);
}

static void sender__low_rate__has_a_frame_a_packet(void)
{
    struct leat_load_sender s = video(8, 80);
    LEAT_CHECK_INT(s.interval_ns, 80000000);
    LEAT_CHECK_INT(s.frame_packets, 1);
}

static void sender__audio__is_a_packet_in_20_ms(void)
{
    struct leat_load_sender s = {.kind = LEAT_KIND_AUDIO, .mid_ext = 3, .mid = "1"};
    struct leat_rtp p;
    uint8_t packet[400];
    leat_load_sender_pace_audio(&s);
    (void)leat_load_sender_make(&s, 0, packet, sizeof packet);
    LEAT_CHECK_INT(leat_load_sender_due(&s), 20000);
    size_t len = leat_load_sender_make(&s, 0, packet, sizeof packet);
    LEAT_CHECK_INT(len, LEAT_LOAD_AUDIO_SIZE);
    LEAT_CHECK(leat_rtp_parse(&p, leat_span(packet, len)) && p.timestamp == 960);
    LEAT_CHECK_INT(leat_load_sender_timestamp(&s, 1000000), 48000);
}

LEAT_TESTS(LEAT_TEST(payload__written__reads_back), LEAT_TEST(payload__video__is_vp8_to_the_daemon),
           LEAT_TEST(payload__any_changed_octet__is_found), LEAT_TEST(payload__cut_off__is_found),
           LEAT_TEST(payload__halves_of_two_packets__are_found),
           LEAT_TEST(sender__packets__are_what_was_asked_for),
           LEAT_TEST(sender__keyframe__is_the_first_and_the_next_frame_asked_for),
           LEAT_TEST(sender__behind__moves_its_schedule_once),
           LEAT_TEST(sender__low_rate__has_a_frame_a_packet),
           LEAT_TEST(sender__audio__is_a_packet_in_20_ms))
