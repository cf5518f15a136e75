/* SPDX-License-Identifier: MIT */
#include <leat/bytes.h>
#include <leat/log.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"

static int pipe_fds[2];

static void log_to_pipe(enum leat_log_level level)
{
    if (pipe(pipe_fds) != 0 || fcntl(pipe_fds[0], F_SETFL, O_NONBLOCK) != 0) {
        abort();
    }
    leat_log_setup(level, pipe_fds[1]);
}

/** What came since the last call, the stamp of each line cut off. */
static const char *take_lines(void)
{
    static char lines[8192];
    char raw[4096];
    ssize_t n = read(pipe_fds[0], raw, sizeof(raw) - 1);
    raw[n > 0 ? n : 0] = '\0';
    lines[0] = '\0';
    for (char *at = raw; *at != '\0';) {
        size_t len = strcspn(at, "\n");
        char *level = strstr(at, " level=");
        if (level == NULL || level > at + len || at[len] != '\n') {
            return "not a line";
        }
        strncat(lines, level + 1, (size_t)(at + len + 1 - (level + 1)));
        at += len + 1;
    }
    return lines;
}

static void close_pipe(void)
{
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    leat_log_setup(LEAT_LOG_INFO, STDERR_FILENO);
}

static void level__texts__parse(void)
{
    static const char *const texts[] = {"error", "warn", "info", "debug"};
    enum leat_log_level level = LEAT_LOG_ERROR;
    for (int i = 0; i < 4; i++) {
        LEAT_CHECK_ROW(i, leat_log_level_parse(texts[i], &level) && (int)level == i);
    }
    LEAT_CHECK(!leat_log_level_parse("INFO", &level) && !leat_log_level_parse("", &level));
    LEAT_CHECK_INT(level, LEAT_LOG_DEBUG);
}

static void line__enabled_levels__one_line_of_pairs(void)
{
    log_to_pipe(LEAT_LOG_WARN);
    leat_log(LEAT_LOG_ERROR, "a", "k=%d name=\"%s\"", 5, "x y");
    leat_log(LEAT_LOG_WARN, "b", "%s", "");
    leat_log(LEAT_LOG_INFO, "c", "k=1");
    LEAT_CHECK_STR(take_lines(), "level=error event=a k=5 name=\"x y\"\nlevel=warn event=b\n");
    LEAT_CHECK(leat_log_enabled(LEAT_LOG_WARN) && !leat_log_enabled(LEAT_LOG_INFO));
    close_pipe();
}

static void line__stamp__is_utc_with_milliseconds(void)
{
    char raw[256];
    log_to_pipe(LEAT_LOG_INFO);
    leat_log(LEAT_LOG_INFO, "a", "k=1");
    ssize_t n = read(pipe_fds[0], raw, sizeof(raw) - 1);
    raw[n > 0 ? n : 0] = '\0';
    static const char shape[] = "ts=dddd-dd-ddTdd:dd:dd.dddZ level=";
    for (size_t i = 0; i < sizeof(shape) - 1; i++) {
        bool is_digit = raw[i] >= '0' && raw[i] <= '9';
        LEAT_CHECK_ROW(i, shape[i] == 'd' ? is_digit : raw[i] == shape[i]);
    }
    LEAT_CHECK(strncmp(raw, "ts=2", 4) == 0);
    close_pipe();
}

static void line__control_characters__cannot_forge_a_line(void)
{
    log_to_pipe(LEAT_LOG_INFO);
    leat_log(LEAT_LOG_INFO, "a", "id=%s", "x\nlevel=error event=forged\r\x1b[31m\x7f");
    LEAT_CHECK_STR(take_lines(), "level=info event=a id=x?level=error event=forged??[31m?\n");
    close_pipe();
}

static void line__too_long__is_cut_and_says_so(void)
{
    char raw[4096], text[2000];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    for (size_t len = 950; len < sizeof(text); len = len < 1000 ? len + 1 : sizeof(text)) {
        log_to_pipe(LEAT_LOG_INFO);
        leat_log(LEAT_LOG_INFO, "a", "k=%.*s", (int)len, text);
        ssize_t n = read(pipe_fds[0], raw, sizeof(raw));
        LEAT_CHECK_ROW(len, n > 0 && n <= 1024 && raw[n - 1] == '\n');
        bool whole = n > 4 && memcmp(raw + n - 4, "xxx", 3) == 0;
        bool is_cut = n > 4 && memcmp(raw + n - 4, "...", 3) == 0;
        LEAT_CHECK_ROW(len, whole ? (size_t)n > len : is_cut);
        LEAT_CHECK_ROW(len, whole || n >= 1023);
        close_pipe();
    }
}

static void limited__burst_in_a_second__rest_is_held_and_told(void)
{
    struct leat_log_limit limit = {0};
    log_to_pipe(LEAT_LOG_INFO);
    for (int i = 0; i < 12; i++) {
        leat_log_limited(&limit, 5000000u + (unsigned)i * 1000u, LEAT_LOG_INFO, "a", "i=%d", i);
    }
    LEAT_CHECK_STR(take_lines(),
                   "level=info event=a i=0\nlevel=info event=a i=1\nlevel=info event=a i=2\n"
                   "level=info event=a i=3\nlevel=info event=a i=4\n");
    leat_log_limited(&limit, 5999999, LEAT_LOG_INFO, "a", "still=1");
    LEAT_CHECK_STR(take_lines(), "");
    leat_log_limited(&limit, 6000000, LEAT_LOG_INFO, "a", "i=12");
    leat_log_limited(&limit, 6000001, LEAT_LOG_INFO, "a", "i=13");
    LEAT_CHECK_STR(take_lines(), "level=info event=a held=8 i=12\nlevel=info event=a i=13\n");
    close_pipe();
}

static void limited__level_off__counts_nothing(void)
{
    struct leat_log_limit limit = {0};
    log_to_pipe(LEAT_LOG_INFO);
    for (int i = 0; i < 20; i++) {
        leat_log_limited(&limit, 1, LEAT_LOG_DEBUG, "a", "i=%d", i);
    }
    leat_log_limited(&limit, 1, LEAT_LOG_INFO, "a", "i=20");
    LEAT_CHECK_STR(take_lines(), "level=info event=a i=20\n");
    close_pipe();
}

LEAT_TESTS(LEAT_TEST(level__texts__parse), LEAT_TEST(line__enabled_levels__one_line_of_pairs),
           LEAT_TEST(line__stamp__is_utc_with_milliseconds),
           LEAT_TEST(line__control_characters__cannot_forge_a_line),
           LEAT_TEST(line__too_long__is_cut_and_says_so),
           LEAT_TEST(limited__burst_in_a_second__rest_is_held_and_told),
           LEAT_TEST(limited__level_off__counts_nothing))
