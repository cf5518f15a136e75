/* SPDX-License-Identifier: MIT */
/*
 * Whatever stands in an offer: an answer or an error, never more. The memory of each text is
 * exactly as long as the text, so that the sanitizer sees a read behind it.
 */
#include "support.h"

/** Parse, agree and compose; `first` is agreed before when it is not NULL. */
static bool try_offer(const struct leat_sdp_session *before, const uint8_t *text, size_t len)
{
    static char out[TEXT_MAX];
    static const struct leat_sdp_policy policy = {0};
    struct leat_sdp_desc desc;
    struct leat_sdp_session after;
    char why[LEAT_SDP_WHY_MAX];
    const char *reason;
    if (leat_sdp_parse(&desc, leat_span(text, len), why) != 0) {
        LEAT_CHECK(strncmp(why, "line ", 5) == 0);
        LEAT_CHECK(desc.sections == NULL);
        return false;
    }
    int status = leat_sdp_agree(&after, before, &desc, &policy, &reason, why);
    LEAT_CHECK((status == 0) == (reason[0] == '\0'));
    leat_sdp_desc_deinit(&desc);
    if (status != 0) {
        LEAT_CHECK(why[0] != '\0' && after.sections == NULL);
        return false;
    }
    struct leat_sdp_local local = local_two();
    LEAT_CHECK(leat_sdp_compose(&after, &local, out, sizeof(out)) > 0);
    leat_sdp_session_deinit(&after);
    return true;
}

static bool try_copy(const struct leat_sdp_session *before, const char *text, size_t len)
{
    uint8_t *exact = malloc(len != 0 ? len : 1);
    memcpy(exact, text, len);
    bool is_answered = try_offer(before, exact, len);
    free(exact);
    return is_answered;
}

static const char *const more[] = {"chromium156-dconly", "firefox153-dconly", "chromium156-grow-10",
                                   "firefox153-grow-11"};

static void truncated__at_every_octet__error_or_answer(void)
{
    static const struct leat_sdp_session nothing = {0};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(answerable) + LEAT_ARRAY_LEN(more); i++) {
        size_t len, answered = 0;
        bool is_more = i >= LEAT_ARRAY_LEN(answerable);
        char *text = load(is_more ? more[i - LEAT_ARRAY_LEN(answerable)] : answerable[i], &len);
        for (size_t cut = 0; cut <= len; cut++) {
            answered += try_copy(&nothing, text, cut) ? 1 : 0;
        }
        LEAT_CHECK_ROW(i, is_more || answered > 0);
        free(text);
    }
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

static void mutated__octets_and_lines__error_or_answer(void)
{
    static const char interesting[] = "\0\r\n \t:=/;-019%\x7f\xff";
    uint32_t random = 1;
    for (size_t i = 0; i < LEAT_ARRAY_LEN(answerable); i++) {
        size_t len;
        struct talk *t = talk_new();
        char *text = load(answerable[i], &len);
        LEAT_CHECK_ROW(i, talk_offer(t, text) == 0);
        for (size_t round = 0; round < 600; round++) {
            char *copy = malloc(len);
            memcpy(copy, text, len);
            for (uint32_t n = 1 + next_random(&random) % 4; n != 0; n--) {
                size_t at = next_random(&random) % len;
                uint32_t how = next_random(&random) % 4;
                if (how == 0) {
                    copy[at] = (char)(next_random(&random) & 0xff);
                } else if (how == 1) {
                    copy[at] = interesting[next_random(&random) % (sizeof(interesting) - 1)];
                } else { /* a piece from elsewhere */
                    size_t from = next_random(&random) % len, size = next_random(&random) % 80;
                    size_t room = len - (at > from ? at : from);
                    memmove(copy + at, copy + from, size < room ? size : room);
                }
            }
            (void)try_copy(&t->session, copy, len);
            free(copy);
        }
        free(text);
        talk_free(t);
    }
}

static void long_line__error_or_answer(void)
{
    static const struct leat_sdp_session nothing = {0};
    static const char *const starts[] = {
        "a=mid:",
        "a=group:BUNDLE ",
        "a=ice-ufrag:",
        "a=ice-pwd:",
        "a=fingerprint:sha-256 ",
        "a=setup:",
        "a=extmap:",
        "a=extmap:1 ",
        "a=rtpmap:",
        "a=rtpmap:96 ",
        "a=fmtp:96 ",
        "a=rtcp-fb:96 ",
        "a=ssrc:",
        "a=ssrc:1 ",
        "a=ssrc-group:FID ",
        "a=msid:",
        "m=",
        "m=audio ",
        "m=audio 9 ",
        "m=audio 9 UDP/TLS/RTP/SAVPF ",
        "a=",
        "x",
        "",
        "a=rtpmap:97 VP8/",
    };
    static const char fillers[] = "a1 /:;\0";
    for (size_t i = 0; i < LEAT_ARRAY_LEN(starts); i++) {
        for (size_t k = 0; k < sizeof(fillers) - 1; k++) {
            char *text = offer_of(HEAD("BUNDLE 0"), VIDEO("0"), starts[i], NULL);
            size_t len = strlen(text) - 2;
            memset(text + len, fillers[k], LEAT_SDP_TEXT_MAX - len);
            (void)try_copy(&nothing, text, LEAT_SDP_TEXT_MAX);
            free(text);
        }
    }
}

static void too_long__text__refused_unread(void)
{
    char why[LEAT_SDP_WHY_MAX];
    struct leat_sdp_desc d;
    char *text = calloc(1, LEAT_SDP_TEXT_MAX + 1);
    LEAT_CHECK_INT(leat_sdp_parse(&d, leat_span(text, LEAT_SDP_TEXT_MAX + 1), why), LEAT_E_RANGE);
    free(text);
}

static void ten_thousand_sections__stop_at_the_limit(void)
{
    char why[LEAT_SDP_WHY_MAX];
    struct leat_sdp_desc d;
    char *text = calloc(1, TEXT_MAX);
    size_t len = (size_t)snprintf(text, TEXT_MAX, "v=0\n");
    for (size_t i = 0; i < 10000; i++) {
        len += (size_t)snprintf(text + len, TEXT_MAX - len, "m=a 9 b c\n");
    }
    LEAT_CHECK_INT(leat_sdp_parse(&d, leat_span(text, len), why), LEAT_E_RANGE);
    LEAT_CHECK_STR(why, "line 130: more than 128 sections");
    LEAT_CHECK_INT(leat_sdp_parse(&d, leat_span(text, 4 + 10 * 128), why), 0);
    LEAT_CHECK_INT(d.section_count, 128);
    leat_sdp_desc_deinit(&d);
    free(text);
}

static void most_sections__are_answered(void)
{
    struct talk *t = talk_new();
    char *text = calloc(1, TEXT_MAX), group[1000] = "a=group:BUNDLE", *head;
    for (int i = 0; i < LEAT_SECTIONS_MAX; i++) {
        (void)snprintf(group + strlen(group), sizeof(group) - strlen(group), " %d", i);
    }
    head = offer_of(HEAD("BUNDLE"), NULL);
    char *with_group = replaced(head, "a=group:BUNDLE", group);
    size_t len = (size_t)snprintf(text, TEXT_MAX, "%s", with_group);
    for (int i = 0; i < LEAT_SECTIONS_MAX; i++) {
        len += (size_t)snprintf(text + len, TEXT_MAX - len,
                                "m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:%d\r\na=rtcp-mux\r\n"
                                "a=rtpmap:96 VP8/90000\r\n",
                                i);
    }
    LEAT_CHECK_INT(talk_offer(t, text), 0);
    LEAT_CHECK_INT(t->session.section_count, LEAT_SECTIONS_MAX);
    LEAT_CHECK_STR(t->session.sections[127].stream, "leat-127");
    LEAT_CHECK_INT(t->session.sections[127].ssrc, 1127);
    free(head);
    free(with_group);
    free(text);
    talk_free(t);
}

LEAT_TESTS(LEAT_TEST(truncated__at_every_octet__error_or_answer),
           LEAT_TEST(mutated__octets_and_lines__error_or_answer),
           LEAT_TEST(long_line__error_or_answer), LEAT_TEST(too_long__text__refused_unread),
           LEAT_TEST(ten_thousand_sections__stop_at_the_limit),
           LEAT_TEST(most_sections__are_answered))
