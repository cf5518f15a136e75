/* SPDX-License-Identifier: MIT */
/*
 * Reading STUN messages (RFC 8489 5, 6.3, 14).
 *
 *      0 .. 19   header: type, length of all that follows, cookie, transaction id
 *     20 ..      attributes: type, length, value, padding to 4 octets (the length is without it)
 *      M ..      MESSAGE-INTEGRITY: HMAC-SHA1 over 0 .. M-1 with the header's length set as if the
 *                message ended after it
 *      F ..      FINGERPRINT, always the last eight octets: CRC-32 over 0 .. F-1 as sent
 *
 * The walk is one bounds-checked cursor over exactly the datagram, so a length inside it can lie
 * about nothing outside. Values are taken by type as they pass; the first of a repeated attribute
 * counts. What stands between MESSAGE-INTEGRITY and FINGERPRINT is not covered by the HMAC and is
 * ignored. Left out: MESSAGE-INTEGRITY-SHA256 and the long-term credential, which ICE does not use;
 * their attributes are known, so that they do not count as unknown ones.
 */
#include <leat/stun.h>

#include "attr.h"

static bool read_header(struct leat_stun_msg *m, struct leat_reader *r)
{
    uint16_t type = leat_read_u16(r);
    uint16_t length = leat_read_u16(r);
    uint32_t cookie = leat_read_u32(r);
    m->tid = leat_read_span(r, LEAT_STUN_TID_LEN).data;
    if (r->failed || (type & 0xc000) != 0 || cookie != LEAT__STUN_COOKIE || length % 4 != 0 ||
        length != leat_reader_left(r)) {
        return false;
    }
    /* The two class bits stand inside the method's bits (RFC 8489 figure 3). */
    m->class_ = (enum leat_stun_class)(((type >> 4) & 1) | ((type >> 7) & 2));
    m->method = (uint16_t)((type & 0x000f) | ((type & 0x00e0) >> 1) | ((type & 0x3e00) >> 2));
    return true;
}

static bool take_xor_mapped(struct leat_stun_msg *m, struct leat_span value)
{
    struct leat_reader r;
    uint8_t mask[16];
    uint8_t ip[16];
    leat_reader_init(&r, value.data, value.len);
    leat_read_skip(&r, 1);
    uint8_t family = leat_read_u8(&r);
    uint16_t port = leat_read_u16(&r);
    size_t ip_len = leat_reader_left(&r);
    if (r.failed || !((family == 1 && ip_len == 4) || (family == 2 && ip_len == 16))) {
        return false;
    }
    struct leat_span masked = leat_read_span(&r, ip_len);
    memcpy(mask, m->raw.data + 4, sizeof(mask)); /* cookie and transaction id */
    for (size_t i = 0; i < ip_len; i++) {
        ip[i] = masked.data[i] ^ mask[i];
    }
    port = (uint16_t)(port ^ (LEAT__STUN_COOKIE >> 16));
    if (!m->has_mapped) {
        m->mapped = family == 1 ? leat_addr_v4(ip, port) : leat_addr_v6(ip, port, 0);
        m->has_mapped = true;
    }
    return true;
}

static bool take_error_code(struct leat_stun_msg *m, struct leat_span value)
{
    struct leat_reader r;
    leat_reader_init(&r, value.data, value.len);
    leat_read_skip(&r, 2);
    uint8_t hundreds = leat_read_u8(&r) & 7;
    uint8_t rest = leat_read_u8(&r);
    if (r.failed || hundreds < 3 || hundreds > 6 || rest > 99) {
        return false;
    }
    if (m->error_code == 0) {
        m->error_code = (uint16_t)(hundreds * 100 + rest);
    }
    return true;
}

static bool take_priority(struct leat_stun_msg *m, struct leat_span value)
{
    if (value.len != 4) {
        return false;
    }
    if (!m->has_priority) {
        m->priority = leat_get_u32(value.data);
        m->has_priority = true;
    }
    return true;
}

static bool take_role(struct leat_stun_msg *m, bool *has_role, struct leat_span value)
{
    if (value.len != 8) {
        return false;
    }
    if (!m->has_controlling && !m->has_controlled) {
        m->tie_breaker = leat_get_u64(value.data);
    }
    *has_role = true;
    return true;
}

static void note_unknown(struct leat_stun_msg *m, uint16_t type)
{
    for (size_t i = 0; i < m->unknown_count; i++) {
        if (m->unknown[i] == type) {
            return;
        }
    }
    if (m->unknown_count < LEAT_STUN_UNKNOWN_MAX) {
        m->unknown[m->unknown_count++] = type;
    }
}

/** One attribute that MESSAGE-INTEGRITY covers, or that attribute itself. */
static bool take_attribute(struct leat_stun_msg *m, uint16_t type, struct leat_span value,
                           size_t offset)
{
    switch (type) {
    case LEAT__STUN_ATTR_USERNAME:
        if (m->username.data == NULL) {
            m->username = value;
        }
        return value.len <= LEAT__STUN_USERNAME_MAX;
    case LEAT__STUN_ATTR_INTEGRITY:
        m->integrity_offset = offset;
        return value.len == LEAT__STUN_INTEGRITY_LEN;
    case LEAT__STUN_ATTR_ERROR_CODE:
        return take_error_code(m, value);
    case LEAT__STUN_ATTR_XOR_MAPPED:
        return take_xor_mapped(m, value);
    case LEAT_STUN_ATTR_PRIORITY:
        return take_priority(m, value);
    case LEAT_STUN_ATTR_USE_CANDIDATE:
        m->use_candidate = true;
        return value.len == 0;
    case LEAT_STUN_ATTR_ICE_CONTROLLED:
        return take_role(m, &m->has_controlled, value);
    case LEAT_STUN_ATTR_ICE_CONTROLLING:
        return take_role(m, &m->has_controlling, value);
    case LEAT__STUN_ATTR_MAPPED_ADDRESS:
    case LEAT__STUN_ATTR_UNKNOWN:
    case LEAT__STUN_ATTR_REALM:
    case LEAT__STUN_ATTR_NONCE:
    case LEAT__STUN_ATTR_INTEGRITY_SHA256:
    case LEAT__STUN_ATTR_PASSWORD_ALGORITHM:
    case LEAT__STUN_ATTR_USERHASH:
        return true; /* known but not expected: ignored (RFC 8489 6.3) */
    default:
        if (type < 0x8000) {
            note_unknown(m, type);
        }
        return true;
    }
}

static bool read_attribute(struct leat_stun_msg *m, struct leat_reader *r)
{
    size_t offset = leat_reader_offset(r);
    uint16_t type = leat_read_u16(r);
    uint16_t len = leat_read_u16(r);
    struct leat_span value = leat_read_span(r, len);
    leat_read_skip(r, (4u - len % 4u) % 4u);
    if (r->failed) {
        return false;
    }
    if (type == LEAT__STUN_ATTR_FINGERPRINT) {
        m->has_fingerprint = true;
        return len == 4 && leat_reader_left(r) == 0;
    }
    if (m->integrity_offset != 0) {
        return true;
    }
    return take_attribute(m, type, value, offset);
}

enum leat_stun_verdict leat_stun_parse(struct leat_stun_msg *m, struct leat_span datagram)
{
    struct leat_reader r;
    *m = (struct leat_stun_msg){.raw = datagram};
    leat_reader_init(&r, datagram.data, datagram.len);
    if (!read_header(m, &r)) {
        return LEAT_STUN_MALFORMED;
    }
    while (leat_reader_left(&r) != 0) {
        if (!read_attribute(m, &r)) {
            return LEAT_STUN_MALFORMED;
        }
    }
    if (m->has_fingerprint) {
        size_t covered = datagram.len - 8;
        uint32_t crc = leat_crc32(0, datagram.data, covered) ^ LEAT__STUN_FINGERPRINT_XOR;
        if (crc != leat_get_u32(datagram.data + covered + 4)) {
            return LEAT_STUN_BAD_FINGERPRINT;
        }
    }
    return LEAT_STUN_OK;
}

bool leat_stun_check_integrity(const struct leat_stun_msg *m, const struct leat_hmac_sha1 *key)
{
    if (m->integrity_offset == 0) {
        return false;
    }
    const uint8_t *raw = m->raw.data;
    size_t end = m->integrity_offset + 4 + LEAT__STUN_INTEGRITY_LEN;
    uint8_t head[4] = {raw[0], raw[1]};
    uint8_t tag[LEAT__STUN_INTEGRITY_LEN];
    leat_put_u16(head + 2, (uint16_t)(end - LEAT__STUN_HEADER_LEN));
    const struct leat_span parts[] = {leat_span(head, sizeof(head)),
                                      leat_span(raw + 4, m->integrity_offset - 4)};
    leat_hmac_sha1(key, parts, LEAT_ARRAY_LEN(parts), tag);
    return leat_equal_ct(tag, raw + m->integrity_offset + 4, sizeof(tag));
}

bool leat_stun_split_username(struct leat_span username, struct leat_span *local,
                              struct leat_span *remote)
{
    const uint8_t *colon = username.len != 0 ? memchr(username.data, ':', username.len) : NULL;
    if (colon == NULL) {
        return false;
    }
    size_t at = (size_t)(colon - username.data);
    *local = leat_span(username.data, at);
    *remote = leat_span(colon + 1, username.len - at - 1);
    return local->len != 0 && remote->len != 0;
}
