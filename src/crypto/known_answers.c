/* SPDX-License-Identifier: MIT */
/*
 * The known answers that a provider must give before it serves a primitive. They also cover what
 * our callers rely on and libraries differ in: work in place, a message that ends inside a block, a
 * counter that carries through 32 bits, a context that gives the same answer twice, and the
 * refusal of a wrong GCM tag.
 */
#include "provider.h"

/* SP 800-38A F.5: initial counter, plaintext; key and ciphertext of F.5.1 and F.5.5. */
static const uint8_t ctr_iv[16] = {0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7,
                                   0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff};
static const uint8_t ctr_plain[64] = {
    0x6b, 0xc1, 0xbe, 0xe2, 0x2e, 0x40, 0x9f, 0x96, 0xe9, 0x3d, 0x7e, 0x11, 0x73, 0x93, 0x17, 0x2a,
    0xae, 0x2d, 0x8a, 0x57, 0x1e, 0x03, 0xac, 0x9c, 0x9e, 0xb7, 0x6f, 0xac, 0x45, 0xaf, 0x8e, 0x51,
    0x30, 0xc8, 0x1c, 0x46, 0xa3, 0x5c, 0xe4, 0x11, 0xe5, 0xfb, 0xc1, 0x19, 0x1a, 0x0a, 0x52, 0xef,
    0xf6, 0x9f, 0x24, 0x45, 0xdf, 0x4f, 0x9b, 0x17, 0xad, 0x2b, 0x41, 0x7b, 0xe6, 0x6c, 0x37, 0x10};
static const uint8_t ctr_key_128[16] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                                        0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
static const uint8_t ctr_cipher_128[64] = {
    0x87, 0x4d, 0x61, 0x91, 0xb6, 0x20, 0xe3, 0x26, 0x1b, 0xef, 0x68, 0x64, 0x99, 0x0d, 0xb6, 0xce,
    0x98, 0x06, 0xf6, 0x6b, 0x79, 0x70, 0xfd, 0xff, 0x86, 0x17, 0x18, 0x7b, 0xb9, 0xff, 0xfd, 0xff,
    0x5a, 0xe4, 0xdf, 0x3e, 0xdb, 0xd5, 0xd3, 0x5e, 0x5b, 0x4f, 0x09, 0x02, 0x0d, 0xb0, 0x3e, 0xab,
    0x1e, 0x03, 0x1d, 0xda, 0x2f, 0xbe, 0x03, 0xd1, 0x79, 0x21, 0x70, 0xa0, 0xf3, 0x00, 0x9c, 0xee};
static const uint8_t ctr_key_256[32] = {
    0x60, 0x3d, 0xeb, 0x10, 0x15, 0xca, 0x71, 0xbe, 0x2b, 0x73, 0xae, 0xf0, 0x85, 0x7d, 0x77, 0x81,
    0x1f, 0x35, 0x2c, 0x07, 0x3b, 0x61, 0x08, 0xd7, 0x2d, 0x98, 0x10, 0xa3, 0x09, 0x14, 0xdf, 0xf4};
static const uint8_t ctr_cipher_256[64] = {
    0x60, 0x1e, 0xc3, 0x13, 0x77, 0x57, 0x89, 0xa5, 0xb7, 0xa7, 0xf5, 0x04, 0xbb, 0xf3, 0xd2, 0x28,
    0xf4, 0x43, 0xe3, 0xca, 0x4d, 0x62, 0xb5, 0x9a, 0xca, 0x84, 0xe9, 0x90, 0xca, 0xca, 0xf5, 0xc5,
    0x2b, 0x09, 0x30, 0xda, 0xa2, 0x3d, 0xe9, 0x4c, 0xe8, 0x70, 0x17, 0xba, 0x2d, 0x84, 0x98, 0x8d,
    0xdf, 0xc9, 0xc5, 0x8d, 0xb6, 0x7a, 0xad, 0xa6, 0x13, 0xc2, 0xdd, 0x08, 0x45, 0x79, 0x41, 0xa6};

/* FIPS 197 C.1 and C.3. */
static const uint8_t block_key[32] = {
    0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
    0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f};
static const uint8_t block_plain[16] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                        0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
static const uint8_t block_cipher_128[16] = {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
                                             0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};
static const uint8_t block_cipher_256[16] = {0x8e, 0xa2, 0xb7, 0xca, 0x51, 0x67, 0x45, 0xbf,
                                             0xea, 0xfc, 0x49, 0x90, 0x4b, 0x49, 0x60, 0x89};

/* "The Galois/Counter Mode of Operation", McGrew and Viega, test cases 4 and 16. */
static const uint8_t gcm_key[32] = {
    0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65, 0x73, 0x1c, 0x6d, 0x6a, 0x8f, 0x94, 0x67, 0x30, 0x83, 0x08,
    0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65, 0x73, 0x1c, 0x6d, 0x6a, 0x8f, 0x94, 0x67, 0x30, 0x83, 0x08};
static const uint8_t gcm_iv[12] = {0xca, 0xfe, 0xba, 0xbe, 0xfa, 0xce,
                                   0xdb, 0xad, 0xde, 0xca, 0xf8, 0x88};
static const uint8_t gcm_aad[20] = {0xfe, 0xed, 0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xfe, 0xed,
                                    0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xab, 0xad, 0xda, 0xd2};
static const uint8_t gcm_plain[60] = {
    0xd9, 0x31, 0x32, 0x25, 0xf8, 0x84, 0x06, 0xe5, 0xa5, 0x59, 0x09, 0xc5, 0xaf, 0xf5, 0x26,
    0x9a, 0x86, 0xa7, 0xa9, 0x53, 0x15, 0x34, 0xf7, 0xda, 0x2e, 0x4c, 0x30, 0x3d, 0x8a, 0x31,
    0x8a, 0x72, 0x1c, 0x3c, 0x0c, 0x95, 0x95, 0x68, 0x09, 0x53, 0x2f, 0xcf, 0x0e, 0x24, 0x49,
    0xa6, 0xb5, 0x25, 0xb1, 0x6a, 0xed, 0xf5, 0xaa, 0x0d, 0xe6, 0x57, 0xba, 0x63, 0x7b, 0x39};
static const uint8_t gcm_cipher_128[60] = {
    0x42, 0x83, 0x1e, 0xc2, 0x21, 0x77, 0x74, 0x24, 0x4b, 0x72, 0x21, 0xb7, 0x84, 0xd0, 0xd4,
    0x9c, 0xe3, 0xaa, 0x21, 0x2f, 0x2c, 0x02, 0xa4, 0xe0, 0x35, 0xc1, 0x7e, 0x23, 0x29, 0xac,
    0xa1, 0x2e, 0x21, 0xd5, 0x14, 0xb2, 0x54, 0x66, 0x93, 0x1c, 0x7d, 0x8f, 0x6a, 0x5a, 0xac,
    0x84, 0xaa, 0x05, 0x1b, 0xa3, 0x0b, 0x39, 0x6a, 0x0a, 0xac, 0x97, 0x3d, 0x58, 0xe0, 0x91};
static const uint8_t gcm_tag_128[16] = {0x5b, 0xc9, 0x4f, 0xbc, 0x32, 0x21, 0xa5, 0xdb,
                                        0x94, 0xfa, 0xe9, 0x5a, 0xe7, 0x12, 0x1a, 0x47};
static const uint8_t gcm_cipher_256[60] = {
    0x52, 0x2d, 0xc1, 0xf0, 0x99, 0x56, 0x7d, 0x07, 0xf4, 0x7f, 0x37, 0xa3, 0x2a, 0x84, 0x42,
    0x7d, 0x64, 0x3a, 0x8c, 0xdc, 0xbf, 0xe5, 0xc0, 0xc9, 0x75, 0x98, 0xa2, 0xbd, 0x25, 0x55,
    0xd1, 0xaa, 0x8c, 0xb0, 0x8e, 0x48, 0x59, 0x0d, 0xbb, 0x3d, 0xa7, 0xb0, 0x8b, 0x10, 0x56,
    0x82, 0x88, 0x38, 0xc5, 0xf6, 0x1e, 0x63, 0x93, 0xba, 0x7a, 0x0a, 0xbc, 0xc9, 0xf6, 0x62};
static const uint8_t gcm_tag_256[16] = {0x76, 0xfc, 0x6e, 0xce, 0x0f, 0x4e, 0x17, 0x68,
                                        0xcd, 0xdf, 0x88, 0x53, 0xbb, 0x2d, 0x55, 0x1b};

/* FIPS 180-2 B.2; RFC 2202 3, test cases 1 and 7. */
static const uint8_t sha256_digest[32] = {
    0x24, 0x8d, 0x6a, 0x61, 0xd2, 0x06, 0x38, 0xb8, 0xe5, 0xc0, 0x26, 0x93, 0x0c, 0x3e, 0x60, 0x39,
    0xa3, 0x3c, 0xe4, 0x59, 0x64, 0xff, 0x21, 0x67, 0xf6, 0xec, 0xed, 0xd4, 0x19, 0xdb, 0x06, 0xc1};
static const uint8_t hmac_tag_1[20] = {0xb6, 0x17, 0x31, 0x86, 0x55, 0x05, 0x72, 0x64, 0xe2, 0x8b,
                                       0xc0, 0xb6, 0xfb, 0x37, 0x8c, 0x8e, 0xf1, 0x46, 0xbe, 0x00};
static const uint8_t hmac_tag_7[20] = {0xe8, 0xe9, 0x9d, 0x0f, 0x45, 0x23, 0x7d, 0x78, 0x6d, 0x6b,
                                       0xba, 0xa7, 0x96, 0x5c, 0x78, 0x08, 0xbb, 0xff, 0x1a, 0x91};

static bool same(const void *a, const void *b, size_t len)
{
    return memcmp(a, b, len) == 0;
}

static bool sha256_passes(const struct leat_crypto_provider *p)
{
    static const char message[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    uint8_t digest[32];
    return p->sha256(message, sizeof(message) - 1, digest) == 0 &&
           same(digest, sha256_digest, sizeof(digest));
}

/* RFC 2202's cases 1 and 7. */
struct hmac_case {
    uint8_t key[80];
    size_t key_len;
    const char *text;
    size_t cut;
    const uint8_t *tag;
};

static const struct hmac_case hmac_cases[] = {
    {{0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b,
      0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b},
     20,
     "Hi There",
     3,
     hmac_tag_1},
    {{0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa,
      0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa,
      0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa,
      0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa,
      0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa,
      0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa},
     80,
     "Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data",
     61,
     hmac_tag_7},
};

/* The tag of the text, in two parts, twice from one context. */
static bool hmac_sha1_passes(const struct leat_crypto_provider *p)
{
    if (p->hmac_sha1.tag == NULL && p->sha1.state_size > LEAT_CRYPTO_SHA1_STATE_MAX) {
        return false;
    }
    bool passes = true;
    for (size_t i = 0; i < 2 * LEAT_ARRAY_LEN(hmac_cases) && passes; i++) {
        const struct hmac_case *c = &hmac_cases[i / 2];
        struct leat_span parts[2] = {leat_span(c->text, c->cut), leat_span_str(c->text + c->cut)};
        struct leat_hmac_sha1 h;
        uint8_t tag[20];
        leat_hmac_sha1_init(&h, c->key, c->key_len);
        passes = leat__hmac_sha1(p, &h, parts, LEAT_ARRAY_LEN(parts), tag) == 0 &&
                 same(tag, c->tag, sizeof(tag));
    }
    return passes;
}

/* Every count and place in a batch, keys and lengths mixed. */
static bool hmac_sha1_batch_passes(const struct leat_crypto_provider *p)
{
    struct leat_hmac_sha1 h[LEAT_ARRAY_LEN(hmac_cases)];
    struct leat_hmac_sha1_job jobs[LEAT_CRYPTO_BATCH_MAX];
    uint8_t tags[LEAT_CRYPTO_BATCH_MAX][20];
    bool passes = hmac_sha1_passes(p);

    for (size_t i = 0; i < LEAT_ARRAY_LEN(h); i++) {
        leat_hmac_sha1_init(&h[i], hmac_cases[i].key, hmac_cases[i].key_len);
    }
    for (size_t count = 1; count <= LEAT_CRYPTO_BATCH_MAX && passes; count++) {
        for (size_t i = 0; i < count; i++) {
            jobs[i].h = &h[(i + count) % 2];
            jobs[i].message = leat_span_str(hmac_cases[(i + count) % 2].text);
            jobs[i].tag = tags[i];
        }
        passes = leat__hmac_sha1_batch(p, jobs, count) == 0;
        for (size_t i = 0; i < count && passes; i++) {
            passes = same(tags[i], hmac_cases[(i + count) % 2].tag, 20);
        }
    }
    return passes;
}

static bool block_passes(const struct leat_crypto_provider *p, size_t key_len)
{
    const uint8_t *expected = key_len == 16 ? block_cipher_128 : block_cipher_256;
    struct leat_aes a;
    uint8_t block[16];
    bool passes = leat__aes_init(p, &a, block_key, key_len) == 0 &&
                  leat_aes_block(&a, block_plain, block) == 0 && same(block, expected, 16);
    leat_aes_deinit(&a);
    return passes;
}

/* The counter carries through its low 32 bits, at every place of a long message. */
static bool counter_carries(const struct leat_aes *a)
{
    static const uint8_t zeros[1024];
    uint8_t stream[sizeof(zeros)], block[16];
    bool passes = true;

    for (uint32_t before = 1; before < 64 && passes; before += 7) {
        uint8_t counter[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
        uint32_t first = 0x01000000 - before;
        leat_put_u32(counter + 12, first);
        passes = leat_aes_ctr(a, counter, zeros, sizeof(zeros), stream) == 0;
        for (uint32_t i = 0; i < sizeof(zeros) / 16 && passes; i++) {
            leat_put_u32(counter + 12, first + i);
            passes = leat_aes_block(a, counter, block) == 0 && same(stream + i * 16, block, 16);
        }
    }
    return passes;
}

static bool aes_passes(const struct leat_crypto_provider *p, size_t key_len)
{
    const uint8_t *key = key_len == 16 ? ctr_key_128 : ctr_key_256;
    const uint8_t *expected = key_len == 16 ? ctr_cipher_128 : ctr_cipher_256;
    struct leat_aes a;
    uint8_t buf[sizeof(ctr_plain)];

    if (p->aes.state_size > sizeof(a.state) || !block_passes(p, key_len)) {
        return false;
    }
    bool passes = leat__aes_init(p, &a, key, key_len) == 0;
    for (size_t len = 1; len <= sizeof(buf) && passes; len += 7) {
        memcpy(buf, ctr_plain, sizeof(buf));
        passes = leat_aes_ctr(&a, ctr_iv, buf, len, buf) == 0 && same(buf, expected, len) &&
                 same(buf + len, ctr_plain + len, sizeof(buf) - len);
    }
    passes = passes && counter_carries(&a);
    leat_aes_deinit(&a);
    return passes;
}

/* Every count up to the most, keys mixed, lengths too, against one message after the other. */
static bool aes_batch_passes(const struct leat_crypto_provider *p, size_t key_len)
{
    struct leat_aes a[2] = {0};
    struct leat_aes_ctr_job jobs[LEAT_CRYPTO_BATCH_MAX];
    uint8_t got[LEAT_CRYPTO_BATCH_MAX][sizeof(ctr_plain)], expected[sizeof(ctr_plain)];
    bool passes = aes_passes(p, key_len) && leat__aes_init(p, &a[0], ctr_key_256, key_len) == 0 &&
                  leat__aes_init(p, &a[1], block_key, key_len) == 0;

    for (size_t count = 1; count <= LEAT_CRYPTO_BATCH_MAX && passes; count++) {
        for (size_t i = 0; i < count; i++) {
            jobs[i].aes = &a[i % 2];
            jobs[i].in = ctr_plain;
            jobs[i].len = 1 + (i * 5 + count) % sizeof(ctr_plain);
            jobs[i].out = got[i];
            memcpy(jobs[i].iv, ctr_iv, sizeof(ctr_iv));
            jobs[i].iv[0] = (uint8_t)i;
        }
        passes = leat_aes_ctr_batch(jobs, count) == 0;
        for (size_t i = 0; i < count && passes; i++) {
            passes = leat_aes_ctr(jobs[i].aes, jobs[i].iv, ctr_plain, jobs[i].len, expected) == 0 &&
                     same(got[i], expected, jobs[i].len);
        }
    }
    leat_aes_deinit(&a[0]);
    leat_aes_deinit(&a[1]);
    return passes;
}

/* RFC 8439 2.8.2. */
static const uint8_t chachapoly_iv[12] = {0x07, 0x00, 0x00, 0x00, 0x40, 0x41,
                                          0x42, 0x43, 0x44, 0x45, 0x46, 0x47};
static const uint8_t chachapoly_aad[12] = {0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1,
                                           0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7};
static const char chachapoly_plain[] =
    "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
    "sunscreen would be it.";
static const uint8_t chachapoly_cipher[114] = {
    0xd3, 0x1a, 0x8d, 0x34, 0x64, 0x8e, 0x60, 0xdb, 0x7b, 0x86, 0xaf, 0xbc, 0x53, 0xef, 0x7e,
    0xc2, 0xa4, 0xad, 0xed, 0x51, 0x29, 0x6e, 0x08, 0xfe, 0xa9, 0xe2, 0xb5, 0xa7, 0x36, 0xee,
    0x62, 0xd6, 0x3d, 0xbe, 0xa4, 0x5e, 0x8c, 0xa9, 0x67, 0x12, 0x82, 0xfa, 0xfb, 0x69, 0xda,
    0x92, 0x72, 0x8b, 0x1a, 0x71, 0xde, 0x0a, 0x9e, 0x06, 0x0b, 0x29, 0x05, 0xd6, 0xa5, 0xb6,
    0x7e, 0xcd, 0x3b, 0x36, 0x92, 0xdd, 0xbd, 0x7f, 0x2d, 0x77, 0x8b, 0x8c, 0x98, 0x03, 0xae,
    0xe3, 0x28, 0x09, 0x1b, 0x58, 0xfa, 0xb3, 0x24, 0xe4, 0xfa, 0xd6, 0x75, 0x94, 0x55, 0x85,
    0x80, 0x8b, 0x48, 0x31, 0xd7, 0xbc, 0x3f, 0xf4, 0xde, 0xf0, 0x8e, 0x4b, 0x7a, 0x9d, 0xe5,
    0x76, 0xd2, 0x65, 0x86, 0xce, 0xc6, 0x4b, 0x61, 0x16};
static const uint8_t chachapoly_tag[16] = {0x1a, 0xe1, 0x0b, 0x59, 0x4f, 0x09, 0xe2, 0x6a,
                                           0x7e, 0x90, 0x2e, 0xcb, 0xd0, 0x60, 0x06, 0x91};

static bool chachapoly_passes(const struct leat_crypto_provider *p)
{
    struct leat_span aad = leat_span(chachapoly_aad, sizeof(chachapoly_aad));
    struct leat_chachapoly c;
    uint8_t key[32], buf[sizeof(chachapoly_cipher)], tag[16];

    for (size_t i = 0; i < sizeof(key); i++) {
        key[i] = (uint8_t)(0x80 + i);
    }
    if (p->chachapoly.state_size > sizeof(c.state)) {
        return false;
    }
    bool passes = leat__chachapoly_init(p, &c, key) == 0;
    for (int i = 0; i < 2 && passes; i++) {
        memcpy(buf, chachapoly_plain, sizeof(buf));
        passes = leat_chachapoly_seal(&c, chachapoly_iv, aad, buf, sizeof(buf), buf, tag) == 0 &&
                 same(buf, chachapoly_cipher, sizeof(buf)) &&
                 same(tag, chachapoly_tag, sizeof(tag)) &&
                 leat_chachapoly_open(&c, chachapoly_iv, aad, buf, sizeof(buf), tag, buf) == 0 &&
                 same(buf, chachapoly_plain, sizeof(buf));
    }
    tag[15] ^= 1;
    passes = passes && leat_chachapoly_open(&c, chachapoly_iv, aad, chachapoly_cipher, sizeof(buf),
                                            tag, buf) == LEAT_E_INVALID;
    leat_chachapoly_deinit(&c);
    return passes;
}

static bool gcm_passes(const struct leat_crypto_provider *p, size_t key_len)
{
    const uint8_t *expected = key_len == 16 ? gcm_cipher_128 : gcm_cipher_256;
    const uint8_t *expected_tag = key_len == 16 ? gcm_tag_128 : gcm_tag_256;
    struct leat_span aad = leat_span(gcm_aad, sizeof(gcm_aad));
    struct leat_gcm g;
    uint8_t buf[sizeof(gcm_plain)], tag[16];

    if (p->gcm.state_size > sizeof(g.state)) {
        return false;
    }
    bool passes = leat__gcm_init(p, &g, gcm_key, key_len) == 0;
    for (int i = 0; i < 2 && passes; i++) {
        memcpy(buf, gcm_plain, sizeof(buf));
        passes = leat_gcm_seal(&g, gcm_iv, aad, buf, sizeof(buf), buf, tag) == 0 &&
                 same(buf, expected, sizeof(buf)) && same(tag, expected_tag, sizeof(tag)) &&
                 leat_gcm_open(&g, gcm_iv, aad, buf, sizeof(buf), tag, buf) == 0 &&
                 same(buf, gcm_plain, sizeof(buf));
    }
    tag[15] ^= 1;
    passes =
        passes && leat_gcm_open(&g, gcm_iv, aad, expected, sizeof(buf), tag, buf) == LEAT_E_INVALID;
    leat_gcm_deinit(&g);
    return passes;
}

static bool gcm_batch_passes(const struct leat_crypto_provider *p, size_t key_len)
{
    struct leat_gcm g[2] = {0};
    struct leat_gcm_job jobs[LEAT_CRYPTO_BATCH_MAX];
    uint8_t got[LEAT_CRYPTO_BATCH_MAX][sizeof(gcm_plain)], tags[LEAT_CRYPTO_BATCH_MAX][16];
    uint8_t opened[sizeof(gcm_plain)];
    bool passes = gcm_passes(p, key_len) && leat__gcm_init(p, &g[0], gcm_key, key_len) == 0 &&
                  leat__gcm_init(p, &g[1], block_key, key_len) == 0;

    for (size_t count = 1; count <= LEAT_CRYPTO_BATCH_MAX && passes; count++) {
        for (size_t i = 0; i < count; i++) {
            jobs[i].gcm = &g[i % 2];
            jobs[i].aad = leat_span(gcm_aad, 12 + i % 9);
            jobs[i].in = gcm_plain;
            jobs[i].len = (i * 5 + count) % sizeof(gcm_plain);
            jobs[i].out = got[i];
            jobs[i].tag = tags[i];
            memcpy(jobs[i].iv, gcm_iv, sizeof(gcm_iv));
            jobs[i].iv[0] = (uint8_t)i;
        }
        passes = leat_gcm_seal_batch(jobs, count) == 0;
        for (size_t i = 0; i < count && passes; i++) {
            passes = leat_gcm_open(jobs[i].gcm, jobs[i].iv, jobs[i].aad, got[i], jobs[i].len,
                                   tags[i], opened) == 0 &&
                     same(opened, gcm_plain, jobs[i].len);
        }
    }
    leat_gcm_deinit(&g[0]);
    leat_gcm_deinit(&g[1]);
    return passes;
}

/* The CTR of the same provider, or the reference's, from counter 0. */
static bool key_stream_passes(const struct leat_crypto_provider *p)
{
    static const uint8_t counter[16];
    uint8_t expected[544] = {0}, got[sizeof(expected)];
    struct leat_aes a;

    if (!aes_passes(&leat__crypto_mbedtls, 32)) {
        return false;
    }
    bool passes = leat__aes_init(&leat__crypto_mbedtls, &a, ctr_key_256, 32) == 0 &&
                  leat_aes_ctr(&a, counter, expected, sizeof(expected), expected) == 0;
    leat_aes_deinit(&a);
    for (size_t len = sizeof(got) - 17; len <= sizeof(got) && passes; len += 17) {
        memset(got, 0xa5, sizeof(got));
        passes = p->key_stream(p, ctr_key_256, got, len) == 0 && same(got, expected, len);
    }
    return passes;
}

bool leat__crypto_provider_serves(const struct leat_crypto_provider *p,
                                  enum leat_crypto_primitive primitive)
{
    switch (primitive) {
    case LEAT_CRYPTO_SHA256:
        return p->sha256 != NULL;
    case LEAT_CRYPTO_HMAC_SHA1:
    case LEAT_CRYPTO_HMAC_SHA1_BATCH:
        return p->hmac_sha1.tag != NULL || p->sha1.begin != NULL;
    case LEAT_CRYPTO_KEY_STREAM:
        return p->key_stream != NULL;
    case LEAT_CRYPTO_AES_128_CTR:
    case LEAT_CRYPTO_AES_128_CTR_BATCH:
    case LEAT_CRYPTO_AES_256_CTR:
    case LEAT_CRYPTO_AES_256_CTR_BATCH:
        return p->aes.init != NULL;
    case LEAT_CRYPTO_AES_128_GCM:
    case LEAT_CRYPTO_AES_128_GCM_BATCH:
    case LEAT_CRYPTO_AES_256_GCM:
    case LEAT_CRYPTO_AES_256_GCM_BATCH:
        return p->gcm.init != NULL;
    case LEAT_CRYPTO_CHACHA20_POLY1305:
        return p->chachapoly.init != NULL;
    }
    return false;
}

bool leat__crypto_provider_passes(const struct leat_crypto_provider *p,
                                  enum leat_crypto_primitive primitive)
{
    if (!leat__crypto_provider_serves(p, primitive)) {
        return false;
    }
    switch (primitive) {
    case LEAT_CRYPTO_SHA256:
        return sha256_passes(p);
    case LEAT_CRYPTO_HMAC_SHA1:
        return hmac_sha1_passes(p);
    case LEAT_CRYPTO_HMAC_SHA1_BATCH:
        return hmac_sha1_batch_passes(p);
    case LEAT_CRYPTO_AES_128_CTR:
        return aes_passes(p, 16);
    case LEAT_CRYPTO_AES_128_CTR_BATCH:
        return aes_batch_passes(p, 16);
    case LEAT_CRYPTO_AES_256_CTR:
        return aes_passes(p, 32);
    case LEAT_CRYPTO_AES_256_CTR_BATCH:
        return aes_batch_passes(p, 32);
    case LEAT_CRYPTO_AES_128_GCM:
        return gcm_passes(p, 16);
    case LEAT_CRYPTO_AES_128_GCM_BATCH:
        return gcm_batch_passes(p, 16);
    case LEAT_CRYPTO_AES_256_GCM:
        return gcm_passes(p, 32);
    case LEAT_CRYPTO_AES_256_GCM_BATCH:
        return gcm_batch_passes(p, 32);
    case LEAT_CRYPTO_CHACHA20_POLY1305:
        return chachapoly_passes(p);
    case LEAT_CRYPTO_KEY_STREAM:
        return key_stream_passes(p);
    }
    return false;
}
