/* SPDX-License-Identifier: MIT */
/* What the SRTP tests share: hex, the keys of the vectors (octet i is i + 1), packets. */
#ifndef LEAT_TEST_SRTP_H
#define LEAT_TEST_SRTP_H

#include <stdlib.h>

#include <leat/srtp.h>

#include "harness.h"

#define ROOM 2400

struct octets {
    uint8_t data[ROOM];
    size_t len;
};

static const enum leat_srtp_profile all_profiles[] = {
    LEAT_SRTP_AES128_CM_SHA1_80, LEAT_SRTP_AES128_CM_SHA1_32, LEAT_SRTP_AEAD_AES_128_GCM,
    LEAT_SRTP_AEAD_AES_256_GCM};

/** Aborts on a mistake in the test itself. */
static inline struct octets from_hex(const char *text)
{
    struct octets o = {{0}, 0};
    ptrdiff_t n = leat_hex_decode(text, strlen(text), o.data, sizeof(o.data));
    if (n < 0) {
        abort();
    }
    o.len = (size_t)n;
    return o;
}

/** Key 01 02 .., the salt going on where it ends, the same in both directions. */
static inline struct leat_srtp_keys counting_keys(enum leat_srtp_profile profile)
{
    struct leat_srtp_keys keys = {.profile = profile};
    size_t key_len = leat_srtp_profile_key_len(profile);
    for (size_t i = 0; i < key_len; i++) {
        keys.send.key[i] = (uint8_t)(i + 1);
    }
    for (size_t i = 0; i < leat_srtp_profile_salt_len(profile); i++) {
        keys.send.salt[i] = (uint8_t)(key_len + i + 1);
    }
    keys.receive = keys.send;
    return keys;
}

/** libsrtp2 starts once a process, on first use. */
static inline struct leat_srtp *session_with_limit(enum leat_srtp_profile profile, size_t limit)
{
    static bool is_started;
    if (!is_started && (leat_crypto_start() != 0 || leat_srtp_start() != 0)) {
        abort();
    }
    is_started = true;
    struct leat_srtp_keys keys = counting_keys(profile);
    struct leat_srtp *s;
    if (leat_srtp_new(&s, &keys, limit) != 0) {
        abort();
    }
    return s;
}

static inline struct leat_srtp *session(enum leat_srtp_profile profile)
{
    return session_with_limit(profile, LEAT_SRTP_SSRCS_MAX);
}

/** RTP with a payload of 00 01 02 ... */
static inline struct octets rtp(uint32_t ssrc, uint16_t seq, size_t payload_len)
{
    struct octets o = {{0x80, 0x60}, 12 + payload_len};
    leat_put_u16(o.data + 2, seq);
    leat_put_u32(o.data + 4, (uint32_t)seq * 3000);
    leat_put_u32(o.data + 8, ssrc);
    for (size_t i = 0; i < payload_len; i++) {
        o.data[12 + i] = (uint8_t)i;
    }
    return o;
}

/** A receiver report with `blocks` made-up report blocks. */
static inline struct octets rr(uint32_t ssrc, size_t blocks)
{
    struct octets o = {{(uint8_t)(0x80 | blocks), 0xc9}, 8 + 24 * blocks};
    leat_put_u16(o.data + 2, (uint16_t)(o.len / 4 - 1));
    leat_put_u32(o.data + 4, ssrc);
    for (size_t i = 8; i < o.len; i++) {
        o.data[i] = (uint8_t)(i * 7);
    }
    return o;
}

/** The packet protected; len 0 when it was refused. */
static inline struct octets sealed(struct leat_srtp *s, struct octets plain)
{
    struct octets out = {{0}, 0};
    if (leat_srtp_protect(s, leat_span(plain.data, plain.len), out.data, sizeof(out.data),
                          &out.len) != LEAT_SRTP_OK) {
        out.len = 0;
    }
    return out;
}

static inline struct octets sealed_rtcp(struct leat_srtp *s, struct octets plain)
{
    struct octets out = {{0}, 0};
    if (leat_srtp_protect_rtcp(s, leat_span(plain.data, plain.len), out.data, sizeof(out.data),
                               &out.len) != LEAT_SRTP_OK) {
        out.len = 0;
    }
    return out;
}

/** Takes a copy of the packet: the caller's stays whole. */
static inline enum leat_srtp_verdict opened(struct leat_srtp *s, struct octets pkt,
                                            struct octets *plain)
{
    enum leat_srtp_verdict v = leat_srtp_unprotect(s, pkt.data, &pkt.len, NULL);
    if (plain != NULL) {
        *plain = pkt;
    }
    return v;
}

static inline enum leat_srtp_verdict opened_rtcp(struct leat_srtp *s, struct octets pkt,
                                                 struct octets *plain)
{
    enum leat_srtp_verdict v = leat_srtp_unprotect_rtcp(s, pkt.data, &pkt.len);
    if (plain != NULL) {
        *plain = pkt;
    }
    return v;
}

#endif
