/* SPDX-License-Identifier: MIT */
/*
 * Numbers of the wire format that parser and builder share (RFC 8489 5, 14, 18.3; RFC 8445 16.1).
 * Only those that the module acts on or names as known stand here.
 */
#ifndef LEAT_STUN_ATTR_H
#define LEAT_STUN_ATTR_H

#define LEAT__STUN_HEADER_LEN 20
#define LEAT__STUN_COOKIE 0x2112a442u
#define LEAT__STUN_INTEGRITY_LEN 20
#define LEAT__STUN_FINGERPRINT_XOR 0x5354554eu
#define LEAT__STUN_USERNAME_MAX 508

/* Comprehension-required: below 0x8000. */
#define LEAT__STUN_ATTR_MAPPED_ADDRESS 0x0001
#define LEAT__STUN_ATTR_USERNAME 0x0006
#define LEAT__STUN_ATTR_INTEGRITY 0x0008
#define LEAT__STUN_ATTR_ERROR_CODE 0x0009
#define LEAT__STUN_ATTR_UNKNOWN 0x000a
#define LEAT__STUN_ATTR_REALM 0x0014
#define LEAT__STUN_ATTR_NONCE 0x0015
#define LEAT__STUN_ATTR_INTEGRITY_SHA256 0x001c
#define LEAT__STUN_ATTR_PASSWORD_ALGORITHM 0x001d
#define LEAT__STUN_ATTR_USERHASH 0x001e
#define LEAT__STUN_ATTR_XOR_MAPPED 0x0020
/* Comprehension-optional: 0x8000 and above. */
#define LEAT__STUN_ATTR_FINGERPRINT 0x8028

#endif
