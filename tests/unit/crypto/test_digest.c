/* SPDX-License-Identifier: MIT */
#include <leat/crypto.h>

#include "harness.h"
#include "hex.h"

static void sha256__fips_180_2_messages__give_their_digests(void)
{
    static const struct {
        const char *message, *digest;
    } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        uint8_t digest[32];
        leat_sha256(rows[i].message, strlen(rows[i].message), digest);
        LEAT_CHECK_MEM(digest, 32, from_hex(rows[i].digest).data, 32);
    }
}

static void sha256__a_million_octets__give_their_digest(void)
{
    enum { LEN = 1000000 };
    uint8_t digest[32], *message = malloc(LEN);
    LEAT_CHECK(message != NULL);
    if (message != NULL) {
        memset(message, 'a', LEN);
        leat_sha256(message, LEN, digest);
        LEAT_CHECK_MEM(
            digest, 32,
            from_hex("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0").data, 32);
        free(message);
    }
}

LEAT_TESTS(LEAT_TEST(sha256__fips_180_2_messages__give_their_digests),
           LEAT_TEST(sha256__a_million_octets__give_their_digest))
