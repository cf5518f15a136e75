/* SPDX-License-Identifier: MIT */
#include "internal.h"
#include "library.h"

#include "identities.h"

#define NOW_S 1700000000u /* 2023-11-14 22:13:20 */

static void rng_init(struct leat_rng *rng, uint8_t seed)
{
    uint8_t octets[32] = {seed};
    leat_rng_init_seeded(rng, octets);
}

/* ---- a fresh one ---- */

static void new__any_time__is_valid_from_a_day_before_for_a_year(void)
{
    static const struct {
        uint64_t now_s;
        const char *from, *to;
    } rows[] = {
        /* date -u -d @S */
        {0, "1970-01-01 00:00:00", "1971-01-01 00:00:00"},
        {1700000000, "2023-11-13 22:13:20", "2024-11-13 22:13:20"},
        {1709251199, "2024-02-28 23:59:59", "2025-02-28 23:59:59"}, /* of a leap day */
        {951868800, "2000-02-29 00:00:00", "2001-03-01 00:00:00"},  /* 2000-03-01 */
        {2556143999, "2050-12-30 23:59:59", "2051-12-31 23:59:59"}, /* GeneralizedTime */
        {4107542400, "2100-02-28 00:00:00", "2101-03-01 00:00:00"}, /* 2100-03-01, no leap year */
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct leat_dtls_identity *id;
        struct leat_rng rng;
        char from[64], to[64];
        rng_init(&rng, 1);
        LEAT_CHECK_INT(leat_dtls_identity_new(&id, &rng, rows[i].now_s), 0);
        const mbedtls_x509_time *f = &id->chain.valid_from, *t = &id->chain.valid_to;
        snprintf(from, sizeof(from), "%04d-%02d-%02d %02d:%02d:%02d", f->year, f->mon, f->day,
                 f->hour, f->min, f->sec);
        snprintf(to, sizeof(to), "%04d-%02d-%02d %02d:%02d:%02d", t->year, t->mon, t->day, t->hour,
                 t->min, t->sec);
        LEAT_CHECK_STR(from, rows[i].from);
        LEAT_CHECK_STR(to, rows[i].to);
        leat_dtls_identity_free(id);
    }
}

static void new__twice__differs_in_key_serial_and_fingerprint(void)
{
    struct leat_dtls_identity *a, *b;
    struct leat_rng rng;
    rng_init(&rng, 2);
    LEAT_CHECK_INT(leat_dtls_identity_new(&a, &rng, NOW_S), 0);
    LEAT_CHECK_INT(leat_dtls_identity_new(&b, &rng, NOW_S), 0);
    uint8_t fa[LEAT_FINGERPRINT_LEN], fb[LEAT_FINGERPRINT_LEN], digest[LEAT_FINGERPRINT_LEN];
    leat_dtls_identity_fingerprint(a, fa);
    leat_dtls_identity_fingerprint(b, fb);
    LEAT_CHECK(memcmp(fa, fb, sizeof(fa)) != 0);
    LEAT_CHECK_INT(a->chain.serial.len, 16);
    LEAT_CHECK(a->chain.serial.p[0] < 0x80);
    LEAT_CHECK(memcmp(a->chain.serial.p, b->chain.serial.p, 16) != 0);
    leat_sha256(a->chain.raw.p, a->chain.raw.len, digest);
    LEAT_CHECK_MEM(fa, sizeof(fa), digest, sizeof(digest));
    LEAT_CHECK_INT(mbedtls_pk_get_type(&a->key), MBEDTLS_PK_ECDSA);
    char name[64];
    LEAT_CHECK(mbedtls_x509_dn_gets(name, sizeof(name), &a->chain.subject) > 0);
    LEAT_CHECK_STR(name, "CN=leat");
    leat_dtls_identity_free(a);
    leat_dtls_identity_free(b);
    leat_dtls_identity_free(NULL);
}

/* ---- from PEM ---- */

static int load(struct leat_dtls_identity **id, const char *cert, const char *key, uint64_t now_s,
                char *why, size_t why_cap)
{
    static char cert_text[8192], key_text[8192];
    struct leat_rng rng;
    rng_init(&rng, 3);
    struct leat_span c = cert ? identity_text(cert, cert_text) : leat_span("", 0);
    struct leat_span k = key ? identity_text(key, key_text) : leat_span("", 0);
    return leat_dtls_identity_load(id, c, k, &rng, now_s, why, why_cap);
}

static void load__good_pairs__have_openssls_fingerprint(void)
{
    static const char *const rows[][3] = {{"ec-cert", "ec-key", "ec-fingerprint"},
                                          {"ec-cert", "ec-key-sec1", "ec-fingerprint"},
                                          {"rsa-cert", "rsa-key", "rsa-fingerprint"}};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct leat_dtls_identity *id;
        char why[128], expected[8192], text[LEAT_FINGERPRINT_TEXT_MAX];
        uint8_t fp[LEAT_FINGERPRINT_LEN];
        LEAT_CHECK_INT(load(&id, rows[i][0], rows[i][1], NOW_S, why, sizeof(why)), 0);
        LEAT_CHECK_STR(why, "");
        if (!id) {
            continue;
        }
        leat_dtls_identity_fingerprint(id, fp);
        struct leat_span openssl = identity_text(rows[i][2], expected);
        expected[openssl.len - 1] = '\0'; /* the line's end */
        LEAT_CHECK_STR(leat_dtls_fingerprint_format(fp, text), expected);
        leat_dtls_identity_free(id);
    }
}

static void load__what_is_wrong__is_said(void)
{
    static const struct {
        const char *cert, *key;
        uint64_t now_s;
        const char *why;
    } rows[] = {
        {NULL, "ec-key", NOW_S, "the certificate is not PEM text"},
        {"ec-cert", NULL, NOW_S, "the private key is not PEM text"},
        {"ec-fingerprint", "ec-key", NOW_S, "the certificate is not PEM text"},
        {"ec-key", "ec-key", NOW_S, "the PEM text has no certificate in it"},
        {"ec-cert", "ec-cert", NOW_S, "the PEM text has no private key in it"},
        {"ec-cert", "encrypted-key", NOW_S, "the private key is encrypted"},
        {"ec-cert", "other-key", NOW_S,
         "the private key does not belong to the (first) certificate"},
        {"ec-cert", "rsa-key", NOW_S, "the private key does not belong to the (first) certificate"},
        {"ec384-cert", "ec384-key", NOW_S, "the private key is neither EC P-256 nor RSA"},
        {"rsa1024-cert", "rsa1024-key", NOW_S,
         "the RSA key has 1024 bits; at least 2048 are needed"},
        {"ec-cert", "ec-key", 1672531199, "the certificate is not valid before 2023-01-01"},
        {"ec-cert", "ec-key", 1988150401, "the certificate expired on 2033-01-01"},
        {"leap-cert", "ec-key", 1709207999, "the certificate is not valid before 2024-02-29"},
        {"leap-cert", "ec-key", 1709208000, ""},
        {"leap-cert", "ec-key", 1709294399, ""},
        {"leap-cert", "ec-key", 1709294400, "the certificate expired on 2024-03-01"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct leat_dtls_identity *id;
        char why[128];
        int error = load(&id, rows[i].cert, rows[i].key, rows[i].now_s, why, sizeof(why));
        LEAT_CHECK_ROW(i, error == (rows[i].why[0] ? LEAT_E_INVALID : 0));
        LEAT_CHECK_ROW(i, (id != NULL) == (rows[i].why[0] == '\0'));
        LEAT_CHECK_STR(why, rows[i].why);
        leat_dtls_identity_free(id);
    }
}

static void load__no_room_for_the_reason__is_fine(void)
{
    struct leat_dtls_identity *id;
    char why[4] = "xyz";
    LEAT_CHECK_INT(load(&id, "ec-cert", "other-key", NOW_S, why, 0), LEAT_E_INVALID);
    LEAT_CHECK_STR(why, "xyz");
    LEAT_CHECK_INT(load(&id, "ec-cert", "other-key", NOW_S, why, sizeof(why)), LEAT_E_INVALID);
    LEAT_CHECK_STR(why, "the");
}

static void load__every_cut_of_the_pem__is_refused(void)
{
    static char cert_text[8192], key_text[8192];
    struct leat_rng rng;
    char why[128];
    rng_init(&rng, 4);
    struct leat_span cert = identity_text("ec-cert", cert_text);
    struct leat_span key = identity_text("ec-key", key_text);
    for (size_t len = 0; len < cert.len - 2; len += 7) {
        struct leat_dtls_identity *id;
        LEAT_CHECK_ROW(len, leat_dtls_identity_load(&id, leat_span(cert.data, len), key, &rng,
                                                    NOW_S, why, sizeof(why)) != 0);
        LEAT_CHECK_ROW(len, strlen(why) > 10 && id == NULL);
    }
}

/* ---- fingerprints ---- */

static void fingerprint__text__goes_there_and_back(void)
{
    static const char upper[] = "00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:"
                                "0F:1E:2D:3C:4B:5A:69:78:87:96:A5:B4:C3:D2:E1:F0";
    static const char *const bad[] = {
        "",
        "00:11",
        "00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:"
        "0F:1E:2D:3C:4B:5A:69:78:87:96:A5:B4:C3:D2:E1:F",
        "00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:"
        "0F:1E:2D:3C:4B:5A:69:78:87:96:A5:B4:C3:D2:E1:F0:",
        "00-11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:"
        "0F:1E:2D:3C:4B:5A:69:78:87:96:A5:B4:C3:D2:E1:F0",
        "00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:"
        "0F:1E:2D:3C:4B:5A:69:78:87:96:A5:B4:C3:D2:E1:G0",
    };
    uint8_t fp[LEAT_FINGERPRINT_LEN], again[LEAT_FINGERPRINT_LEN];
    char text[LEAT_FINGERPRINT_TEXT_MAX], lower[LEAT_FINGERPRINT_TEXT_MAX];
    LEAT_CHECK(leat_dtls_fingerprint_parse(leat_span_str(upper), fp));
    LEAT_CHECK_INT(fp[0], 0);
    LEAT_CHECK_INT(fp[1], 0x11);
    LEAT_CHECK_INT(fp[31], 0xf0);
    LEAT_CHECK_STR(leat_dtls_fingerprint_format(fp, text), upper);
    for (size_t i = 0; i < sizeof(upper); i++) {
        lower[i] = (char)(upper[i] >= 'A' && upper[i] <= 'F' ? upper[i] + 32 : upper[i]);
    }
    LEAT_CHECK(leat_dtls_fingerprint_parse(leat_span_str(lower), again));
    LEAT_CHECK_MEM(again, sizeof(again), fp, sizeof(fp));
    for (size_t i = 0; i < LEAT_ARRAY_LEN(bad); i++) {
        LEAT_CHECK_ROW(i, !leat_dtls_fingerprint_parse(leat_span_str(bad[i]), fp));
    }
}

static void library_error__allocation_at_any_level__is_out_of_memory(void)
{
    LEAT_CHECK_INT(leat__dtls_library_error(MBEDTLS_ERR_SSL_ALLOC_FAILED, LEAT_E_CRYPTO),
                   LEAT_E_NOMEM);
    LEAT_CHECK_INT(leat__dtls_library_error(MBEDTLS_ERR_MPI_ALLOC_FAILED, LEAT_E_CRYPTO),
                   LEAT_E_NOMEM);
    LEAT_CHECK_INT(leat__dtls_library_error(
                       MBEDTLS_ERR_X509_INVALID_FORMAT + MBEDTLS_ERR_ASN1_ALLOC_FAILED, -7),
                   LEAT_E_NOMEM);
    LEAT_CHECK_INT(leat__dtls_library_error(MBEDTLS_ERR_SSL_INVALID_MAC, LEAT_E_CRYPTO),
                   LEAT_E_CRYPTO);
    LEAT_CHECK(strncmp(leat_dtls_library_version(LEAT_DTLS_MBEDTLS), "Mbed TLS ", 9) == 0);
}

LEAT_TESTS(LEAT_TEST(new__any_time__is_valid_from_a_day_before_for_a_year),
           LEAT_TEST(new__twice__differs_in_key_serial_and_fingerprint),
           LEAT_TEST(load__good_pairs__have_openssls_fingerprint),
           LEAT_TEST(load__what_is_wrong__is_said),
           LEAT_TEST(load__no_room_for_the_reason__is_fine),
           LEAT_TEST(load__every_cut_of_the_pem__is_refused),
           LEAT_TEST(fingerprint__text__goes_there_and_back),
           LEAT_TEST(library_error__allocation_at_any_level__is_out_of_memory))
