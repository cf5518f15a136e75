/* SPDX-License-Identifier: MIT */
#include "support.h"

static void compose__known_offers__are_answered_with(void)
{
    /* By hand from the offers: what of each m= line is served, and the other side's direction. */
    static const struct {
        const char *offer, *group, *sections;
    } table[] = {
        {"chromium156-default", "a=group:BUNDLE 0 1",
         "m=audio 7000 UDP/TLS/RTP/SAVPF 111 9 0 8 sendrecv\n"
         "m=video 7000 UDP/TLS/RTP/SAVPF 96 102 104 108 114 116 39 45 98 100 sendrecv\n"
         "m=application 0 UDP/DTLS/SCTP webrtc-datachannel \n"},
        {"chromium156-recvonly", "a=group:BUNDLE 0 1",
         "m=audio 7000 UDP/TLS/RTP/SAVPF 111 9 0 8 sendonly\n"
         "m=video 7000 UDP/TLS/RTP/SAVPF 96 98 100 35 37 102 104 108 114 116 39 41 43 45 47 "
         "sendonly\n"},
        {"chromium156-simulcast", "a=group:BUNDLE 0 1",
         "m=audio 7000 UDP/TLS/RTP/SAVPF 111 9 0 8 sendrecv\n"
         "m=video 7000 UDP/TLS/RTP/SAVPF 96 102 104 108 114 116 39 45 98 100 sendrecv\n"
         "m=application 0 UDP/DTLS/SCTP webrtc-datachannel \n"},
        {"firefox153-default", "a=group:BUNDLE 0 1",
         "m=audio 7000 UDP/TLS/RTP/SAVPF 109 9 0 8 sendrecv\n"
         "m=video 7000 UDP/TLS/RTP/SAVPF 120 121 99 sendrecv\n"
         "m=application 0 UDP/DTLS/SCTP webrtc-datachannel \n"},
        {"firefox153-simulcast", "a=group:BUNDLE 0 1",
         "m=audio 7000 UDP/TLS/RTP/SAVPF 109 9 0 8 sendrecv\n"
         "m=video 7000 UDP/TLS/RTP/SAVPF 120 121 99 sendrecv\n"
         "m=application 0 UDP/DTLS/SCTP webrtc-datachannel \n"},
        {"safari17-default", "a=group:BUNDLE 0 1",
         "m=audio 7000 UDP/TLS/RTP/SAVPF 111 9 0 8 sendrecv\n"
         "m=video 7000 UDP/TLS/RTP/SAVPF 96 98 100 102 106 108 127 sendrecv\n"
         "m=application 0 UDP/DTLS/SCTP webrtc-datachannel \n"},
        {"obs30-whip", "a=group:BUNDLE 0 1",
         "m=audio 7000 UDP/TLS/RTP/SAVPF 111 recvonly\n"
         "m=video 7000 UDP/TLS/RTP/SAVPF 96 recvonly\n"},
        {"pion-send", "a=group:BUNDLE 0 1",
         "m=video 7000 UDP/TLS/RTP/SAVPF 96 102 104 106 108 127 39 45 98 100 112 sendrecv\n"
         "m=audio 7000 UDP/TLS/RTP/SAVPF 111 9 0 8 sendrecv\n"
         "m=application 0 UDP/DTLS/SCTP webrtc-datachannel \n"},
        {"gstreamer-bundle", "a=group:BUNDLE video0 audio1",
         "m=video 7000 UDP/TLS/RTP/SAVPF 96 sendrecv\n"
         "m=audio 7000 UDP/TLS/RTP/SAVPF 97 sendrecv\n"},
        {"gstreamer-unbundled", NULL,
         "m=video 7000 UDP/TLS/RTP/SAVPF 96 sendrecv\n"
         "m=audio 0 UDP/TLS/RTP/SAVPF 97 inactive\n"},
        {"aiortc-send", "a=group:BUNDLE 0 1",
         "m=audio 7000 UDP/TLS/RTP/SAVPF 96 0 8 sendrecv\n"
         "m=video 7000 UDP/TLS/RTP/SAVPF 97 99 101 sendrecv\n"
         "m=application 0 DTLS/SCTP 5000 \n"},
        {"libwebrtc-recv", "a=group:BUNDLE 0 1",
         "m=audio 7000 UDP/TLS/RTP/SAVPF 111 9 0 8 sendonly\n"
         "m=video 7000 UDP/TLS/RTP/SAVPF 96 98 100 35 37 39 sendonly\n"},
        {"werift-send", "a=group:BUNDLE 0 1",
         "m=audio 7000 UDP/TLS/RTP/SAVPF 96 0 recvonly\n"
         "m=video 7000 UDP/TLS/RTP/SAVPF 98 recvonly\n"
         "m=application 0 UDP/DTLS/SCTP webrtc-datachannel \n"},
        {"libdatachannel-send", "a=group:BUNDLE audio video",
         "m=audio 7000 UDP/TLS/RTP/SAVPF 111 recvonly\n"
         "m=video 7000 UDP/TLS/RTP/SAVPF 96 recvonly\n"
         "m=application 0 UDP/DTLS/SCTP webrtc-datachannel \n"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(table); i++) {
        char is[4096];
        struct talk *t = talk_new();
        LEAT_CHECK_ROW(i, talk_file(t, table[i].offer) == 0);
        digest(t->answer, is);
        LEAT_CHECK_STR(is, table[i].sections);
        LEAT_CHECK_INT(count_lines(t->answer, "a=group:"), table[i].group != NULL);
        LEAT_CHECK_ROW(i, table[i].group == NULL || has_line(t->answer, table[i].group));
        talk_free(t);
    }
}

static void check_session_lines(size_t row, const char *answer)
{
    static char session[TEXT_MAX];
    section_of(answer, -1, session);
    static const char head[] = "v=0\r\no=- 77 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n";
    LEAT_CHECK_ROW(row, strncmp(answer, head, sizeof(head) - 1) == 0);
    LEAT_CHECK_ROW(row, count_lines(answer, "a=ice-lite\r") == 1);
    LEAT_CHECK_ROW(row, count_lines(session, "a=ice-lite\r") == 1);
    LEAT_CHECK_ROW(row, count_lines(session, "a=msid-semantic: WMS *\r") == 1);
    LEAT_CHECK_ROW(row, count_lines(session, "a=ice-ufrag") == 0);
    for (const char *at = answer; (at = strchr(at, '\n')) != NULL; at++) {
        LEAT_CHECK_ROW(row, at > answer && at[-1] == '\r');
    }
    LEAT_CHECK_ROW(row, answer[strlen(answer) - 1] == '\n');
}

/** What is in every accepted section, once. */
static void check_accepted(size_t row, const char *section, const char *offered)
{
    static const char *const once[] = {
        "c=IN IP6 2001:db8::9\r",
        "a=ice-ufrag:w0abcdef\r",
        "a=ice-pwd:0123456789abcdefghijkl\r",
        "a=fingerprint:sha-256 01:02\r",
        "a=setup:passive\r",
        "a=mid:",
        "a=rtcp-mux\r",
        "a=candidate:1 1 udp 2130706431 2001:db8::9 7000 typ host\r",
        "a=candidate:2 1 udp 2130706175 192.0.2.9 7001 typ host\r",
        "a=end-of-candidates\r",
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(once); i++) {
        LEAT_CHECK_ROW(row * 100 + i, count_lines(section, once[i]) == 1);
    }
    bool is_sending = count_lines(section, "a=sendrecv\r") + count_lines(section, "a=sendonly\r");
    LEAT_CHECK_ROW(row, count_lines(section, "a=msid:leat-0 leat-") == is_sending);
    LEAT_CHECK_ROW(row, count_lines(section, "a=ssrc:100") == is_sending);
    LEAT_CHECK_ROW(row, (count_lines(section, "a=rtcp-rsize") != 0) ==
                            (count_lines(offered, "a=rtcp-rsize") != 0));
}

/** Only what is served, and that as it was offered. */
static void check_nothing_else(size_t row, const char *section, const char *offered)
{
    static const char *const allowed[] = {"m=",
                                          "c=",
                                          "a=ice-ufrag:",
                                          "a=ice-pwd:",
                                          "a=fingerprint:",
                                          "a=setup:",
                                          "a=candidate:",
                                          "a=mid:",
                                          "a=sendrecv\r",
                                          "a=sendonly\r",
                                          "a=recvonly\r",
                                          "a=inactive\r",
                                          "a=rtpmap:",
                                          "a=fmtp:",
                                          "a=rtcp-fb:",
                                          "a=rtcp-mux\r",
                                          "a=rtcp-rsize\r",
                                          "a=extmap:",
                                          "a=msid:",
                                          "a=ssrc:",
                                          "a=end-of-candidates\r",
                                          "a=sctp-port:5000\r"};
    char line[400];
    for (const char *at = section; *at != '\0'; at += strcspn(at, "\n") + 1) {
        bool is_allowed = false;
        (void)snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\r\n"), at);
        for (size_t i = 0; i < LEAT_ARRAY_LEN(allowed); i++) {
            is_allowed = is_allowed || strncmp(at, allowed[i], strlen(allowed[i])) == 0;
        }
        if (strncmp(line, "a=rtcp-fb:", 10) == 0) {
            const char *what = strchr(line, ' ');
            is_allowed = strcmp(what, " nack pli") == 0 || strcmp(what, " ccm fir") == 0;
            LEAT_CHECK_ROW(row, has_line(offered, line));
        }
        if (strncmp(line, "a=fmtp:", 7) == 0) {
            LEAT_CHECK_ROW(row, has_line(offered, line));
        }
        if (strncmp(line, "a=extmap:", 9) == 0) {
            const char *uri = strchr(line, ' ');
            is_allowed = strcmp(uri, " urn:ietf:params:rtp-hdrext:sdes:mid") == 0 ||
                         strcmp(uri, " urn:ietf:params:rtp-hdrext:ssrc-audio-level") == 0 ||
                         (count_lines(offered, "a=simulcast:send") != 0 &&
                          strcmp(uri, " urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id") == 0);
            LEAT_CHECK_ROW(row, strstr(line, "/") != NULL || has_line(offered, line));
        }
        LEAT_CHECK_ROW(row, is_allowed);
    }
}

static void compose__every_offer__answers_what_is_served_and_no_more(void)
{
    static char section[TEXT_MAX], offered[TEXT_MAX];
    static const char *const never[] = {
        "transport-wide", "transport-cc", "goog-remb", "rtx",           "ulpfec", "red/",
        "a=rid",          "a=simulcast",  "nack\r",    "abs-send-time", "trickle"};
    for (size_t row = 0; row < LEAT_ARRAY_LEN(answerable); row++) {
        size_t len;
        struct talk *t = talk_new();
        char *offer = load(answerable[row], &len);
        LEAT_CHECK_ROW(row, talk_offer(t, offer) == 0);
        check_session_lines(row, t->answer);
        for (size_t i = 0; i < LEAT_ARRAY_LEN(never); i++) {
            LEAT_CHECK_ROW(row * 100 + i, strstr(t->answer, never[i]) == NULL);
        }
        LEAT_CHECK_INT(count_lines(t->answer, "m="), count_lines(offer, "m="));
        for (int i = 0; (size_t)i < t->session.section_count; i++) {
            char mid[40];
            section_of(t->answer, i, section);
            section_of(offer, i, offered);
            (void)snprintf(mid, sizeof(mid), "a=mid:%s", t->session.sections[i].mid);
            LEAT_CHECK_ROW(row, has_line(offered, mid) && has_line(section, mid));
            if (!t->session.sections[i].is_rejected) {
                check_accepted(row, section, offered);
            }
            check_nothing_else(row, section, offered);
        }
        free(offer);
        talk_free(t);
    }
}

static void compose__feedback_and_extensions__that_are_served_stay(void)
{
    static const struct {
        const char *offer, *line;
    } table[] = {
        {"chromium156-default", "a=rtcp-fb:96 nack pli"},
        {"chromium156-default", "a=rtcp-fb:96 ccm fir"},
        {"chromium156-default", "a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid"},
        {"chromium156-default", "a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level"},
        {"chromium156-default", "a=fmtp:111 minptime=10;useinbandfec=1"},
        {"chromium156-default",
         "a=fmtp:108 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f"},
        {"chromium156-default", "a=rtpmap:111 opus/48000/2"},
        {"firefox153-default", "a=rtcp-fb:120 nack pli"},
        {"firefox153-default", "a=rtcp-fb:99 ccm fir"},
        {"firefox153-default", "a=rtpmap:9 G722/8000"},
        {"aiortc-send", "a=extmap:2 urn:ietf:params:rtp-hdrext:ssrc-audio-level"},
        {"aiortc-send", "a=rtcp-fb:97 nack pli"},
        {"gstreamer-bundle", "a=rtpmap:97 opus/48000/2"},
        {"pion-send", "a=rtcp-fb:96 nack pli"},
        {"chromium156-simulcast", "a=extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"},
        {"firefox153-simulcast",
         "a=extmap:9/recvonly urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(table); i++) {
        struct talk *t = talk_new();
        LEAT_CHECK_ROW(i, talk_file(t, table[i].offer) == 0);
        LEAT_CHECK_ROW(i, has_line(t->answer, table[i].line));
        talk_free(t);
    }
}

static struct talk *talk_agreed(void)
{
    struct talk *t = talk_new();
    char *offer = offer_of(HEAD("BUNDLE 0 1"), AUDIO("0"), VIDEO("1"), NULL);
    LEAT_CHECK_INT(talk_offer(t, offer), 0);
    free(offer);
    return t;
}

static void compose__no_candidate__port_9(void)
{
    struct talk *t = talk_agreed();
    struct leat_sdp_local local = local_two();
    local.candidate_count = 0;
    LEAT_CHECK(leat_sdp_compose(&t->session, &local, t->answer, sizeof(t->answer)) > 0);
    LEAT_CHECK_INT(count_lines(t->answer, "m=audio 9 UDP/TLS/RTP/SAVPF 111\r"), 1);
    LEAT_CHECK_INT(count_lines(t->answer, "c=IN IP4 0.0.0.0\r"), 2);
    LEAT_CHECK_INT(count_lines(t->answer, "a=candidate"), 0);
    LEAT_CHECK_INT(count_lines(t->answer, "a=end-of-candidates\r"), 2);
    talk_free(t);
}

static void compose__active_role__is_said(void)
{
    struct talk *t = talk_new();
    char *offer = offer_of(HEAD("BUNDLE 0"), AUDIO("0"), NULL);
    t->policy.setup = LEAT_SETUP_ACTIVE;
    LEAT_CHECK_INT(talk_offer(t, offer), 0);
    LEAT_CHECK(has_line(t->answer, "a=setup:active"));
    free(offer);
    talk_free(t);
}

static void compose__no_room__raises_nothing(void)
{
    struct talk *t = talk_agreed();
    struct leat_sdp_local local = local_two();
    char *out = malloc(TEXT_MAX);
    int len = (int)strlen(t->answer);
    uint64_t version = t->session.version;
    for (int cap = 0; cap <= len; cap++) {
        char *exact = malloc(cap != 0 ? (size_t)cap : 1); /* so that a write behind is seen */
        LEAT_CHECK_ROW(cap,
                       leat_sdp_compose(&t->session, &local, exact, (size_t)cap) == LEAT_E_RANGE);
        free(exact);
    }
    LEAT_CHECK_INT(t->session.version, version);
    LEAT_CHECK_INT(leat_sdp_compose(&t->session, &local, out, (size_t)len + 1), len);
    LEAT_CHECK_INT(t->session.version, version + 1);
    free(out);
    talk_free(t);
}

static void compose__stream_with_a_line_end__refused(void)
{
    struct talk *t = talk_agreed();
    struct leat_sdp_local local = local_two();
    strcpy(t->session.sections[1].stream, "a\r\na=x");
    LEAT_CHECK_INT(leat_sdp_compose(&t->session, &local, t->answer, sizeof(t->answer)),
                   LEAT_E_INVALID);
    strcpy(t->session.sections[1].stream, "");
    LEAT_CHECK(leat_sdp_compose(&t->session, &local, t->answer, sizeof(t->answer)) > 0);
    LEAT_CHECK(has_line(t->answer, "a=msid:- leat-video-1"));
    talk_free(t);
}

static void compose__paused_sender__says_no_msid(void)
{
    struct talk *t = talk_new();
    char *offer = offer_of(HEAD("BUNDLE 0"), AUDIO("0"), NULL);
    char *paused = offer_of(HEAD("BUNDLE 0"), AUDIO("0"), "a=inactive", NULL);
    LEAT_CHECK_INT(talk_offer(t, offer), 0);
    LEAT_CHECK(has_line(t->answer, "a=ssrc:1000 cname:cn"));
    LEAT_CHECK_INT(talk_offer(t, paused), 0);
    LEAT_CHECK_INT(count_lines(t->answer, "a=ssrc") + count_lines(t->answer, "a=msid:"), 0);
    LEAT_CHECK_INT(talk_offer(t, offer), 0);
    LEAT_CHECK(has_line(t->answer, "a=ssrc:1000 cname:cn"));
    free(offer);
    free(paused);
    talk_free(t);
}

static void priority__by_index__as_the_formula_says(void)
{
    /* RFC 8445 5.1.2.1: 2^24 * 126 + 2^8 * local preference + 256 - component */
    LEAT_CHECK_INT(leat_sdp_candidate_priority(0), 2130706431);
    LEAT_CHECK_INT(leat_sdp_candidate_priority(1), 2130706431 - 256);
    LEAT_CHECK_INT(leat_sdp_candidate_priority(65535), 126 * 16777216 + 255);
    LEAT_CHECK_INT(leat_sdp_candidate_priority(SIZE_MAX), 126 * 16777216 + 255);
}

LEAT_TESTS(LEAT_TEST(compose__known_offers__are_answered_with),
           LEAT_TEST(compose__every_offer__answers_what_is_served_and_no_more),
           LEAT_TEST(compose__feedback_and_extensions__that_are_served_stay),
           LEAT_TEST(compose__no_candidate__port_9), LEAT_TEST(compose__active_role__is_said),
           LEAT_TEST(compose__no_room__raises_nothing),
           LEAT_TEST(compose__stream_with_a_line_end__refused),
           LEAT_TEST(compose__paused_sender__says_no_msid),
           LEAT_TEST(priority__by_index__as_the_formula_says))
