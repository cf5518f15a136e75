/* SPDX-License-Identifier: MIT */
#include <leat/list.h>

#include "harness.h"

struct item {
    int value;
    struct leat_list node;
};

static int sum_in_order(const struct leat_list *head)
{
    int digits = 0;
    for (struct leat_list *n = head->next; n != head; n = n->next) {
        digits = digits * 10 + LEAT_CONTAINER(n, struct item, node)->value;
    }
    return digits;
}

static void list__add_and_remove__keeps_order(void)
{
    struct leat_list head;
    struct item items[] = {{.value = 1}, {.value = 2}, {.value = 3}};
    leat_list_init(&head);
    LEAT_CHECK(leat_list_is_empty(&head));
    for (int i = 0; i < 3; i++) {
        leat_list_add_tail(&head, &items[i].node);
    }
    LEAT_CHECK_INT(sum_in_order(&head), 123);
    leat_list_remove(&items[1].node);
    LEAT_CHECK_INT(sum_in_order(&head), 13);
    leat_list_add_tail(&head, &items[1].node);
    LEAT_CHECK_INT(sum_in_order(&head), 132);
    for (int i = 0; i < 3; i++) {
        leat_list_remove(&items[i].node);
    }
    LEAT_CHECK(leat_list_is_empty(&head));
}

static void list__remove_twice__is_fine(void)
{
    struct leat_list head;
    struct item item = {.value = 1};
    leat_list_init(&head);
    leat_list_init(&item.node);
    leat_list_remove(&item.node);
    leat_list_add_tail(&head, &item.node);
    LEAT_CHECK(!leat_list_is_empty(&item.node));
    leat_list_remove(&item.node);
    leat_list_remove(&item.node);
    LEAT_CHECK(leat_list_is_empty(&item.node) && leat_list_is_empty(&head));
}

LEAT_TESTS(LEAT_TEST(list__add_and_remove__keeps_order), LEAT_TEST(list__remove_twice__is_fine))
