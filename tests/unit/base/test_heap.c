/* SPDX-License-Identifier: MIT */
#include <leat/heap.h>

#include "harness.h"

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static bool is_ordered(const struct leat_heap *h)
{
    for (size_t i = 1; i <= h->count; i++) {
        if (h->nodes[i]->index != i ||
            (i > 1 && h->nodes[i / 2]->deadline_us > h->nodes[i]->deadline_us)) {
            return false;
        }
    }
    return true;
}

static void heap__set_in_any_order__comes_out_sorted(void)
{
    static const uint64_t deadlines[] = {50, 20, 90, 20, 10, LEAT_NEVER - 1, 0, 70};
    static const uint64_t sorted[] = {0, 10, 20, 20, 50, 70, 90, LEAT_NEVER - 1};
    struct leat_heap_node nodes[LEAT_ARRAY_LEN(deadlines)] = {0};
    struct leat_heap h;
    leat_heap_init(&h);
    LEAT_CHECK(leat_heap_peek(&h) == NULL);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(nodes); i++) {
        LEAT_CHECK_INT(leat_heap_set(&h, &nodes[i], deadlines[i]), LEAT_OK);
    }
    for (size_t i = 0; i < LEAT_ARRAY_LEN(sorted); i++) {
        struct leat_heap_node *first = leat_heap_peek(&h);
        LEAT_CHECK_ROW(i, first != NULL && first->deadline_us == sorted[i]);
        if (first != NULL) {
            leat_heap_remove(&h, first);
        }
    }
    LEAT_CHECK(leat_heap_peek(&h) == NULL);
    leat_heap_deinit(&h);
}

static void heap__never__removes_and_does_not_insert(void)
{
    struct leat_heap h;
    struct leat_heap_node a = {0}, b = {0};
    leat_heap_init(&h);
    LEAT_CHECK_INT(leat_heap_set(&h, &a, LEAT_NEVER), LEAT_OK);
    LEAT_CHECK_INT(h.count, 0);
    LEAT_CHECK_INT(leat_heap_set(&h, &a, 1), LEAT_OK);
    LEAT_CHECK_INT(leat_heap_set(&h, &b, 2), LEAT_OK);
    LEAT_CHECK_INT(leat_heap_set(&h, &a, LEAT_NEVER), LEAT_OK);
    LEAT_CHECK(leat_heap_peek(&h) == &b);
    LEAT_CHECK_INT(a.index, 0);
    LEAT_CHECK(a.deadline_us == LEAT_NEVER);
    leat_heap_remove(&h, &a); /* again: nothing to do */
    LEAT_CHECK_INT(h.count, 1);
    leat_heap_deinit(&h);
}

static void heap__reserve__sets_up_to_it_do_not_allocate(void)
{
    struct leat_heap h;
    static struct leat_heap_node nodes[300];
    leat_heap_init(&h);
    LEAT_CHECK_INT(leat_heap_reserve(&h, LEAT_ARRAY_LEN(nodes)), LEAT_OK);
    LEAT_CHECK_INT(leat_heap_reserve(&h, 1), LEAT_OK);
    LEAT_CHECK_INT(leat_heap_reserve(&h, SIZE_MAX), LEAT_E_NOMEM);
    struct leat_heap_node **before = h.nodes;
    for (size_t i = 0; i < LEAT_ARRAY_LEN(nodes); i++) {
        LEAT_CHECK_ROW(i, leat_heap_set(&h, &nodes[i], 300 - i) == LEAT_OK);
    }
    LEAT_CHECK(h.nodes == before);
    LEAT_CHECK(leat_heap_peek(&h) == &nodes[299]);
    leat_heap_deinit(&h);
}

static void heap__random_operations__agree_with_a_model(void)
{
    enum { NODES = 150, STEPS = 30000 };
    static struct leat_heap_node nodes[NODES];
    static uint64_t model[NODES]; /* LEAT_NEVER: not in the heap */
    struct leat_heap h;
    uint32_t random = 7;
    leat_heap_init(&h);
    for (size_t i = 0; i < NODES; i++) {
        model[i] = LEAT_NEVER;
    }
    for (size_t step = 0; step < STEPS; step++) {
        size_t i = next_random(&random) % NODES;
        if (next_random(&random) % 3 == 0) {
            leat_heap_remove(&h, &nodes[i]);
            model[i] = LEAT_NEVER;
        } else {
            model[i] = next_random(&random) % 1000;
            LEAT_CHECK_ROW(step, leat_heap_set(&h, &nodes[i], model[i]) == LEAT_OK);
        }
        uint64_t least = LEAT_NEVER;
        size_t in = 0;
        for (size_t j = 0; j < NODES; j++) {
            least = model[j] < least ? model[j] : least;
            in += model[j] != LEAT_NEVER;
        }
        struct leat_heap_node *first = leat_heap_peek(&h);
        LEAT_CHECK_ROW(step, h.count == in);
        LEAT_CHECK_ROW(step, (first ? first->deadline_us : LEAT_NEVER) == least);
        LEAT_CHECK_ROW(step, step % 64 != 0 || is_ordered(&h));
    }
    leat_heap_deinit(&h);
}

LEAT_TESTS(LEAT_TEST(heap__set_in_any_order__comes_out_sorted),
           LEAT_TEST(heap__never__removes_and_does_not_insert),
           LEAT_TEST(heap__reserve__sets_up_to_it_do_not_allocate),
           LEAT_TEST(heap__random_operations__agree_with_a_model))
