/* SPDX-License-Identifier: MIT */
/*
 * Sealing and opening records of epoch 1. What we send has epoch and number as its explicit nonce,
 * as mbedTLS has, so that going on above its numbers repeats no nonce under the key. What we
 * receive has whatever explicit nonce the remote likes (OpenSSL starts at random): only the tag
 * decides.
 */
#include "record.h"

#include <stdlib.h>

enum { EPOCH = 1, EXPLICIT_LEN = 8, SALT_LEN = 4, IV_LEN = 12, TAG_LEN = 16, COVERED_LEN = 13 };
#define WINDOW 64

union leat__dtls_context {
    struct leat_gcm gcm;
    struct leat_chachapoly chachapoly;
};

/* ---- records of a datagram ---- */

bool leat__dtls_record_next(struct leat_reader *r, struct leat__dtls_record *out)
{
    const uint8_t *start = r->at;
    out->type = leat_read_u8(r);
    out->version = leat_read_u16(r);
    out->epoch = leat_read_u16(r);
    out->seq = leat_read_u48(r);
    uint16_t len = leat_read_u16(r);
    out->content = leat_read_span(r, len);
    out->whole = leat_span(start, (size_t)LEAT__DTLS_RECORD_HEADER + len);
    return !r->failed && len != 0 && len <= LEAT__DTLS_RECORD_CONTENT_MAX;
}

bool leat__dtls_record_is_known(const struct leat__dtls_record *rec)
{
    return rec->type >= LEAT__DTLS_TYPE_CHANGE_CIPHER_SPEC &&
           rec->type <= LEAT__DTLS_TYPE_APPLICATION_DATA &&
           (rec->version == LEAT__DTLS_VERSION_1_0 || rec->version == LEAT__DTLS_VERSION_1_2) &&
           rec->epoch <= EPOCH;
}

/* ---- suites ---- */

static bool is_gcm(enum leat__dtls_aead aead)
{
    return aead != LEAT__DTLS_CHACHA20_POLY1305;
}

static size_t key_len(enum leat__dtls_aead aead)
{
    return aead == LEAT__DTLS_AES_128_GCM ? 16 : 32;
}

static size_t explicit_len(enum leat__dtls_aead aead)
{
    return is_gcm(aead) ? EXPLICIT_LEN : 0;
}

static int context_init(union leat__dtls_context *c, enum leat__dtls_aead aead,
                        const uint8_t key[static 32])
{
    return is_gcm(aead) ? leat_gcm_init(&c->gcm, key, key_len(aead))
                        : leat_chachapoly_init(&c->chachapoly, key);
}

static void context_deinit(union leat__dtls_context *c, enum leat__dtls_aead aead)
{
    if (is_gcm(aead)) {
        leat_gcm_deinit(&c->gcm);
    } else {
        leat_chachapoly_deinit(&c->chachapoly);
    }
}

/* ---- contexts ---- */

void leat__dtls_protection_init(struct leat__dtls_protection *p, enum leat__dtls_aead aead,
                                const uint8_t block[static LEAT__DTLS_KEY_BLOCK_MAX],
                                bool is_client, uint64_t send_seq)
{
    size_t keys = key_len(aead), ivs = is_gcm(aead) ? SALT_LEN : IV_LEN;
    struct leat__dtls_direction *client = is_client ? &p->send : &p->receive;
    struct leat__dtls_direction *server = is_client ? &p->receive : &p->send;
    memset(p, 0, sizeof(*p));
    p->aead = aead;
    p->send_seq = send_seq;
    memcpy(client->key, block, keys);
    memcpy(server->key, block + keys, keys);
    memcpy(client->iv, block + 2 * keys, ivs);
    memcpy(server->iv, block + 2 * keys + ivs, ivs);
}

static void forget_context(struct leat__dtls_protection *p, struct leat__dtls_direction *d)
{
    if (d->context) {
        context_deinit(d->context, p->aead);
        free(d->context);
    }
}

void leat__dtls_protection_deinit(struct leat__dtls_protection *p)
{
    forget_context(p, &p->send);
    forget_context(p, &p->receive);
    leat_wipe(p, sizeof(*p));
}

/* @return the direction's own context, else `temporary` keyed, else NULL. */
static union leat__dtls_context *borrow(const struct leat__dtls_protection *p,
                                        const struct leat__dtls_direction *d,
                                        union leat__dtls_context *temporary)
{
    if (d->context) {
        return d->context;
    }
    return context_init(temporary, p->aead, d->key) == 0 ? temporary : NULL;
}

static void give_back(const struct leat__dtls_protection *p, union leat__dtls_context *c,
                      union leat__dtls_context *temporary)
{
    if (c == temporary) {
        context_deinit(temporary, p->aead);
    }
}

/* Where there will be more of the kind. Without memory for it each record goes on keying its own.
 */
static void keep_context(const struct leat__dtls_protection *p, struct leat__dtls_direction *d,
                         uint8_t type)
{
    if (type != LEAT__DTLS_TYPE_APPLICATION_DATA || d->context) {
        return;
    }
    d->context = malloc(sizeof(*d->context));
    if (d->context && context_init(d->context, p->aead, d->key) != 0) {
        free(d->context);
        d->context = NULL;
    }
}

/* ---- what goes into the AEAD ---- */

/* RFC 5288 3: salt and explicit nonce; RFC 7905 2: epoch and number, padded to the left, over the
 * IV. `given` are the eight octets of either. */
static void make_nonce(enum leat__dtls_aead aead, const uint8_t iv[static IV_LEN],
                       const uint8_t given[static EXPLICIT_LEN], uint8_t nonce[static IV_LEN])
{
    memcpy(nonce, iv, IV_LEN);
    for (size_t i = 0; i < EXPLICIT_LEN; i++) {
        nonce[SALT_LEN + i] = is_gcm(aead) ? given[i] : (uint8_t)(iv[SALT_LEN + i] ^ given[i]);
    }
}

static void write_covered(uint8_t out[static COVERED_LEN], uint8_t type, uint64_t seq, size_t len)
{
    leat_put_u64(out, (uint64_t)EPOCH << 48 | seq);
    out[8] = type;
    leat_put_u16(out + 9, LEAT__DTLS_VERSION_1_2);
    leat_put_u16(out + 11, (uint16_t)len);
}

/* ---- sealing ---- */

size_t leat__dtls_protection_overhead(const struct leat__dtls_protection *p)
{
    return LEAT__DTLS_RECORD_HEADER + explicit_len(p->aead) + TAG_LEN;
}

static void write_header(uint8_t out[static LEAT__DTLS_RECORD_HEADER], uint8_t type, uint64_t seq,
                         size_t len)
{
    out[0] = type;
    leat_put_u16(out + 1, LEAT__DTLS_VERSION_1_2);
    leat_put_u64(out + 3, (uint64_t)EPOCH << 48 | seq);
    leat_put_u16(out + 11, (uint16_t)len);
}

size_t leat__dtls_protection_seal(struct leat__dtls_protection *p, uint8_t type,
                                  struct leat_span plain, uint8_t *out)
{
    if (p->send_seq > LEAT__DTLS_RECORD_SEQ_MAX || plain.len > LEAT__DTLS_RECORD_PLAIN_MAX) {
        return 0;
    }
    keep_context(p, &p->send, type);
    union leat__dtls_context temporary, *c = borrow(p, &p->send, &temporary);
    if (!c) {
        return 0;
    }
    uint64_t seq = p->send_seq++; /* spent, whatever happens */
    uint8_t covered[COVERED_LEN], nonce[IV_LEN];
    uint8_t *given = out + 3; /* epoch and number in the header */
    uint8_t *cipher = out + LEAT__DTLS_RECORD_HEADER + explicit_len(p->aead);
    write_header(out, type, seq, explicit_len(p->aead) + plain.len + TAG_LEN);
    memcpy(out + LEAT__DTLS_RECORD_HEADER, given, explicit_len(p->aead));
    write_covered(covered, type, seq, plain.len);
    make_nonce(p->aead, p->send.iv, given, nonce);
    struct leat_span aad = leat_span(covered, sizeof(covered));
    int error = is_gcm(p->aead) ? leat_gcm_seal(&c->gcm, nonce, aad, plain.data, plain.len, cipher,
                                                cipher + plain.len)
                                : leat_chachapoly_seal(&c->chachapoly, nonce, aad, plain.data,
                                                       plain.len, cipher, cipher + plain.len);
    give_back(p, c, &temporary);
    return error == 0 ? plain.len + leat__dtls_protection_overhead(p) : 0;
}

/* ---- opening ---- */

static bool was_seen(const struct leat__dtls_protection *p, uint64_t seq)
{
    if (seq >= p->receive_seq) {
        return false;
    }
    uint64_t age = p->receive_seq - 1 - seq;
    return age >= WINDOW || (p->window >> age & 1) != 0;
}

static void mark_seen(struct leat__dtls_protection *p, uint64_t seq)
{
    if (seq < p->receive_seq) {
        p->window |= (uint64_t)1 << (p->receive_seq - 1 - seq);
        return;
    }
    uint64_t step = seq + 1 - p->receive_seq;
    p->window = step < WINDOW ? p->window << step | 1 : 1;
    p->receive_seq = seq + 1;
}

static bool is_well_formed(const struct leat__dtls_protection *p,
                           const struct leat__dtls_record *rec)
{
    size_t added = explicit_len(p->aead) + TAG_LEN;
    return rec->epoch == EPOCH && rec->version == LEAT__DTLS_VERSION_1_2 &&
           rec->content.len >= added && rec->content.len - added <= LEAT__DTLS_RECORD_PLAIN_MAX;
}

enum leat__dtls_open_verdict leat__dtls_protection_open(struct leat__dtls_protection *p,
                                                        const struct leat__dtls_record *rec,
                                                        uint8_t *out, size_t *len)
{
    *len = 0;
    if (!is_well_formed(p, rec)) {
        return LEAT__DTLS_OPEN_MALFORMED;
    }
    bool is_repeated = was_seen(p, rec->seq);
    if (is_repeated && rec->type != LEAT__DTLS_TYPE_HANDSHAKE) {
        return LEAT__DTLS_OPEN_REPLAYED;
    }
    union leat__dtls_context temporary, *c = borrow(p, &p->receive, &temporary);
    if (!c) {
        return LEAT__DTLS_OPEN_FORGED;
    }
    const uint8_t *cipher = rec->content.data + explicit_len(p->aead);
    size_t plain_len = rec->content.len - explicit_len(p->aead) - TAG_LEN;
    uint8_t covered[COVERED_LEN], nonce[IV_LEN];
    write_covered(covered, rec->type, rec->seq, plain_len);
    /* a computed nonce is the beginning of what is covered */
    make_nonce(p->aead, p->receive.iv, is_gcm(p->aead) ? rec->content.data : covered, nonce);
    struct leat_span aad = leat_span(covered, sizeof(covered));
    int error = is_gcm(p->aead)
                    ? leat_gcm_open(&c->gcm, nonce, aad, cipher, plain_len, cipher + plain_len, out)
                    : leat_chachapoly_open(&c->chachapoly, nonce, aad, cipher, plain_len,
                                           cipher + plain_len, out);
    give_back(p, c, &temporary);
    if (error != 0) {
        return LEAT__DTLS_OPEN_FORGED;
    }
    *len = plain_len;
    if (is_repeated) {
        return LEAT__DTLS_OPEN_REPEATED;
    }
    mark_seen(p, rec->seq);
    keep_context(p, &p->receive, rec->type);
    return LEAT__DTLS_OPEN_OK;
}
