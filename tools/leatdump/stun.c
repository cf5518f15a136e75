/* SPDX-License-Identifier: MIT */
/* STUN (RFC 8489): header and attributes as they stand, and what the parser thinks of the whole. */
#include <leat/stun.h>

#include "decode.h"

#define COOKIE 0x2112a442u

enum shape {
    SHAPE_HEX,
    SHAPE_TEXT,
    SHAPE_U32,
    SHAPE_FLAG,
    SHAPE_ADDR,
    SHAPE_XOR_ADDR,
    SHAPE_ERROR,
    SHAPE_TYPES
};

static const struct {
    uint16_t type;
    enum shape shape;
    const char *name;
} attributes[] = {
    {0x0001, SHAPE_ADDR, "MAPPED-ADDRESS"},
    {0x0006, SHAPE_TEXT, "USERNAME"},
    {0x0008, SHAPE_HEX, "MESSAGE-INTEGRITY"},
    {0x0009, SHAPE_ERROR, "ERROR-CODE"},
    {0x000a, SHAPE_TYPES, "UNKNOWN-ATTRIBUTES"},
    {0x000c, SHAPE_HEX, "CHANNEL-NUMBER"},
    {0x000d, SHAPE_U32, "LIFETIME"},
    {0x0012, SHAPE_XOR_ADDR, "XOR-PEER-ADDRESS"},
    {0x0013, SHAPE_HEX, "DATA"},
    {0x0014, SHAPE_TEXT, "REALM"},
    {0x0015, SHAPE_TEXT, "NONCE"},
    {0x0016, SHAPE_XOR_ADDR, "XOR-RELAYED-ADDRESS"},
    {0x001c, SHAPE_HEX, "MESSAGE-INTEGRITY-SHA256"},
    {0x0020, SHAPE_XOR_ADDR, "XOR-MAPPED-ADDRESS"},
    {0x0024, SHAPE_U32, "PRIORITY"},
    {0x0025, SHAPE_FLAG, "USE-CANDIDATE"},
    {0x8022, SHAPE_TEXT, "SOFTWARE"},
    {0x8023, SHAPE_ADDR, "ALTERNATE-SERVER"},
    {0x8028, SHAPE_HEX, "FINGERPRINT"},
    {0x8029, SHAPE_HEX, "ICE-CONTROLLED"},
    {0x802a, SHAPE_HEX, "ICE-CONTROLLING"},
    {0xc001, SHAPE_HEX, "NOMINATION"},
    {0xc057, SHAPE_HEX, "GOOG-NETWORK-INFO"},
    {0xc070, SHAPE_HEX, "META-DTLS-IN-STUN"},
    {0xc071, SHAPE_HEX, "META-DTLS-IN-STUN-ACK"},
};

static struct leat_addr read_addr(struct leat_span value, const uint8_t *header, bool is_xor)
{
    struct leat_reader r;
    uint8_t ip[16] = {0};
    leat_reader_init(&r, value.data, value.len);
    leat_read_skip(&r, 1);
    size_t len = leat_read_u8(&r) == 1 ? 4 : 16;
    uint16_t port = leat_read_u16(&r);
    struct leat_span octets = leat_read_span(&r, len);
    if (r.failed) {
        return (struct leat_addr){0};
    }
    for (size_t i = 0; i < len; i++) { /* cookie and transaction id, as they stand in the header */
        ip[i] = (uint8_t)(octets.data[i] ^ (is_xor ? header[4 + i] : 0));
    }
    port = (uint16_t)(port ^ (is_xor ? leat_get_u16(header + 4) : 0));
    return len == 4 ? leat_addr_v4(ip, port) : leat_addr_v6(ip, port, 0);
}

static void put_error(struct leat_dump_out *o, const char *name, struct leat_span value)
{
    struct leat_reader r;
    char text[160];
    leat_reader_init(&r, value.data, value.len);
    leat_read_skip(&r, 2);
    unsigned hundreds = leat_read_u8(&r) & 7u;
    unsigned number = leat_read_u8(&r);
    struct leat_span reason = leat_read_span(&r, leat_reader_left(&r));
    int len = snprintf(text, sizeof text, "%u %.*s", 100 * hundreds + number,
                       reason.len < 128 ? (int)reason.len : 128,
                       reason.len != 0 ? (const char *)reason.data : "");
    leat_dump_span(o, name, leat_span(text, len > 0 ? strlen(text) : 0));
}

static void put_types(struct leat_dump_out *o, const char *name, struct leat_span value)
{
    char text[8 * 7 + 1] = "";
    size_t at = 0;
    for (size_t i = 0; i + 2 <= value.len && i < 16; i += 2) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%04x", at != 0 ? "," : "",
                               leat_get_u16(value.data + i));
    }
    leat_dump_text(o, name, text);
}

static void put_value(struct leat_dump_out *o, const char *name, enum shape shape,
                      struct leat_span value, const uint8_t *header)
{
    struct leat_addr addr;
    switch (shape) {
    case SHAPE_TEXT:
        leat_dump_span(o, name, value);
        return;
    case SHAPE_U32:
        if (value.len == 4) {
            leat_dump_u64(o, name, leat_get_u32(value.data));
            return;
        }
        break;
    case SHAPE_FLAG:
        if (value.len == 0) {
            leat_dump_bool(o, name, true);
            return;
        }
        break;
    case SHAPE_ADDR:
    case SHAPE_XOR_ADDR:
        addr = read_addr(value, header, shape == SHAPE_XOR_ADDR);
        if (addr.family != LEAT_FAMILY_NONE) {
            leat_dump_addr(o, name, &addr);
            return;
        }
        break;
    case SHAPE_ERROR:
        if (value.len >= 4) {
            put_error(o, name, value);
            return;
        }
        break;
    case SHAPE_TYPES:
        put_types(o, name, value);
        return;
    case SHAPE_HEX:
        break;
    }
    leat_dump_hex(o, name, value);
}

static void put_attribute(struct leat_dump_out *o, uint16_t type, struct leat_span value,
                          const uint8_t *header)
{
    char number[8];
    const char *name = number;
    enum shape shape = SHAPE_HEX;
    (void)snprintf(number, sizeof number, "0x%04x", type);
    for (size_t i = 0; i < LEAT_ARRAY_LEN(attributes); i++) {
        if (attributes[i].type == type) {
            name = attributes[i].name;
            shape = attributes[i].shape;
        }
    }
    if (o->is_json) { /* a list: an attribute may come twice */
        leat_dump_open(o, NULL, '{');
        leat_dump_text(o, "name", name);
        put_value(o, "value", shape, value, header);
        leat_dump_close(o, '}');
    } else {
        put_value(o, name, shape, value, header);
    }
}

static const char *method_text(uint16_t method, char *number, size_t cap)
{
    static const char *const names[] = {"", "Binding", "",     "Allocate",         "Refresh",
                                        "", "Send",    "Data", "CreatePermission", "ChannelBind"};
    if (method < LEAT_ARRAY_LEN(names) && names[method][0] != '\0') {
        return names[method];
    }
    (void)snprintf(number, cap, "0x%03x", method);
    return number;
}

void leat_dump_stun(struct leat_dump_out *o, struct leat_span datagram)
{
    static const char *const classes[] = {"request", "indication", "success", "error"};
    struct leat_stun_msg m;
    struct leat_reader r;
    char number[8];
    leat_reader_init(&r, datagram.data, datagram.len);
    uint16_t type = leat_read_u16(&r);
    leat_read_skip(&r, 2);
    uint32_t cookie = leat_read_u32(&r);
    struct leat_span tid = leat_read_span(&r, LEAT_STUN_TID_LEN);
    if (r.failed || cookie != COOKIE) {
        leat_dump_word(o, "fault", r.failed ? "too short" : "no magic cookie");
        leat_dump_hex(o, "hex", datagram);
        return;
    }
    uint16_t method = (uint16_t)((type & 0x000f) | ((type & 0x00e0) >> 1) | ((type & 0x3e00) >> 2));
    leat_dump_word(o, "method", method_text(method, number, sizeof number));
    leat_dump_word(o, "kind", classes[((type >> 4) & 1) | ((type >> 7) & 2)]);
    leat_dump_hex(o, "tid", tid);
    leat_dump_open(o, "attributes", '[');
    while (leat_reader_left(&r) >= 4) {
        uint16_t attribute = leat_read_u16(&r);
        size_t len = leat_read_u16(&r);
        struct leat_span value = leat_read_span(&r, len);
        if (!r.failed) {
            put_attribute(o, attribute, value, datagram.data);
            size_t padding = (4 - len % 4) % 4;
            leat_read_skip(&r, padding < leat_reader_left(&r) ? padding : leat_reader_left(&r));
        }
    }
    leat_dump_close(o, ']');
    enum leat_stun_verdict verdict = leat_stun_parse(&m, datagram);
    if (verdict != LEAT_STUN_OK) {
        leat_dump_word(o, "fault",
                       verdict == LEAT_STUN_MALFORMED ? "malformed" : "wrong FINGERPRINT");
    }
}
