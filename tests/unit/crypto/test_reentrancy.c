/* SPDX-License-Identifier: MIT */
/* Contexts are const in use: eight threads work with the same ones at once and get what one thread
 * gets alone. */
#include <pthread.h>

#include <leat/crypto.h>

#include "harness.h"
#include "hex.h"

enum { THREADS = 8, MESSAGES = 64, ROUNDS = 100, MAX_LEN = 1200 };

static struct leat_aes aes;
static struct leat_gcm gcm;
static struct leat_hmac_sha1 hmac;

struct results {
    uint8_t ctr[MAX_LEN], sealed[MAX_LEN], opened[MAX_LEN];
    uint8_t gcm_tag[16], hmac_tag[20];
    int errors;
};

static size_t message_len(size_t n)
{
    return MAX_LEN - n * 17;
}

static void work(size_t n, struct results *r)
{
    uint8_t iv[16] = {0}, text[MAX_LEN];
    size_t len = message_len(n);
    struct leat_span part = leat_span(text, len);

    iv[0] = (uint8_t)n;
    memset(text, (int)n, sizeof(text));
    memset(r, 0, sizeof(*r));
    r->errors += leat_aes_ctr(&aes, iv, text, len, r->ctr) != 0;
    r->errors += leat_gcm_seal(&gcm, iv, part, text, len, r->sealed, r->gcm_tag) != 0;
    r->errors += leat_gcm_open(&gcm, iv, part, r->sealed, len, r->gcm_tag, r->opened) != 0;
    r->errors += memcmp(r->opened, text, len) != 0;
    leat_hmac_sha1(&hmac, &part, 1, r->hmac_tag);
}

static struct results expected[MESSAGES];
static pthread_barrier_t start;

static void *thread_main(void *wrong)
{
    struct results r;
    pthread_barrier_wait(&start);
    for (size_t i = 0; i < ROUNDS * MESSAGES; i++) {
        work(i % MESSAGES, &r);
        *(unsigned *)wrong += memcmp(&r, &expected[i % MESSAGES], sizeof(r)) != 0;
    }
    return NULL;
}

static void contexts__shared_by_eight_threads__give_what_one_thread_gets(void)
{
    static const uint8_t key[32] = {1, 2, 3};
    pthread_t threads[THREADS];
    unsigned wrong[THREADS] = {0};

    LEAT_CHECK_INT(leat_crypto_start(), 0);
    LEAT_CHECK_INT(leat_aes_init(&aes, key, 16), 0);
    LEAT_CHECK_INT(leat_gcm_init(&gcm, key, 32), 0);
    leat_hmac_sha1_init(&hmac, key, 20);
    for (size_t n = 0; n < MESSAGES; n++) {
        work(n, &expected[n]);
        LEAT_CHECK_INT(expected[n].errors, 0);
    }
    pthread_barrier_init(&start, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, thread_main, &wrong[i]) != 0) {
            abort();
        }
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        LEAT_CHECK_INT(wrong[i], 0);
    }
    pthread_barrier_destroy(&start);
    leat_aes_deinit(&aes);
    leat_gcm_deinit(&gcm);
    leat_hmac_sha1_deinit(&hmac);
}

LEAT_TESTS(LEAT_TEST(contexts__shared_by_eight_threads__give_what_one_thread_gets))
