/* SPDX-License-Identifier: MIT */
#include "derive.h"

enum label { RTP_CIPHER, RTP_AUTH, RTP_SALT, RTCP_CIPHER, RTCP_AUTH, RTCP_SALT };

#define LABEL_AT 7 /* label * 2^48 in the 112-bit number that is xored with the salt */

/* PRF_n(k_master, x): the first `len` octets of key stream from counter x * 2^16. A 96-bit salt
 * stands in the upper octets (RFC 7714 11). */
static int prf(const struct leat_aes *aes, const uint8_t salt[static LEAT_SRTP_SALT_MAX],
               enum label label, uint8_t *out, size_t len)
{
    uint8_t iv[16] = {0};
    memcpy(iv, salt, LEAT_SRTP_SALT_MAX);
    iv[LABEL_AT] ^= (uint8_t)label;
    memset(out, 0, len);
    return leat_aes_ctr(aes, iv, out, len, out);
}

int leat__srtp_derive(enum leat_srtp_profile profile, const struct leat_srtp_master *master,
                      bool is_rtcp, struct leat__srtp_session_keys *out)
{
    size_t key_len = leat_srtp_profile_key_len(profile);
    size_t salt_len = leat_srtp_profile_salt_len(profile);
    uint8_t salt[LEAT_SRTP_SALT_MAX] = {0};
    struct leat_aes aes;

    memset(out, 0, sizeof(*out));
    memcpy(salt, master->salt, salt_len);
    int error = leat_aes_init(&aes, master->key, key_len);
    if (error == 0) {
        error = prf(&aes, salt, is_rtcp ? RTCP_CIPHER : RTP_CIPHER, out->cipher, key_len);
    }
    if (error == 0) {
        error = prf(&aes, salt, is_rtcp ? RTCP_AUTH : RTP_AUTH, out->auth, sizeof(out->auth));
    }
    if (error == 0) {
        error = prf(&aes, salt, is_rtcp ? RTCP_SALT : RTP_SALT, out->salt, salt_len);
    }
    leat_aes_deinit(&aes);
    leat_wipe(salt, sizeof(salt));
    return error == 0 ? 0 : LEAT_E_CRYPTO;
}
