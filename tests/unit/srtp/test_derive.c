/* SPDX-License-Identifier: MIT */
/*
 * Session keys against RFC 3711 B.3, the key stream below them against RFC 3711 B.2 and RFC 6188
 * 7, and what is made with session keys against RFC 7714 16 and 17. The RFCs give no derivation
 * with salts of 96 bits and no SRTCP keys: those rows were computed by an independent program
 * (Python's cryptography 38, AES in CTR mode of OpenSSL) from the masters of the RFCs.
 */
#include "derive.h"
#include "session.h"

#include "srtp_test.h"

#define MASTER_128 "e1f97a0d3e018be0d64fa32c06de4139"
#define SALT_128 "0ec675ad498afeebb6960b3aabe6"
#define MASTER_256 "f0f04914b513f2763a1b1fa130f10e2998f6f6e43e4309d1e622a0e332b9f1b6"
#define SALT_256 "3b04803de51ee7c96423ab5b78d2"
#define AUTH_128 "cebe321f6ff7716b6fd4ab49af256a156d38baa4" /* the first 160 bits of B.3's */

struct derivation {
    enum leat_srtp_profile profile;
    const char *master, *salt;
    bool is_rtcp;
    const char *cipher, *auth, *session_salt; /* auth NULL: the profile has none */
};

static const struct derivation derivations[] = {
    {LEAT_SRTP_AES128_CM_SHA1_80, MASTER_128, SALT_128, false, "c61e7a93744f39ee10734afe3ff7a087",
     AUTH_128, "30cbbc08863d8c85d49db34a9ae1"}, /* RFC 3711 B.3 */
    {LEAT_SRTP_AES128_CM_SHA1_32, MASTER_128, SALT_128, false, "c61e7a93744f39ee10734afe3ff7a087",
     AUTH_128, "30cbbc08863d8c85d49db34a9ae1"},
    {LEAT_SRTP_AES128_CM_SHA1_80, MASTER_128, SALT_128, true, "4c1aa45a81f73d61c800bbb00fbb1eaa",
     "8d54534feb49ae8e7993a6bd0b844fc323a93dfd", "9581c7ad87b3e530bf3e4454a8b3"},
    {LEAT_SRTP_AEAD_AES_128_GCM, MASTER_128, "0ec675ad498afeebb6960b3a", false,
     "238c882f36f000301573e69383502d9d", NULL, "f2fee04070fc3f65d706e2e4"},
    {LEAT_SRTP_AEAD_AES_128_GCM, MASTER_128, "0ec675ad498afeebb6960b3a", true,
     "8bd2cdf1fc9db302554e0fc9a5ccb4a6", NULL, "9bb741139a5207f61f898db2"},
    {LEAT_SRTP_AEAD_AES_256_GCM, MASTER_256, "3b04803de51ee7c96423ab5b", false,
     "11bbe9220dd2807adf84c602b10c615671c7386298c7f0805e4dad5aecdfddab", NULL,
     "2f4b64a82bf4ceca0baac3a9"},
    {LEAT_SRTP_AEAD_AES_256_GCM, MASTER_256, "3b04803de51ee7c96423ab5b", true,
     "bfb109bb0e7b3185647a1beb1db42866b45be648d1a02c484cb4a23a78ab9e9d", NULL,
     "b6e9567cb2d425d825dbace8"},
};

static void start_crypto(void)
{
    static bool is_started;
    if (!is_started && leat_crypto_start() != 0) {
        abort();
    }
    is_started = true;
}

/* What stands behind a shorter master key or salt must not matter. */
static struct leat_srtp_master master_of(const char *key, const char *salt, uint8_t behind)
{
    struct leat_srtp_master m;
    struct octets k = from_hex(key), s = from_hex(salt);
    memset(&m, behind, sizeof(m));
    memcpy(m.key, k.data, k.len);
    memcpy(m.salt, s.data, s.len);
    return m;
}

static void derive__known_masters__known_session_keys(void)
{
    start_crypto();
    for (size_t i = 0; i < LEAT_ARRAY_LEN(derivations); i++) {
        const struct derivation *d = &derivations[i];
        for (unsigned behind = 0; behind < 256; behind += 0x77) {
            struct leat_srtp_master m = master_of(d->master, d->salt, (uint8_t)behind);
            struct leat__srtp_session_keys keys;
            LEAT_CHECK_ROW(i, leat__srtp_derive(d->profile, &m, d->is_rtcp, &keys) == 0);
            struct octets cipher = from_hex(d->cipher), salt = from_hex(d->session_salt);
            LEAT_CHECK_MEM(keys.cipher, cipher.len, cipher.data, cipher.len);
            LEAT_CHECK_MEM(keys.salt, sizeof(keys.salt), salt.data, sizeof(keys.salt));
            if (d->auth != NULL) {
                struct octets auth = from_hex(d->auth);
                LEAT_CHECK_MEM(keys.auth, sizeof(keys.auth), auth.data, auth.len);
            }
        }
    }
}

/* Key stream that begins at a counter block. */
struct stream {
    const char *key, *counter, *octets;
};

static const struct stream streams[] = {
    /* RFC 3711 B.2: the first blocks, and those over the carry */
    {"2b7e151628aed2a6abf7158809cf4f3c", "f0f1f2f3f4f5f6f7f8f9fafbfcfd0000",
     "e03ead0935c95e80e166b16dd92b4eb4d23513162b02d0f72a43a2fe4a5f97ab"
     "41e95b3bb0a2e8dd477901e4fca894c0"},
    {"2b7e151628aed2a6abf7158809cf4f3c", "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
     "ec8cdf7398607cb0f2d21675ea9ea1e4362b7c3c6773516318a077d7fc5073ae"
     "6a2cc3787889374fbeb4c81b17ba6c44"},
    /* RFC 6188 7.3: cipher key, authentication key and salt; the label stands in octet 7 */
    {MASTER_256, "3b04803de51ee7c96423ab5b78d20000",
     "5ba1064e30ec51613cad926c5a28ef731ec7fb397f70a960653caf06554cd8c4"},
    {MASTER_256, "3b04803de51ee7c86423ab5b78d20000", "fd9c32d39ed5fbb5a9dc96b30818454d1313dc05"},
    {MASTER_256, "3b04803de51ee7cb6423ab5b78d20000", "fa31791685ca444a9e07c6c64e93"},
};

static void key_stream__known_counters__known_octets(void)
{
    start_crypto();
    for (size_t i = 0; i < LEAT_ARRAY_LEN(streams); i++) {
        struct octets key = from_hex(streams[i].key), counter = from_hex(streams[i].counter);
        struct octets expected = from_hex(streams[i].octets), out = {{0}, expected.len};
        struct leat_aes aes;
        LEAT_CHECK_ROW(i, leat_aes_init(&aes, key.data, key.len) == 0);
        LEAT_CHECK_ROW(i, leat_aes_ctr(&aes, counter.data, out.data, out.len, out.data) == 0);
        LEAT_CHECK_MEM(out.data, out.len, expected.data, expected.len);
        leat_aes_deinit(&aes);
    }
}

/* ---- RFC 7714: packets under session keys ---- */

#define KEY_128 "000102030405060708090a0b0c0d0e0f"
#define KEY_256 KEY_128 "101112131415161718191a1b1c1d1e1f"
#define RTP_PLAIN                                                                                  \
    "8040f17b8041f8d35501a0b247616c6c696120657374206f6d6e697320646976697361"                       \
    "20696e207061727465732074726573"
#define RTCP_PLAIN                                                                                 \
    "81c8000d4d6172734e5450314e545032525450200000042a0000e9304c756e61"                             \
    "deadbeefdeadbeefdeadbeefdeadbeefdeadbeef"

static const struct {
    enum leat_srtp_profile profile;
    const char *key, *rtp, *rtcp; /* what stands behind the header */
} packets[] = {
    {LEAT_SRTP_AEAD_AES_128_GCM, KEY_128,
     "f24de3a3fb34de6cacba861c9d7e4bcabe633bd50d294e6f42a5f47a51c7d19b36de3adf8833"
     "899d7f27beb16a9152cf765ee4390cce",
     "63e94885dcdab67ca727d7662f6b7e997ff5c0f76c06f32dc676a5f1730d6fda4ce09b4686303ded"
     "0bb9275bc84aa45896cf4d2fc5abf87245d9eade800005d4"},
    {LEAT_SRTP_AEAD_AES_256_GCM, KEY_256,
     "32b1de78a822fe12ef9f78fa332e33aab18012389a58e2f3b50b2a0276ffae0f1ba63799b87b"
     "7aa3db36dfffd6b0f9bb7878d7a76c13",
     "d50ae4d1f5ce5d304ba297e47d470c282c3ece5dbffe0a50a2eaa5c1110555be8415f658c61de047"
     "6f1b6fad1d1eb30c4446839f57ff6f6cb26ac3be800005d4"},
};

/* The RFC gives no masters, so its session key and salt are laid over those that were derived. */
static void take_keys(struct leat__srtp_seal *seal, const char *key)
{
    uint8_t salt[16] = "Quid pro quo";
    struct octets k = from_hex(key);
    leat_gcm_deinit(seal->gcm);
    memset(seal->gcm, 0, sizeof(*seal->gcm));
    LEAT_CHECK_INT(leat_gcm_init_for_batch(seal->gcm, k.data, k.len), 0);
    seal->salt_high = leat_get_u64(salt);
    seal->salt_low = leat_get_u64(salt + 8);
}

static void aead__known_session_keys__known_packets(void)
{
    for (size_t i = 0; i < LEAT_ARRAY_LEN(packets); i++) {
        struct leat_srtp *s = session(packets[i].profile);
        take_keys(&s->send.rtp, packets[i].key);
        take_keys(&s->send.rtcp, packets[i].key);
        struct octets plain = from_hex(RTP_PLAIN), out = sealed(s, plain);
        struct octets expected = from_hex(packets[i].rtp);
        LEAT_CHECK_MEM(out.data, 12, plain.data, 12);
        LEAT_CHECK_MEM(out.data + 12, out.len - 12, expected.data, expected.len);

        plain = from_hex(RTCP_PLAIN);
        leat__srtp_outgoing_get(&s->send.outgoing, leat_get_u32(plain.data + 4))->rtcp_index =
            0x5d3;
        out = sealed_rtcp(s, plain);
        expected = from_hex(packets[i].rtcp);
        LEAT_CHECK_MEM(out.data, 8, plain.data, 8);
        LEAT_CHECK_MEM(out.data + 8, out.len - 8, expected.data, expected.len);
        leat_srtp_free(s);
    }
}

LEAT_TESTS(LEAT_TEST(derive__known_masters__known_session_keys),
           LEAT_TEST(key_stream__known_counters__known_octets),
           LEAT_TEST(aead__known_session_keys__known_packets))
