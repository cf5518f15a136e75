/* SPDX-License-Identifier: MIT */
/* Payload types are mapped by codec and format parameters, never by number. */
#include <leat/route.h>

#include "harness.h"

static const struct leat_codec vp8_96 = {
    .name = LEAT_CODEC_VP8, .pt = 96, .channels = 1, .clock_hz = 90000};
static const struct leat_codec vp8_120 = {
    .name = LEAT_CODEC_VP8, .pt = 120, .channels = 1, .clock_hz = 90000};
static const struct leat_codec h264_mode1 = {.name = LEAT_CODEC_H264,
                                             .pt = 102,
                                             .channels = 1,
                                             .clock_hz = 90000,
                                             .fmtp =
                                                 "packetization-mode=1;profile-level-id=42e01f"};
static const struct leat_codec h264_mode0 = {.name = LEAT_CODEC_H264,
                                             .pt = 96,
                                             .channels = 1,
                                             .clock_hz = 90000,
                                             .fmtp = "profile-level-id=42e01f"};
static const struct leat_codec h264_mode1_level = {
    .name = LEAT_CODEC_H264,
    .pt = 109,
    .channels = 1,
    .clock_hz = 90000,
    .fmtp = "profile-level-id=42e034;packetization-mode=1"};

static void pt_map__same_codec_other_number__is_mapped(void)
{
    struct leat_media_desc track = {.codec_count = 2, .codecs = {vp8_96, h264_mode1}};
    struct leat_media_desc sender = {.codec_count = 3,
                                     .codecs = {h264_mode0, h264_mode1_level, vp8_120}};
    struct leat_pt_map m;
    LEAT_CHECK_INT(leat_pt_map_build(&m, &track, &sender), 2);
    LEAT_CHECK_INT(m.to[96], 120);
    LEAT_CHECK_INT(m.to[102], 109);
    LEAT_CHECK_INT(m.name[102], LEAT_CODEC_H264);
    LEAT_CHECK_INT(m.to[120], 0xff);
}

static void pt_map__nothing_in_common__carries_nothing(void)
{
    struct leat_media_desc track = {.codec_count = 1, .codecs = {h264_mode1}};
    struct leat_media_desc sender = {.codec_count = 1, .codecs = {vp8_120}};
    struct leat_pt_map m;
    LEAT_CHECK_INT(leat_pt_map_build(&m, &track, &sender), 0);
    for (size_t pt = 0; pt < 128; pt++) {
        LEAT_CHECK_ROW(pt, m.to[pt] == 0xff);
    }
}

LEAT_TESTS(LEAT_TEST(pt_map__same_codec_other_number__is_mapped),
           LEAT_TEST(pt_map__nothing_in_common__carries_nothing))
