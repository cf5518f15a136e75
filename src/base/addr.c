/* SPDX-License-Identifier: MIT */
/*
 * Addresses in one canonical form. Whatever enters goes through leat_addr_v4 or leat_addr_v6, which
 * clear what is unused, so that tables may hash and compare the structure as octets. Zones are
 * numbers: a name such as "eth0" means something on one host only, and remote candidates never
 * carry one.
 */
#include <leat/addr.h>
#include <leat/error.h>

#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>

static_assert(sizeof(struct leat_addr) == 24, "an address is compared as octets: no padding");
static_assert(sizeof(struct leat_tuple) == 48, "a tuple is compared as octets: no padding");

static const uint8_t mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

struct leat_addr leat_addr_v4(const uint8_t ip[static 4], uint16_t port)
{
    struct leat_addr a = {.port = port, .family = LEAT_FAMILY_V4};
    memcpy(a.ip, ip, 4);
    return a;
}

struct leat_addr leat_addr_v6(const uint8_t ip[static 16], uint16_t port, uint32_t scope)
{
    if (memcmp(ip, mapped_prefix, sizeof(mapped_prefix)) == 0) {
        return leat_addr_v4(ip + 12, port);
    }
    struct leat_addr a = {.port = port, .family = LEAT_FAMILY_V6};
    memcpy(a.ip, ip, 16);
    /* Kernels fill in a zone for global addresses too, at times; the same remote must stay one key.
     */
    a.scope = leat_addr_is_link_local(&a) ? scope : 0;
    return a;
}

bool leat_addr_equal(const struct leat_addr *a, const struct leat_addr *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

bool leat_tuple_equal(const struct leat_tuple *a, const struct leat_tuple *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

/** Decimal digits up to the end of the text. */
static bool parse_zone(const char *text, uint32_t *out)
{
    uint64_t zone = 0;
    if (*text == '\0') {
        return false;
    }
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9') {
            return false;
        }
        zone = zone * 10 + (uint64_t)(*text - '0');
        if (zone > UINT32_MAX) {
            return false;
        }
    }
    *out = (uint32_t)zone;
    return true;
}

int leat_addr_parse(struct leat_addr *out, const char *ip_text, uint16_t port)
{
    uint8_t ip[16];
    if (inet_pton(AF_INET, ip_text, ip) == 1) {
        *out = leat_addr_v4(ip, port);
        return LEAT_OK;
    }
    char text[INET6_ADDRSTRLEN];
    uint32_t scope = 0;
    size_t len = strcspn(ip_text, "%");
    if (!leat_text_copy(text, sizeof(text), leat_span(ip_text, len)) ||
        (ip_text[len] == '%' && !parse_zone(ip_text + len + 1, &scope)) ||
        inet_pton(AF_INET6, text, ip) != 1) {
        return LEAT_E_INVALID;
    }
    *out = leat_addr_v6(ip, port, scope);
    return LEAT_OK;
}

const char *leat_addr_format_ip(const struct leat_addr *a, char out[static LEAT_ADDR_TEXT_MAX])
{
    char text[INET6_ADDRSTRLEN] = "-";
    if (a->family != LEAT_FAMILY_NONE) {
        (void)inet_ntop(a->family == LEAT_FAMILY_V4 ? AF_INET : AF_INET6, a->ip, text,
                        sizeof(text));
    }
    if (a->scope != 0) {
        (void)snprintf(out, LEAT_ADDR_TEXT_MAX, "%s%%%u", text, a->scope);
    } else {
        (void)snprintf(out, LEAT_ADDR_TEXT_MAX, "%s", text);
    }
    return out;
}

const char *leat_addr_format(const struct leat_addr *a, char out[static LEAT_ADDR_TEXT_MAX])
{
    char ip[LEAT_ADDR_TEXT_MAX];
    (void)leat_addr_format_ip(a, ip);
    const char *format = a->family == LEAT_FAMILY_V6 ? "[%.56s]:%u" : "%.56s:%u";
    (void)snprintf(out, LEAT_ADDR_TEXT_MAX, format, ip, a->port);
    return out;
}

bool leat_addr_is_loopback(const struct leat_addr *a)
{
    static const uint8_t loopback[16] = {[15] = 1};
    if (a->family == LEAT_FAMILY_V4) {
        return a->ip[0] == 127;
    }
    return a->family == LEAT_FAMILY_V6 && memcmp(a->ip, loopback, 16) == 0;
}

bool leat_addr_is_link_local(const struct leat_addr *a)
{
    if (a->family == LEAT_FAMILY_V4) {
        return a->ip[0] == 169 && a->ip[1] == 254;
    }
    return a->family == LEAT_FAMILY_V6 && a->ip[0] == 0xfe && (a->ip[1] & 0xc0) == 0x80;
}

bool leat_addr_is_unspecified(const struct leat_addr *a)
{
    static const uint8_t zeros[16];
    return a->family != LEAT_FAMILY_NONE && memcmp(a->ip, zeros, 16) == 0;
}
