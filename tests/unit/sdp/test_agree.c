/* SPDX-License-Identifier: MIT */
#include "support.h"

#define OUT LEAT_DIR_SENDONLY
#define IN LEAT_DIR_RECVONLY
#define OFF LEAT_DIR_INACTIVE
#define STEPS 11
#define ROWS 8

/** What is expected of one section; mid NULL: there is none. */
struct row {
    const char *mid;
    enum leat_direction direction;
    uint32_t ssrc;
    const char *stream, *why;
    bool is_reused;
};

#define TAKEN(mid)                                                                                 \
    {                                                                                              \
        mid, IN, 0, "", "", false                                                                  \
    }
#define SENT(mid, direction, ssrc, stream)                                                         \
    {                                                                                              \
        mid, direction, ssrc, stream, "", false                                                    \
    }
#define REUSED(mid, ssrc, stream)                                                                  \
    {                                                                                              \
        mid, OUT, ssrc, stream, "", true                                                           \
    }
#define REJECTED(mid, why)                                                                         \
    {                                                                                              \
        mid, OFF, 0, "", why, false                                                                \
    }

static void check_rows(size_t step, const struct talk *t, const struct row rows[static ROWS])
{
    size_t count = 0;
    while (count < ROWS && rows[count].mid != NULL) {
        count++;
    }
    LEAT_CHECK_INT(t->session.section_count, count);
    for (size_t i = 0; i < count && i < t->session.section_count; i++) {
        const struct leat_sdp_agreed *g = &t->session.sections[i];
        size_t row = step * 100 + i;
        LEAT_CHECK_STR(g->mid, rows[i].mid);
        LEAT_CHECK_ROW(row, g->direction == rows[i].direction);
        LEAT_CHECK_ROW(row, g->ssrc == rows[i].ssrc);
        LEAT_CHECK_ROW(row, strcmp(g->stream, rows[i].stream) == 0);
        LEAT_CHECK_ROW(row, strcmp(g->why_rejected, rows[i].why) == 0);
        LEAT_CHECK_ROW(row, g->is_rejected == (rows[i].why[0] != '\0'));
        LEAT_CHECK_ROW(row, g->is_reused == rows[i].is_reused);
        LEAT_CHECK_ROW(row, g->has_sender == (rows[i].ssrc != 0));
        LEAT_CHECK_ROW(row, g->has_track == (rows[i].direction == IN));
        LEAT_CHECK_ROW(row, g->common.is_active == (rows[i].direction != OFF));
    }
}

/** Both browsers went through the same steps (tests/vectors/sdp/README.md). */
static void check_growth(const char *browser, const struct row steps[static STEPS][ROWS],
                         unsigned restarts)
{
    struct talk *t = talk_new();
    for (size_t i = 0; i < STEPS; i++) {
        char name[64];
        (void)snprintf(name, sizeof(name), "%s-grow-%zu", browser, i + 1);
        LEAT_CHECK_INT(talk_file(t, name), 0);
        LEAT_CHECK_STR(t->reason, "");
        check_rows(i + 1, t, steps[i]);
        LEAT_CHECK_ROW(i + 1, t->session.is_ice_restart == ((restarts >> (i + 1) & 1) != 0));
        LEAT_CHECK_INT(t->session.version, i + 1);
        LEAT_CHECK_INT(t->session.origin_id, 77);
        LEAT_CHECK_INT(t->session.setup, LEAT_SETUP_PASSIVE);
    }
    talk_free(t);
}

static void agree__chromium_grows__keeps_order_and_ssrcs_and_reuses(void)
{
    static const struct row steps[STEPS][ROWS] = {
        {TAKEN("0"), TAKEN("1")},
        {TAKEN("0"), TAKEN("1"), SENT("2", OUT, 1000, "leat-0"), SENT("3", OUT, 1001, "leat-0")},
        /* suspended, not forgotten */
        {TAKEN("0"), TAKEN("1"), SENT("2", OUT, 1000, "leat-0"), SENT("3", OFF, 1001, "leat-0")},
        {TAKEN("0"), TAKEN("1"), SENT("2", OUT, 1000, "leat-0"), SENT("3", OUT, 1001, "leat-0")},
        {TAKEN("0"), TAKEN("1"), SENT("2", OUT, 1000, "leat-0"), SENT("3", OUT, 1001, "leat-0")},
        {TAKEN("0"), TAKEN("1"), SENT("2", OUT, 1000, "leat-0"),
         REJECTED("3", "rejected_by_offer")},
        /* what was video is audio now, with another SSRC */
        {TAKEN("0"), TAKEN("1"), SENT("2", OUT, 1000, "leat-0"), REUSED("4", 1002, "leat-1"),
         SENT("5", OUT, 1003, "leat-0")},
        {REJECTED("0", "rejected_by_offer"), TAKEN("1"), SENT("2", OUT, 1000, "leat-0"),
         SENT("4", OUT, 1002, "leat-1"), SENT("5", OUT, 1003, "leat-0")},
        {REUSED("6", 1004, "leat-1"), TAKEN("1"), SENT("2", OUT, 1000, "leat-0"),
         SENT("4", OUT, 1002, "leat-1"), SENT("5", OUT, 1003, "leat-0")},
        {SENT("6", OUT, 1004, "leat-1"), TAKEN("1"), SENT("2", OUT, 1000, "leat-0"),
         SENT("4", OUT, 1002, "leat-1"), SENT("5", OUT, 1003, "leat-0"),
         REJECTED("7", "unsupported")},
        {SENT("6", OUT, 1004, "leat-1"), TAKEN("1"), SENT("2", OUT, 1000, "leat-0"),
         SENT("4", OUT, 1002, "leat-1"), SENT("5", OUT, 1003, "leat-0"),
         REJECTED("7", "rejected_by_offer"), SENT("8", OUT, 1005, "leat-2")},
    };
    /* step 9: the tagged section is a new one, for which Chromium makes new credentials */
    check_growth("chromium156", steps, 1U << 5 | 1U << 9);
}

static void agree__firefox_grows__keeps_order_and_ssrcs_and_reuses(void)
{
    static const struct row steps[STEPS][ROWS] = {
        {TAKEN("0"), TAKEN("1")},
        {TAKEN("0"), TAKEN("1"), SENT("2", OUT, 1000, "leat-0"), SENT("3", OUT, 1001, "leat-0")},
        {TAKEN("0"), TAKEN("1"), SENT("2", OUT, 1000, "leat-0"), SENT("3", OFF, 1001, "leat-0")},
        {TAKEN("0"), TAKEN("1"), SENT("2", OUT, 1000, "leat-0"), SENT("3", OUT, 1001, "leat-0")},
        {TAKEN("0"), TAKEN("1"), SENT("2", OUT, 1000, "leat-0"), SENT("3", OUT, 1001, "leat-0")},
        {TAKEN("0"), TAKEN("1"), SENT("2", OUT, 1000, "leat-0"),
         REJECTED("3", "rejected_by_offer")},
        {TAKEN("0"), TAKEN("1"), SENT("2", OUT, 1000, "leat-0"), REUSED("4", 1002, "leat-0"),
         SENT("5", OUT, 1003, "leat-1")},
        {REJECTED("0", "rejected_by_offer"), TAKEN("1"), SENT("2", OUT, 1000, "leat-0"),
         SENT("4", OUT, 1002, "leat-0"), SENT("5", OUT, 1003, "leat-1")},
        {REJECTED("0", "rejected_by_offer"), TAKEN("1"), SENT("2", OUT, 1000, "leat-0"),
         SENT("4", OUT, 1002, "leat-0"), SENT("5", OUT, 1003, "leat-1"),
         SENT("6", OUT, 1004, "leat-1")},
        {REJECTED("0", "rejected_by_offer"), TAKEN("1"), SENT("2", OUT, 1000, "leat-0"),
         SENT("4", OUT, 1002, "leat-0"), SENT("5", OUT, 1003, "leat-1"),
         SENT("6", OUT, 1004, "leat-1"), REJECTED("7", "unsupported")},
        {REJECTED("0", "rejected_by_offer"), TAKEN("1"), SENT("2", OUT, 1000, "leat-0"),
         SENT("4", OUT, 1002, "leat-0"), SENT("5", OUT, 1003, "leat-1"),
         SENT("6", OUT, 1004, "leat-1"), REJECTED("7", "rejected_by_offer"),
         SENT("8", OUT, 1005, "leat-2")},
    };
    check_growth("firefox153", steps, 1U << 5);
}

static void agree__first_section_ended__leaves_the_group(void)
{
    /* RFC 8843 7.3: the next accepted one carries the transport */
    struct talk *t = talk_new();
    char *two = offer_of(HEAD("BUNDLE 0 1"), AUDIO("0"), VIDEO("1"), NULL);
    char *one =
        offer_of(HEAD("BUNDLE 1"), "m=audio 0 UDP/TLS/RTP/SAVPF 111", "a=mid:0", VIDEO("1"), NULL);
    LEAT_CHECK_INT(talk_offer(t, two), 0);
    LEAT_CHECK(has_line(t->answer, "a=group:BUNDLE 0 1"));
    LEAT_CHECK_INT(t->session.tagged_index, 0);
    LEAT_CHECK_INT(talk_offer(t, one), 0);
    LEAT_CHECK(has_line(t->answer, "a=group:BUNDLE 1"));
    LEAT_CHECK_INT(t->session.tagged_index, 1);
    LEAT_CHECK(!t->session.is_ice_restart);
    free(one);
    free(two);
    talk_free(t);
}

static void agree__simulcast_refused__the_next_offer_is_answered_too(void)
{
    static const char *const browsers[] = {"chromium156", "firefox153"};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(browsers); i++) {
        struct talk *t = talk_new();
        for (int n = 1; n <= 2; n++) {
            char name[64];
            (void)snprintf(name, sizeof(name), "%s-simulcast-re-%d", browsers[i], n);
            LEAT_CHECK_INT(talk_file(t, name), 0);
            LEAT_CHECK_ROW(i, !t->session.is_ice_restart);
            LEAT_CHECK_ROW(i, t->session.sections[1].direction == IN);
            LEAT_CHECK_INT(count_lines(t->answer, "a=simulcast"), 0);
        }
        talk_free(t);
    }
}

/** `first`, then `second`, which is refused with `reason` and changes nothing. */
static void check_refused(const char *first, const char *second, const char *reason)
{
    struct talk *t = talk_new();
    if (first != NULL) {
        LEAT_CHECK_INT(talk_offer(t, first), 0);
    }
    struct leat_sdp_session before = t->session;
    LEAT_CHECK_INT(talk_offer(t, second), LEAT_E_INVALID);
    LEAT_CHECK_STR(t->reason, reason);
    LEAT_CHECK(t->why[0] != '\0');
    LEAT_CHECK_MEM(&t->session, sizeof(before), &before, sizeof(before));
    talk_free(t);
}

static void agree__changed_meanings__refused(void)
{
    static const struct {
        const char *from, *to, *reason;
    } table[] = {
        {"34:2C:02:C9", "34:2C:02:CA", "new_association"},
        {"a=mid:1\r\n", "a=mid:9\r\n", "mid_changed"},
        {"m=video 9", "m=audio 9", "kind_changed"},
        {"a=mid:1\r\n", "a=mid:0\r\n", "duplicate_mid"},
        {"a=rtpmap:96 VP8", "a=rtpmap:96 VP9", "payload_type_changed"},
        {"a=rtpmap:96 VP8", "a=rtpmap:96 rtx", "payload_type_changed"},
        {"packetization-mode=1;profile-level-id=42001f",
         "packetization-mode=0;profile-level-id=42001f", "payload_type_changed"},
        {"a=extmap:4 urn:ietf", "a=extmap:12 urn:ietf", "extension_id_changed"},
        {"a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid", "a=extmap:4 urn:x",
         "extension_id_changed"},
        {"a=ice-ufrag", "a=x", "no_ice"},
        {"a=ice-pwd", "a=x", "no_ice"},
        {"a=fingerprint", "a=x", "no_fingerprint"},
        {"a=fingerprint:sha-256", "a=fingerprint:sha-512", "no_fingerprint"},
        {"a=extmap-allow-mixed", "a=ice-lite", "ice_lite_remote"},
        {"a=rtcp-mux", "a=x", "no_media"},
        {"m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n", "a=x\r\n", "sections_removed"},
    };
    size_t len;
    char *offer = load("chromium156-default", &len);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(table); i++) {
        char *changed = replaced(offer, table[i].from, table[i].to);
        LEAT_CHECK_ROW(i, strcmp(changed, offer) != 0);
        check_refused(offer, changed, table[i].reason);
        free(changed);
    }
    free(offer);
}

static void agree__first_offer__without_what_a_transport_needs__refused(void)
{
    static const struct {
        const char *from, *to, *reason;
    } table[] = {
        {"a=setup", "a=x", "no_setup"},
        {"a=setup:actpass", "a=setup:holdconn", "no_setup"},
        {"a=ice-pwd", "a=x", "no_ice"},
        {"a=fingerprint:sha-256", "a=fingerprint:sha-1", "no_fingerprint"},
        {"m=audio", "m=text", "no_media"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(table); i++) {
        char *offer = offer_of(HEAD("BUNDLE 0"), AUDIO("0"), NULL);
        char *changed = replaced(offer, table[i].from, table[i].to);
        check_refused(NULL, changed, table[i].reason);
        free(changed);
        free(offer);
    }
    check_refused(NULL, "v=0\r\n", "no_media");
}

static void agree__data_channel_only__no_media(void)
{
    struct talk *t = talk_new();
    LEAT_CHECK_INT(talk_file(t, "chromium156-dconly"), LEAT_E_INVALID);
    LEAT_CHECK_STR(t->reason, "no_media");
    LEAT_CHECK_INT(talk_file(t, "firefox153-dconly"), LEAT_E_INVALID);
    LEAT_CHECK_STR(t->reason, "no_media");
    talk_free(t);
}

static void agree__same_level_or_more__is_no_change_of_meaning(void)
{
    static const struct {
        const char *from, *to;
    } table[] = {
        {"packetization-mode=1;profile-level-id=42e01f",
         "packetization-mode=1;profile-level-id=42e034"}, /* level */
        {"a=fmtp:111 minptime=10", "a=fmtp:111 stereo=1;minptime=10"},
        {"a=extmap:13 urn:3gpp:video-orientation", "a=extmap:12 urn:3gpp:video-orientation"},
        {"UDP/TLS/RTP/SAVPF 111 63", "UDP/TLS/RTP/SAVPF 63 111"},
        {"a=setup:actpass", "a=setup:active"},  /* the running role stays: passive */
        {"a=setup:actpass", "a=setup:passive"}, /* here as well */
        {"a=setup:actpass", "a=x"},
    };
    size_t len;
    char *offer = load("chromium156-default", &len);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(table); i++) {
        struct talk *t = talk_new();
        char *changed = replaced(offer, table[i].from, table[i].to);
        LEAT_CHECK_ROW(i, talk_offer(t, offer) == 0);
        LEAT_CHECK_ROW(i, talk_offer(t, changed) == 0);
        LEAT_CHECK_ROW(i, t->session.setup == LEAT_SETUP_PASSIVE);
        LEAT_CHECK_ROW(i, !t->session.is_ice_restart);
        LEAT_CHECK_ROW(i, count_lines(t->answer, "a=setup:passive") == 2);
        free(changed);
        talk_free(t);
    }
    free(offer);
}

static void agree__setup__by_offer_and_policy(void)
{
    static const struct {
        const char *offered;
        enum leat_sdp_setup policy, expected;
    } table[] = {
        {"a=setup:actpass", LEAT_SETUP_NONE, LEAT_SETUP_PASSIVE},
        {"a=setup:actpass", LEAT_SETUP_PASSIVE, LEAT_SETUP_PASSIVE},
        {"a=setup:actpass", LEAT_SETUP_ACTIVE, LEAT_SETUP_ACTIVE},
        {"a=setup:active", LEAT_SETUP_ACTIVE, LEAT_SETUP_PASSIVE},
        {"a=setup:passive", LEAT_SETUP_PASSIVE, LEAT_SETUP_ACTIVE},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(table); i++) {
        struct talk *t = talk_new();
        char *offer = offer_of(HEAD("BUNDLE 0"), AUDIO("0"), NULL);
        char *changed = replaced(offer, "a=setup:actpass", table[i].offered);
        t->policy.setup = table[i].policy;
        LEAT_CHECK_ROW(i, talk_offer(t, changed) == 0);
        LEAT_CHECK_ROW(i, t->session.setup == table[i].expected);
        t->policy.setup = LEAT_SETUP_NONE;
        LEAT_CHECK_ROW(i, talk_offer(t, offer) == 0); /* actpass again: the role goes on */
        LEAT_CHECK_ROW(i, t->session.setup == table[i].expected);
        free(changed);
        free(offer);
        talk_free(t);
    }
}

static void agree__ice_credentials__restart_only_when_they_change(void)
{
    static const struct {
        const char *from, *to;
        bool is_restart;
    } table[] = {
        {"x", "x", false},
        {"a=ice-ufrag:uuuu", "a=ice-ufrag:vvvv", true},
        {"a=ice-pwd:pppp", "a=ice-pwd:qqqq", true},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(table); i++) {
        struct talk *t = talk_new();
        char *offer = offer_of(HEAD("BUNDLE 0"), AUDIO("0"), NULL);
        char *changed = replaced(offer, table[i].from, table[i].to);
        LEAT_CHECK_INT(talk_offer(t, offer), 0);
        LEAT_CHECK(!t->session.is_ice_restart);
        LEAT_CHECK_INT(talk_offer(t, changed), 0);
        LEAT_CHECK_ROW(i, t->session.is_ice_restart == table[i].is_restart);
        LEAT_CHECK_INT(talk_offer(t, changed), 0);
        LEAT_CHECK_ROW(i, !t->session.is_ice_restart);
        free(changed);
        free(offer);
        talk_free(t);
    }
}

/** One offer, then the reason word of each section, "-" for an accepted one. */
static void check_verdicts(size_t row, char *offer, const char *verdicts, size_t tagged)
{
    struct talk *t = talk_new();
    char is[200] = "";
    LEAT_CHECK_ROW(row, talk_offer(t, offer) == 0);
    for (size_t i = 0; i < t->session.section_count; i++) {
        const struct leat_sdp_agreed *g = &t->session.sections[i];
        (void)snprintf(is + strlen(is), sizeof(is) - strlen(is), "%s%s", i != 0 ? " " : "",
                       g->is_rejected ? g->why_rejected : "-");
    }
    LEAT_CHECK_STR(is, verdicts);
    LEAT_CHECK_ROW(row, t->session.tagged_index == tagged);
    free(offer);
    talk_free(t);
}

static void agree__sections__each_has_its_verdict(void)
{
    check_verdicts(0, offer_of(HEAD("BUNDLE 0 1"), AUDIO("0"), VIDEO("1"), NULL), "- -", 0);
    check_verdicts(1, offer_of(HEAD("BUNDLE 0"), AUDIO("0"), VIDEO("1"), NULL), "- not_bundled", 0);
    check_verdicts(2, offer_of(HEAD("LS 0 1"), AUDIO("0"), VIDEO("1"), NULL), "- not_bundled", 0);
    check_verdicts(3, offer_of(HEAD("BUNDLE 1 0"), AUDIO("0"), VIDEO("1"), NULL), "- -", 1);
    check_verdicts(4,
                   offer_of(HEAD("BUNDLE 0 1"), "m=audio 9 UDP/TLS/RTP/SAVPF 97", "a=mid:0",
                            "a=rtcp-mux", "a=rtpmap:97 ISAC/16000", VIDEO("1"), NULL),
                   "no_common_codec -", 1);
    check_verdicts(5,
                   offer_of(HEAD("BUNDLE 0 1"), "m=application 9 UDP/DTLS/SCTP x", "a=mid:0",
                            VIDEO("1"), NULL),
                   "unsupported -", 1);
    check_verdicts(6,
                   offer_of(HEAD("LS 0"), "m=application 9 UDP/DTLS/SCTP x", "a=mid:0", AUDIO("1"),
                            VIDEO("2"), NULL),
                   "unsupported - not_bundled", 1);
    check_verdicts(
        7,
        offer_of(HEAD("BUNDLE 1"), "m=audio 9 UDP/TLS/RTP/SAVPF 0", "a=rtcp-mux", VIDEO("1"), NULL),
        "no_mid -", 1);
    check_verdicts(
        8,
        offer_of(HEAD("BUNDLE 0 1"), "m=audio 9 UDP/TLS/RTP/SAVPF 0", "a=mid:0", VIDEO("1"), NULL),
        "no_rtcp_mux -", 1);
    check_verdicts(9,
                   offer_of(HEAD("BUNDLE 0 1"), "m=audio 9 RTP/XYZ 0", "a=mid:0", "a=rtcp-mux",
                            VIDEO("1"), NULL),
                   "unsupported -", 1);
    check_verdicts(10,
                   offer_of(HEAD("LS 0"), "m=audio 0 UDP/TLS/RTP/SAVPF 0", "a=bundle-only",
                            "a=mid:0", "a=rtcp-mux", VIDEO("1"), NULL),
                   "not_bundled -", 1); /* bundle-only without a group: no transport */
    check_verdicts(
        11,
        offer_of(HEAD("BUNDLE 0 1"), "m=text 9 UDP/TLS/RTP/SAVPF 98", "a=mid:0", VIDEO("1"), NULL),
        "unsupported -", 1);
}

static void agree__unbundled__the_running_one_goes_on(void)
{
    struct talk *t = talk_new();
    char *one = offer_of(HEAD("LS 0"), "m=audio 0 RTP/SAVPF 0", VIDEO("1"), NULL);
    char *two = offer_of(HEAD("LS 0"), AUDIO("2"), VIDEO("1"), NULL);
    LEAT_CHECK_INT(talk_offer(t, one), 0);
    LEAT_CHECK_INT(t->session.tagged_index, 1);
    LEAT_CHECK_INT(talk_offer(t, two), 0);
    LEAT_CHECK_INT(t->session.tagged_index, 1);
    LEAT_CHECK_STR(t->session.sections[0].why_rejected, "not_bundled");
    free(one);
    free(two);
    talk_free(t);
}

static void agree__transport__of_the_tagged_section(void)
{
    /* each section has its own, as before a bundle is agreed */
    struct talk *t = talk_new();
    LEAT_CHECK_INT(talk_file(t, "aiortc-send"), 0);
    LEAT_CHECK_STR(t->session.remote_ufrag, "co8K");
    LEAT_CHECK_STR(t->session.remote_pwd, "dgaTYpHKkxwTZ24b0hwfiu");
    LEAT_CHECK_INT(t->session.fingerprint[0], 0xbc);
    talk_free(t);
    t = talk_new(); /* no audio codec in common: video is the first accepted */
    t->policy.codec_count = 1;
    t->policy.codecs[0].name = LEAT_CODEC_VP8;
    LEAT_CHECK_INT(talk_file(t, "aiortc-send"), 0);
    LEAT_CHECK_STR(t->session.sections[0].why_rejected, "no_common_codec");
    LEAT_CHECK_STR(t->session.remote_ufrag, "2fT7");
    talk_free(t);
    t = talk_new(); /* only one of the bundle has it (RFC 8843 7.1.3) */
    char *offer = offer_of("v=0", "a=group:BUNDLE 0 1", AUDIO("0"), VIDEO("1"), "a=ice-ufrag:only",
                           "a=ice-pwd:here", "a=setup:active", FINGERPRINT_A, NULL);
    LEAT_CHECK_INT(talk_offer(t, offer), 0);
    LEAT_CHECK_STR(t->session.remote_ufrag, "only");
    free(offer);
    talk_free(t);
}

static void agree__extensions__by_section_and_direction(void)
{
    struct talk *t = talk_new();
    LEAT_CHECK_INT(talk_file(t, "aiortc-send"), 0);
    LEAT_CHECK_INT(t->session.sections[0].common.exts.ids[LEAT_EXT_MID], 1);
    LEAT_CHECK_INT(t->session.sections[0].common.exts.ids[LEAT_EXT_AUDIO_LEVEL], 2);
    LEAT_CHECK_INT(t->session.sections[1].common.exts.ids[LEAT_EXT_MID], 1);
    LEAT_CHECK_INT(t->session.sections[1].common.exts.ids[LEAT_EXT_AUDIO_LEVEL], 0);
    talk_free(t);
    t = talk_new();
    char *offer = offer_of(HEAD("BUNDLE 0 1"), AUDIO("0"),
                           "a=extmap:1/sendonly urn:ietf:params:rtp-hdrext:ssrc-audio-level",
                           "a=extmap:2/inactive urn:ietf:params:rtp-hdrext:sdes:mid", VIDEO("1"),
                           "a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level",
                           "a=extmap:200 urn:ietf:params:rtp-hdrext:sdes:mid", NULL);
    LEAT_CHECK_INT(talk_offer(t, offer), 0);
    LEAT_CHECK_INT(t->session.sections[0].common.exts.ids[LEAT_EXT_AUDIO_LEVEL], 1);
    LEAT_CHECK_INT(t->session.sections[0].ext_directions[LEAT_EXT_AUDIO_LEVEL], IN);
    LEAT_CHECK_INT(t->session.sections[0].common.exts.ids[LEAT_EXT_MID], 0);
    LEAT_CHECK_INT(t->session.sections[1].common.exts.ids[LEAT_EXT_AUDIO_LEVEL], 0);
    LEAT_CHECK_INT(t->session.sections[1].common.exts.ids[LEAT_EXT_MID], 200);
    LEAT_CHECK(
        has_line(t->answer, "a=extmap:1/recvonly urn:ietf:params:rtp-hdrext:ssrc-audio-level"));
    free(offer);
    talk_free(t);
}

static void agree__what_the_remote_sends__stands_in_common(void)
{
    struct talk *t = talk_new();
    LEAT_CHECK_INT(talk_file(t, "chromium156-default"), 0);
    const struct leat_sdp_agreed *v = &t->session.sections[1];
    LEAT_CHECK_STR(v->common.mid, "1");
    LEAT_CHECK_INT(v->common.kind, LEAT_KIND_VIDEO);
    LEAT_CHECK(v->common.is_rsize && v->common.is_active);
    LEAT_CHECK_INT(v->common.encoding_count, 1);
    LEAT_CHECK_INT(v->common.encodings[0].ssrc, 64893092);
    LEAT_CHECK_STR(v->common.stream, "1d3d2e2c-0528-4bf4-b967-174daa6ce6b2");
    LEAT_CHECK(v->has_track && v->has_sender);
    LEAT_CHECK_STR(v->stream, "leat-0");
    talk_free(t);
    t = talk_new();
    LEAT_CHECK_INT(talk_file(t, "libwebrtc-send"), 0);
    LEAT_CHECK(!t->session.sections[0].common.is_rsize && t->session.sections[1].common.is_rsize);
    talk_free(t);
}

static void agree__sender_and_track__outlive_a_pause(void)
{
    static const char *const directions[] = {"a=sendrecv", "a=inactive", "a=sendonly",
                                             "a=recvonly"};
    struct talk *t = talk_new();
    for (size_t i = 0; i < LEAT_ARRAY_LEN(directions); i++) {
        char *offer = offer_of(HEAD("BUNDLE 0"), AUDIO("0"), directions[i], NULL);
        LEAT_CHECK_ROW(i, talk_offer(t, offer) == 0);
        const struct leat_sdp_agreed *g = &t->session.sections[0];
        LEAT_CHECK_ROW(i, g->has_sender && g->has_track && g->ssrc == 1000);
        LEAT_CHECK_ROW(i, !g->is_reused && strcmp(g->stream, "leat-0") == 0);
        free(offer);
    }
    char *gone = offer_of(HEAD("BUNDLE"), "m=audio 0 RTP/SAVPF 0", "a=mid:0", AUDIO("1"), NULL);
    char *back = offer_of(HEAD("BUNDLE 0 1"), AUDIO("0"), "a=sendonly", AUDIO("1"), NULL);
    char *group = replaced(gone, "a=group:BUNDLE", "a=group:BUNDLE 1");
    LEAT_CHECK_INT(talk_offer(t, group), 0);
    LEAT_CHECK(!t->session.sections[0].has_sender && !t->session.sections[0].has_track);
    LEAT_CHECK_INT(talk_offer(t, back), 0);
    LEAT_CHECK(t->session.sections[0].is_reused && !t->session.sections[0].has_sender);
    LEAT_CHECK_INT(t->session.sections[0].ssrc, 0);
    free(gone);
    free(back);
    free(group);
    talk_free(t);
}

static void agree__streams__pairs_by_kind_and_kept_when_the_caller_sets_one(void)
{
    struct talk *t = talk_new();
    char *offer =
        offer_of(HEAD("BUNDLE 0 1 2 3"), VIDEO("0"), AUDIO("1"), AUDIO("2"), VIDEO("3"), NULL);
    LEAT_CHECK_INT(talk_offer(t, offer), 0);
    static const char *const streams[] = {"leat-0", "leat-0", "leat-1", "leat-1"};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(streams); i++) {
        LEAT_CHECK_STR(t->session.sections[i].stream, streams[i]);
    }
    strcpy(t->session.sections[2].stream, "mine");
    LEAT_CHECK_INT(talk_offer(t, offer), 0);
    LEAT_CHECK_STR(t->session.sections[2].stream, "mine");
    LEAT_CHECK_STR(t->session.sections[3].stream, "leat-1");
    LEAT_CHECK(has_line(t->answer, "a=msid:mine leat-audio-2"));
    free(offer);
    talk_free(t);
}

LEAT_TESTS(LEAT_TEST(agree__chromium_grows__keeps_order_and_ssrcs_and_reuses),
           LEAT_TEST(agree__firefox_grows__keeps_order_and_ssrcs_and_reuses),
           LEAT_TEST(agree__first_section_ended__leaves_the_group),
           LEAT_TEST(agree__simulcast_refused__the_next_offer_is_answered_too),
           LEAT_TEST(agree__changed_meanings__refused),
           LEAT_TEST(agree__first_offer__without_what_a_transport_needs__refused),
           LEAT_TEST(agree__data_channel_only__no_media),
           LEAT_TEST(agree__same_level_or_more__is_no_change_of_meaning),
           LEAT_TEST(agree__setup__by_offer_and_policy),
           LEAT_TEST(agree__ice_credentials__restart_only_when_they_change),
           LEAT_TEST(agree__sections__each_has_its_verdict),
           LEAT_TEST(agree__unbundled__the_running_one_goes_on),
           LEAT_TEST(agree__transport__of_the_tagged_section),
           LEAT_TEST(agree__extensions__by_section_and_direction),
           LEAT_TEST(agree__what_the_remote_sends__stands_in_common),
           LEAT_TEST(agree__sender_and_track__outlive_a_pause),
           LEAT_TEST(agree__streams__pairs_by_kind_and_kept_when_the_caller_sets_one))
