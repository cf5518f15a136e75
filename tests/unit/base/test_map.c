/* SPDX-License-Identifier: MIT */
#include <leat/map.h>

#include <stdlib.h>

#include "harness.h"

static const uint8_t no_seed[16];

struct entry {
    uint8_t key[6];
    bool is_in;
    unsigned seen;
};

static struct leat_span key_of(const struct entry *e)
{
    return leat_span(e->key, sizeof(e->key));
}

static struct entry *new_entries(size_t count)
{
    struct entry *entries = calloc(count, sizeof(*entries));
    for (size_t i = 0; entries && i < count; i++) {
        leat_put_u32(entries[i].key + 2, (uint32_t)i);
    }
    return entries;
}

/** Small and repeatable; not the map's business to be fed good randomness in a test. */
static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void hash__known_answers__are_siphash_1_3(void)
{
    /* Zero key: the reference code's vectors for 0 and 1 octets, and hash(bytes(range(n))) of
     * CPython 3.11 with PYTHONHASHSEED=0 for all but the first. The other key is CPython's with
     * PYTHONHASHSEED=42. */
    static const uint8_t key_42[16] = {0xaf, 0x90, 0xcd, 0x68, 0xd3, 0x4f, 0x50, 0xdc,
                                       0xc1, 0xe9, 0x99, 0xfe, 0x9f, 0xbb, 0x20, 0xb9};
    static const struct {
        size_t len;
        const uint8_t *key;
        uint64_t expected;
    } rows[] = {
        {0, no_seed, 0xd1fba762150c532c},  {1, no_seed, 0x68a914128e01e473},
        {7, no_seed, 0x2f098ab0c751325a},  {8, no_seed, 0xead411e67ebe2eea},
        {9, no_seed, 0x75927f9d95124362},  {15, no_seed, 0xf30eb725bb91c9ea},
        {16, no_seed, 0x8972188433a5c5b7}, {63, no_seed, 0x385d3e39e5f37359},
        {1, key_42, 0xce880c366bcf3489},   {8, key_42, 0x60866c3c108c6afb},
        {24, key_42, 0xae431c6fb201ce8b},  {63, key_42, 0x06e24d6f0d014c37},
    };
    uint8_t data[64];
    for (size_t i = 0; i < sizeof(data); i++) {
        data[i] = (uint8_t)i;
    }
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct leat_map m;
        leat_map_init(&m, rows[i].key);
        LEAT_CHECK_ROW(i, leat_map_hash(&m, leat_span(data, rows[i].len)) == rows[i].expected);
    }
}

static void empty__every_call__finds_nothing(void)
{
    struct leat_map m;
    size_t cursor = 0;
    leat_map_init(&m, no_seed);
    LEAT_CHECK(leat_map_get(&m, leat_span_str("a")) == NULL);
    LEAT_CHECK(leat_map_remove(&m, leat_span_str("a")) == NULL);
    LEAT_CHECK(leat_map_next(&m, &cursor) == NULL);
    LEAT_CHECK(m.slots == NULL);
    leat_map_deinit(&m);
}

static void add__same_key_twice__keeps_the_first(void)
{
    struct leat_map m;
    int first, second;
    leat_map_init(&m, no_seed);
    LEAT_CHECK_INT(leat_map_add(&m, leat_span_str("a"), &first), LEAT_OK);
    LEAT_CHECK_INT(leat_map_add(&m, leat_span_str("a"), &second), LEAT_E_EXISTS);
    LEAT_CHECK_INT(leat_map_add(&m, leat_span_str("b"), NULL), LEAT_E_INVALID);
    LEAT_CHECK_INT(m.count, 1);
    LEAT_CHECK(leat_map_get(&m, leat_span_str("a")) == &first);
    LEAT_CHECK(leat_map_get(&m, leat_span_str("b")) == NULL);
    leat_map_deinit(&m);
}

static void keys__prefixes_and_empty__are_different(void)
{
    static const char *const keys[] = {"", "a", "aa", "aaaaaaaa", "aaaaaaaaa"};
    struct leat_map m;
    leat_map_init(&m, no_seed);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(keys); i++) {
        LEAT_CHECK_INT(leat_map_add(&m, leat_span_str(keys[i]), (void *)(uintptr_t)(i + 1)),
                       LEAT_OK);
    }
    for (size_t i = 0; i < LEAT_ARRAY_LEN(keys); i++) {
        LEAT_CHECK_ROW(i, leat_map_get(&m, leat_span_str(keys[i])) == (void *)(uintptr_t)(i + 1));
    }
    leat_map_deinit(&m);
}

static void growth__many_keys__all_found_and_walked_once(void)
{
    enum { COUNT = 5000 };
    struct leat_map m;
    struct entry *entries = new_entries(COUNT);
    leat_map_init(&m, no_seed);
    for (size_t i = 0; i < COUNT; i++) {
        LEAT_CHECK_ROW(i, leat_map_add(&m, key_of(&entries[i]), &entries[i]) == LEAT_OK);
    }
    LEAT_CHECK_INT(m.count, COUNT);
    LEAT_CHECK(m.count <= m.capacity / 4 * 3);
    for (size_t i = 0; i < COUNT; i++) {
        LEAT_CHECK_ROW(i, leat_map_get(&m, key_of(&entries[i])) == &entries[i]);
    }
    size_t cursor = 0;
    for (struct entry *e; (e = leat_map_next(&m, &cursor)) != NULL;) {
        e->seen++;
    }
    for (size_t i = 0; i < COUNT; i++) {
        LEAT_CHECK_ROW(i, entries[i].seen == 1);
    }
    for (size_t i = 0; i < COUNT; i++) {
        LEAT_CHECK_ROW(i, leat_map_remove(&m, key_of(&entries[i])) == &entries[i]);
        LEAT_CHECK_ROW(i, leat_map_remove(&m, key_of(&entries[i])) == NULL);
    }
    LEAT_CHECK_INT(m.count, 0);
    leat_map_deinit(&m);
    free(entries);
}

/** Few slots, many collisions: each removal is followed by a look at every key there is. */
static void removal__random_churn__agrees_with_a_model(void)
{
    enum { KEYS = 24, STEPS = 20000 };
    struct leat_map m;
    struct entry *entries = new_entries(KEYS);
    uint32_t random = 1;
    size_t in = 0;
    leat_map_init(&m, no_seed);
    for (size_t step = 0; step < STEPS; step++) {
        struct entry *e = &entries[next_random(&random) % KEYS];
        if (e->is_in) {
            LEAT_CHECK_ROW(step, leat_map_remove(&m, key_of(e)) == e);
            in--;
        } else if (in < 12) { /* the most that 16 slots take before the map grows */
            LEAT_CHECK_ROW(step, leat_map_add(&m, key_of(e), e) == LEAT_OK);
            in++;
        } else {
            continue;
        }
        e->is_in = !e->is_in;
        for (size_t i = 0; i < KEYS; i++) {
            struct entry *expected = entries[i].is_in ? &entries[i] : NULL;
            LEAT_CHECK_ROW(step, leat_map_get(&m, key_of(&entries[i])) == expected);
        }
    }
    LEAT_CHECK_INT(m.count, in);
    LEAT_CHECK_INT(m.capacity, 16); /* churn leaves no marks that would make it grow */
    leat_map_deinit(&m);
    free(entries);
}

LEAT_TESTS(LEAT_TEST(hash__known_answers__are_siphash_1_3),
           LEAT_TEST(empty__every_call__finds_nothing),
           LEAT_TEST(add__same_key_twice__keeps_the_first),
           LEAT_TEST(keys__prefixes_and_empty__are_different),
           LEAT_TEST(growth__many_keys__all_found_and_walked_once),
           LEAT_TEST(removal__random_churn__agrees_with_a_model))
