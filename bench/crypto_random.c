/* SPDX-License-Identifier: MIT */
/* Rows of random generators: ours, the kernel's, and those of the libraries. */
#include <string.h>
#include <sys/random.h>

#include <mbedtls/ctr_drbg.h>
#include <mbedtls/entropy.h>
#ifdef BENCH_OPENSSL
#include <openssl/rand.h>
#endif

#include <leat/crypto.h>

#include "crypto_rows.h"

static const char automatic[] = CRYPTO_AUTO;

static struct {
    mbedtls_entropy_context entropy;
    mbedtls_ctr_drbg_context drbg;
    bool is_seeded;
} library;

static bool seed_library(void *context, const char **why)
{
    (void)context;
    if (!library.is_seeded) {
        mbedtls_entropy_init(&library.entropy);
        mbedtls_ctr_drbg_init(&library.drbg);
        *why = "mbedTLS gets no seed";
        library.is_seeded = mbedtls_ctr_drbg_seed(&library.drbg, mbedtls_entropy_func,
                                                  &library.entropy, NULL, 0) == 0;
    }
    return library.is_seeded;
}

static bool choose(void *context, const char **why)
{
    (void)context;
    *why = "no provider serves the generator";
    return crypto_choose(automatic, NULL);
}

static uint64_t run_ours(void *context, uint64_t times, uint64_t *done)
{
    const struct crypto_case *c = context;
    uint8_t out[32];
    uint64_t from;

    bench_must(crypto_choose(automatic, NULL), "the choice of a provider");
    leat_rng_fill(leat_rng_thread(), out, c->octets);
    from = bench_now();
    for (uint64_t i = 0; i < times; i++) {
        leat_rng_fill(leat_rng_thread(), out, c->octets);
        bench_keep(out);
    }
    *done = times;
    return bench_now() - from;
}

static uint64_t run_u64(void *context, uint64_t times, uint64_t *done)
{
    uint64_t from;

    (void)context;
    bench_must(crypto_choose(automatic, NULL), "the choice of a provider");
    leat_rng_u64(leat_rng_thread());
    from = bench_now();
    for (uint64_t i = 0; i < times; i++) {
        uint64_t out = leat_rng_u64(leat_rng_thread());

        bench_keep(&out);
    }
    *done = times;
    return bench_now() - from;
}

static uint64_t run_getrandom(void *context, uint64_t times, uint64_t *done)
{
    const struct crypto_case *c = context;
    uint8_t out[32];

    for (*done = 0; *done < times; (*done)++) {
        bench_must(getrandom(out, c->octets, 0) == (ssize_t)c->octets, "getrandom");
        bench_keep(out);
    }
    return 0;
}

static uint64_t run_mbedtls(void *context, uint64_t times, uint64_t *done)
{
    const struct crypto_case *c = context;
    uint8_t out[32];

    for (*done = 0; *done < times; (*done)++) {
        bench_must(mbedtls_ctr_drbg_random(&library.drbg, out, c->octets) == 0,
                   "mbedtls_ctr_drbg_random");
        bench_keep(out);
    }
    return 0;
}

#ifdef BENCH_OPENSSL
static uint64_t run_openssl(void *context, uint64_t times, uint64_t *done)
{
    const struct crypto_case *c = context;
    uint8_t out[32];

    for (*done = 0; *done < times; (*done)++) {
        bench_must(RAND_bytes(out, (int)c->octets) == 1, "RAND_bytes");
        bench_keep(out);
    }
    return 0;
}
#endif

static void add(struct bench *b, const struct crypto_case *c, const char *provider,
                bool (*set_up)(void *context, const char **why),
                uint64_t (*run)(void *context, uint64_t times, uint64_t *done))
{
    struct crypto_case *own = bench_context(b, sizeof(*own));
    struct bench_row row = {.key = crypto_key(c), .set_up = set_up, .run = run, .context = own};

    *own = *c;
    row.key.provider = provider;
    bench_add(b, &row);
}

void crypto_add_random(struct bench *b, const struct crypto_case *c)
{
    if (c->op == CRYPTO_RANDOM_U64) {
        add(b, c, "leat", choose, run_u64);
        return;
    }
    add(b, c, "leat", choose, run_ours);
    add(b, c, "getrandom", NULL, run_getrandom);
    add(b, c, "mbedtls_ctr_drbg", seed_library, run_mbedtls);
#ifdef BENCH_OPENSSL
    add(b, c, "openssl", NULL, run_openssl);
#endif
}
