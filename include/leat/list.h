/* SPDX-License-Identifier: MIT */
/**
 * @file  Intrusive doubly linked list. A node is in at most one list; an unlinked node points at
 * itself.
 * @module base
 */
#ifndef LEAT_LIST_H
#define LEAT_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct leat_list {
    struct leat_list *next, *prev;
};

/** The structure that holds `member` at `node`. */
#define LEAT_CONTAINER(node, type, member) ((type *)(void *)((char *)(node)-offsetof(type, member)))

static inline void leat_list_init(struct leat_list *l)
{
    l->next = l->prev = l;
}

/** Of a head: no node; of a node: not linked. */
static inline bool leat_list_is_empty(const struct leat_list *l)
{
    return l->next == l;
}

static inline void leat_list_add_tail(struct leat_list *head, struct leat_list *node)
{
    node->prev = head->prev;
    node->next = head;
    head->prev->next = node;
    head->prev = node;
}

/** Fine on an unlinked node. */
static inline void leat_list_remove(struct leat_list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    leat_list_init(node);
}

#endif
