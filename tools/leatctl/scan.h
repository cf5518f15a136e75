/* SPDX-License-Identifier: MIT */
/**
 * @file  Cutting the text of a large reply into members and elements that are small enough to
 * parse: one document of the strict parser is bounded, a list of thousands of peers is not.
 * @module leatctl
 */
#ifndef LEAT_CTL_SCAN_H
#define LEAT_CTL_SCAN_H

#include <leat/bytes.h>

/** The text of a member's value in the text of an object. @return false when it is not there. The
 * key is compared as it stands in the text (no escapes). */
bool leat_ctl_scan_member(struct leat_span object, const char *key, struct leat_span *value);
/** The next element in the text of an array; *cursor starts at 0. @return false at the end. */
bool leat_ctl_scan_next(struct leat_span array, size_t *cursor, struct leat_span *element);

#endif
