/* SPDX-License-Identifier: MIT */
/*
 * Rows of our own layer over its table of providers.
 *
 * Several providers are live in one group, and the choice of a provider is the process's: each row
 * makes its provider the chosen one before its contexts are set up, which keep it, and before each
 * of its runs for what takes the present choice. That is not part of the time.
 */
#include <stdlib.h>
#include <string.h>

#include <leat/crypto.h>

#include "crypto_rows.h"

struct spec {
    struct crypto_case c;
    const char *provider, *level;
    struct state *state; /* while set up */
};

struct state {
    struct leat_hmac_sha1 hmac[CRYPTO_BATCH_MAX];
    struct leat_aes aes[CRYPTO_BATCH_MAX];
    struct leat_gcm gcm[CRYPTO_BATCH_MAX];
    struct leat_hmac_sha1_job hmac_jobs[CRYPTO_BATCH_MAX];
    struct leat_aes_ctr_job ctr_jobs[CRYPTO_BATCH_MAX];
    struct leat_gcm_job gcm_jobs[CRYPTO_BATCH_MAX];
    size_t contexts; /* of the one kind that the operation needs */
    uint8_t key[32], iv[16], plain[CRYPTO_OCTETS_MAX];
    uint8_t out[CRYPTO_BATCH_MAX][CRYPTO_STRIDE];
    uint8_t tags[CRYPTO_BATCH_MAX][20];
    uint8_t sealed[CRYPTO_OCTETS_MAX], sealed_tag[16];
};

static int make_aes(const struct crypto_case *c, struct leat_aes *a, const uint8_t *key)
{
    return c->batch > 0 ? leat_aes_init_for_batch(a, key, c->key_len)
                        : leat_aes_init(a, key, c->key_len);
}

static int make_gcm(const struct crypto_case *c, struct leat_gcm *g, const uint8_t *key)
{
    return c->batch > 0 ? leat_gcm_init_for_batch(g, key, c->key_len)
                        : leat_gcm_init(g, key, c->key_len);
}

/* Context i of the row, and its job in a batch. */
static bool make_context(const struct crypto_case *c, struct state *t, size_t i)
{
    t->key[0] = (uint8_t)i;
    switch (c->op) {
    case CRYPTO_HMAC_SHA1:
        leat_hmac_sha1_init(&t->hmac[i], t->key, 20);
        t->hmac_jobs[i] =
            (struct leat_hmac_sha1_job){&t->hmac[i], leat_span(t->out[i], c->octets), t->tags[i]};
        return true;
    case CRYPTO_CTR:
    case CRYPTO_BLOCK:
    case CRYPTO_MASK:
        t->ctr_jobs[i] = (struct leat_aes_ctr_job){&t->aes[i], t->plain, c->octets, t->out[i], {0}};
        return make_aes(c, &t->aes[i], t->key) == 0;
    case CRYPTO_GCM_SEAL:
    case CRYPTO_GCM_OPEN:
        t->gcm_jobs[i] = (struct leat_gcm_job){
            &t->gcm[i], leat_span(t->plain, 12), t->plain, c->octets, t->out[i], t->tags[i], {0}};
        return make_gcm(c, &t->gcm[i], t->key) == 0;
    default: /* set-up makes its own */
        return true;
    }
}

static void take_down(void *context)
{
    struct spec *s = context;

    for (size_t i = 0; i < s->state->contexts; i++) {
        if (s->state->hmac_jobs[i].h != NULL) {
            leat_hmac_sha1_deinit(&s->state->hmac[i]);
        }
        if (s->state->ctr_jobs[i].aes != NULL) {
            leat_aes_deinit(&s->state->aes[i]);
        }
        if (s->state->gcm_jobs[i].gcm != NULL) {
            leat_gcm_deinit(&s->state->gcm[i]);
        }
    }
    free(s->state);
    s->state = NULL;
}

static bool set_up(void *context, const char **why)
{
    struct spec *s = context;
    struct state *t;

    if (!crypto_choose(s->provider, s->level)) {
        *why = "the provider does not start at this level";
        return false;
    }
    t = s->state = bench_alloc(sizeof(struct state));
    for (t->contexts = 0; t->contexts < (s->c.batch > 0 ? s->c.batch : 1); t->contexts++) {
        if (!make_context(&s->c, t, t->contexts)) {
            *why = "its context could not be set up";
            take_down(s);
            return false;
        }
    }
    if (s->c.op == CRYPTO_GCM_OPEN) {
        bench_must(leat_gcm_seal(&t->gcm[0], t->iv, leat_span(t->plain, 12), t->plain, s->c.octets,
                                 t->sealed, t->sealed_tag) == 0,
                   "leat_gcm_seal");
    }
    return true;
}

/* Do the operation once; a batch counts as one here. */
static inline int operate(const struct crypto_case *c, struct state *t)
{
    struct leat_span message = {t->out[0], c->octets};
    struct leat_span aad = {t->plain, 12};

    switch (c->op) {
    case CRYPTO_HMAC_SHA1:
        if (c->batch > 0) {
            leat_hmac_sha1_batch(t->hmac_jobs, c->batch);
        } else {
            leat_hmac_sha1(&t->hmac[0], &message, 1, t->tags[0]);
        }
        return 0;
    case CRYPTO_CTR:
        return c->batch > 0 ? leat_aes_ctr_batch(t->ctr_jobs, c->batch)
                            : leat_aes_ctr(&t->aes[0], t->iv, t->plain, c->octets, t->out[0]);
    case CRYPTO_GCM_SEAL:
        return c->batch > 0 ? leat_gcm_seal_batch(t->gcm_jobs, c->batch)
                            : leat_gcm_seal(&t->gcm[0], t->iv, aad, t->plain, c->octets, t->out[0],
                                            t->tags[0]);
    case CRYPTO_GCM_OPEN:
        return leat_gcm_open(&t->gcm[0], t->iv, aad, t->sealed, c->octets, t->sealed_tag,
                             t->out[0]);
    case CRYPTO_BLOCK:
    case CRYPTO_MASK:
        t->iv[0]++;
        return leat_aes_block(&t->aes[0], t->iv, t->out[0]);
    default:
        return -1;
    }
}

static uint64_t run(void *context, uint64_t times, uint64_t *done)
{
    struct spec *s = context;
    uint64_t rounds = s->c.batch > 0 ? (times + s->c.batch - 1) / s->c.batch : times;
    uint64_t from;
    int failed;

    bench_must(crypto_choose(s->provider, s->level), "the choice of a provider");
    failed = operate(&s->c, s->state);
    from = bench_now();
    for (uint64_t i = 0; i < rounds; i++) {
        failed |= operate(&s->c, s->state);
        bench_keep(s->state);
    }
    from = bench_now() - from;
    bench_must(failed == 0, s->provider);
    *done = rounds * (s->c.batch > 0 ? s->c.batch : 1);
    return from;
}

/* One context made and wiped again. */
static inline int make_once(const struct crypto_case *c, struct state *t)
{
    int failed = 0;

    t->key[1]++;
    switch (c->op) {
    case CRYPTO_SET_UP_HMAC_SHA1:
        leat_hmac_sha1_init(&t->hmac[0], t->key, 20);
        leat_hmac_sha1_deinit(&t->hmac[0]);
        return 0;
    case CRYPTO_SET_UP_AES:
        failed = make_aes(c, &t->aes[0], t->key);
        leat_aes_deinit(&t->aes[0]);
        return failed;
    case CRYPTO_SET_UP_GCM:
        failed = make_gcm(c, &t->gcm[0], t->key);
        leat_gcm_deinit(&t->gcm[0]);
        return failed;
    default:
        return -1;
    }
}

static uint64_t run_set_up(void *context, uint64_t times, uint64_t *done)
{
    struct spec *s = context;
    uint64_t from;
    int failed = 0;

    bench_must(crypto_choose(s->provider, s->level), "the choice of a provider");
    from = bench_now();
    for (uint64_t i = 0; i < times; i++) {
        failed |= make_once(&s->c, s->state);
    }
    from = bench_now() - from;
    bench_must(failed == 0, "the set-up of a context");
    *done = times;
    return from;
}

static void add(struct bench *b, const struct crypto_case *c, const char *provider,
                const char *level)
{
    bool is_set_up = c->op == CRYPTO_SET_UP_HMAC_SHA1 || c->op == CRYPTO_SET_UP_AES ||
                     c->op == CRYPTO_SET_UP_GCM;
    struct spec *s = bench_context(b, sizeof(*s));
    struct bench_row row = {.key = crypto_key(c),
                            .set_up = set_up,
                            .take_down = take_down,
                            .run = is_set_up ? run_set_up : run,
                            .context = s};

    *s = (struct spec){.c = *c, .provider = provider, .level = level};
    row.key.provider = provider;
    row.key.level = level;
    bench_add(b, &row);
}

void crypto_add_ours(struct bench *b, const struct crypto_case *c)
{
    const char *name;

    for (size_t i = 0; (name = leat_crypto_provider_name(i)) != NULL; i++) {
        add(b, c, name, NULL);
        if (strcmp(name, "ipsecmb") == 0 && c->key_len != 32) {
            add(b, c, name, "avx512");
            add(b, c, name, "avx2");
            add(b, c, name, "sse");
        }
    }
    add(b, c, CRYPTO_AUTO, NULL);
}
