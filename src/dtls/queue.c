/* SPDX-License-Identifier: MIT */
/* A bounded queue of datagrams. What does not fit is lost, as on the network. */
#include <stdlib.h>

#include "internal.h"

struct leat__dtls_item {
    struct leat__dtls_item *next;
    struct leat__dtls_datagram datagram;
};

bool leat__dtls_queue_push(struct leat__dtls_queue *q, size_t limit, struct leat_span datagram)
{
    if (q->count >= limit || datagram.len == 0) {
        return false;
    }
    struct leat__dtls_item *item = malloc(sizeof(*item));
    uint8_t *copy = malloc(datagram.len);
    if (!item || !copy) {
        free(item);
        free(copy);
        return false;
    }
    memcpy(copy, datagram.data, datagram.len);
    *item = (struct leat__dtls_item){NULL, {copy, datagram.len}};
    if (q->last) {
        q->last->next = item;
    } else {
        q->first = item;
    }
    q->last = item;
    q->count++;
    return true;
}

bool leat__dtls_queue_pop(struct leat__dtls_queue *q, struct leat__dtls_datagram *out)
{
    struct leat__dtls_item *item = q->first;
    if (!item) {
        return false;
    }
    *out = item->datagram;
    q->first = item->next;
    q->last = q->first ? q->last : NULL;
    q->count--;
    free(item);
    return true;
}

void leat__dtls_queue_truncate(struct leat__dtls_queue *q, size_t count)
{
    struct leat__dtls_queue kept = {0};
    struct leat__dtls_item *item = q->first;
    for (size_t i = 0; i < count && item; i++, item = item->next) {
        kept.first = q->first;
        kept.last = item;
        kept.count++;
    }
    while (item) {
        struct leat__dtls_item *next = item->next;
        free(item->datagram.data);
        free(item);
        item = next;
    }
    if (kept.last) {
        kept.last->next = NULL;
    }
    *q = kept;
}
