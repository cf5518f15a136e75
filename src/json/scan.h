/* SPDX-License-Identifier: MIT */
/** @file  Inside json: the grammar check that runs before cJSON sees a text. */
#ifndef LEAT_JSON_SCAN_H
#define LEAT_JSON_SCAN_H

#include <leat/bytes.h>

/** Where a text breaks the rules and how. */
struct leat__json_fault {
    size_t offset;
    const char *what;
    struct leat_span key; /**< the key that `what` speaks of, as it stands in the text; or empty */
};

/** Octets 1..4 of the UTF-8 sequence that begins at p (RFC 3629 4), or 0 when there is none. */
size_t leat__json_utf8_len(const uint8_t *p, size_t left);
/** UTF-8 without control octets other than tab, LF and CR, and without a BOM. */
bool leat__json_check_octets(struct leat_span text, struct leat__json_fault *fault);
/** One document by RFC 8259 and the limits of json.h, in text that passed the octet check. */
bool leat__json_scan(struct leat_span text, struct leat__json_fault *fault);

#endif
