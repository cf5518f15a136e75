/* SPDX-License-Identifier: MIT */
/* Memory for sinks of tests: as many open rooms as struct leat_sink promises. */
#ifndef LEAT_TEST_ROOMS_H
#define LEAT_TEST_ROOMS_H

#include <leat/sink.h>

#define ROOM_MAX 2048

struct rooms {
    uint8_t octets[LEAT_SINK_OPEN + 1][ROOM_MAX];
    size_t next;
    uint8_t *last;
};

/* NULL: longer than a room. */
static inline uint8_t *rooms_reserve(struct rooms *r, size_t len)
{
    if (len > ROOM_MAX) {
        return NULL;
    }
    r->last = r->octets[r->next];
    r->next = (r->next + 1) % LEAT_ARRAY_LEN(r->octets);
    return r->last;
}

#endif
