/* SPDX-License-Identifier: MIT */
/**
 * @file  From a captured frame to the UDP datagram in it.
 * @module leatdump
 */
#ifndef LEAT_DUMP_LINK_H
#define LEAT_DUMP_LINK_H

#include <leat/addr.h>

/** Link types of pcap files that are read. */
enum leat_dump_link {
    LEAT_DUMP_LINK_NULL = 0,
    LEAT_DUMP_LINK_ETHERNET = 1,
    LEAT_DUMP_LINK_RAW_BSD = 12,
    LEAT_DUMP_LINK_RAW_OPENBSD = 14,
    LEAT_DUMP_LINK_RAW = 101,
    LEAT_DUMP_LINK_LOOP = 108,
    LEAT_DUMP_LINK_SLL = 113,
    LEAT_DUMP_LINK_IPV4 = 228,
    LEAT_DUMP_LINK_IPV6 = 229,
    LEAT_DUMP_LINK_SLL2 = 276
};

struct leat_dump_udp {
    struct leat_addr from, to;
    struct leat_span payload;
    bool is_cut; /**< the capture has less of it than was sent */
};

bool leat_dump_link_is_known(uint32_t link);
/** @return false when the frame holds no UDP datagram (or only a later fragment of one). */
bool leat_dump_find_udp(uint32_t link, struct leat_span frame, struct leat_dump_udp *out);

#endif
