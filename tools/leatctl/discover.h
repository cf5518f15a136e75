/* SPDX-License-Identifier: MIT */
/**
 * @file  The daemon's OpenRPC document for people.
 * @module leatctl
 */
#ifndef LEAT_CTL_DISCOVER_H
#define LEAT_CTL_DISCOVER_H

#include <stdio.h>

#include <leat/json.h>

/** One line a method. */
void leat_ctl_print_methods(FILE *out, const leat_json *document);
/** @return false when there is no such method. */
bool leat_ctl_print_method(FILE *out, const leat_json *document, const char *name);

#endif
