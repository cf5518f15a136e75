/* SPDX-License-Identifier: MIT */
/*
 * Reading the configuration. One table a JSON object says which keys there are and who reads each;
 * a key that no table has is an error that names the keys there are. Readers write into the struct
 * and describe what they wanted when they did not get it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <leat/io.h>
#include <leat/json.h>

#include "config.h"

/** Where we are: for the one sentence that an error is. */
struct place {
    const char *file;
    char path[128];
    char *why;
};

static int expected(const struct place *at, const char *what, const leat_json *got)
{
    (void)snprintf(at->why, LEAT_CONFIG_WHY_MAX, "%s: %s: expected %s, got %s", at->file, at->path,
                   what, got != NULL ? leat_json_type_text(leat_json_type_of(got)) : "nothing");
    return LEAT_E_INVALID;
}

static int complain(const struct place *at, const char *what)
{
    (void)snprintf(at->why, LEAT_CONFIG_WHY_MAX, "%s: %s: %s", at->file, at->path, what);
    return LEAT_E_INVALID;
}

struct key {
    const char *name;
    int (*read)(struct leat_config *c, const struct place *at, const leat_json *value);
};

/** Describe a place one level deeper. */
static struct place inside(const struct place *at, const char *key)
{
    struct place deeper = *at;
    size_t len = strlen(at->path);
    (void)snprintf(deeper.path + len, sizeof deeper.path - len, "%s%s",
                   len > 0 && key[0] != '[' ? "." : "", key);
    return deeper;
}

static int unknown_key(const struct place *at, const struct key *keys, size_t count)
{
    char list[256] = "";
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(list);
        (void)snprintf(list + len, sizeof list - len, "%s%s", i > 0 ? ", " : "", keys[i].name);
    }
    (void)snprintf(at->why, LEAT_CONFIG_WHY_MAX, "%s: %s: unknown key; expected one of: %s",
                   at->file, at->path, list);
    return LEAT_E_INVALID;
}

static int read_object(struct leat_config *c, const struct place *at, const leat_json *object,
                       const struct key *keys, size_t count)
{
    if (leat_json_type_of(object) != LEAT_JSON_OBJECT) {
        return expected(at, "an object", object);
    }
    for (const leat_json *m = leat_json_first(object); m != NULL; m = leat_json_next(m)) {
        struct place here = inside(at, leat_json_key(m));
        size_t i = 0;
        while (i < count && strcmp(keys[i].name, leat_json_key(m)) != 0) {
            i++;
        }
        int error = i < count ? keys[i].read(c, &here, m) : unknown_key(&here, keys, count);
        if (error != 0) {
            return error;
        }
    }
    return 0;
}

/* ---- scalars ---- */

static int read_integer(const struct place *at, const leat_json *j, int64_t least, int64_t most,
                        int64_t *out)
{
    char what[64];
    (void)snprintf(what, sizeof what, "an integer from %lld to %lld", (long long)least,
                   (long long)most);
    if (!leat_json_int(j, out)) {
        return expected(at, what, j);
    }
    if (*out < least || *out > most) {
        (void)snprintf(at->why, LEAT_CONFIG_WHY_MAX, "%s: %s: expected %s, got %lld", at->file,
                       at->path, what, (long long)*out);
        return LEAT_E_INVALID;
    }
    return 0;
}

static int read_string(const struct place *at, const leat_json *j, const char *what, char *out,
                       size_t cap)
{
    struct leat_span text;
    if (!leat_json_string(j, &text)) {
        return expected(at, what, j);
    }
    if (text.len == 0 || !leat_text_copy(out, cap, text)) {
        return complain(at, "expected a text that is not empty and not over 500 octets");
    }
    return 0;
}

static bool is_text(const leat_json *j, const char *text)
{
    struct leat_span s;
    return leat_json_string(j, &s) && leat_span_equal(s, leat_span_str(text));
}

/* ---- top level ---- */

static int read_socket(struct leat_config *c, const struct place *at, const leat_json *j)
{
    return read_string(at, j, "a path", c->socket, sizeof c->socket);
}

static int read_control(struct leat_config *c, const struct place *at, const leat_json *j)
{
    static const struct key keys[] = {{"socket", read_socket}};
    return read_object(c, at, j, keys, LEAT_ARRAY_LEN(keys));
}

static int read_port_number(const struct place *at, const leat_json *j, uint16_t *out)
{
    int64_t v = 0;
    int error = read_integer(at, j, 1, 65535, &v);
    *out = (uint16_t)v;
    return error;
}

static int read_port(struct leat_config *c, const struct place *at, const leat_json *j)
{
    return read_port_number(at, j, &c->port);
}

/** {"address": "...", "port": N} with the keys in `allowed`. */
static int read_address(const struct place *at, const leat_json *j, bool may_announce,
                        struct leat_addr *out)
{
    if (leat_json_type_of(j) != LEAT_JSON_OBJECT) {
        return expected(at, "an object with address and port", j);
    }
    for (const leat_json *m = leat_json_first(j); m != NULL; m = leat_json_next(m)) {
        const char *key = leat_json_key(m);
        if (strcmp(key, "address") != 0 && strcmp(key, "port") != 0 &&
            !(may_announce && strcmp(key, "announce") == 0)) {
            struct place here = inside(at, key);
            return complain(&here, may_announce
                                       ? "unknown key; expected one of: address, port, announce"
                                       : "unknown key; expected one of: address, port");
        }
    }
    char text[LEAT_ADDR_TEXT_MAX];
    struct place here = inside(at, "address");
    const leat_json *address = leat_json_get(j, "address");
    if (address == NULL) {
        return expected(&here, "an IPv4 or IPv6 address", NULL);
    }
    int error = read_string(&here, address, "an IPv4 or IPv6 address", text, sizeof text);
    if (error != 0) {
        return error;
    }
    uint16_t port = 0;
    here = inside(at, "port");
    const leat_json *number = leat_json_get(j, "port");
    if (number == NULL) {
        return expected(&here, "an integer from 1 to 65535", NULL);
    }
    error = read_port_number(&here, number, &port);
    if (error == 0 && leat_addr_parse(out, text, port) != 0) {
        here = inside(at, "address");
        error = complain(
            &here, "expected an IPv4 or IPv6 address, such as \"192.0.2.1\" or \"2001:db8::1\"");
    }
    return error;
}

static int read_announce(const struct place *at, const leat_json *list,
                         struct leat_config_listen *listen)
{
    if (leat_json_type_of(list) != LEAT_JSON_ARRAY) {
        return expected(at, "an array of {address, port}", list);
    }
    for (const leat_json *m = leat_json_first(list); m != NULL; m = leat_json_next(m)) {
        char index[16];
        (void)snprintf(index, sizeof index, "[%zu]", listen->announce_count);
        struct place here = inside(at, index);
        if (listen->announce_count == LEAT_SDP_CANDIDATES_MAX) {
            return complain(&here, "expected at most 32 addresses");
        }
        int error = read_address(&here, m, false, &listen->announce[listen->announce_count]);
        if (error != 0) {
            return error;
        }
        if (leat_addr_is_unspecified(&listen->announce[listen->announce_count])) {
            return complain(&here, "expected an address that a client can reach, not a wildcard");
        }
        listen->announce_count++;
    }
    return 0;
}

static int read_listen_one(const struct place *at, const leat_json *j,
                           struct leat_config_listen *listen)
{
    int error = read_address(at, j, true, &listen->addr);
    if (error != 0) {
        return error;
    }
    const leat_json *announce = leat_json_get(j, "announce");
    if (announce != NULL) {
        struct place here = inside(at, "announce");
        return read_announce(&here, announce, listen);
    }
    if (leat_addr_is_unspecified(&listen->addr)) {
        struct place here = inside(at, "announce");
        return complain(
            &here,
            "expected the addresses that clients shall use, since the socket's own is a wildcard");
    }
    listen->announce[0] = listen->addr;
    listen->announce_count = 1;
    return 0;
}

static int read_listen(struct leat_config *c, const struct place *at, const leat_json *j)
{
    if (is_text(j, "auto")) {
        c->is_listen_auto = true;
        return 0;
    }
    if (leat_json_type_of(j) != LEAT_JSON_ARRAY || leat_json_count(j) == 0) {
        return expected(at, "\"auto\" or an array of {address, port, announce}", j);
    }
    c->is_listen_auto = false;
    c->listen_count = 0;
    for (const leat_json *m = leat_json_first(j); m != NULL; m = leat_json_next(m)) {
        char index[16];
        (void)snprintf(index, sizeof index, "[%zu]", c->listen_count);
        struct place here = inside(at, index);
        if (c->listen_count == LEAT_CONFIG_LISTEN_MAX) {
            return complain(&here, "expected at most 8 sockets");
        }
        memset(&c->listen[c->listen_count], 0, sizeof c->listen[0]);
        int error = read_listen_one(&here, m, &c->listen[c->listen_count]);
        if (error != 0) {
            return error;
        }
        c->listen_count++;
    }
    return 0;
}

static int read_workers(struct leat_config *c, const struct place *at, const leat_json *j)
{
    int64_t v = 0;
    if (is_text(j, "auto")) {
        c->workers = 0;
        return 0;
    }
    if (!leat_json_int(j, &v)) {
        return expected(at, "\"auto\" or an integer from 1 to 64", j);
    }
    int error = read_integer(at, j, 1, 64, &v);
    c->workers = (unsigned)v;
    return error;
}

static int read_log_level(struct leat_config *c, const struct place *at, const leat_json *j)
{
    char text[16];
    int error = read_string(at, j, "\"error\", \"warn\", \"info\" or \"debug\"", text, sizeof text);
    if (error == 0 && !leat_log_level_parse(text, &c->log_level)) {
        error = complain(at, "expected \"error\", \"warn\", \"info\" or \"debug\"");
    }
    return error;
}

static int read_log(struct leat_config *c, const struct place *at, const leat_json *j)
{
    static const struct key keys[] = {{"level", read_log_level}};
    return read_object(c, at, j, keys, LEAT_ARRAY_LEN(keys));
}

/* ---- dtls, srtp ---- */

static int read_certificate(struct leat_config *c, const struct place *at, const leat_json *j)
{
    return read_string(at, j, "a PEM file", c->certificate, sizeof c->certificate);
}

static int read_key(struct leat_config *c, const struct place *at, const leat_json *j)
{
    return read_string(at, j, "a PEM file", c->key, sizeof c->key);
}

static int read_setup(struct leat_config *c, const struct place *at, const leat_json *j)
{
    if (is_text(j, "auto")) {
        c->policy.setup = LEAT_SETUP_NONE;
    } else if (is_text(j, "active")) {
        c->policy.setup = LEAT_SETUP_ACTIVE;
    } else if (is_text(j, "passive")) {
        c->policy.setup = LEAT_SETUP_PASSIVE;
    } else {
        return complain(at, "expected \"auto\", \"active\" or \"passive\"");
    }
    return 0;
}

static int read_handshakes(struct leat_config *c, const struct place *at, const leat_json *j)
{
    int64_t v = 0;
    int error = read_integer(at, j, 1, 64, &v);
    c->handshakes = (unsigned)v;
    return error;
}

static int read_key_exchange(struct leat_config *c, const struct place *at, const leat_json *j)
{
    if (!is_text(j, "auto") && !is_text(j, "mbedtls")) {
        return complain(at, "expected \"auto\" or \"mbedtls\"");
    }
    c->is_key_exchange_plain = is_text(j, "mbedtls");
    return 0;
}

static int read_backend(struct leat_config *c, const struct place *at, const leat_json *j)
{
    if (!is_text(j, "mbedtls") && !is_text(j, "openssl")) {
        return complain(at, "expected \"mbedtls\" or \"openssl\"");
    }
    c->backend = is_text(j, "openssl") ? LEAT_DTLS_OPENSSL : LEAT_DTLS_MBEDTLS;
    if (leat_dtls_library_version(c->backend) == NULL) {
        return complain(at, "this build has no OpenSSL; expected \"mbedtls\"");
    }
    return 0;
}

static int read_dtls(struct leat_config *c, const struct place *at, const leat_json *j)
{
    static const struct key keys[] = {{"certificate", read_certificate},
                                      {"key", read_key},
                                      {"setup", read_setup},
                                      {"handshakes", read_handshakes},
                                      {"backend", read_backend},
                                      {"key_exchange", read_key_exchange}};
    int error = read_object(c, at, j, keys, LEAT_ARRAY_LEN(keys));
    if (error == 0 && (c->certificate[0] != '\0') != (c->key[0] != '\0')) {
        error = complain(at, "expected certificate and key together, or neither");
    }
    return error;
}

static int read_profiles(struct leat_config *c, const struct place *at, const leat_json *j)
{
    static const char what[] = "an array of AEAD_AES_128_GCM, AEAD_AES_256_GCM, AES128_CM_SHA1_80 "
                               "and AES128_CM_SHA1_32 in order of preference";
    if (leat_json_type_of(j) != LEAT_JSON_ARRAY || leat_json_count(j) == 0) {
        return expected(at, what, j);
    }
    c->profile_count = 0;
    for (const leat_json *m = leat_json_first(j); m != NULL; m = leat_json_next(m)) {
        struct leat_span text;
        enum leat_srtp_profile profile =
            leat_json_string(m, &text) ? leat_srtp_profile_from_text(text) : LEAT_SRTP_PROFILE_NONE;
        if (profile == LEAT_SRTP_PROFILE_NONE || c->profile_count == LEAT_SRTP_PROFILES_MAX) {
            return expected(at, what, m);
        }
        c->profiles[c->profile_count++] = profile;
    }
    return 0;
}

static int read_srtp(struct leat_config *c, const struct place *at, const leat_json *j)
{
    static const struct key keys[] = {{"profiles", read_profiles}};
    return read_object(c, at, j, keys, LEAT_ARRAY_LEN(keys));
}

/* ---- crypto ---- */

/* One of the words, or "auto", which is kept as "". */
static int read_word(const struct place *at, const leat_json *j, const char *const *words,
                     size_t word_count, const char *what, char *out, size_t cap)
{
    struct leat_span text;
    if (is_text(j, "auto")) {
        out[0] = '\0';
        return 0;
    }
    for (size_t i = 0; i < word_count; i++) {
        if (is_text(j, words[i]) && leat_json_string(j, &text) && leat_text_copy(out, cap, text)) {
            return 0;
        }
    }
    return expected(at, what, j);
}

static int read_crypto_provider(struct leat_config *c, const struct place *at, const leat_json *j)
{
    static const char *const words[] = {"mbedtls", "openssl", "ipsecmb"};
    return read_word(at, j, words, LEAT_ARRAY_LEN(words),
                     "\"auto\", \"mbedtls\", \"openssl\" or \"ipsecmb\"", c->crypto_provider,
                     sizeof c->crypto_provider);
}

static int read_crypto_level(struct leat_config *c, const struct place *at, const leat_json *j)
{
    static const char *const words[] = {"avx512", "avx2", "sse", "none"};
    return read_word(at, j, words, LEAT_ARRAY_LEN(words),
                     "\"auto\", \"avx512\", \"avx2\", \"sse\" or \"none\"", c->crypto_level,
                     sizeof c->crypto_level);
}

static int read_crypto(struct leat_config *c, const struct place *at, const leat_json *j)
{
    static const struct key keys[] = {{"provider", read_crypto_provider},
                                      {"level", read_crypto_level}};
    return read_object(c, at, j, keys, LEAT_ARRAY_LEN(keys));
}

/* ---- codecs ---- */

static int read_codec_name(struct leat_codec *codec, const struct place *at, const leat_json *j)
{
    const leat_json *name = leat_json_get(j, "name");
    struct leat_span text;
    struct place here = inside(at, "name");
    if (name == NULL || !leat_json_string(name, &text)) {
        return expected(&here, "a codec name", name);
    }
    codec->name = leat_codec_from_text(text);
    return codec->name != LEAT_CODEC_UNKNOWN
               ? 0
               : complain(&here, "expected one of: opus, PCMU, PCMA, G722, VP8, VP9, H264, AV1");
}

static int read_codec(struct leat_codec *codec, const struct place *at, const leat_json *j)
{
    int64_t v = 0;
    if (leat_json_type_of(j) != LEAT_JSON_OBJECT) {
        return expected(at, "an object such as {\"name\": \"VP8\"}", j);
    }
    for (const leat_json *m = leat_json_first(j); m != NULL; m = leat_json_next(m)) {
        const char *key = leat_json_key(m);
        struct place here = inside(at, key);
        int error = 0;
        if (strcmp(key, "clock") == 0) {
            error = read_integer(&here, m, 1, 1000000, &v);
            codec->clock_hz = (uint32_t)v;
        } else if (strcmp(key, "channels") == 0) {
            error = read_integer(&here, m, 1, 8, &v);
            codec->channels = (uint8_t)v;
        } else if (strcmp(key, "parameters") == 0) {
            error = read_string(&here, m, "format parameters", codec->fmtp, sizeof codec->fmtp);
        } else if (strcmp(key, "name") != 0) {
            error =
                complain(&here, "unknown key; expected one of: name, clock, channels, parameters");
        }
        if (error != 0) {
            return error;
        }
    }
    return read_codec_name(codec, at, j);
}

static int read_codecs(struct leat_config *c, const struct place *at, const leat_json *j)
{
    if (leat_json_type_of(j) != LEAT_JSON_ARRAY) {
        return expected(at, "an array of codecs", j);
    }
    c->policy.codec_count = 0;
    for (const leat_json *m = leat_json_first(j); m != NULL; m = leat_json_next(m)) {
        char index[16];
        (void)snprintf(index, sizeof index, "[%zu]", c->policy.codec_count);
        struct place here = inside(at, index);
        if (c->policy.codec_count == LEAT_CODECS_MAX) {
            return complain(&here, "expected at most 16 codecs");
        }
        struct leat_codec *codec = &c->policy.codecs[c->policy.codec_count];
        memset(codec, 0, sizeof *codec);
        int error = read_codec(codec, &here, m);
        if (error != 0) {
            return error;
        }
        c->policy.codec_count++;
    }
    return 0;
}

/* ---- limits ---- */

static int read_peers(struct leat_config *c, const struct place *at, const leat_json *j)
{
    int64_t v = 0;
    int error = read_integer(at, j, 1, 1000000, &v);
    c->peers_max = (size_t)v;
    return error;
}

static int read_ssrcs(struct leat_config *c, const struct place *at, const leat_json *j)
{
    int64_t v = 0;
    int error = read_integer(at, j, 1, 1024, &v);
    c->ssrcs_per_peer = (size_t)v;
    return error;
}

static int read_limits(struct leat_config *c, const struct place *at, const leat_json *j)
{
    static const struct key keys[] = {{"peers", read_peers}, {"ssrcs_per_peer", read_ssrcs}};
    return read_object(c, at, j, keys, LEAT_ARRAY_LEN(keys));
}

static int read_receive_buffer(struct leat_config *c, const struct place *at, const leat_json *j)
{
    int64_t v = 0;
    int error = read_integer(at, j, 65536, 1073741824, &v);
    c->receive_buffer = (size_t)v;
    return error;
}

static int read_gso(struct leat_config *c, const struct place *at, const leat_json *j)
{
    bool is_on = false;
    if (!leat_json_bool(j, &is_on)) {
        return expected(at, "true or false", j);
    }
    c->is_gso_off = !is_on;
    return 0;
}

static int read_seconds(const struct place *at, const leat_json *j, unsigned *out)
{
    int64_t v = 0;
    int error = read_integer(at, j, 0, 86400, &v);
    *out = (unsigned)v;
    return error;
}

static int read_ended_keep(struct leat_config *c, const struct place *at, const leat_json *j)
{
    return read_seconds(at, j, &c->ended_keep_s);
}

static int read_drain(struct leat_config *c, const struct place *at, const leat_json *j)
{
    return read_seconds(at, j, &c->drain_s);
}

/* ---- what only the whole can tell ---- */

static int check_port(const struct place *at, const char *key, uint16_t port, unsigned workers)
{
    struct place here = inside(at, key);
    if (port + workers - 1 <= UINT16_MAX) {
        return 0;
    }
    (void)snprintf(at->why, LEAT_CONFIG_WHY_MAX,
                   "%s: %s: worker %u would have port %u; expected one that leaves room for %u",
                   at->file, here.path, workers - 1, port + workers - 1, workers);
    return LEAT_E_INVALID;
}

static int check_listen(const struct leat_config_listen *l, const struct place *at,
                        unsigned workers)
{
    int error = check_port(at, "port", l->addr.port, workers);
    if (error == 0 && l->announce_count == 0) {
        struct place here = inside(at, "announce");
        return complain(&here, "expected at least one address, or clients know none");
    }
    if (error == 0 && leat_addr_is_link_local(&l->addr) && l->addr.scope == 0) {
        struct place here = inside(at, "address");
        return complain(&here, "expected a zone behind a link-local address, such as fe80::1%2");
    }
    for (size_t i = 0; error == 0 && i < l->announce_count; i++) {
        char key[48];
        (void)snprintf(key, sizeof key, "announce[%zu].port", i);
        error = check_port(at, key, l->announce[i].port, workers);
    }
    return error;
}

static int check_profiles(const struct leat_config *c, const struct place *at)
{
    struct place here = inside(at, "srtp.profiles");
    for (size_t i = 0; i < c->profile_count; i++) {
        if (!leat_dtls_backend_has_profile(c->backend, c->profiles[i])) {
            return complain(&here, "the mbedTLS backend cannot negotiate AEAD_AES_128_GCM or "
                                   "AEAD_AES_256_GCM (dtls.backend \"openssl\" can); expected "
                                   "AES128_CM_SHA1_80 or AES128_CM_SHA1_32");
        }
    }
    return 0;
}

static int check_whole(const struct leat_config *c, const struct place *at)
{
    unsigned workers = leat_config_workers(c);
    if (strlen(c->socket) > LEAT_UNIX_PATH_MAX) {
        struct place here = inside(at, "control.socket");
        return complain(&here, "expected a path of at most 107 octets (the system's limit)");
    }
    int error = check_profiles(c, at);
    if (error != 0) {
        return error;
    }
    if (c->is_listen_auto) {
        return check_port(at, "port", c->port, workers);
    }
    for (size_t i = 0; error == 0 && i < c->listen_count; i++) {
        char key[48];
        (void)snprintf(key, sizeof key, "listen[%zu]", i);
        struct place here = inside(at, key);
        error = check_listen(&c->listen[i], &here, workers);
    }
    return error;
}

/* ---- the whole ---- */

void leat_config_init(struct leat_config *c)
{
    memset(c, 0, sizeof *c);
    (void)leat_text_copy(c->socket, sizeof c->socket, leat_span_str("/run/leat/leatd.sock"));
    c->is_listen_auto = true;
    c->port = 3478;
    c->workers = 1;
    c->log_level = LEAT_LOG_INFO;
    c->handshakes = 2;
    c->profiles[0] = LEAT_SRTP_AES128_CM_SHA1_80;
    c->profiles[1] = LEAT_SRTP_AES128_CM_SHA1_32;
    c->profile_count = 2;
    c->peers_max = 10000;
    c->ssrcs_per_peer = 64;
    c->receive_buffer = 8388608;
    c->ended_keep_s = 60;
}

unsigned leat_config_workers(const struct leat_config *c)
{
    unsigned cpus = leat_cpu_count();
    if (c->workers != 0) {
        return c->workers;
    }
    return cpus < 2 ? 1 : cpus > LEAT_CONTROL_WORKERS_MAX ? LEAT_CONTROL_WORKERS_MAX : cpus - 1;
}

int leat_config_parse(struct leat_config *c, const char *file, struct leat_span text,
                      char why[static LEAT_CONFIG_WHY_MAX])
{
    static const struct key keys[] = {{"control", read_control},
                                      {"listen", read_listen},
                                      {"port", read_port},
                                      {"workers", read_workers},
                                      {"log", read_log},
                                      {"dtls", read_dtls},
                                      {"srtp", read_srtp},
                                      {"crypto", read_crypto},
                                      {"codecs", read_codecs},
                                      {"limits", read_limits},
                                      {"receive_buffer", read_receive_buffer},
                                      {"gso", read_gso},
                                      {"ended_keep_s", read_ended_keep},
                                      {"drain_s", read_drain}};
    char json_why[LEAT_JSON_WHY_MAX];
    c->file = file;
    leat_json *j = leat_json_parse_commented(text, json_why);
    if (j == NULL) {
        (void)snprintf(why, LEAT_CONFIG_WHY_MAX, "%s: %s", file, json_why);
        return LEAT_E_INVALID;
    }
    struct place at = {.file = file, .path = "", .why = why};
    int error = read_object(c, &at, j, keys, LEAT_ARRAY_LEN(keys));
    leat_json_free(j);
    return error == 0 ? check_whole(c, &at) : error;
}

int leat_file_read(const char *file, size_t max, uint8_t **out, size_t *len, char *why,
                   size_t why_cap)
{
    FILE *f = fopen(file, "rb");
    uint8_t *octets = f != NULL ? malloc(max + 1) : NULL;
    if (octets == NULL) {
        (void)snprintf(why, why_cap, "%s: %s", file, strerror(errno));
        if (f != NULL) {
            (void)fclose(f);
        }
        return LEAT_E_IO;
    }
    *len = fread(octets, 1, max + 1, f);
    int reason = ferror(f) != 0 ? errno : 0;
    (void)fclose(f);
    if (reason != 0 || *len > max) {
        (void)snprintf(why, why_cap, "%s: %s", file,
                       reason != 0 ? strerror(reason) : "is too large");
        free(octets);
        return LEAT_E_IO;
    }
    *out = octets;
    return 0;
}

int leat_config_load(struct leat_config *c, const char *file, char why[static LEAT_CONFIG_WHY_MAX])
{
    uint8_t *text = NULL;
    size_t len = 0;
    int error = leat_file_read(file, LEAT_JSON_LINE_MAX, &text, &len, why, LEAT_CONFIG_WHY_MAX);
    if (error != 0) {
        return error;
    }
    error = leat_config_parse(c, file, leat_span(text, len), why);
    free(text);
    return error;
}
