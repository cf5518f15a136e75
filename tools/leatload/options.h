/* SPDX-License-Identifier: MIT */
/**
 * @file  leatload's command line.
 * @module loadgen
 */
#ifndef LEAT_LOADGEN_OPTIONS_H
#define LEAT_LOADGEN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include <leat/dtls.h>

#define LEAT_LOAD_PUBLISHERS_MAX 128 /**< half of it with audio: a subscriber has 128 sections */
#define LEAT_LOAD_SUBSCRIBERS_MAX 4000
#define LEAT_LOAD_SIZE_MIN 80 /**< octets of the smallest packet that holds its pattern */
#define LEAT_LOAD_SIZE_MAX 1400
#define LEAT_LOAD_SOCKET "/run/leat/leatd.sock"

extern const char leat_load_usage[];

struct leat_load_options {
    unsigned publishers, subscribers, seconds, rate_kbps, size;
    const char *socket;
    enum leat_dtls_backend backend;
    bool is_json, has_audio, is_help;
};

/** @param socket where leatd listens when the arguments do not say. @return 0 or LEAT_E_INVALID
 * with a sentence in `why`. */
int leat_load_options_read(struct leat_load_options *o, int argc, char **argv, const char *socket,
                           char *why, size_t why_cap);

#endif
