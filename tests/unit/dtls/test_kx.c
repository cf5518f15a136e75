/* SPDX-License-Identifier: MIT */
/*
 * Key exchange on P-256 in libcrypto's hands, through the library's own call chain: that it is in
 * effect, and against vectors and the library's own computation. Built without OpenSSL: that the
 * library does it all.
 */
#include <mbedtls/ecdh.h>

#include "harness.h"
#include "kx.h"
#include "library.h"

#define RFC5903_I "C88F01F510D9AC3F70A292DAA2316DE544E9AAB8AFE84049C62A9C57862D1433"
#define RFC5903_GIX "DAD0B65394221CF9B051E1FECA5787D098DFE637FC90B9EF945D0C3772581180"
#define RFC5903_GIY "5271A0461CDB8252D61F1C456FA3E59AB1F45B33ACCF5F58389E0577B8990BB3"
#define RFC5903_R "C6EF9C5D78AE012A011164ACB397CE2088685D8F06BF9BE0B283AB46476BEE53"
#define RFC5903_GRX "D12DFB5289C8D4F81208B70270398C342296970A0BCCB74C736FC7554494BF63"
#define RFC5903_GRY "56FBF3CA366CC23E8157854C13C58D6AAC23F046ADA30F8353E74F33039872AB"
#define RFC5903_GIRX "D6840F6B42F6EDAFD13116E0E12565202FEF8E9ECE7DCE03812464D04B9442DE"

#define RFC6979_UX "60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6"
#define RFC6979_UY "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299"

#define ORDER "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551"
#define ORDER_PLUS_1 "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632552"
#define ORDER_LESS_1 "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632550"

#define SIGNATURE_MAX MBEDTLS_PK_SIGNATURE_MAX_SIZE

static bool use(bool is_wanted)
{
    return leat_dtls_key_exchange_start(is_wanted, leat_rng_thread()) == 0;
}

/* ---- the switch ---- */

static void key_exchange__not_wanted__is_the_librarys(void)
{
    LEAT_CHECK(use(false));
    LEAT_CHECK_STR(leat_dtls_key_exchange(), "mbedtls");
}

#if LEAT__HAVE_KX

static void key_exchange__started__is_libcrypto(void)
{
    LEAT_CHECK_INT(leat_dtls_key_exchange_start(true, leat_rng_thread()), 0);
    LEAT_CHECK_STR(leat_dtls_key_exchange(), "openssl");
    LEAT_CHECK_INT(leat_dtls_key_exchange_start(true, leat_rng_thread()), 0);
    LEAT_CHECK_STR(leat_dtls_key_exchange(), "openssl");
}

/* ---- tools ---- */

static void hex(mbedtls_mpi *out, const char *text)
{
    LEAT_CHECK_INT(mbedtls_mpi_read_string(out, 16, text), 0);
}

static void hex_octets(const char *text, uint8_t *out, size_t len)
{
    LEAT_CHECK_INT(leat_hex_decode(text, 2 * len, out, len), (int64_t)len);
}

static void check_hex(const mbedtls_mpi *actual, const char *expected)
{
    uint8_t is[32] = {0}, should[32];
    hex_octets(expected, should, sizeof(should));
    LEAT_CHECK_INT(mbedtls_mpi_write_binary(actual, is, sizeof(is)), 0);
    LEAT_CHECK_MEM(is, sizeof(is), should, sizeof(should));
}

/* A key pair as the library holds it. */
static void pair_init(mbedtls_ecp_keypair *k, mbedtls_ecp_group_id curve)
{
    mbedtls_ecp_keypair_init(k);
    LEAT_CHECK_INT(mbedtls_ecp_group_load(&k->MBEDTLS_PRIVATE(grp), curve), 0);
}

static void pair_set(mbedtls_ecp_keypair *k, const char *d, const char *x, const char *y)
{
    mbedtls_ecp_point *q = &k->MBEDTLS_PRIVATE(Q);
    if (d != NULL) {
        hex(&k->MBEDTLS_PRIVATE(d), d);
    }
    hex(&q->MBEDTLS_PRIVATE(X), x);
    hex(&q->MBEDTLS_PRIVATE(Y), y);
    hex(&q->MBEDTLS_PRIVATE(Z), "1");
}

static void pair_make(mbedtls_ecp_keypair *k, mbedtls_ecp_group_id curve)
{
    mbedtls_ecp_keypair_init(k);
    LEAT_CHECK_INT(mbedtls_ecp_gen_key(curve, k, leat_rng_callback, leat_rng_thread()), 0);
}

static bool is_pair(const mbedtls_ecp_keypair *k)
{
#if LEAT__MBEDTLS_3
    return mbedtls_ecp_check_pub_priv(k, k, leat_rng_callback, leat_rng_thread()) == 0;
#else
    return mbedtls_ecp_check_pub_priv(k, k) == 0;
#endif
}

static int shared_with(mbedtls_ecp_keypair *own, const mbedtls_ecp_point *q, mbedtls_mpi *z)
{
    return mbedtls_ecdh_compute_shared(&own->MBEDTLS_PRIVATE(grp), z, q, &own->MBEDTLS_PRIVATE(d),
                                       leat_rng_callback, leat_rng_thread());
}

static int sign_with(mbedtls_ecp_keypair *k, const uint8_t *hash, size_t len, uint8_t *signature,
                     size_t *signature_len, int (*rng)(void *, unsigned char *, size_t),
                     void *state)
{
#if LEAT__MBEDTLS_3
    return mbedtls_ecdsa_write_signature(k, MBEDTLS_MD_SHA256, hash, len, signature, SIGNATURE_MAX,
                                         signature_len, rng, state);
#else
    return mbedtls_ecdsa_write_signature(k, MBEDTLS_MD_SHA256, hash, len, signature, signature_len,
                                         rng, state);
#endif
}

/* SEQUENCE of two INTEGERs of n octets each. */
static size_t der_of(const char *r, const char *s, uint8_t out[static 80])
{
    const char *texts[2] = {r, s};
    uint8_t *at = out + 2;
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(texts[i]) / 2;
        *at++ = 0x02;
        *at++ = (uint8_t)(n + 1);
        *at++ = 0;
        hex_octets(texts[i], at, n);
        at += n;
    }
    out[0] = 0x30;
    out[1] = (uint8_t)(at - out - 2);
    return (size_t)(at - out);
}

#define ZERO "0000000000000000000000000000000000000000000000000000000000000000"
#define RFC6979_R "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716"
#define RFC6979_S "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
/* SHA-1, SHA-256 and SHA-512 of "sample". */
#define SAMPLE_1 "8151325dcdbae9e0ff95f9f9658432dbedfdb209"
#define SAMPLE_256 "af2bdbe1aa9b6ec1e2ade1d694f41fc71a831d0268e9891562113d8a62add1bf"
#define SAMPLE_512                                                                                 \
    "39a5e04aaff7455d9850c605364f514c11324ce64016960d23d5dc57d3ffd8f4"                             \
    "9a739468ab8049bf18eef820cdb1ad6c9015f838556bc7fad4138b23fdf986c7"

/* Octets of a table, in turn. */
struct script {
    const char *draws[4]; /* hex; NULL: an error */
    size_t next;
};

static int on_draw(void *state, unsigned char *out, size_t len)
{
    struct script *s = state;
    const char *text = s->next < 4 ? s->draws[s->next++] : NULL;
    return text != NULL && leat_hex_decode(text, 2 * len, out, len) == (ptrdiff_t)len ? 0 : -0x4242;
}

/* ---- who computes ---- */

static int count_draws(void *state, unsigned char *out, size_t len)
{
    ++*(unsigned *)state;
    return leat_rng_callback(leat_rng_thread(), out, len);
}

/* The library draws for its blinding and has deterministic nonces, libcrypto has neither: who
 * computes is seen from outside. */
static void entry_points__switched__are_who_the_switch_says(void)
{
    for (int is_on = 0; is_on < 2; is_on++) {
        mbedtls_ecp_keypair k;
        mbedtls_mpi z;
        uint8_t hash[32] = {1}, signatures[2][SIGNATURE_MAX] = {{0}};
        size_t lens[2] = {0, 0};
        unsigned gen = 0, shared = 0, signing = 0;
        LEAT_CHECK(use(is_on != 0));
        pair_init(&k, MBEDTLS_ECP_DP_SECP256R1);
        mbedtls_mpi_init(&z);
        LEAT_CHECK_INT(mbedtls_ecdh_gen_public(&k.MBEDTLS_PRIVATE(grp), &k.MBEDTLS_PRIVATE(d),
                                               &k.MBEDTLS_PRIVATE(Q), count_draws, &gen),
                       0);
        LEAT_CHECK_INT(mbedtls_ecdh_compute_shared(&k.MBEDTLS_PRIVATE(grp), &z,
                                                   &k.MBEDTLS_PRIVATE(Q), &k.MBEDTLS_PRIVATE(d),
                                                   count_draws, &shared),
                       0);
        for (size_t i = 0; i < 2; i++) {
            LEAT_CHECK_INT(
                sign_with(&k, hash, sizeof(hash), signatures[i], &lens[i], count_draws, &signing),
                0);
        }
        LEAT_CHECK(is_on ? gen == 1 : gen > 1);
        LEAT_CHECK(is_on ? shared == 0 : shared > 0);
        LEAT_CHECK(is_on ? signing == 2 : signing >= 2);
        LEAT_CHECK(leat_span_equal(leat_span(signatures[0], lens[0]),
                                   leat_span(signatures[1], lens[1])) == (is_on == 0));
        mbedtls_mpi_free(&z);
        mbedtls_ecp_keypair_free(&k);
    }
}

/* ---- SHA-256 ---- */

/* FIPS 180-4's examples: one block, two, and the million. */
static void sha256__examples__agree(void)
{
    static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static unsigned char million[1000000];
    memset(million, 'a', sizeof(million));
    const struct {
        const void *text;
        size_t len;
        const char *digest;
    } rows[] = {
        {"abc", 3, "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"},
        {two, sizeof(two) - 1, "248D6A61D20638B8E5C026930C3E6039A33CE45964FF2167F6ECEDD419DB06C1"},
        {million, sizeof(million),
         "CDC76E5C9914FB9281A1C7E284D73E67F1809A48A497200E046D39CCC7112CD0"},
    };
    for (size_t i = 0; i < 2 * LEAT_ARRAY_LEN(rows); i++) {
        uint8_t expected[32];
        unsigned char digest[32] = {0};
        LEAT_CHECK(use(i % 2 == 0));
        hex_octets(rows[i / 2].digest, expected, sizeof(expected));
        LEAT_CHECK_INT(mbedtls_md(mbedtls_md_info_from_type(MBEDTLS_MD_SHA256), rows[i / 2].text,
                                  rows[i / 2].len, digest),
                       0);
        LEAT_CHECK_MEM(digest, sizeof(digest), expected, sizeof(expected));
    }
}

/* On other CPUs the library may have instructions of its own. */
static void sha256__taken_on_x86__is_reached(void)
{
    unsigned reached = 0;
    unsigned char digest[32] = {0};
    LEAT_CHECK(leat__kx_take(&reached));
    LEAT_CHECK_INT(mbedtls_md(mbedtls_md_info_from_type(MBEDTLS_MD_SHA256), digest, 1, digest), 0);
    leat__kx_end_watch();
#if defined(__x86_64__)
    LEAT_CHECK_INT(reached, LEAT__KX_SHA256);
#endif
}

/* ---- ECDH ---- */

static void gen_public__scripted_generator__is_its_scalar(void)
{
    static const struct {
        const char *draws[4];
        int ret;
    } rows[] = {
        {{RFC5903_I}, 0},
        {{ORDER, ZERO, ORDER_PLUS_1, RFC5903_I}, 0},
        {{NULL}, -0x4242},
        {{ORDER, NULL}, -0x4242},
    };
    LEAT_CHECK(use(true));
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct script s = {.next = 0};
        mbedtls_ecp_keypair k;
        memcpy(s.draws, rows[i].draws, sizeof(s.draws));
        pair_init(&k, MBEDTLS_ECP_DP_SECP256R1);
        LEAT_CHECK_ROW(i,
                       mbedtls_ecdh_gen_public(&k.MBEDTLS_PRIVATE(grp), &k.MBEDTLS_PRIVATE(d),
                                               &k.MBEDTLS_PRIVATE(Q), on_draw, &s) == rows[i].ret);
        if (rows[i].ret == 0) {
            check_hex(&k.MBEDTLS_PRIVATE(d), RFC5903_I);
            check_hex(&k.MBEDTLS_PRIVATE(Q).MBEDTLS_PRIVATE(X), RFC5903_GIX);
            check_hex(&k.MBEDTLS_PRIVATE(Q).MBEDTLS_PRIVATE(Y), RFC5903_GIY);
            LEAT_CHECK_INT(mbedtls_mpi_cmp_int(&k.MBEDTLS_PRIVATE(Q).MBEDTLS_PRIVATE(Z), 1), 0);
        }
        mbedtls_ecp_keypair_free(&k);
    }
}

static void compute_shared__rfc5903__agrees(void)
{
    mbedtls_ecp_keypair i, r;
    mbedtls_mpi z;
    LEAT_CHECK(use(true));
    pair_init(&i, MBEDTLS_ECP_DP_SECP256R1);
    pair_init(&r, MBEDTLS_ECP_DP_SECP256R1);
    mbedtls_mpi_init(&z);
    pair_set(&i, RFC5903_I, RFC5903_GIX, RFC5903_GIY);
    pair_set(&r, RFC5903_R, RFC5903_GRX, RFC5903_GRY);
    LEAT_CHECK_INT(shared_with(&i, &r.MBEDTLS_PRIVATE(Q), &z), 0);
    check_hex(&z, RFC5903_GIRX);
    LEAT_CHECK_INT(shared_with(&r, &i.MBEDTLS_PRIVATE(Q), &z), 0);
    check_hex(&z, RFC5903_GIRX);
    mbedtls_mpi_free(&z);
    mbedtls_ecp_keypair_free(&i);
    mbedtls_ecp_keypair_free(&r);
}

/* Halves made by one and by the other, secrets computed by both. */
static void ecdh__against_the_library__agrees(void)
{
    for (unsigned round = 0; round < 8; round++) {
        mbedtls_ecp_keypair pairs[2];
        mbedtls_mpi secrets[4];
        for (size_t i = 0; i < 4; i++) {
            mbedtls_mpi_init(&secrets[i]);
        }
        for (size_t i = 0; i < 2; i++) {
            LEAT_CHECK(use(i == 0));
            pair_init(&pairs[i], MBEDTLS_ECP_DP_SECP256R1);
            LEAT_CHECK_INT(mbedtls_ecdh_gen_public(
                               &pairs[i].MBEDTLS_PRIVATE(grp), &pairs[i].MBEDTLS_PRIVATE(d),
                               &pairs[i].MBEDTLS_PRIVATE(Q), leat_rng_callback, leat_rng_thread()),
                           0);
            LEAT_CHECK(is_pair(&pairs[i]));
        }
        for (size_t i = 0; i < 4; i++) {
            LEAT_CHECK(use(i / 2 == 0));
            LEAT_CHECK_INT(
                shared_with(&pairs[i % 2], &pairs[1 - i % 2].MBEDTLS_PRIVATE(Q), &secrets[i]), 0);
            LEAT_CHECK_ROW(i, mbedtls_mpi_cmp_mpi(&secrets[0], &secrets[i]) == 0);
        }
        for (size_t i = 0; i < 4; i++) {
            mbedtls_mpi_free(&secrets[i]);
        }
        mbedtls_ecp_keypair_free(&pairs[0]);
        mbedtls_ecp_keypair_free(&pairs[1]);
    }
}

/* Points that are none, among them two that are on the curve once their coordinates are reduced. */
static const struct {
    const char *x, *y, *z;
    bool is_negative; /* x */
} bad_points[] = {
    {RFC5903_GRX, RFC5903_GIY, "1", false},
    {RFC5903_GRX, ZERO, "1", false},
    {ZERO, ZERO, "1", false},
    {"1", ZERO, "0", false}, /* infinity as the library holds it */
    {RFC5903_GRX, RFC5903_GRY, "0", false},
    {RFC5903_GRX, RFC5903_GRY, "2", false},
    {RFC5903_GRX, RFC5903_GRY, "1", true},
    {"FFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF",
     "66485C780E2F83D72433BD5D84A06BB6541C2AF31DAE871728BF856A174F93F4", "1", false},
    {"6916FAC45E568B6B9E2E2ECD611B282E5FCC40A3067D601057F879CE5A8A73CC",
     "FFFFFFFF00000001000000000000000000000001000000000000000000000000", "1", false},
    {"01" RFC5903_GRX, RFC5903_GRY, "1", false},
    {RFC5903_GRX, "01" RFC5903_GRY, "1", false},
};

static void set_bad_point(mbedtls_ecp_keypair *k, size_t i)
{
    mbedtls_ecp_point *q = &k->MBEDTLS_PRIVATE(Q);
    pair_set(k, NULL, bad_points[i].x, bad_points[i].y);
    hex(&q->MBEDTLS_PRIVATE(Z), bad_points[i].z);
    q->MBEDTLS_PRIVATE(X).MBEDTLS_PRIVATE(s) =
        (__typeof__(q->MBEDTLS_PRIVATE(X).MBEDTLS_PRIVATE(s)))(bad_points[i].is_negative ? -1 : 1);
}

static void compute_shared__no_point_of_the_curve__is_refused(void)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(bad_points); i++) {
        mbedtls_ecp_keypair own, other;
        mbedtls_mpi z;
        LEAT_CHECK(use(true));
        mbedtls_mpi_init(&z);
        pair_init(&own, MBEDTLS_ECP_DP_SECP256R1);
        pair_init(&other, MBEDTLS_ECP_DP_SECP256R1);
        pair_set(&own, RFC5903_I, RFC5903_GIX, RFC5903_GIY);
        set_bad_point(&other, i);
        int ret = shared_with(&own, &other.MBEDTLS_PRIVATE(Q), &z);
        LEAT_CHECK_ROW(i, ret == MBEDTLS_ERR_ECP_INVALID_KEY);
        LEAT_CHECK_ROW(i, mbedtls_mpi_cmp_int(&z, 0) == 0);
        LEAT_CHECK(use(false));
        LEAT_CHECK_ROW(i, shared_with(&own, &other.MBEDTLS_PRIVATE(Q), &z) == ret);
        mbedtls_mpi_free(&z);
        mbedtls_ecp_keypair_free(&own);
        mbedtls_ecp_keypair_free(&other);
    }
}

static void private_key__out_of_range__is_refused(void)
{
    static const char *const keys[] = {"0", ORDER, ORDER_PLUS_1, ("01" RFC5903_I), "-1"};
    static const uint8_t hash[32] = {1};
    LEAT_CHECK(use(true));
    for (size_t i = 0; i < LEAT_ARRAY_LEN(keys); i++) {
        mbedtls_ecp_keypair k;
        mbedtls_mpi z;
        uint8_t signature[SIGNATURE_MAX];
        size_t len = 0;
        mbedtls_mpi_init(&z);
        pair_init(&k, MBEDTLS_ECP_DP_SECP256R1);
        pair_set(&k, keys[i], RFC5903_GIX, RFC5903_GIY);
        LEAT_CHECK_ROW(i,
                       shared_with(&k, &k.MBEDTLS_PRIVATE(Q), &z) == MBEDTLS_ERR_ECP_INVALID_KEY);
        LEAT_CHECK_ROW(i, sign_with(&k, hash, sizeof(hash), signature, &len, leat_rng_callback,
                                    leat_rng_thread()) == MBEDTLS_ERR_ECP_INVALID_KEY);
        LEAT_CHECK_ROW(i, len == 0);
        mbedtls_mpi_free(&z);
        mbedtls_ecp_keypair_free(&k);
    }
}

/* ---- ECDSA ---- */

static void ecdsa__against_the_library__agrees(void)
{
    static const size_t hash_lens[] = {20, 28, 32, 48, 64};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(hash_lens) * 2 * 4; i++) {
        bool signs = i % 2 == 0;
        size_t hash_len = hash_lens[i / 2 % LEAT_ARRAY_LEN(hash_lens)], len = 0;
        mbedtls_ecp_keypair k;
        uint8_t hash[64], signature[SIGNATURE_MAX];
        leat_rng_fill(leat_rng_thread(), hash, sizeof(hash));
        pair_make(&k, MBEDTLS_ECP_DP_SECP256R1);
        LEAT_CHECK(use(signs));
        LEAT_CHECK_ROW(i, sign_with(&k, hash, hash_len, signature, &len, leat_rng_callback,
                                    leat_rng_thread()) == 0);
        LEAT_CHECK(use(!signs));
        LEAT_CHECK_ROW(i, mbedtls_ecdsa_read_signature(&k, hash, hash_len, signature, len) == 0);
        hash[hash_len < 32 ? hash_len - 1 : 31] ^= 1;
        LEAT_CHECK_ROW(i, mbedtls_ecdsa_read_signature(&k, hash, hash_len, signature, len) ==
                              MBEDTLS_ERR_ECP_VERIFY_FAILED);
        mbedtls_ecp_keypair_free(&k);
    }
}

static void read_signature__rfc6979__verifies(void)
{
    static const struct {
        const char *hash, *r, *s;
    } rows[] = {
        {SAMPLE_1, "61340C88C3AAEBEB4F6D667F672CA9759A6CCAA9FA8811313039EE4A35471D32",
         "6D7F147DAC089441BB2E2FE8F7A3FA264B9C475098FDCF6E00D7C996E1B8B7EB"},
        {SAMPLE_256, RFC6979_R, RFC6979_S},
        {SAMPLE_512, "8496A60B5E9B47C825488827E0495B0E3FA109EC4568FD3F8D1097678EB97F00",
         "2362AB1ADBE2B8ADF9CB9EDAB740EA6049C028114F2460F96554F61FAE3302FE"},
    };
    LEAT_CHECK(use(true));
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        mbedtls_ecp_keypair k;
        uint8_t hash[64], der[80];
        size_t hash_len = strlen(rows[i].hash) / 2;
        hex_octets(rows[i].hash, hash, hash_len);
        pair_init(&k, MBEDTLS_ECP_DP_SECP256R1);
        pair_set(&k, NULL, RFC6979_UX, RFC6979_UY);
        size_t len = der_of(rows[i].r, rows[i].s, der);
        LEAT_CHECK_ROW(i, mbedtls_ecdsa_read_signature(&k, hash, hash_len, der, len) == 0);
        mbedtls_ecp_keypair_free(&k);
    }
}

static void read_signature__wrong__is_the_librarys_error(void)
{
    static const struct {
        const char *hash, *r, *s;
        int truncate, trailing;
    } rows[] = {
        {SAMPLE_256, ZERO, RFC6979_S, 0, 0},
        {SAMPLE_256, RFC6979_R, ZERO, 0, 0},
        {SAMPLE_256, ZERO, ZERO, 0, 0},
        {SAMPLE_256, ORDER, RFC6979_S, 0, 0},
        {SAMPLE_256, RFC6979_R, ORDER, 0, 0},
        {SAMPLE_256, ORDER_PLUS_1, RFC6979_S, 0, 0},
        {SAMPLE_256, RFC6979_R, ORDER_PLUS_1, 0, 0},
        {SAMPLE_256, ORDER_LESS_1, RFC6979_S, 0, 0},
        {SAMPLE_256, "01" RFC6979_R, RFC6979_S, 0, 0},
        {SAMPLE_256, RFC6979_R, "01" RFC6979_S, 0, 0},
        {SAMPLE_256, RFC6979_S, RFC6979_R, 0, 0},
        {SAMPLE_512, RFC6979_R, RFC6979_S, 0, 0},
        {SAMPLE_1, RFC6979_R, RFC6979_S, 0, 0},
        {SAMPLE_256, RFC6979_R, RFC6979_S, 1, 0},
        {SAMPLE_256, RFC6979_R, RFC6979_S, 33, 0},
        {SAMPLE_256, RFC6979_R, RFC6979_S, 36, 0},
        {SAMPLE_256, RFC6979_R, RFC6979_S, 71, 0},
        {SAMPLE_256, RFC6979_R, RFC6979_S, 72, 0},
        {SAMPLE_256, RFC6979_R, RFC6979_S, 0, 1},  /* inside the SEQUENCE */
        {SAMPLE_256, RFC6979_R, RFC6979_S, -1, 0}, /* behind it */
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        mbedtls_ecp_keypair k;
        uint8_t hash[64], der[82] = {0};
        size_t hash_len = strlen(rows[i].hash) / 2;
        int rets[2];
        hex_octets(rows[i].hash, hash, hash_len);
        size_t len = der_of(rows[i].r, rows[i].s, der);
        len = (size_t)((int)len - rows[i].truncate + rows[i].trailing);
        der[1] = (uint8_t)(der[1] + rows[i].trailing);
        pair_init(&k, MBEDTLS_ECP_DP_SECP256R1);
        pair_set(&k, NULL, RFC6979_UX, RFC6979_UY);
        for (int is_on = 0; is_on < 2; is_on++) {
            LEAT_CHECK(use(is_on != 0));
            rets[is_on] = mbedtls_ecdsa_read_signature(&k, hash, hash_len, der, len);
        }
        LEAT_CHECK_ROW(i, rets[1] != 0);
        LEAT_CHECK_ROW(i, rets[1] == rets[0]);
        mbedtls_ecp_keypair_free(&k);
    }
}

static void read_signature__no_point_of_the_curve__is_refused(void)
{
    uint8_t hash[32], der[80];
    size_t len = der_of(RFC6979_R, RFC6979_S, der);
    hex_octets(SAMPLE_256, hash, sizeof(hash));
    LEAT_CHECK(use(true));
    for (size_t i = 0; i < LEAT_ARRAY_LEN(bad_points); i++) {
        mbedtls_ecp_keypair k;
        pair_init(&k, MBEDTLS_ECP_DP_SECP256R1);
        set_bad_point(&k, i);
        int ret = mbedtls_ecdsa_read_signature(&k, hash, sizeof(hash), der, len);
        LEAT_CHECK_ROW(i, ret == MBEDTLS_ERR_ECP_INVALID_KEY);
        mbedtls_ecp_keypair_free(&k);
    }
}

/* r of a signature, from its DER. */
static struct leat_span r_of(const uint8_t *der)
{
    return leat_span(der + 4, der[3]);
}

/* A generator that repeats itself must not give one nonce to two digests: that tells the key. */
static void write_signature__generator_repeats_itself__nonces_differ(void)
{
    mbedtls_ecp_keypair k;
    uint8_t hashes[2][32] = {{1}, {2}}, signatures[3][SIGNATURE_MAX];
    size_t lens[3];
    LEAT_CHECK(use(true));
    pair_make(&k, MBEDTLS_ECP_DP_SECP256R1);
    for (size_t i = 0; i < 3; i++) {
        struct script s = {.draws = {RFC5903_I}};
        LEAT_CHECK_INT(sign_with(&k, hashes[i % 2], 32, signatures[i], &lens[i], on_draw, &s), 0);
    }
    LEAT_CHECK(!leat_span_equal(r_of(signatures[0]), r_of(signatures[1])));
    LEAT_CHECK_MEM(signatures[0], lens[0], signatures[2], lens[2]);
    struct script other = {.draws = {RFC5903_R}};
    LEAT_CHECK_INT(sign_with(&k, hashes[0], 32, signatures[2], &lens[2], on_draw, &other), 0);
    LEAT_CHECK(!leat_span_equal(r_of(signatures[0]), r_of(signatures[2])));
    struct script none = {.draws = {NULL}};
    LEAT_CHECK_INT(sign_with(&k, hashes[0], 32, signatures[2], &lens[2], on_draw, &none), -0x4242);
    mbedtls_ecp_keypair_free(&k);
}

/* ---- what stays the library's ---- */

static void other_curves__started__still_work(void)
{
    static const mbedtls_ecp_group_id curves[] = {MBEDTLS_ECP_DP_SECP384R1,
                                                  MBEDTLS_ECP_DP_CURVE25519};
    LEAT_CHECK(use(true));
    for (size_t i = 0; i < LEAT_ARRAY_LEN(curves); i++) {
        mbedtls_ecdh_context sides[2];
        unsigned char params[160], public[160], secrets[2][66];
        const unsigned char *at = params;
        size_t params_len = 0, public_len = 0, lens[2] = {0, 0};
        struct leat_rng *rng = leat_rng_thread();
        mbedtls_ecdh_init(&sides[0]);
        mbedtls_ecdh_init(&sides[1]);
        LEAT_CHECK_INT(mbedtls_ecdh_setup(&sides[0], curves[i]), 0);
        LEAT_CHECK_INT(mbedtls_ecdh_make_params(&sides[0], &params_len, params, sizeof(params),
                                                leat_rng_callback, rng),
                       0);
        LEAT_CHECK_INT(mbedtls_ecdh_read_params(&sides[1], &at, params + params_len), 0);
        LEAT_CHECK_INT(mbedtls_ecdh_make_public(&sides[1], &public_len, public, sizeof(public),
                                                leat_rng_callback, rng),
                       0);
        LEAT_CHECK_INT(mbedtls_ecdh_read_public(&sides[0], public, public_len), 0);
        for (size_t j = 0; j < 2; j++) {
            LEAT_CHECK_INT(mbedtls_ecdh_calc_secret(&sides[j], &lens[j], secrets[j],
                                                    sizeof(secrets[j]), leat_rng_callback, rng),
                           0);
        }
        LEAT_CHECK(lens[0] > 0);
        LEAT_CHECK_MEM(secrets[0], lens[0], secrets[1], lens[1]);
        mbedtls_ecdh_free(&sides[0]);
        mbedtls_ecdh_free(&sides[1]);
    }
}

static void ecdsa__p384__still_works(void)
{
    mbedtls_ecp_keypair k;
    uint8_t hash[48] = {7}, signature[SIGNATURE_MAX];
    size_t len = 0;
    LEAT_CHECK(use(true));
    pair_make(&k, MBEDTLS_ECP_DP_SECP384R1);
    LEAT_CHECK_INT(
        sign_with(&k, hash, sizeof(hash), signature, &len, leat_rng_callback, leat_rng_thread()),
        0);
    LEAT_CHECK_INT(mbedtls_ecdsa_read_signature(&k, hash, sizeof(hash), signature, len), 0);
    hash[0] ^= 1;
    LEAT_CHECK_INT(mbedtls_ecdsa_read_signature(&k, hash, sizeof(hash), signature, len),
                   MBEDTLS_ERR_ECP_VERIFY_FAILED);
    mbedtls_ecp_keypair_free(&k);
}

LEAT_TESTS(LEAT_TEST(key_exchange__started__is_libcrypto),
           LEAT_TEST(key_exchange__not_wanted__is_the_librarys),
           LEAT_TEST(entry_points__switched__are_who_the_switch_says),
           LEAT_TEST(sha256__examples__agree), LEAT_TEST(sha256__taken_on_x86__is_reached),
           LEAT_TEST(gen_public__scripted_generator__is_its_scalar),
           LEAT_TEST(compute_shared__rfc5903__agrees), LEAT_TEST(ecdh__against_the_library__agrees),
           LEAT_TEST(compute_shared__no_point_of_the_curve__is_refused),
           LEAT_TEST(private_key__out_of_range__is_refused),
           LEAT_TEST(ecdsa__against_the_library__agrees),
           LEAT_TEST(read_signature__rfc6979__verifies),
           LEAT_TEST(read_signature__wrong__is_the_librarys_error),
           LEAT_TEST(read_signature__no_point_of_the_curve__is_refused),
           LEAT_TEST(write_signature__generator_repeats_itself__nonces_differ),
           LEAT_TEST(other_curves__started__still_work), LEAT_TEST(ecdsa__p384__still_works))

#else

static void key_exchange__started_without_openssl__is_the_librarys(void)
{
    LEAT_CHECK_INT(leat_dtls_key_exchange_start(true, leat_rng_thread()), LEAT_E_UNSUPPORTED);
    LEAT_CHECK_STR(leat_dtls_key_exchange(), "mbedtls");
}

LEAT_TESTS(LEAT_TEST(key_exchange__started_without_openssl__is_the_librarys),
           LEAT_TEST(key_exchange__not_wanted__is_the_librarys))

#endif
