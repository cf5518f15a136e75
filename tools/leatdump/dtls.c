/* SPDX-License-Identifier: MIT */
/* DTLS records (RFC 6347 4.1) and, while they are in the clear, the handshake messages in them. */
#include "decode.h"

enum { RECORD_CCS = 20, RECORD_ALERT = 21, RECORD_HANDSHAKE = 22, RECORD_DATA = 23 };

struct name {
    uint8_t number;
    const char *text;
};

static const struct name records[] = {
    {RECORD_CCS, "change_cipher_spec"},
    {RECORD_ALERT, "alert"},
    {RECORD_HANDSHAKE, "handshake"},
    {RECORD_DATA, "application_data"},
    {24, "heartbeat"},
    {25, "tls12_cid"},
    {26, "ack"},
};
static const struct name handshakes[] = {
    {0, "hello_request"},
    {1, "client_hello"},
    {2, "server_hello"},
    {3, "hello_verify_request"},
    {4, "new_session_ticket"},
    {8, "encrypted_extensions"},
    {11, "certificate"},
    {12, "server_key_exchange"},
    {13, "certificate_request"},
    {14, "server_hello_done"},
    {15, "certificate_verify"},
    {16, "client_key_exchange"},
    {20, "finished"},
    {22, "certificate_status"},
    {24, "key_update"},
};
static const struct name alerts[] = {
    {0, "close_notify"},
    {10, "unexpected_message"},
    {20, "bad_record_mac"},
    {22, "record_overflow"},
    {40, "handshake_failure"},
    {42, "bad_certificate"},
    {43, "unsupported_certificate"},
    {44, "certificate_revoked"},
    {45, "certificate_expired"},
    {46, "certificate_unknown"},
    {47, "illegal_parameter"},
    {48, "unknown_ca"},
    {49, "access_denied"},
    {50, "decode_error"},
    {51, "decrypt_error"},
    {70, "protocol_version"},
    {71, "insufficient_security"},
    {80, "internal_error"},
    {90, "user_canceled"},
    {100, "no_renegotiation"},
    {109, "missing_extension"},
    {110, "unsupported_extension"},
    {115, "unknown_psk_identity"},
    {116, "certificate_required"},
};

static const char *name_of(const struct name *names, size_t count, uint8_t number,
                           char text[static 8])
{
    for (size_t i = 0; i < count; i++) {
        if (names[i].number == number) {
            return names[i].text;
        }
    }
    (void)snprintf(text, 8, "%u", number);
    return text;
}

static const char *version_text(uint16_t version, char text[static 8])
{
    switch (version) {
    case 0xfeff:
        return "1.0";
    case 0xfefd:
        return "1.2";
    case 0xfefc:
        return "1.3";
    default: /* any number can stand on the wire */
        (void)snprintf(text, 8, "0x%04x", version);
        return text;
    }
}

/** Messages, or fragments of them (RFC 6347 4.2.2). */
static void put_handshake(struct leat_dump_out *o, struct leat_span body)
{
    struct leat_reader r;
    char number[8];
    leat_reader_init(&r, body.data, body.len);
    leat_dump_open(o, "messages", '[');
    while (leat_reader_left(&r) > 0) {
        uint8_t type = leat_read_u8(&r);
        uint32_t total = leat_read_u24(&r);
        uint16_t seq = leat_read_u16(&r);
        uint32_t offset = leat_read_u24(&r);
        uint32_t len = leat_read_u24(&r);
        struct leat_span fragment = leat_read_span(&r, len);
        leat_dump_open(o, NULL, '{');
        if (r.failed) {
            leat_dump_word(o, "fault", "not a whole message or fragment");
            leat_dump_close(o, '}');
            break;
        }
        leat_dump_word(o, "message", name_of(handshakes, LEAT_ARRAY_LEN(handshakes), type, number));
        leat_dump_u64(o, "mseq", seq);
        leat_dump_u64(o, "total", total);
        leat_dump_u64(o, "offset", offset);
        leat_dump_u64(o, "len", len);
        if (offset == 0 && len >= 2 && (type == 1 || type == 2 || type == 3)) {
            leat_dump_text(o, "hello_version", version_text(leat_get_u16(fragment.data), number));
        }
        if (len > total || offset > total - len) {
            leat_dump_word(o, "fault", "fragment outside the message");
        }
        leat_dump_close(o, '}');
    }
    leat_dump_close(o, ']');
}

static void put_body(struct leat_dump_out *o, uint8_t type, uint16_t epoch, struct leat_span body)
{
    char number[8];
    if (epoch != 0) {
        leat_dump_bool(o, "encrypted", true);
    } else if (type == RECORD_HANDSHAKE) {
        put_handshake(o, body);
    } else if (type == RECORD_ALERT && body.len == 2) {
        leat_dump_word(o, "level", body.data[0] == 2 ? "fatal" : "warning");
        leat_dump_word(o, "alert", name_of(alerts, LEAT_ARRAY_LEN(alerts), body.data[1], number));
    }
}

void leat_dump_dtls(struct leat_dump_out *o, struct leat_span datagram)
{
    struct leat_reader r;
    char number[8];
    leat_reader_init(&r, datagram.data, datagram.len);
    leat_dump_open(o, "records", '[');
    while (leat_reader_left(&r) > 0) {
        leat_dump_open(o, NULL, '{');
        if ((*r.at & 0xe0) ==
            0x20) { /* RFC 9147 4: lengths may be left out and numbers are masked */
            leat_dump_word(o, "record", "unified_header");
            leat_dump_text(o, "version", "1.3");
            leat_dump_u64(o, "len", leat_reader_left(&r));
            leat_dump_bool(o, "encrypted", true);
            leat_dump_close(o, '}');
            break;
        }
        uint8_t type = leat_read_u8(&r);
        uint16_t version = leat_read_u16(&r);
        uint16_t epoch = leat_read_u16(&r);
        uint64_t seq = leat_read_u48(&r);
        uint16_t len = leat_read_u16(&r);
        struct leat_span body = leat_read_span(&r, len);
        if (r.failed) {
            leat_dump_word(o, "fault", "not a whole record");
        } else {
            leat_dump_word(o, "record", name_of(records, LEAT_ARRAY_LEN(records), type, number));
            leat_dump_text(o, "version", version_text(version, number));
            leat_dump_u64(o, "epoch", epoch);
            leat_dump_u64(o, "seq", seq);
            leat_dump_u64(o, "len", len);
            put_body(o, type, epoch, body);
        }
        leat_dump_close(o, '}');
    }
    leat_dump_close(o, ']');
}
