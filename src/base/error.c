/* SPDX-License-Identifier: MIT */
/* The texts of enum leat_error, for logs and replies. */
#include <leat/error.h>

const char *leat_error_text(int error)
{
    switch (error) {
    case LEAT_OK:
        return "ok";
    case LEAT_E_NOMEM:
        return "out of memory";
    case LEAT_E_INVALID:
        return "invalid argument or input";
    case LEAT_E_RANGE:
        return "out of range or over a limit";
    case LEAT_E_EXISTS:
        return "exists already";
    case LEAT_E_MISSING:
        return "does not exist";
    case LEAT_E_STATE:
        return "not possible in the present state";
    case LEAT_E_CRYPTO:
        return "a crypto provider failed";
    case LEAT_E_IO:
        return "the system refused";
    case LEAT_E_AGAIN:
        return "would block";
    case LEAT_E_UNSUPPORTED:
        return "not supported";
    default:
        return "unknown error";
    }
}
