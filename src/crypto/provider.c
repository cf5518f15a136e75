/* SPDX-License-Identifier: MIT */
/*
 * Which provider serves which primitive: chosen once at start among those whose known answers pass
 * (known_answers.c), constant from then on. Until then the reference provider serves all.
 */
#include <pthread.h>

#include "provider.h"

/* In the order of preference. A further provider is one file and one row here. */
static const struct leat_crypto_provider *const built_in[] = {&leat__crypto_mbedtls};

static const char *const primitive_names[LEAT_CRYPTO_PRIMITIVE_COUNT] = {
    [LEAT_CRYPTO_SHA256] = "sha-256",
    [LEAT_CRYPTO_HMAC_SHA1] = "hmac-sha1",
    [LEAT_CRYPTO_HMAC_SHA1_BATCH] = "hmac-sha1-batch",
    [LEAT_CRYPTO_AES_128_CTR] = "aes-128-ctr",
    [LEAT_CRYPTO_AES_128_CTR_BATCH] = "aes-128-ctr-batch",
    [LEAT_CRYPTO_AES_256_CTR] = "aes-256-ctr",
    [LEAT_CRYPTO_AES_256_CTR_BATCH] = "aes-256-ctr-batch",
    [LEAT_CRYPTO_AES_128_GCM] = "aes-128-gcm",
    [LEAT_CRYPTO_AES_128_GCM_BATCH] = "aes-128-gcm-batch",
    [LEAT_CRYPTO_AES_256_GCM] = "aes-256-gcm",
    [LEAT_CRYPTO_AES_256_GCM_BATCH] = "aes-256-gcm-batch",
    [LEAT_CRYPTO_KEY_STREAM] = "key-stream",
};

/* NULL: the reference provider. */
static const struct leat_crypto_provider *chosen[LEAT_CRYPTO_PRIMITIVE_COUNT];

static pthread_once_t version_once = PTHREAD_ONCE_INIT;
static char version_text[64];

const struct leat_crypto_provider *leat__crypto_provider(enum leat_crypto_primitive primitive)
{
    return chosen[primitive] != NULL ? chosen[primitive] : &leat__crypto_mbedtls;
}

int leat__crypto_choose(const struct leat_crypto_provider *const *providers, size_t count)
{
    const struct leat_crypto_provider *choice[LEAT_CRYPTO_PRIMITIVE_COUNT] = {NULL};

    for (size_t i = 0; i < LEAT_CRYPTO_PRIMITIVE_COUNT; i++) {
        for (size_t p = 0; p < count && choice[i] == NULL; p++) {
            if (leat__crypto_provider_passes(providers[p], (enum leat_crypto_primitive)i)) {
                choice[i] = providers[p];
            }
        }
        if (choice[i] == NULL) {
            return LEAT_E_CRYPTO;
        }
    }
    memcpy(chosen, choice, sizeof(chosen));
    return 0;
}

int leat_crypto_start_with(const struct leat_crypto_options *options)
{
    if (options != NULL && options->provider != NULL &&
        strcmp(options->provider, leat__crypto_mbedtls.name) != 0) {
        return LEAT_E_INVALID;
    }
    /* The random generator falls back on the reference provider whatever is chosen. */
    if (!leat__crypto_provider_passes(&leat__crypto_mbedtls, LEAT_CRYPTO_KEY_STREAM)) {
        return LEAT_E_CRYPTO;
    }
    return leat__crypto_choose(built_in, LEAT_ARRAY_LEN(built_in));
}

int leat_crypto_start(void)
{
    return leat_crypto_start_with(NULL);
}

const char *leat_crypto_provider_name(size_t i)
{
    return i < LEAT_ARRAY_LEN(built_in) ? built_in[i]->name : NULL;
}

bool leat_crypto_describe(size_t row, const char **primitive, const char **provider)
{
    if (row >= LEAT_CRYPTO_PRIMITIVE_COUNT) {
        return false;
    }
    *primitive = primitive_names[row];
    *provider = leat__crypto_provider((enum leat_crypto_primitive)row)->name;
    return true;
}

static void write_version(void)
{
    leat__crypto_mbedtls.version(version_text, sizeof(version_text));
}

const char *leat_crypto_library_version(void)
{
    pthread_once(&version_once, write_version);
    return version_text;
}
