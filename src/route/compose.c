/* SPDX-License-Identifier: MIT */
/* The receiver's header from the source's: same marker and CSRCs, our numbers, the receiver's ids.
 */
#include <leat/route.h>

size_t leat_route_header(uint8_t *out, size_t cap, const struct leat_rtp *in,
                         struct leat_span packet, const struct leat_exts *from,
                         const struct leat_media_desc *to, uint8_t pt, uint16_t seq,
                         uint32_t timestamp)
{
    struct leat_rtp_ext_out exts[LEAT_EXT_COUNT];
    size_t ext_count = 0;
    for (int name = LEAT_EXT_NONE + 1; name < LEAT_EXT_COUNT; name++) {
        uint8_t id = to->exts.ids[name];
        struct leat_span data;
        if (id == 0) {
            continue;
        }
        if (name == LEAT_EXT_MID) {
            data = leat_span_str(to->mid);
        } else if (from->ids[name] == 0 || !leat_rtp_find_ext(in, packet, from->ids[name], &data)) {
            continue;
        }
        exts[ext_count++] = (struct leat_rtp_ext_out){id, data};
    }
    uint32_t csrcs[15];
    for (size_t i = 0; i < in->csrc_count; i++) {
        csrcs[i] = leat_get_u32(packet.data + LEAT_RTP_HEADER_MIN + 4 * i);
    }
    return leat_rtp_compose(out, cap, in->marker, pt, seq, timestamp, to->ssrc, csrcs,
                            in->csrc_count, exts, ext_count, leat_span(NULL, 0));
}
