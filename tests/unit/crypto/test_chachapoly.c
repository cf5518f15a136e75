/* SPDX-License-Identifier: MIT */
/* The AEAD of RFC 8439: its own example (2.8.2), its appendix (A.5), and made with the Python
 * package cryptography: one block of nothing, ends inside and at a block. */
#include <leat/crypto.h>

#include "harness.h"
#include "hex.h"

static const struct {
    const char *key, *iv, *aad, *plain, *cipher, *tag;
} rows[] = {
    {"808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f", "070000004041424344454647",
     "50515253c0c1c2c3c4c5c6c7",
     "4c616469657320616e642047656e746c656d656e206f662074686520636c617373206f66202739393a20"
     "4966204920636f756c64206f6666657220796f75206f6e6c79206f6e652074697020666f722074686520"
     "6675747572652c2073756e73637265656e20776f756c642062652069742e",
     "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fa"
     "fb69da92728b1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4"
     "fad675945585808b4831d7bc3ff4def08e4b7a9de576d26586cec64b6116",
     "1ae10b594f09e26a7e902ecbd0600691"},
    {"1c9240a5eb55d38af333888604f6b5f0473917c1402b80099dca5cbc207075c0", "000000000102030405060708",
     "f33388860000000000004e91",
     "496e7465726e65742d4472616674732061726520647261667420646f63756d656e74732076616c696420"
     "666f722061206d6178696d756d206f6620736978206d6f6e74687320616e64206d617920626520757064"
     "617465642c207265706c616365642c206f72206f62736f6c65746564206279206f7468657220646f6375"
     "6d656e747320617420616e792074696d652e20497420697320696e617070726f70726961746520746f20"
     "75736520496e7465726e65742d447261667473206173207265666572656e6365206d6174657269616c20"
     "6f7220746f2063697465207468656d206f74686572207468616e206173202fe2809c776f726b20696e20"
     "70726f67726573732e2fe2809d",
     "64a0861575861af460f062c79be643bd5e805cfd345cf389f108670ac76c8cb24c6cfc18755d43eea09e"
     "e94e382d26b0bdb7b73c321b0100d4f03b7f355894cf332f830e710b97ce98c8a84abd0b948114ad176e"
     "008d33bd60f982b1ff37c8559797a06ef4f0ef61c186324e2b3506383606907b6a7c02b0f9f6157b53c8"
     "67e4b9166c767b804d46a59b5216cde7a4e99040c5a40433225ee282a1b0a06c523eaf4534d7f83fa115"
     "5b0047718cbc546a0d072b04b3564eea1b422273f548271a0bb2316053fa76991955ebd63159434ecebb"
     "4e466dae5a1073a6727627097a1049e617d91d361094fa68f0ff77987130305beaba2eda04df997b714d"
     "6c6f2c29a6ad5cb4022b02709b",
     "eead9d67890cbb22392336fea1851f38"},
    {"00070e151c232a31383f464d545b626970777e858c939aa1a8afb6bdc4cbd2d9", "00050a0f14191e23282d3237",
     "", "", "", "f1f83e2bdc4296089a59962363f90dc5"},
    {"00070e151c232a31383f464d545b626970777e858c939aa1a8afb6bdc4cbd2d9", "0d12171c21262b30353a3f44",
     "000102030405060708090a0b0c", "", "", "6885ddbe0cb99a70aa9008a7c1275898"},
    {"01080f161d242b323940474e555c636a71787f868d949ba2a9b0b7bec5ccd3da", "0d12171c21262b30353a3f44",
     "000102030405060708090a0b0c", "00", "a4", "d5096510c50f228a322234abec344fbb"},
    {"3f464d545b626970777e858c939aa1a8afb6bdc4cbd2d9e0e7eef5fc030a1118", "0d12171c21262b30353a3f44",
     "000102030405060708090a0b0c",
     "000b16212c37424d58636e79848f9aa5b0bbc6d1dce7f2fd08131e29343f4a55606b76818c97a2adb8c3"
     "ced9e4effa05101b26313c47525d68737e89949faa",
     "a1d4691ed3fd575d4324e1f160f93ae70fb80010733cb07c21121475054c4abbbe8ea4dcf8c864dcc77e"
     "0300742f295bd51401419488029fbe460c3308abb3",
     "faf328e3de3654d72ab7f8ee69fb7fd3"},
    {"40474e555c636a71787f868d949ba2a9b0b7bec5ccd3dae1e8eff6fd040b1219", "10151a1f24292e33383d4247",
     "000102030405060708090a0b0c0d0e0f",
     "000b16212c37424d58636e79848f9aa5b0bbc6d1dce7f2fd08131e29343f4a55606b76818c97a2adb8c3"
     "ced9e4effa05101b26313c47525d68737e89949faab5",
     "09d8e989f3bbcfbca5cd83f94f9eb044b23fa87e5e62ce85ebe78bb185500f3942d1c10a041d4c7bf1dc"
     "2ca4851454d8e3994385c7323d45d14cdd3271e8bd6b",
     "418c2abc3342077a0bb7f7fe2eb82de4"},
    {"41484f565d646b727980878e959ca3aab1b8bfc6cdd4dbe2e9f0f7fe050c131a", "00050a0f14191e23282d3237",
     "",
     "000b16212c37424d58636e79848f9aa5b0bbc6d1dce7f2fd08131e29343f4a55606b76818c97a2adb8c3"
     "ced9e4effa05101b26313c47525d68737e89949faab5c0",
     "35300aeabab7691563712bbc813b7d41aa0d3139a749b7891eeecbdf0f2586524220e6ed756d08693df5"
     "87e0084d732319c02f4e5a75ac54d13f63ac4f8b54b147",
     "1a453f8a4de0f684520bd83a9f2c682d"},
};

struct seal_case {
    struct octets iv, aad, plain, cipher, tag;
    struct leat_span aad_span;
};

static void make_case(size_t row, struct seal_case *c, struct leat_chachapoly *context)
{
    struct octets key = from_hex(rows[row].key);
    c->iv = from_hex(rows[row].iv);
    c->aad = from_hex(rows[row].aad);
    c->plain = from_hex(rows[row].plain);
    c->cipher = from_hex(rows[row].cipher);
    c->tag = from_hex(rows[row].tag);
    c->aad_span = leat_span(c->aad.len == 0 ? NULL : c->aad.data, c->aad.len);
    LEAT_CHECK_INT(key.len, 32);
    LEAT_CHECK_INT(leat_chachapoly_init(context, key.data), 0);
}

static void chachapoly_seal__vectors__give_cipher_text_and_tag(void)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct seal_case c;
        struct leat_chachapoly context;
        make_case(i, &c, &context);
        for (int times = 0; times < 2; times++) {
            uint8_t out[512], tag[16];
            memcpy(out, c.plain.data, c.plain.len);
            const uint8_t *in = times == 0 ? c.plain.data : out; /* in place the second time */
            LEAT_CHECK_INT(
                leat_chachapoly_seal(&context, c.iv.data, c.aad_span, in, c.plain.len, out, tag),
                0);
            LEAT_CHECK_MEM(out, c.plain.len, c.cipher.data, c.cipher.len);
            LEAT_CHECK_MEM(tag, 16, c.tag.data, c.tag.len);
        }
        leat_chachapoly_deinit(&context);
    }
}

static void chachapoly_open__vectors__give_plain_text(void)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct seal_case c;
        struct leat_chachapoly context;
        make_case(i, &c, &context);
        for (int times = 0; times < 2; times++) {
            uint8_t out[512];
            memcpy(out, c.cipher.data, c.cipher.len);
            const uint8_t *in = times == 0 ? c.cipher.data : out;
            LEAT_CHECK_INT(leat_chachapoly_open(&context, c.iv.data, c.aad_span, in, c.cipher.len,
                                                c.tag.data, out),
                           0);
            LEAT_CHECK_MEM(out, c.cipher.len, c.plain.data, c.plain.len);
        }
        leat_chachapoly_deinit(&context);
    }
}

static void chachapoly_open__one_bit_wrong_anywhere__is_refused_and_gives_zeros(void)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct seal_case c;
        struct leat_chachapoly context;
        make_case(i, &c, &context);
        struct octets *inputs[] = {&c.tag, &c.cipher, &c.aad, &c.iv};
        for (size_t n = 0; n < LEAT_ARRAY_LEN(inputs); n++) {
            for (size_t bit = 0; bit < 8 * inputs[n]->len; bit++) {
                uint8_t out[512];
                memset(out, 0xa5, sizeof(out));
                inputs[n]->data[bit / 8] ^= (uint8_t)(1u << bit % 8);
                LEAT_CHECK_ROW(i, leat_chachapoly_open(&context, c.iv.data, c.aad_span,
                                                       c.cipher.data, c.cipher.len, c.tag.data,
                                                       out) == LEAT_E_INVALID);
                LEAT_CHECK_ROW(i, is_all_zero(out, c.cipher.len));
                inputs[n]->data[bit / 8] ^= (uint8_t)(1u << bit % 8);
            }
        }
        leat_chachapoly_deinit(&context);
    }
}

static void chachapoly_deinit__then_use__refuses(void)
{
    struct leat_chachapoly context;
    struct seal_case c;
    uint8_t out[512], tag[16];
    make_case(0, &c, &context);
    leat_chachapoly_deinit(&context);
    LEAT_CHECK(is_all_zero((const uint8_t *)&context, sizeof(context)));
    LEAT_CHECK_INT(leat_chachapoly_seal(&context, c.iv.data, c.aad_span, c.plain.data, 8, out, tag),
                   LEAT_E_CRYPTO);
    memset(out, 0xa5, sizeof(out));
    LEAT_CHECK_INT(leat_chachapoly_open(&context, c.iv.data, c.aad_span, c.plain.data, 8, tag, out),
                   LEAT_E_CRYPTO);
    LEAT_CHECK(is_all_zero(out, 8));
}

LEAT_TESTS(LEAT_TEST(chachapoly_seal__vectors__give_cipher_text_and_tag),
           LEAT_TEST(chachapoly_open__vectors__give_plain_text),
           LEAT_TEST(chachapoly_open__one_bit_wrong_anywhere__is_refused_and_gives_zeros),
           LEAT_TEST(chachapoly_deinit__then_use__refuses))
