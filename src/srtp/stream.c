/* SPDX-License-Identifier: MIT */
/*
 * libsrtp2 finds a packet's stream by walking a list (1.7 ns a step when the list is warm, a cache
 * miss when it is not), so each SSRC gets a libsrtp2 session that holds this one stream, and the
 * session is found by hash here: the cost of a packet does not depend on how many streams a peer
 * has. The price is that keys are derived and kept once per SSRC.
 *
 * A remote chooses the SSRCs that it sends; with all of them in one probe chain a look-up walks at
 * most as many slots as the peer's SSRC limit allows.
 */
#include "stream.h"

#include <stdlib.h>

#define FIRST_CAPACITY 8

int leat__srtp_stream_open(struct leat__srtp_stream *out, enum leat_srtp_profile profile,
                           const struct leat_srtp_master *master, uint32_t ssrc, size_t window)
{
    *out = (struct leat__srtp_stream){.ssrc = ssrc};
    srtp_policy_t policy;
    memset(&policy, 0, sizeof(policy));
    /* The RTCP half has an 80-bit tag in both CM profiles (RFC 5764 4.1.2). */
    if (srtp_crypto_policy_set_from_profile_for_rtp(&policy.rtp, (srtp_profile_t)profile) != 0 ||
        srtp_crypto_policy_set_from_profile_for_rtcp(&policy.rtcp, (srtp_profile_t)profile) != 0) {
        return LEAT_E_CRYPTO;
    }
    uint8_t key[LEAT_SRTP_KEY_MAX + LEAT_SRTP_SALT_MAX];
    size_t key_len = leat_srtp_profile_key_len(profile);
    memcpy(key, master->key, key_len);
    memcpy(key + key_len, master->salt, leat_srtp_profile_salt_len(profile));
    policy.ssrc.type = ssrc_specific;
    policy.ssrc.value = ssrc;
    policy.key = key;
    policy.window_size = window;
    policy.allow_repeat_tx = 0;
    srtp_err_status_t status = srtp_create(&out->session, &policy);
    leat_wipe(key, sizeof(key));
    if (status != srtp_err_status_ok) {
        out->session = NULL;
        return status == srtp_err_status_alloc_fail ? LEAT_E_NOMEM : LEAT_E_CRYPTO;
    }
    return 0;
}

void leat__srtp_stream_close(struct leat__srtp_stream *stream)
{
    if (stream->session != NULL) {
        srtp_dealloc(stream->session);
        stream->session = NULL;
    }
}

/* The slot of the SSRC, or the empty one where it would go; the table is never full. */
static struct leat__srtp_stream *slot_of(const struct leat__srtp_table *t, uint32_t ssrc)
{
    size_t mask = t->capacity - 1;
    size_t at = (size_t)(((uint64_t)ssrc * 0x9e3779b97f4a7c15u) >> 32) & mask;
    while (t->slots[at].session != NULL && t->slots[at].ssrc != ssrc) {
        at = (at + 1) & mask;
    }
    return &t->slots[at];
}

struct leat__srtp_stream *leat__srtp_table_get(const struct leat__srtp_table *t, uint32_t ssrc)
{
    if (t->capacity == 0) {
        return NULL;
    }
    struct leat__srtp_stream *slot = slot_of(t, ssrc);
    return slot->session != NULL ? slot : NULL;
}

int leat__srtp_table_reserve(struct leat__srtp_table *t)
{
    if ((t->count + 1) * 2 <= t->capacity) {
        return 0;
    }
    struct leat__srtp_table grown = {
        .capacity = t->capacity != 0 ? t->capacity * 2 : FIRST_CAPACITY,
        .count = t->count,
    };
    grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
    if (grown.slots == NULL) {
        return LEAT_E_NOMEM;
    }
    for (size_t i = 0; i < t->capacity; i++) {
        if (t->slots[i].session != NULL) {
            *slot_of(&grown, t->slots[i].ssrc) = t->slots[i];
        }
    }
    free(t->slots);
    *t = grown;
    return 0;
}

struct leat__srtp_stream *leat__srtp_table_add(struct leat__srtp_table *t,
                                               const struct leat__srtp_stream *stream)
{
    struct leat__srtp_stream *slot = slot_of(t, stream->ssrc);
    *slot = *stream;
    t->count++;
    return slot;
}

void leat__srtp_table_deinit(struct leat__srtp_table *t)
{
    for (size_t i = 0; i < t->capacity; i++) {
        leat__srtp_stream_close(&t->slots[i]);
    }
    free(t->slots);
    *t = (struct leat__srtp_table){0};
}
