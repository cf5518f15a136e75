/* SPDX-License-Identifier: MIT */
/**
 * @file  Transport addresses and tuples, canonical: an IPv4-mapped IPv6 address is stored as IPv4
 *        (RFC 4291 2.5.5.2), unused octets are zero, so equality is memory equality.
 * @module base
 */
#ifndef LEAT_ADDR_H
#define LEAT_ADDR_H

#include <leat/bytes.h>

enum leat_family { LEAT_FAMILY_NONE = 0, LEAT_FAMILY_V4 = 4, LEAT_FAMILY_V6 = 6 };

struct leat_addr {
    uint8_t ip[16]; /**< IPv4 in the first four octets */
    uint32_t scope; /**< IPv6 zone index of a link-local address, else 0 */
    uint16_t port;  /**< host order */
    uint8_t family; /**< enum leat_family */
    uint8_t zero;
};

/** The pair that identifies where a datagram came from: our address first. */
struct leat_tuple {
    struct leat_addr local;
    struct leat_addr remote;
};

#define LEAT_ADDR_TEXT_MAX 64 /**< "[v6%zone]:port" and the terminator */

struct leat_addr leat_addr_v4(const uint8_t ip[static 4], uint16_t port);
/** Canonicalises ::ffff:a.b.c.d to IPv4; keeps the scope of a link-local address only. */
struct leat_addr leat_addr_v6(const uint8_t ip[static 16], uint16_t port, uint32_t scope);
bool leat_addr_equal(const struct leat_addr *a, const struct leat_addr *b);
bool leat_tuple_equal(const struct leat_tuple *a, const struct leat_tuple *b);
/** Numeric IPv4 or IPv6 text without port or brackets; a zone is a number. @return 0 or
 * LEAT_E_INVALID. */
int leat_addr_parse(struct leat_addr *out, const char *ip_text, uint16_t port);
/** "127.0.0.1:5000" or "[::1]:5000" into out, "-:0" for no address. @return out. */
const char *leat_addr_format(const struct leat_addr *a, char out[static LEAT_ADDR_TEXT_MAX]);
/** The address alone, without port and brackets. @return out. */
const char *leat_addr_format_ip(const struct leat_addr *a, char out[static LEAT_ADDR_TEXT_MAX]);
bool leat_addr_is_loopback(const struct leat_addr *a);
bool leat_addr_is_link_local(const struct leat_addr *a);
bool leat_addr_is_unspecified(const struct leat_addr *a);

#endif
