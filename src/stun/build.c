/* SPDX-License-Identifier: MIT */
/*
 * Writing STUN messages. The caller's writer starts at the message; every octet up to the returned
 * length is written here, paddings as zeros, so that memory which held other traffic shows nothing
 * of it. The header's length is set twice at the end: once for what MESSAGE-INTEGRITY covers, once
 * for what FINGERPRINT covers (RFC 8489 14.5, 14.7).
 */
#include <leat/stun.h>

#include "attr.h"

static void write_attr_header(struct leat_writer *w, uint16_t type, size_t len)
{
    leat_write_u16(w, type);
    leat_write_u16(w, (uint16_t)len);
}

static void write_padding(struct leat_writer *w, size_t len)
{
    leat_write_zeros(w, (4 - len % 4) % 4);
}

void leat_stun_begin(struct leat_writer *w, enum leat_stun_class class_, uint16_t method,
                     const uint8_t tid[static LEAT_STUN_TID_LEN])
{
    unsigned bits = (unsigned)class_;
    unsigned type = (method & 0x000fu) | ((method & 0x0070u) << 1) | ((method & 0x0f80u) << 2) |
                    ((bits & 1) << 4) | ((bits & 2) << 7);
    leat_write_u16(w, (uint16_t)type);
    leat_write_u16(w, 0);
    leat_write_u32(w, LEAT__STUN_COOKIE);
    leat_write_bytes(w, tid, LEAT_STUN_TID_LEN);
}

void leat_stun_add_username(struct leat_writer *w, struct leat_span local, struct leat_span remote)
{
    size_t len = local.len + 1 + remote.len;
    if (len > LEAT__STUN_USERNAME_MAX) {
        w->failed = true;
        return;
    }
    write_attr_header(w, LEAT__STUN_ATTR_USERNAME, len);
    leat_write_bytes(w, local.data, local.len);
    leat_write_u8(w, ':');
    leat_write_bytes(w, remote.data, remote.len);
    write_padding(w, len);
}

void leat_stun_add_u32(struct leat_writer *w, uint16_t type, uint32_t value)
{
    write_attr_header(w, type, 4);
    leat_write_u32(w, value);
}

void leat_stun_add_u64(struct leat_writer *w, uint16_t type, uint64_t value)
{
    write_attr_header(w, type, 8);
    leat_write_u64(w, value);
}

void leat_stun_add_flag(struct leat_writer *w, uint16_t type)
{
    write_attr_header(w, type, 0);
}

void leat_stun_add_xor_mapped(struct leat_writer *w, const struct leat_addr *addr,
                              const uint8_t tid[static LEAT_STUN_TID_LEN])
{
    bool is_v4 = addr->family == LEAT_FAMILY_V4;
    size_t ip_len = is_v4 ? 4 : 16;
    uint8_t mask[16];
    leat_put_u32(mask, LEAT__STUN_COOKIE);
    memcpy(mask + 4, tid, LEAT_STUN_TID_LEN);
    write_attr_header(w, LEAT__STUN_ATTR_XOR_MAPPED, 4 + ip_len);
    leat_write_u8(w, 0);
    leat_write_u8(w, is_v4 ? 1 : 2);
    leat_write_u16(w, (uint16_t)(addr->port ^ (LEAT__STUN_COOKIE >> 16)));
    for (size_t i = 0; i < ip_len; i++) {
        leat_write_u8(w, addr->ip[i] ^ mask[i]);
    }
}

void leat_stun_add_error(struct leat_writer *w, uint16_t code, const char *reason)
{
    size_t len = 4 + strlen(reason);
    write_attr_header(w, LEAT__STUN_ATTR_ERROR_CODE, len);
    leat_write_u16(w, 0);
    leat_write_u8(w, (uint8_t)(code / 100));
    leat_write_u8(w, (uint8_t)(code % 100));
    leat_write_bytes(w, reason, len - 4);
    write_padding(w, len);
}

void leat_stun_add_unknown(struct leat_writer *w, const uint16_t *types, size_t count)
{
    write_attr_header(w, LEAT__STUN_ATTR_UNKNOWN, 2 * count);
    for (size_t i = 0; i < count; i++) {
        leat_write_u16(w, types[i]);
    }
    write_padding(w, 2 * count);
}

/** Make the header's length end `more` octets behind what is written. */
static void set_length(struct leat_writer *w, size_t more)
{
    size_t len = leat_writer_len(w) + more - LEAT__STUN_HEADER_LEN;
    if (len > UINT16_MAX) {
        w->failed = true;
    }
    leat_write_u16_at(w, 2, (uint16_t)len);
}

size_t leat_stun_end(struct leat_writer *w, const struct leat_hmac_sha1 *key)
{
    if (w->failed || leat_writer_len(w) < LEAT__STUN_HEADER_LEN) {
        return 0;
    }
    if (key != NULL) {
        uint8_t tag[LEAT__STUN_INTEGRITY_LEN];
        set_length(w, 4 + sizeof(tag));
        const struct leat_span covered = leat_span(w->start, leat_writer_len(w));
        leat_hmac_sha1(key, &covered, 1, tag);
        write_attr_header(w, LEAT__STUN_ATTR_INTEGRITY, sizeof(tag));
        leat_write_bytes(w, tag, sizeof(tag));
    }
    set_length(w, 8);
    uint32_t crc = leat_crc32(0, w->start, leat_writer_len(w));
    leat_stun_add_u32(w, LEAT__STUN_ATTR_FINGERPRINT, crc ^ LEAT__STUN_FINGERPRINT_XOR);
    return w->failed ? 0 : leat_writer_len(w);
}
