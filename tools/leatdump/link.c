/* SPDX-License-Identifier: MIT */
/*
 * Link header, then IPv4 (RFC 791) or IPv6 (RFC 8200) with the extension headers that may stand in
 * front of UDP, then UDP (RFC 768). Checksums are not looked at: an interface may fill them in
 * later than the capture.
 */
#include "link.h"

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd
#define ETHERTYPE_VLAN 0x8100
#define ETHERTYPE_QINQ 0x88a8
#define VLANS_MAX 4
#define HEADERS_MAX 8

enum { NEXT_HOP = 0, NEXT_UDP = 17, NEXT_ROUTING = 43, NEXT_FRAGMENT = 44, NEXT_OPTIONS = 60 };

bool leat_dump_link_is_known(uint32_t link)
{
    switch ((enum leat_dump_link)link) {
    case LEAT_DUMP_LINK_NULL:
    case LEAT_DUMP_LINK_ETHERNET:
    case LEAT_DUMP_LINK_RAW_BSD:
    case LEAT_DUMP_LINK_RAW_OPENBSD:
    case LEAT_DUMP_LINK_RAW:
    case LEAT_DUMP_LINK_LOOP:
    case LEAT_DUMP_LINK_SLL:
    case LEAT_DUMP_LINK_IPV4:
    case LEAT_DUMP_LINK_IPV6:
    case LEAT_DUMP_LINK_SLL2:
        return true;
    }
    return false;
}

/** Moves r to the network header. @return whether what follows can be IP. */
static bool skip_link(uint32_t link, struct leat_reader *r)
{
    uint16_t type = ETHERTYPE_IPV4; /* the version field of the header decides between 4 and 6 */
    switch ((enum leat_dump_link)link) {
    case LEAT_DUMP_LINK_NULL:
    case LEAT_DUMP_LINK_LOOP:
        leat_read_skip(r, 4);
        break;
    case LEAT_DUMP_LINK_ETHERNET:
        leat_read_skip(r, 12);
        type = leat_read_u16(r);
        for (int i = 0; i < VLANS_MAX && (type == ETHERTYPE_VLAN || type == ETHERTYPE_QINQ); i++) {
            leat_read_skip(r, 2);
            type = leat_read_u16(r);
        }
        break;
    case LEAT_DUMP_LINK_SLL:
        leat_read_skip(r, 14);
        type = leat_read_u16(r);
        break;
    case LEAT_DUMP_LINK_SLL2:
        type = leat_read_u16(r);
        leat_read_skip(r, 18);
        break;
    case LEAT_DUMP_LINK_RAW_BSD:
    case LEAT_DUMP_LINK_RAW_OPENBSD:
    case LEAT_DUMP_LINK_RAW:
    case LEAT_DUMP_LINK_IPV4:
    case LEAT_DUMP_LINK_IPV6:
        break;
    }
    return !r->failed && (type == ETHERTYPE_IPV4 || type == ETHERTYPE_IPV6);
}

/** Moves r to the UDP header. */
static bool skip_ipv4(struct leat_reader *r, struct leat_dump_udp *out)
{
    size_t header_len = 4u * (leat_read_u8(r) & 0x0fu);
    leat_read_skip(r, 5);
    uint16_t fragment = leat_read_u16(r);
    leat_read_skip(r, 1);
    uint8_t protocol = leat_read_u8(r);
    leat_read_skip(r, 2);
    struct leat_span from = leat_read_span(r, 4);
    struct leat_span to = leat_read_span(r, 4);
    if (r->failed || header_len < 20 || protocol != NEXT_UDP || (fragment & 0x1fff) != 0) {
        return false;
    }
    leat_read_skip(r, header_len - 20);
    out->from = leat_addr_v4(from.data, 0);
    out->to = leat_addr_v4(to.data, 0);
    return !r->failed;
}

static bool skip_ipv6(struct leat_reader *r, struct leat_dump_udp *out)
{
    leat_read_skip(r, 6);
    uint8_t next = leat_read_u8(r);
    leat_read_skip(r, 1);
    struct leat_span from = leat_read_span(r, 16);
    struct leat_span to = leat_read_span(r, 16);
    for (int i = 0; i < HEADERS_MAX && next != NEXT_UDP && !r->failed; i++) {
        uint8_t header = next;
        next = leat_read_u8(r);
        uint8_t len = leat_read_u8(r);
        if (header == NEXT_FRAGMENT) {
            uint16_t fragment = leat_read_u16(r);
            leat_read_skip(r, 4);
            if ((fragment & 0xfff8) != 0) {
                return false;
            }
        } else if (header == NEXT_HOP || header == NEXT_ROUTING || header == NEXT_OPTIONS) {
            leat_read_skip(r, 6 + 8 * (size_t)len);
        } else {
            return false;
        }
    }
    if (r->failed || next != NEXT_UDP) {
        return false;
    }
    out->from = leat_addr_v6(from.data, 0, 0);
    out->to = leat_addr_v6(to.data, 0, 0);
    return true;
}

bool leat_dump_find_udp(uint32_t link, struct leat_span frame, struct leat_dump_udp *out)
{
    struct leat_reader r;
    memset(out, 0, sizeof *out);
    leat_reader_init(&r, frame.data, frame.len);
    if (!skip_link(link, &r) || leat_reader_left(&r) == 0) {
        return false;
    }
    uint8_t version = *r.at >> 4;
    bool is_udp = version == 4 ? skip_ipv4(&r, out) : version == 6 && skip_ipv6(&r, out);
    if (!is_udp) {
        return false;
    }
    out->from.port = leat_read_u16(&r);
    out->to.port = leat_read_u16(&r);
    size_t len = leat_read_u16(&r);
    leat_read_skip(&r, 2);
    if (r.failed || len < 8) {
        return false;
    }
    size_t captured = leat_reader_left(&r);
    out->is_cut = captured < len - 8;
    out->payload = leat_read_span(&r, out->is_cut ? captured : len - 8);
    return true;
}
