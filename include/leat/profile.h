/* SPDX-License-Identifier: MIT */
/**
 * @file  SRTP protection profiles and the keying material that DTLS exports and SRTP takes (RFC
 * 5764 4.1.2, 4.2; RFC 7714 14.2).
 * @module base
 */
#ifndef LEAT_PROFILE_H
#define LEAT_PROFILE_H

#include <leat/bytes.h>

/** Values are IANA's. */
enum leat_srtp_profile {
    LEAT_SRTP_PROFILE_NONE = 0,
    LEAT_SRTP_AES128_CM_SHA1_80 = 0x0001,
    LEAT_SRTP_AES128_CM_SHA1_32 = 0x0002,
    LEAT_SRTP_AEAD_AES_128_GCM = 0x0007,
    LEAT_SRTP_AEAD_AES_256_GCM = 0x0008
};

#define LEAT_SRTP_PROFILES_MAX 4
#define LEAT_SRTP_KEY_MAX 32
#define LEAT_SRTP_SALT_MAX 14
#define LEAT_SRTP_MATERIAL_MAX (2 * (LEAT_SRTP_KEY_MAX + LEAT_SRTP_SALT_MAX))

/** One direction's master key and salt. */
struct leat_srtp_master {
    uint8_t key[LEAT_SRTP_KEY_MAX];
    uint8_t salt[LEAT_SRTP_SALT_MAX];
};

struct leat_srtp_keys {
    enum leat_srtp_profile profile;
    struct leat_srtp_master send, receive;
};

size_t leat_srtp_profile_key_len(enum leat_srtp_profile profile);  /**< 16 or 32; 0 for NONE */
size_t leat_srtp_profile_salt_len(enum leat_srtp_profile profile); /**< 14 for CM, 12 for GCM */
/** The W3C/IANA name, "SRTP_AES128_CM_HMAC_SHA1_80"; "" for NONE. */
const char *leat_srtp_profile_text(enum leat_srtp_profile profile);
/** Also takes the short names "AES128_CM_SHA1_80", "AES128_CM_SHA1_32", "AEAD_AES_128_GCM",
 * "AEAD_AES_256_GCM". */
enum leat_srtp_profile leat_srtp_profile_from_text(struct leat_span text);

/** Cut the EXTRACTOR-dtls_srtp block (client key, server key, client salt, server salt). @return
 * octets that it has. */
size_t leat_srtp_keys_cut(struct leat_srtp_keys *out, enum leat_srtp_profile profile,
                          const uint8_t block[static LEAT_SRTP_MATERIAL_MAX], bool is_client);

#endif
