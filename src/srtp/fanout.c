/* SPDX-License-Identifier: MIT */
/*
 * A batch is taken in lots of at most LEAT_SRTP_BATCH_MAX packets, each in three steps over all of
 * its packets: headers written and indexes used; payloads encrypted from the plaintext they share
 * into each receiver's packet; tags made. So a provider gets many messages under different keys at
 * once.
 *
 *   CM    header | payload ^ key stream | roll-over counter, then the tag in its place
 *   AEAD  header | sealed payload | tag
 *
 * The tag of CM covers the roll-over counter, which is not sent (RFC 3711 4.2): it is written where
 * the tag will stand, so that the message to authenticate is one piece.
 *
 * An index counts as used from the moment it is taken, whatever becomes of its packet.
 */
#include "fanout.h"

#include <assert.h>

#include "derive.h"
#include "packet.h"
#include "session.h"

#define ROC_LEN 4
#define TAG_LEN 20 /* HMAC-SHA1 before it is cut */
#define GCM_TAG_LEN 16
#define CM_TAG_LEN 10
#define CM_SHORT_TAG_LEN 4
#define LINE 64 /* octets of a cache line */
#define FETCH_SESSION 128
#define FETCH_AES 192 /* the schedule of a 128-bit key with what stands before it */

static_assert(LEAT_SRTP_TRAILER_MAX >= GCM_TAG_LEN + LEAT__SRTP_RTCP_TRAILER_LEN,
              "the longest trailer");
static_assert(LEAT_SRTP_TRAILER_MAX >= CM_TAG_LEN + LEAT__SRTP_RTCP_TRAILER_LEN,
              "the longest of CM");

/* ---- keys ---- */

static bool is_aead(enum leat_srtp_profile profile)
{
    return profile == LEAT_SRTP_AEAD_AES_128_GCM || profile == LEAT_SRTP_AEAD_AES_256_GCM;
}

/* Of one key's context. */
static size_t context_size(enum leat_srtp_profile profile)
{
    size_t size = is_aead(profile) ? sizeof(struct leat_gcm) : sizeof(struct leat_aes);
    return (size + LINE - 1) / LINE * LINE;
}

size_t leat__srtp_fanout_memory(enum leat_srtp_profile profile)
{
    return 2 * context_size(profile);
}

static int seal_init(struct leat__srtp_seal *seal, enum leat_srtp_profile profile,
                     const struct leat_srtp_master *master, bool is_rtcp, void *memory)
{
    struct leat__srtp_session_keys keys;
    size_t key_len = leat_srtp_profile_key_len(profile);
    uint8_t salt[16] = {0};
    int error = leat__srtp_derive(profile, master, is_rtcp, &keys);

    memcpy(salt, keys.salt, sizeof(keys.salt));
    seal->salt_high = leat_get_u64(salt);
    seal->salt_low = leat_get_u64(salt + 8);
    leat_wipe(salt, sizeof(salt));
    if (error == 0 && is_aead(profile)) {
        seal->gcm = memory;
        error = leat_gcm_init_for_batch(seal->gcm, keys.cipher, key_len);
    } else if (error == 0) {
        seal->aes = memory;
        leat_hmac_sha1_init(&seal->hmac, keys.auth, sizeof(keys.auth));
        error = leat_aes_init_for_batch(seal->aes, keys.cipher, key_len);
    }
    leat_wipe(&keys, sizeof(keys));
    return error;
}

static void seal_deinit(struct leat__srtp_seal *seal, bool is_gcm)
{
    if (is_gcm && seal->gcm != NULL) {
        leat_gcm_deinit(seal->gcm);
    } else if (!is_gcm && seal->aes != NULL) {
        leat_aes_deinit(seal->aes);
    }
    leat_wipe(seal, sizeof(*seal));
}

int leat__srtp_fanout_init(struct leat__srtp_fanout *f, enum leat_srtp_profile profile,
                           const struct leat_srtp_master *master, uint8_t *memory)
{
    *f = (struct leat__srtp_fanout){.is_aead = is_aead(profile)};
    f->rtcp_tag_len = f->is_aead ? GCM_TAG_LEN : CM_TAG_LEN; /* also with _32: RFC 5764 4.1.2 */
    f->rtp_tag_len = profile == LEAT_SRTP_AES128_CM_SHA1_32 ? CM_SHORT_TAG_LEN : f->rtcp_tag_len;
    int error = seal_init(&f->rtp, profile, master, false, memory);
    if (error == 0) {
        error = seal_init(&f->rtcp, profile, master, true, memory + context_size(profile));
    }
    if (error != 0) {
        leat__srtp_fanout_deinit(f);
    }
    return error;
}

void leat__srtp_fanout_deinit(struct leat__srtp_fanout *f)
{
    seal_deinit(&f->rtp, f->is_aead);
    seal_deinit(&f->rtcp, f->is_aead);
    leat__srtp_outgoing_deinit(&f->outgoing);
    leat_wipe(f, sizeof(*f));
}

/* ---- counters and initialization vectors ---- */

/* RFC 3711 4.1.1: (salt * 2^16) ^ (SSRC * 2^64) ^ (index * 2^16). */
static void make_counter(const struct leat__srtp_seal *seal, uint32_t ssrc, uint64_t index,
                         uint8_t iv[static 16])
{
    leat_put_u64(iv, seal->salt_high ^ ssrc);
    leat_put_u64(iv + 8, seal->salt_low ^ index << 16);
}

/* RFC 7714 8.1, 9.1: salt ^ (SSRC * 2^48) ^ index, which is ROC and sequence number, or the SRTCP
 * index. */
static void make_iv(const struct leat__srtp_seal *seal, uint32_t ssrc, uint64_t index,
                    uint8_t iv[static 12])
{
    leat_put_u64(iv, seal->salt_high ^ (uint64_t)ssrc << 16 ^ index >> 32);
    leat_put_u32(iv + 8, (uint32_t)(seal->salt_low >> 32) ^ (uint32_t)index);
}

/* ---- RTP ---- */

struct lot {
    size_t cm_count, ctr_count, gcm_count;
    struct leat_srtp_job *cm[LEAT_SRTP_BATCH_MAX], *gcm[LEAT_SRTP_BATCH_MAX];
    struct leat_aes_ctr_job ctr_jobs[LEAT_SRTP_BATCH_MAX];
    struct leat_hmac_sha1_job hmac_jobs[LEAT_SRTP_BATCH_MAX];
    struct leat_gcm_job gcm_jobs[LEAT_SRTP_BATCH_MAX];
    uint8_t tags[LEAT_SRTP_BATCH_MAX][TAG_LEN];
};

static void add_cm(struct lot *lot, struct leat_srtp_job *j, const struct leat__srtp_seal *seal,
                   uint32_t ssrc, uint64_t index)
{
    uint8_t *payload = j->out + j->header.len, *end = payload + j->payload.len;
    if (j->payload.len != 0) {
        struct leat_aes_ctr_job *c = &lot->ctr_jobs[lot->ctr_count++];
        c->aes = seal->aes;
        c->in = j->payload.data;
        c->len = j->payload.len;
        c->out = payload;
        make_counter(seal, ssrc, index, c->iv);
    }
    leat_put_u32(end, (uint32_t)(index >> 16));
    lot->hmac_jobs[lot->cm_count] = (struct leat_hmac_sha1_job){
        &seal->hmac, leat_span(j->out, (size_t)(end + ROC_LEN - j->out)), lot->tags[lot->cm_count]};
    lot->cm[lot->cm_count++] = j;
}

static void add_gcm(struct lot *lot, struct leat_srtp_job *j, const struct leat__srtp_seal *seal,
                    uint32_t ssrc, uint64_t index)
{
    struct leat_gcm_job *g = &lot->gcm_jobs[lot->gcm_count];
    g->gcm = seal->gcm;
    g->aad = leat_span(j->out, j->header.len);
    g->in = j->payload.data;
    g->len = j->payload.len;
    g->out = j->out + j->header.len;
    g->tag = g->out + j->payload.len;
    make_iv(seal, ssrc, index, g->iv);
    lot->gcm[lot->gcm_count++] = j;
}

static enum leat_srtp_verdict add(struct lot *lot, struct leat_srtp_job *j)
{
    struct leat__srtp_fanout *f = &j->session->send;
    struct leat__srtp_outgoing *o;
    uint64_t index;

    if (j->header.len == 0 || leat__srtp_rtp_header_len(j->header) != j->header.len ||
        j->payload.len > LEAT__SRTP_PACKET_MAX - j->header.len) {
        return LEAT_SRTP_MALFORMED;
    }
    if (j->cap < LEAT_SRTP_TRAILER_MAX ||
        j->cap - LEAT_SRTP_TRAILER_MAX < j->header.len + j->payload.len) {
        return LEAT_SRTP_NO_ROOM;
    }
    uint32_t ssrc = leat_get_u32(j->header.data + 8);
    o = leat__srtp_outgoing_get(&f->outgoing, ssrc);
    if (o == NULL) {
        return LEAT_SRTP_FAILED;
    }
    if (!leat__srtp_outgoing_take(o, leat_get_u16(j->header.data + 2), &index)) {
        return LEAT_SRTP_INDEX_USED;
    }
    if (j->out != j->header.data) {
        memcpy(j->out, j->header.data, j->header.len);
    }
    j->out_len = j->header.len + j->payload.len + f->rtp_tag_len;
    (f->is_aead ? add_gcm : add_cm)(lot, j, &f->rtp, ssrc, index);
    return LEAT_SRTP_OK;
}

/*
 * With thousands of receivers nothing of a session is in the cache when its turn comes, and what it
 * needs hangs on pointers. So the lines of the whole lot are asked for, step by step, before the
 * first is used: the memory answers them side by side.
 */
static void fetch(const void *from, size_t len)
{
    for (size_t at = 0; at < len; at += LINE) {
        __builtin_prefetch((const uint8_t *)from + at);
    }
}

static void fetch_sessions(const struct leat_srtp_job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fetch(&jobs[i].session->send, FETCH_SESSION);
    }
    for (size_t i = 0; i < count; i++) {
        const struct leat__srtp_fanout *f = &jobs[i].session->send;
        fetch(f->rtp.aes, FETCH_AES); /* a provider fetches the longer keys of GCM */
        if (jobs[i].header.len >= LEAT__SRTP_RTP_HEADER_LEN) {
            leat__srtp_outgoing_fetch(&f->outgoing, leat_get_u32(jobs[i].header.data + 8));
        }
    }
}

static void fail_all(struct leat_srtp_job **jobs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        jobs[i]->verdict = LEAT_SRTP_FAILED;
    }
}

static void put_tags(struct lot *lot)
{
    leat_hmac_sha1_batch(lot->hmac_jobs, lot->cm_count);
    for (size_t i = 0; i < lot->cm_count; i++) {
        size_t message_len = lot->hmac_jobs[i].message.len - ROC_LEN;
        memcpy(lot->cm[i]->out + message_len, lot->tags[i], lot->cm[i]->out_len - message_len);
    }
}

static void seal_lot(struct lot *lot)
{
    if (leat_aes_ctr_batch(lot->ctr_jobs, lot->ctr_count) == 0) {
        put_tags(lot);
    } else {
        fail_all(lot->cm, lot->cm_count);
    }
    if (leat_gcm_seal_batch(lot->gcm_jobs, lot->gcm_count) != 0) {
        fail_all(lot->gcm, lot->gcm_count);
    }
}

void leat_srtp_protect_batch(struct leat_srtp_job *jobs, size_t count)
{
    struct lot lot;
    for (size_t n; count > 0; jobs += n, count -= n) {
        n = count < LEAT_SRTP_BATCH_MAX ? count : LEAT_SRTP_BATCH_MAX;
        lot.cm_count = lot.ctr_count = lot.gcm_count = 0;
        if (n > 1) {
            fetch_sessions(jobs, n);
        }
        for (size_t i = 0; i < n; i++) {
            jobs[i].verdict = add(&lot, &jobs[i]);
        }
        seal_lot(&lot);
    }
}

enum leat_srtp_verdict leat_srtp_protect(struct leat_srtp *s, struct leat_span plain, uint8_t *out,
                                         size_t cap, size_t *out_len)
{
    size_t header_len = leat__srtp_rtp_header_len(plain);
    struct leat_srtp_job job = {
        .session = s,
        .header = leat_span(plain.data, header_len),
        .payload = leat_span(plain.data + header_len, plain.len - header_len),
        .out = out,
        .cap = cap,
    };
    if (header_len == 0) {
        return LEAT_SRTP_MALFORMED;
    }
    leat_srtp_protect_batch(&job, 1);
    if (job.verdict == LEAT_SRTP_OK) {
        *out_len = job.out_len;
    }
    return job.verdict;
}

/* ---- RTCP ---- */

/* RFC 3711 3.4: header | ciphered rest | E bit and index | tag over all of it. */
static int seal_rtcp_cm(const struct leat__srtp_fanout *f, struct leat_span plain, uint32_t ssrc,
                        uint32_t index, uint8_t *out)
{
    uint8_t iv[16], tag[TAG_LEN];
    struct leat_span message = leat_span(out, plain.len + LEAT__SRTP_RTCP_TRAILER_LEN);
    make_counter(&f->rtcp, ssrc, index, iv);
    if (plain.len > LEAT__SRTP_RTCP_HEADER_LEN &&
        leat_aes_ctr(f->rtcp.aes, iv, plain.data + LEAT__SRTP_RTCP_HEADER_LEN,
                     plain.len - LEAT__SRTP_RTCP_HEADER_LEN,
                     out + LEAT__SRTP_RTCP_HEADER_LEN) != 0) {
        return LEAT_E_CRYPTO;
    }
    leat_put_u32(out + plain.len, LEAT__SRTP_E_BIT | index);
    leat_hmac_sha1(&f->rtcp.hmac, &message, 1, tag);
    memcpy(out + message.len, tag, f->rtcp_tag_len);
    return 0;
}

/* RFC 7714 9: header | sealed rest | tag | E bit and index; the header and that word are the
 * additional data. */
static int seal_rtcp_gcm(const struct leat__srtp_fanout *f, struct leat_span plain, uint32_t ssrc,
                         uint32_t index, uint8_t *out)
{
    uint8_t iv[12], aad[LEAT__SRTP_RTCP_HEADER_LEN + LEAT__SRTP_RTCP_TRAILER_LEN];
    make_iv(&f->rtcp, ssrc, index, iv);
    memcpy(aad, plain.data, LEAT__SRTP_RTCP_HEADER_LEN);
    leat_put_u32(aad + LEAT__SRTP_RTCP_HEADER_LEN, LEAT__SRTP_E_BIT | index);
    leat_put_u32(out + plain.len + GCM_TAG_LEN, LEAT__SRTP_E_BIT | index);
    return leat_gcm_seal(
        f->rtcp.gcm, iv, leat_span(aad, sizeof(aad)), plain.data + LEAT__SRTP_RTCP_HEADER_LEN,
        plain.len - LEAT__SRTP_RTCP_HEADER_LEN, out + LEAT__SRTP_RTCP_HEADER_LEN, out + plain.len);
}

enum leat_srtp_verdict leat_srtp_protect_rtcp(struct leat_srtp *s, struct leat_span plain,
                                              uint8_t *out, size_t cap, size_t *out_len)
{
    struct leat__srtp_fanout *f = &s->send;
    uint32_t index;

    if (!leat__srtp_is_rtcp(plain)) {
        return LEAT_SRTP_MALFORMED;
    }
    if (cap < LEAT_SRTP_TRAILER_MAX || cap - LEAT_SRTP_TRAILER_MAX < plain.len) {
        return LEAT_SRTP_NO_ROOM;
    }
    uint32_t ssrc = leat_get_u32(plain.data + 4);
    struct leat__srtp_outgoing *o = leat__srtp_outgoing_get(&f->outgoing, ssrc);
    if (o == NULL) {
        return LEAT_SRTP_FAILED;
    }
    if (!leat__srtp_outgoing_take_rtcp(o, &index)) {
        return LEAT_SRTP_INDEX_USED;
    }
    memcpy(out, plain.data, LEAT__SRTP_RTCP_HEADER_LEN);
    if ((f->is_aead ? seal_rtcp_gcm : seal_rtcp_cm)(f, plain, ssrc, index, out) != 0) {
        return LEAT_SRTP_FAILED;
    }
    *out_len = plain.len + LEAT__SRTP_RTCP_TRAILER_LEN + f->rtcp_tag_len;
    return LEAT_SRTP_OK;
}
