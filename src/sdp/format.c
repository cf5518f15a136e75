/* SPDX-License-Identifier: MIT */
/*
 * Payload types of a section to codecs. The lines of a format come in any order (Firefox puts fmtp
 * before rtpmap), so they are gathered by payload type and resolved at the section's end, in the
 * order of the m= line, which is the offerer's preference (RFC 3264 5.1).
 *
 * Payload types 64 to 95 are never codecs: with rtcp-mux they would look like RTCP (RFC 5761 4).
 */
#include "format.h"

static bool read_pt(struct leat_span s, uint8_t *pt)
{
    uint32_t value;
    if (!leat__sdp_number(s, LEAT__SDP_PT_COUNT - 1, &value)) {
        return false;
    }
    *pt = (uint8_t)value;
    return true;
}

const char *leat__sdp_formats_add_pt(struct leat__sdp_formats *f, struct leat_span text)
{
    uint8_t pt;
    if (!read_pt(text, &pt)) {
        return "a format is not a payload type of 0 to 127";
    }
    if (f->pt_count == LEAT_SDP_FORMATS_MAX || memchr(f->pts, pt, f->pt_count) != NULL) {
        return NULL;
    }
    f->pts[f->pt_count++] = pt;
    return NULL;
}

/** "opus/48000/2" */
static bool read_encoding(struct leat__sdp_format *format, struct leat_span text)
{
    uint32_t clock_hz, channels = 1;
    struct leat_span rest = text;
    struct leat_span name = leat__sdp_until(&rest, '/');
    struct leat_span clock = leat__sdp_until(&rest, '/');
    if (name.len == 0 || !leat__sdp_number(clock, UINT32_MAX, &clock_hz) || clock_hz == 0) {
        return false;
    }
    format->name = leat_codec_from_text(name);
    if (rest.len != 0 && (!leat__sdp_number(rest, UINT8_MAX, &channels) || channels == 0)) {
        /* The third part means channels for audio alone (RFC 8866 6.6); for what we do not know
         * anything may stand there. */
        if (format->name != LEAT_CODEC_UNKNOWN) {
            return false;
        }
        channels = 1;
    }
    format->rtpmap = text;
    format->clock_hz = clock_hz;
    format->channels = (uint8_t)channels;
    return true;
}

const char *leat__sdp_formats_add_rtpmap(struct leat__sdp_formats *f, struct leat_span value)
{
    uint8_t pt;
    struct leat_span rest = value;
    if (!read_pt(leat__sdp_word(&rest), &pt)) {
        return "rtpmap without a payload type of 0 to 127";
    }
    struct leat__sdp_format *format = &f->by_pt[pt];
    struct leat_span encoding = leat__sdp_word(&rest);
    if (format->rtpmap.len != 0) {
        return leat_span_equal(format->rtpmap, encoding) ? NULL
                                                         : "a second, other rtpmap of one format";
    }
    return read_encoding(format, encoding) ? NULL : "rtpmap that is not NAME/CLOCK[/CHANNELS]";
}

const char *leat__sdp_formats_add_fmtp(struct leat__sdp_formats *f, struct leat_span value)
{
    uint8_t pt;
    struct leat_span rest = value;
    if (!read_pt(leat__sdp_word(&rest), &pt)) {
        return "fmtp without a payload type of 0 to 127";
    }
    struct leat_span parameters = leat__sdp_trim(rest);
    if (parameters.len != 0 && !leat__sdp_is_printable(parameters, true)) {
        return "fmtp with characters that are not printable";
    }
    if (f->by_pt[pt].fmtp.len == 0) {
        f->by_pt[pt].fmtp = parameters;
    }
    return NULL;
}

const char *leat__sdp_formats_add_feedback(struct leat__sdp_formats *f, struct leat_span value)
{
    struct leat_span rest = value;
    struct leat_span pt_text = leat__sdp_word(&rest);
    struct leat_span type = leat__sdp_word(&rest);
    struct leat_span subtype = leat__sdp_word(&rest);
    bool is_pli = leat__sdp_is(type, "nack") && leat__sdp_is(subtype, "pli");
    bool is_fir = leat__sdp_is(type, "ccm") && leat__sdp_is(subtype, "fir");
    if (leat__sdp_is(pt_text, "*")) {
        f->all_have_pli = f->all_have_pli || is_pli;
        f->all_have_fir = f->all_have_fir || is_fir;
        return NULL;
    }
    uint8_t pt;
    if (!read_pt(pt_text, &pt)) {
        return "rtcp-fb without a payload type of 0 to 127 or *";
    }
    f->by_pt[pt].has_pli = f->by_pt[pt].has_pli || is_pli;
    f->by_pt[pt].has_fir = f->by_pt[pt].has_fir || is_fir;
    return NULL;
}

/** Audio types with a fixed number need no rtpmap (RFC 3551 6). */
static bool static_codec(uint8_t pt, struct leat_codec *out)
{
    static const enum leat_codec_name names[] = {
        [0] = LEAT_CODEC_PCMU, [8] = LEAT_CODEC_PCMA, [9] = LEAT_CODEC_G722};
    if (pt >= LEAT_ARRAY_LEN(names) || names[pt] == LEAT_CODEC_UNKNOWN) {
        return false;
    }
    out->name = names[pt];
    out->clock_hz = 8000;
    out->channels = 1;
    return true;
}

/**
 * The parameters into a codec. Where they are too long, those that describe one sender's stream
 * alone (sprop-..., RFC 6184 8.1) go first: they may be kilobytes and decide nothing. @return false
 * when the rest does not fit either.
 */
static bool copy_parameters(struct leat_codec *codec, struct leat_span fmtp)
{
    if (leat_text_copy(codec->fmtp, sizeof(codec->fmtp), fmtp)) {
        return true;
    }
    size_t len = 0;
    for (struct leat_span rest = fmtp; rest.len != 0;) {
        struct leat_span parameter = leat__sdp_trim(leat__sdp_until(&rest, ';'));
        struct leat_span prefix = {parameter.data, parameter.len < 6 ? parameter.len : 6};
        if (parameter.len == 0 || leat__sdp_is_ignoring_case(prefix, "sprop-")) {
            continue;
        }
        size_t needed = parameter.len + (len != 0 ? 1 : 0);
        if (needed > LEAT_FMTP_MAX - len) {
            return false;
        }
        if (len != 0) {
            codec->fmtp[len++] = ';';
        }
        memcpy(codec->fmtp + len, parameter.data, parameter.len);
        len += parameter.len;
        codec->fmtp[len] = '\0';
    }
    if (len == 0) {
        codec->fmtp[0] = '\0';
    }
    return true;
}

static bool resolve_one(const struct leat__sdp_formats *f, uint8_t pt, enum leat_kind kind,
                        struct leat_codec *out)
{
    const struct leat__sdp_format *format = &f->by_pt[pt];
    *out = (struct leat_codec){
        .pt = pt, .name = format->name, .clock_hz = format->clock_hz, .channels = format->channels};
    if (format->rtpmap.len == 0 && !static_codec(pt, out)) {
        return false;
    }
    out->has_pli = format->has_pli || f->all_have_pli;
    out->has_fir = format->has_fir || f->all_have_fir;
    return out->name != LEAT_CODEC_UNKNOWN && leat_codec_kind(out->name) == kind &&
           (pt < 64 || pt > 95) && copy_parameters(out, format->fmtp);
}

void leat__sdp_formats_resolve(const struct leat__sdp_formats *f, struct leat_sdp_section *s)
{
    for (size_t i = 0; i < f->pt_count; i++) {
        uint8_t pt = f->pts[i];
        if (resolve_one(f, pt, s->kind, &s->codecs[s->codec_count])) {
            s->codec_count++;
        } else {
            s->codecs[s->codec_count] = (struct leat_codec){0};
            s->other_pts[pt / 8] = (uint8_t)(s->other_pts[pt / 8] | 1U << (pt % 8));
        }
    }
}
