/* SPDX-License-Identifier: MIT */
/*
 * The library's key exchange on P-256 in other hands: what kx.c asks of kx_openssl.c. Without
 * libcrypto at build time there is no kx_openssl.c, and kx.c does without.
 */
#ifndef LEAT_DTLS_KX_H
#define LEAT_DTLS_KX_H

#include <stdbool.h>

/* The replaced entry points, as bits. */
#define LEAT__KX_GEN_PUBLIC 1u
#define LEAT__KX_COMPUTE_SHARED 2u
#define LEAT__KX_WRITE_SIGNATURE 4u
#define LEAT__KX_READ_SIGNATURE 8u
#define LEAT__KX_ALL 15u
/* Not needed: where the library has a faster way of its own it does not call this one. */
#define LEAT__KX_SHA256 16u

/* None of these while another thread is inside the library. */

/* P-256 and the blocks of SHA-256 are computed here from now on. Entry points that are reached add
 * their bit to *reached until the watch ends (NULL: no watch). @return false when libcrypto has no
 * memory or no such curve. */
bool leat__kx_take(unsigned *reached);
void leat__kx_end_watch(void);
/* Everything goes on to the library from now on. */
void leat__kx_release(void);
bool leat__kx_is_taken(void);

#endif
