/* SPDX-License-Identifier: MIT */
/**
 * @file  Log lines: one line of key=value on a descriptor, with a level. Not for pure modules.
 * @module base
 *
 * Thread-safe: a line is one write. What a remote can trigger goes through leat_log_limited, at
 * most LEAT_LOG_BURST lines a limiter and second; what was held back is said in the next line
 * (`held=N`). Control characters are replaced, a line over 1023 octets is cut and ends in "...".
 */
#ifndef LEAT_LOG_H
#define LEAT_LOG_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum leat_log_level { LEAT_LOG_ERROR, LEAT_LOG_WARN, LEAT_LOG_INFO, LEAT_LOG_DEBUG };

#define LEAT_LOG_BURST 5

/** Set before threads start. @param fd where lines go (2 by default). */
void leat_log_setup(enum leat_log_level level, int fd);
bool leat_log_level_parse(const char *text, enum leat_log_level *out);
bool leat_log_enabled(enum leat_log_level level);

/** `event` is a short stable word; the format continues with key=value pairs, values with spaces in
 * quotes. */
void leat_log(enum leat_log_level level, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

struct leat_log_limit {
    _Atomic uint64_t window; /**< second of the running window */
    _Atomic uint32_t count;
    _Atomic uint32_t held;
};

/** One line through the limiter of its place (zeros at first). @param now_us monotonic. */
void leat_log_limited(struct leat_log_limit *limit, uint64_t now_us, enum leat_log_level level,
                      const char *event, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
