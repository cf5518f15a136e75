/* SPDX-License-Identifier: MIT */
/*
 * Linked so that the library does not see one of the functions that replace its own (see
 * kx_unreached.map): the proof at start must notice, or a handshake would be half and half.
 */
#include <leat/dtls.h>

#include "harness.h"

static void key_exchange__one_function_is_not_reached__is_the_librarys(void)
{
    LEAT_CHECK_INT(leat_dtls_key_exchange_start(true, leat_rng_thread()), LEAT_E_UNSUPPORTED);
    LEAT_CHECK_STR(leat_dtls_key_exchange(), "mbedtls");
}

LEAT_TESTS(LEAT_TEST(key_exchange__one_function_is_not_reached__is_the_librarys))
