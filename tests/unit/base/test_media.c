/* SPDX-License-Identifier: MIT */
#include <leat/media.h>

#include "harness.h"

static struct leat_codec codec(enum leat_codec_name name, const char *fmtp)
{
    struct leat_codec c = {.name = name, .clock_hz = 90000, .channels = 1};
    LEAT_CHECK(leat_text_copy(c.fmtp, sizeof(c.fmtp), leat_span_str(fmtp)));
    return c;
}

static void matches__format_parameters__table(void)
{
    static const struct {
        enum leat_codec_name name;
        const char *a, *b;
        bool match;
    } rows[] = {
        /* H264: level is ignored, profile is not */
        {LEAT_CODEC_H264, "profile-level-id=42e01f;packetization-mode=1",
         "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e034", true},
        {LEAT_CODEC_H264, "packetization-mode=1;profile-level-id=42e01f",
         "packetization-mode=1;profile-level-id=42001f", false},
        {LEAT_CODEC_H264, "packetization-mode=1;profile-level-id=42001f",
         "packetization-mode=1;profile-level-id=4d001f", false},
        {LEAT_CODEC_H264, "packetization-mode=1;profile-level-id=64001f",
         "packetization-mode=1;profile-level-id=640c1f", false},
        {LEAT_CODEC_H264, "profile-level-id=64001f", "profile-level-id=640033", true},
        {LEAT_CODEC_H264, "profile-level-id=42E01F", "profile-level-id=42e01f", true},
        /* constrained baseline in its spellings (RFC 6184 8.1 table 5) */
        {LEAT_CODEC_H264, "profile-level-id=42e01f", "profile-level-id=42c00d", true},
        {LEAT_CODEC_H264, "profile-level-id=42e01f", "profile-level-id=4d801f", true},
        {LEAT_CODEC_H264, "profile-level-id=42e01f", "profile-level-id=58c01f", true},
        {LEAT_CODEC_H264, "profile-level-id=42001f", "profile-level-id=58801f", true},
        {LEAT_CODEC_H264, "profile-level-id=4d001f", "profile-level-id=4d401f", true},
        {LEAT_CODEC_H264, "profile-level-id=4d001f", "profile-level-id=4d801f", false},
        {LEAT_CODEC_H264, "profile-level-id=58001f", "profile-level-id=58801f", false},
        /* packetization-mode: absent is 0 */
        {LEAT_CODEC_H264, "profile-level-id=42e01f", "profile-level-id=42e01f;packetization-mode=0",
         true},
        {LEAT_CODEC_H264, "profile-level-id=42e01f", "profile-level-id=42e01f;packetization-mode=1",
         false},
        /* profile-level-id: absent is 420010 */
        {LEAT_CODEC_H264, "", "profile-level-id=42001f", true},
        {LEAT_CODEC_H264, "", "profile-level-id=42e01f", false},
        {LEAT_CODEC_H264, "", "", true},
        /* malformed values match nothing, not even themselves */
        {LEAT_CODEC_H264, "profile-level-id=42e0", "profile-level-id=42e0", false},
        {LEAT_CODEC_H264, "profile-level-id=42e01f00", "profile-level-id=42e01f00", false},
        {LEAT_CODEC_H264, "profile-level-id=zze01f", "profile-level-id=zze01f", false},
        {LEAT_CODEC_H264, "packetization-mode=x", "packetization-mode=x", false},
        {LEAT_CODEC_H264, "packetization-mode=99999", "packetization-mode=99999", false},
        {LEAT_CODEC_VP9, "", "profile-id=0", true},
        {LEAT_CODEC_VP9, "profile-id=2", "profile-id=2", true},
        {LEAT_CODEC_VP9, "profile-id=0", "profile-id=2", false},
        {LEAT_CODEC_VP9, "", "profile-id=1", false},
        {LEAT_CODEC_VP9, "profile-id=", "", false},
        {LEAT_CODEC_AV1, "", "level-idx=5;profile=0;tier=0", true},
        {LEAT_CODEC_AV1, "level-idx=5;profile=0;tier=0", "level-idx=8;profile=0;tier=0", true},
        {LEAT_CODEC_AV1, "profile=1", "profile=0", false},
        {LEAT_CODEC_AV1, "profile=0;tier=1", "profile=0", false},
        {LEAT_CODEC_VP8, "max-fr=30", "", true},
        {LEAT_CODEC_OPUS, "minptime=10;useinbandfec=1", "stereo=1", true},
        {LEAT_CODEC_UNKNOWN, "", "", false},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct leat_codec a = codec(rows[i].name, rows[i].a);
        struct leat_codec b = codec(rows[i].name, rows[i].b);
        LEAT_CHECK_ROW(i, leat_codec_matches(&a, &b) == rows[i].match);
        LEAT_CHECK_ROW(i, leat_codec_matches(&b, &a) == rows[i].match);
    }
}

static void matches__name_clock_or_channels_differ__does_not(void)
{
    struct leat_codec a = codec(LEAT_CODEC_OPUS, ""), b = a;
    LEAT_CHECK(leat_codec_matches(&a, &b));
    b.pt = 111; /* a payload type is a label of one section */
    LEAT_CHECK(leat_codec_matches(&a, &b));
    b.channels = 2;
    LEAT_CHECK(!leat_codec_matches(&a, &b));
    b = a;
    b.clock_hz = 48000;
    LEAT_CHECK(!leat_codec_matches(&a, &b));
    b = a;
    b.name = LEAT_CODEC_PCMU;
    LEAT_CHECK(!leat_codec_matches(&a, &b));
}

static void fmtp_get__texts__table(void)
{
    static const struct {
        const char *fmtp, *name;
        const char *expected; /* NULL: absent */
    } rows[] = {
        {"a=1;b=2", "a", "1"},
        {"a=1;b=2", "b", "2"},
        {"a=1; b=2", "b", "2"},
        {" a = 1 ;\tb\t=\t2 ", "a", "1"},
        {" a = 1 ;\tb\t=\t2 ", "b", "2"},
        {"Profile-Level-Id=42E01F", "profile-level-id", "42E01F"},
        {"x-a=1;a=2", "a", "2"},
        {"ab=1", "a", NULL},
        {"a=1", "ab", NULL},
        {"a=1;a=2", "a", "1"},
        {"a", "a", ""},
        {"a=", "a", ""},
        {"a=;b=2", "a", ""},
        {";;a=1;", "a", "1"},
        {"a=b=c", "a", "b=c"},
        {"0-15", "a", NULL},
        {"", "a", NULL},
        {"b=a", "a", NULL},
        {"b;a=1", "b", ""},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct leat_span value = leat_span_str("untouched");
        bool found = leat_fmtp_get(rows[i].fmtp, rows[i].name, &value);
        const char *expected = rows[i].expected ? rows[i].expected : "untouched";
        LEAT_CHECK_ROW(i, found == (rows[i].expected != NULL));
        LEAT_CHECK_ROW(i, leat_span_equal(value, leat_span_str(expected)));
    }
}

static void names__codecs__both_ways(void)
{
    static const struct {
        const char *text;
        enum leat_codec_name name;
        enum leat_kind kind;
    } rows[] = {
        {"opus", LEAT_CODEC_OPUS, LEAT_KIND_AUDIO}, {"PCMU", LEAT_CODEC_PCMU, LEAT_KIND_AUDIO},
        {"PCMA", LEAT_CODEC_PCMA, LEAT_KIND_AUDIO}, {"G722", LEAT_CODEC_G722, LEAT_KIND_AUDIO},
        {"VP8", LEAT_CODEC_VP8, LEAT_KIND_VIDEO},   {"VP9", LEAT_CODEC_VP9, LEAT_KIND_VIDEO},
        {"H264", LEAT_CODEC_H264, LEAT_KIND_VIDEO}, {"AV1", LEAT_CODEC_AV1, LEAT_KIND_VIDEO},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        LEAT_CHECK_INT(leat_codec_from_text(leat_span_str(rows[i].text)), rows[i].name);
        LEAT_CHECK_STR(leat_codec_text(rows[i].name), rows[i].text);
        LEAT_CHECK_INT(leat_codec_kind(rows[i].name), rows[i].kind);
    }
    LEAT_CHECK_INT(leat_codec_from_text(leat_span_str("OPUS")), LEAT_CODEC_OPUS);
    LEAT_CHECK_INT(leat_codec_from_text(leat_span_str("h264")), LEAT_CODEC_H264);
    LEAT_CHECK_INT(leat_codec_from_text(leat_span_str("VP")), LEAT_CODEC_UNKNOWN);
    LEAT_CHECK_INT(leat_codec_from_text(leat_span_str("rtx")), LEAT_CODEC_UNKNOWN);
    LEAT_CHECK_INT(leat_codec_from_text(leat_span_str("unknown")), LEAT_CODEC_UNKNOWN);
    LEAT_CHECK_INT(leat_codec_kind(LEAT_CODEC_UNKNOWN), LEAT_KIND_OTHER);
    LEAT_CHECK_STR(leat_kind_text(LEAT_KIND_AUDIO), "audio");
    LEAT_CHECK_STR(leat_kind_text(LEAT_KIND_VIDEO), "video");
    LEAT_CHECK_STR(leat_kind_text(LEAT_KIND_APPLICATION), "application");
    LEAT_CHECK_STR(leat_kind_text(LEAT_KIND_OTHER), "other");
}

static void exts__uris__both_ways(void)
{
    LEAT_CHECK_STR(leat_ext_uri(LEAT_EXT_NONE), "");
    LEAT_CHECK_STR(leat_ext_uri(LEAT_EXT_MID), "urn:ietf:params:rtp-hdrext:sdes:mid");
    LEAT_CHECK_STR(leat_ext_uri(LEAT_EXT_AUDIO_LEVEL),
                   "urn:ietf:params:rtp-hdrext:ssrc-audio-level");
    for (int i = LEAT_EXT_NONE + 1; i < LEAT_EXT_COUNT; i++) {
        const char *uri = leat_ext_uri((enum leat_ext_name)i);
        LEAT_CHECK_ROW(i, (int)leat_ext_from_uri(leat_span_str(uri)) == i);
    }
    LEAT_CHECK_INT(leat_ext_from_uri(leat_span_str("")), LEAT_EXT_NONE);
    LEAT_CHECK_INT(leat_ext_from_uri(leat_span_str("urn:3gpp:video-orientation")), LEAT_EXT_NONE);
}

static void format__codecs__readable_and_bounded(void)
{
    char out[80];
    struct leat_codec opus = {.name = LEAT_CODEC_OPUS, .clock_hz = 48000, .channels = 2};
    struct leat_codec h264 = codec(LEAT_CODEC_H264, "packetization-mode=1;profile-level-id=42e01f");
    LEAT_CHECK_STR(leat_codec_format(&opus, out, sizeof(out)), "opus/48000/2");
    LEAT_CHECK_STR(leat_codec_format(&h264, out, sizeof(out)),
                   "H264/90000 packetization-mode=1;profile-level-id=42e01f");
    LEAT_CHECK_STR(leat_codec_format(&h264, out, 8), "H264/90");
}

static void ids__texts__table(void)
{
    static const struct {
        const char *text;
        bool id, mid;
    } rows[] = {
        {"", false, false},
        {"a", true, true},
        {"0", true, true},
        {"A-z_9.", true, true},
        {"room:7", true, false},
        {"a b", false, false},
        {"a/b", false, false},
        {"a\"b", false, false},
        {"!#$%&'*+-.^_`{", false, true},
        {"|}~", false, true},
        {"(a)", false, false},
        {"a,b", false, false},
        {"a=b", false, false},
        {"a@b", false, false},
        {"a\x7f", false, false},
        {"\xc3\xa4", false, false},
        {"a\n", false, false},
        {"0123456789abcdef", true, true},
        {"0123456789abcdef0", true, false},
        {"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", true, false},
        {"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0", false, false},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        LEAT_CHECK_ROW(i, leat_id_is_valid(leat_span_str(rows[i].text)) == rows[i].id);
        LEAT_CHECK_ROW(i, leat_mid_is_valid(leat_span_str(rows[i].text)) == rows[i].mid);
    }
    LEAT_CHECK(!leat_id_is_valid(leat_span("a\0b", 3)));
    LEAT_CHECK(!leat_mid_is_valid(leat_span("a\0b", 3)));
}

LEAT_TESTS(LEAT_TEST(matches__format_parameters__table),
           LEAT_TEST(matches__name_clock_or_channels_differ__does_not),
           LEAT_TEST(fmtp_get__texts__table), LEAT_TEST(names__codecs__both_ways),
           LEAT_TEST(exts__uris__both_ways), LEAT_TEST(format__codecs__readable_and_bounded),
           LEAT_TEST(ids__texts__table))
