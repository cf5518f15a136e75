/* SPDX-License-Identifier: MIT */
/**
 * @file  One UDP socket for each client, so that every client has its own tuple and its own receive
 * buffer.
 * @module loadgen
 */
#ifndef LEAT_LOADGEN_SOCKETS_H
#define LEAT_LOADGEN_SOCKETS_H

#include <leat/io.h>

#define LEAT_LOAD_SETS_MAX 72 /**< of LEAT_UDP_SOCKETS_MAX sockets each */

struct leat_load_sockets {
    struct leat_loop *loop;
    /** A datagram for the client `owner`. */
    void (*receive)(void *data, size_t owner, struct leat_datagram *d, uint64_t now_us);
    void *data;
    struct leat_udp *sets[LEAT_LOAD_SETS_MAX];
    size_t set_count, bound; /**< bound: in the last set */
    uint32_t *owners;        /**< by local port: owner + 1 */
    uint64_t stray;          /**< datagrams for nobody */
};

int leat_load_sockets_init(struct leat_load_sockets *s, struct leat_loop *loop,
                           void (*receive)(void *data, size_t owner, struct leat_datagram *d,
                                           uint64_t now_us),
                           void *data);
void leat_load_sockets_deinit(struct leat_load_sockets *s);
/**
 * A socket of `owner` on a free port of `ip`.
 * @param local gets its address
 * @return where it sends, or NULL with a sentence in `why`
 */
struct leat_sink *leat_load_sockets_bind(struct leat_load_sockets *s, const struct leat_addr *ip,
                                         size_t owner, struct leat_addr *local, char *why,
                                         size_t why_cap);
void leat_load_sockets_flush(struct leat_load_sockets *s);
/** Datagrams that the kernel dropped in front of us, or that it did not send. */
void leat_load_sockets_drops(const struct leat_load_sockets *s, uint64_t *received, uint64_t *sent);

#endif
