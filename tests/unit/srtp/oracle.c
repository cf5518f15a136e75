/* SPDX-License-Identifier: MIT */
#include "oracle.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <srtp2/cipher.h>

static bool types_are(bool is_stock)
{
    typedef const srtp_cipher_type_t *(*get_type)(srtp_cipher_type_id_t id);
    get_type get;
    *(void **)&get = dlsym(RTLD_DEFAULT, "srtp_crypto_kernel_get_cipher_type");
    if (get == NULL) {
        return true;
    }
    const srtp_cipher_type_t *icm = get(SRTP_AES_ICM_128), *gcm = get(SRTP_AES_GCM_256);
    return icm != NULL && gcm != NULL && (strncmp(icm->description, "leat", 4) != 0) == is_stock &&
           (strncmp(gcm->description, "leat", 4) != 0) == is_stock;
}

void oracle_use_types(bool is_stock)
{
    static enum { NONE, OURS, STOCK } now = NONE;
    if (now == (is_stock ? STOCK : OURS)) {
        return;
    }
    if (now == OURS) {
        leat_srtp_stop();
    } else if (now == STOCK) {
        srtp_shutdown();
    }
    now = is_stock ? STOCK : OURS;
    if ((is_stock ? srtp_init() != srtp_err_status_ok : leat_srtp_start() != 0) ||
        !types_are(is_stock)) {
        abort();
    }
}

srtp_t oracle_new(const struct leat_srtp_keys *keys)
{
    uint8_t key[LEAT_SRTP_KEY_MAX + LEAT_SRTP_SALT_MAX];
    size_t key_len = leat_srtp_profile_key_len(keys->profile);
    srtp_policy_t policy;
    srtp_t session;
    memcpy(key, keys->send.key, key_len);
    memcpy(key + key_len, keys->send.salt, leat_srtp_profile_salt_len(keys->profile));
    memset(&policy, 0, sizeof(policy));
    srtp_crypto_policy_set_from_profile_for_rtp(&policy.rtp, (srtp_profile_t)keys->profile);
    srtp_crypto_policy_set_from_profile_for_rtcp(&policy.rtcp, (srtp_profile_t)keys->profile);
    policy.ssrc.type = ssrc_any_outbound;
    policy.key = key;
    policy.window_size = LEAT_SRTP_REPLAY_WINDOW;
    if (srtp_create(&session, &policy) != srtp_err_status_ok) {
        abort();
    }
    return session;
}

void oracle_free(srtp_t session)
{
    srtp_dealloc(session);
}

static enum leat_srtp_verdict verdict_of(srtp_err_status_t status)
{
    if (status == srtp_err_status_ok) {
        return LEAT_SRTP_OK;
    }
    return status == srtp_err_status_replay_fail || status == srtp_err_status_replay_old
               ? LEAT_SRTP_INDEX_USED
               : LEAT_SRTP_MALFORMED;
}

enum leat_srtp_verdict oracle_protect(srtp_t session, uint8_t *packet, size_t *len)
{
    int octets = (int)*len;
    srtp_err_status_t status = srtp_protect(session, packet, &octets);
    *len = (size_t)octets;
    return verdict_of(status);
}

enum leat_srtp_verdict oracle_protect_rtcp(srtp_t session, uint8_t *packet, size_t *len)
{
    int octets = (int)*len;
    srtp_err_status_t status = srtp_protect_rtcp(session, packet, &octets);
    *len = (size_t)octets;
    return verdict_of(status);
}
