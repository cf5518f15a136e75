/* SPDX-License-Identifier: MIT */
/*
 * What a video payload says about where a receiver may start: only descriptors and the first octets
 * behind them are read, never a whole bit stream.
 *
 * VP8   RFC 7741 4.2, 4.3: start of partition 0, then the P bit of the frame header.
 * VP9   RFC 9628 4.2: start of the lowest spatial layer of a picture; the P bit of the descriptor.
 * H264  RFC 6184 5.3-5.8: a sequence parameter set, or an IDR slice that begins at macroblock 0,
 *       alone, aggregated (STAP, MTAP) or as the first fragment (FU-A, FU-B).
 * AV1   RTP Payload Format For AV1 1.0, 4.4: the aggregation header and the first OBU's header.
 *
 * An upper spatial layer is no place to start, since the layer below it has been missed.
 */
#include <leat/rtp.h>

static const struct leat_payload_info nothing = {false, false};

static struct leat_payload_info inspect_vp8(struct leat_span payload)
{
    struct leat_reader r;
    leat_reader_init(&r, payload.data, payload.len);
    uint8_t first = leat_read_u8(&r);
    if ((first & 0x80) != 0) { /* X */
        uint8_t flags = leat_read_u8(&r);
        if ((flags & 0x80) != 0) { /* I: 7 or 15 bits of picture id */
            leat_read_skip(&r, (leat_read_u8(&r) & 0x80) != 0 ? 1 : 0);
        }
        if ((flags & 0x40) != 0) { /* L: TL0PICIDX */
            leat_read_skip(&r, 1);
        }
        if ((flags & 0x30) != 0) { /* T or K share an octet */
            leat_read_skip(&r, 1);
        }
    }
    uint8_t header = leat_read_u8(&r);
    if (r.failed) {
        return nothing;
    }
    bool is_start = (first & 0x10) != 0 && (first & 0x07) == 0; /* S, PID */
    return (struct leat_payload_info){is_start && (header & 0x01) == 0, is_start};
}

/** The scalability structure (RFC 9628 4.2.1), only to find its end. */
static void skip_vp9_structure(struct leat_reader *r)
{
    uint8_t head = leat_read_u8(r);
    if ((head & 0x10) != 0) { /* Y: width and height of each layer */
        leat_read_skip(r, 4u * ((head >> 5) + 1u));
    }
    if ((head & 0x08) != 0) { /* G: a picture group */
        size_t pictures = leat_read_u8(r);
        for (size_t i = 0; i < pictures && !r->failed; i++) {
            leat_read_skip(r, (leat_read_u8(r) >> 2) & 3);
        }
    }
}

static struct leat_payload_info inspect_vp9(struct leat_span payload)
{
    struct leat_reader r;
    leat_reader_init(&r, payload.data, payload.len);
    uint8_t first = leat_read_u8(&r);
    bool is_inter = (first & 0x40) != 0, is_flexible = (first & 0x10) != 0;
    uint8_t layer = 0;
    if ((first & 0x80) != 0) { /* I */
        leat_read_skip(&r, (leat_read_u8(&r) & 0x80) != 0 ? 1 : 0);
    }
    if ((first & 0x20) != 0) { /* L: TID, U, SID, D, and TL0PICIDX unless flexible */
        layer = leat_read_u8(&r);
        leat_read_skip(&r, is_flexible ? 0 : 1);
    }
    if (is_inter && is_flexible) { /* up to three P_DIFF, the last without its N bit */
        for (int i = 0; i < 3 && (leat_read_u8(&r) & 0x01) != 0; i++) {
        }
    }
    if ((first & 0x02) != 0) { /* V */
        skip_vp9_structure(&r);
    }
    leat_read_skip(&r, 1);
    if (r.failed) {
        return nothing;
    }
    bool uses_lower_layer = (layer & 0x01) != 0;
    bool is_start = (first & 0x08) != 0 && (layer & 0x0e) == 0; /* B, SID */
    return (struct leat_payload_info){is_start && !is_inter && !uses_lower_layer, is_start};
}

enum {
    NAL_SLICE = 1,
    NAL_IDR = 5,
    NAL_SEI = 6,
    NAL_SPS = 7,
    NAL_DELIMITER = 9,
    NAL_STAP_A = 24,
    NAL_STAP_B = 25,
    NAL_MTAP16 = 26,
    NAL_MTAP24 = 27,
    NAL_FU_A = 28,
    NAL_FU_B = 29
};

/**
 * One NAL unit by its type and the octets behind its header.
 * A slice starts a picture when first_mb_in_slice, an Exp-Golomb code, is 0: one set bit.
 */
static struct leat_payload_info inspect_nal(unsigned type, struct leat_span body)
{
    bool is_first_slice = body.len != 0 && (body.data[0] & 0x80) != 0;
    bool is_key = type == NAL_SPS || (type == NAL_IDR && is_first_slice);
    bool is_start =
        is_key || type == NAL_DELIMITER || type == NAL_SEI || (type == NAL_SLICE && is_first_slice);
    return (struct leat_payload_info){is_key, is_start};
}

/** Units of an aggregation: `skip_before` octets once, then size, `skip_each` octets, unit. */
static struct leat_payload_info inspect_aggregation(struct leat_reader *r, size_t skip_before,
                                                    size_t skip_each)
{
    struct leat_payload_info info = nothing;
    leat_read_skip(r, skip_before);
    while (leat_reader_left(r) != 0) {
        size_t len = leat_read_u16(r);
        leat_read_skip(r, skip_each);
        struct leat_span unit = leat_read_span(r, len);
        if (r->failed || unit.len == 0) {
            return nothing;
        }
        struct leat_payload_info one =
            inspect_nal(unit.data[0] & 0x1f, leat_span(unit.data + 1, unit.len - 1));
        info.is_keyframe_start |= one.is_keyframe_start;
        info.is_frame_start |= one.is_frame_start;
    }
    return info;
}

static struct leat_payload_info inspect_h264(struct leat_span payload)
{
    struct leat_reader r;
    leat_reader_init(&r, payload.data, payload.len);
    unsigned type = leat_read_u8(&r) & 0x1f;
    switch (type) {
    case NAL_STAP_A:
        return inspect_aggregation(&r, 0, 0);
    case NAL_STAP_B:
        return inspect_aggregation(&r, 2, 0);
    case NAL_MTAP16:
        return inspect_aggregation(&r, 2, 3);
    case NAL_MTAP24:
        return inspect_aggregation(&r, 2, 4);
    case NAL_FU_A:
    case NAL_FU_B: {
        uint8_t fu = leat_read_u8(&r);
        leat_read_skip(&r, type == NAL_FU_B ? 2 : 0);
        struct leat_span body = leat_read_span(&r, leat_reader_left(&r));
        return (fu & 0x80) != 0 && body.len != 0 ? inspect_nal(fu & 0x1f, body) : nothing;
    }
    default:
        return inspect_nal(type, leat_read_span(&r, leat_reader_left(&r)));
    }
}

enum {
    OBU_SEQUENCE_HEADER = 1,
    OBU_TEMPORAL_DELIMITER = 2,
    OBU_FRAME_HEADER = 3,
    OBU_METADATA = 5,
    OBU_FRAME = 6
};

/** An OBU element's length, leb128 of at most 8 octets (AV1 specification 4.10.5). */
static uint64_t read_leb128(struct leat_reader *r)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < 8; i++) {
        uint8_t octet = leat_read_u8(r);
        v |= (uint64_t)(octet & 0x7f) << (7 * i);
        if ((octet & 0x80) == 0) {
            return v;
        }
    }
    r->failed = true;
    return 0;
}

static struct leat_payload_info inspect_av1(struct leat_span payload)
{
    struct leat_reader r;
    leat_reader_init(&r, payload.data, payload.len);
    uint8_t aggregation = leat_read_u8(&r);
    bool continues = (aggregation & 0x80) != 0;                         /* Z */
    unsigned element_count = (aggregation >> 4) & 3;                    /* W */
    bool is_new_sequence = (aggregation & 0x08) != 0;                   /* N */
    if (element_count != 1 && read_leb128(&r) > leat_reader_left(&r)) { /* only the last has none */
        return nothing;
    }
    uint8_t header = leat_read_u8(&r);
    uint8_t layers = (header & 0x04) != 0 ? leat_read_u8(&r) : 0;
    if (r.failed || (header & 0x80) != 0 || continues) {
        return nothing;
    }
    unsigned type = (header >> 3) & 15;
    bool is_base_layer = ((layers >> 3) & 3) == 0;
    bool is_key = is_base_layer && (is_new_sequence || type == OBU_SEQUENCE_HEADER);
    bool is_start =
        is_key || (is_base_layer && (type == OBU_TEMPORAL_DELIMITER || type == OBU_FRAME_HEADER ||
                                     type == OBU_METADATA || type == OBU_FRAME));
    return (struct leat_payload_info){is_key, is_start};
}

struct leat_payload_info leat_payload_inspect(enum leat_codec_name codec, struct leat_span payload)
{
    if (payload.len == 0) {
        return nothing;
    }
    switch (codec) {
    case LEAT_CODEC_VP8:
        return inspect_vp8(payload);
    case LEAT_CODEC_VP9:
        return inspect_vp9(payload);
    case LEAT_CODEC_H264:
        return inspect_h264(payload);
    case LEAT_CODEC_AV1:
        return inspect_av1(payload);
    case LEAT_CODEC_UNKNOWN:
    case LEAT_CODEC_OPUS:
    case LEAT_CODEC_PCMU:
    case LEAT_CODEC_PCMA:
    case LEAT_CODEC_G722:
        break;
    }
    return (struct leat_payload_info){true, true};
}

bool leat_audio_level_parse(struct leat_span element, uint8_t *level, bool *voice)
{
    if (element.len != 1) {
        return false;
    }
    *level = element.data[0] & 0x7f;
    *voice = (element.data[0] & 0x80) != 0;
    return true;
}
