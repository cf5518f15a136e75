/* SPDX-License-Identifier: MIT */
/*
 * What a primitive of a provider costs on this machine, well enough to choose by: the best of some
 * short samples. Who compares providers takes them in turns, so that what disturbs a millisecond
 * disturbs all alike. Keys differ within a batch, as those of receivers do.
 */
#include <time.h>

#include "provider.h"

enum { BATCH = 16, LEN_MAX = 1200 };
#define SAMPLE_NS 10000

struct work {
    const struct leat_crypto_provider *p;
    size_t key_len, len, count;
    struct leat_hmac_sha1 hmac[BATCH];
    struct leat_aes aes[BATCH];
    struct leat_gcm gcm[BATCH];
    struct leat_chachapoly chachapoly;
    uint8_t text[LEN_MAX], out[BATCH][LEN_MAX], tags[BATCH][20];
};

static uint64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int do_sha256(struct work *w)
{
    return w->p->sha256(w->text, w->len, w->out[0]);
}

static int do_hmac(struct work *w)
{
    struct leat_span message = leat_span(w->text, w->len);
    return leat__hmac_sha1(w->p, &w->hmac[0], &message, 1, w->tags[0]);
}

static int do_hmac_batch(struct work *w)
{
    struct leat_hmac_sha1_job jobs[BATCH];
    for (size_t i = 0; i < w->count; i++) {
        jobs[i] =
            (struct leat_hmac_sha1_job){&w->hmac[i], leat_span(w->out[i], w->len), w->tags[i]};
    }
    return leat__hmac_sha1_batch(w->p, jobs, w->count);
}

static int do_ctr(struct work *w)
{
    static const uint8_t iv[16];
    return leat_aes_ctr(&w->aes[0], iv, w->text, w->len, w->out[0]);
}

static int do_ctr_batch(struct work *w)
{
    struct leat_aes_ctr_job jobs[BATCH];
    for (size_t i = 0; i < BATCH; i++) {
        jobs[i] = (struct leat_aes_ctr_job){&w->aes[i], w->text, w->len, w->out[i], {0}};
    }
    return leat_aes_ctr_batch(jobs, w->count);
}

static int do_seal(struct work *w)
{
    static const uint8_t iv[12];
    return leat_gcm_seal(&w->gcm[0], iv, leat_span(w->text, 12), w->text, w->len, w->out[0],
                         w->tags[0]);
}

static int do_seal_batch(struct work *w)
{
    struct leat_gcm_job jobs[BATCH];
    for (size_t i = 0; i < BATCH; i++) {
        jobs[i] = (struct leat_gcm_job){
            &w->gcm[i], leat_span(w->text, 12), w->text, w->len, w->out[i], w->tags[i], {0}};
    }
    return leat_gcm_seal_batch(jobs, w->count);
}

static int do_chachapoly(struct work *w)
{
    static const uint8_t iv[12];
    return leat_chachapoly_seal(&w->chachapoly, iv, leat_span(w->text, 12), w->text, w->len,
                                w->out[0], w->tags[0]);
}

static int do_key_stream(struct work *w)
{
    return w->p->key_stream(w->p, w->text, w->out[0], w->len);
}

static const struct {
    int (*run)(struct work *w);
    size_t count, key_len;
} operations[LEAT_CRYPTO_PRIMITIVE_COUNT] = {
    [LEAT_CRYPTO_SHA256] = {do_sha256, 1, 0},
    [LEAT_CRYPTO_HMAC_SHA1] = {do_hmac, 1, 0},
    [LEAT_CRYPTO_HMAC_SHA1_BATCH] = {do_hmac_batch, BATCH, 0},
    [LEAT_CRYPTO_AES_128_CTR] = {do_ctr, 1, 16},
    [LEAT_CRYPTO_AES_128_CTR_BATCH] = {do_ctr_batch, BATCH, 16},
    [LEAT_CRYPTO_AES_256_CTR] = {do_ctr, 1, 32},
    [LEAT_CRYPTO_AES_256_CTR_BATCH] = {do_ctr_batch, BATCH, 32},
    [LEAT_CRYPTO_AES_128_GCM] = {do_seal, 1, 16},
    [LEAT_CRYPTO_AES_128_GCM_BATCH] = {do_seal_batch, BATCH, 16},
    [LEAT_CRYPTO_AES_256_GCM] = {do_seal, 1, 32},
    [LEAT_CRYPTO_AES_256_GCM_BATCH] = {do_seal_batch, BATCH, 32},
    [LEAT_CRYPTO_CHACHA20_POLY1305] = {do_chachapoly, 1, 0},
    [LEAT_CRYPTO_KEY_STREAM] = {do_key_stream, 1, 0},
};

/* Contexts of the one kind that the operation needs. */
static int set_up(struct work *w, enum leat_crypto_primitive primitive)
{
    bool is_gcm =
        primitive >= LEAT_CRYPTO_AES_128_GCM && primitive <= LEAT_CRYPTO_AES_256_GCM_BATCH;
    int error = 0;
    for (size_t i = 0; i < w->count && error == 0; i++) {
        uint8_t key[32] = {(uint8_t)i};
        if (w->key_len == 0) {
            leat_hmac_sha1_init(&w->hmac[i], key, 20);
        } else if (is_gcm) {
            error = leat__gcm_init(w->p, &w->gcm[i], key, w->key_len);
        } else {
            error = leat__aes_init(w->p, &w->aes[i], key, w->key_len);
        }
    }
    if (primitive == LEAT_CRYPTO_CHACHA20_POLY1305) {
        error = leat__chachapoly_init(w->p, &w->chachapoly, w->text);
    }
    return error;
}

static void take_down(struct work *w)
{
    leat_chachapoly_deinit(&w->chachapoly);
    for (size_t i = 0; i < w->count; i++) {
        leat_aes_deinit(&w->aes[i]);
        leat_gcm_deinit(&w->gcm[i]);
    }
}

/* Lower `best` (0: none yet) to what a message takes now. @return false when the operation failed.
 */
static bool sample(struct work *w, int (*run)(struct work *w), double *best)
{
    uint64_t passed = 0, times = 0;
    if (run(w) != 0) { /* warms up */
        return false;
    }
    for (uint64_t start = now_ns(); passed < SAMPLE_NS; passed = now_ns() - start) {
        if (run(w) != 0) {
            return false;
        }
        times++;
    }
    double ns = (double)passed / (double)(times * w->count);
    if (*best == 0 || ns < *best) {
        *best = ns;
    }
    return true;
}

bool leat__crypto_sample(const struct leat_crypto_provider *p, enum leat_crypto_primitive primitive,
                         struct leat_crypto_cost *cost)
{
    int (*run)(struct work *) = operations[primitive].run;
    struct work w = {
        .p = p, .key_len = operations[primitive].key_len, .count = operations[primitive].count};
    bool is_done = set_up(&w, primitive) == 0;
    if (is_done) {
        w.len = 100;
        is_done = sample(&w, run, &cost->ns_100);
    }
    if (is_done) {
        w.len = LEN_MAX;
        is_done = sample(&w, run, &cost->ns_1200);
    }
    take_down(&w);
    if (is_done && primitive == LEAT_CRYPTO_HMAC_SHA1_BATCH) {
        w.count = 1;
        is_done = set_up(&w, primitive) == 0 && sample(&w, run, &cost->ns_alone);
    }
    return is_done;
}
