/* SPDX-License-Identifier: MIT */
/**
 * @file  Hash map from octet strings to pointers, keyed (SipHash-1-3) so that a remote cannot
 * choose collisions.
 * @module base
 *
 * Keys are borrowed: each must stay unchanged where it is while it is in the map (it usually lives
 * inside the value). Open addressing; a look-up allocates nothing; insertion may.
 */
#ifndef LEAT_MAP_H
#define LEAT_MAP_H

#include <leat/bytes.h>
#include <leat/error.h>

struct leat_map_slot;

struct leat_map {
    struct leat_map_slot *slots;
    size_t capacity; /**< power of two, or 0 */
    size_t count;
    uint64_t key[2];
};

/** @param seed 16 secret random octets. Allocates nothing. */
void leat_map_init(struct leat_map *m, const uint8_t seed[static 16]);
/** Frees the slots, not keys or values. */
void leat_map_deinit(struct leat_map *m);
/** @param value not NULL (LEAT_E_INVALID). @return 0, LEAT_E_EXISTS (nothing changed) or
 * LEAT_E_NOMEM. */
int leat_map_add(struct leat_map *m, struct leat_span key, void *value);
/** @return the value, or NULL. */
void *leat_map_get(const struct leat_map *m, struct leat_span key);
/** @return the value that was removed, or NULL. */
void *leat_map_remove(struct leat_map *m, struct leat_span key);
/** Walk: start with *cursor = 0; NULL at the end. The map must not change during a walk. */
void *leat_map_next(const struct leat_map *m, size_t *cursor);

/** SipHash-1-3 of the key under the map's secret. */
uint64_t leat_map_hash(const struct leat_map *m, struct leat_span key);

#endif
