/* SPDX-License-Identifier: MIT */
/**
 * @file  Session keys from a master key and salt (RFC 3711 4.3, RFC 6188, RFC 7714 11), with a key
 * derivation rate of 0.
 */
#ifndef LEAT_SRTP_DERIVE_H
#define LEAT_SRTP_DERIVE_H

#include <leat/crypto.h>
#include <leat/profile.h>

#define LEAT__SRTP_AUTH_KEY_LEN 20

struct leat__srtp_session_keys {
    uint8_t cipher[LEAT_SRTP_KEY_MAX]; /**< as long as the profile's master key */
    uint8_t auth[LEAT__SRTP_AUTH_KEY_LEN];
    uint8_t salt[LEAT_SRTP_SALT_MAX]; /**< as long as the profile's master salt, then zeros */
};

/** @param is_rtcp the keys of SRTCP instead of SRTP. @return 0 or LEAT_E_CRYPTO; the caller wipes
 * `out` on both. */
int leat__srtp_derive(enum leat_srtp_profile profile, const struct leat_srtp_master *master,
                      bool is_rtcp, struct leat__srtp_session_keys *out);

#endif
