/* SPDX-License-Identifier: MIT */
/*
 * Random numbers by fast key erasure (D. J. Bernstein, "Fast-key-erasure random-number generators",
 * 2017).
 *
 *   AES-256-CTR(key, counter 0) = next key (32 octets) | block (LEAT_RNG_BLOCK octets)
 *
 * A refill replaces the key before anything of the block is used, and what is read is wiped at
 * once, so memory seen later tells nothing about what was given out earlier. A generator seeded
 * from the system takes a new seed after 2^16 refills (32 MiB) or at its first refill after
 * SEED_SECONDS, and before its next octet after a fork: a child handler counts forks, and each fill
 * compares. clone(2) and _Fork(3) run no such handlers; do not use a generator after them without a
 * new init.
 *
 * The cipher is the fastest provider's, and the reference provider's where that one fails: its
 * contexts need no heap, so a refill always succeeds. A seeded generator gives the same octets
 * whatever providers were chosen.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "provider.h"

#define REFILLS_PER_SEED (UINT64_C(1) << 16)
#define SEED_SECONDS 300
#define SEED_ATTEMPTS 16 /* a signal may interrupt the wait for the kernel's first seed */

static atomic_uint_fast64_t fork_count;
static pthread_once_t watch_forks_once = PTHREAD_ONCE_INIT;
static bool is_watching_forks;
static _Thread_local struct leat_rng thread_generator;

static void count_fork(void)
{
    atomic_fetch_add_explicit(&fork_count, 1, memory_order_relaxed);
}

static void watch_forks(void)
{
    is_watching_forks = pthread_atfork(NULL, NULL, count_fork) == 0;
}

/* Seconds that go on in suspend too. */
static uint64_t now_s(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec;
}

/* A new key from the kernel; what is left of the block goes. On failure the generator is as it was.
 */
static int seed_from_system(struct leat_rng *r)
{
    uint8_t seed[sizeof(r->key)];
    uint64_t epoch = atomic_load_explicit(&fork_count, memory_order_relaxed);
    bool is_filled = false;

    for (int i = 0; i < SEED_ATTEMPTS && !is_filled; i++) {
        is_filled = getrandom(seed, sizeof(seed), 0) == (ssize_t)sizeof(seed);
    }
    if (!is_filled) {
        return LEAT_E_IO;
    }
    leat_rng_init_seeded(r, seed);
    r->is_seeded = 1;
    r->fork_epoch = epoch;
    r->seeded_s = now_s();
    leat_wipe(seed, sizeof(seed));
    return 0;
}

int leat_rng_init(struct leat_rng *r)
{
    memset(r, 0, sizeof(*r));
    pthread_once(&watch_forks_once, watch_forks);
    return is_watching_forks ? seed_from_system(r) : LEAT_E_IO;
}

void leat_rng_init_seeded(struct leat_rng *r, const uint8_t seed[static 32])
{
    leat_wipe(r, sizeof(*r));
    memcpy(r->key, seed, sizeof(r->key));
    r->at = LEAT_RNG_BLOCK;
}

void leat_rng_deinit(struct leat_rng *r)
{
    leat_wipe(r, sizeof(*r));
}

struct leat_rng *leat_rng_thread(void)
{
    if (!thread_generator.is_seeded && leat_rng_init(&thread_generator) != 0) {
        abort(); /* there is no weak fallback */
    }
    return &thread_generator;
}

static void refill(struct leat_rng *r)
{
    const struct leat_crypto_provider *p = leat__crypto_provider(LEAT_CRYPTO_KEY_STREAM);
    uint8_t stream[sizeof(r->key) + LEAT_RNG_BLOCK];

    if (p->key_stream(p, r->key, stream, sizeof(stream)) != 0 &&
        leat__crypto_mbedtls.key_stream(&leat__crypto_mbedtls, r->key, stream, sizeof(stream)) !=
            0) {
        abort(); /* software AES over memory of ours: only a broken build can fail */
    }
    memcpy(r->key, stream, sizeof(r->key));
    memcpy(r->block, stream + sizeof(r->key), LEAT_RNG_BLOCK);
    leat_wipe(stream, sizeof(stream));
    r->at = 0;
    r->refills++;
}

/* Of a generator that was seeded from the system: was the process forked since? */
static bool is_foreign(const struct leat_rng *r)
{
    return r->is_seeded && r->fork_epoch != atomic_load_explicit(&fork_count, memory_order_relaxed);
}

static void reseed_or_abort(struct leat_rng *r)
{
    if (seed_from_system(r) != 0) {
        abort(); /* the other process may hold the same key */
    }
}

/* At a refill. When the kernel gives none, the present key is sound; ask again after as many more.
 */
static void reseed_when_due(struct leat_rng *r)
{
    bool is_due = r->refills >= REFILLS_PER_SEED || now_s() - r->seeded_s >= SEED_SECONDS;
    if (r->is_seeded && is_due && seed_from_system(r) != 0) {
        r->refills = 0;
        r->seeded_s = now_s();
    }
}

/* Copy and wipe; for a length that the compiler knows this is a few instructions. */
static inline void take(struct leat_rng *r, uint8_t *to, size_t n)
{
    uint8_t *from = r->block + r->at;
    memcpy(to, from, n);
    memset(from, 0, n);
    __asm__ volatile("" : : "r"(from) : "memory"); /* the wipe stays */
    r->at += (uint32_t)n;
}

static void fill_slowly(struct leat_rng *r, uint8_t *to, size_t len)
{
    if (is_foreign(r)) {
        reseed_or_abort(r);
    }
    while (len > 0) {
        if (r->at == LEAT_RNG_BLOCK) {
            reseed_when_due(r);
            refill(r);
        }
        size_t n = LEAT_RNG_BLOCK - r->at;
        n = n < len ? n : len;
        take(r, to, n);
        to += n;
        len -= n;
    }
}

void leat_rng_fill(struct leat_rng *r, void *out, size_t len)
{
    if (len > LEAT_RNG_BLOCK - r->at || is_foreign(r)) {
        fill_slowly(r, out, len);
    } else if (len == 8) {
        take(r, out, 8);
    } else if (len == 16) {
        take(r, out, 16);
    } else if (len == 32) {
        take(r, out, 32);
    } else {
        take(r, out, len);
    }
}

uint32_t leat_rng_u32(struct leat_rng *r)
{
    uint8_t octets[4];
    leat_rng_fill(r, octets, sizeof(octets));
    return leat_get_u32(octets);
}

uint64_t leat_rng_u64(struct leat_rng *r)
{
    uint8_t octets[8];
    leat_rng_fill(r, octets, sizeof(octets));
    return leat_get_u64(octets);
}

uint32_t leat_rng_below(struct leat_rng *r, uint32_t bound)
{
    assert(bound > 0);
    /* 2^32 mod bound draws at the low end would make some results likelier; they are drawn again.
     */
    uint32_t surplus = (uint32_t)(0 - bound) % bound;
    uint32_t draw;
    do {
        draw = leat_rng_u32(r);
    } while (draw < surplus);
    return draw % bound;
}

void leat_rng_ice_chars(struct leat_rng *r, char *out, size_t len)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    leat_rng_fill(r, out, len);
    for (size_t i = 0; i < len; i++) {
        out[i] = alphabet[(uint8_t)out[i] & 63];
    }
}

int leat_rng_callback(void *state, unsigned char *out, size_t len)
{
    leat_rng_fill(state, out, len);
    return 0;
}
