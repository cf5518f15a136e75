/* SPDX-License-Identifier: MIT */
/*
 * Which provider serves which primitive: chosen at start among those that run here and whose known
 * answers pass (known_answers.c), by what they cost (measure.c); constant from then on. Until then
 * the reference provider serves all.
 *
 * Answers and costs are found once a process, so that a later choice is cheap.
 */
#include <leat/log.h>

#include "provider.h"

static const struct leat_crypto_provider *const built_in[] = {
    &leat__crypto_mbedtls,
#ifdef LEAT_HAVE_OPENSSL
    &leat__crypto_openssl,
#endif
#ifdef LEAT_HAVE_IPSECMB
    &leat__crypto_ipsecmb_sse, &leat__crypto_ipsecmb_avx2, &leat__crypto_ipsecmb_avx512,
#endif
};
#define BUILT_IN LEAT_ARRAY_LEN(built_in)

/* A later one must be better by this to be preferred: what noise can do. */
#define CLEARLY_BETTER 0.94
#define ROUNDS 4 /* of samples, over all */

static const char *const primitive_names[LEAT_CRYPTO_PRIMITIVE_COUNT] = {
    [LEAT_CRYPTO_SHA256] = "sha-256",
    [LEAT_CRYPTO_HMAC_SHA1] = "hmac-sha1",
    [LEAT_CRYPTO_HMAC_SHA1_BATCH] = "hmac-sha1-batch",
    [LEAT_CRYPTO_AES_128_CTR] = "aes-128-ctr",
    [LEAT_CRYPTO_AES_128_CTR_BATCH] = "aes-128-ctr-batch",
    [LEAT_CRYPTO_AES_256_CTR] = "aes-256-ctr",
    [LEAT_CRYPTO_AES_256_CTR_BATCH] = "aes-256-ctr-batch",
    [LEAT_CRYPTO_AES_128_GCM] = "aes-128-gcm",
    [LEAT_CRYPTO_AES_128_GCM_BATCH] = "aes-128-gcm-batch",
    [LEAT_CRYPTO_AES_256_GCM] = "aes-256-gcm",
    [LEAT_CRYPTO_AES_256_GCM_BATCH] = "aes-256-gcm-batch",
    [LEAT_CRYPTO_CHACHA20_POLY1305] = "chacha20-poly1305",
    [LEAT_CRYPTO_KEY_STREAM] = "key-stream",
};

static const char *const level_names[] = {
    [LEAT_CRYPTO_LEVEL_NONE] = "none",
    [LEAT_CRYPTO_LEVEL_SSE] = "sse",
    [LEAT_CRYPTO_LEVEL_AVX2] = "avx2",
    [LEAT_CRYPTO_LEVEL_AVX512] = "avx512",
};

struct choice {
    const struct leat_crypto_provider *provider; /* NULL: the reference provider */
    struct leat_crypto_cost cost;
};

static struct choice chosen[LEAT_CRYPTO_PRIMITIVE_COUNT];
static size_t hmac_batch_from = 1;

/* What is known of the built-in providers. */
static struct {
    bool is_known, is_available;
    char version[64];
    bool passes[LEAT_CRYPTO_PRIMITIVE_COUNT];
    struct leat_crypto_cost costs[LEAT_CRYPTO_PRIMITIVE_COUNT];
} known[BUILT_IN];
static bool is_measured;

const struct leat_crypto_provider *leat__crypto_provider(enum leat_crypto_primitive primitive)
{
    return chosen[primitive].provider != NULL ? chosen[primitive].provider : &leat__crypto_mbedtls;
}

size_t leat__crypto_hmac_batch_from(void)
{
    return hmac_batch_from;
}

/* ---- the choice ---- */

bool leat__crypto_examine(const struct leat_crypto_provider *p,
                          enum leat_crypto_primitive primitive, struct leat_crypto_cost *cost)
{
    return leat__crypto_provider_passes(p, primitive) && leat__crypto_sample(p, primitive, cost);
}

/* Both sizes weigh the same, as ratios. */
static bool is_clearly_better(const struct leat_crypto_cost *a, const struct leat_crypto_cost *b)
{
    return a->ns_100 * a->ns_1200 < CLEARLY_BETTER * CLEARLY_BETTER * b->ns_100 * b->ns_1200;
}

static void choose_one(const struct leat_crypto_provider *const *providers, size_t count,
                       const char *wanted, enum leat_crypto_primitive primitive,
                       leat__crypto_examine_fn *examine, struct choice *best)
{
    best->provider = NULL;
    for (size_t i = 0; i < count; i++) {
        struct leat_crypto_cost cost = {0};
        if ((wanted == NULL || strcmp(providers[i]->name, wanted) == 0) &&
            examine(providers[i], primitive, &cost) &&
            (best->provider == NULL || is_clearly_better(&cost, &best->cost))) {
            *best = (struct choice){providers[i], cost};
        }
    }
}

/* One message costs a batch provider as much as a full set of lanes: from how many on does it win
 * over one after the other? */
static size_t batch_from(const struct choice *single, const struct choice *batch)
{
    if (single->provider == batch->provider || single->cost.ns_1200 <= 0) {
        return 1;
    }
    return 1 + (size_t)(batch->cost.ns_alone / single->cost.ns_1200);
}

int leat__crypto_choose(const struct leat_crypto_provider *const *providers, size_t count,
                        const char *wanted, leat__crypto_examine_fn *examine)
{
    struct choice choice[LEAT_CRYPTO_PRIMITIVE_COUNT];

    for (size_t i = 0; i < LEAT_CRYPTO_PRIMITIVE_COUNT; i++) {
        enum leat_crypto_primitive primitive = (enum leat_crypto_primitive)i;
        choose_one(providers, count, wanted, primitive, examine, &choice[i]);
        if (choice[i].provider == NULL && wanted != NULL) {
            choose_one(providers, count, NULL, primitive, examine, &choice[i]);
        }
        if (choice[i].provider == NULL) {
            return LEAT_E_CRYPTO;
        }
    }
    memcpy(chosen, choice, sizeof(chosen));
    hmac_batch_from =
        batch_from(&chosen[LEAT_CRYPTO_HMAC_SHA1], &chosen[LEAT_CRYPTO_HMAC_SHA1_BATCH]);
    return 0;
}

/* ---- the built-in providers ---- */

static bool is_available(size_t i)
{
    if (!known[i].is_known) {
        known[i].is_available =
            built_in[i]->is_available == NULL || built_in[i]->is_available(built_in[i]);
        if (known[i].is_available) {
            built_in[i]->version(known[i].version, sizeof(known[i].version));
        }
        known[i].is_known = true;
    }
    return known[i].is_available;
}

/* By what measure_all has found. */
static bool recall(const struct leat_crypto_provider *p, enum leat_crypto_primitive primitive,
                   struct leat_crypto_cost *cost)
{
    size_t i = 0;
    while (built_in[i] != p) {
        i++;
    }
    *cost = known[i].costs[primitive];
    return known[i].passes[primitive];
}

static void drop(size_t i, enum leat_crypto_primitive primitive, const char *reason)
{
    known[i].passes[primitive] = false;
    leat_log(LEAT_LOG_WARN, "crypto_dropped", "provider=%s level=%s primitive=%s reason=\"%s\"",
             built_in[i]->name, level_names[built_in[i]->level], primitive_names[primitive],
             reason);
}

/* One that does not serve a primitive is not dropped for it. */
static void answer_all(size_t i)
{
    for (size_t k = 0; k < LEAT_CRYPTO_PRIMITIVE_COUNT; k++) {
        enum leat_crypto_primitive primitive = (enum leat_crypto_primitive)k;
        known[i].passes[k] = leat__crypto_provider_serves(built_in[i], primitive);
        if (known[i].passes[k] && !leat__crypto_provider_passes(built_in[i], primitive)) {
            drop(i, primitive, "its known answers fail");
        }
    }
}

/* Rounds over everything: a neighbour who has the machine for a while spoils a round, not a
 * provider. */
static void measure_all(void)
{
    for (size_t i = 0; i < BUILT_IN; i++) {
        if (is_available(i)) {
            answer_all(i);
        }
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t k = 0; k < LEAT_CRYPTO_PRIMITIVE_COUNT; k++) {
            for (size_t i = 0; i < BUILT_IN; i++) {
                enum leat_crypto_primitive primitive = (enum leat_crypto_primitive)k;
                if (known[i].passes[k] &&
                    !leat__crypto_sample(built_in[i], primitive, &known[i].costs[k])) {
                    drop(i, primitive, "it fails while it is measured");
                }
            }
        }
    }
}

/* @return false for a text that names no level. */
static bool level_of(const char *text, enum leat_crypto_level *out)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(level_names); i++) {
        if (strcmp(text, level_names[i]) == 0) {
            *out = (enum leat_crypto_level)i;
            return true;
        }
    }
    return false;
}

int leat_crypto_start_with(const struct leat_crypto_options *options)
{
    const struct leat_crypto_provider *providers[BUILT_IN];
    const char *wanted = options != NULL ? options->provider : NULL;
    enum leat_crypto_level highest = LEAT_CRYPTO_LEVEL_AVX512;
    size_t count = 0;
    bool is_there = wanted == NULL;

    if (options != NULL && options->level != NULL && !level_of(options->level, &highest)) {
        return LEAT_E_INVALID;
    }
    for (size_t i = 0; i < BUILT_IN; i++) {
        if (built_in[i]->level <= highest && is_available(i)) {
            providers[count++] = built_in[i];
            is_there = is_there || strcmp(built_in[i]->name, wanted) == 0;
        }
    }
    if (!is_there) {
        return LEAT_E_INVALID;
    }
    /* The random generator falls back on the reference provider whatever is chosen. */
    if (!leat__crypto_provider_passes(&leat__crypto_mbedtls, LEAT_CRYPTO_KEY_STREAM)) {
        return LEAT_E_CRYPTO;
    }
    if (!is_measured) {
        measure_all();
        is_measured = true;
    }
    return leat__crypto_choose(providers, count, wanted, recall);
}

int leat_crypto_start(void)
{
    return leat_crypto_start_with(NULL);
}

/* ---- description ---- */

/* The built-in provider of the i-th name that runs here; levels share a name. */
static size_t find(size_t i)
{
    const char *last = "";
    for (size_t at = 0; at < BUILT_IN; at++) {
        if (is_available(at) && strcmp(built_in[at]->name, last) != 0) {
            last = built_in[at]->name;
            if (i-- == 0) {
                return at;
            }
        }
    }
    return BUILT_IN;
}

const char *leat_crypto_provider_name(size_t i)
{
    size_t at = find(i);
    return at < BUILT_IN ? built_in[at]->name : NULL;
}

const char *leat_crypto_provider_version(size_t i)
{
    size_t at = find(i);
    return at < BUILT_IN ? known[at].version : NULL;
}

bool leat_crypto_describe(size_t row, struct leat_crypto_row *out)
{
    if (row >= LEAT_CRYPTO_PRIMITIVE_COUNT) {
        return false;
    }
    const struct leat_crypto_provider *p = leat__crypto_provider((enum leat_crypto_primitive)row);
    *out = (struct leat_crypto_row){
        .primitive = primitive_names[row],
        .provider = p->name,
        .level = p->level != LEAT_CRYPTO_LEVEL_NONE ? level_names[p->level] : NULL,
        .ns_100 = chosen[row].cost.ns_100,
        .ns_1200 = chosen[row].cost.ns_1200,
    };
    return true;
}
