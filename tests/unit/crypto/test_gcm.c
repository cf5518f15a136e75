/* SPDX-License-Identifier: MIT */
/* Test cases of McGrew and Viega, "The Galois/Counter Mode of Operation", those with a 96-bit IV.
 */
#include <leat/crypto.h>

#include "harness.h"
#include "hex.h"

#define ZEROS_16 "00000000000000000000000000000000"
#define KEY_16 "feffe9928665731c6d6a8f9467308308"
#define IV_12 "cafebabefacedbaddecaf888"
#define AAD_20 "feedfacedeadbeeffeedfacedeadbeefabaddad2"
#define PLAIN_60                                                                                   \
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"                             \
    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
#define CIPHER_128_60                                                                              \
    "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"                             \
    "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091"
#define CIPHER_256_60                                                                              \
    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"                             \
    "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"

static const struct {
    const char *key, *iv, *aad, *plain, *cipher, *tag;
} rows[] = {
    /* 1 to 4: AES-128 */
    {ZEROS_16, "000000000000000000000000", "", "", "", "58e2fccefa7e3061367f1d57a4e7455a"},
    {ZEROS_16, "000000000000000000000000", "", ZEROS_16, "0388dace60b6a392f328c2b971b2fe78",
     "ab6e47d42cec13bdf53a67b21257bddf"},
    {KEY_16, IV_12, "", PLAIN_60 "1aafd255", CIPHER_128_60 "473f5985",
     "4d5c2af327cd64a62cf35abd2ba6fab4"},
    {KEY_16, IV_12, AAD_20, PLAIN_60, CIPHER_128_60, "5bc94fbc3221a5db94fae95ae7121a47"},
    /* 13 to 16: AES-256 */
    {ZEROS_16 ZEROS_16, "000000000000000000000000", "", "", "", "530f8afbc74536b9a963b4f1c4cb738b"},
    {ZEROS_16 ZEROS_16, "000000000000000000000000", "", ZEROS_16,
     "cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919"},
    {KEY_16 KEY_16, IV_12, "", PLAIN_60 "1aafd255", CIPHER_256_60 "898015ad",
     "b094dac5d93471bdec1a502270e3cc6c"},
    {KEY_16 KEY_16, IV_12, AAD_20, PLAIN_60, CIPHER_256_60, "76fc6ece0f4e1768cddf8853bb2d551b"},
};

struct gcm_case {
    struct octets iv, aad, plain, cipher, tag;
    struct leat_span aad_span;
};

/* aad_span: NULL when empty, as callers without additional data give it. */
static void make_case(size_t row, struct gcm_case *c, struct leat_gcm *g)
{
    struct octets key = from_hex(rows[row].key);
    c->iv = from_hex(rows[row].iv);
    c->aad = from_hex(rows[row].aad);
    c->plain = from_hex(rows[row].plain);
    c->cipher = from_hex(rows[row].cipher);
    c->tag = from_hex(rows[row].tag);
    c->aad_span = leat_span(c->aad.len == 0 ? NULL : c->aad.data, c->aad.len);
    LEAT_CHECK_INT(leat_gcm_init(g, key.data, key.len), 0);
}

static void gcm_seal__test_cases__give_cipher_text_and_tag(void)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct gcm_case c;
        struct leat_gcm g;
        make_case(i, &c, &g);
        for (int times = 0; times < 2; times++) {
            uint8_t out[64], in_place[64], tag[16];
            LEAT_CHECK_INT(
                leat_gcm_seal(&g, c.iv.data, c.aad_span, c.plain.data, c.plain.len, out, tag), 0);
            LEAT_CHECK_MEM(out, c.plain.len, c.cipher.data, c.cipher.len);
            LEAT_CHECK_MEM(tag, 16, c.tag.data, c.tag.len);
            memcpy(in_place, c.plain.data, c.plain.len);
            LEAT_CHECK_INT(
                leat_gcm_seal(&g, c.iv.data, c.aad_span, in_place, c.plain.len, in_place, tag), 0);
            LEAT_CHECK_MEM(in_place, c.plain.len, c.cipher.data, c.cipher.len);
            LEAT_CHECK_MEM(tag, 16, c.tag.data, c.tag.len);
        }
        leat_gcm_deinit(&g);
    }
}

static void gcm_open__test_cases__give_plain_text(void)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct gcm_case c;
        struct leat_gcm g;
        uint8_t out[64], in_place[64];
        make_case(i, &c, &g);
        LEAT_CHECK_INT(
            leat_gcm_open(&g, c.iv.data, c.aad_span, c.cipher.data, c.cipher.len, c.tag.data, out),
            0);
        LEAT_CHECK_MEM(out, c.cipher.len, c.plain.data, c.plain.len);
        memcpy(in_place, c.cipher.data, c.cipher.len);
        LEAT_CHECK_INT(
            leat_gcm_open(&g, c.iv.data, c.aad_span, in_place, c.cipher.len, c.tag.data, in_place),
            0);
        LEAT_CHECK_MEM(in_place, c.cipher.len, c.plain.data, c.plain.len);
        leat_gcm_deinit(&g);
    }
}

/* One flipped bit in any of the four inputs: refused, and nothing of the plain text stays in `out`.
 */
static void check_refused(const struct leat_gcm *g, struct gcm_case *c, uint8_t *octet, size_t row)
{
    for (int bit = 0; bit < 8; bit++) {
        uint8_t out[64];
        memset(out, 0xa5, sizeof(out));
        *octet ^= (uint8_t)(1u << bit);
        LEAT_CHECK_ROW(row, leat_gcm_open(g, c->iv.data, c->aad_span, c->cipher.data, c->cipher.len,
                                          c->tag.data, out) == LEAT_E_INVALID);
        LEAT_CHECK_ROW(row, is_all_zero(out, c->cipher.len));
        memcpy(out, c->cipher.data, c->cipher.len);
        LEAT_CHECK_ROW(row, leat_gcm_open(g, c->iv.data, c->aad_span, out, c->cipher.len,
                                          c->tag.data, out) == LEAT_E_INVALID);
        LEAT_CHECK_ROW(row, is_all_zero(out, c->cipher.len));
        *octet ^= (uint8_t)(1u << bit);
    }
}

static void gcm_open__one_bit_wrong_anywhere__is_refused_and_gives_zeros(void)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct gcm_case c;
        struct leat_gcm g;
        make_case(i, &c, &g);
        struct octets *inputs[] = {&c.tag, &c.cipher, &c.aad, &c.iv};
        for (size_t n = 0; n < LEAT_ARRAY_LEN(inputs); n++) {
            for (size_t at = 0; at < inputs[n]->len; at++) {
                check_refused(&g, &c, &inputs[n]->data[at], i);
            }
        }
        leat_gcm_deinit(&g);
    }
}

static void gcm__key_of_a_wrong_length__leaves_a_context_that_refuses(void)
{
    static const size_t lens[] = {0, 15, 17, 24, 31, 33};
    uint8_t key[33] = {1}, iv[12] = {0}, text[16], tag[16];
    for (size_t i = 0; i < LEAT_ARRAY_LEN(lens); i++) {
        struct leat_gcm g;
        struct leat_span none = {NULL, 0};
        memset(&g, 0xff, sizeof(g));
        memset(text, 0xa5, sizeof(text));
        LEAT_CHECK_INT(leat_gcm_init(&g, key, lens[i]), LEAT_E_INVALID);
        LEAT_CHECK_INT(leat_gcm_seal(&g, iv, none, text, sizeof(text), text, tag), LEAT_E_CRYPTO);
        LEAT_CHECK_INT(leat_gcm_open(&g, iv, none, text, sizeof(text), tag, text), LEAT_E_CRYPTO);
        LEAT_CHECK(is_all_zero(text, sizeof(text)));
        leat_gcm_deinit(&g);
    }
}

static void gcm__deinit__keeps_nothing_and_may_be_repeated(void)
{
    struct gcm_case c;
    struct leat_gcm g;
    make_case(7, &c, &g);
    leat_gcm_deinit(&g);
    LEAT_CHECK(is_all_zero(&g, sizeof(g)));
    leat_gcm_deinit(&g);
}

LEAT_TESTS(LEAT_TEST(gcm_seal__test_cases__give_cipher_text_and_tag),
           LEAT_TEST(gcm_open__test_cases__give_plain_text),
           LEAT_TEST(gcm_open__one_bit_wrong_anywhere__is_refused_and_gives_zeros),
           LEAT_TEST(gcm__key_of_a_wrong_length__leaves_a_context_that_refuses),
           LEAT_TEST(gcm__deinit__keeps_nothing_and_may_be_repeated))
