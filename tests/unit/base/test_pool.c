/* SPDX-License-Identifier: MIT */
#include <leat/pool.h>

#include "harness.h"

static void pool__exhausted__is_counted_and_recovers(void)
{
    struct leat_pool p;
    struct leat_packet *packets[3];
    LEAT_CHECK_INT(leat_pool_init(&p, 3), LEAT_OK);
    for (size_t i = 0; i < 3; i++) {
        packets[i] = leat_pool_get(&p);
        LEAT_CHECK_ROW(i, packets[i] != NULL && packets[i]->refs == 1 && packets[i]->len == 0);
        LEAT_CHECK_ROW(i, (uintptr_t)packets[i]->data % 16 == 0);
        memset(packets[i]->data, (int)i, LEAT_PACKET_MAX);
        packets[i]->len = LEAT_PACKET_MAX;
    }
    LEAT_CHECK(packets[0] != packets[1] && packets[1] != packets[2] && packets[0] != packets[2]);
    LEAT_CHECK(leat_pool_get(&p) == NULL);
    LEAT_CHECK(leat_pool_get(&p) == NULL);
    LEAT_CHECK_INT(p.exhausted, 2);
    LEAT_CHECK_INT(p.in_use, 3);
    LEAT_CHECK_INT(packets[0]->data[LEAT_PACKET_MAX - 1], 0); /* they do not overlap */
    LEAT_CHECK_INT(packets[1]->data[0], 1);
    leat_packet_unref(packets[1]);
    struct leat_packet *again = leat_pool_get(&p);
    LEAT_CHECK(again == packets[1] && again->len == 0 && again->refs == 1);
    LEAT_CHECK_INT(p.exhausted, 2);
    leat_pool_deinit(&p);
}

static void packet__references__last_one_frees(void)
{
    struct leat_pool p;
    LEAT_CHECK_INT(leat_pool_init(&p, 1), LEAT_OK);
    struct leat_packet *pkt = leat_pool_get(&p);
    LEAT_CHECK(leat_packet_ref(pkt) == pkt);
    leat_packet_unref(pkt);
    LEAT_CHECK_INT(p.in_use, 1);
    LEAT_CHECK(leat_pool_get(&p) == NULL);
    leat_packet_unref(pkt);
    LEAT_CHECK_INT(p.in_use, 0);
    LEAT_CHECK_INT(p.in_use_max, 1);
    LEAT_CHECK(leat_pool_get(&p) == pkt);
    leat_packet_unref(NULL);
    leat_pool_deinit(&p);
}

static void init__impossible_counts__are_refused(void)
{
    struct leat_pool p;
    LEAT_CHECK_INT(leat_pool_init(&p, 0), LEAT_E_INVALID);
    LEAT_CHECK(leat_pool_get(&p) == NULL);
    leat_pool_deinit(&p);
}

LEAT_TESTS(LEAT_TEST(pool__exhausted__is_counted_and_recovers),
           LEAT_TEST(packet__references__last_one_frees),
           LEAT_TEST(init__impossible_counts__are_refused))
