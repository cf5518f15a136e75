/* SPDX-License-Identifier: MIT */
/**
 * @file  Packet pool: fixed-size plaintext packets with a reference count, of one thread.
 * @module base
 *
 * All memory is taken at set-up, in slabs; get and unref allocate nothing. An empty pool is a
 * verdict for the caller to count, never an abort.
 */
#ifndef LEAT_POOL_H
#define LEAT_POOL_H

#include <leat/bytes.h>
#include <leat/error.h>

#define LEAT_PACKET_MAX 2048 /**< octets of data a pool packet holds */

struct leat_packet {
    struct leat_packet *next_free;
    struct leat_pool *pool;
    uint32_t refs;
    uint16_t len;        /**< octets of data in use */
    uint64_t arrived_us; /**< monotonic */
    _Alignas(16) uint8_t data[LEAT_PACKET_MAX];
};

struct leat_pool {
    struct leat_packet *free_list;
    void *slab;
    size_t count, in_use, in_use_max;
    uint64_t exhausted; /**< times get found nothing */
};

/** The pool must stay where it is: its packets point at it. @param count at least 1. @return 0,
 * LEAT_E_INVALID or LEAT_E_NOMEM. */
int leat_pool_init(struct leat_pool *p, size_t count);
/** Frees every packet, referenced or not. */
void leat_pool_deinit(struct leat_pool *p);
/** @return a packet with one reference and len 0, or NULL (counted). */
struct leat_packet *leat_pool_get(struct leat_pool *p);

static inline struct leat_packet *leat_packet_ref(struct leat_packet *pkt)
{
    pkt->refs++;
    return pkt;
}

/** NULL is fine. */
void leat_packet_unref(struct leat_packet *pkt);

#endif
