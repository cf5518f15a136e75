/* SPDX-License-Identifier: MIT */
/*
 * Binary heap of pointers to nodes that live in their owners. A node knows its place, so moving and
 * removing it is O(log n) without a search. Place 0 of the array is unused: index 0 in a node says
 * "not in a heap".
 */
#include <leat/heap.h>

#include <stdlib.h>

#define MIN_CAPACITY 64

void leat_heap_init(struct leat_heap *h)
{
    *h = (struct leat_heap){0};
}

void leat_heap_deinit(struct leat_heap *h)
{
    free(h->nodes);
    *h = (struct leat_heap){0};
}

int leat_heap_reserve(struct leat_heap *h, size_t count)
{
    if (count <= h->capacity) {
        return LEAT_OK;
    }
    if (count >= SIZE_MAX / sizeof(*h->nodes)) {
        return LEAT_E_NOMEM;
    }
    struct leat_heap_node **nodes = realloc(h->nodes, (count + 1) * sizeof(*nodes));
    if (nodes == NULL) {
        return LEAT_E_NOMEM;
    }
    nodes[0] = NULL;
    h->nodes = nodes;
    h->capacity = count;
    return LEAT_OK;
}

static void place(struct leat_heap *h, size_t index, struct leat_heap_node *n)
{
    h->nodes[index] = n;
    n->index = index;
}

static void sift_up(struct leat_heap *h, struct leat_heap_node *n)
{
    size_t i = n->index;
    while (i > 1 && h->nodes[i / 2]->deadline_us > n->deadline_us) {
        place(h, i, h->nodes[i / 2]);
        i /= 2;
    }
    place(h, i, n);
}

static void sift_down(struct leat_heap *h, struct leat_heap_node *n)
{
    size_t i = n->index;
    while (i <= h->count / 2) {
        size_t child = 2 * i;
        if (child < h->count && h->nodes[child + 1]->deadline_us < h->nodes[child]->deadline_us) {
            child++;
        }
        if (h->nodes[child]->deadline_us >= n->deadline_us) {
            break;
        }
        place(h, i, h->nodes[child]);
        i = child;
    }
    place(h, i, n);
}

int leat_heap_set(struct leat_heap *h, struct leat_heap_node *n, uint64_t deadline_us)
{
    if (deadline_us == LEAT_NEVER) {
        leat_heap_remove(h, n);
        return LEAT_OK;
    }
    if (n->index != 0) {
        n->deadline_us = deadline_us;
        sift_up(h, n);
        sift_down(h, n);
        return LEAT_OK;
    }
    if (h->count == h->capacity) {
        size_t more = h->capacity < MIN_CAPACITY ? MIN_CAPACITY : h->capacity;
        int error = leat_heap_reserve(h, h->capacity + more);
        if (error != LEAT_OK) {
            return error;
        }
    }
    n->deadline_us = deadline_us;
    h->count++;
    place(h, h->count, n);
    sift_up(h, n);
    return LEAT_OK;
}

void leat_heap_remove(struct leat_heap *h, struct leat_heap_node *n)
{
    n->deadline_us = LEAT_NEVER;
    if (n->index == 0) {
        return;
    }
    struct leat_heap_node *last = h->nodes[h->count];
    size_t index = n->index;
    h->count--;
    n->index = 0;
    if (last != n) {
        place(h, index, last);
        sift_up(h, last);
        sift_down(h, last);
    }
}

struct leat_heap_node *leat_heap_peek(const struct leat_heap *h)
{
    return h->count != 0 ? h->nodes[1] : NULL;
}
