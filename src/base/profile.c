/* SPDX-License-Identifier: MIT */
/*
 * SRTP protection profiles as a table, and the cut of DTLS keying material (RFC 5764 4.2): both
 * keys first, then both salts, the client's before the server's.
 */
#include <leat/profile.h>

struct profile_row {
    enum leat_srtp_profile profile;
    uint8_t key_len, salt_len;
    const char *name, *short_name;
};

static const struct profile_row rows[] = {
    {LEAT_SRTP_AES128_CM_SHA1_80, 16, 14, "SRTP_AES128_CM_HMAC_SHA1_80", "AES128_CM_SHA1_80"},
    {LEAT_SRTP_AES128_CM_SHA1_32, 16, 14, "SRTP_AES128_CM_HMAC_SHA1_32", "AES128_CM_SHA1_32"},
    {LEAT_SRTP_AEAD_AES_128_GCM, 16, 12, "SRTP_AEAD_AES_128_GCM", "AEAD_AES_128_GCM"},
    {LEAT_SRTP_AEAD_AES_256_GCM, 32, 12, "SRTP_AEAD_AES_256_GCM", "AEAD_AES_256_GCM"},
};

static const struct profile_row *row_of(enum leat_srtp_profile profile)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        if (rows[i].profile == profile) {
            return &rows[i];
        }
    }
    return NULL;
}

size_t leat_srtp_profile_key_len(enum leat_srtp_profile profile)
{
    const struct profile_row *row = row_of(profile);
    return row ? row->key_len : 0;
}

size_t leat_srtp_profile_salt_len(enum leat_srtp_profile profile)
{
    const struct profile_row *row = row_of(profile);
    return row ? row->salt_len : 0;
}

const char *leat_srtp_profile_text(enum leat_srtp_profile profile)
{
    const struct profile_row *row = row_of(profile);
    return row ? row->name : "";
}

enum leat_srtp_profile leat_srtp_profile_from_text(struct leat_span text)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        if (leat_span_equal(text, leat_span_str(rows[i].name)) ||
            leat_span_equal(text, leat_span_str(rows[i].short_name))) {
            return rows[i].profile;
        }
    }
    return LEAT_SRTP_PROFILE_NONE;
}

size_t leat_srtp_keys_cut(struct leat_srtp_keys *out, enum leat_srtp_profile profile,
                          const uint8_t block[static LEAT_SRTP_MATERIAL_MAX], bool is_client)
{
    memset(out, 0, sizeof(*out));
    const struct profile_row *row = row_of(profile);
    if (!row) {
        return 0;
    }
    out->profile = profile;
    struct leat_srtp_master *client = is_client ? &out->send : &out->receive;
    struct leat_srtp_master *server = is_client ? &out->receive : &out->send;
    const uint8_t *at = block;
    memcpy(client->key, at, row->key_len);
    at += row->key_len;
    memcpy(server->key, at, row->key_len);
    at += row->key_len;
    memcpy(client->salt, at, row->salt_len);
    at += row->salt_len;
    memcpy(server->salt, at, row->salt_len);
    return 2 * ((size_t)row->key_len + row->salt_len);
}
