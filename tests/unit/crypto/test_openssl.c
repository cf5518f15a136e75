/* SPDX-License-Identifier: MIT */
/* What is particular to OpenSSL: an error queue a thread, and allocations of its own, which are
 * counted here in its place. */
#include <stdlib.h>

#include <openssl/crypto.h>
#include <openssl/err.h>

#include "harness.h"
#include "provider.h"

static const struct leat_crypto_provider *const p = &leat__crypto_openssl;
static size_t allocations;

static void *count_malloc(size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    allocations++;
    return malloc(size);
}

static void *count_realloc(void *at, size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    allocations++;
    return realloc(at, size);
}

static void count_free(void *at, const char *file, int line)
{
    (void)file;
    (void)line;
    free(at);
}

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

int main(int argc, char **argv)
{
    static const struct leat_test tests[] = {
        LEAT_TEST(operations__after_a_threads_first__allocate_nothing),
        LEAT_TEST(failures__of_every_kind__leave_no_error_queued),
    };
    if (CRYPTO_set_mem_functions(count_malloc, count_realloc, count_free) != 1 ||
        !p->is_available(p)) {
        abort();
    }
    return leat_test_main(tests, LEAT_ARRAY_LEN(tests), argc, argv);
}
