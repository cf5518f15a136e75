/* SPDX-License-Identifier: MIT */
/*
 * Names and matching rules of codecs and header extensions. Format parameters stay text: only the
 * few that decide whether a decoder can take another encoder's stream are looked at (RFC 6184 8.1,
 * RFC 9628 6, the AV1 RTP payload format 7). Ids and mids are checked here once for every module.
 */
#include <leat/media.h>

#include <stdio.h>

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static uint8_t to_lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
}

static bool equal_ignoring_case(struct leat_span a, struct leat_span b)
{
    if (a.len != b.len) {
        return false;
    }
    for (size_t i = 0; i < a.len; i++) {
        if (to_lower(a.data[i]) != to_lower(b.data[i])) {
            return false;
        }
    }
    return true;
}

static struct leat_span trim(struct leat_span s)
{
    while (s.len != 0 && is_space(s.data[0])) {
        s.data++;
        s.len--;
    }
    while (s.len != 0 && is_space(s.data[s.len - 1])) {
        s.len--;
    }
    return s;
}

static const char *const ext_uris[LEAT_EXT_COUNT] = {
    [LEAT_EXT_NONE] = "",
    [LEAT_EXT_MID] = "urn:ietf:params:rtp-hdrext:sdes:mid",
    [LEAT_EXT_AUDIO_LEVEL] = "urn:ietf:params:rtp-hdrext:ssrc-audio-level",
};

const char *leat_ext_uri(enum leat_ext_name name)
{
    return ext_uris[name];
}

enum leat_ext_name leat_ext_from_uri(struct leat_span uri)
{
    for (int i = LEAT_EXT_NONE + 1; i < LEAT_EXT_COUNT; i++) {
        if (leat_span_equal(uri, leat_span_str(ext_uris[i]))) {
            return (enum leat_ext_name)i;
        }
    }
    return LEAT_EXT_NONE;
}

const char *leat_kind_text(enum leat_kind kind)
{
    switch (kind) {
    case LEAT_KIND_AUDIO:
        return "audio";
    case LEAT_KIND_VIDEO:
        return "video";
    case LEAT_KIND_APPLICATION:
        return "application";
    case LEAT_KIND_OTHER:
        break;
    }
    return "other";
}

static const struct {
    const char *text;
    enum leat_kind kind;
} codec_names[] = {
    [LEAT_CODEC_UNKNOWN] = {"unknown", LEAT_KIND_OTHER},
    [LEAT_CODEC_OPUS] = {"opus", LEAT_KIND_AUDIO},
    [LEAT_CODEC_PCMU] = {"PCMU", LEAT_KIND_AUDIO},
    [LEAT_CODEC_PCMA] = {"PCMA", LEAT_KIND_AUDIO},
    [LEAT_CODEC_G722] = {"G722", LEAT_KIND_AUDIO},
    [LEAT_CODEC_VP8] = {"VP8", LEAT_KIND_VIDEO},
    [LEAT_CODEC_VP9] = {"VP9", LEAT_KIND_VIDEO},
    [LEAT_CODEC_H264] = {"H264", LEAT_KIND_VIDEO},
    [LEAT_CODEC_AV1] = {"AV1", LEAT_KIND_VIDEO},
};

const char *leat_codec_text(enum leat_codec_name name)
{
    return codec_names[name].text;
}

enum leat_kind leat_codec_kind(enum leat_codec_name name)
{
    return codec_names[name].kind;
}

enum leat_codec_name leat_codec_from_text(struct leat_span name)
{
    for (size_t i = LEAT_CODEC_UNKNOWN + 1; i < LEAT_ARRAY_LEN(codec_names); i++) {
        if (equal_ignoring_case(name, leat_span_str(codec_names[i].text))) {
            return (enum leat_codec_name)i;
        }
    }
    return LEAT_CODEC_UNKNOWN;
}

bool leat_fmtp_get(const char *fmtp, const char *name, struct leat_span *value)
{
    struct leat_span wanted = leat_span_str(name);
    for (const char *at = fmtp; *at != '\0';) {
        size_t len = strcspn(at, ";");
        const char *equals = memchr(at, '=', len);
        size_t name_len = equals ? (size_t)(equals - at) : len;
        if (equal_ignoring_case(trim(leat_span(at, name_len)), wanted)) {
            size_t skip = equals ? name_len + 1 : len;
            *value = trim(leat_span(at + skip, len - skip));
            return true;
        }
        at += at[len] == ';' ? len + 1 : len;
    }
    return false;
}

/** A decimal parameter, 0 when absent. @return false when it is there and is no number under 10000.
 */
static bool fmtp_number(const char *fmtp, const char *name, unsigned *out)
{
    struct leat_span text;
    *out = 0;
    if (!leat_fmtp_get(fmtp, name, &text)) {
        return true;
    }
    if (text.len == 0 || text.len > 4) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return false;
        }
        *out = *out * 10 + (unsigned)(text.data[i] - '0');
    }
    return true;
}

static bool numbers_match(const struct leat_codec *a, const struct leat_codec *b, const char *name)
{
    unsigned in_a, in_b;
    return fmtp_number(a->fmtp, name, &in_a) && fmtp_number(b->fmtp, name, &in_b) && in_a == in_b;
}

/**
 * One number a H264 profile. The same profile can be written in several ways (RFC 6184 8.1 table
 * 5): what is not in the table is only equal to itself.
 */
static bool h264_profile(const char *fmtp, unsigned *out)
{
    static const struct {
        uint8_t idc, mask,
            iop; /* profile_idc; the bits of profile-iop that decide, and their value */
        unsigned profile;
    } table[] = {
        {0x42, 0x4f, 0x40, 1}, {0x4d, 0x8f, 0x80, 1},
        {0x58, 0xcf, 0xc0, 1},                        /* constrained baseline */
        {0x42, 0x4f, 0x00, 2}, {0x58, 0xcf, 0x80, 2}, /* baseline */
        {0x4d, 0xaf, 0x00, 3},                        /* main */
        {0x58, 0xcf, 0x00, 4},                        /* extended */
    };
    uint8_t id[3] = {0x42, 0x00, 0x10};
    struct leat_span text;
    if (leat_fmtp_get(fmtp, "profile-level-id", &text) &&
        leat_hex_decode((const char *)text.data, text.len, id, sizeof(id)) !=
            (ptrdiff_t)sizeof(id)) {
        return false;
    }
    for (size_t i = 0; i < LEAT_ARRAY_LEN(table); i++) {
        if (id[0] == table[i].idc && (id[1] & table[i].mask) == table[i].iop) {
            *out = table[i].profile;
            return true;
        }
    }
    *out = leat_get_u16(id);
    return true;
}

bool leat_codec_matches(const struct leat_codec *a, const struct leat_codec *b)
{
    if (a->name != b->name || a->clock_hz != b->clock_hz || a->channels != b->channels) {
        return false;
    }
    unsigned profile_a, profile_b;
    switch (a->name) {
    case LEAT_CODEC_UNKNOWN:
        return false; /* the name is not kept: two unknown codecs need not be one */
    case LEAT_CODEC_H264:
        return h264_profile(a->fmtp, &profile_a) && h264_profile(b->fmtp, &profile_b) &&
               profile_a == profile_b && numbers_match(a, b, "packetization-mode");
    case LEAT_CODEC_VP9:
        return numbers_match(a, b, "profile-id");
    case LEAT_CODEC_AV1:
        return numbers_match(a, b, "profile") && numbers_match(a, b, "tier");
    case LEAT_CODEC_OPUS:
    case LEAT_CODEC_PCMU:
    case LEAT_CODEC_PCMA:
    case LEAT_CODEC_G722:
    case LEAT_CODEC_VP8:
        break;
    }
    return true;
}

const char *leat_codec_format(const struct leat_codec *c, char *out, size_t cap)
{
    char channels[8] = "";
    if (c->channels > 1) {
        (void)snprintf(channels, sizeof(channels), "/%u", c->channels);
    }
    (void)snprintf(out, cap, "%s/%u%s%s%s", leat_codec_text(c->name), c->clock_hz, channels,
                   c->fmtp[0] != '\0' ? " " : "", c->fmtp);
    return out;
}

static bool is_alphanumeric(uint8_t c)
{
    return (c >= '0' && c <= '9') || (to_lower(c) >= 'a' && to_lower(c) <= 'z');
}

static bool is_one_of(uint8_t c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

bool leat_id_is_valid(struct leat_span id)
{
    if (id.len == 0 || id.len > LEAT_ID_MAX) {
        return false;
    }
    for (size_t i = 0; i < id.len; i++) {
        if (!is_alphanumeric(id.data[i]) && !is_one_of(id.data[i], "._:-")) {
            return false;
        }
    }
    return true;
}

bool leat_mid_is_valid(struct leat_span mid)
{
    if (mid.len == 0 || mid.len > LEAT_MID_MAX) {
        return false;
    }
    for (size_t i = 0; i < mid.len; i++) {
        if (!is_alphanumeric(mid.data[i]) && !is_one_of(mid.data[i], "!#$%&'*+-.^_`{|}~")) {
            return false;
        }
    }
    return true;
}
