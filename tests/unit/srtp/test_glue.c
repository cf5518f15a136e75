/* SPDX-License-Identifier: MIT */
/* RFC 3711 B, RFC 6188 7, RFC 7714 16 and 17, RFC 2202 3, through the objects that libsrtp2 gets
 * from us. */
#include <dlfcn.h>

#include "glue.h"
#include "srtp_test.h"

static srtp_cipher_t *keyed(const srtp_cipher_type_t *type, const char *key_and_salt, int tag_len)
{
    struct octets key = from_hex(key_and_salt);
    srtp_cipher_t *c = NULL;
    LEAT_CHECK_INT(srtp_cipher_type_alloc(type, &c, (int)key.len, tag_len), srtp_err_status_ok);
    LEAT_CHECK_INT(srtp_cipher_init(c, key.data), srtp_err_status_ok);
    return c;
}

static void check_stream(const uint8_t *stream, size_t block, const char *hex)
{
    struct octets want = from_hex(hex);
    LEAT_CHECK_MEM(stream + 16 * block, want.len, want.data, want.len);
}

static void icm_128__rfc3711_b2__key_stream(void)
{
    size_t len = 0xff02 * 16;
    uint8_t *stream = calloc(1, len);
    unsigned int octets = (unsigned int)len;
    uint8_t iv[16] = {0};
    leat_crypto_start();
    srtp_cipher_t *c = keyed(&leat__srtp_icm_128,
                             "2b7e151628aed2a6abf7158809cf4f3cf0f1f2f3f4f5f6f7f8f9fafbfcfd", 0);
    LEAT_CHECK_INT(srtp_cipher_set_iv(c, iv, srtp_direction_encrypt), srtp_err_status_ok);
    LEAT_CHECK_INT(srtp_cipher_encrypt(c, stream, &octets), srtp_err_status_ok);
    check_stream(stream, 0,
                 "e03ead0935c95e80e166b16dd92b4eb4d23513162b02d0f72a43a2fe4a5f97ab"
                 "41e95b3bb0a2e8dd477901e4fca894c0");
    check_stream(stream, 0xfeff,
                 "ec8cdf7398607cb0f2d21675ea9ea1e4362b7c3c6773516318a077d7fc5073ae"
                 "6a2cc3787889374fbeb4c81b17ba6c44");
    LEAT_CHECK_INT(srtp_cipher_dealloc(c), srtp_err_status_ok);
    free(stream);
}

static void icm_256__rfc6188_7_1__key_stream(void)
{
    uint8_t stream[48] = {0}, iv[16] = {0};
    unsigned int octets = sizeof(stream);
    leat_crypto_start();
    srtp_cipher_t *c = keyed(&leat__srtp_icm_256,
                             "57f82fe3613fd170a85ec93c40b1f0922ec4cb0dc025b58272147cc438944a98"
                             "f0f1f2f3f4f5f6f7f8f9fafbfcfd",
                             0);
    LEAT_CHECK_INT(srtp_cipher_set_iv(c, iv, srtp_direction_encrypt), srtp_err_status_ok);
    LEAT_CHECK_INT(srtp_cipher_encrypt(c, stream, &octets), srtp_err_status_ok);
    check_stream(stream, 0,
                 "92bdd28a93c3f52511c677d08b5515a49da71b2378a854f67050756ded165bac"
                 "63c4868b7096d88421b563b8c94c9a31");
    srtp_cipher_dealloc(c);
}

/* Derivation is ICM under the master key with the label in octet 7 of the IV (RFC 3711 4.3.1). */
static void icm_128__rfc3711_b3__session_keys(void)
{
    static const struct {
        uint8_t label;
        const char *want;
    } rows[] = {
        {0, "c61e7a93744f39ee10734afe3ff7a087"},
        {1, "cebe321f6ff7716b6fd4ab49af256a156d38baa48f0a0acf3c34e2359e6cdbcee049646c43d9327ad175"
            "578ef72270986371c10c9a369ac2f94a8c5fbcdddc256d6e919a48b610ef17c2041e474035766b68642c"
            "59bbfc2f34db60dbdfb2"},
        {2, "30cbbc08863d8c85d49db34a9ae1"},
    };
    leat_crypto_start();
    srtp_cipher_t *c = keyed(&leat__srtp_icm_128,
                             "e1f97a0d3e018be0d64fa32c06de41390ec675ad498afeebb6960b3aabe6", 0);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct octets want = from_hex(rows[i].want);
        uint8_t out[128] = {0}, iv[16] = {0};
        unsigned int octets = (unsigned int)want.len;
        iv[7] = rows[i].label;
        LEAT_CHECK_INT(srtp_cipher_set_iv(c, iv, srtp_direction_encrypt), srtp_err_status_ok);
        LEAT_CHECK_INT(srtp_cipher_encrypt(c, out, &octets), srtp_err_status_ok);
        LEAT_CHECK_MEM(out, want.len, want.data, want.len);
    }
    srtp_cipher_dealloc(c);
}

static void icm_128__nothing_first__counts_as_no_use(void)
{
    uint8_t data[16] = {0}, iv[16] = {0};
    unsigned int none = 0, some = sizeof(data);
    leat_crypto_start();
    srtp_cipher_t *c = keyed(&leat__srtp_icm_128,
                             "2b7e151628aed2a6abf7158809cf4f3cf0f1f2f3f4f5f6f7f8f9fafbfcfd", 0);
    LEAT_CHECK_INT(srtp_cipher_encrypt(c, data, &some), srtp_err_status_cipher_fail);
    srtp_cipher_set_iv(c, iv, srtp_direction_encrypt);
    LEAT_CHECK_INT(srtp_cipher_output(c, data, &none), srtp_err_status_ok);
    LEAT_CHECK_INT(srtp_cipher_encrypt(c, data, &some), srtp_err_status_ok);
    check_stream(data, 0, "e03ead0935c95e80e166b16dd92b4eb4");
    LEAT_CHECK_INT(srtp_cipher_encrypt(c, data, &some), srtp_err_status_cipher_fail);
    srtp_cipher_dealloc(c);
}

static void cipher_alloc__foreign_lengths__refused(void)
{
    srtp_cipher_t *c = NULL;
    LEAT_CHECK_INT(srtp_cipher_type_alloc(&leat__srtp_icm_128, &c, 16, 0),
                   srtp_err_status_bad_param);
    LEAT_CHECK_INT(srtp_cipher_type_alloc(&leat__srtp_icm_128, &c, 46, 0),
                   srtp_err_status_bad_param);
    LEAT_CHECK_INT(srtp_cipher_type_alloc(&leat__srtp_icm_256, &c, 30, 0),
                   srtp_err_status_bad_param);
    LEAT_CHECK_INT(srtp_cipher_type_alloc(&leat__srtp_gcm_128, &c, 44, 16),
                   srtp_err_status_bad_param);
    LEAT_CHECK_INT(srtp_cipher_type_alloc(&leat__srtp_gcm_256, &c, 44, 12),
                   srtp_err_status_bad_param);
    LEAT_CHECK(c == NULL);
}

#define GCM_KEY_128 "000102030405060708090a0b0c0d0e0f"
#define GCM_KEY_256 GCM_KEY_128 "101112131415161718191a1b1c1d1e1f"
#define GCM_SALT "517569642070726f2071756f"
#define RTP_HEADER "8040f17b8041f8d35501a0b2"
#define RTP_TEXT "47616c6c696120657374206f6d6e69732064697669736120696e207061727465732074726573"
#define RTCP_HEADER "81c8000d4d617273"
#define RTCP_TEXT                                                                                  \
    "4e5450314e545032525450200000042a0000e9304c756e61deadbeefdeadbeefdeadbeefdeadbeefdeadbeef"
#define RTP_IV "51753c6580c2726f20718414"
#define RTCP_IV "517524055203726f207170bb"

static const struct gcm_row {
    const srtp_cipher_type_t *type;
    const char *key, *iv, *aad, *aad_more, *text, *sealed;
} gcm_rows[] = {
    /* RFC 7714 16.1.1, 16.2.1 */
    {&leat__srtp_gcm_128, GCM_KEY_128 GCM_SALT, RTP_IV, RTP_HEADER, NULL, RTP_TEXT,
     "f24de3a3fb34de6cacba861c9d7e4bcabe633bd50d294e6f42a5f47a51c7d19b36de3adf8833"
     "899d7f27beb16a9152cf765ee4390cce"},
    {&leat__srtp_gcm_256, GCM_KEY_256 GCM_SALT, RTP_IV, RTP_HEADER, NULL, RTP_TEXT,
     "32b1de78a822fe12ef9f78fa332e33aab18012389a58e2f3b50b2a0276ffae0f1ba63799b87b"
     "7aa3db36dfffd6b0f9bb7878d7a76c13"},
    /* 17.1, 17.2: the trailer word is the second piece of the additional data */
    {&leat__srtp_gcm_128, GCM_KEY_128 GCM_SALT, RTCP_IV, RTCP_HEADER, "800005d4", RTCP_TEXT,
     "63e94885dcdab67ca727d7662f6b7e997ff5c0f76c06f32dc676a5f1730d6fda4ce09b4686303ded0bb9275b"
     "c84aa45896cf4d2fc5abf87245d9eade"},
    {&leat__srtp_gcm_256, GCM_KEY_256 GCM_SALT, RTCP_IV, RTCP_HEADER, "800005d4", RTCP_TEXT,
     "d50ae4d1f5ce5d304ba297e47d470c282c3ece5dbffe0a50a2eaa5c1110555be8415f658c61de0476f1b6fad"
     "1d1eb30c4446839f57ff6f6cb26ac3be"},
    /* 17.3, 17.4: only a tag, over the whole packet */
    {&leat__srtp_gcm_128, GCM_KEY_128 GCM_SALT, RTCP_IV, RTCP_HEADER RTCP_TEXT, "000005d4", "",
     "841dd9683dd78ec92ae58790125f62b3"},
    {&leat__srtp_gcm_256, GCM_KEY_256 GCM_SALT, RTCP_IV, RTCP_HEADER RTCP_TEXT, "000005d4", "",
     "91db4afbfeee5a978fab4393ed2615fe"},
};

static void gcm_begin(srtp_cipher_t *c, const struct gcm_row *row, struct octets *aad,
                      struct octets *more, int direction)
{
    struct octets iv = from_hex(row->iv);
    *aad = from_hex(row->aad);
    LEAT_CHECK_INT(srtp_cipher_set_iv(c, iv.data, direction), srtp_err_status_ok);
    LEAT_CHECK_INT(srtp_cipher_set_aad(c, aad->data, (uint32_t)aad->len), srtp_err_status_ok);
    if (row->aad_more != NULL) {
        *more = from_hex(row->aad_more);
        LEAT_CHECK_INT(srtp_cipher_set_aad(c, more->data, (uint32_t)more->len), srtp_err_status_ok);
    }
}

static void gcm__rfc7714__seals(void)
{
    leat_crypto_start();
    for (size_t i = 0; i < LEAT_ARRAY_LEN(gcm_rows); i++) {
        srtp_cipher_t *c = keyed(gcm_rows[i].type, gcm_rows[i].key, 16);
        struct octets aad, more, data = from_hex(gcm_rows[i].text);
        struct octets want = from_hex(gcm_rows[i].sealed);
        gcm_begin(c, &gcm_rows[i], &aad, &more, srtp_direction_encrypt);
        unsigned int len = (unsigned int)data.len;
        uint32_t tag_len = 0;
        LEAT_CHECK_ROW(i, srtp_cipher_encrypt(c, len != 0 ? data.data : NULL, &len) ==
                              srtp_err_status_ok);
        LEAT_CHECK_ROW(i, srtp_cipher_get_tag(c, data.data + len, &tag_len) == srtp_err_status_ok);
        LEAT_CHECK_MEM(data.data, len + tag_len, want.data, want.len);
        LEAT_CHECK_ROW(i, srtp_cipher_encrypt(c, data.data, &len) != srtp_err_status_ok);
        srtp_cipher_dealloc(c);
    }
}

static void gcm__rfc7714__opens_and_refuses_a_flipped_bit(void)
{
    leat_crypto_start();
    for (size_t i = 0; i < LEAT_ARRAY_LEN(gcm_rows); i++) {
        srtp_cipher_t *c = keyed(gcm_rows[i].type, gcm_rows[i].key, 16);
        struct octets aad, more, data = from_hex(gcm_rows[i].sealed);
        struct octets want = from_hex(gcm_rows[i].text);
        unsigned int len = (unsigned int)data.len;
        gcm_begin(c, &gcm_rows[i], &aad, &more, srtp_direction_decrypt);
        LEAT_CHECK_ROW(i, srtp_cipher_decrypt(c, data.data, &len) == srtp_err_status_ok);
        LEAT_CHECK_MEM(data.data, len, want.data, want.len);

        data = from_hex(gcm_rows[i].sealed);
        data.data[data.len - 1] ^= 1;
        len = (unsigned int)data.len;
        gcm_begin(c, &gcm_rows[i], &aad, &more, srtp_direction_decrypt);
        LEAT_CHECK_ROW(i, srtp_cipher_decrypt(c, data.data, &len) == srtp_err_status_auth_fail);

        len = 15; /* shorter than a tag */
        gcm_begin(c, &gcm_rows[i], &aad, &more, srtp_direction_decrypt);
        LEAT_CHECK_ROW(i, srtp_cipher_decrypt(c, data.data, &len) == srtp_err_status_cipher_fail);
        srtp_cipher_dealloc(c);
    }
}

/* libsrtp2's self-test asks for it: the first half of the tag. */
static void gcm__tag_of_8_octets__opens_and_refuses_a_flipped_bit(void)
{
    leat_crypto_start();
    for (size_t i = 0; i < LEAT_ARRAY_LEN(gcm_rows); i++) {
        srtp_cipher_t *c = keyed(gcm_rows[i].type, gcm_rows[i].key, 8);
        struct octets aad, more, want = from_hex(gcm_rows[i].text);
        for (size_t bad = 0; bad < 2; bad++) {
            struct octets data = from_hex(gcm_rows[i].sealed);
            unsigned int len = (unsigned int)data.len - 8;
            data.data[len - 1] ^= (uint8_t)bad;
            gcm_begin(c, &gcm_rows[i], &aad, &more, srtp_direction_decrypt);
            srtp_err_status_t status = srtp_cipher_decrypt(c, data.data, &len);
            if (bad) {
                LEAT_CHECK_ROW(i, status == srtp_err_status_auth_fail);
            } else {
                LEAT_CHECK_ROW(i, status == srtp_err_status_ok);
                LEAT_CHECK_MEM(data.data, len, want.data, want.len);
            }
        }
        srtp_cipher_dealloc(c);
    }
}

static struct octets repeated(uint8_t octet, size_t count)
{
    struct octets o = {{0}, count};
    memset(o.data, octet, count);
    return o;
}

static struct octets text(const char *s)
{
    struct octets o = {{0}, strlen(s)};
    memcpy(o.data, s, o.len);
    return o;
}

/* The message arrives as libsrtp2 sends it: whole to compute, and cut between update and compute.
 */
static void hmac__rfc2202__tags(void)
{
    struct {
        struct octets key, data;
        const char *want;
    } rows[] = {
        {repeated(0x0b, 20), text("Hi There"), "b617318655057264e28bc0b6fb378c8ef146be00"},
        {text("Jefe"), text("what do ya want for nothing?"),
         "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"},
        {repeated(0xaa, 20), repeated(0xdd, 50), "125d7342b9ac11cd91a39af48aa17b4f63f175d3"},
        {from_hex("0102030405060708090a0b0c0d0e0f10111213141516171819"), repeated(0xcd, 50),
         "4c9007f4026250c6bc8414f9bf50c86c2d7235da"},
        {repeated(0x0c, 20), text("Test With Truncation"),
         "4c1a03424b55e07fe7f27be1d58bb9324a9a5a04"},
        {repeated(0xaa, 80), text("Test Using Larger Than Block-Size Key - Hash Key First"),
         "aa4ae5e15272d00e95705637ce8a3b55ed402112"},
        {repeated(0xaa, 80),
         text("Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data"),
         "e8e99d0f45237d786d6bbaa7965c7808bbff1a91"},
    };
    leat_crypto_start();
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct octets want = from_hex(rows[i].want);
        uint8_t tag[20];
        srtp_auth_t *a = NULL;
        LEAT_CHECK_ROW(i, srtp_auth_type_alloc(&leat__srtp_hmac_sha1, &a, (int)rows[i].key.len,
                                               20) == srtp_err_status_ok);
        srtp_auth_init(a, rows[i].key.data);
        for (size_t cut = 0; cut <= rows[i].data.len; cut++) {
            srtp_auth_start(a);
            if (cut != 0) {
                srtp_auth_update(a, rows[i].data.data, (int)cut);
            }
            srtp_auth_compute(a, rows[i].data.data + cut, (int)(rows[i].data.len - cut), tag);
            LEAT_CHECK_MEM(tag, sizeof(tag), want.data, want.len);
        }
        srtp_auth_dealloc(a);
    }
}

static void hmac__short_tag__writes_no_more(void)
{
    uint8_t key[20], tag[20];
    memset(key, 0x0c, sizeof(key));
    memset(tag, 0xee, sizeof(tag));
    struct octets data = text("Test With Truncation"), want = from_hex("4c1a03424b55e07fe7f2eeee");
    srtp_auth_t *a = NULL;
    leat_crypto_start();
    srtp_auth_type_alloc(&leat__srtp_hmac_sha1, &a, 20, 10);
    srtp_auth_init(a, key);
    srtp_auth_start(a);
    srtp_auth_compute(a, data.data, (int)data.len, tag);
    LEAT_CHECK_MEM(tag, 12, want.data, want.len);
    srtp_auth_dealloc(a);
    LEAT_CHECK_INT(srtp_auth_type_alloc(&leat__srtp_hmac_sha1, &a, 20, 21),
                   srtp_err_status_bad_param);
}

/* libsrtp2 exports these and declares them in no installed header. */
static const void *installed(const char *symbol, uint32_t id)
{
    const void *(*get)(uint32_t);
    void *found = dlsym(RTLD_DEFAULT, symbol);
    if (found == NULL) {
        return NULL;
    }
    memcpy(&get, &found, sizeof(get));
    return get(id);
}

static void start__again_after_stop__installs_ours(void)
{
    LEAT_CHECK_INT(leat_crypto_start(), 0);
    for (int round = 0; round < 2; round++) {
        LEAT_CHECK_INT(leat_srtp_start(), 0);
        const char *get = "srtp_crypto_kernel_get_cipher_type";
        LEAT_CHECK(installed(get, SRTP_AES_ICM_128) == &leat__srtp_icm_128);
        LEAT_CHECK(installed(get, SRTP_AES_ICM_256) == &leat__srtp_icm_256);
        LEAT_CHECK(installed(get, SRTP_AES_GCM_128) == &leat__srtp_gcm_128);
        LEAT_CHECK(installed(get, SRTP_AES_GCM_256) == &leat__srtp_gcm_256);
        LEAT_CHECK(installed("srtp_crypto_kernel_get_auth_type", SRTP_HMAC_SHA1) ==
                   &leat__srtp_hmac_sha1);
        leat_srtp_stop();
    }
    LEAT_CHECK(strncmp(leat_srtp_library_version(), "libsrtp2 2.", 11) == 0);
}

LEAT_TESTS(LEAT_TEST(icm_128__rfc3711_b2__key_stream), LEAT_TEST(icm_256__rfc6188_7_1__key_stream),
           LEAT_TEST(icm_128__rfc3711_b3__session_keys),
           LEAT_TEST(icm_128__nothing_first__counts_as_no_use),
           LEAT_TEST(cipher_alloc__foreign_lengths__refused), LEAT_TEST(gcm__rfc7714__seals),
           LEAT_TEST(gcm__rfc7714__opens_and_refuses_a_flipped_bit),
           LEAT_TEST(gcm__tag_of_8_octets__opens_and_refuses_a_flipped_bit),
           LEAT_TEST(hmac__rfc2202__tags), LEAT_TEST(hmac__short_tag__writes_no_more),
           LEAT_TEST(start__again_after_stop__installs_ours))
