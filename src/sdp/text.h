/* SPDX-License-Identifier: MIT */
/* Words and numbers of SDP lines, and the one way to say what is wrong with one. */
#ifndef LEAT_SRC_SDP_TEXT_H
#define LEAT_SRC_SDP_TEXT_H

#include <leat/bytes.h>
#include <leat/sdp.h>

/** The next word of `rest` (words end at spaces and tabs), consumed; empty at the end. */
struct leat_span leat__sdp_word(struct leat_span *rest);
/** What stands before `separator`, consumed together with it; all of `rest` when there is none. */
struct leat_span leat__sdp_until(struct leat_span *rest, char separator);
struct leat_span leat__sdp_trim(struct leat_span s);

bool leat__sdp_is(struct leat_span s, const char *text);
bool leat__sdp_is_ignoring_case(struct leat_span s, const char *text);
bool leat__sdp_equal_ignoring_case(struct leat_span a, struct leat_span b);
/** Only octets 0x21..0x7e (and blanks when `with_blanks`), at least one. */
bool leat__sdp_is_printable(struct leat_span s, bool with_blanks);

/** Decimal digits and nothing else, at most `max`. */
bool leat__sdp_number(struct leat_span s, uint32_t max, uint32_t *out);

/** printf into `why`, cut off at its end. @return error. */
__attribute__((format(printf, 3, 4))) int leat__sdp_fail(int error, char *why, const char *format,
                                                         ...);

#endif
