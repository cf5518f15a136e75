/* SPDX-License-Identifier: MIT */
/* Payload types by codec and format parameters: for each of the track's the first of the sender's
 * that can carry it. */
#include <leat/route.h>

size_t leat_pt_map_build(struct leat_pt_map *m, const struct leat_media_desc *track,
                         const struct leat_media_desc *sender)
{
    size_t carried = 0;
    memset(m->to, 0xff, sizeof m->to);
    memset(m->name, LEAT_CODEC_UNKNOWN, sizeof m->name);
    for (size_t i = 0; i < track->codec_count; i++) {
        const struct leat_codec *from = &track->codecs[i];
        m->name[from->pt & 0x7f] = (uint8_t)from->name;
        for (size_t k = 0; k < sender->codec_count; k++) {
            if (leat_codec_matches(from, &sender->codecs[k])) {
                m->to[from->pt & 0x7f] = sender->codecs[k].pt;
                carried++;
                break;
            }
        }
    }
    return carried;
}
