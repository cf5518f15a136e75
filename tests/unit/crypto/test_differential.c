/* SPDX-License-Identifier: MIT */
/* Every provider and level that runs here gives what mbedTLS gives: at every length, count and
 * mixture, in threads that come and go, and after a fork. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "provider.h"

enum { LEN_MAX = 2000, KEYS = 8, LONG_MAX = 70000 };

static const struct leat_crypto_provider *const ours[] = {
#ifdef LEAT_HAVE_OPENSSL
    &leat__crypto_openssl,
#endif
#ifdef LEAT_HAVE_IPSECMB
    &leat__crypto_ipsecmb_sse, &leat__crypto_ipsecmb_avx2, &leat__crypto_ipsecmb_avx512,
#endif
    &leat__crypto_mbedtls, /* so that there is one */
};
static const struct leat_crypto_provider *const reference = &leat__crypto_mbedtls;
static const size_t key_lens[] = {16, 32};

static struct leat_rng rng;
static uint8_t text[LONG_MAX];

/* Calls a check for each provider that runs here. */
static void each_provider(void (*check)(const struct leat_crypto_provider *p))
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(ours); i++) {
        if (ours[i]->is_available == NULL || ours[i]->is_available(ours[i])) {
            unsigned before = leat_test_failures;
            check(ours[i]);
            if (leat_test_failures != before) {
                fprintf(stderr, "    by %s at level %d\n", ours[i]->name, (int)ours[i]->level);
            }
        }
    }
}

/* The same keys for ours and for the reference. */
struct keys {
    struct leat_aes aes[KEYS], ref_aes[KEYS];
    struct leat_gcm gcm[KEYS], ref_gcm[KEYS];
    struct leat_hmac_sha1 hmac[KEYS];
};

static void make_keys(struct keys *k, const struct leat_crypto_provider *p, size_t key_len)
{
    for (size_t i = 0; i < KEYS; i++) {
        uint8_t key[32];
        leat_rng_fill(&rng, key, sizeof(key));
        LEAT_CHECK_INT(leat__aes_init(p, &k->aes[i], key, key_len), 0);
        LEAT_CHECK_INT(leat__aes_init(reference, &k->ref_aes[i], key, key_len), 0);
        LEAT_CHECK_INT(leat__gcm_init(p, &k->gcm[i], key, key_len), 0);
        LEAT_CHECK_INT(leat__gcm_init(reference, &k->ref_gcm[i], key, key_len), 0);
        leat_hmac_sha1_init(&k->hmac[i], key, 20);
    }
}

static void forget_keys(struct keys *k)
{
    for (size_t i = 0; i < KEYS; i++) {
        leat_aes_deinit(&k->aes[i]);
        leat_aes_deinit(&k->ref_aes[i]);
        leat_gcm_deinit(&k->gcm[i]);
        leat_gcm_deinit(&k->ref_gcm[i]);
        leat_hmac_sha1_deinit(&k->hmac[i]);
    }
}

/* A counter whose low 32 bits have room for the longest message. */
static void random_counter(uint8_t iv[static 16])
{
    leat_rng_fill(&rng, iv, 16);
    iv[12] &= 0x7f;
}

static size_t random_len(void)
{
    return leat_rng_below(&rng, 8) == 0 ? leat_rng_below(&rng, 3)
                                        : leat_rng_below(&rng, LEN_MAX + 1);
}

static void check_known_answers(const struct leat_crypto_provider *p)
{
    char name[64];

    for (size_t i = 0; i < LEAT_CRYPTO_PRIMITIVE_COUNT; i++) {
        LEAT_CHECK_ROW(i, leat__crypto_provider_passes(p, (enum leat_crypto_primitive)i) ==
                              (i != LEAT_CRYPTO_SHA256 || p->sha256 != NULL));
    }
    p->version(name, sizeof(name));
    LEAT_CHECK(strpbrk(name, "123456789") != NULL && strchr(name, '.') != NULL);
}

static void providers__known_answers__pass(void)
{
    each_provider(check_known_answers);
}

static void check_ctr(const struct leat_crypto_provider *p)
{
    static uint8_t got[LEN_MAX + 64], expected[LEN_MAX];
    static struct keys k;

    for (size_t s = 0; s < LEAT_ARRAY_LEN(key_lens); s++) {
        make_keys(&k, p, key_lens[s]);
        for (size_t len = 0; len <= LEN_MAX; len++) {
            size_t key = len % KEYS, at = len % 13;
            uint8_t iv[16];
            random_counter(iv);
            memcpy(got + at, text, len);
            got[at + len] = 0xa5;
            int error = leat_aes_ctr(&k.aes[key], iv, got + at, len, got + at);
            int ref_error = leat_aes_ctr(&k.ref_aes[key], iv, text, len, expected);
            LEAT_CHECK_ROW(len, error == 0 && ref_error == 0 && got[at + len] == 0xa5 &&
                                    memcmp(got + at, expected, len) == 0);
        }
        forget_keys(&k);
    }
}

static void ctr__every_length_in_place__is_the_reference(void)
{
    each_provider(check_ctr);
}

static void check_block(const struct leat_crypto_provider *p)
{
    static struct keys k;

    for (size_t s = 0; s < LEAT_ARRAY_LEN(key_lens); s++) {
        make_keys(&k, p, key_lens[s]);
        for (size_t i = 0; i < 1000; i++) {
            uint8_t block[16], expected[16];
            leat_rng_fill(&rng, block, sizeof(block));
            LEAT_CHECK_INT(leat_aes_block(&k.ref_aes[i % KEYS], block, expected), 0);
            LEAT_CHECK_INT(leat_aes_block(&k.aes[i % KEYS], block, block), 0);
            LEAT_CHECK_MEM(block, sizeof(block), expected, sizeof(expected));
        }
        forget_keys(&k);
    }
}

static void block__random_in_place__is_the_reference(void)
{
    each_provider(check_block);
}

static void check_ctr_batch(const struct leat_crypto_provider *p)
{
    static uint8_t got[LEAT_CRYPTO_BATCH_MAX][LEN_MAX], expected[LEN_MAX];
    static struct leat_aes_ctr_job jobs[LEAT_CRYPTO_BATCH_MAX];
    static struct keys k;

    for (size_t round = 0; round < 4 * LEAT_CRYPTO_BATCH_MAX; round++) {
        size_t count = round % LEAT_CRYPTO_BATCH_MAX + 1;
        make_keys(&k, p, key_lens[round / LEAT_CRYPTO_BATCH_MAX % 2]);
        for (size_t i = 0; i < count; i++) {
            jobs[i] = (struct leat_aes_ctr_job){.aes = &k.aes[leat_rng_below(&rng, KEYS)],
                                                .in = text + i,
                                                .len = random_len(),
                                                .out = got[i]};
            random_counter(jobs[i].iv);
        }
        LEAT_CHECK_INT(leat_aes_ctr_batch(jobs, count), 0);
        for (size_t i = 0; i < count; i++) {
            const struct leat_aes *ref = &k.ref_aes[jobs[i].aes - k.aes];
            LEAT_CHECK_INT(leat_aes_ctr(ref, jobs[i].iv, text + i, jobs[i].len, expected), 0);
            LEAT_CHECK_ROW(round, memcmp(got[i], expected, jobs[i].len) == 0);
        }
        forget_keys(&k);
    }
}

static void ctr_batch__mixed_keys_and_lengths__is_the_reference(void)
{
    each_provider(check_ctr_batch);
}

static void check_one_hmac(const struct leat_crypto_provider *p, const struct leat_hmac_sha1 *h,
                           size_t len)
{
    struct leat_span whole = leat_span(text, len);
    struct leat_span parts[3] = {leat_span(text, len / 3), leat_span(NULL, 0),
                                 leat_span(text + len / 3, len - len / 3)};
    uint8_t got[20], in_parts[20], expected[20];

    LEAT_CHECK_INT(leat__hmac_sha1(reference, h, &whole, 1, expected), 0);
    LEAT_CHECK_INT(leat__hmac_sha1(p, h, &whole, 1, got), 0);
    LEAT_CHECK_INT(leat__hmac_sha1(p, h, parts, 3, in_parts), 0);
    LEAT_CHECK_ROW(len, memcmp(got, expected, 20) == 0 && memcmp(in_parts, expected, 20) == 0);
}

static void check_hmac(const struct leat_crypto_provider *p)
{
    /* Around what is joined on the way, and around what lanes can count. */
    static const size_t more[] = {2047,  2048,  2049,  3000,  4096,  65471, 65472,
                                  65473, 65533, 65534, 65535, 65536, 65537, LONG_MAX};
    static struct keys k;

    make_keys(&k, p, 16);
    for (size_t len = 0; len <= LEN_MAX; len++) {
        check_one_hmac(p, &k.hmac[len % KEYS], len);
    }
    for (size_t i = 0; i < LEAT_ARRAY_LEN(more); i++) {
        check_one_hmac(p, &k.hmac[i % KEYS], more[i]);
    }
    forget_keys(&k);
}

static void hmac__every_length_whole_and_in_parts__is_the_reference(void)
{
    each_provider(check_hmac);
}

static void check_hmac_batch(const struct leat_crypto_provider *p)
{
    static uint8_t got[LEAT_CRYPTO_BATCH_MAX][20];
    static struct leat_hmac_sha1_job jobs[LEAT_CRYPTO_BATCH_MAX];
    static struct keys k;
    uint8_t expected[20];

    make_keys(&k, p, 16);
    for (size_t round = 0; round < 4 * LEAT_CRYPTO_BATCH_MAX; round++) {
        size_t count = round % LEAT_CRYPTO_BATCH_MAX + 1;
        for (size_t i = 0; i < count; i++) {
            bool is_long = leat_rng_below(&rng, 100) == 0;
            jobs[i].h = &k.hmac[leat_rng_below(&rng, KEYS)];
            jobs[i].message = leat_span(text + i, is_long ? LONG_MAX - i : random_len());
            jobs[i].tag = got[i];
        }
        LEAT_CHECK_INT(leat__hmac_sha1_batch(p, jobs, count), 0);
        for (size_t i = 0; i < count; i++) {
            LEAT_CHECK_INT(leat__hmac_sha1(reference, jobs[i].h, &jobs[i].message, 1, expected), 0);
            LEAT_CHECK_ROW(round, memcmp(got[i], expected, sizeof(expected)) == 0);
        }
    }
    forget_keys(&k);
}

static void hmac_batch__mixed_keys_and_lengths__is_the_reference(void)
{
    each_provider(check_hmac_batch);
}

static void check_gcm(const struct leat_crypto_provider *p)
{
    static uint8_t got[LEN_MAX], expected[LEN_MAX];
    static struct keys k;

    for (size_t s = 0; s < LEAT_ARRAY_LEN(key_lens); s++) {
        make_keys(&k, p, key_lens[s]);
        for (size_t len = 0; len <= LEN_MAX; len++) {
            const struct leat_gcm *g = &k.gcm[len % KEYS], *ref = &k.ref_gcm[len % KEYS];
            struct leat_span aad = leat_span(text, len % 41);
            uint8_t tag[16], ref_tag[16], iv[12];
            leat_rng_fill(&rng, iv, sizeof(iv));
            memcpy(got, text, len);
            int error = leat_gcm_seal(g, iv, aad, got, len, got, tag);
            int ref_error = leat_gcm_seal(ref, iv, aad, text, len, expected, ref_tag);
            LEAT_CHECK_ROW(len, error == 0 && ref_error == 0 && memcmp(got, expected, len) == 0 &&
                                    memcmp(tag, ref_tag, sizeof(tag)) == 0);
            error = leat_gcm_open(g, iv, aad, got, len, ref_tag, got);
            LEAT_CHECK_ROW(len, error == 0 && memcmp(got, text, len) == 0);
            ref_tag[len % 16] ^= 0x80;
            error = leat_gcm_open(g, iv, aad, expected, len, ref_tag, got);
            LEAT_CHECK_ROW(len, error == LEAT_E_INVALID);
        }
        forget_keys(&k);
    }
}

static void gcm__every_length__is_the_reference_and_refuses_a_wrong_tag(void)
{
    each_provider(check_gcm);
}

static void check_chachapoly(const struct leat_crypto_provider *p)
{
    static uint8_t got[LEN_MAX], expected[LEN_MAX];
    struct leat_chachapoly ours_keyed, ref_keyed;

    LEAT_CHECK_INT(leat__chachapoly_init(p, &ours_keyed, text), 0);
    LEAT_CHECK_INT(leat__chachapoly_init(reference, &ref_keyed, text), 0);
    for (size_t len = 0; len <= LEN_MAX; len++) {
        struct leat_span aad = leat_span(text, len % 41);
        uint8_t tag[16], ref_tag[16], iv[12];
        leat_rng_fill(&rng, iv, sizeof(iv));
        memcpy(got, text, len);
        int error = leat_chachapoly_seal(&ours_keyed, iv, aad, got, len, got, tag);
        int ref_error = leat_chachapoly_seal(&ref_keyed, iv, aad, text, len, expected, ref_tag);
        LEAT_CHECK_ROW(len, error == 0 && ref_error == 0 && memcmp(got, expected, len) == 0 &&
                                memcmp(tag, ref_tag, sizeof(tag)) == 0);
        error = leat_chachapoly_open(&ours_keyed, iv, aad, got, len, ref_tag, got);
        LEAT_CHECK_ROW(len, error == 0 && memcmp(got, text, len) == 0);
        ref_tag[len % 16] ^= 0x80;
        error = leat_chachapoly_open(&ours_keyed, iv, aad, expected, len, ref_tag, got);
        LEAT_CHECK_ROW(len, error == LEAT_E_INVALID);
    }
    leat_chachapoly_deinit(&ours_keyed);
    leat_chachapoly_deinit(&ref_keyed);
}

static void chachapoly__every_length__is_the_reference_and_refuses_a_wrong_tag(void)
{
    each_provider(check_chachapoly);
}

static void check_gcm_batch(const struct leat_crypto_provider *p)
{
    static uint8_t got[LEAT_CRYPTO_BATCH_MAX][LEN_MAX], tags[LEAT_CRYPTO_BATCH_MAX][16];
    static struct leat_gcm_job jobs[LEAT_CRYPTO_BATCH_MAX];
    static uint8_t expected[LEN_MAX];
    static struct keys k;
    uint8_t tag[16];

    for (size_t round = 0; round < 2 * LEAT_CRYPTO_BATCH_MAX; round++) {
        size_t count = round % LEAT_CRYPTO_BATCH_MAX + 1;
        make_keys(&k, p, key_lens[round / LEAT_CRYPTO_BATCH_MAX % 2]);
        for (size_t i = 0; i < count; i++) {
            jobs[i] = (struct leat_gcm_job){.gcm = &k.gcm[leat_rng_below(&rng, KEYS)],
                                            .aad = leat_span(text, leat_rng_below(&rng, 41)),
                                            .in = text + i,
                                            .len = random_len(),
                                            .out = got[i],
                                            .tag = tags[i]};
            leat_rng_fill(&rng, jobs[i].iv, sizeof(jobs[i].iv));
        }
        LEAT_CHECK_INT(leat_gcm_seal_batch(jobs, count), 0);
        for (size_t i = 0; i < count; i++) {
            const struct leat_gcm_job *j = &jobs[i];
            LEAT_CHECK_INT(leat_gcm_seal(&k.ref_gcm[j->gcm - k.gcm], j->iv, j->aad, j->in, j->len,
                                         expected, tag),
                           0);
            LEAT_CHECK_ROW(round, memcmp(got[i], expected, j->len) == 0);
            LEAT_CHECK_ROW(round, memcmp(tags[i], tag, sizeof(tag)) == 0);
        }
        forget_keys(&k);
    }
}

static void gcm_batch__mixed_keys_and_lengths__is_the_reference(void)
{
    each_provider(check_gcm_batch);
}

/* The library asks for alignment that its header does not state; ours is to 16 octets. */
static void check_gcm_places(const struct leat_crypto_provider *p)
{
    static _Alignas(64) uint8_t memory[sizeof(struct leat_gcm) + 64];
    static const uint8_t key[32], iv[12];
    uint8_t got[300], expected[300], tag[16], ref_tag[16];
    struct leat_gcm ref;

    LEAT_CHECK_INT(leat__gcm_init(reference, &ref, key, 32), 0);
    LEAT_CHECK_INT(
        leat_gcm_seal(&ref, iv, leat_span(text, 12), text, sizeof(expected), expected, ref_tag), 0);
    for (size_t at = 0; at < 64; at += 16) {
        struct leat_gcm *g = (struct leat_gcm *)(memory + at);
        LEAT_CHECK_INT(leat__gcm_init(p, g, key, 32), 0);
        LEAT_CHECK_INT(leat_gcm_seal(g, iv, leat_span(text, 12), text, sizeof(got), got, tag), 0);
        LEAT_CHECK_MEM(got, sizeof(got), expected, sizeof(expected));
        LEAT_CHECK_MEM(tag, sizeof(tag), ref_tag, sizeof(ref_tag));
        leat_gcm_deinit(g);
    }
    leat_gcm_deinit(&ref);
}

static void gcm__context_anywhere_on_16_octets__is_the_reference(void)
{
    each_provider(check_gcm_places);
}

static void check_key_stream(const struct leat_crypto_provider *p)
{
    uint8_t key[32], got[600], expected[600];

    for (size_t len = 1; len <= sizeof(got); len++) {
        leat_rng_fill(&rng, key, sizeof(key));
        memset(got, 0xa5, sizeof(got));
        LEAT_CHECK_INT(p->key_stream(p, key, got, len), 0);
        LEAT_CHECK_INT(reference->key_stream(reference, key, expected, len), 0);
        LEAT_CHECK_MEM(got, len, expected, len);
    }
}

static void key_stream__every_length__is_the_reference(void)
{
    each_provider(check_key_stream);
}

/* ---- threads and processes ---- */

enum { THREADS = 8, ROUNDS = 400, BATCH = 20, PACKET = 1200 };

/* What a batch of each kind gives over shared contexts. */
struct results {
    uint8_t ctr[BATCH][PACKET], sealed[BATCH][PACKET], gcm_tags[BATCH][16], hmac_tags[BATCH][20];
};

static const struct leat_crypto_provider *shared_provider;
static struct keys shared;
static struct results expected_results;
static pthread_barrier_t barrier;

/* @return whether no operation failed */
static bool work(const struct leat_aes *aes, const struct leat_gcm *gcm,
                 const struct leat_crypto_provider *p, struct results *r)
{
    struct leat_aes_ctr_job ctr[BATCH] = {0};
    struct leat_gcm_job seal[BATCH] = {0};
    struct leat_hmac_sha1_job tag[BATCH];

    for (size_t i = 0; i < BATCH; i++) {
        size_t len = PACKET - i * 31;
        ctr[i].aes = &aes[i % KEYS];
        ctr[i].in = seal[i].in = text;
        ctr[i].len = seal[i].len = len;
        ctr[i].out = r->ctr[i];
        seal[i].gcm = &gcm[i % KEYS];
        seal[i].out = r->sealed[i];
        seal[i].tag = r->gcm_tags[i];
        tag[i].h = &shared.hmac[i % KEYS];
        tag[i].message = leat_span(text, len);
        tag[i].tag = r->hmac_tags[i];
    }
    return leat_aes_ctr_batch(ctr, BATCH) == 0 && leat_gcm_seal_batch(seal, BATCH) == 0 &&
           leat__hmac_sha1_batch(p, tag, BATCH) == 0;
}

static bool works_as_expected(void)
{
    struct results *r = calloc(1, sizeof(*r));
    bool is_right = r != NULL && work(shared.aes, shared.gcm, shared_provider, r) &&
                    memcmp(r, &expected_results, sizeof(*r)) == 0;
    free(r);
    return is_right;
}

static void share(const struct leat_crypto_provider *p)
{
    shared_provider = p;
    memset(&expected_results, 0, sizeof(expected_results));
    make_keys(&shared, p, 16);
    LEAT_CHECK(work(shared.ref_aes, shared.ref_gcm, reference, &expected_results));
}

static void *work_often(void *wrong)
{
    pthread_barrier_wait(&barrier);
    for (size_t i = 0; i < ROUNDS; i++) {
        *(unsigned *)wrong += !works_as_expected();
    }
    return NULL;
}

static void check_threads(const struct leat_crypto_provider *p)
{
    pthread_t threads[THREADS];
    unsigned wrong[THREADS] = {0};

    share(p);
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++) {
        LEAT_CHECK_INT(pthread_create(&threads[i], NULL, work_often, &wrong[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        LEAT_CHECK_INT(wrong[i], 0);
    }
    pthread_barrier_destroy(&barrier);
    forget_keys(&shared);
}

static void contexts__shared_by_eight_threads__give_the_reference(void)
{
    each_provider(check_threads);
}

static void *work_once(void *is_right)
{
    *(bool *)is_right = works_as_expected();
    return NULL;
}

/* Under LeakSanitizer this fails when a thread leaves its manager behind. */
static void check_short_lives(const struct leat_crypto_provider *p)
{
    share(p);
    for (size_t i = 0; i < 20; i++) {
        pthread_t thread;
        bool is_right = false;
        LEAT_CHECK_INT(pthread_create(&thread, NULL, work_once, &is_right), 0);
        pthread_join(thread, NULL);
        LEAT_CHECK_ROW(i, is_right);
    }
    forget_keys(&shared);
}

static void threads__that_end__leave_nothing_behind(void)
{
    each_provider(check_short_lives);
}

static void check_fork(const struct leat_crypto_provider *p)
{
    int status = -1;

    share(p);
    LEAT_CHECK(works_as_expected());
    pid_t child = fork();
    if (child == 0) {
        _exit(works_as_expected() ? 0 : 1);
    }
    LEAT_CHECK(child > 0 && waitpid(child, &status, 0) == child);
    LEAT_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    LEAT_CHECK(works_as_expected());
    forget_keys(&shared);
}

static void contexts__used_in_a_child_after_a_fork__give_the_reference(void)
{
    each_provider(check_fork);
}

int main(int argc, char **argv)
{
    static const struct leat_test tests[] = {
        LEAT_TEST(providers__known_answers__pass),
        LEAT_TEST(ctr__every_length_in_place__is_the_reference),
        LEAT_TEST(block__random_in_place__is_the_reference),
        LEAT_TEST(ctr_batch__mixed_keys_and_lengths__is_the_reference),
        LEAT_TEST(hmac__every_length_whole_and_in_parts__is_the_reference),
        LEAT_TEST(hmac_batch__mixed_keys_and_lengths__is_the_reference),
        LEAT_TEST(gcm__every_length__is_the_reference_and_refuses_a_wrong_tag),
        LEAT_TEST(chachapoly__every_length__is_the_reference_and_refuses_a_wrong_tag),
        LEAT_TEST(gcm_batch__mixed_keys_and_lengths__is_the_reference),
        LEAT_TEST(gcm__context_anywhere_on_16_octets__is_the_reference),
        LEAT_TEST(key_stream__every_length__is_the_reference),
        LEAT_TEST(contexts__shared_by_eight_threads__give_the_reference),
        LEAT_TEST(threads__that_end__leave_nothing_behind),
        LEAT_TEST(contexts__used_in_a_child_after_a_fork__give_the_reference),
    };
    static const uint8_t seed[32] = {42};

    leat_rng_init_seeded(&rng, seed);
    leat_rng_fill(&rng, text, sizeof(text));
    return leat_test_main(tests, LEAT_ARRAY_LEN(tests), argc, argv);
}
