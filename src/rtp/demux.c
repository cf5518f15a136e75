/* SPDX-License-Identifier: MIT */
/*
 * What a datagram on a shared port is. RFC 7983 7 gives each protocol a range of first octets; RTP
 * and RTCP share one and are told apart by the second octet: an RTCP packet type of 192..223 would
 * be the marker bit and a payload type of 64..95, which multiplexed RTP does not use (RFC 5761 4).
 */
#include <leat/rtp.h>

enum leat_demux leat_demux(struct leat_span datagram)
{
    if (datagram.len < 2) {
        return LEAT_DEMUX_UNKNOWN;
    }
    uint8_t first = datagram.data[0];
    uint8_t second = datagram.data[1];
    if (first <= 3) {
        return LEAT_DEMUX_STUN;
    }
    if (first >= 20 && first <= 63) {
        return LEAT_DEMUX_DTLS;
    }
    if (first >= 128 && first <= 191) {
        return second >= 192 && second <= 223 ? LEAT_DEMUX_RTCP : LEAT_DEMUX_RTP;
    }
    return LEAT_DEMUX_UNKNOWN;
}
