/* SPDX-License-Identifier: MIT */
/**
 * @file  One line a datagram, for people or as JSON, from the same calls. In text a member is
 * ` key=value`, one whose key says nothing is ` value`, and a nested object stands in brackets.
 * @module leatdump
 */
#ifndef LEAT_DUMP_OUT_H
#define LEAT_DUMP_OUT_H

#include <stdio.h>

#include <leat/addr.h>

struct leat_dump_out {
    FILE *file;
    bool is_json;
    bool needs_separator;
};

void leat_dump_begin(struct leat_dump_out *o);
void leat_dump_end(struct leat_dump_out *o);
void leat_dump_open(struct leat_dump_out *o, const char *key, char bracket); /**< '{' or '[' */
void leat_dump_close(struct leat_dump_out *o, char bracket);
/** Text that may hold anything: what is not printable ASCII is escaped. */
void leat_dump_span(struct leat_dump_out *o, const char *key, struct leat_span text);
void leat_dump_text(struct leat_dump_out *o, const char *key, const char *text);
/** In text without its key. */
void leat_dump_word(struct leat_dump_out *o, const char *key, const char *text);
void leat_dump_u64(struct leat_dump_out *o, const char *key, uint64_t v);
/** Digits that are a JSON number already. */
void leat_dump_number(struct leat_dump_out *o, const char *key, const char *digits);
/** In text the key alone, when true; in JSON always. */
void leat_dump_bool(struct leat_dump_out *o, const char *key, bool v);
/** Lower-case hex, cut off after some octets (then with "..." and the length). */
void leat_dump_hex(struct leat_dump_out *o, const char *key, struct leat_span octets);
void leat_dump_addr(struct leat_dump_out *o, const char *key, const struct leat_addr *addr);

#endif
