/* SPDX-License-Identifier: MIT */
/**
 * @file  Timer heap: intrusive nodes ordered by deadline. One heap a worker; an idle peer costs
 * nothing per turn.
 * @module base
 */
#ifndef LEAT_HEAP_H
#define LEAT_HEAP_H

#include <leat/bytes.h>
#include <leat/error.h>

#define LEAT_NEVER UINT64_MAX /**< the deadline of something that wants no call */

struct leat_heap_node {
    uint64_t deadline_us;
    size_t index; /**< 0: not in a heap. A node starts as zeros */
};

struct leat_heap {
    struct leat_heap_node **nodes; /**< 1-based */
    size_t count, capacity;
};

void leat_heap_init(struct leat_heap *h);
/** Frees the array. Nodes still inside keep their index: set them to zero before another use. */
void leat_heap_deinit(struct leat_heap *h);
/** Make room for `count` nodes in all, so that leat_heap_set cannot fail below it. @return 0 or
 * LEAT_E_NOMEM. */
int leat_heap_reserve(struct leat_heap *h, size_t count);
/** Insert, move, or with LEAT_NEVER remove. @return 0 or LEAT_E_NOMEM. */
int leat_heap_set(struct leat_heap *h, struct leat_heap_node *n, uint64_t deadline_us);
void leat_heap_remove(struct leat_heap *h, struct leat_heap_node *n);
/** The node due first, or NULL. */
struct leat_heap_node *leat_heap_peek(const struct leat_heap *h);

#endif
