/* SPDX-License-Identifier: MIT */
/*
 * Bursts and direct calls of intel-ipsec-mb as fast as the library allows: keys expanded and HMAC
 * states hashed beforehand, job structures filled for each burst because the library overwrites
 * them.
 */
#include "raw_ipsecmb.h"

#ifndef BENCH_IPSECMB

const char *raw_ipsecmb_level(size_t i)
{
    (void)i;
    return NULL;
}

struct raw_ipsecmb *raw_ipsecmb_new(const char *level, size_t keys, const char **why)
{
    (void)level;
    (void)keys;
    *why = "built without the header of intel-ipsec-mb";
    return NULL;
}

void raw_ipsecmb_free(struct raw_ipsecmb *raw)
{
    (void)raw;
}

bool raw_ipsecmb_hmac_sha1(struct raw_ipsecmb *raw, size_t batch, size_t octets)
{
    (void)raw;
    (void)batch;
    (void)octets;
    return false;
}

bool raw_ipsecmb_ctr(struct raw_ipsecmb *raw, size_t key_len, size_t batch, size_t octets)
{
    (void)key_len;
    return raw_ipsecmb_hmac_sha1(raw, batch, octets);
}

bool raw_ipsecmb_cm_sha1(struct raw_ipsecmb *raw, size_t batch, size_t octets)
{
    return raw_ipsecmb_hmac_sha1(raw, batch, octets);
}

bool raw_ipsecmb_gcm(struct raw_ipsecmb *raw, size_t key_len, size_t batch, size_t octets)
{
    return raw_ipsecmb_ctr(raw, key_len, batch, octets);
}

#else

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Its old names clash with those of other libraries. */
#define NO_COMPAT_IMB_API_053 1
#include <intel-ipsec-mb.h>

#define HEADER 12 /* octets of RTP header, and of GCM's additional data */
#define ROC 4

/* One peer's keys. GCM's key data must be aligned to 64 octets, as its type says. */
struct keys {
    struct gcm_key_data gcm_128, gcm_256;
    _Alignas(16) uint8_t ctr_128[16 * 11], ctr_256[16 * 15];
    _Alignas(16) uint8_t inner[20], outer[20];
    _Alignas(16) uint8_t iv[16];
};

struct raw_ipsecmb {
    void *library;
    IMB_MGR *manager;
    void (*free_manager)(IMB_MGR *manager);
    struct keys *keys;
    size_t key_count, at;
    IMB_JOB jobs[RAW_MESSAGES_MAX];
    uint8_t plain[RAW_OCTETS_MAX];
    uint8_t packets[RAW_MESSAGES_MAX][RAW_OCTETS_MAX + 36];
    uint8_t tags[RAW_MESSAGES_MAX][20];
};

static const struct {
    const char *name;
    const char *init; /* exported by every version */
    uint64_t needs;   /* of the CPU */
} levels[] = {
    {"avx512", "init_mb_mgr_avx512", IMB_CPUFLAGS_AVX512},
    {"avx2", "init_mb_mgr_avx2", IMB_CPUFLAGS_AVX2},
    {"sse", "init_mb_mgr_sse", IMB_CPUFLAGS_SSE},
};
#define LEVELS (sizeof(levels) / sizeof(levels[0]))

const char *raw_ipsecmb_level(size_t i)
{
    return i < LEVELS ? levels[i].name : NULL;
}

/* The chaining words after one block of the key, combined with `pad`. */
static void hash_pad(IMB_MGR *m, const uint8_t key[static 20], uint8_t pad, uint8_t out[static 20])
{
    uint8_t block[64];

    memset(block, pad, sizeof(block));
    for (size_t i = 0; i < 20; i++) {
        block[i] ^= key[i];
    }
    IMB_SHA1_ONE_BLOCK(m, block, out);
}

static void make_keys(IMB_MGR *m, struct keys *k, size_t index)
{
    _Alignas(16) uint8_t unused[16 * 15]; /* the schedule for decryption */
    uint8_t key[32];

    for (size_t i = 0; i < sizeof(key); i++) {
        key[i] = (uint8_t)(i * 7 + index * 13 + (index >> 8));
    }
    IMB_AES_KEYEXP_128(m, key, k->ctr_128, unused);
    IMB_AES_KEYEXP_256(m, key, k->ctr_256, unused);
    IMB_AES128_GCM_PRE(m, key, &k->gcm_128);
    IMB_AES256_GCM_PRE(m, key, &k->gcm_256);
    hash_pad(m, key, 0x36, k->inner);
    hash_pad(m, key, 0x5c, k->outer);
    memset(k->iv, (int)(index & 0xff), sizeof(k->iv));
    k->iv[14] = k->iv[15] = 0;
}

/* A function of the library. ISO C has no conversion from what dlsym gives. */
static bool take(void *library, const char *name, void *function, size_t size)
{
    void *symbol = dlsym(library, name);

    memcpy(function, &symbol, size);
    return symbol != NULL;
}

/* Load the library and make a manager of the level, or say why not. */
static bool start(struct raw_ipsecmb *raw, const char *level, const char **why)
{
    IMB_MGR *(*alloc_manager)(uint64_t flags);
    void (*init)(IMB_MGR * manager);
    char file[32];
    size_t i = 0;

    /* The structures of another major version are others. */
    snprintf(file, sizeof(file), "libIPSec_MB.so.%d", IMB_VERSION_NUM >> 16);
    raw->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (raw->library == NULL) {
        *why = "intel-ipsec-mb is not installed in the version built for";
        return false;
    }
    while (i + 1 < LEVELS && strcmp(levels[i].name, level) != 0) {
        i++;
    }
    *why = "intel-ipsec-mb lacks a function";
    if (!take(raw->library, "alloc_mb_mgr", &alloc_manager, sizeof(alloc_manager)) ||
        !take(raw->library, "free_mb_mgr", &raw->free_manager, sizeof(raw->free_manager)) ||
        !take(raw->library, levels[i].init, &init, sizeof(init))) {
        return false;
    }
    raw->manager = alloc_manager(0);
    if (raw->manager == NULL || (raw->manager->features & levels[i].needs) != levels[i].needs) {
        *why = "the CPU lacks this level";
        return false;
    }
    init(raw->manager);
    *why = "intel-ipsec-mb could not start";
    return raw->manager->imb_errno == 0;
}

struct raw_ipsecmb *raw_ipsecmb_new(const char *level, size_t keys, const char **why)
{
    struct raw_ipsecmb *raw = calloc(1, sizeof(*raw));

    if (raw == NULL || !start(raw, level, why)) {
        goto fail;
    }
    *why = "out of memory";
    raw->keys = aligned_alloc(64, keys * sizeof(struct keys));
    if (raw->keys == NULL) {
        goto fail;
    }
    raw->key_count = keys;
    for (size_t i = 0; i < keys; i++) {
        make_keys(raw->manager, &raw->keys[i], i);
    }
    memset(raw->plain, 0x55, sizeof(raw->plain));
    return raw;
fail:
    raw_ipsecmb_free(raw);
    return NULL;
}

void raw_ipsecmb_free(struct raw_ipsecmb *raw)
{
    if (raw == NULL) {
        return;
    }
    if (raw->manager != NULL) {
        raw->free_manager(raw->manager);
    }
    if (raw->library != NULL) {
        dlclose(raw->library);
    }
    free(raw->keys);
    free(raw);
}

/* The keys of message i of a batch. */
static const struct keys *keys_of(const struct raw_ipsecmb *raw, size_t i)
{
    size_t index = raw->at + i;

    return &raw->keys[index < raw->key_count ? index : index - raw->key_count];
}

static void move_on(struct raw_ipsecmb *raw, size_t batch)
{
    raw->at += batch;
    raw->at -= raw->at < raw->key_count ? 0 : raw->key_count;
}

/* Hash `len` octets of each packet. */
static bool hash_burst(struct raw_ipsecmb *raw, size_t batch, size_t len, size_t tag_len)
{
    for (size_t i = 0; i < batch; i++) {
        const struct keys *k = keys_of(raw, i);
        IMB_JOB *job = &raw->jobs[i];

        job->src = raw->packets[i];
        job->hash_start_src_offset_in_bytes = 0;
        job->msg_len_to_hash_in_bytes = len;
        job->auth_tag_output = raw->tags[i];
        job->auth_tag_output_len_in_bytes = tag_len;
        job->u.HMAC._hashed_auth_key_xor_ipad = k->inner;
        job->u.HMAC._hashed_auth_key_xor_opad = k->outer;
    }
    return IMB_SUBMIT_HASH_BURST_NOCHECK(raw->manager, raw->jobs, (uint32_t)batch,
                                         IMB_AUTH_HMAC_SHA_1) == batch;
}

/* Encipher `len` octets from `skip` on of the plaintext into each packet. */
static bool cipher_burst(struct raw_ipsecmb *raw, size_t key_len, size_t batch, size_t skip,
                         size_t len)
{
    for (size_t i = 0; i < batch; i++) {
        const struct keys *k = keys_of(raw, i);
        IMB_JOB *job = &raw->jobs[i];

        job->enc_keys = key_len == 16 ? k->ctr_128 : k->ctr_256;
        job->key_len_in_bytes = key_len;
        job->src = raw->plain;
        job->dst = raw->packets[i] + skip;
        job->cipher_start_src_offset_in_bytes = skip;
        job->msg_len_to_cipher_in_bytes = len;
        job->iv = k->iv;
        job->iv_len_in_bytes = 16;
    }
    return IMB_SUBMIT_CIPHER_BURST_NOCHECK(
               raw->manager, raw->jobs, (uint32_t)batch, IMB_CIPHER_CNTR, IMB_DIR_ENCRYPT,
               key_len == 16 ? IMB_KEY_128_BYTES : IMB_KEY_256_BYTES) == batch;
}

bool raw_ipsecmb_hmac_sha1(struct raw_ipsecmb *raw, size_t batch, size_t octets)
{
    bool is_done = hash_burst(raw, batch, octets, 20);

    move_on(raw, batch);
    return is_done;
}

bool raw_ipsecmb_ctr(struct raw_ipsecmb *raw, size_t key_len, size_t batch, size_t octets)
{
    bool is_done = cipher_burst(raw, key_len, batch, 0, octets);

    move_on(raw, batch);
    return is_done;
}

bool raw_ipsecmb_cm_sha1(struct raw_ipsecmb *raw, size_t batch, size_t octets)
{
    bool is_done;

    for (size_t i = 0; i < batch; i++) {
        memcpy(raw->packets[i], raw->plain, HEADER);
        memset(raw->packets[i] + octets, 0, ROC);
    }
    is_done = cipher_burst(raw, 16, batch, HEADER, octets - HEADER) &&
              hash_burst(raw, batch, octets + ROC, 12);
    move_on(raw, batch);
    return is_done;
}

bool raw_ipsecmb_gcm(struct raw_ipsecmb *raw, size_t key_len, size_t batch, size_t octets)
{
    IMB_MGR *m = raw->manager;

    for (size_t i = 0; i < batch; i++) {
        const struct keys *k = keys_of(raw, i);
        uint8_t *out = raw->packets[i] + HEADER;
        struct gcm_context_data context;

        if (key_len == 16) {
            IMB_AES128_GCM_ENC(m, &k->gcm_128, &context, out, raw->plain, octets, k->iv, raw->plain,
                               HEADER, out + octets, 16);
        } else {
            IMB_AES256_GCM_ENC(m, &k->gcm_256, &context, out, raw->plain, octets, k->iv, raw->plain,
                               HEADER, out + octets, 16);
        }
    }
    move_on(raw, batch);
    return true;
}

#endif
