/* SPDX-License-Identifier: MIT */
/**
 * @file  Results for people: tables of lists, `key: value` of the rest, events one a line. Control
 * characters of values are never printed.
 * @module leatctl
 */
#ifndef LEAT_CTL_PRINT_H
#define LEAT_CTL_PRINT_H

#include <stdio.h>

#include <leat/json.h>

/** @param result text of the result's JSON. @return 0, LEAT_E_INVALID (it does not parse),
 * LEAT_E_NOMEM. */
int leat_ctl_print_result(FILE *out, const char *method, struct leat_span result);
void leat_ctl_print_event(FILE *out, struct leat_span method, const leat_json *params);
/** message, then the other members of data. */
void leat_ctl_print_error(FILE *out, const leat_json *error);
/** A text of the daemon's without its control characters. */
void leat_ctl_print_text(FILE *out, struct leat_span text);

#endif
