/* SPDX-License-Identifier: MIT */
/*
 * The doors between libsrtp2's framing and the crypto layer: AES in integer counter mode (RFC 3711
 * 4.1.1; key derivation uses it too), AES-GCM (RFC 7714) and HMAC-SHA1, each a const table of
 * functions over a keyed context of leat/crypto.h. 192-bit keys are left to the library.
 *
 * How libsrtp2 2.x calls, as far as it is not obvious from its headers:
 *
 * - One object is one (key, direction): alloc, init (again for another key), then per packet
 *   set_iv, set_aad (GCM), encrypt or decrypt, get_tag (GCM).
 * - ICM is asked for 0 octets of key stream before the payload of each outgoing SRTCP packet,
 *   which must not count as a use of the counter.
 * - GCM gets the additional data of SRTCP in two pieces, header and trailer word, both alive
 *   until the next encrypt or decrypt; encrypt(NULL, 0) only makes the tag.
 * - GCM's decrypt gets cipher text and tag as one buffer and shortens the length.
 * - The HMAC of SRTP arrives in two pieces (update: the packet; compute: the roll-over
 *   counter), that of SRTCP in one (compute alone). The first is still there at the second.
 */
#include "glue.h"

#include <stdlib.h>

#include <leat/crypto.h>

#define SALT_LEN 14     /* ICM */
#define GCM_SALT_LEN 12 /* used by libsrtp2 for the IV; not part of the cipher's key */
#define GCM_IV_LEN 12
/* No profile of WebRTC has it, but libsrtp2's self-test of a type asks for it. */
#define GCM_SHORT_TAG_LEN 8
/* Joins the two pieces of SRTCP: 8 octets of header and 4 of trailer; more only when a packet is
 * not encrypted, which sessions refuse. */
#define GCM_AAD_JOIN_MAX 64
/* The packet and the roll-over counter. */
#define HMAC_PIECES_MAX 2

/* ---- AES-ICM ---- */

struct icm {
    srtp_cipher_t base; /* first: libsrtp2 holds a pointer to it */
    struct leat_aes aes;
    uint8_t offset[16]; /* salt and two zeros */
    uint8_t counter[16];
    size_t key_len; /* without the salt */
    bool is_keyed;
    bool has_counter; /* set_iv was called and no key stream has been taken since */
};

static srtp_err_status_t icm_alloc(srtp_cipher_t **out, int key_len, size_t wanted_key_len,
                                   const srtp_cipher_type_t *type)
{
    if (key_len != (int)wanted_key_len + SALT_LEN) {
        return srtp_err_status_bad_param;
    }
    struct icm *c = calloc(1, sizeof(*c));
    if (c == NULL) {
        return srtp_err_status_alloc_fail;
    }
    c->base.type = type;
    c->base.state = c;
    c->base.key_len = key_len;
    c->base.algorithm = (int)type->id;
    c->key_len = wanted_key_len;
    *out = &c->base;
    return srtp_err_status_ok;
}

static srtp_err_status_t icm_128_alloc(srtp_cipher_t **out, int key_len, int tag_len)
{
    (void)tag_len;
    return icm_alloc(out, key_len, 16, &leat__srtp_icm_128);
}

static srtp_err_status_t icm_256_alloc(srtp_cipher_t **out, int key_len, int tag_len)
{
    (void)tag_len;
    return icm_alloc(out, key_len, 32, &leat__srtp_icm_256);
}

static void icm_forget(struct icm *c)
{
    if (c->is_keyed) {
        leat_aes_deinit(&c->aes);
    }
    c->is_keyed = false;
    c->has_counter = false;
}

static srtp_err_status_t icm_dealloc(srtp_cipher_t *base)
{
    struct icm *c = base->state;
    icm_forget(c);
    leat_wipe(c, sizeof(*c));
    free(c);
    return srtp_err_status_ok;
}

static srtp_err_status_t icm_init(void *state, const uint8_t *key)
{
    struct icm *c = state;
    icm_forget(c);
    if (leat_aes_init(&c->aes, key, c->key_len) != 0) {
        return srtp_err_status_cipher_fail;
    }
    c->is_keyed = true;
    memset(c->offset, 0, sizeof(c->offset));
    memcpy(c->offset, key + c->key_len, SALT_LEN);
    return srtp_err_status_ok;
}

static srtp_err_status_t icm_set_iv(void *state, uint8_t *iv, srtp_cipher_direction_t direction)
{
    struct icm *c = state;
    (void)direction;
    for (size_t i = 0; i < sizeof(c->counter); i++) {
        c->counter[i] = c->offset[i] ^ iv[i];
    }
    c->has_counter = c->is_keyed;
    return srtp_err_status_ok;
}

/* One run of key stream an IV: a second one would have to go on inside a block, and starting over
 * would use key stream twice. */
static srtp_err_status_t icm_crypt(void *state, unsigned char *data, unsigned int *len)
{
    struct icm *c = state;
    if (*len == 0) {
        return srtp_err_status_ok;
    }
    if (!c->has_counter) {
        return srtp_err_status_cipher_fail;
    }
    c->has_counter = false;
    if (leat_aes_ctr(&c->aes, c->counter, data, *len, data) != 0) {
        return srtp_err_status_cipher_fail;
    }
    return srtp_err_status_ok;
}

/* ---- AES-GCM ---- */

struct gcm {
    srtp_cipher_t base;
    struct leat_gcm aead;
    uint8_t iv[GCM_IV_LEN];
    uint8_t tag[LEAT__SRTP_GCM_TAG_LEN];
    struct leat_span aad; /* libsrtp2's memory, or `joined` */
    uint8_t joined[GCM_AAD_JOIN_MAX];
    size_t key_len, tag_len;
    bool is_keyed;
    bool has_iv;
    bool has_tag;
};

static srtp_err_status_t gcm_alloc(srtp_cipher_t **out, int key_len, int tag_len,
                                   size_t wanted_key_len, const srtp_cipher_type_t *type)
{
    if (key_len != (int)wanted_key_len + GCM_SALT_LEN ||
        (tag_len != LEAT__SRTP_GCM_TAG_LEN && tag_len != GCM_SHORT_TAG_LEN)) {
        return srtp_err_status_bad_param;
    }
    struct gcm *c = calloc(1, sizeof(*c));
    if (c == NULL) {
        return srtp_err_status_alloc_fail;
    }
    c->base.type = type;
    c->base.state = c;
    c->base.key_len = key_len;
    c->base.algorithm = (int)type->id; /* libsrtp2 takes its AEAD paths by this */
    c->key_len = wanted_key_len;
    c->tag_len = (size_t)tag_len;
    *out = &c->base;
    return srtp_err_status_ok;
}

static srtp_err_status_t gcm_128_alloc(srtp_cipher_t **out, int key_len, int tag_len)
{
    return gcm_alloc(out, key_len, tag_len, 16, &leat__srtp_gcm_128);
}

static srtp_err_status_t gcm_256_alloc(srtp_cipher_t **out, int key_len, int tag_len)
{
    return gcm_alloc(out, key_len, tag_len, 32, &leat__srtp_gcm_256);
}

static void gcm_forget(struct gcm *c)
{
    if (c->is_keyed) {
        leat_gcm_deinit(&c->aead);
    }
    c->is_keyed = false;
    c->has_iv = false;
    c->has_tag = false;
}

static srtp_err_status_t gcm_dealloc(srtp_cipher_t *base)
{
    struct gcm *c = base->state;
    gcm_forget(c);
    leat_wipe(c, sizeof(*c));
    free(c);
    return srtp_err_status_ok;
}

static srtp_err_status_t gcm_init(void *state, const uint8_t *key)
{
    struct gcm *c = state;
    gcm_forget(c);
    if (leat_gcm_init(&c->aead, key, c->key_len) != 0) {
        return srtp_err_status_cipher_fail;
    }
    c->is_keyed = true;
    return srtp_err_status_ok;
}

static srtp_err_status_t gcm_set_iv(void *state, uint8_t *iv, srtp_cipher_direction_t direction)
{
    struct gcm *c = state;
    (void)direction;
    memcpy(c->iv, iv, sizeof(c->iv));
    c->aad = leat_span(NULL, 0);
    c->has_iv = c->is_keyed;
    c->has_tag = false;
    return srtp_err_status_ok;
}

static srtp_err_status_t gcm_set_aad(void *state, const uint8_t *aad, uint32_t len)
{
    struct gcm *c = state;
    if (c->aad.len == 0) {
        c->aad = leat_span(aad, len);
        return srtp_err_status_ok;
    }
    if (c->aad.data == c->joined || c->aad.len > sizeof(c->joined) ||
        len > sizeof(c->joined) - c->aad.len) {
        return srtp_err_status_bad_param;
    }
    memcpy(c->joined, c->aad.data, c->aad.len);
    memcpy(c->joined + c->aad.len, aad, len);
    c->aad = leat_span(c->joined, c->aad.len + len);
    return srtp_err_status_ok;
}

static srtp_err_status_t gcm_encrypt(void *state, unsigned char *data, unsigned int *len)
{
    struct gcm *c = state;
    uint8_t nothing = 0;
    unsigned char *at = *len != 0 ? data : &nothing;
    if (!c->has_iv || at == NULL) {
        return srtp_err_status_cipher_fail;
    }
    c->has_iv = false; /* one message an IV */
    if (leat_gcm_seal(&c->aead, c->iv, c->aad, at, *len, at, c->tag) != 0) {
        return srtp_err_status_cipher_fail;
    }
    c->has_tag = true;
    return srtp_err_status_ok;
}

static srtp_err_status_t gcm_get_tag(void *state, uint8_t *out, uint32_t *len)
{
    struct gcm *c = state;
    if (!c->has_tag) {
        return srtp_err_status_cipher_fail;
    }
    memcpy(out, c->tag, c->tag_len);
    *len = (uint32_t)c->tag_len;
    return srtp_err_status_ok;
}

/* A tag is made from the plain text, and GCM's key stream works both ways: decrypt, encrypt again
 * for the tag, and decrypt for good when it agrees. */
static int gcm_open_short(struct gcm *c, uint8_t *data, size_t len, const uint8_t *tag)
{
    uint8_t full[LEAT__SRTP_GCM_TAG_LEN], unused[LEAT__SRTP_GCM_TAG_LEN];
    if (leat_gcm_seal(&c->aead, c->iv, c->aad, data, len, data, unused) != 0 ||
        leat_gcm_seal(&c->aead, c->iv, c->aad, data, len, data, full) != 0) {
        return LEAT_E_CRYPTO;
    }
    if (!leat_equal_ct(full, tag, c->tag_len)) {
        return LEAT_E_INVALID;
    }
    return leat_gcm_seal(&c->aead, c->iv, c->aad, data, len, data, unused);
}

static srtp_err_status_t gcm_decrypt(void *state, unsigned char *data, unsigned int *len)
{
    struct gcm *c = state;
    if (!c->has_iv || *len < c->tag_len) {
        return srtp_err_status_cipher_fail;
    }
    c->has_iv = false;
    size_t text_len = *len - c->tag_len;
    uint8_t tag[LEAT__SRTP_GCM_TAG_LEN];
    memcpy(tag, data + text_len, c->tag_len);
    int e = c->tag_len == sizeof(tag)
                ? leat_gcm_open(&c->aead, c->iv, c->aad, data, text_len, tag, data)
                : gcm_open_short(c, data, text_len, tag);
    if (e != 0) {
        return e == LEAT_E_INVALID ? srtp_err_status_auth_fail : srtp_err_status_cipher_fail;
    }
    *len = (unsigned int)text_len;
    return srtp_err_status_ok;
}

/* ---- HMAC-SHA1 ---- */

struct hmac {
    srtp_auth_t base;
    struct leat_hmac_sha1 key;
    struct leat_span pieces[HMAC_PIECES_MAX]; /* libsrtp2's memory, until the tag is made */
    size_t piece_count;
};

static srtp_err_status_t hmac_alloc(srtp_auth_t **out, int key_len, int tag_len)
{
    if (key_len < 0 || tag_len < 0 || tag_len > 20) {
        return srtp_err_status_bad_param;
    }
    struct hmac *h = calloc(1, sizeof(*h));
    if (h == NULL) {
        return srtp_err_status_alloc_fail;
    }
    h->base.type = &leat__srtp_hmac_sha1;
    h->base.state = h;
    h->base.out_len = tag_len;
    h->base.key_len = key_len;
    *out = &h->base;
    return srtp_err_status_ok;
}

static srtp_err_status_t hmac_dealloc(srtp_auth_t *base)
{
    struct hmac *h = base->state;
    leat_hmac_sha1_deinit(&h->key);
    leat_wipe(h, sizeof(*h));
    free(h);
    return srtp_err_status_ok;
}

static srtp_err_status_t hmac_start(void *state)
{
    struct hmac *h = state;
    h->piece_count = 0;
    return srtp_err_status_ok;
}

static srtp_err_status_t hmac_init(void *state, const uint8_t *key, int key_len)
{
    struct hmac *h = state;
    if (key_len < 0) {
        return srtp_err_status_bad_param;
    }
    leat_hmac_sha1_init(&h->key, key, (size_t)key_len);
    return hmac_start(state);
}

static srtp_err_status_t hmac_update(void *state, const uint8_t *data, int len)
{
    struct hmac *h = state;
    if (len < 0 || h->piece_count == HMAC_PIECES_MAX) {
        return srtp_err_status_bad_param;
    }
    h->pieces[h->piece_count++] = leat_span(data, (size_t)len);
    return srtp_err_status_ok;
}

static srtp_err_status_t hmac_compute(void *state, const uint8_t *data, int len, int tag_len,
                                      uint8_t *tag)
{
    struct hmac *h = state;
    if (tag_len < 0 || tag_len > 20) {
        return srtp_err_status_bad_param;
    }
    srtp_err_status_t status = hmac_update(state, data, len);
    if (status == srtp_err_status_ok) {
        uint8_t full[20];
        leat_hmac_sha1(&h->key, h->pieces, h->piece_count, full);
        memcpy(tag, full, (size_t)tag_len);
    }
    h->piece_count = 0;
    return status;
}

/* ---- the tables ---- */

const srtp_cipher_type_t leat__srtp_icm_128 = {
    .alloc = icm_128_alloc,
    .dealloc = icm_dealloc,
    .init = icm_init,
    .encrypt = icm_crypt,
    .decrypt = icm_crypt,
    .set_iv = icm_set_iv,
    .description = "leat AES-128 ICM",
    .test_data = &leat__srtp_icm_128_known,
    .id = SRTP_AES_ICM_128,
};

const srtp_cipher_type_t leat__srtp_icm_256 = {
    .alloc = icm_256_alloc,
    .dealloc = icm_dealloc,
    .init = icm_init,
    .encrypt = icm_crypt,
    .decrypt = icm_crypt,
    .set_iv = icm_set_iv,
    .description = "leat AES-256 ICM",
    .test_data = &leat__srtp_icm_256_known,
    .id = SRTP_AES_ICM_256,
};

const srtp_cipher_type_t leat__srtp_gcm_128 = {
    .alloc = gcm_128_alloc,
    .dealloc = gcm_dealloc,
    .init = gcm_init,
    .set_aad = gcm_set_aad,
    .encrypt = gcm_encrypt,
    .decrypt = gcm_decrypt,
    .set_iv = gcm_set_iv,
    .get_tag = gcm_get_tag,
    .description = "leat AES-128 GCM",
    .test_data = &leat__srtp_gcm_128_known,
    .id = SRTP_AES_GCM_128,
};

const srtp_cipher_type_t leat__srtp_gcm_256 = {
    .alloc = gcm_256_alloc,
    .dealloc = gcm_dealloc,
    .init = gcm_init,
    .set_aad = gcm_set_aad,
    .encrypt = gcm_encrypt,
    .decrypt = gcm_decrypt,
    .set_iv = gcm_set_iv,
    .get_tag = gcm_get_tag,
    .description = "leat AES-256 GCM",
    .test_data = &leat__srtp_gcm_256_known,
    .id = SRTP_AES_GCM_256,
};

const srtp_auth_type_t leat__srtp_hmac_sha1 = {
    .alloc = hmac_alloc,
    .dealloc = hmac_dealloc,
    .init = hmac_init,
    .compute = hmac_compute,
    .update = hmac_update,
    .start = hmac_start,
    .description = "leat HMAC-SHA1",
    .test_data = &leat__srtp_hmac_sha1_known,
    .id = SRTP_HMAC_SHA1,
};

srtp_err_status_t leat__srtp_glue_install(void)
{
    const srtp_cipher_type_t *const ciphers[] = {&leat__srtp_icm_128, &leat__srtp_icm_256,
                                                 &leat__srtp_gcm_128, &leat__srtp_gcm_256};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(ciphers); i++) {
        srtp_err_status_t status = srtp_replace_cipher_type(ciphers[i], ciphers[i]->id);
        if (status != srtp_err_status_ok) {
            return status;
        }
    }
    return srtp_replace_auth_type(&leat__srtp_hmac_sha1, SRTP_HMAC_SHA1);
}
