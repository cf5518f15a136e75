/* SPDX-License-Identifier: MIT */
/*
 * HMAC-SHA1 (RFC 2104) whose key costs its two compressions once.
 *
 *   tag = SHA1(key ^ opad, SHA1(key ^ ipad, message))
 *              `- outer          `- inner      the chaining words after these blocks are kept
 *
 * Every message starts from the kept words, so a context is never written after its init.
 */
#include "provider.h"

enum { BLOCK = 64, DIGEST = 20 };

/* The chaining words after one block of `key` (at most a block, zero-padded), each octet xored with
 * `pad`. */
static int keep_block(const struct leat_crypto_sha1 *sha1, void *state, const uint8_t *key,
                      size_t key_len, uint8_t pad, uint32_t words[static 5])
{
    uint8_t block[BLOCK];

    memset(block, pad, sizeof(block));
    for (size_t i = 0; i < key_len; i++) {
        block[i] ^= key[i];
    }
    int error = sha1->begin(state);
    if (error == 0) {
        error = sha1->update(state, block, sizeof(block));
    }
    if (error == 0) {
        sha1->keep(state, words);
    }
    leat_wipe(block, sizeof(block));
    return error;
}

int leat__hmac_sha1_init(const struct leat_crypto_provider *p, struct leat_hmac_sha1 *h,
                         const void *key, size_t key_len)
{
    const struct leat_crypto_sha1 *sha1 = &p->sha1;
    struct leat_hmac_sha1_run scratch = {0};
    uint8_t digest[DIGEST];
    int error = 0;

    memset(h, 0, sizeof(*h));
    if (key_len > BLOCK) { /* RFC 2104 2: a longer key is hashed first */
        error = sha1->begin(scratch.state);
        if (error == 0) {
            error = sha1->update(scratch.state, key, key_len);
        }
        if (error == 0) {
            error = sha1->end(scratch.state, digest);
        }
        key = digest;
        key_len = sizeof(digest);
    }
    if (error == 0) {
        error = keep_block(sha1, scratch.state, key, key_len, 0x36, h->inner);
    }
    if (error == 0) {
        error = keep_block(sha1, scratch.state, key, key_len, 0x5c, h->outer);
    }
    leat_wipe(&scratch, sizeof(scratch));
    leat_wipe(digest, sizeof(digest));
    return error;
}

/* state: the inner hash after the message. It is wiped. */
static int finish(const struct leat_crypto_sha1 *sha1, const struct leat_hmac_sha1 *h, void *state,
                  uint8_t out[static DIGEST])
{
    uint8_t inner[DIGEST];
    int error = sha1->end(state, inner);
    if (error == 0) {
        sha1->resume(state, h->outer);
        error = sha1->update(state, inner, sizeof(inner));
    }
    if (error == 0) {
        error = sha1->end(state, out);
    }
    leat_wipe(state, sha1->state_size);
    leat_wipe(inner, sizeof(inner));
    return error;
}

int leat__hmac_sha1(const struct leat_crypto_provider *p, const struct leat_hmac_sha1 *h,
                    const struct leat_span *parts, size_t part_count, uint8_t out[static DIGEST])
{
    struct leat_hmac_sha1_run run;
    int error = 0;

    p->sha1.resume(run.state, h->inner);
    for (size_t i = 0; i < part_count && error == 0; i++) {
        if (parts[i].len != 0) {
            error = p->sha1.update(run.state, parts[i].data, parts[i].len);
        }
    }
    int finish_error = finish(&p->sha1, h, run.state, out);
    return error != 0 ? error : finish_error;
}

/* The callers have no way to act on a provider's failure, so they get a tag that nobody can know
 * beforehand: sent, the receiver drops it; compared with a received one, it differs. */
static void set_unknowable(uint8_t out[static DIGEST])
{
    leat_rng_fill(leat_rng_thread(), out, DIGEST);
}

static void set_unknowable_key(struct leat_hmac_sha1 *h)
{
    leat_rng_fill(leat_rng_thread(), h->inner, sizeof(h->inner));
    leat_rng_fill(leat_rng_thread(), h->outer, sizeof(h->outer));
}

void leat_hmac_sha1_init(struct leat_hmac_sha1 *h, const void *key, size_t key_len)
{
    if (leat__hmac_sha1_init(leat__crypto_provider(LEAT_CRYPTO_HMAC_SHA1), h, key, key_len) != 0) {
        set_unknowable_key(h);
    }
}

void leat_hmac_sha1_deinit(struct leat_hmac_sha1 *h)
{
    leat_wipe(h, sizeof(*h));
}

void leat_hmac_sha1(const struct leat_hmac_sha1 *h, const struct leat_span *parts,
                    size_t part_count, uint8_t out[static DIGEST])
{
    if (leat__hmac_sha1(leat__crypto_provider(LEAT_CRYPTO_HMAC_SHA1), h, parts, part_count, out) !=
        0) {
        set_unknowable(out);
    }
}

void leat_hmac_sha1_begin(struct leat_hmac_sha1_run *run, const struct leat_hmac_sha1 *h)
{
    run->h = h;
    leat__crypto_provider(LEAT_CRYPTO_HMAC_SHA1)->sha1.resume(run->state, h->inner);
}

void leat_hmac_sha1_update(struct leat_hmac_sha1_run *run, const void *data, size_t len)
{
    if (run->h == NULL || len == 0) {
        return;
    }
    if (leat__crypto_provider(LEAT_CRYPTO_HMAC_SHA1)->sha1.update(run->state, data, len) != 0) {
        run->h = NULL; /* failed, until the next begin */
    }
}

void leat_hmac_sha1_end(struct leat_hmac_sha1_run *run, uint8_t out[static DIGEST])
{
    const struct leat_crypto_sha1 *sha1 = &leat__crypto_provider(LEAT_CRYPTO_HMAC_SHA1)->sha1;
    if (run->h == NULL || finish(sha1, run->h, run->state, out) != 0) {
        set_unknowable(out);
    }
    leat_wipe(run, sizeof(*run));
}

void leat_hmac_sha1_batch(const struct leat_hmac_sha1_job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        leat_hmac_sha1(jobs[i].h, &jobs[i].message, 1, jobs[i].tag);
    }
}
