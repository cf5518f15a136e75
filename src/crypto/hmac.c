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

/* Words are the same for every provider, and keys are set up seldom: the reference provider makes
 * them. */
static const struct leat_crypto_sha1 *const sha1 = &leat__crypto_mbedtls.sha1;

/* The chaining words after one block of `key` (at most a block, zero-padded), each octet xored with
 * `pad`. */
static int keep_block(void *state, const uint8_t *key, size_t key_len, uint8_t pad,
                      uint32_t words[static 5])
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

static int make_states(struct leat_hmac_sha1 *h, const uint8_t *key, size_t key_len)
{
    _Alignas(16) uint8_t state[LEAT_CRYPTO_SHA1_STATE_MAX] = {0};
    uint8_t digest[DIGEST];
    int error = 0;

    memset(h, 0, sizeof(*h));
    if (key_len > BLOCK) { /* RFC 2104 2: a longer key is hashed first */
        error = sha1->begin(state);
        if (error == 0) {
            error = sha1->update(state, key, key_len);
        }
        if (error == 0) {
            error = sha1->end(state, digest);
        }
        key = digest;
        key_len = sizeof(digest);
    }
    if (error == 0) {
        error = keep_block(state, key, key_len, 0x36, h->inner);
    }
    if (error == 0) {
        error = keep_block(state, key, key_len, 0x5c, h->outer);
    }
    leat_wipe(state, sizeof(state));
    leat_wipe(digest, sizeof(digest));
    return error;
}

/* A provider's SHA-1 in pieces makes the tag. */
static int tag_in_pieces(const struct leat_crypto_sha1 *hash, const struct leat_hmac_sha1 *h,
                         const struct leat_span *parts, size_t part_count,
                         uint8_t out[static DIGEST])
{
    _Alignas(16) uint8_t state[LEAT_CRYPTO_SHA1_STATE_MAX];
    uint8_t inner[DIGEST];
    int error = 0;

    hash->resume(state, h->inner);
    for (size_t i = 0; i < part_count && error == 0; i++) {
        if (parts[i].len != 0) {
            error = hash->update(state, parts[i].data, parts[i].len);
        }
    }
    if (error == 0) {
        error = hash->end(state, inner);
    }
    if (error == 0) {
        hash->resume(state, h->outer);
        error = hash->update(state, inner, sizeof(inner));
    }
    if (error == 0) {
        error = hash->end(state, out);
    }
    leat_wipe(state, hash->state_size);
    leat_wipe(inner, sizeof(inner));
    return error;
}

int leat__hmac_sha1(const struct leat_crypto_provider *p, const struct leat_hmac_sha1 *h,
                    const struct leat_span *parts, size_t part_count, uint8_t out[static DIGEST])
{
    if (p->hmac_sha1.tag != NULL) {
        return p->hmac_sha1.tag(p, h, parts, part_count, out);
    }
    return tag_in_pieces(&p->sha1, h, parts, part_count, out);
}

int leat__hmac_sha1_batch(const struct leat_crypto_provider *p,
                          const struct leat_hmac_sha1_job *jobs, size_t count)
{
    int error = 0;
    if (p->hmac_sha1.batch != NULL) {
        for (size_t at = 0; at < count && error == 0; at += LEAT_CRYPTO_BATCH_MAX) {
            size_t n = count - at;
            error = p->hmac_sha1.batch(p, jobs + at,
                                       n < LEAT_CRYPTO_BATCH_MAX ? n : LEAT_CRYPTO_BATCH_MAX);
        }
        return error;
    }
    for (size_t i = 0; i < count && error == 0; i++) {
        error = leat__hmac_sha1(p, jobs[i].h, &jobs[i].message, 1, jobs[i].tag);
    }
    return error;
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
    if (make_states(h, key, key_len) != 0) {
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

/* What is left over after full sets of lanes is done one by one when it is few: a set costs the
 * same however many of its lanes are in use. */
#define LANES 16

void leat_hmac_sha1_batch(const struct leat_hmac_sha1_job *jobs, size_t count)
{
    size_t few = count % LANES < leat__crypto_hmac_batch_from() ? count % LANES : 0;
    size_t many = count - few;

    if (leat__hmac_sha1_batch(leat__crypto_provider(LEAT_CRYPTO_HMAC_SHA1_BATCH), jobs, many) !=
        0) {
        for (size_t i = 0; i < many; i++) {
            set_unknowable(jobs[i].tag);
        }
    }
    for (size_t i = many; i < count; i++) {
        leat_hmac_sha1(jobs[i].h, &jobs[i].message, 1, jobs[i].tag);
    }
}
