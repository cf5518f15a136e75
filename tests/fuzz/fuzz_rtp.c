/* SPDX-License-Identifier: MIT */
/*
 * Any octets as a datagram: class, header, extensions, payload of every codec. A packet that is
 * taken must add up, and composed again from its parts it must parse to the same.
 */
#include <leat/rtp.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void inspect(struct leat_span payload)
{
    for (int codec = LEAT_CODEC_UNKNOWN; codec <= LEAT_CODEC_AV1; codec++) {
        struct leat_payload_info info = leat_payload_inspect((enum leat_codec_name)codec, payload);
        require(info.is_frame_start || !info.is_keyframe_start);
    }
}

static void compose_again(const struct leat_rtp *p, struct leat_span packet)
{
    struct leat_rtp_ext_out exts[LEAT_RTP_EXT_ELEMENTS_MAX];
    struct leat_rtp again;
    for (size_t i = 0; i < p->ext_count; i++) {
        uint8_t level;
        bool voice;
        require(p->exts[i].offset >= p->ext_block_offset + 4);
        require(p->exts[i].offset + p->exts[i].len <= p->ext_block_offset + p->ext_block_len);
        exts[i].id = p->exts[i].id;
        exts[i].data = leat_span(packet.data + p->exts[i].offset, p->exts[i].len);
        (void)leat_audio_level_parse(exts[i].data, &level, &voice);
    }
    struct leat_span payload = leat_span(packet.data + p->payload_offset, p->payload_len);
    size_t cap = packet.len + 64;
    uint8_t *out = malloc(cap);
    require(out != NULL);
    size_t len = leat_rtp_compose(out, cap, p->marker, p->pt, p->seq, p->timestamp, p->ssrc, NULL,
                                  0, exts, p->ext_count, payload);
    if (len != 0) {
        require(leat_rtp_parse(&again, leat_span(out, len)));
        require(again.ext_count == p->ext_count && again.payload_len == p->payload_len);
        for (size_t i = 0; i < p->ext_count; i++) {
            require(again.exts[i].id == p->exts[i].id && again.exts[i].len == p->exts[i].len);
        }
        require(again.seq == p->seq && again.ssrc == p->ssrc && again.marker == p->marker);
    } else {
        require(packet.len > 60000); /* near the limit the other form may not fit */
    }
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct leat_span packet = leat_span(data, size);
    struct leat_rtp p;
    struct leat_span ext;
    (void)leat_demux(packet);
    inspect(packet);
    if (!leat_rtp_parse(&p, packet)) {
        return 0;
    }
    require((size_t)p.payload_offset + p.payload_len + p.padding_len == size);
    require(p.payload_offset == LEAT_RTP_HEADER_MIN + 4 * p.csrc_count + p.ext_block_len);
    for (unsigned id = 0; id < 256; id++) {
        (void)leat_rtp_find_ext(&p, packet, (uint8_t)id, &ext);
    }
    inspect(leat_span(data + p.payload_offset, p.payload_len));
    compose_again(&p, packet);
    return 0;
}
