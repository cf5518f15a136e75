/* SPDX-License-Identifier: MIT */
/**
 * @file  What both directions know of a packet before any crypto: lengths and shape (RFC 3550 5.1,
 * 5.3.1, 6.4; RFC 3711 3.1, 3.4).
 */
#ifndef LEAT_SRTP_PACKET_H
#define LEAT_SRTP_PACKET_H

#include <leat/bytes.h>

#define LEAT__SRTP_PACKET_MAX 65535
#define LEAT__SRTP_RTP_HEADER_LEN 12
#define LEAT__SRTP_RTCP_HEADER_LEN 8
#define LEAT__SRTP_RTCP_TRAILER_LEN 4 /**< E bit and index */
#define LEAT__SRTP_E_BIT 0x80000000u

/** The header with CSRCs and extension block, or 0 when `p` does not hold one of version 2. */
static inline size_t leat__srtp_rtp_header_len(struct leat_span p)
{
    if (p.len < LEAT__SRTP_RTP_HEADER_LEN || p.len > LEAT__SRTP_PACKET_MAX || p.data[0] >> 6 != 2) {
        return 0;
    }
    size_t len = LEAT__SRTP_RTP_HEADER_LEN + 4 * (size_t)(p.data[0] & 0x0f);
    if ((p.data[0] & 0x10) != 0) {
        if (p.len < len + 4) {
            return 0;
        }
        len += 4 + 4 * (size_t)leat_get_u16(p.data + len + 2);
    }
    return len <= p.len ? len : 0;
}

static inline bool leat__srtp_is_rtcp(struct leat_span p)
{
    return p.len >= LEAT__SRTP_RTCP_HEADER_LEN && p.len <= LEAT__SRTP_PACKET_MAX &&
           p.data[0] >> 6 == 2;
}

#endif
