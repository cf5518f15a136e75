/* SPDX-License-Identifier: MIT */
/*
 * The parameter form: what an offer would have said, as JSON. It becomes the same description that
 * the SDP parser makes, so that everything behind it (agreement, media, restarts) is one path.
 * Codecs with names that we do not know (rtx, red, ...) are passed over as they are in SDP.
 */
#include "private.h"

#include <stdio.h>
#include <stdlib.h>

/** A member that is there but not good, by path. */
static void refuse(const struct leat__control_params *p, const char *key, const char *problem)
{
    char path[LEAT__CONTROL_FIELD_MAX];
    leat__control_params_path(p, key, path);
    leat__control_fault_set(p->fault, LEAT__RPC_PARAMS, "out_of_range", path, "%s %s", path,
                            problem);
}

/** The transport half, into a section that serves as the model of all. */
static void read_transport(const struct leat__control_params *p, struct leat_sdp_section *model)
{
    struct leat__control_params ice;
    struct leat_span ufrag = {NULL, 0}, pwd = {NULL, 0}, text;
    if (leat__control_params_object(p, "ice", true, &ice)) {
        leat__control_params_known(&ice, "ufrag pwd");
        if (leat__control_params_text(&ice, "ufrag", true, &ufrag) &&
            leat__control_params_text(&ice, "pwd", true, &pwd)) {
            if (!leat_ice_remote_is_valid(ufrag, pwd)) {
                refuse(p, "ice",
                       "must have an ufrag of 4 to 256 and a pwd of 22 to 256 "
                       "ice-chars (A-Z a-z 0-9 + /)");
            }
            (void)leat_text_copy(model->ufrag, sizeof(model->ufrag), ufrag);
            (void)leat_text_copy(model->pwd, sizeof(model->pwd), pwd);
        }
    }
    if (leat__control_params_text(p, "fingerprint", true, &text)) {
        if (!leat_dtls_fingerprint_parse(text, model->fingerprint)) {
            refuse(p, "fingerprint", "must be a SHA-256 fingerprint, \"AA:BB:...\" of 32 octets");
        }
        model->has_fingerprint = true;
    }
    static const enum leat_sdp_setup setups[] = {LEAT_SETUP_ACTIVE, LEAT_SETUP_PASSIVE,
                                                 LEAT_SETUP_ACTPASS};
    int setup = leat__control_params_word(p, "setup", true, "active passive actpass");
    model->setup = setup >= 0 ? setups[setup] : LEAT_SETUP_NONE;
}

static bool is_payload_type(int64_t pt)
{
    return (pt >= 0 && pt <= 63) || (pt >= 96 && pt <= 127); /* RFC 5761 4 */
}

static void read_codecs(const struct leat__control_params *p, struct leat_sdp_section *s)
{
    const leat_json *list;
    bool used[128] = {false};
    if (!leat__control_params_array(p, "codecs", true, LEAT_SDP_FORMATS_MAX, &list)) {
        return;
    }
    size_t index = 0;
    for (const leat_json *e = leat_json_first(list); e; e = leat_json_next(e), index++) {
        struct leat__control_params params;
        struct leat_codec codec;
        int64_t pt;
        if (!leat__control_params_element(p, "codecs", index, e, &params)) {
            return;
        }
        leat__control_params_known(&params, "name pt clock channels parameters pli fir");
        bool is_known = leat__control_read_codec(&params, &codec);
        if (!leat__control_params_int(&params, "pt", true, 0, 127, &pt)) {
            return;
        }
        if (!is_payload_type(pt) || used[pt]) {
            refuse(&params, "pt", used[pt] ? "is named twice" : "must be within 0-63 or 96-127");
        }
        used[pt] = true;
        codec.pt = (uint8_t)pt;
        (void)leat__control_params_bool(&params, "pli", &codec.has_pli);
        (void)leat__control_params_bool(&params, "fir", &codec.has_fir);
        if (is_known && leat_codec_kind(codec.name) == s->kind) {
            s->codecs[s->codec_count++] = codec;
        }
        if (index == 0) {
            (void)snprintf(s->first_format, sizeof(s->first_format), "%u", (unsigned)codec.pt);
        }
    }
}

static void read_extensions(const struct leat__control_params *p, struct leat_sdp_section *s)
{
    const leat_json *list;
    bool used[256] = {false};
    if (!leat__control_params_array(p, "extensions", false, 64, &list)) {
        return;
    }
    size_t index = 0;
    for (const leat_json *e = leat_json_first(list); e; e = leat_json_next(e), index++) {
        struct leat__control_params params;
        struct leat_span uri;
        int64_t id;
        if (!leat__control_params_element(p, "extensions", index, e, &params)) {
            return;
        }
        leat__control_params_known(&params, "uri id");
        if (!leat__control_params_text(&params, "uri", true, &uri) ||
            !leat__control_params_int(&params, "id", true, 1, 255, &id)) {
            return;
        }
        if (used[id]) {
            refuse(&params, "id", "is named twice");
        }
        used[id] = true;
        enum leat_ext_name name = leat_ext_from_uri(uri);
        if (name != LEAT_EXT_NONE && s->ext_count < LEAT_EXTS_MAX) {
            s->exts[s->ext_count++] = (struct leat_sdp_ext){name, (uint16_t)id, LEAT_DIR_SENDRECV};
        }
    }
}

static void read_encodings(const struct leat__control_params *p, struct leat_sdp_section *s)
{
    const leat_json *list;
    if (!leat__control_params_array(p, "encodings", false, LEAT_ENCODINGS_MAX, &list)) {
        return;
    }
    size_t index = 0;
    for (const leat_json *e = leat_json_first(list); e; e = leat_json_next(e), index++) {
        struct leat__control_params params;
        int64_t ssrc = 0;
        if (!leat__control_params_element(p, "encodings", index, e, &params)) {
            return;
        }
        leat__control_params_known(&params, "ssrc");
        if (leat__control_params_int(&params, "ssrc", true, 1, UINT32_MAX, &ssrc)) {
            s->encodings[s->encoding_count++].ssrc = (uint32_t)ssrc;
        }
    }
}

static void read_section(const struct leat__control_params *p, struct leat_sdp_section *s)
{
    static const enum leat_direction directions[] = {LEAT_DIR_SENDRECV, LEAT_DIR_SENDONLY,
                                                     LEAT_DIR_RECVONLY, LEAT_DIR_INACTIVE};
    struct leat_span stream;
    leat__control_params_known(p, "mid kind direction rsize codecs extensions encodings stream");
    (void)leat__control_params_mid(p, "mid", s->mid);
    int kind = leat__control_params_word(p, "kind", true, "audio video");
    s->kind = kind == 1 ? LEAT_KIND_VIDEO : LEAT_KIND_AUDIO;
    (void)leat_text_copy(s->media, sizeof(s->media), leat_span_str(leat_kind_text(s->kind)));
    (void)leat_text_copy(s->protocol, sizeof(s->protocol), leat_span_str("UDP/TLS/RTP/SAVPF"));
    int direction =
        leat__control_params_word(p, "direction", true, "sendrecv sendonly recvonly inactive");
    s->direction = direction >= 0 ? directions[direction] : LEAT_DIR_INACTIVE;
    (void)leat__control_params_bool(p, "rsize", &s->has_rtcp_rsize);
    s->is_bundled = true;
    s->has_rtcp_mux = true;
    read_codecs(p, s);
    read_extensions(p, s);
    read_encodings(p, s);
    if (leat__control_params_text(p, "stream", false, &stream) &&
        (!leat_id_is_valid(stream) || !leat_text_copy(s->stream, sizeof(s->stream), stream))) {
        refuse(p, "stream", "must be 1 to 64 characters of A-Z a-z 0-9 . _ : -");
    }
}

void leat__control_read_remote(const struct leat__control_params *p, struct leat_sdp_desc *out)
{
    const leat_json *list;
    struct leat_sdp_section model;
    memset(out, 0, sizeof(*out));
    memset(&model, 0, sizeof(model));
    leat__control_params_known(p, "ice fingerprint setup sections");
    read_transport(p, &model);
    if (!leat__control_params_array(p, "sections", true, LEAT_SECTIONS_MAX, &list)) {
        return;
    }
    size_t count = leat_json_count(list);
    if (count == 0) {
        refuse(p, "sections", "must have at least one element");
        return;
    }
    out->has_bundle = true;
    out->sections = calloc(count, sizeof(*out->sections));
    if (!out->sections) {
        leat__control_fault_error(p->fault, LEAT_E_NOMEM, "reading the sections");
        return;
    }
    for (const leat_json *e = leat_json_first(list); e; e = leat_json_next(e)) {
        struct leat__control_params section;
        out->sections[out->section_count] = model;
        out->sections[out->section_count].bundle_rank = (uint16_t)out->section_count;
        if (!leat__control_params_element(p, "sections", out->section_count, e, &section)) {
            return;
        }
        read_section(&section, &out->sections[out->section_count++]);
        if (p->fault->code != LEAT__RPC_NONE) {
            return;
        }
    }
}
