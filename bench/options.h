/* SPDX-License-Identifier: MIT */
/** @file  The arguments that every bench program takes. Private to the harness. */
#ifndef LEAT_BENCH_OPTIONS_H
#define LEAT_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_RUNS_MAX 1000
#define BENCH_FILTERS_MAX 16

struct bench_options {
    const char *filters[BENCH_FILTERS_MAX]; /**< a row that matches one of them is taken */
    size_t filter_count;
    unsigned runs;
    uint64_t slice_ns; /**< how long one run of a row shall take */
    bool is_json, is_list;
};

/** @return -1: go on; otherwise the program's exit status, everything being said. */
int bench_options_parse(struct bench_options *o, int argc, char **argv, const char *name);
/** Whether a row is wanted, given as "bench=crypto op=hmac-sha1 octets=100". */
bool bench_options_match(const struct bench_options *o, const char *row);

#endif
