/* SPDX-License-Identifier: MIT */
#include <leat/crypto.h>

#include "harness.h"
#include "hex.h"

static void aes_block__fips_197__gives_the_cipher_text(void)
{
    static const struct {
        const char *key, *plain, *cipher;
    } rows[] = {
        /* appendices B, C.1, C.3 */
        {"2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734",
         "3925841d02dc09fbdc118597196a0b32"},
        {"000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff",
         "69c4e0d86a7b0430d8cdb78070b4c55a"},
        {"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
         "00112233445566778899aabbccddeeff", "8ea2b7ca516745bfeafc49904b496089"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct octets key = from_hex(rows[i].key), block = from_hex(rows[i].plain);
        struct leat_aes a;
        LEAT_CHECK_INT(leat_aes_init(&a, key.data, key.len), 0);
        LEAT_CHECK_INT(leat_aes_block(&a, block.data, block.data), 0);
        LEAT_CHECK_MEM(block.data, 16, from_hex(rows[i].cipher).data, 16);
        leat_aes_deinit(&a);
    }
}

static const char sp_800_38a_plain[] =
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";

static const struct {
    const char *key, *iv, *plain, *cipher;
} ctr_rows[] = {
    /* SP 800-38A F.5.1 and F.5.5 */
    {"2b7e151628aed2a6abf7158809cf4f3c", "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", sp_800_38a_plain,
     "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
     "5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee"},
    {"603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
     "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", sp_800_38a_plain,
     "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
     "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"},
    /* By the OpenSSL of Python's cryptography: the counter runs over 2^128, and out of its low 32
       bits */
    {"000102030405060708090a0b0c0d0e0f", "fffffffffffffffffffffffffffffffe",
     "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
     "000",
     "b6b5c2d82d8bd40fcf4ed8f4ae6e97ee3c441f32ce07822364d7a2990e50bb13c6a13b37878f5b826f4f8162a1c8d"
     "879"},
    {"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
     "000000000000000000000001ffffffff",
     "00000000000000000000000000000000000000000000000000000000000000000000000000000000",
     "08af40389b982efcfe2361b876db737a39e6e71913826a5599dc0e5121816b2aecd9a6e52349f143"},
};

static void aes_ctr__vectors__give_the_cipher_text_at_every_length(void)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(ctr_rows); i++) {
        struct octets key = from_hex(ctr_rows[i].key), iv = from_hex(ctr_rows[i].iv);
        struct octets plain = from_hex(ctr_rows[i].plain), cipher = from_hex(ctr_rows[i].cipher);
        struct leat_aes a;
        LEAT_CHECK_INT(leat_aes_init(&a, key.data, key.len), 0);
        for (size_t len = 0; len <= plain.len; len++) {
            uint8_t out[65] = {0}, in_place[64];
            LEAT_CHECK_INT(leat_aes_ctr(&a, iv.data, plain.data, len, out), 0);
            LEAT_CHECK_MEM(out, len, cipher.data, len);
            LEAT_CHECK_INT(out[len], 0);
            memcpy(in_place, plain.data, len);
            LEAT_CHECK_INT(leat_aes_ctr(&a, iv.data, in_place, len, in_place), 0);
            LEAT_CHECK_MEM(in_place, len, cipher.data, len);
        }
        LEAT_CHECK_MEM(iv.data, 16, from_hex(ctr_rows[i].iv).data, 16);
        leat_aes_deinit(&a);
    }
}

static void aes_ctr__unaligned_memory__gives_the_cipher_text(void)
{
    struct octets key = from_hex(ctr_rows[0].key), iv = from_hex(ctr_rows[0].iv);
    struct octets plain = from_hex(ctr_rows[0].plain), cipher = from_hex(ctr_rows[0].cipher);
    struct leat_aes a;
    LEAT_CHECK_INT(leat_aes_init(&a, key.data, key.len), 0);
    for (size_t shift = 1; shift < 16; shift++) {
        uint8_t in[80], out[80], counter[32];
        memcpy(in + shift, plain.data, 64);
        memcpy(counter + shift, iv.data, 16);
        LEAT_CHECK_INT(leat_aes_ctr(&a, counter + shift, in + shift, 64, out + 16 - shift), 0);
        LEAT_CHECK_MEM(out + 16 - shift, 64, cipher.data, 64);
    }
    leat_aes_deinit(&a);
}

static void aes__key_of_a_wrong_length__leaves_a_context_that_refuses(void)
{
    static const size_t lens[] = {0, 8, 15, 17, 24, 31, 33};
    uint8_t key[33] = {1}, block[16] = {0};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(lens); i++) {
        struct leat_aes a;
        memset(&a, 0xff, sizeof(a));
        LEAT_CHECK_INT(leat_aes_init(&a, key, lens[i]), LEAT_E_INVALID);
        LEAT_CHECK_INT(leat_aes_block(&a, block, block), LEAT_E_CRYPTO);
        LEAT_CHECK_INT(leat_aes_ctr(&a, block, block, sizeof(block), block), LEAT_E_CRYPTO);
        leat_aes_deinit(&a);
    }
}

static void aes__deinit__keeps_nothing_and_may_be_repeated(void)
{
    struct octets key = from_hex(ctr_rows[1].key);
    struct leat_aes a;
    LEAT_CHECK_INT(leat_aes_init(&a, key.data, key.len), 0);
    leat_aes_deinit(&a);
    LEAT_CHECK(is_all_zero(&a, sizeof(a)));
    leat_aes_deinit(&a);
}

LEAT_TESTS(LEAT_TEST(aes_block__fips_197__gives_the_cipher_text),
           LEAT_TEST(aes_ctr__vectors__give_the_cipher_text_at_every_length),
           LEAT_TEST(aes_ctr__unaligned_memory__gives_the_cipher_text),
           LEAT_TEST(aes__key_of_a_wrong_length__leaves_a_context_that_refuses),
           LEAT_TEST(aes__deinit__keeps_nothing_and_may_be_repeated))
