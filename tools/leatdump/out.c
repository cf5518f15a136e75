/* SPDX-License-Identifier: MIT */
/* Members into text or JSON. What comes from the wire is escaped in both. */
#include "out.h"

#include <inttypes.h>

#define HEX_MAX 32

static void separate(struct leat_dump_out *o)
{
    if (o->needs_separator) {
        (void)fputc(o->is_json ? ',' : ' ', o->file);
    }
    o->needs_separator = true;
}

/** What stands in front of a value. NULL for an element of a list. */
static void put_key(struct leat_dump_out *o, const char *key)
{
    separate(o);
    if (key != NULL) {
        (void)fprintf(o->file, o->is_json ? "\"%s\":" : "%s=", key);
    }
}

static void put_escaped(struct leat_dump_out *o, struct leat_span text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.data[i];
        if (c < 0x20 || c >= 0x7f) {
            (void)fprintf(o->file, o->is_json ? "\\u%04x" : "\\x%02x", c);
        } else if (c == '\\' || (c == '"' && o->is_json)) {
            (void)fprintf(o->file, "\\%c", c);
        } else {
            (void)fputc(c, o->file);
        }
    }
}

void leat_dump_begin(struct leat_dump_out *o)
{
    o->needs_separator = false;
    if (o->is_json) {
        (void)fputc('{', o->file);
    }
}

void leat_dump_end(struct leat_dump_out *o)
{
    (void)fputs(o->is_json ? "}\n" : "\n", o->file);
}

void leat_dump_open(struct leat_dump_out *o, const char *key, char bracket)
{
    if (o->is_json) {
        put_key(o, key);
        (void)fputc(bracket, o->file);
        o->needs_separator = false;
    } else if (bracket == '{') {
        separate(o);
        (void)fputc('[', o->file);
        o->needs_separator = false;
    }
}

void leat_dump_close(struct leat_dump_out *o, char bracket)
{
    if (o->is_json || bracket == '}') {
        (void)fputc(o->is_json ? bracket : ']', o->file);
    }
    o->needs_separator = true;
}

void leat_dump_span(struct leat_dump_out *o, const char *key, struct leat_span text)
{
    put_key(o, key);
    (void)fputs(o->is_json ? "\"" : "", o->file);
    put_escaped(o, text);
    (void)fputs(o->is_json ? "\"" : "", o->file);
}

void leat_dump_text(struct leat_dump_out *o, const char *key, const char *text)
{
    leat_dump_span(o, key, leat_span_str(text));
}

void leat_dump_word(struct leat_dump_out *o, const char *key, const char *text)
{
    leat_dump_span(o, o->is_json ? key : NULL, leat_span_str(text));
}

void leat_dump_u64(struct leat_dump_out *o, const char *key, uint64_t v)
{
    put_key(o, key);
    (void)fprintf(o->file, "%" PRIu64, v);
}

void leat_dump_number(struct leat_dump_out *o, const char *key, const char *digits)
{
    put_key(o, o->is_json ? key : NULL);
    (void)fputs(digits, o->file);
}

void leat_dump_bool(struct leat_dump_out *o, const char *key, bool v)
{
    if (o->is_json) {
        put_key(o, key);
        (void)fputs(v ? "true" : "false", o->file);
    } else if (v) {
        separate(o);
        (void)fputs(key, o->file);
    }
}

void leat_dump_hex(struct leat_dump_out *o, const char *key, struct leat_span octets)
{
    char text[2 * HEX_MAX + 1];
    size_t len = octets.len < HEX_MAX ? octets.len : HEX_MAX;
    leat_hex_encode(octets.data, len, text);
    put_key(o, key);
    (void)fprintf(o->file, o->is_json ? "\"%s" : "%s", text);
    if (len < octets.len) {
        (void)fprintf(o->file, "...(%zu)", octets.len);
    }
    (void)fputs(o->is_json ? "\"" : "", o->file);
}

void leat_dump_addr(struct leat_dump_out *o, const char *key, const struct leat_addr *addr)
{
    char text[LEAT_ADDR_TEXT_MAX];
    leat_dump_text(o, key, leat_addr_format(addr, text));
}
