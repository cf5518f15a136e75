/* SPDX-License-Identifier: MIT */
/* Codecs as controllers write them: {name, clock, channels, parameters}; what is left out has the
 * value that the codec always has in WebRTC. */
#include "private.h"

/** Clock and channels of a codec that says nothing of them. */
static void usual_values(struct leat_codec *codec)
{
    codec->channels = codec->name == LEAT_CODEC_OPUS ? 2 : 1;
    switch (codec->name) {
    case LEAT_CODEC_OPUS:
        codec->clock_hz = 48000;
        break;
    case LEAT_CODEC_PCMU:
    case LEAT_CODEC_PCMA:
    case LEAT_CODEC_G722:
        codec->clock_hz = 8000;
        break;
    case LEAT_CODEC_UNKNOWN:
    case LEAT_CODEC_VP8:
    case LEAT_CODEC_VP9:
    case LEAT_CODEC_H264:
    case LEAT_CODEC_AV1:
        codec->clock_hz = 90000;
        break;
    }
}

static bool is_fmtp(struct leat_span text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < 0x20 || text.data[i] > 0x7e) { /* it stands in a line of the answer */
            return false;
        }
    }
    return text.len <= LEAT_FMTP_MAX;
}

bool leat__control_read_codec(const struct leat__control_params *p, struct leat_codec *out)
{
    char path[LEAT__CONTROL_FIELD_MAX];
    struct leat_span name = {NULL, 0}, parameters;
    memset(out, 0, sizeof(*out));
    if (leat__control_params_text(p, "name", true, &name)) {
        out->name = leat_codec_from_text(name);
    }
    usual_values(out);
    int64_t number;
    if (leat__control_params_int(p, "clock", false, 1, 1000000, &number)) {
        out->clock_hz = (uint32_t)number;
    }
    if (leat__control_params_int(p, "channels", false, 1, 8, &number)) {
        out->channels = (uint8_t)number;
    }
    if (leat__control_params_text(p, "parameters", false, &parameters)) {
        if (!is_fmtp(parameters)) {
            leat__control_params_path(p, "parameters", path);
            leat__control_fault_set(p->fault, LEAT__RPC_PARAMS, "out_of_range", path,
                                    "%s must be at most %d printable characters", path,
                                    LEAT_FMTP_MAX);
        }
        (void)leat_text_copy(out->fmtp, sizeof(out->fmtp), parameters);
    }
    return p->fault->code == LEAT__RPC_NONE && out->name != LEAT_CODEC_UNKNOWN;
}

void leat__control_read_codecs(const struct leat__control_params *p, struct leat_sdp_policy *policy)
{
    const leat_json *list;
    if (!leat__control_params_array(p, "codecs", false, LEAT_CODECS_MAX, &list)) {
        return;
    }
    policy->codec_count = 0;
    size_t index = 0;
    for (const leat_json *e = leat_json_first(list); e; e = leat_json_next(e), index++) {
        struct leat__control_params codec;
        char path[LEAT__CONTROL_FIELD_MAX];
        if (!leat__control_params_element(p, "codecs", index, e, &codec)) {
            return;
        }
        leat__control_params_known(&codec, "name clock channels parameters");
        if (!leat__control_read_codec(&codec, &policy->codecs[policy->codec_count])) {
            leat__control_params_path(&codec, "name", path);
            leat__control_fault_set(p->fault, LEAT__RPC_PARAMS, "out_of_range", path,
                                    "%s must be one of: opus PCMU PCMA G722 VP8 VP9 H264 AV1",
                                    path);
            return;
        }
        policy->codec_count++;
    }
}
