/* SPDX-License-Identifier: MIT */
/* What is particular to OpenSSL: an error queue a thread, contexts that it writes into, and memory
 * of its own, which is handed out here in its place: counted, and searched for keys. */
#include <pthread.h>
#include <stdlib.h>

#include <openssl/crypto.h>
#include <openssl/err.h>

#include "harness.h"
#include "provider.h"

static const struct leat_crypto_provider *const p = &leat__crypto_openssl;

/* ---- the library's memory ---- */

/* Stands in front of what the library gets. */
struct allocation {
    _Alignas(16) struct allocation *next;
    struct allocation *before;
    size_t size;
};

static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;
static struct allocation memory = {&memory, &memory, 0}; /* a ring of all that is not freed */
static size_t allocations;
static size_t fail_in;        /* the allocation that fails, counted from 1; 0: none */
static const uint8_t *needle; /* 32 octets; NULL: nothing is looked for */
static size_t freed_with_needle;

static bool has_needle(const struct allocation *a)
{
    return needle != NULL && memmem(a + 1, a->size, needle, 32) != NULL;
}

static void *our_malloc(size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    pthread_mutex_lock(&memory_lock);
    bool is_short = fail_in > 0 && --fail_in == 0;
    pthread_mutex_unlock(&memory_lock);
    struct allocation *a = is_short ? NULL : malloc(sizeof(*a) + size);
    if (a == NULL) {
        return NULL;
    }
    a->size = size;
    a->before = &memory;
    pthread_mutex_lock(&memory_lock);
    a->next = memory.next;
    memory.next->before = a;
    memory.next = a;
    allocations++;
    pthread_mutex_unlock(&memory_lock);
    return a + 1;
}

static void our_free(void *at, const char *file, int line)
{
    (void)file;
    (void)line;
    if (at == NULL) {
        return;
    }
    struct allocation *a = (struct allocation *)at - 1;
    pthread_mutex_lock(&memory_lock);
    freed_with_needle += has_needle(a);
    a->before->next = a->next;
    a->next->before = a->before;
    pthread_mutex_unlock(&memory_lock);
    free(a);
}

static void *our_realloc(void *at, size_t size, const char *file, int line)
{
    void *to = our_malloc(size, file, line);
    if (to != NULL && at != NULL) {
        size_t old_size = ((struct allocation *)at - 1)->size;
        memcpy(to, at, old_size < size ? old_size : size);
        our_free(at, file, line);
    }
    return to;
}

static size_t live(void)
{
    size_t count = 0;
    pthread_mutex_lock(&memory_lock);
    for (const struct allocation *a = memory.next; a != &memory; a = a->next) {
        count++;
    }
    pthread_mutex_unlock(&memory_lock);
    return count;
}

static void look_for(const uint8_t key[static 32])
{
    pthread_mutex_lock(&memory_lock);
    needle = key;
    freed_with_needle = 0;
    pthread_mutex_unlock(&memory_lock);
}

/* How many pieces of memory hold the key, or held it when they were freed. */
static size_t found(void)
{
    pthread_mutex_lock(&memory_lock);
    size_t count = freed_with_needle;
    for (const struct allocation *a = memory.next; a != &memory; a = a->next) {
        count += has_needle(a);
    }
    pthread_mutex_unlock(&memory_lock);
    return count;
}

/* ---- operations ---- */

struct contexts {
    struct leat_aes aes;
    struct leat_gcm gcm;
    struct leat_hmac_sha1 hmac;
};

/* One of each operation; the GCM tag that is opened is right or wrong. */
static void do_all(const struct contexts *c, bool is_tag_right)
{
    static uint8_t text[1200], out[1200];
    static const uint8_t iv[16] = {3};
    uint8_t tag[20], block[16];
    struct leat_span message = leat_span(text, sizeof(text));

    LEAT_CHECK_INT(leat_aes_block(&c->aes, iv, block), 0);
    LEAT_CHECK_INT(leat_aes_ctr(&c->aes, iv, text, sizeof(text), out), 0);
    LEAT_CHECK_INT(leat__hmac_sha1(p, &c->hmac, &message, 1, tag), 0);
    LEAT_CHECK_INT(leat_gcm_seal(&c->gcm, iv, message, text, sizeof(text), out, tag), 0);
    tag[5] ^= is_tag_right ? 0 : 1;
    LEAT_CHECK_INT(leat_gcm_open(&c->gcm, iv, message, out, sizeof(text), tag, out),
                   is_tag_right ? 0 : LEAT_E_INVALID);
    LEAT_CHECK_INT(p->key_stream(p, text, out, 544), 0);
    LEAT_CHECK_INT(p->sha256(text, sizeof(text), out), 0);
}

static void make_contexts(struct contexts *c)
{
    static const uint8_t key[32] = {1, 2};
    LEAT_CHECK_INT(leat__aes_init(p, &c->aes, key, 16), 0);
    LEAT_CHECK_INT(leat__gcm_init(p, &c->gcm, key, 32), 0);
    leat_hmac_sha1_init(&c->hmac, key, 20);
}

static void forget_contexts(struct contexts *c)
{
    leat_aes_deinit(&c->aes);
    leat_gcm_deinit(&c->gcm);
    leat_hmac_sha1_deinit(&c->hmac);
}

static void operations__after_a_threads_first__allocate_nothing(void)
{
    struct contexts c;
    make_contexts(&c);
    do_all(&c, true);
    LEAT_CHECK(allocations > 0); /* the counter counts */
    size_t before = allocations;
    for (int i = 0; i < 100; i++) {
        do_all(&c, true);
    }
    LEAT_CHECK_INT(allocations, before);
    forget_contexts(&c);
}

static void failures__of_every_kind__leave_no_error_queued(void)
{
    static uint8_t octets[16];
    struct contexts c;
    make_contexts(&c);
    do_all(&c, false);
    LEAT_CHECK(ERR_peek_error() == 0);
    /* Longer than the library's int. */
    LEAT_CHECK_INT(leat_aes_ctr(&c.aes, octets, octets, (size_t)1 << 31, octets), LEAT_E_CRYPTO);
    LEAT_CHECK_INT(p->gcm.seal(c.gcm.state, octets, leat_span(octets, 1), octets, (size_t)1 << 31,
                               octets, octets),
                   LEAT_E_CRYPTO);
    LEAT_CHECK(ERR_peek_error() == 0);
    do_all(&c, true);
    forget_contexts(&c);
}

/* Each allocation of an init fails once; what went before it is given back. */
static void init__memory_is_short_at_any_point__fails_and_leaves_nothing(void)
{
    static const uint8_t key[32] = {8};
    struct leat_aes a;
    struct leat_gcm g;
    size_t before = live(), n = 0;
    int error = LEAT_E_CRYPTO;

    while (error == LEAT_E_CRYPTO && n < 50) {
        fail_in = ++n;
        error = leat__aes_init(p, &a, key, 16);
        fail_in = 0;
        LEAT_CHECK(ERR_peek_error() == 0);
        LEAT_CHECK_ROW(n, error == 0 || live() == before);
    }
    LEAT_CHECK_INT(error, 0);
    LEAT_CHECK(n > 2); /* two contexts need at least two pieces */
    leat_aes_deinit(&a);
    fail_in = 1;
    LEAT_CHECK_INT(leat__gcm_init(p, &g, key, 16), LEAT_E_CRYPTO);
    fail_in = 0;
    LEAT_CHECK(ERR_peek_error() == 0);
    LEAT_CHECK_INT(live(), before);
}

/* ---- keys ---- */

/* A cipher that keeps its key as it is shows that the search finds one; AES on this processor may
 * or may not. */
static void keys__after_use__are_nowhere_in_the_librarys_memory(void)
{
    static const uint8_t key[32] = "a key that is nowhere else in it", iv[16], zeros[600];
    static uint8_t out[600];
    struct leat_chachapoly c;
    struct leat_gcm g;
    struct leat_aes a;
    uint8_t tag[16];

    look_for(key);
    LEAT_CHECK_INT(leat__chachapoly_init(p, &c, key), 0);
    LEAT_CHECK(found() > 0);
    LEAT_CHECK_INT(leat__aes_init(p, &a, key, 32), 0);
    LEAT_CHECK_INT(leat__gcm_init(p, &g, key, 32), 0);
    LEAT_CHECK_INT(leat_aes_ctr(&a, iv, zeros, 77, out), 0);
    LEAT_CHECK_INT(leat_gcm_seal(&g, iv, leat_span(zeros, 5), zeros, 77, out, tag), 0);
    LEAT_CHECK_INT(leat_chachapoly_seal(&c, iv, leat_span(zeros, 5), zeros, 77, out, tag), 0);
    leat_aes_deinit(&a);
    leat_gcm_deinit(&g);
    leat_chachapoly_deinit(&c);
    LEAT_CHECK_INT(found(), 0);

    LEAT_CHECK_INT(p->key_stream(p, key, out, 544), 0);
    LEAT_CHECK_INT(found(), 0);
    needle = NULL;
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 4000, LEN = 333 };

/* One set of contexts and what each operation gives with it. */
static struct shared {
    struct leat_aes aes;
    struct leat_gcm gcm;
    struct leat_chachapoly chachapoly;
    uint8_t block[16], ctr[LEN];
    uint8_t gcm_out[LEN], gcm_tag[16], chachapoly_out[LEN], chachapoly_tag[16];
} shared;
static pthread_barrier_t barrier;
static const uint8_t shared_text[LEN] = {7, 6, 5};

/* Seals, opens, and opens with a wrong tag. @return whether all that is as expected */
static bool gcm_is_right(const uint8_t iv[static 16], struct leat_span aad)
{
    uint8_t out[LEN], tag[16];
    bool is_right = leat_gcm_seal(&shared.gcm, iv, aad, shared_text, LEN, out, tag) == 0 &&
                    memcmp(out, shared.gcm_out, LEN) == 0 && memcmp(tag, shared.gcm_tag, 16) == 0 &&
                    leat_gcm_open(&shared.gcm, iv, aad, out, LEN, tag, out) == 0 &&
                    memcmp(out, shared_text, LEN) == 0;
    tag[3] ^= 4;
    return is_right &&
           leat_gcm_open(&shared.gcm, iv, aad, shared.gcm_out, LEN, tag, out) == LEAT_E_INVALID;
}

static bool chachapoly_is_right(const uint8_t iv[static 16], struct leat_span aad)
{
    const struct leat_chachapoly *c = &shared.chachapoly;
    uint8_t out[LEN], tag[16];
    bool is_right = leat_chachapoly_seal(c, iv, aad, shared_text, LEN, out, tag) == 0 &&
                    memcmp(out, shared.chachapoly_out, LEN) == 0 &&
                    memcmp(tag, shared.chachapoly_tag, 16) == 0 &&
                    leat_chachapoly_open(c, iv, aad, out, LEN, tag, out) == 0 &&
                    memcmp(out, shared_text, LEN) == 0;
    tag[3] ^= 4;
    return is_right &&
           leat_chachapoly_open(c, iv, aad, shared.chachapoly_out, LEN, tag, out) == LEAT_E_INVALID;
}

static void *use_shared(void *wrong)
{
    static const uint8_t iv[16] = {9};
    struct leat_span aad = leat_span(shared_text, 12);
    uint8_t out[LEN];

    pthread_barrier_wait(&barrier);
    for (int i = 0; i < ROUNDS; i++) {
        bool is_right = leat_aes_block(&shared.aes, iv, out) == 0 &&
                        memcmp(out, shared.block, 16) == 0 &&
                        leat_aes_ctr(&shared.aes, iv, shared_text, LEN, out) == 0 &&
                        memcmp(out, shared.ctr, LEN) == 0 && gcm_is_right(iv, aad) &&
                        chachapoly_is_right(iv, aad) && ERR_peek_error() == 0;
        *(unsigned *)wrong += !is_right;
    }
    return NULL;
}

/* The same keys by the reference provider say what is right. */
static void expect_of_reference(const uint8_t key[static 32])
{
    static const uint8_t iv[16] = {9};
    struct leat_span aad = leat_span(shared_text, 12);
    struct leat_aes a;
    struct leat_gcm g;
    struct leat_chachapoly c;

    LEAT_CHECK_INT(leat__aes_init(&leat__crypto_mbedtls, &a, key, 16), 0);
    LEAT_CHECK_INT(leat__gcm_init(&leat__crypto_mbedtls, &g, key, 16), 0);
    LEAT_CHECK_INT(leat__chachapoly_init(&leat__crypto_mbedtls, &c, key), 0);
    LEAT_CHECK_INT(leat_aes_block(&a, iv, shared.block), 0);
    LEAT_CHECK_INT(leat_aes_ctr(&a, iv, shared_text, LEN, shared.ctr), 0);
    LEAT_CHECK_INT(leat_gcm_seal(&g, iv, aad, shared_text, LEN, shared.gcm_out, shared.gcm_tag), 0);
    LEAT_CHECK_INT(leat_chachapoly_seal(&c, iv, aad, shared_text, LEN, shared.chachapoly_out,
                                        shared.chachapoly_tag),
                   0);
    leat_aes_deinit(&a);
    leat_gcm_deinit(&g);
    leat_chachapoly_deinit(&c);
}

static void contexts__every_operation_in_threads_at_once__give_the_reference(void)
{
    static const uint8_t key[32] = {5, 4, 3};
    pthread_t threads[THREADS];
    unsigned wrong[THREADS] = {0};

    expect_of_reference(key);
    LEAT_CHECK_INT(leat__aes_init(p, &shared.aes, key, 16), 0);
    LEAT_CHECK_INT(leat__gcm_init(p, &shared.gcm, key, 16), 0);
    LEAT_CHECK_INT(leat__chachapoly_init(p, &shared.chachapoly, key), 0);
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, use_shared, &wrong[i]) != 0) {
            abort();
        }
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        LEAT_CHECK_INT(wrong[i], 0);
    }
    pthread_barrier_destroy(&barrier);
    leat_aes_deinit(&shared.aes);
    leat_gcm_deinit(&shared.gcm);
    leat_chachapoly_deinit(&shared.chachapoly);
}

int main(int argc, char **argv)
{
    static const struct leat_test tests[] = {
        LEAT_TEST(operations__after_a_threads_first__allocate_nothing),
        LEAT_TEST(failures__of_every_kind__leave_no_error_queued),
        LEAT_TEST(init__memory_is_short_at_any_point__fails_and_leaves_nothing),
        LEAT_TEST(keys__after_use__are_nowhere_in_the_librarys_memory),
        LEAT_TEST(contexts__every_operation_in_threads_at_once__give_the_reference),
    };
    if (CRYPTO_set_mem_functions(our_malloc, our_realloc, our_free) != 1 || !p->is_available(p)) {
        abort();
    }
    return leat_test_main(tests, LEAT_ARRAY_LEN(tests), argc, argv);
}
