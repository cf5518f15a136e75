/* SPDX-License-Identifier: MIT */
/* The configuration: defaults, every key, and errors that name file, key and what was expected. */
#include "config.h"

#include "harness.h"

static struct leat_config config;
static char why[LEAT_CONFIG_WHY_MAX];

static int parse(const char *text)
{
    leat_config_init(&config);
    why[0] = '\0';
    return leat_config_parse(&config, "leatd.json", leat_span_str(text), why);
}

static void config__empty__defaults(void)
{
    LEAT_CHECK_INT(parse("{}"), 0);
    LEAT_CHECK_STR(config.file, "leatd.json");
    LEAT_CHECK_STR(config.crypto_provider, "");
    LEAT_CHECK_STR(config.crypto_level, "");
    LEAT_CHECK_STR(config.socket, "/run/leat/leatd.sock");
    LEAT_CHECK(config.is_listen_auto);
    LEAT_CHECK_INT(config.port, 3478);
    LEAT_CHECK_INT(config.workers, 1);
    LEAT_CHECK_INT(config.policy.setup, LEAT_SETUP_NONE);
    LEAT_CHECK_INT(config.policy.codec_count, 0);
    LEAT_CHECK_INT(config.profile_count, 2);
    LEAT_CHECK_INT(config.drain_s, 0);
    LEAT_CHECK(!config.is_key_exchange_plain);
    LEAT_CHECK_INT(config.backend, LEAT_DTLS_MBEDTLS);
}

/* The order of the keys must not matter, nor what stood there before. */
static void backend__openssl__can_gcm_wherever_it_stands(void)
{
    static const char *const texts[] = {
        "{\"srtp\": {\"profiles\": [\"AEAD_AES_256_GCM\", \"AEAD_AES_128_GCM\", "
        "\"AES128_CM_SHA1_80\"]}, \"dtls\": {\"backend\": \"openssl\"}}",
        "{\"dtls\": {\"backend\": \"openssl\"}, \"srtp\": {\"profiles\": "
        "[\"AEAD_AES_256_GCM\", \"AEAD_AES_128_GCM\", \"AES128_CM_SHA1_80\"]}}"};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(texts); i++) {
        int error = parse(texts[i]);
        if (leat_dtls_library_version(LEAT_DTLS_OPENSSL) == NULL) {
            LEAT_CHECK_INT(error, LEAT_E_INVALID);
            LEAT_CHECK(strstr(why, "leatd.json: dtls.backend: this build has no OpenSSL") != NULL);
            continue;
        }
        LEAT_CHECK_INT(error, 0);
        LEAT_CHECK_INT(config.backend, LEAT_DTLS_OPENSSL);
        LEAT_CHECK_INT(config.profile_count, 3);
        LEAT_CHECK_INT(config.profiles[0], LEAT_SRTP_AEAD_AES_256_GCM);
        LEAT_CHECK_INT(config.profiles[1], LEAT_SRTP_AEAD_AES_128_GCM);
    }
}

static void config__every_key__is_read(void)
{
    LEAT_CHECK_INT(parse("{// a comment\n\"control\": {\"socket\": \"/tmp/x.sock\"}, \"workers\": "
                         "\"auto\", \"log\": {\"level\": \"debug\"},"
                         "\"listen\": [{\"address\": \"0.0.0.0\", \"port\": 5000, \"announce\": "
                         "[{\"address\": \"192.0.2.7\", \"port\": 6000}]},"
                         "             {\"address\": \"::1\", \"port\": 5001}],"
                         "\"dtls\": {\"certificate\": \"c.pem\", \"key\": \"k.pem\", \"setup\": "
                         "\"active\", \"handshakes\": 4, \"key_exchange\": \"mbedtls\"},"
                         "\"srtp\": {\"profiles\": [\"AES128_CM_SHA1_32\"]}, /* another */"
                         "\"codecs\": [{\"name\": \"h264\", \"clock\": 90000, \"parameters\": "
                         "\"packetization-mode=1\"}, {\"name\": \"opus\"}],"
                         "\"limits\": {\"peers\": 5, \"ssrcs_per_peer\": 9}, \"receive_buffer\": "
                         "65536, \"crypto\": {\"provider\": \"openssl\", \"level\": \"avx2\"}, "
                         "\"gso\": false, \"ended_keep_s\": 1, \"drain_s\": 30}"),
                   0);
    LEAT_CHECK_STR(why, "");
    LEAT_CHECK_STR(config.socket, "/tmp/x.sock");
    LEAT_CHECK_INT(config.workers, 0);
    LEAT_CHECK_INT(config.log_level, LEAT_LOG_DEBUG);
    LEAT_CHECK(!config.is_listen_auto);
    LEAT_CHECK_INT(config.listen_count, 2);
    char text[LEAT_ADDR_TEXT_MAX];
    LEAT_CHECK_STR(leat_addr_format(&config.listen[0].announce[0], text), "192.0.2.7:6000");
    LEAT_CHECK_STR(leat_addr_format(&config.listen[1].announce[0], text),
                   "[::1]:5001"); /* announces itself */
    LEAT_CHECK_INT(config.policy.setup, LEAT_SETUP_ACTIVE);
    LEAT_CHECK_INT(config.handshakes, 4);
    LEAT_CHECK(config.is_key_exchange_plain);
    LEAT_CHECK_INT(config.profile_count, 1);
    LEAT_CHECK_INT(config.profiles[0], LEAT_SRTP_AES128_CM_SHA1_32);
    LEAT_CHECK_INT(config.policy.codec_count, 2);
    LEAT_CHECK_INT(config.policy.codecs[0].name, LEAT_CODEC_H264);
    LEAT_CHECK_STR(config.policy.codecs[0].fmtp, "packetization-mode=1");
    LEAT_CHECK_INT(config.peers_max, 5);
    LEAT_CHECK_INT(config.ssrcs_per_peer, 9);
    LEAT_CHECK_INT(config.receive_buffer, 65536);
    LEAT_CHECK_STR(config.crypto_provider, "openssl");
    LEAT_CHECK_STR(config.crypto_level, "avx2");
    LEAT_CHECK(config.is_gso_off);
    LEAT_CHECK_INT(config.ended_keep_s, 1);
    LEAT_CHECK_INT(config.drain_s, 30);
}

static void config__wrong__names_file_key_and_expectation(void)
{
    static const struct {
        const char *text, *place, *expected;
    } rows[] = {
        {"{\"worker\": 1}",
         "leatd.json: worker:", "unknown key; expected one of: control, listen, port, workers"},
        {"{\"control\": {\"sock\": \"x\"}}",
         "leatd.json: control.sock:", "unknown key; expected one of: socket"},
        {"{\"control\": 5}", "leatd.json: control:", "expected an object, got a number"},
        {"{\"control\": {\"socket\": 5}}", "leatd.json: control.socket:", "expected a path"},
        {"{\"control\": {\"socket\": \"\"}}", "leatd.json: control.socket:", "not empty"},
        {"{\"port\": 0}", "leatd.json: port:", "expected an integer from 1 to 65535, got 0"},
        {"{\"port\": 65536}", "leatd.json: port:", "got 65536"},
        {"{\"port\": 1.5}", "leatd.json: port:", "expected an integer"},
        {"{\"workers\": \"many\"}", "leatd.json: workers:", "\"auto\" or an integer from 1 to 64"},
        {"{\"workers\": 65}", "leatd.json: workers:", "from 1 to 64, got 65"},
        {"{\"log\": {\"level\": \"loud\"}}", "leatd.json: log.level:", "\"warn\""},
        {"{\"listen\": []}", "leatd.json: listen:", "\"auto\" or an array"},
        {"{\"listen\": [{\"port\": 1}]}",
         "leatd.json: listen[0].address:", "expected an IPv4 or IPv6 address, got nothing"},
        {"{\"listen\": [{\"address\": \"here\", \"port\": 1}]}",
         "leatd.json: listen[0].address:", "IPv4 or IPv6"},
        {"{\"listen\": [{\"address\": \"127.0.0.1\"}]}",
         "leatd.json: listen[0].port:", "from 1 to 65535, got nothing"},
        {"{\"listen\": [{\"address\": \"0.0.0.0\", \"port\": 1}]}",
         "leatd.json: listen[0].announce:", "wildcard"},
        {"{\"listen\": [{\"address\": \"127.0.0.1\", \"port\": 1, \"announce\": [{\"address\": "
         "\"::\", \"port\": 1}]}]}",
         "leatd.json: listen[0].announce[0]:", "not a wildcard"},
        {"{\"listen\": [{\"address\": \"127.0.0.1\", \"port\": 1, \"ports\": 2}]}",
         "leatd.json: listen[0].ports:", "unknown key"},
        {"{\"dtls\": {\"certificate\": \"c\"}}",
         "leatd.json: dtls:", "certificate and key together"},
        {"{\"dtls\": {\"setup\": \"both\"}}", "leatd.json: dtls.setup:", "\"passive\""},
        {"{\"dtls\": {\"key_exchange\": \"openssl\"}}",
         "leatd.json: dtls.key_exchange:", "\"auto\" or \"mbedtls\""},
        {"{\"dtls\": {\"key_exchange\": true}}", "leatd.json: dtls.key_exchange:", "\"auto\""},
        {"{\"crypto\": {\"provider\": \"rot13\"}}", "leatd.json: crypto.provider:",
         "expected \"auto\", \"mbedtls\", \"openssl\" or \"ipsecmb\""},
        {"{\"crypto\": {\"provider\": 1}}", "leatd.json: crypto.provider:", "got a number"},
        {"{\"crypto\": \"openssl\"}", "leatd.json: crypto:", "expected an object, got a string"},
        {"{\"crypto\": {\"level\": \"avx\"}}", "leatd.json: crypto.level:",
         "expected \"auto\", \"avx512\", \"avx2\", \"sse\" or \"none\""},
        {"{\"crypto\": {\"levels\": \"sse\"}}", "leatd.json: crypto.levels:", "unknown key"},
        {"{\"gso\": 1}", "leatd.json: gso:", "true or false"},
        {"{\"dtls\": {\"handshakes\": 0}}", "leatd.json: dtls.handshakes:", "from 1 to 64"},
        {"{\"srtp\": {\"profiles\": [\"AEAD_AES_128_GCM\"]}}",
         "leatd.json: srtp.profiles:", "mbedTLS backend cannot negotiate"},
        {"{\"srtp\": {\"profiles\": [\"AES128_CM_SHA1_80\", \"AEAD_AES_256_GCM\"]}, \"dtls\": "
         "{\"backend\": \"mbedtls\"}}",
         "leatd.json: srtp.profiles:", "mbedTLS backend cannot negotiate"},
        {"{\"dtls\": {\"backend\": \"boringssl\"}}",
         "leatd.json: dtls.backend:", "\"mbedtls\" or \"openssl\""},
        {"{\"srtp\": {\"profiles\": [\"NULL\"]}}",
         "leatd.json: srtp.profiles:", "AES128_CM_SHA1_80"},
        {"{\"codecs\": [{\"name\": \"VP7\"}]}", "leatd.json: codecs[0].name:", "VP8, VP9"},
        {"{\"codecs\": [{\"name\": \"VP8\", \"rate\": 1}]}",
         "leatd.json: codecs[0].rate:", "unknown key"},
        {"{\"limits\": {\"peers\": -1}}", "leatd.json: limits.peers:", "got -1"},
        {"{\"drain_s\": \"5\"}",
         "leatd.json: drain_s:", "expected an integer from 0 to 86400, got a string"},
        {"[]", "leatd.json:", "expected an object, got an array"},
        {"{\"workers\": 2, \"port\": 65535}", "leatd.json: port:", "leaves room for 2"},
        {"{\"workers\": 2, \"listen\": [{\"address\": \"127.0.0.1\", \"port\": 65535}]}",
         "leatd.json: listen[0].port:", "worker 1 would have port 65536"},
        {"{\"workers\": 4, \"listen\": [{\"address\": \"127.0.0.1\", \"port\": 1, \"announce\": "
         "[{\"address\": \"192.0.2.1\", \"port\": 65533}]}]}",
         "leatd.json: listen[0].announce[0].port:", "leaves room for 4"},
        {"{\"listen\": [{\"address\": \"127.0.0.1\", \"port\": 1, \"announce\": []}]}",
         "leatd.json: listen[0].announce:", "at least one"},
        {"{\"listen\": [{\"address\": \"fe80::1\", \"port\": 1}]}",
         "leatd.json: listen[0].address:", "expected a zone"},
        {"{\"control\": {\"socket\": "
         "\"/tmp/12345678901234567890123456789012345678901234567890123456789012345678"
         "901234567890123456789012345678901234567890\"}}",
         "leatd.json: control.socket:", "at most 107"},
        {"{\"port\": 1, \"port\": 2}", "leatd.json:", "port"},
        {"{\"port\": }", "leatd.json:", "line 1"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        LEAT_CHECK_ROW(i, parse(rows[i].text) == LEAT_E_INVALID);
        bool is_right = strncmp(why, rows[i].place, strlen(rows[i].place)) == 0 &&
                        strstr(why, rows[i].expected) != NULL;
        LEAT_CHECK_ROW(i, is_right);
        if (!is_right) {
            fprintf(stderr, "    says: %s\n", why);
        }
    }
}

static void config__missing_file__named(void)
{
    leat_config_init(&config);
    LEAT_CHECK_INT(leat_config_load(&config, "no/such/file.json", why), LEAT_E_IO);
    LEAT_CHECK(strstr(why, "no/such/file.json") != NULL && strstr(why, "No such file") != NULL);
}

/** conf/leatd.json says that its values are the defaults. */
static const char *shipped_file;

static void config__shipped_file__holds_the_defaults(void)
{
    static struct leat_config defaults;
    leat_config_init(&defaults);
    defaults.file = shipped_file;
    leat_config_init(&config);
    LEAT_CHECK_INT(leat_config_load(&config, shipped_file, why), 0);
    LEAT_CHECK_MEM(&config, sizeof config, &defaults, sizeof defaults);
}

int main(int argc, char **argv)
{
    static const struct leat_test tests[] = {
        LEAT_TEST(config__empty__defaults),
        LEAT_TEST(config__every_key__is_read),
        LEAT_TEST(backend__openssl__can_gcm_wherever_it_stands),
        LEAT_TEST(config__wrong__names_file_key_and_expectation),
        LEAT_TEST(config__missing_file__named),
        LEAT_TEST(config__shipped_file__holds_the_defaults),
    };
    if (argc != 2) {
        (void)fprintf(stderr, "usage: test_daemon_config CONF/LEATD.JSON\n");
        return 2;
    }
    shipped_file = argv[1];
    return leat_test_main(tests, LEAT_ARRAY_LEN(tests), 1, argv);
}
