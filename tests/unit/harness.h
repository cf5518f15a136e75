/* SPDX-License-Identifier: MIT */
/**
 * @file  What a unit test needs and no more: checks that print both sides, tables that print the
 * index, a main.
 *
 *     static void reader__short_read__sticks(void) { ... LEAT_CHECK(r.failed); }
 *     LEAT_TESTS(LEAT_TEST(reader__short_read__sticks))
 *
 * A program prints one line a test on failure and a last line `N passed, N failed`; its exit status
 * is 0 only when all passed. With arguments it runs only the tests whose names contain one of them.
 */
#ifndef LEAT_HARNESS_H
#define LEAT_HARNESS_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct leat_test {
    const char *name;
    void (*run)(void);
};

static unsigned leat_test_failures; /* of the running test */

static inline void leat_test_fail(const char *file, int line, const char *what)
{
    leat_test_failures++;
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
}

static inline void leat_test_dump(const char *label, const void *data, size_t len)
{
    const uint8_t *p = data;
    fprintf(stderr, "    %-8s %4zu:", label, len);
    for (size_t i = 0; i < len && i < 256; i++) {
        fprintf(stderr, "%s%02x", i % 4 == 0 ? " " : "", p[i]);
    }
    fprintf(stderr, "%s\n", len > 256 ? " ..." : "");
}

/** Go on after a failed check; the test counts as failed. */
#define LEAT_CHECK(condition)                                                                      \
    ((condition) ? (void)0 : leat_test_fail(__FILE__, __LINE__, "not true: " #condition))
/** The same inside a table: says which row. */
#define LEAT_CHECK_ROW(row, condition)                                                             \
    ((condition) ? (void)0 : leat_test_fail_row(__FILE__, __LINE__, (size_t)(row), #condition))
#define LEAT_CHECK_INT(actual, expected)                                                           \
    leat_test_check_int(__FILE__, __LINE__, #actual, (int64_t)(actual), (int64_t)(expected))
#define LEAT_CHECK_STR(actual, expected)                                                           \
    leat_test_check_str(__FILE__, __LINE__, #actual, (actual), (expected))
#define LEAT_CHECK_MEM(actual, actual_len, expected, expected_len)                                 \
    leat_test_check_mem(__FILE__, __LINE__, #actual, (actual), (actual_len), (expected),           \
                        (expected_len))

static inline void leat_test_fail_row(const char *file, int line, size_t row, const char *what)
{
    leat_test_failures++;
    fprintf(stderr, "%s:%d: row %zu: not true: %s\n", file, line, row, what);
}

static inline void leat_test_check_int(const char *file, int line, const char *what, int64_t actual,
                                       int64_t expected)
{
    if (actual != expected) {
        leat_test_fail(file, line, what);
        fprintf(stderr, "    is %" PRId64 ", expected %" PRId64 "\n", actual, expected);
    }
}

static inline void leat_test_check_str(const char *file, int line, const char *what,
                                       const char *actual, const char *expected)
{
    if (actual == NULL || strcmp(actual, expected) != 0) {
        leat_test_fail(file, line, what);
        fprintf(stderr, "    is       \"%s\"\n    expected \"%s\"\n", actual ? actual : "(null)",
                expected);
    }
}

static inline void leat_test_check_mem(const char *file, int line, const char *what,
                                       const void *actual, size_t actual_len, const void *expected,
                                       size_t expected_len)
{
    if (actual_len != expected_len ||
        (actual_len != 0 && memcmp(actual, expected, actual_len) != 0)) {
        leat_test_fail(file, line, what);
        leat_test_dump("is", actual, actual_len);
        leat_test_dump("expected", expected, expected_len);
    }
}

static inline int leat_test_main(const struct leat_test *tests, size_t count, int argc, char **argv)
{
    unsigned passed = 0, failed = 0;
    for (size_t i = 0; i < count; i++) {
        bool wanted = argc < 2;
        for (int a = 1; a < argc; a++) {
            wanted = wanted || strstr(tests[i].name, argv[a]) != NULL;
        }
        if (!wanted) {
            continue;
        }
        leat_test_failures = 0;
        tests[i].run();
        if (leat_test_failures != 0) {
            printf("not ok %s\n", tests[i].name);
            failed++;
        } else {
            passed++;
        }
        fflush(stdout);
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed == 0 && passed > 0 ? 0 : 1;
}

#define LEAT_TEST(function)                                                                        \
    {                                                                                              \
#function, function                                                                        \
    }
#define LEAT_TESTS(...)                                                                            \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const struct leat_test tests[] = {__VA_ARGS__};                                     \
        return leat_test_main(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);                \
    }

#endif
