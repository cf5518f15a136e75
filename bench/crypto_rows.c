/* SPDX-License-Identifier: MIT */
/* What the files of crypto rows share: names, and the process-wide choice of a provider. */
#include <string.h>

#include <leat/crypto.h>

#include "crypto_rows.h"

struct bench_key crypto_key(const struct crypto_case *c)
{
    static const char *const ops[] = {
        [CRYPTO_HMAC_SHA1] = "hmac-sha1",
        [CRYPTO_HMAC_SHA1_KEY_PER_CALL] = "hmac-sha1-key-per-call",
        [CRYPTO_CTR] = "ctr",
        [CRYPTO_GCM_SEAL] = "gcm-seal",
        [CRYPTO_GCM_OPEN] = "gcm-open",
        [CRYPTO_BLOCK] = "block",
        [CRYPTO_MASK] = "mask",
        [CRYPTO_MASK_KEY_PER_CALL] = "mask-key-per-call",
        [CRYPTO_SET_UP_HMAC_SHA1] = "set-up-hmac-sha1",
        [CRYPTO_SET_UP_AES] = "set-up-aes",
        [CRYPTO_SET_UP_GCM] = "set-up-gcm",
        [CRYPTO_RANDOM] = "random",
        [CRYPTO_RANDOM_U64] = "random-u64",
    };
    struct bench_key key = {
        .op = ops[c->op], .octets = (unsigned)c->octets, .batch = (unsigned)c->batch};

    switch (c->op) {
    case CRYPTO_HMAC_SHA1:
    case CRYPTO_HMAC_SHA1_KEY_PER_CALL:
    case CRYPTO_SET_UP_HMAC_SHA1:
    case CRYPTO_RANDOM:
    case CRYPTO_RANDOM_U64:
        break;
    default:
        key.suite = c->key_len == 16 ? "AES-128" : c->key_len == 32 ? "AES-256" : "ChaCha20";
    }
    return key;
}

bool crypto_choose(const char *provider, const char *level)
{
    static const char *chosen, *chosen_level;
    bool is_auto = strcmp(provider, CRYPTO_AUTO) == 0;
    struct leat_crypto_options options = {.provider = is_auto ? NULL : provider, .level = level};

    if (provider == chosen && level == chosen_level) {
        return true;
    }
    if (leat_crypto_start_with(&options) != 0) {
        return false;
    }
    chosen = provider;
    chosen_level = level;
    return true;
}
