/* SPDX-License-Identifier: MIT */
#include <leat/profile.h>

#include "../harness.h"

static const struct {
    enum leat_srtp_profile profile;
    size_t key_len, salt_len;
    const char *name, *short_name;
} rows[] = {
    /* RFC 5764 4.1.2 and RFC 7714 14.2; names of the IANA registry */
    {LEAT_SRTP_AES128_CM_SHA1_80, 16, 14, "SRTP_AES128_CM_HMAC_SHA1_80", "AES128_CM_SHA1_80"},
    {LEAT_SRTP_AES128_CM_SHA1_32, 16, 14, "SRTP_AES128_CM_HMAC_SHA1_32", "AES128_CM_SHA1_32"},
    {LEAT_SRTP_AEAD_AES_128_GCM, 16, 12, "SRTP_AEAD_AES_128_GCM", "AEAD_AES_128_GCM"},
    {LEAT_SRTP_AEAD_AES_256_GCM, 32, 12, "SRTP_AEAD_AES_256_GCM", "AEAD_AES_256_GCM"},
    {LEAT_SRTP_PROFILE_NONE, 0, 0, "", ""},
};

static void profile__each_of_the_table__has_its_lengths_and_names(void)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        LEAT_CHECK_ROW(i, leat_srtp_profile_key_len(rows[i].profile) == rows[i].key_len);
        LEAT_CHECK_ROW(i, leat_srtp_profile_salt_len(rows[i].profile) == rows[i].salt_len);
        LEAT_CHECK_STR(leat_srtp_profile_text(rows[i].profile), rows[i].name);
        LEAT_CHECK_ROW(i,
                       leat_srtp_profile_from_text(leat_span_str(rows[i].name)) == rows[i].profile);
        LEAT_CHECK_ROW(i, leat_srtp_profile_from_text(leat_span_str(rows[i].short_name)) ==
                              rows[i].profile);
    }
}

static void profile_from_text__near_misses__are_none(void)
{
    static const char *const texts[] = {"SRTP_AES128_CM_HMAC_SHA1_8", "aes128_cm_sha1_80",
                                        "AES128_CM_SHA1_80 ", "SRTP_"};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(texts); i++) {
        LEAT_CHECK_ROW(i, leat_srtp_profile_from_text(leat_span_str(texts[i])) ==
                              LEAT_SRTP_PROFILE_NONE);
    }
}

static void keys_cut__each_profile__takes_client_and_server_parts_in_order(void)
{
    uint8_t block[LEAT_SRTP_MATERIAL_MAX];
    for (size_t i = 0; i < sizeof(block); i++) {
        block[i] = (uint8_t)(i + 1);
    }
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows) - 1; i++) {
        size_t k = rows[i].key_len, s = rows[i].salt_len;
        struct leat_srtp_keys client, server;
        LEAT_CHECK_ROW(i, leat_srtp_keys_cut(&client, rows[i].profile, block, true) == 2 * (k + s));
        LEAT_CHECK_ROW(i,
                       leat_srtp_keys_cut(&server, rows[i].profile, block, false) == 2 * (k + s));
        LEAT_CHECK_ROW(i, client.profile == rows[i].profile);
        LEAT_CHECK_MEM(client.send.key, k, block, k);
        LEAT_CHECK_MEM(client.receive.key, k, block + k, k);
        LEAT_CHECK_MEM(client.send.salt, s, block + 2 * k, s);
        LEAT_CHECK_MEM(client.receive.salt, s, block + 2 * k + s, s);
        LEAT_CHECK_MEM(&server.receive, sizeof(server.receive), &client.send, sizeof(client.send));
        LEAT_CHECK_MEM(&server.send, sizeof(server.send), &client.receive, sizeof(client.receive));
    }
}

static void keys_cut__no_profile__takes_nothing(void)
{
    static const uint8_t block[LEAT_SRTP_MATERIAL_MAX] = {1, 2, 3};
    struct leat_srtp_keys keys;
    LEAT_CHECK(leat_srtp_keys_cut(&keys, LEAT_SRTP_PROFILE_NONE, block, true) == 0);
    LEAT_CHECK_INT(keys.profile, LEAT_SRTP_PROFILE_NONE);
    LEAT_CHECK_INT(keys.send.key[0], 0);
}

LEAT_TESTS(LEAT_TEST(profile__each_of_the_table__has_its_lengths_and_names),
           LEAT_TEST(profile_from_text__near_misses__are_none),
           LEAT_TEST(keys_cut__each_profile__takes_client_and_server_parts_in_order),
           LEAT_TEST(keys_cut__no_profile__takes_nothing))
