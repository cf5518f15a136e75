/* SPDX-License-Identifier: MIT */
/*
 * ECDH and ECDSA on P-256 for mbedTLS, computed by libcrypto, which is ten times as fast; and the
 * blocks of SHA-256, which after that are a fifth of a handshake.
 *
 * Five of mbedTLS's functions are meant to be replaced (its MBEDTLS_ECDH_GEN_PUBLIC_ALT and the
 * like). The shared library of the distributions calls them through the dynamic linker, so they are
 * replaced here at link time: an executable that defines them gets the calls, the library's own
 * included. That takes an object that is linked whole into the executable, and default visibility;
 * whether it worked is for kx.c to prove at start. Until leat__kx_take, and for every other curve,
 * calls go on to what the library would have done.
 *
 * Points are validated where they come in (both coordinates below p, on the curve, not infinity);
 * the cofactor is 1, so no more is needed. Scalars are drawn from the caller's generator by
 * rejection. A signature's nonce is SHA-256 over the private key, the digest and 32 octets of that
 * generator: not less than the generator gives, and no disaster where it repeats itself, as in RFC
 * 6979 3.6. libcrypto's own nonce would come from libcrypto's generator, which no caller chose.
 *
 * Secret scalars go through libcrypto's constant-time paths only: its multiplications for P-256,
 * the fixed-window exponentiation for 1/k, its own arithmetic for s. Nothing here branches on one
 * but the rejection, which tells about the rejected. No thread writes what another reads: the curve
 * is made once and is const.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/obj_mac.h>
#include <openssl/sha.h>

#include <assert.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <mbedtls/asn1.h>
#include <mbedtls/ecdh.h>
#include <mbedtls/platform.h>
#include <mbedtls/sha256.h>

#include "kx.h"
#include "library.h"

#define SCALAR_LEN 32
#define POINT_LEN 65          /* uncompressed */
#define SIGNATURE_DER_MAX 72u /* SEQUENCE of two INTEGERs of up to 33 octets */

#define REPLACES __attribute__((visibility("default"), used))

typedef int (*rng_fn)(void *, unsigned char *, size_t);

typedef int (*sha256_fn)(mbedtls_sha256_context *, const unsigned char *);

struct kx {
    EC_GROUP *group;       /* NULL: everything goes on to the library */
    sha256_fn next_sha256; /* the library's own, called too often to look for it each time */
    BIGNUM *order_less_2;  /* the exponent that inverts, by Fermat */
    unsigned *reached;
};

/* NULL: likewise, and the library's own SHA-256 was not looked for yet. */
static _Atomic(struct kx *) current;

/* ---- the switch ---- */

static void kx_free(struct kx *kx)
{
    if (kx != NULL) {
        EC_GROUP_free(kx->group);
        BN_free(kx->order_less_2);
        free(kx);
    }
}

static sha256_fn find_sha256(void)
{
    sha256_fn next;
    *(void **)&next = dlsym(RTLD_NEXT, "mbedtls_internal_sha256_process");
    return next;
}

static struct kx *kx_new(void)
{
    struct kx *kx = calloc(1, sizeof(*kx));
    if (kx != NULL) {
        kx->next_sha256 = find_sha256();
    }
    return kx;
}

/* The present one, or one that hands everything on. NULL without memory. */
static const struct kx *kx_present(void)
{
    struct kx *kx = atomic_load_explicit(&current, memory_order_acquire);
    if (kx != NULL) {
        return kx;
    }
    struct kx *fresh = kx_new();
    if (fresh == NULL || atomic_compare_exchange_strong(&current, &kx, fresh)) {
        return fresh;
    }
    kx_free(fresh); /* another thread was first */
    return kx;
}

bool leat__kx_take(unsigned *reached)
{
    struct kx *kx = kx_new();
    if (kx == NULL) {
        return false;
    }
    kx->reached = reached;
    kx->group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    kx->order_less_2 = kx->group != NULL ? BN_dup(EC_GROUP_get0_order(kx->group)) : NULL;
    if (kx->order_less_2 == NULL || EC_GROUP_get_mont_data(kx->group) == NULL ||
        !BN_sub_word(kx->order_less_2, 2)) {
        ERR_clear_error();
        kx_free(kx);
        return false;
    }
    kx_free(atomic_exchange(&current, kx));
    return true;
}

void leat__kx_end_watch(void)
{
    struct kx *kx = atomic_load(&current);
    if (kx != NULL) {
        kx->reached = NULL;
    }
}

void leat__kx_release(void)
{
    kx_free(atomic_exchange(&current, kx_new()));
}

bool leat__kx_is_taken(void)
{
    const struct kx *kx = atomic_load(&current);
    return kx != NULL && kx->group != NULL;
}

/* @return NULL when the call is the library's. */
static const struct kx *kx_for(mbedtls_ecp_group_id curve, unsigned entry)
{
    const struct kx *kx = atomic_load_explicit(&current, memory_order_acquire);
    if (kx == NULL || kx->group == NULL || curve != MBEDTLS_ECP_DP_SECP256R1) {
        return NULL;
    }
    if (kx->reached != NULL) {
        *kx->reached |= entry;
    }
    return kx;
}

/* ---- octets and libcrypto's objects ---- */

/* What one call needs. Zeroed first; everything in it is wiped. */
struct work {
    BN_CTX *ctx;
    EC_POINT *point;
    BIGNUM *scalar;
    BIGNUM *x, *y;
};

static bool work_init(struct work *w, const struct kx *kx)
{
    w->ctx = BN_CTX_new();
    w->point = EC_POINT_new(kx->group);
    w->scalar = BN_new();
    w->x = BN_new();
    w->y = BN_new();
    return w->ctx != NULL && w->point != NULL && w->scalar != NULL && w->x != NULL && w->y != NULL;
}

static void work_deinit(struct work *w)
{
    BN_clear_free(w->y);
    BN_clear_free(w->x);
    BN_clear_free(w->scalar);
    EC_POINT_clear_free(w->point);
    BN_CTX_free(w->ctx);
}

/* libcrypto failed: its reason as the library's, and its queue emptied. */
static int failure(int otherwise)
{
    bool is_memory = ERR_GET_REASON(ERR_peek_last_error()) == ERR_R_MALLOC_FAILURE;
    ERR_clear_error();
    return is_memory ? MBEDTLS_ERR_ECP_ALLOC_FAILED : otherwise;
}

/* Whether 0 < scalar < n, in constant time. */
static bool is_scalar(const uint8_t scalar[static SCALAR_LEN])
{
    static const uint8_t order[SCALAR_LEN] = {0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00,
                                              0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                              0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84,
                                              0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51};
    unsigned borrow = 0, any = 0;
    for (size_t i = SCALAR_LEN; i-- > 0;) {
        borrow = (scalar[i] - order[i] - borrow) >> 31;
        any |= scalar[i];
    }
    return (borrow & ((0u - any) >> 31)) != 0;
}

static int draw_scalar(uint8_t out[static SCALAR_LEN], rng_fn rng, void *state)
{
    for (unsigned tries = 0; tries < 8; tries++) { /* each fails once in 2^32 */
        int ret = rng(state, out, SCALAR_LEN);
        if (ret != 0 || is_scalar(out)) {
            return ret;
        }
    }
    return MBEDTLS_ERR_ECP_RANDOM_FAILED;
}

static int read_scalar(const mbedtls_mpi *d, uint8_t out[static SCALAR_LEN])
{
    if (d->MBEDTLS_PRIVATE(s) < 0 || mbedtls_mpi_write_binary(d, out, SCALAR_LEN) != 0 ||
        !is_scalar(out)) {
        return MBEDTLS_ERR_ECP_INVALID_KEY;
    }
    return 0;
}

static bool set_scalar(struct work *w, const uint8_t scalar[static SCALAR_LEN])
{
    BN_set_flags(w->scalar, BN_FLG_CONSTTIME);
    return BN_bin2bn(scalar, SCALAR_LEN, w->scalar) != NULL;
}

/* The point into w->point, if it is one. */
static int set_point(struct work *w, const struct kx *kx, const mbedtls_ecp_point *p)
{
    uint8_t octets[POINT_LEN] = {POINT_CONVERSION_UNCOMPRESSED};
    const mbedtls_mpi *x = &p->MBEDTLS_PRIVATE(X), *y = &p->MBEDTLS_PRIVATE(Y);
    if (mbedtls_mpi_cmp_int(&p->MBEDTLS_PRIVATE(Z), 1) != 0 || /* infinity, or not affine */
        x->MBEDTLS_PRIVATE(s) < 0 || y->MBEDTLS_PRIVATE(s) < 0 ||
        mbedtls_mpi_write_binary(x, octets + 1, SCALAR_LEN) != 0 ||
        mbedtls_mpi_write_binary(y, octets + 1 + SCALAR_LEN, SCALAR_LEN) != 0) {
        return MBEDTLS_ERR_ECP_INVALID_KEY;
    }
    /* Compares with p and with the curve's equation. */
    if (EC_POINT_oct2point(kx->group, w->point, octets, POINT_LEN, w->ctx) != 1) {
        return failure(MBEDTLS_ERR_ECP_INVALID_KEY);
    }
    return 0;
}

/* w->scalar times the base point into w->point, x and y. */
static bool multiply_base(struct work *w, const struct kx *kx)
{
    return EC_POINT_mul(kx->group, w->point, w->scalar, NULL, NULL, w->ctx) == 1 &&
           EC_POINT_get_affine_coordinates(kx->group, w->point, w->x, w->y, w->ctx) == 1;
}

/* ---- ECDH ---- */

static int gen_public(const struct kx *kx, mbedtls_ecp_group *grp, mbedtls_mpi *d,
                      mbedtls_ecp_point *q, rng_fn rng, void *state)
{
    struct work w = {0};
    uint8_t scalar[SCALAR_LEN], octets[POINT_LEN] = {POINT_CONVERSION_UNCOMPRESSED};
    int ret = draw_scalar(scalar, rng, state);
    if (ret == 0 && !(work_init(&w, kx) && set_scalar(&w, scalar) && multiply_base(&w, kx) &&
                      BN_bn2binpad(w.x, octets + 1, SCALAR_LEN) == SCALAR_LEN &&
                      BN_bn2binpad(w.y, octets + 1 + SCALAR_LEN, SCALAR_LEN) == SCALAR_LEN)) {
        ret = failure(MBEDTLS_ERR_PLATFORM_HW_ACCEL_FAILED);
    }
    if (ret == 0) {
        ret = mbedtls_ecp_point_read_binary(grp, q, octets, POINT_LEN);
    }
    if (ret == 0) {
        ret = mbedtls_mpi_read_binary(d, scalar, SCALAR_LEN);
    }
    work_deinit(&w);
    leat_wipe(scalar, sizeof(scalar));
    return ret;
}

static int compute_shared(const struct kx *kx, mbedtls_mpi *z, const mbedtls_ecp_point *q,
                          const mbedtls_mpi *d)
{
    struct work w = {0};
    uint8_t scalar[SCALAR_LEN], shared[SCALAR_LEN];
    int ret = read_scalar(d, scalar);
    if (ret == 0 && !(work_init(&w, kx) && set_scalar(&w, scalar))) {
        ret = failure(MBEDTLS_ERR_PLATFORM_HW_ACCEL_FAILED);
    }
    if (ret == 0) {
        ret = set_point(&w, kx, q);
    }
    if (ret == 0 && !(EC_POINT_mul(kx->group, w.point, NULL, w.point, w.scalar, w.ctx) == 1 &&
                      EC_POINT_get_affine_coordinates(kx->group, w.point, w.x, NULL, w.ctx) == 1 &&
                      BN_bn2binpad(w.x, shared, SCALAR_LEN) == SCALAR_LEN)) {
        ret = failure(MBEDTLS_ERR_PLATFORM_HW_ACCEL_FAILED);
    }
    if (ret == 0) {
        ret = mbedtls_mpi_read_binary(z, shared, SCALAR_LEN);
    }
    work_deinit(&w);
    leat_wipe(scalar, sizeof(scalar));
    leat_wipe(shared, sizeof(shared));
    return ret;
}

/* ---- ECDSA ---- */

/* A key of libcrypto's; either half may be NULL. */
static EC_KEY *key_new(const struct kx *kx, const BIGNUM *private_key, const EC_POINT *public_key)
{
    EC_KEY *key = EC_KEY_new();
    if (key != NULL && EC_KEY_set_group(key, kx->group) == 1 &&
        (private_key == NULL || EC_KEY_set_private_key(key, private_key) == 1) &&
        (public_key == NULL || EC_KEY_set_public_key(key, public_key) == 1)) {
        return key;
    }
    EC_KEY_free(key);
    return NULL;
}

static int draw_nonce(uint8_t out[static SCALAR_LEN], const uint8_t d[static SCALAR_LEN],
                      struct leat_span digest, rng_fn rng, void *state)
{
    uint8_t seed[3 * SCALAR_LEN] = {0};
    int ret = 0;
    memcpy(seed, d, SCALAR_LEN);
    memcpy(seed + SCALAR_LEN, digest.data, digest.len);
    for (unsigned tries = 0; tries < 8; tries++) {
        ret = rng(state, seed + 2 * SCALAR_LEN, SCALAR_LEN);
        if (ret != 0) {
            break;
        }
        leat_sha256(seed, sizeof(seed), out);
        if (is_scalar(out)) {
            break;
        }
        ret = MBEDTLS_ERR_ECP_RANDOM_FAILED;
    }
    leat_wipe(seed, sizeof(seed));
    return ret;
}

/* @return NULL with libcrypto's reason in its queue. */
static ECDSA_SIG *sign(const struct kx *kx, struct leat_span digest,
                       const uint8_t d[static SCALAR_LEN], const uint8_t k[static SCALAR_LEN])
{
    const BIGNUM *order = EC_GROUP_get0_order(kx->group);
    struct work w = {0};
    ECDSA_SIG *signature = NULL;
    EC_KEY *key = NULL;
    /* x becomes r, y becomes 1/k */
    if (work_init(&w, kx) && set_scalar(&w, k) && multiply_base(&w, kx) &&
        BN_nnmod(w.x, w.x, order, w.ctx) &&
        BN_mod_exp_mont_consttime(w.y, w.scalar, kx->order_less_2, order, w.ctx,
                                  EC_GROUP_get_mont_data(kx->group)) &&
        set_scalar(&w, d)) {
        key = key_new(kx, w.scalar, NULL);
    }
    if (key != NULL) {
        signature = ECDSA_do_sign_ex(digest.data, (int)digest.len, w.y, w.x, key);
    }
    EC_KEY_free(key);
    work_deinit(&w);
    return signature;
}

static int write_signature(const struct kx *kx, const mbedtls_ecdsa_context *key,
                           struct leat_span digest, uint8_t der[static SIGNATURE_DER_MAX],
                           size_t *len, rng_fn rng, void *state)
{
    uint8_t d[SCALAR_LEN], k[SCALAR_LEN];
    int ret = read_scalar(&key->MBEDTLS_PRIVATE(d), d);
    if (ret == 0) {
        ret = draw_nonce(k, d, digest, rng, state);
    }
    if (ret == 0) {
        ECDSA_SIG *signature = sign(kx, digest, d, k);
        int size = signature != NULL ? i2d_ECDSA_SIG(signature, &der) : 0;
        ret = size > 0 ? 0 : failure(MBEDTLS_ERR_PLATFORM_HW_ACCEL_FAILED);
        *len = (size_t)size;
        ECDSA_SIG_free(signature);
    }
    leat_wipe(d, sizeof(d));
    leat_wipe(k, sizeof(k));
    return ret;
}

static int verify(const struct kx *kx, const mbedtls_ecp_point *q, struct leat_span digest,
                  const mbedtls_mpi *r, const mbedtls_mpi *s)
{
    uint8_t octets[2][SCALAR_LEN];
    if (mbedtls_mpi_write_binary(r, octets[0], SCALAR_LEN) != 0 ||
        mbedtls_mpi_write_binary(s, octets[1], SCALAR_LEN) != 0) {
        return MBEDTLS_ERR_ECP_VERIFY_FAILED; /* longer than the order */
    }
    struct work w = {0};
    EC_KEY *key = NULL;
    ECDSA_SIG *signature = ECDSA_SIG_new();
    int ret = MBEDTLS_ERR_ECP_ALLOC_FAILED;
    if (!work_init(&w, kx) || signature == NULL) {
        goto done;
    }
    ret = set_point(&w, kx, q);
    if (ret != 0) {
        goto done;
    }
    ret = MBEDTLS_ERR_ECP_ALLOC_FAILED;
    key = key_new(kx, NULL, w.point);
    if (key == NULL || BN_bin2bn(octets[0], SCALAR_LEN, w.x) == NULL ||
        BN_bin2bn(octets[1], SCALAR_LEN, w.y) == NULL || ECDSA_SIG_set0(signature, w.x, w.y) != 1) {
        goto done;
    }
    w.x = w.y = NULL; /* the signature's now */
    int verdict = ECDSA_do_verify(digest.data, (int)digest.len, signature, key);
    ret = verdict == 1 ? 0 : failure(MBEDTLS_ERR_ECP_VERIFY_FAILED);

done:
    ERR_clear_error();
    EC_KEY_free(key);
    ECDSA_SIG_free(signature);
    work_deinit(&w);
    return ret;
}

/* The library's reading of the DER, so that what is malformed gives its errors. */
static int read_signature(const struct kx *kx, const mbedtls_ecdsa_context *key,
                          struct leat_span digest, struct leat_span der)
{
    unsigned char *at = (unsigned char *)der.data;
    const unsigned char *end = der.data + der.len;
    size_t len;
    mbedtls_mpi r, s;
    mbedtls_mpi_init(&r);
    mbedtls_mpi_init(&s);
    int ret =
        mbedtls_asn1_get_tag(&at, end, &len, MBEDTLS_ASN1_CONSTRUCTED | MBEDTLS_ASN1_SEQUENCE);
    if (ret == 0 && len != (size_t)(end - at)) {
        ret = MBEDTLS_ERR_ASN1_LENGTH_MISMATCH;
    }
    if (ret == 0) {
        ret = mbedtls_asn1_get_mpi(&at, end, &r);
    }
    if (ret == 0) {
        ret = mbedtls_asn1_get_mpi(&at, end, &s);
    }
    if (ret != 0) {
        ret += MBEDTLS_ERR_ECP_BAD_INPUT_DATA;
    } else {
        ret = verify(kx, &key->MBEDTLS_PRIVATE(Q), digest, &r, &s);
    }
    if (ret == 0 && at != end) {
        ret = MBEDTLS_ERR_ECP_SIG_LEN_MISMATCH;
    }
    mbedtls_mpi_free(&r);
    mbedtls_mpi_free(&s);
    return ret;
}

/* The leftmost bits that the order has room for (FIPS 186-4 6.4). */
static struct leat_span truncate_digest(const unsigned char *hash, size_t len)
{
    return leat_span(hash, len < SCALAR_LEN ? len : SCALAR_LEN);
}

/* ---- the entry points ---- */

typedef int (*gen_public_fn)(mbedtls_ecp_group *, mbedtls_mpi *, mbedtls_ecp_point *, rng_fn,
                             void *);
typedef int (*compute_shared_fn)(mbedtls_ecp_group *, mbedtls_mpi *, const mbedtls_ecp_point *,
                                 const mbedtls_mpi *, rng_fn, void *);

REPLACES int mbedtls_ecdh_gen_public(mbedtls_ecp_group *grp, mbedtls_mpi *d, mbedtls_ecp_point *Q,
                                     rng_fn f_rng, void *p_rng)
{
    const struct kx *kx = kx_for(grp->id, LEAT__KX_GEN_PUBLIC);
    if (kx != NULL) {
        return gen_public(kx, grp, d, Q, f_rng, p_rng);
    }
    gen_public_fn next;
    *(void **)&next = dlsym(RTLD_NEXT, "mbedtls_ecdh_gen_public");
    return next != NULL ? next(grp, d, Q, f_rng, p_rng) : MBEDTLS_ERR_ECP_FEATURE_UNAVAILABLE;
}

REPLACES int mbedtls_ecdh_compute_shared(mbedtls_ecp_group *grp, mbedtls_mpi *z,
                                         const mbedtls_ecp_point *Q, const mbedtls_mpi *d,
                                         rng_fn f_rng, void *p_rng)
{
    const struct kx *kx = kx_for(grp->id, LEAT__KX_COMPUTE_SHARED);
    if (kx != NULL) {
        return compute_shared(kx, z, Q, d);
    }
    compute_shared_fn next;
    *(void **)&next = dlsym(RTLD_NEXT, "mbedtls_ecdh_compute_shared");
    return next != NULL ? next(grp, z, Q, d, f_rng, p_rng) : MBEDTLS_ERR_ECP_FEATURE_UNAVAILABLE;
}

REPLACES int mbedtls_ecdsa_read_signature(mbedtls_ecdsa_context *ctx, const unsigned char *hash,
                                          size_t hlen, const unsigned char *sig, size_t slen)
{
    const struct kx *kx = kx_for(ctx->MBEDTLS_PRIVATE(grp).id, LEAT__KX_READ_SIGNATURE);
    if (kx != NULL) {
        return read_signature(kx, ctx, truncate_digest(hash, hlen), leat_span(sig, slen));
    }
    return mbedtls_ecdsa_read_signature_restartable(ctx, hash, hlen, sig, slen, NULL);
}

#if LEAT__MBEDTLS_3
REPLACES int mbedtls_ecdsa_write_signature(mbedtls_ecdsa_context *ctx, mbedtls_md_type_t md_alg,
                                           const unsigned char *hash, size_t hlen,
                                           unsigned char *sig, size_t sig_size, size_t *slen,
                                           rng_fn f_rng, void *p_rng)
#else
REPLACES int mbedtls_ecdsa_write_signature(mbedtls_ecdsa_context *ctx, mbedtls_md_type_t md_alg,
                                           const unsigned char *hash, size_t hlen,
                                           unsigned char *sig, size_t *slen, rng_fn f_rng,
                                           void *p_rng)
#endif
{
    /* Without a generator there is only the library's deterministic nonce. */
    const struct kx *kx =
        f_rng != NULL ? kx_for(ctx->MBEDTLS_PRIVATE(grp).id, LEAT__KX_WRITE_SIGNATURE) : NULL;
    if (kx == NULL) {
#if LEAT__MBEDTLS_3
        return mbedtls_ecdsa_write_signature_restartable(ctx, md_alg, hash, hlen, sig, sig_size,
                                                         slen, f_rng, p_rng, NULL);
#else
        return mbedtls_ecdsa_write_signature_restartable(ctx, md_alg, hash, hlen, sig, slen, f_rng,
                                                         p_rng, NULL);
#endif
    }
    uint8_t der[SIGNATURE_DER_MAX];
    size_t len = 0;
    int ret = write_signature(kx, ctx, truncate_digest(hash, hlen), der, &len, f_rng, p_rng);
#if LEAT__MBEDTLS_3
    if (ret == 0 && len > sig_size) {
        ret = MBEDTLS_ERR_ECP_BUFFER_TOO_SMALL;
    }
#endif
    if (ret == 0) {
        memcpy(sig, der, len);
        *slen = len;
    }
    return ret;
}

REPLACES int mbedtls_internal_sha256_process(mbedtls_sha256_context *ctx,
                                             const unsigned char data[64])
{
    const struct kx *kx = kx_present();
    if (kx == NULL || kx->group == NULL) {
        sha256_fn next = kx != NULL ? kx->next_sha256 : find_sha256();
        return next != NULL ? next(ctx, data) : MBEDTLS_ERR_PLATFORM_FEATURE_UNSUPPORTED;
    }
    if (kx->reached != NULL) {
        *kx->reached |= LEAT__KX_SHA256;
    }
    SHA256_CTX c;
    static_assert(sizeof(c.h) == sizeof(ctx->MBEDTLS_PRIVATE(state)), "eight words of 32 bits");
    memcpy(c.h, ctx->MBEDTLS_PRIVATE(state), sizeof(c.h));
    SHA256_Transform(&c, data);
    memcpy(ctx->MBEDTLS_PRIVATE(state), c.h, sizeof(c.h));
    leat_wipe(c.h, sizeof(c.h)); /* may be the state of an HMAC key */
    return 0;
}
