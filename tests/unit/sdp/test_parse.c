/* SPDX-License-Identifier: MIT */
#include "support.h"

static int parse(struct leat_sdp_desc *d, const char *text, char *why)
{
    return leat_sdp_parse(d, leat_span_str(text), why);
}

static void parse__chromium__all_that_matters(void)
{
    size_t len;
    char why[LEAT_SDP_WHY_MAX];
    struct leat_sdp_desc d;
    char *text = load("chromium156-default", &len);
    LEAT_CHECK_INT(parse(&d, text, why), 0);
    LEAT_CHECK_INT(d.section_count, 3);
    LEAT_CHECK(d.has_bundle && !d.is_ice_lite);
    const struct leat_sdp_section *a = &d.sections[0], *v = &d.sections[1];
    LEAT_CHECK_STR(a->mid, "0");
    LEAT_CHECK_STR(a->media, "audio");
    LEAT_CHECK_STR(a->protocol, "UDP/TLS/RTP/SAVPF");
    LEAT_CHECK_STR(a->first_format, "111");
    LEAT_CHECK_STR(a->ufrag, "733B");
    LEAT_CHECK_STR(a->pwd, "eZ42UysbXRKGnVrGLCmG5Ouc");
    LEAT_CHECK(a->has_fingerprint && a->fingerprint[0] == 0x34 && a->fingerprint[31] == 0x1f);
    LEAT_CHECK_INT(a->setup, LEAT_SETUP_ACTPASS);
    LEAT_CHECK_INT(a->direction, LEAT_DIR_SENDRECV);
    LEAT_CHECK(a->has_rtcp_mux && a->has_rtcp_rsize && a->is_bundled && !a->is_rejected);
    LEAT_CHECK_STR(a->stream, "1d3d2e2c-0528-4bf4-b967-174daa6ce6b2");
    LEAT_CHECK_INT(a->codec_count, 4); /* opus G722 PCMU PCMA; not red CN telephone-event */
    LEAT_CHECK_INT(a->codecs[0].name, LEAT_CODEC_OPUS);
    LEAT_CHECK_INT(a->codecs[0].channels, 2);
    LEAT_CHECK_INT(a->codecs[0].clock_hz, 48000);
    LEAT_CHECK_STR(a->codecs[0].fmtp, "minptime=10;useinbandfec=1");
    LEAT_CHECK_INT(a->encoding_count, 1);
    LEAT_CHECK_INT(a->encodings[0].ssrc, 133742316);
    LEAT_CHECK_INT(v->codec_count, 10); /* VP8, six H264, AV1, two VP9 */
    LEAT_CHECK(v->codecs[0].has_pli && v->codecs[0].has_fir);
    LEAT_CHECK_INT(v->encoding_count, 1); /* the RTX partner is left out */
    LEAT_CHECK_INT(v->encodings[0].ssrc, 64893092);
    LEAT_CHECK_INT(d.sections[2].kind, LEAT_KIND_APPLICATION);
    LEAT_CHECK_INT(d.sections[2].codec_count, 0);
    leat_sdp_desc_deinit(&d);
    free(text);
}

static void parse__firefox__session_level_and_bundle_only(void)
{
    size_t len;
    char why[LEAT_SDP_WHY_MAX];
    struct leat_sdp_desc d;
    char *text = load("firefox153-simulcast", &len);
    LEAT_CHECK_INT(parse(&d, text, why), 0);
    const struct leat_sdp_section *a = &d.sections[0], *v = &d.sections[1];
    LEAT_CHECK(a->has_fingerprint && a->fingerprint[0] == 0x7f && a->fingerprint[31] == 0xbb);
    LEAT_CHECK(v->has_fingerprint && v->fingerprint[0] == 0x7f);
    LEAT_CHECK(v->is_bundle_only && !v->is_rejected && v->is_bundled);
    LEAT_CHECK_STR(v->codecs[0].fmtp, "max-fs=12288;max-fr=60"); /* fmtp stands before rtpmap */
    LEAT_CHECK_INT(v->encoding_count, 3);
    LEAT_CHECK_INT(v->encodings[1].ssrc, 207515086);
    LEAT_CHECK_INT(v->rid_ext.id, 9);
    LEAT_CHECK_INT(v->rid_ext.direction, LEAT_DIR_SENDONLY);
    LEAT_CHECK_STR(a->stream, "{57f5863b-482c-4ff1-b7c2-802ba6a4238a}");
    leat_sdp_desc_deinit(&d);
    free(text);
}

static void parse__aiortc__extension_ids_by_section(void)
{
    size_t len;
    char why[LEAT_SDP_WHY_MAX];
    struct leat_sdp_desc d;
    char *text = load("aiortc-send", &len);
    LEAT_CHECK_INT(parse(&d, text, why), 0);
    LEAT_CHECK_INT(d.sections[0].exts[1].name, LEAT_EXT_AUDIO_LEVEL);
    LEAT_CHECK_INT(d.sections[0].exts[1].id, 2);
    LEAT_CHECK_INT(d.sections[1].exts[1].name, LEAT_EXT_NONE); /* abs-send-time */
    LEAT_CHECK_INT(d.sections[1].exts[1].id, 2);
    LEAT_CHECK_STR(d.sections[2].protocol, "DTLS/SCTP");
    LEAT_CHECK_STR(d.sections[2].first_format, "5000");
    leat_sdp_desc_deinit(&d);
    free(text);
}

static void parse__line_ends__lf_alone_reads_the_same(void)
{
    char why[LEAT_SDP_WHY_MAX];
    for (size_t i = 0; i < LEAT_ARRAY_LEN(answerable); i++) {
        size_t len;
        struct leat_sdp_desc a, b;
        char *crlf = load(answerable[i], &len);
        char *lf = replaced(crlf, "\r\n", "\n");
        LEAT_CHECK_ROW(i, parse(&a, crlf, why) == 0 && parse(&b, lf, why) == 0);
        LEAT_CHECK_INT(a.section_count, b.section_count);
        LEAT_CHECK_MEM(a.sections, a.section_count * sizeof(*a.sections), b.sections,
                       b.section_count * sizeof(*b.sections));
        leat_sdp_desc_deinit(&a);
        leat_sdp_desc_deinit(&b);
        free(crlf);
        free(lf);
    }
}

static void parse__bad_line__is_named(void)
{
    static const struct {
        const char *line, *why;
    } table[] = {
        {"a=mid:seventeenletters1", "line 10: mid is not 1 to 16 token characters"},
        {"a=mid:a b", "line 10: mid is not 1 to 16 token characters"},
        {"a=mid:", "line 10: mid is not 1 to 16 token characters"},
        {"a=ice-ufrag:", "line 10: ice-ufrag is not 1 to 256 printable characters"},
        {"a=ice-pwd:a\001b", "line 10: ice-pwd is not 1 to 256 printable characters"},
        {"a=fingerprint:sha-256 00:11",
         "line 10: fingerprint is not 32 hex octets with colons between"},
        {"a=fingerprint:SHA-256 zz",
         "line 10: fingerprint is not 32 hex octets with colons between"},
        {"a=setup:both", "line 10: setup is not actpass, active, passive or holdconn"},
        {"a=extmap:x urn:a", "line 10: extmap that is not ID[/DIRECTION] URI"},
        {"a=extmap:3", "line 10: extmap that is not ID[/DIRECTION] URI"},
        {"a=extmap:3/up urn:a", "line 10: extmap with an unknown direction"},
        {"a=ssrc:4294967296 cname:x", "line 10: ssrc is not a number under 2^32"},
        {"a=ssrc:-1 cname:x", "line 10: ssrc is not a number under 2^32"},
        {"a=ssrc-group:FID 1 x", "line 10: ssrc-group with something else than numbers under 2^32"},
        {"a=rtpmap:128 VP8/90000", "line 10: rtpmap without a payload type of 0 to 127"},
        {"a=rtpmap:97", "line 10: rtpmap that is not NAME/CLOCK[/CHANNELS]"},
        {"a=rtpmap:97 VP8", "line 10: rtpmap that is not NAME/CLOCK[/CHANNELS]"},
        {"a=rtpmap:97 VP8/0", "line 10: rtpmap that is not NAME/CLOCK[/CHANNELS]"},
        {"a=rtpmap:97 VP8/4294967296", "line 10: rtpmap that is not NAME/CLOCK[/CHANNELS]"},
        {"a=rtpmap:97 opus/48000/0", "line 10: rtpmap that is not NAME/CLOCK[/CHANNELS]"},
        {"a=rtpmap:97 opus/48000/256", "line 10: rtpmap that is not NAME/CLOCK[/CHANNELS]"},
        {"a=rtpmap:96 VP9/90000", "line 10: a second, other rtpmap of one format"},
        {"a=fmtp:x a=b", "line 10: fmtp without a payload type of 0 to 127"},
        {"a=fmtp:96 a=\001", "line 10: fmtp with characters that are not printable"},
        {"a=rtcp-fb:x nack", "line 10: rtcp-fb without a payload type of 0 to 127 or *"},
        {"m=video", "line 10: m= that is not MEDIA PORT PROTOCOL FORMAT..."},
        {"m=video 65536 RTP/AVP 96", "line 10: m= that is not MEDIA PORT PROTOCOL FORMAT..."},
        {"m=video 9 RTP/AVP", "line 10: m= that is not MEDIA PORT PROTOCOL FORMAT..."},
        {"m=amediatypetoolong 9 a b", "line 10: m= that is not MEDIA PORT PROTOCOL FORMAT..."},
        {"m=video 9 UDP/TLS/RTP/SAVPF vp8", "line 10: a format is not a payload type of 0 to 127"},
        {"m=video 9 UDP/TLS/RTP/SAVPF 96 128",
         "line 10: a format is not a payload type of 0 to 127"},
        {"nonsense", "line 10: not of the form TYPE=VALUE"},
        {"=", "line 10: not of the form TYPE=VALUE"},
        {"A=mid:0", "line 10: not of the form TYPE=VALUE"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(table); i++) {
        char why[LEAT_SDP_WHY_MAX];
        struct leat_sdp_desc d;
        char *text = offer_of("v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", VIDEO("0"),
                              table[i].line, "a=recvonly", NULL);
        LEAT_CHECK_ROW(i, parse(&d, text, why) == LEAT_E_INVALID);
        LEAT_CHECK_STR(why, table[i].why);
        LEAT_CHECK(d.sections == NULL && d.section_count == 0);
        free(text);
    }
}

static void parse__odd_but_harmless__is_taken(void)
{
    static const char *const lines[] = {
        "a=unknown",
        "a=unknown:with value",
        "b=AS:500",
        "k=clear:x",
        "z=",
        "",
        "a=rtpmap:96 VP8/90000", /* twice the same */
        "a=rtpmap:97 H999/1/anything",
        "a=ssrc:7",
        "a=ssrc-group:SIM 1 2 3",
        "a=fingerprint:sha-1 zz",
        "a=extmap:4096 urn:far", /* RFC 8285 7: to be mapped later */
        "a=rtcp-fb:* nack pli",
        "a=fmtp:97",
        "a=msid:",
        "a=candidate:what ever",
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(lines); i++) {
        char why[LEAT_SDP_WHY_MAX];
        struct leat_sdp_desc d;
        char *text = offer_of("v=0", VIDEO("0"), lines[i], "a=recvonly", NULL);
        LEAT_CHECK_ROW(i, parse(&d, text, why) == 0);
        LEAT_CHECK_ROW(i, d.section_count == 1 && d.sections[0].codec_count == 1);
        LEAT_CHECK_ROW(i, d.section_count == 1 && d.sections[0].direction == LEAT_DIR_RECVONLY);
        leat_sdp_desc_deinit(&d);
        free(text);
    }
}

static void parse__no_version__refused(void)
{
    static const char *const texts[] = {"",        "\r\n",   "s=-\r\n",
                                        "v=1\r\n", "v=\r\n", "m=a 9 b c\r\n"};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(texts); i++) {
        char why[LEAT_SDP_WHY_MAX];
        struct leat_sdp_desc d;
        LEAT_CHECK_ROW(i, parse(&d, texts[i], why) == LEAT_E_INVALID);
        LEAT_CHECK_ROW(i, strstr(why, "line ") == why);
    }
}

static void parse__payload_types__of_rtcp_are_no_codecs(void)
{
    /* RFC 5761 4: 64 to 95 would look like RTCP */
    char why[LEAT_SDP_WHY_MAX];
    struct leat_sdp_desc d;
    char *text = offer_of("v=0", "m=video 9 UDP/TLS/RTP/SAVPF 63 64 95 96 96", "a=mid:0",
                          "a=rtpmap:63 VP8/90000", "a=rtpmap:64 VP8/90000", "a=rtpmap:95 VP8/90000",
                          "a=rtpmap:96 VP8/90000", NULL);
    LEAT_CHECK_INT(parse(&d, text, why), 0);
    LEAT_CHECK_INT(d.sections[0].codec_count, 2);
    LEAT_CHECK_INT(d.sections[0].codecs[0].pt, 63);
    LEAT_CHECK_INT(d.sections[0].codecs[1].pt, 96);
    LEAT_CHECK_INT(d.sections[0].other_pts[8], 1);
    leat_sdp_desc_deinit(&d);
    free(text);
}

static void parse__static_payload_types__need_no_rtpmap(void)
{
    char why[LEAT_SDP_WHY_MAX];
    struct leat_sdp_desc d;
    char *text = offer_of("v=0", "m=audio 9 RTP/SAVPF 0 8 9 3 97", "a=mid:0", NULL);
    LEAT_CHECK_INT(parse(&d, text, why), 0);
    LEAT_CHECK_INT(d.sections[0].codec_count, 3);
    LEAT_CHECK_INT(d.sections[0].codecs[0].name, LEAT_CODEC_PCMU);
    LEAT_CHECK_INT(d.sections[0].codecs[1].name, LEAT_CODEC_PCMA);
    LEAT_CHECK_INT(d.sections[0].codecs[2].name, LEAT_CODEC_G722);
    LEAT_CHECK_INT(d.sections[0].codecs[2].clock_hz, 8000); /* RFC 3551 4.5.2 */
    leat_sdp_desc_deinit(&d);
    free(text);
}

static void parse__long_fmtp__loses_sprop_first(void)
{
    char line[600], why[LEAT_SDP_WHY_MAX];
    struct leat_sdp_desc d;
    (void)snprintf(line, sizeof(line),
                   "a=fmtp:97 packetization-mode=1;sprop-parameter-sets=%0200d; "
                   "profile-level-id=42e01f",
                   0);
    char *text = offer_of("v=0", "m=video 9 UDP/TLS/RTP/SAVPF 97", "a=mid:0",
                          "a=rtpmap:97 H264/90000", line, NULL);
    LEAT_CHECK_INT(parse(&d, text, why), 0);
    LEAT_CHECK_INT(d.sections[0].codec_count, 1);
    LEAT_CHECK_STR(d.sections[0].codecs[0].fmtp, "packetization-mode=1;profile-level-id=42e01f");
    leat_sdp_desc_deinit(&d);
    free(text);
    (void)snprintf(line, sizeof(line), "a=fmtp:97 packetization-mode=1;x=%0200d", 0);
    text = offer_of("v=0", "m=video 9 UDP/TLS/RTP/SAVPF 97", "a=mid:0", "a=rtpmap:97 H264/90000",
                    line, NULL);
    LEAT_CHECK_INT(parse(&d, text, why), 0);
    LEAT_CHECK_INT(d.sections[0].codec_count, 0); /* cannot be echoed: not offered to us */
    leat_sdp_desc_deinit(&d);
    free(text);
}

static void parse__one_id_for_two_extensions__refused(void)
{
    char why[LEAT_SDP_WHY_MAX];
    struct leat_sdp_desc d;
    char *text = offer_of("v=0", VIDEO("0"), "a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid",
                          "a=extmap:4 urn:x", NULL);
    LEAT_CHECK_INT(parse(&d, text, why), LEAT_E_INVALID);
    LEAT_CHECK_STR(why, "line 8: one extmap id for two extensions");
    free(text);
}

static void parse__many_extensions__served_ones_stay(void)
{
    char why[LEAT_SDP_WHY_MAX], text[8192] = "v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\n";
    struct leat_sdp_desc d;
    for (int id = 1; id <= 60; id++) {
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
                       "a=extmap:%d urn:other:%d\r\n", id, id);
    }
    strcat(text, "a=extmap:61 urn:ietf:params:rtp-hdrext:sdes:mid\r\n"
                 "a=extmap:62 urn:ietf:params:rtp-hdrext:ssrc-audio-level\r\n");
    LEAT_CHECK_INT(parse(&d, text, why), 0);
    LEAT_CHECK_INT(d.sections[0].ext_count, LEAT_EXTS_MAX);
    LEAT_CHECK_INT(d.sections[0].exts[LEAT_EXTS_MAX - 2].id, 61);
    LEAT_CHECK_INT(d.sections[0].exts[LEAT_EXTS_MAX - 1].id, 62);
    leat_sdp_desc_deinit(&d);
}

static void parse__session_attributes__hold_until_replaced(void)
{
    char why[LEAT_SDP_WHY_MAX];
    struct leat_sdp_desc d;
    char *text =
        offer_of(HEAD("BUNDLE b a"), "a=inactive", "a=extmap:5 urn:ietf:params:rtp-hdrext:sdes:mid",
                 AUDIO("a"), VIDEO("b"), "a=sendonly", "a=ice-ufrag:own", "a=setup:passive",
                 "a=fingerprint:sha-256 "
                 "FF:01:02:03:04:05:06:07:08:09:0A:0B:0C:0D:0E:0F:10:11:12:13:14:15:16:17:"
                 "18:19:1A:1B:1C:1D:1E:1F",
                 NULL);
    LEAT_CHECK_INT(parse(&d, text, why), 0);
    LEAT_CHECK_STR(d.sections[0].ufrag, "uuuu");
    LEAT_CHECK_INT(d.sections[0].direction, LEAT_DIR_INACTIVE);
    LEAT_CHECK_INT(d.sections[0].fingerprint[0], 0);
    LEAT_CHECK_INT(d.sections[0].fingerprint[31], 0x1f); /* lower case hex too */
    LEAT_CHECK_INT(d.sections[0].exts[0].id, 5);
    LEAT_CHECK_INT(d.sections[0].bundle_rank, 1);
    LEAT_CHECK_STR(d.sections[1].ufrag, "own");
    LEAT_CHECK_INT(d.sections[1].direction, LEAT_DIR_SENDONLY);
    LEAT_CHECK_INT(d.sections[1].fingerprint[0], 0xff);
    LEAT_CHECK_INT(d.sections[1].setup, LEAT_SETUP_PASSIVE);
    LEAT_CHECK_INT(d.sections[1].bundle_rank, 0);
    leat_sdp_desc_deinit(&d);
    free(text);
}

static void parse__port_zero__rejected_unless_bundle_only(void)
{
    char why[LEAT_SDP_WHY_MAX];
    struct leat_sdp_desc d;
    char *text = offer_of("v=0", "m=audio 0 RTP/SAVPF 0", "m=audio 0 RTP/SAVPF 0", "a=bundle-only",
                          "m=audio 9 RTP/SAVPF 0", "a=bundle-only", NULL);
    LEAT_CHECK_INT(parse(&d, text, why), 0);
    LEAT_CHECK(d.sections[0].is_rejected && !d.sections[0].is_bundle_only);
    LEAT_CHECK(!d.sections[1].is_rejected && d.sections[1].is_bundle_only);
    LEAT_CHECK(!d.sections[2].is_rejected && !d.sections[2].is_bundle_only);
    leat_sdp_desc_deinit(&d);
    free(text);
}

static void parse__stream__msid_above_ssrc_line_and_dash_is_none(void)
{
    static const struct {
        const char *first, *second, *stream;
    } table[] = {
        {"a=ssrc:1 msid:old t", "a=msid:new t", "new"},
        {"a=ssrc:1 msid:old t", "a=x", "old"},
        {"a=msid:- t", "a=x", ""},
        {"a=msid:one t", "a=ssrc:1 msid:two t", "one"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(table); i++) {
        char why[LEAT_SDP_WHY_MAX];
        struct leat_sdp_desc d;
        char *text = offer_of("v=0", VIDEO("0"), table[i].first, table[i].second, NULL);
        LEAT_CHECK_INT(parse(&d, text, why), 0);
        LEAT_CHECK_STR(d.sections[0].stream, table[i].stream);
        leat_sdp_desc_deinit(&d);
        free(text);
    }
}

static void parse__several_sha256_fingerprints__the_first_counts(void)
{
    char why[LEAT_SDP_WHY_MAX];
    struct leat_sdp_desc d;
    char *text = offer_of("v=0", VIDEO("0"), FINGERPRINT_A,
                          "a=fingerprint:sha-256 "
                          "FF:01:02:03:04:05:06:07:08:09:0A:0B:0C:0D:0E:0F:10:11:12:13:14:15:16:17:"
                          "18:19:1A:1B:1C:1D:1E:1F",
                          NULL);
    LEAT_CHECK_INT(parse(&d, text, why), 0);
    LEAT_CHECK_INT(d.sections[0].fingerprint[0], 0);
    leat_sdp_desc_deinit(&d);
    free(text);
}

static void parse__feedback__only_pli_and_fir_are_flags(void)
{
    static const struct {
        const char *line;
        bool has_pli, has_fir;
    } table[] = {
        {"a=rtcp-fb:96 nack", false, false},      {"a=rtcp-fb:96 nack ", false, false},
        {"a=rtcp-fb:96 nack sli", false, false},  {"a=rtcp-fb:96 nack pli", true, false},
        {"a=rtcp-fb:96 ccm tmmbr", false, false}, {"a=rtcp-fb:96 ccm fir", false, true},
        {"a=rtcp-fb:* nack pli", true, false},    {"a=rtcp-fb:* ccm fir", false, true},
        {"a=rtcp-fb:97 nack pli", false, false},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(table); i++) {
        char why[LEAT_SDP_WHY_MAX];
        struct leat_sdp_desc d;
        char *text = offer_of("v=0", VIDEO("0"), table[i].line, NULL);
        LEAT_CHECK_INT(parse(&d, text, why), 0);
        LEAT_CHECK_ROW(i, d.sections[0].codecs[0].has_pli == table[i].has_pli);
        LEAT_CHECK_ROW(i, d.sections[0].codecs[0].has_fir == table[i].has_fir);
        leat_sdp_desc_deinit(&d);
        free(text);
    }
}

static void parse__codec_of_the_other_kind__is_none(void)
{
    char why[LEAT_SDP_WHY_MAX];
    struct leat_sdp_desc d;
    char *text = offer_of("v=0", "m=audio 9 UDP/TLS/RTP/SAVPF 96 97", "a=rtpmap:96 VP8/90000",
                          "a=rtpmap:97 opus/48000/2", NULL);
    LEAT_CHECK_INT(parse(&d, text, why), 0);
    LEAT_CHECK_INT(d.sections[0].codec_count, 1);
    LEAT_CHECK_INT(d.sections[0].codecs[0].pt, 97);
    leat_sdp_desc_deinit(&d);
    free(text);
}

LEAT_TESTS(LEAT_TEST(parse__chromium__all_that_matters),
           LEAT_TEST(parse__firefox__session_level_and_bundle_only),
           LEAT_TEST(parse__aiortc__extension_ids_by_section),
           LEAT_TEST(parse__line_ends__lf_alone_reads_the_same),
           LEAT_TEST(parse__bad_line__is_named), LEAT_TEST(parse__odd_but_harmless__is_taken),
           LEAT_TEST(parse__no_version__refused),
           LEAT_TEST(parse__payload_types__of_rtcp_are_no_codecs),
           LEAT_TEST(parse__static_payload_types__need_no_rtpmap),
           LEAT_TEST(parse__long_fmtp__loses_sprop_first),
           LEAT_TEST(parse__several_sha256_fingerprints__the_first_counts),
           LEAT_TEST(parse__feedback__only_pli_and_fir_are_flags),
           LEAT_TEST(parse__codec_of_the_other_kind__is_none),
           LEAT_TEST(parse__one_id_for_two_extensions__refused),
           LEAT_TEST(parse__many_extensions__served_ones_stay),
           LEAT_TEST(parse__session_attributes__hold_until_replaced),
           LEAT_TEST(parse__port_zero__rejected_unless_bundle_only),
           LEAT_TEST(parse__stream__msid_above_ssrc_line_and_dash_is_none))
