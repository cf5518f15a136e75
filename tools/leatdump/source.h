/* SPDX-License-Identifier: MIT */
/**
 * @file  Where datagrams come from: lines of hex, or a pcap file.
 * @module leatdump
 */
#ifndef LEAT_DUMP_SOURCE_H
#define LEAT_DUMP_SOURCE_H

#include <stdio.h>

#include <leat/addr.h>

#define LEAT_DUMP_FRAME_MAX 262144 /**< octets of one captured frame */
#define LEAT_DUMP_WHY_MAX 160

struct leat_dump_datagram {
    bool has_time, has_addrs, is_cut;
    uint64_t time_s;
    uint32_t time_ns;
    struct leat_addr from, to;
    struct leat_span octets;
};

struct leat_dump_source {
    FILE *file;
    bool is_pcap, is_little, is_nano;
    uint32_t link;
    uint64_t line;    /**< or frame, counted from 1 */
    uint64_t skipped; /**< frames without a UDP datagram */
    uint8_t head[4];  /**< the first octets, read to know what it is */
    size_t head_len, head_at;
    uint8_t octets[LEAT_DUMP_FRAME_MAX];
    char text[2 * LEAT_DUMP_FRAME_MAX];
};

/** @param file stays the caller's. @return 0, or an error with a sentence in `why`. */
int leat_dump_source_init(struct leat_dump_source *s, FILE *file,
                          char why[static LEAT_DUMP_WHY_MAX]);
/** The next datagram, valid until the next call. @return 1, 0 at the end, or an error with a
 * sentence in `why`; after LEAT_E_INVALID of a line the next one can be read. */
int leat_dump_source_next(struct leat_dump_source *s, struct leat_dump_datagram *d,
                          char why[static LEAT_DUMP_WHY_MAX]);

#endif
