/* SPDX-License-Identifier: MIT */
/*
 * Linear probing over a power of two of slots, at most three quarters full. A slot keeps its key's
 * hash: it is the first thing compared, and growing does not touch the keys. Removal shifts the run
 * behind the hole back instead of leaving a mark, so that look-ups do not slow down as peers come
 * and go.
 *
 * SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF"; one compression and three
 * finalisation rounds) with a secret key: who does not know the key cannot choose keys that
 * collide.
 */
#include <leat/map.h>

#include <stdlib.h>

#define MIN_CAPACITY 16

struct leat_map_slot {
    uint64_t hash;
    struct leat_span key;
    void *value; /**< NULL: the slot is empty */
};

static uint64_t load_le64(const uint8_t *p, size_t len)
{
    uint64_t v = 0;
    for (size_t i = 0; i < len; i++) {
        v |= (uint64_t)p[i] << (8 * i);
    }
    return v;
}

static inline uint64_t rotate_left(uint64_t v, unsigned bits)
{
    return v << bits | v >> (64 - bits);
}

static inline void sip_round(uint64_t v[static 4])
{
    v[0] += v[1];
    v[1] = rotate_left(v[1], 13) ^ v[0];
    v[0] = rotate_left(v[0], 32);
    v[2] += v[3];
    v[3] = rotate_left(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate_left(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate_left(v[1], 17) ^ v[2];
    v[2] = rotate_left(v[2], 32);
}

uint64_t leat_map_hash(const struct leat_map *m, struct leat_span key)
{
    uint64_t v[4] = {m->key[0] ^ 0x736f6d6570736575u, m->key[1] ^ 0x646f72616e646f6du,
                     m->key[0] ^ 0x6c7967656e657261u, m->key[1] ^ 0x7465646279746573u};
    size_t whole = key.len & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8) {
        uint64_t word = load_le64(key.data + i, 8);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    uint64_t last = (uint64_t)key.len << 56;
    if (whole != key.len) {
        last |= load_le64(key.data + whole, key.len - whole);
    }
    v[3] ^= last;
    sip_round(v);
    v[0] ^= last;
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++) {
        sip_round(v);
    }
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void leat_map_init(struct leat_map *m, const uint8_t seed[static 16])
{
    *m = (struct leat_map){.key = {load_le64(seed, 8), load_le64(seed + 8, 8)}};
}

void leat_map_deinit(struct leat_map *m)
{
    free(m->slots);
    *m = (struct leat_map){0};
}

/** The slot that holds the key, or the empty one where its run ends. The map has an empty slot. */
static struct leat_map_slot *find_slot(const struct leat_map *m, uint64_t hash,
                                       struct leat_span key)
{
    size_t i = (size_t)hash & (m->capacity - 1);
    while (m->slots[i].value != NULL &&
           (m->slots[i].hash != hash || !leat_span_equal(m->slots[i].key, key))) {
        i = (i + 1) & (m->capacity - 1);
    }
    return &m->slots[i];
}

static int grow(struct leat_map *m)
{
    size_t capacity = m->capacity != 0 ? m->capacity * 2 : MIN_CAPACITY;
    if (capacity < m->capacity) {
        return LEAT_E_NOMEM;
    }
    struct leat_map_slot *slots = calloc(capacity, sizeof(*slots));
    if (slots == NULL) {
        return LEAT_E_NOMEM;
    }
    for (size_t i = 0; i < m->capacity; i++) {
        if (m->slots[i].value != NULL) {
            size_t to = (size_t)m->slots[i].hash & (capacity - 1);
            while (slots[to].value != NULL) {
                to = (to + 1) & (capacity - 1);
            }
            slots[to] = m->slots[i];
        }
    }
    free(m->slots);
    m->slots = slots;
    m->capacity = capacity;
    return LEAT_OK;
}

int leat_map_add(struct leat_map *m, struct leat_span key, void *value)
{
    if (value == NULL) {
        return LEAT_E_INVALID;
    }
    uint64_t hash = leat_map_hash(m, key);
    if (m->capacity != 0 && find_slot(m, hash, key)->value != NULL) {
        return LEAT_E_EXISTS;
    }
    if (m->count >= m->capacity / 4 * 3) {
        int error = grow(m);
        if (error != LEAT_OK) {
            return error;
        }
    }
    *find_slot(m, hash, key) = (struct leat_map_slot){hash, key, value};
    m->count++;
    return LEAT_OK;
}

void *leat_map_get(const struct leat_map *m, struct leat_span key)
{
    if (m->count == 0) {
        return NULL;
    }
    return find_slot(m, leat_map_hash(m, key), key)->value;
}

void *leat_map_remove(struct leat_map *m, struct leat_span key)
{
    if (m->count == 0) {
        return NULL;
    }
    struct leat_map_slot *slot = find_slot(m, leat_map_hash(m, key), key);
    void *value = slot->value;
    if (value == NULL) {
        return NULL;
    }
    size_t mask = m->capacity - 1;
    size_t hole = (size_t)(slot - m->slots);
    for (size_t i = (hole + 1) & mask; m->slots[i].value != NULL; i = (i + 1) & mask) {
        /* An entry may move into the hole unless that is in front of the place its hash asks for.
         */
        size_t home = (size_t)m->slots[i].hash & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            m->slots[hole] = m->slots[i];
            hole = i;
        }
    }
    m->slots[hole] = (struct leat_map_slot){0};
    m->count--;
    return value;
}

void *leat_map_next(const struct leat_map *m, size_t *cursor)
{
    while (*cursor < m->capacity) {
        void *value = m->slots[(*cursor)++].value;
        if (value != NULL) {
            return value;
        }
    }
    return NULL;
}
