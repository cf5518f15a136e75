/* SPDX-License-Identifier: MIT */
/*
 * Arbitrary datagrams into both unprotect doors of every profile. Octet 0 chooses profile, RTP or
 * RTCP, and whether the rest is the datagram itself or is laid over a good one (so that damage
 * close to a good packet is reached without the key). Nothing but the unchanged good packet may
 * authenticate, and it still must after the damaged one.
 */
#include <stdlib.h>

#include <leat/srtp.h>

#define DATAGRAM_MAX 4096
#define SSRC 0x11223344u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum leat_srtp_verdict unprotect(struct leat_srtp *s, bool is_rtcp, const uint8_t *pkt,
                                        size_t len)
{
    uint8_t *block = malloc(len != 0 ? len : 1);
    if (block == NULL) {
        abort();
    }
    if (len != 0) {
        memcpy(block, pkt, len);
    }
    bool is_new;
    enum leat_srtp_verdict v = is_rtcp ? leat_srtp_unprotect_rtcp(s, block, &len)
                                       : leat_srtp_unprotect(s, block, &len, &is_new);
    free(block);
    return v;
}

static size_t good_packet(struct leat_srtp *s, bool is_rtcp, uint8_t *out, size_t cap)
{
    uint8_t plain[60] = {0x80, is_rtcp ? 0xc9 : 0x60, 0, 14};
    size_t len = 0;
    leat_put_u32(plain + (is_rtcp ? 4 : 8), SSRC);
    struct leat_span in = leat_span(plain, sizeof(plain));
    enum leat_srtp_verdict v = is_rtcp ? leat_srtp_protect_rtcp(s, in, out, cap, &len)
                                       : leat_srtp_protect(s, in, out, cap, &len);
    if (v != LEAT_SRTP_OK) {
        abort();
    }
    return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum leat_srtp_profile profiles[] = {
        LEAT_SRTP_AES128_CM_SHA1_80, LEAT_SRTP_AES128_CM_SHA1_32, LEAT_SRTP_AEAD_AES_128_GCM,
        LEAT_SRTP_AEAD_AES_256_GCM};
    static bool is_started;
    if (!is_started && (leat_crypto_start() != 0 || leat_srtp_start() != 0)) {
        abort();
    }
    is_started = true;
    if (size == 0 || size > DATAGRAM_MAX) {
        return 0;
    }
    struct leat_srtp_keys keys = {.profile = profiles[data[0] & 3]};
    bool is_rtcp = (data[0] & 4) != 0, is_over_good = (data[0] & 8) != 0;
    struct leat_srtp *s;
    if (leat_srtp_new(&s, &keys, 2) != 0) {
        abort();
    }
    uint8_t good[256], bad[256];
    size_t good_len = good_packet(s, is_rtcp, good, sizeof(good));
    if (is_over_good) {
        size_t len = size - 1 < good_len ? good_len : size - 1;
        len = len < sizeof(bad) ? len : sizeof(bad);
        memcpy(bad, good, good_len);
        memset(bad + good_len, 0, sizeof(bad) - good_len);
        bool is_same = len == good_len;
        for (size_t i = 0; i + 1 < size && i < len; i++) {
            bad[i] ^= data[i + 1];
            is_same = is_same && data[i + 1] == 0;
        }
        if (!is_same && unprotect(s, is_rtcp, bad, len) == LEAT_SRTP_OK) {
            abort();
        }
    } else {
        unprotect(s, is_rtcp, data + 1, size - 1);
    }
    if (unprotect(s, is_rtcp, good, good_len) != LEAT_SRTP_OK) {
        abort();
    }
    leat_srtp_free(s);
    return 0;
}
