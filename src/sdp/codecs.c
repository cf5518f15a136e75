/* SPDX-License-Identifier: MIT */
/*
 * The choice of codecs (RFC 3264 6.1): the answer lists what both sides have, with the offer's
 * payload types. Order is the policy's when it has one. A policy entry names only the parameters
 * that matter to it, so it is compared parameter by parameter: those with a meaning in
 * leat_codec_matches by its rules, so that defaults and the several spellings of one H264 profile
 * count as equal, and others as text.
 */
#include "codecs.h"

#include "text.h"

/** Parameters that leat_codec_matches reads, each on its own. */
static bool is_decisive(enum leat_codec_name name, struct leat_span parameter)
{
    static const struct {
        enum leat_codec_name name;
        const char *parameter;
    } table[] = {
        {LEAT_CODEC_H264, "profile-level-id"},
        {LEAT_CODEC_H264, "packetization-mode"},
        {LEAT_CODEC_VP9, "profile-id"},
        {LEAT_CODEC_AV1, "profile"},
        {LEAT_CODEC_AV1, "tier"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(table); i++) {
        if (table[i].name == name && leat__sdp_is_ignoring_case(parameter, table[i].parameter)) {
            return true;
        }
    }
    return false;
}

/** The offered codec with one parameter only; its value is the default when it is not there. */
static struct leat_codec reduced(const struct leat_codec *c, const char *parameter, bool has_value,
                                 struct leat_span value)
{
    struct leat_codec out = *c;
    out.fmtp[0] = '\0';
    size_t name_len = strlen(parameter);
    if (has_value && name_len + 1 + value.len <= LEAT_FMTP_MAX) {
        memcpy(out.fmtp, parameter, name_len);
        out.fmtp[name_len] = '=';
        memcpy(out.fmtp + name_len + 1, value.data, value.len);
        out.fmtp[name_len + 1 + value.len] = '\0';
    }
    return out;
}

static bool parameter_matches(const struct leat_codec *offered, struct leat_span parameter)
{
    char name[LEAT_FMTP_MAX + 1];
    struct leat_span wanted = parameter, value = {NULL, 0};
    struct leat_span name_text = leat__sdp_trim(leat__sdp_until(&wanted, '='));
    wanted = leat__sdp_trim(wanted);
    if (!leat_text_copy(name, sizeof(name), name_text)) {
        return false;
    }
    bool has_value = leat_fmtp_get(offered->fmtp, name, &value);
    if (is_decisive(offered->name, name_text)) {
        struct leat_codec a = reduced(offered, name, true, wanted);
        struct leat_codec b = reduced(offered, name, has_value, value);
        return leat_codec_matches(&a, &b);
    }
    return has_value && leat__sdp_equal_ignoring_case(value, wanted);
}

static bool entry_allows(const struct leat_codec *entry, const struct leat_codec *offered)
{
    if (entry->name != offered->name ||
        (entry->clock_hz != 0 && entry->clock_hz != offered->clock_hz) ||
        (entry->channels != 0 && entry->channels != offered->channels)) {
        return false;
    }
    for (struct leat_span rest = leat_span_str(entry->fmtp); rest.len != 0;) {
        struct leat_span parameter = leat__sdp_trim(leat__sdp_until(&rest, ';'));
        if (parameter.len != 0 && !parameter_matches(offered, parameter)) {
            return false;
        }
    }
    return true;
}

static bool has_pt(const struct leat_media_desc *m, uint8_t pt)
{
    for (size_t i = 0; i < m->codec_count; i++) {
        if (m->codecs[i].pt == pt) {
            return true;
        }
    }
    return false;
}

/** Each payload type once; what is over the limit is the least wanted and falls off. */
static void take(struct leat_media_desc *out, const struct leat_codec *codec)
{
    if (out->codec_count < LEAT_CODECS_MAX && !has_pt(out, codec->pt)) {
        out->codecs[out->codec_count++] = *codec;
    }
}

void leat__sdp_codecs_choose(const struct leat_sdp_section *offered,
                             const struct leat_sdp_policy *policy, struct leat_media_desc *out)
{
    out->codec_count = 0;
    for (size_t i = 0; policy->codec_count == 0 && i < offered->codec_count; i++) {
        take(out, &offered->codecs[i]);
    }
    for (size_t k = 0; k < policy->codec_count; k++) {
        for (size_t i = 0; i < offered->codec_count; i++) {
            if (entry_allows(&policy->codecs[k], &offered->codecs[i])) {
                take(out, &offered->codecs[i]);
            }
        }
    }
}

bool leat__sdp_codecs_changed(const struct leat_media_desc *before,
                              const struct leat_sdp_section *offered, uint8_t *pt)
{
    for (size_t k = 0; k < before->codec_count; k++) {
        *pt = before->codecs[k].pt;
        if ((offered->other_pts[*pt / 8] >> (*pt % 8) & 1) != 0) {
            return true;
        }
        for (size_t i = 0; i < offered->codec_count; i++) {
            if (offered->codecs[i].pt == *pt &&
                !leat_codec_matches(&before->codecs[k], &offered->codecs[i])) {
                return true;
            }
        }
    }
    return false;
}
