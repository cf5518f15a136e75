/* SPDX-License-Identifier: MIT */
#include "support.h"

/** The video payload types that an answer to Chromium takes under a policy of up to four entries.
 */
static void check_choice(size_t row, const struct leat_codec *entries, size_t count,
                         const char *expected)
{
    struct talk *t = talk_new();
    char is[200] = "";
    memcpy(t->policy.codecs, entries, count * sizeof(*entries));
    t->policy.codec_count = count;
    LEAT_CHECK_ROW(row, talk_file(t, "chromium156-default") == 0);
    for (size_t i = 0;
         t->session.section_count > 1 && i < t->session.sections[1].common.codec_count; i++) {
        (void)snprintf(is + strlen(is), sizeof(is) - strlen(is), "%s%u", i != 0 ? " " : "",
                       (unsigned)t->session.sections[1].common.codecs[i].pt);
    }
    LEAT_CHECK_STR(is, expected);
    talk_free(t);
}

#define OPUS                                                                                       \
    {                                                                                              \
        .name = LEAT_CODEC_OPUS                                                                    \
    }

static void codecs__policy__decides_what_and_in_which_order(void)
{
    /* offered: 96 VP8, 102 104 108 114 116 39 H264, 45 AV1, 98 100 VP9 */
    static const struct {
        struct leat_codec entries[4];
        size_t count;
        const char *expected;
    } table[] = {
        {{{0}}, 0, "96 102 104 108 114 116 39 45 98 100"},
        {{OPUS}, 1, ""},
        {{OPUS, {.name = LEAT_CODEC_VP8}}, 2, "96"},
        {{OPUS, {.name = LEAT_CODEC_AV1}, {.name = LEAT_CODEC_VP8}}, 3, "45 96"},
        {{OPUS, {.name = LEAT_CODEC_H264}}, 2, "102 104 108 114 116 39"},
        {{OPUS, {.name = LEAT_CODEC_H264, .fmtp = "packetization-mode=1"}}, 2, "102 108 116"},
        {{OPUS, {.name = LEAT_CODEC_H264, .fmtp = "packetization-mode=0"}}, 2, "104 114 39"},
        /* constrained baseline, however high the level */
        {{OPUS, {.name = LEAT_CODEC_H264, .fmtp = "profile-level-id=42e034"}}, 2, "108 114"},
        {{OPUS,
          {.name = LEAT_CODEC_H264, .fmtp = "packetization-mode=1;profile-level-id=42e01f"},
          {.name = LEAT_CODEC_H264},
          {.name = LEAT_CODEC_VP8}},
         4,
         "108 102 104 114 116 39 96"}, /* each once */
        {{OPUS, {.name = LEAT_CODEC_VP9, .fmtp = "profile-id=2"}}, 2, "100"},
        {{OPUS, {.name = LEAT_CODEC_VP9, .fmtp = "profile-id=0"}}, 2, "98"},
        {{OPUS, {.name = LEAT_CODEC_AV1, .fmtp = "profile=0; tier=0"}}, 2, "45"},
        {{OPUS, {.name = LEAT_CODEC_AV1, .fmtp = "profile=1"}}, 2, ""},
        {{OPUS, {.name = LEAT_CODEC_AV1, .fmtp = "level-idx=5"}}, 2, "45"},
        {{OPUS, {.name = LEAT_CODEC_AV1, .fmtp = "level-idx=8"}}, 2, ""},
        {{OPUS, {.name = LEAT_CODEC_VP8, .clock_hz = 90000}}, 2, "96"},
        {{OPUS, {.name = LEAT_CODEC_VP8, .clock_hz = 48000}}, 2, ""},
        {{OPUS, {.name = LEAT_CODEC_VP8, .fmtp = "max-fs=1"}}, 2, ""},
        {{OPUS, {.name = LEAT_CODEC_VP8, .fmtp = " ;; "}}, 2, "96"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(table); i++) {
        check_choice(i, table[i].entries, table[i].count, table[i].expected);
    }
}

static void codecs__absent_parameters__count_with_their_defaults(void)
{
    struct talk *t = talk_new();
    char *offer =
        offer_of(HEAD("BUNDLE 0"), "m=video 9 UDP/TLS/RTP/SAVPF 97 98 99", "a=mid:0", "a=rtcp-mux",
                 "a=rtpmap:97 H264/90000", "a=rtpmap:98 VP9/90000", "a=rtpmap:99 AV1/90000", NULL);
    static const struct leat_codec entries[] = {
        {.name = LEAT_CODEC_AV1, .fmtp = "tier=0;profile=0"},
        {.name = LEAT_CODEC_VP9, .fmtp = "profile-id=0"},
        {.name = LEAT_CODEC_H264, .fmtp = "packetization-mode=0;profile-level-id=420010"},
    };
    memcpy(t->policy.codecs, entries, sizeof(entries));
    t->policy.codec_count = 3;
    LEAT_CHECK_INT(talk_offer(t, offer), 0);
    LEAT_CHECK_INT(count_lines(t->answer, "m=video 7000 UDP/TLS/RTP/SAVPF 99 98 97\r"), 1);
    free(offer);
    talk_free(t);
}

static void codecs__channels__are_part_of_the_match(void)
{
    struct talk *t = talk_new();
    char *offer =
        offer_of(HEAD("BUNDLE 0"), "m=audio 9 UDP/TLS/RTP/SAVPF 97 98", "a=mid:0", "a=rtcp-mux",
                 "a=rtpmap:97 opus/48000", "a=rtpmap:98 OPUS/48000/2", NULL);
    t->policy.codec_count = 1;
    t->policy.codecs[0] = (struct leat_codec){.name = LEAT_CODEC_OPUS, .channels = 2};
    LEAT_CHECK_INT(talk_offer(t, offer), 0);
    LEAT_CHECK_INT(count_lines(t->answer, "m=audio 7000 UDP/TLS/RTP/SAVPF 98\r"), 1);
    LEAT_CHECK(has_line(t->answer, "a=rtpmap:98 opus/48000/2"));
    free(offer);
    talk_free(t);
}

static void codecs__more_than_fit__the_last_fall_off(void)
{
    char text[8192];
    struct talk *t = talk_new();
    char *head = offer_of(HEAD("BUNDLE 0"), NULL);
    (void)snprintf(text, sizeof(text), "%sm=video 9 UDP/TLS/RTP/SAVPF", head);
    for (int pt = 96; pt < 126; pt++) {
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), " %d", pt);
    }
    strcat(text, "\r\na=mid:0\r\na=rtcp-mux\r\n");
    for (int pt = 96; pt < 126; pt++) {
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
                       "a=rtpmap:%d VP9/90000\r\na=fmtp:%d profile-id=%d\r\n", pt, pt, pt - 96);
    }
    LEAT_CHECK_INT(talk_offer(t, text), 0);
    LEAT_CHECK_INT(t->session.sections[0].common.codec_count, LEAT_CODECS_MAX);
    LEAT_CHECK_INT(t->session.sections[0].common.codecs[LEAT_CODECS_MAX - 1].pt, 111);
    free(head);
    talk_free(t);
}

LEAT_TESTS(LEAT_TEST(codecs__policy__decides_what_and_in_which_order),
           LEAT_TEST(codecs__absent_parameters__count_with_their_defaults),
           LEAT_TEST(codecs__channels__are_part_of_the_match),
           LEAT_TEST(codecs__more_than_fit__the_last_fall_off))
