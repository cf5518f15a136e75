/* SPDX-License-Identifier: MIT */
/* A bounded ring of datagrams. What does not fit is lost, as on the network. */
#include <stdlib.h>

#include "internal.h"

bool leat__dtls_queue_push(struct leat__dtls_queue *q, size_t limit, struct leat_span datagram)
{
    if (q->count >= limit || q->count >= LEAT__DTLS_QUEUE_CAP || datagram.len == 0) {
        return false;
    }
    uint8_t *copy = malloc(datagram.len);
    if (!copy) {
        return false;
    }
    memcpy(copy, datagram.data, datagram.len);
    q->items[(q->first + q->count) % LEAT__DTLS_QUEUE_CAP] =
        (struct leat__dtls_datagram){copy, datagram.len};
    q->count++;
    return true;
}

bool leat__dtls_queue_pop(struct leat__dtls_queue *q, struct leat__dtls_datagram *out)
{
    if (q->count == 0) {
        return false;
    }
    *out = q->items[q->first];
    q->first = (q->first + 1) % LEAT__DTLS_QUEUE_CAP;
    q->count--;
    return true;
}

void leat__dtls_queue_truncate(struct leat__dtls_queue *q, size_t count)
{
    while (q->count > count) {
        q->count--;
        free(q->items[(q->first + q->count) % LEAT__DTLS_QUEUE_CAP].data);
    }
}
