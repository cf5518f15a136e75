/* SPDX-License-Identifier: MIT */
/**
 * @file  Results of operations: 0 or one of these. Foreign codes are translated at their library's
 * door.
 * @module base
 */
#ifndef LEAT_ERROR_H
#define LEAT_ERROR_H

enum leat_error {
    LEAT_OK = 0,
    LEAT_E_NOMEM = -1,   /**< allocation failed */
    LEAT_E_INVALID = -2, /**< an argument or input breaks its contract */
    LEAT_E_RANGE = -3,   /**< does not fit the room given, or a limit was reached */
    LEAT_E_EXISTS = -4,  /**< there already */
    LEAT_E_MISSING = -5, /**< not there */
    LEAT_E_STATE = -6,   /**< not possible in the present state */
    LEAT_E_CRYPTO = -7,  /**< a crypto provider failed */
    LEAT_E_IO = -8,      /**< the system refused */
    LEAT_E_AGAIN = -9,   /**< would block; try later */
    LEAT_E_UNSUPPORTED = -10
};

/** A short English text for one of the above. Never NULL. */
const char *leat_error_text(int error);

#endif
