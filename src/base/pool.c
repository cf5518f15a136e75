/* SPDX-License-Identifier: MIT */
/*
 * One slab of equal packets and a stack of the free ones: the packet used last, still in the cache,
 * is handed out first. Threading the stack through the packets at set-up also touches the slab's
 * pages once, before the first packet arrives.
 */
#include <leat/pool.h>

#include <assert.h>
#include <stdlib.h>

static_assert(LEAT_PACKET_MAX <= UINT16_MAX, "a packet's length is a uint16_t");

int leat_pool_init(struct leat_pool *p, size_t count)
{
    *p = (struct leat_pool){0};
    if (count == 0) {
        return LEAT_E_INVALID;
    }
    struct leat_packet *packets = calloc(count, sizeof(*packets));
    if (packets == NULL) {
        return LEAT_E_NOMEM;
    }
    for (size_t i = count; i-- > 0;) {
        packets[i].pool = p;
        packets[i].next_free = p->free_list;
        p->free_list = &packets[i];
    }
    p->slab = packets;
    p->count = count;
    return LEAT_OK;
}

void leat_pool_deinit(struct leat_pool *p)
{
    free(p->slab);
    *p = (struct leat_pool){0};
}

struct leat_packet *leat_pool_get(struct leat_pool *p)
{
    struct leat_packet *pkt = p->free_list;
    if (pkt == NULL) {
        p->exhausted++;
        return NULL;
    }
    p->free_list = pkt->next_free;
    pkt->next_free = NULL;
    pkt->refs = 1;
    pkt->len = 0;
    pkt->arrived_us = 0;
    p->in_use++;
    p->in_use_max = p->in_use > p->in_use_max ? p->in_use : p->in_use_max;
    return pkt;
}

void leat_packet_unref(struct leat_packet *pkt)
{
    if (pkt == NULL) {
        return;
    }
    assert(pkt->refs > 0);
    if (--pkt->refs == 0) {
        pkt->next_free = pkt->pool->free_list;
        pkt->pool->free_list = pkt;
        pkt->pool->in_use--;
    }
}
