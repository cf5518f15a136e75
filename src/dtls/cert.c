/* SPDX-License-Identifier: MIT */
/*
 * The identity: a certificate with its key, made at start or read from PEM, and its fingerprint.
 *
 * An EC key becomes an MBEDTLS_PK_ECDSA context, which signs faster than MBEDTLS_PK_ECKEY but in
 * 2.28 builds a table on first use without a lock: one signature is made here, before any other
 * thread sees the key. An RSA key needs nothing like it, its blinding has a mutex.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "library.h"

#define DAY_S 86400u
#define PEM_MAX 65536u

/* ---- dates, without a clock ---- */

struct date {
    unsigned year, month, day, hour, minute, second;
};

static bool is_leap(unsigned year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static unsigned days_of_month(unsigned year, unsigned month)
{
    static const uint8_t days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year) ? 1u : 0u);
}

/* UTC of a Unix time up to the year 9999. */
static struct date date_of(uint64_t unix_s)
{
    const uint64_t last_s = 253402300799u;
    unix_s = unix_s < last_s ? unix_s : last_s;
    struct date d = {.year = 1970, .month = 1};
    uint64_t days = unix_s / DAY_S;
    unsigned rest = (unsigned)(unix_s % DAY_S);
    while (days >= (is_leap(d.year) ? 366u : 365u)) {
        days -= is_leap(d.year) ? 366u : 365u;
        d.year++;
    }
    while (days >= days_of_month(d.year, d.month)) {
        days -= days_of_month(d.year, d.month);
        d.month++;
    }
    d.day = (unsigned)days + 1;
    d.hour = rest / 3600;
    d.minute = rest / 60 % 60;
    d.second = rest % 60;
    return d;
}

/* Dates as numbers that compare like the dates. */
static uint64_t date_key(const struct date *d)
{
    return ((((d->year * 100ull + d->month) * 100 + d->day) * 100 + d->hour) * 100 + d->minute) *
               100 +
           d->second;
}

static struct date date_of_x509(const mbedtls_x509_time *t)
{
    return (struct date){(unsigned)t->year, (unsigned)t->mon, (unsigned)t->day,
                         (unsigned)t->hour, (unsigned)t->min, (unsigned)t->sec};
}

/* "20240229235959", the form that the certificate writer takes. */
static void date_format(const struct date *d, char out[static 16])
{
    snprintf(out, 16, "%04u%02u%02u%02u%02u%02u", d->year % 10000, d->month % 100, d->day % 100,
             d->hour % 100, d->minute % 100, d->second % 100);
}

/* ---- what both ways of making one share ---- */

static struct leat_dtls_identity *identity_alloc(void)
{
    struct leat_dtls_identity *id = calloc(1, sizeof(*id));
    if (id) {
        atomic_init(&id->holders, 1);
        mbedtls_x509_crt_init(&id->chain);
        mbedtls_pk_init(&id->key);
        mbedtls_ssl_config_init(&id->configs[LEAT_DTLS_SERVER]);
        mbedtls_ssl_config_init(&id->configs[LEAT_DTLS_CLIENT]);
    }
    return id;
}

const struct leat_dtls_identity *leat_dtls_identity_hold(const struct leat_dtls_identity *identity)
{
    struct leat_dtls_identity *id = (struct leat_dtls_identity *)(uintptr_t)identity;
    atomic_fetch_add_explicit(&id->holders, 1, memory_order_relaxed);
    return identity;
}

void leat_dtls_identity_free(const struct leat_dtls_identity *identity)
{
    struct leat_dtls_identity *id = (struct leat_dtls_identity *)(uintptr_t)identity;
    if (!id || atomic_fetch_sub_explicit(&id->holders, 1, memory_order_acq_rel) != 1) {
        return;
    }
    mbedtls_ssl_config_free(&id->configs[LEAT_DTLS_SERVER]);
    mbedtls_ssl_config_free(&id->configs[LEAT_DTLS_CLIENT]);
    mbedtls_x509_crt_free(&id->chain);
    mbedtls_pk_free(&id->key);
#if LEAT__HAVE_OPENSSL
    leat__dtls_openssl_free(id->openssl);
#endif
    leat_wipe(id, sizeof(*id));
    free(id);
}

static int key_to_ecdsa(mbedtls_pk_context *key)
{
    mbedtls_pk_context ecdsa;
    mbedtls_pk_init(&ecdsa);
    int ret = mbedtls_pk_setup(&ecdsa, mbedtls_pk_info_from_type(MBEDTLS_PK_ECDSA));
    if (ret == 0) {
        ret = mbedtls_ecdsa_from_keypair(mbedtls_pk_ec(ecdsa), mbedtls_pk_ec(*key));
    }
    if (ret != 0) {
        mbedtls_pk_free(&ecdsa);
        return ret;
    }
    mbedtls_pk_free(key);
    *key = ecdsa;
    return 0;
}

int leat__dtls_sign(mbedtls_pk_context *key, const uint8_t hash[static 32],
                    unsigned char *signature, size_t *len, struct leat_rng *rng)
{
#if LEAT__MBEDTLS_3
    return mbedtls_pk_sign(key, MBEDTLS_MD_SHA256, hash, 32, signature,
                           MBEDTLS_PK_SIGNATURE_MAX_SIZE, len, leat_rng_callback, rng);
#else
    return mbedtls_pk_sign(key, MBEDTLS_MD_SHA256, hash, 32, signature, len, leat_rng_callback,
                           rng);
#endif
}

static int sign_once(mbedtls_pk_context *key, struct leat_rng *rng)
{
    static const uint8_t hash[32] = {0};
    unsigned char signature[MBEDTLS_PK_SIGNATURE_MAX_SIZE];
    size_t len = 0;
    return leat__dtls_sign(key, hash, signature, &len, rng);
}

/* With chain and key in place. */
static int identity_finish(struct leat_dtls_identity *id, struct leat_rng *rng)
{
    leat_sha256(id->chain.raw.p, id->chain.raw.len, id->fingerprint);
    int ret = 0;
    if (mbedtls_pk_get_type(&id->key) == MBEDTLS_PK_ECKEY) {
        ret = key_to_ecdsa(&id->key);
    }
    if (ret == 0) {
        ret = sign_once(&id->key, rng);
    }
    if (ret != 0) {
        return leat__dtls_library_error(ret, LEAT_E_CRYPTO);
    }
    return leat__dtls_configs_init(id);
}

/* ---- a fresh one ---- */

static int set_serial(mbedtls_x509write_cert *w, struct leat_rng *rng)
{
    unsigned char serial[16]; /* RFC 5280 4.1.2.2: positive, at most 20 octets */
    leat_rng_fill(rng, serial, sizeof(serial));
    serial[0] = (unsigned char)((serial[0] & 0x7f) | 0x40);
#if MBEDTLS_VERSION_NUMBER >= 0x03040000
    return mbedtls_x509write_crt_set_serial_raw(w, serial, sizeof(serial));
#else
    mbedtls_mpi number;
    mbedtls_mpi_init(&number);
    int ret = mbedtls_mpi_read_binary(&number, serial, sizeof(serial));
    if (ret == 0) {
        ret = mbedtls_x509write_crt_set_serial(w, &number);
    }
    mbedtls_mpi_free(&number);
    return ret;
#endif
}

static int write_certificate(struct leat_dtls_identity *id, struct leat_rng *rng, uint64_t now_s)
{
    char from[16], to[16];
    struct date first = date_of(now_s > DAY_S ? now_s - DAY_S : 0);
    struct date last = date_of(now_s + 365 * (uint64_t)DAY_S);
    date_format(&first, from);
    date_format(&last, to);

    unsigned char der[1024];
    mbedtls_x509write_cert w;
    mbedtls_x509write_crt_init(&w);
    mbedtls_x509write_crt_set_version(&w, MBEDTLS_X509_CRT_VERSION_3);
    mbedtls_x509write_crt_set_md_alg(&w, MBEDTLS_MD_SHA256);
    mbedtls_x509write_crt_set_subject_key(&w, &id->key);
    mbedtls_x509write_crt_set_issuer_key(&w, &id->key);
    int ret = set_serial(&w, rng);
    if (ret == 0) {
        ret = mbedtls_x509write_crt_set_subject_name(&w, "CN=leat");
    }
    if (ret == 0) {
        ret = mbedtls_x509write_crt_set_issuer_name(&w, "CN=leat");
    }
    if (ret == 0) {
        ret = mbedtls_x509write_crt_set_validity(&w, from, to);
    }
    if (ret == 0) {
        ret = mbedtls_x509write_crt_der(&w, der, sizeof(der), leat_rng_callback, rng);
    }
    if (ret > 0) { /* the library writes to the end of the buffer */
        ret = mbedtls_x509_crt_parse_der(&id->chain, der + sizeof(der) - (size_t)ret, (size_t)ret);
    }
    mbedtls_x509write_crt_free(&w);
    return ret;
}

int leat_dtls_identity_new(struct leat_dtls_identity **out, struct leat_rng *rng, uint64_t now_s)
{
    *out = NULL;
    struct leat_dtls_identity *id = identity_alloc();
    if (!id) {
        return LEAT_E_NOMEM;
    }
    int error = LEAT_E_CRYPTO;
    int ret = mbedtls_pk_setup(&id->key, mbedtls_pk_info_from_type(MBEDTLS_PK_ECKEY));
    if (ret == 0) {
        ret = mbedtls_ecp_gen_key(MBEDTLS_ECP_DP_SECP256R1, mbedtls_pk_ec(id->key),
                                  leat_rng_callback, rng);
    }
    if (ret == 0) {
        ret = write_certificate(id, rng, now_s);
    }
    if (ret != 0) {
        error = leat__dtls_library_error(ret, LEAT_E_CRYPTO);
        goto fail;
    }
    error = identity_finish(id, rng);
    if (error != 0) {
        goto fail;
    }
    *out = id;
    return 0;

fail:
    leat_dtls_identity_free(id);
    return error;
}

/* ---- from PEM ---- */

struct reason {
    char *text;
    size_t cap;
};

__attribute__((format(printf, 3, 4))) static int refuse(const struct reason *why, int error,
                                                        const char *format, ...)
{
    if (why->cap != 0) {
        va_list args;
        va_start(args, format);
        vsnprintf(why->text, why->cap, format, args);
        va_end(args);
    }
    return error;
}

/* The library wants PEM with its terminating zero. @return NULL with *error set. */
static unsigned char *pem_copy(struct leat_span pem, const char *what, const char *label,
                               const struct reason *why, int *error)
{
    if (pem.len == 0 || pem.len > PEM_MAX || memchr(pem.data, 0, pem.len) ||
        !memmem(pem.data, pem.len, "-----BEGIN ", 11)) {
        *error = refuse(why, LEAT_E_INVALID, "the %s is not PEM text", what);
        return NULL;
    }
    if (!memmem(pem.data, pem.len, label, strlen(label))) {
        *error = refuse(why, LEAT_E_INVALID, "the PEM text has no %s in it", what);
        return NULL;
    }
    unsigned char *copy = malloc(pem.len + 1);
    if (!copy) {
        *error = refuse(why, LEAT_E_NOMEM, "out of memory");
        return NULL;
    }
    memcpy(copy, pem.data, pem.len);
    copy[pem.len] = '\0';
    return copy;
}

static int load_chain(struct leat_dtls_identity *id, struct leat_span pem, const struct reason *why)
{
    int error = 0;
    unsigned char *copy = pem_copy(pem, "certificate", "BEGIN CERTIFICATE-----", why, &error);
    if (!copy) {
        return error;
    }
    int ret = mbedtls_x509_crt_parse(&id->chain, copy, pem.len + 1);
    free(copy);
    if (ret > 0) {
        return refuse(why, LEAT_E_INVALID, "%d of the certificates cannot be read", ret);
    }
    if (ret != 0) {
        return refuse(why, leat__dtls_library_error(ret, LEAT_E_INVALID),
                      "the certificate cannot be read (library error -0x%04x)", (unsigned)-ret);
    }
    return 0;
}

static int load_key(struct leat_dtls_identity *id, struct leat_span pem, struct leat_rng *rng,
                    const struct reason *why)
{
    int error = 0;
    unsigned char *copy = pem_copy(pem, "private key", "PRIVATE KEY-----", why, &error);
    if (!copy) {
        return error;
    }
#if LEAT__MBEDTLS_3
    int ret = mbedtls_pk_parse_key(&id->key, copy, pem.len + 1, NULL, 0, leat_rng_callback, rng);
#else
    (void)rng;
    int ret = mbedtls_pk_parse_key(&id->key, copy, pem.len + 1, NULL, 0);
#endif
    leat_wipe(copy, pem.len);
    free(copy);
    if (ret == MBEDTLS_ERR_PK_PASSWORD_REQUIRED || ret == MBEDTLS_ERR_PK_PASSWORD_MISMATCH) {
        return refuse(why, LEAT_E_INVALID, "the private key is encrypted");
    }
    if (ret != 0) {
        return refuse(why, leat__dtls_library_error(ret, LEAT_E_INVALID),
                      "the private key cannot be read (library error -0x%04x)", (unsigned)-ret);
    }
    return 0;
}

static int check_key(struct leat_dtls_identity *id, struct leat_rng *rng, const struct reason *why)
{
    mbedtls_pk_type_t type = mbedtls_pk_get_type(&id->key);
    size_t bits = mbedtls_pk_get_bitlen(&id->key);
    if (type == MBEDTLS_PK_RSA) {
        if (bits < 2048) {
            return refuse(why, LEAT_E_INVALID, "the RSA key has %zu bits; at least 2048 are needed",
                          bits);
        }
    } else if (type != MBEDTLS_PK_ECKEY ||
               mbedtls_pk_ec(id->key)->MBEDTLS_PRIVATE(grp).id != MBEDTLS_ECP_DP_SECP256R1) {
        return refuse(why, LEAT_E_INVALID, "the private key is neither EC P-256 nor RSA");
    }
#if LEAT__MBEDTLS_3
    int ret = mbedtls_pk_check_pair(&id->chain.pk, &id->key, leat_rng_callback, rng);
#else
    (void)rng;
    int ret = mbedtls_pk_check_pair(&id->chain.pk, &id->key);
#endif
    if (ret != 0) {
        return refuse(why, LEAT_E_INVALID,
                      "the private key does not belong to the (first) certificate");
    }
    return 0;
}

static int check_dates(const struct leat_dtls_identity *id, uint64_t now_s,
                       const struct reason *why)
{
    struct date now = date_of(now_s);
    struct date from = date_of_x509(&id->chain.valid_from);
    struct date to = date_of_x509(&id->chain.valid_to);
    if (date_key(&now) < date_key(&from)) {
        return refuse(why, LEAT_E_INVALID, "the certificate is not valid before %04u-%02u-%02u",
                      from.year, from.month, from.day);
    }
    if (date_key(&now) > date_key(&to)) {
        return refuse(why, LEAT_E_INVALID, "the certificate expired on %04u-%02u-%02u", to.year,
                      to.month, to.day);
    }
    return 0;
}

int leat_dtls_identity_load(struct leat_dtls_identity **out, struct leat_span cert_pem,
                            struct leat_span key_pem, struct leat_rng *rng, uint64_t now_s,
                            char *why, size_t why_cap)
{
    *out = NULL;
    const struct reason reason = {why, why_cap};
    if (why_cap != 0) {
        why[0] = '\0';
    }
    struct leat_dtls_identity *id = identity_alloc();
    if (!id) {
        return refuse(&reason, LEAT_E_NOMEM, "out of memory");
    }
    int error = load_chain(id, cert_pem, &reason);
    if (error == 0) {
        error = load_key(id, key_pem, rng, &reason);
    }
    if (error == 0) {
        error = check_key(id, rng, &reason);
    }
    if (error == 0) {
        error = check_dates(id, now_s, &reason);
    }
    if (error == 0) {
        error = identity_finish(id, rng);
        if (error != 0) {
            (void)refuse(&reason, error, "the private key cannot sign");
        }
    }
    if (error != 0) {
        leat_dtls_identity_free(id);
        return error;
    }
    *out = id;
    return 0;
}

/* ---- fingerprints ---- */

void leat_dtls_identity_fingerprint(const struct leat_dtls_identity *id,
                                    uint8_t out[static LEAT_FINGERPRINT_LEN])
{
    memcpy(out, id->fingerprint, LEAT_FINGERPRINT_LEN);
}

const char *leat_dtls_fingerprint_format(const uint8_t fp[static LEAT_FINGERPRINT_LEN],
                                         char out[static LEAT_FINGERPRINT_TEXT_MAX])
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < LEAT_FINGERPRINT_LEN; i++) {
        out[3 * i] = digits[fp[i] >> 4];
        out[3 * i + 1] = digits[fp[i] & 15];
        out[3 * i + 2] = ':';
    }
    out[3 * LEAT_FINGERPRINT_LEN - 1] = '\0';
    return out;
}

bool leat_dtls_fingerprint_parse(struct leat_span text, uint8_t out[static LEAT_FINGERPRINT_LEN])
{
    if (text.len != 3 * LEAT_FINGERPRINT_LEN - 1) {
        return false;
    }
    for (size_t i = 0; i < LEAT_FINGERPRINT_LEN; i++) {
        const uint8_t *at = text.data + 3 * i;
        if (leat_hex_decode((const char *)at, 2, out + i, 1) != 1 ||
            (i + 1 < LEAT_FINGERPRINT_LEN && at[2] != ':')) {
            return false;
        }
    }
    return true;
}
