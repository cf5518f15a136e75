/* SPDX-License-Identifier: MIT */
/*
 * A packet's index is the nearest to the highest one used that its sequence number can mean, less
 * than 2^15 away: what every receiver computes too (RFC 3711 3.3.1), so both sides agree on the
 * roll-over counter.
 *
 * Each SSRC keeps the highest index that it has used and which of the 1024 up to it were. One that
 * is used, or too old to know, is refused, so that a packet which a publisher's network delivered
 * late still goes out and no index does twice.
 */
#include "outgoing.h"

#include <stdlib.h>

#include <leat/seq.h>

#define FIRST_CAPACITY 4
#define INDEX_END (1ull << 48)     /* RFC 3711 9.2: no more packets under one key */
#define RTCP_INDEX_LAST 0x7fffffff /* 31 bits (3.4) */

static size_t home_of(const struct leat__srtp_outgoing_table *t, uint32_t ssrc)
{
    return (size_t)(((uint64_t)ssrc * 0x9e3779b97f4a7c15u) >> 32) & (t->capacity - 1);
}

/* The slot of the SSRC, or the empty one where it would go; the table is never full. */
static struct leat__srtp_outgoing *slot_of(const struct leat__srtp_outgoing_table *t, uint32_t ssrc)
{
    size_t at = home_of(t, ssrc);
    while (t->slots[at].is_taken && t->slots[at].ssrc != ssrc) {
        at = (at + 1) & (t->capacity - 1);
    }
    return &t->slots[at];
}

static int grow(struct leat__srtp_outgoing_table *t)
{
    struct leat__srtp_outgoing_table larger = {
        .capacity = t->capacity != 0 ? t->capacity * 2 : FIRST_CAPACITY, .count = t->count};
    larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
    if (larger.slots == NULL) {
        return LEAT_E_NOMEM;
    }
    for (size_t i = 0; i < t->capacity; i++) {
        if (t->slots[i].is_taken) {
            *slot_of(&larger, t->slots[i].ssrc) = t->slots[i];
        }
    }
    free(t->slots);
    *t = larger;
    return 0;
}

struct leat__srtp_outgoing *leat__srtp_outgoing_get(struct leat__srtp_outgoing_table *t,
                                                    uint32_t ssrc)
{
    if (t->capacity != 0) {
        struct leat__srtp_outgoing *o = slot_of(t, ssrc);
        if (o->is_taken) {
            return o;
        }
    }
    if (2 * (t->count + 1) > t->capacity && grow(t) != 0) {
        return NULL;
    }
    struct leat__srtp_outgoing *o = slot_of(t, ssrc);
    o->ssrc = ssrc;
    o->is_taken = true;
    t->count++;
    return o;
}

void leat__srtp_outgoing_fetch(const struct leat__srtp_outgoing_table *t, uint32_t ssrc)
{
    if (t->capacity != 0) {
        __builtin_prefetch(&t->slots[home_of(t, ssrc)], 1);
    }
}

void leat__srtp_outgoing_deinit(struct leat__srtp_outgoing_table *t)
{
    free(t->slots);
    *t = (struct leat__srtp_outgoing_table){0};
}

static bool is_used(const struct leat__srtp_outgoing *o, uint64_t index)
{
    size_t bit = (size_t)(index % LEAT_SRTP_REPLAY_WINDOW);
    return (o->used[bit / 64] >> (bit % 64) & 1) != 0;
}

static void set_used(struct leat__srtp_outgoing *o, uint64_t index, bool value)
{
    size_t bit = (size_t)(index % LEAT_SRTP_REPLAY_WINDOW);
    uint64_t mask = 1ull << (bit % 64);
    o->used[bit / 64] = value ? o->used[bit / 64] | mask : o->used[bit / 64] & ~mask;
}

/* A higher index: the window moves up to it, what it skips is not used yet. */
static void advance(struct leat__srtp_outgoing *o, uint64_t index)
{
    uint64_t step = index - o->index;
    if (!o->has_rtp || step >= LEAT_SRTP_REPLAY_WINDOW) {
        memset(o->used, 0, sizeof(o->used));
    } else {
        for (uint64_t i = o->index + 1; i < index; i++) {
            set_used(o, i, false);
        }
    }
    o->index = index;
    o->has_rtp = true;
    set_used(o, index, true);
}

bool leat__srtp_outgoing_take(struct leat__srtp_outgoing *o, uint16_t seq, uint64_t *index)
{
    int ahead = o->has_rtp ? leat_seq16_diff(seq, (uint16_t)o->index) : 0;
    if (!o->has_rtp || ahead > 0) {
        *index = o->has_rtp ? o->index + (uint64_t)ahead : seq;
        if (*index >= INDEX_END) {
            return false;
        }
        advance(o, *index);
        return true;
    }
    uint64_t behind = (uint64_t)-ahead;
    if (behind >= LEAT_SRTP_REPLAY_WINDOW || behind > o->index || is_used(o, o->index - behind)) {
        return false;
    }
    *index = o->index - behind;
    set_used(o, *index, true);
    return true;
}

bool leat__srtp_outgoing_take_rtcp(struct leat__srtp_outgoing *o, uint32_t *index)
{
    if (o->rtcp_index == RTCP_INDEX_LAST) {
        return false;
    }
    *index = ++o->rtcp_index;
    return true;
}
