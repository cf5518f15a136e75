/* SPDX-License-Identifier: MIT */
/* Sessions of libsrtp2 as packaged, in the process under test: what our own framing is compared
 * with. They keep the cipher types that were in use when they were made. */
#ifndef LEAT_TEST_SRTP_ORACLE_H
#define LEAT_TEST_SRTP_ORACLE_H

#include <srtp2/srtp.h>

#include <leat/srtp.h>

/** libsrtp2's own types, or ours, for sessions made from now on. Aborts when that fails, and where
 * the library lets one ask also when the types in use are not those. */
void oracle_use_types(bool is_stock);
/** A sender under keys.send; made under the library's types. */
srtp_t oracle_new(const struct leat_srtp_keys *keys);
void oracle_free(srtp_t session);

/** Protect in place; there must be room for a trailer. @return LEAT_SRTP_OK, LEAT_SRTP_INDEX_USED,
 * or LEAT_SRTP_MALFORMED for all else. */
enum leat_srtp_verdict oracle_protect(srtp_t session, uint8_t *packet, size_t *len);
enum leat_srtp_verdict oracle_protect_rtcp(srtp_t session, uint8_t *packet, size_t *len);

#endif
