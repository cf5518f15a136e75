/* SPDX-License-Identifier: MIT */
/* RTP (RFC 3550 5.1, RFC 8285): what SRTP leaves in the clear, and the class of a datagram. */
#include <leat/rtp.h>

#include "decode.h"

#define PACKET_MAX 65536

void leat_dump_rtp(struct leat_dump_out *o, struct leat_span datagram)
{
    static uint8_t copy[PACKET_MAX];
    struct leat_rtp p;
    if (datagram.len > sizeof copy || datagram.len == 0) {
        leat_dump_word(o, "fault", "too long");
        return;
    }
    /* The length of padding is encrypted in SRTP: what follows the header counts as payload. */
    memcpy(copy, datagram.data, datagram.len);
    bool has_padding = (copy[0] & 0x20) != 0;
    copy[0] &= (uint8_t)~0x20;
    struct leat_span packet = leat_span(copy, datagram.len);
    if (!leat_rtp_parse(&p, packet)) {
        leat_dump_word(o, "fault", "malformed");
        leat_dump_hex(o, "hex", datagram);
        return;
    }
    leat_dump_u64(o, "pt", p.pt);
    leat_dump_u64(o, "seq", p.seq);
    leat_dump_u64(o, "ts", p.timestamp);
    leat_dump_u64(o, "ssrc", p.ssrc);
    leat_dump_bool(o, "marker", p.marker);
    leat_dump_bool(o, "padding", has_padding);
    if (p.csrc_count != 0) {
        leat_dump_u64(o, "csrcs", p.csrc_count);
    }
    leat_dump_open(o, "extensions", '[');
    for (size_t i = 0; i < p.ext_count; i++) {
        leat_dump_open(o, NULL, '{');
        leat_dump_u64(o, "ext", p.exts[i].id);
        leat_dump_hex(o, "value", leat_span(copy + p.exts[i].offset, p.exts[i].len));
        leat_dump_close(o, '}');
    }
    leat_dump_close(o, ']');
    leat_dump_u64(o, "payload", p.payload_len);
}

static void dump_unknown(struct leat_dump_out *o, struct leat_span datagram)
{
    leat_dump_hex(o, "hex", datagram);
}

void leat_dump_datagram(struct leat_dump_out *o, struct leat_span datagram)
{
    static const struct {
        const char *name;
        void (*dump)(struct leat_dump_out *o, struct leat_span datagram);
    } classes[] = {
        [LEAT_DEMUX_STUN] = {"stun", leat_dump_stun},
        [LEAT_DEMUX_DTLS] = {"dtls", leat_dump_dtls},
        [LEAT_DEMUX_RTP] = {"rtp", leat_dump_rtp},
        [LEAT_DEMUX_RTCP] = {"rtcp", leat_dump_rtcp},
        [LEAT_DEMUX_UNKNOWN] = {"unknown", dump_unknown},
    };
    enum leat_demux class = leat_demux(datagram);
    leat_dump_word(o, "class", classes[class].name);
    leat_dump_u64(o, "octets", datagram.len);
    classes[class].dump(o, datagram);
}
