/* SPDX-License-Identifier: MIT */
#include <leat/error.h>

#include "harness.h"

static void error_text__every_code__has_its_own(void)
{
    for (int i = 0; i >= LEAT_E_UNSUPPORTED - 1; i--) {
        for (int j = 0; j > i; j--) {
            LEAT_CHECK_ROW(-i, strcmp(leat_error_text(i), leat_error_text(j)) != 0);
        }
    }
}

static void error_text__foreign_number__is_unknown(void)
{
    LEAT_CHECK_STR(leat_error_text(1), "unknown error");
    LEAT_CHECK_STR(leat_error_text(INT32_MIN), "unknown error");
    LEAT_CHECK_STR(leat_error_text(LEAT_OK), "ok");
}

LEAT_TESTS(LEAT_TEST(error_text__every_code__has_its_own),
           LEAT_TEST(error_text__foreign_number__is_unknown))
