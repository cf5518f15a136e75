/* SPDX-License-Identifier: MIT */
/*
 * A line is put together on the stack and leaves in one write(2), so lines of several threads do
 * not mix. Control characters become '?': a value that a remote chose cannot forge a line. What
 * does not fit ends in "...".
 *
 * The limiter counts per second of the caller's monotonic clock. Two threads that meet at the turn
 * of a second may let a line too many pass; no line is lost from the account.
 */
#include <leat/log.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_LEN 1024

static const char *const level_names[] = {"error", "warn", "info", "debug"};

static enum leat_log_level log_level = LEAT_LOG_INFO;
static int log_fd = STDERR_FILENO;

void leat_log_setup(enum leat_log_level level, int fd)
{
    log_level = level;
    log_fd = fd;
}

bool leat_log_level_parse(const char *text, enum leat_log_level *out)
{
    for (unsigned i = 0; i < sizeof(level_names) / sizeof(level_names[0]); i++) {
        if (strcmp(text, level_names[i]) == 0) {
            *out = (enum leat_log_level)i;
            return true;
        }
    }
    return false;
}

bool leat_log_enabled(enum leat_log_level level)
{
    return level <= log_level;
}

/** "ts=2024-02-29T12:00:00.123Z level=info event=NAME". @return its length. */
static size_t write_head(char *line, size_t cap, enum leat_log_level level, const char *event)
{
    struct timespec now = {0};
    struct tm utc = {0};
    char stamp[32] = "";
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &utc);
    (void)strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &utc);
    int n = snprintf(line, cap, "ts=%s.%03ldZ level=%s event=%.64s", stamp, now.tv_nsec / 1000000,
                     level_names[level], event);
    return n < 0 ? 0 : (size_t)n;
}

__attribute__((format(printf, 4, 0))) static void write_line(enum leat_log_level level,
                                                             const char *event, uint32_t held,
                                                             const char *format, va_list args)
{
    char line[LINE_MAX_LEN];
    size_t cap = sizeof(line) - 1; /* the line feed has its place */
    size_t len = write_head(line, cap, level, event);
    if (held != 0) {
        len += (size_t)snprintf(line + len, cap - len, " held=%" PRIu32, held);
    }
    line[len++] = ' ';
    int n = vsnprintf(line + len, cap - len, format, args);
    if (n <= 0) {
        len--;
    } else if ((size_t)n >= cap - len) {
        len = cap - 1;
        memcpy(line + len - 3, "...", 3);
    } else {
        len += (size_t)n;
    }
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f) {
            line[i] = '?';
        }
    }
    line[len++] = '\n';
    /* A log that cannot be written is no reason to stop, and there is nowhere else to say it. */
    ssize_t written = write(log_fd, line, len);
    (void)written;
}

void leat_log(enum leat_log_level level, const char *event, const char *format, ...)
{
    if (!leat_log_enabled(level)) {
        return;
    }
    va_list args;
    va_start(args, format);
    write_line(level, event, 0, format, args);
    va_end(args);
}

void leat_log_limited(struct leat_log_limit *limit, uint64_t now_us, enum leat_log_level level,
                      const char *event, const char *format, ...)
{
    if (!leat_log_enabled(level)) {
        return;
    }
    uint64_t second = now_us / 1000000;
    uint64_t window = atomic_load(&limit->window);
    if (window != second && atomic_compare_exchange_strong(&limit->window, &window, second)) {
        atomic_store(&limit->count, 0);
    }
    if (atomic_fetch_add(&limit->count, 1) >= LEAT_LOG_BURST) {
        atomic_fetch_add(&limit->held, 1);
        return;
    }
    va_list args;
    va_start(args, format);
    write_line(level, event, atomic_exchange(&limit->held, 0), format, args);
    va_end(args);
}
