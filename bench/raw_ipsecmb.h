/* SPDX-License-Identifier: MIT */
/**
 * @file  intel-ipsec-mb called by itself, with nothing of ours around it: the least that a provider
 * over it can cost. Present where the library's header was found at build time, usable where the
 * library is found at run time.
 */
#ifndef LEAT_BENCH_RAW_IPSECMB_H
#define LEAT_BENCH_RAW_IPSECMB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RAW_MESSAGES_MAX 64
#define RAW_OCTETS_MAX 1500

/** Up to RAW_MESSAGES_MAX messages, each with keys of its own, over one manager. */
struct raw_ipsecmb;

/** The levels, best first: "avx512", "avx2", "sse" (with SHA-NI where the CPU has it). @return NULL
 * past the end, or where the header was not found. */
const char *raw_ipsecmb_level(size_t i);

/**
 * A manager of the level, and `keys` sets of keys, used in turn.
 * @param keys  at least RAW_MESSAGES_MAX; more make each batch meet other keys than the one before
 * @return NULL with *why set where the library is not there or the CPU lacks the level
 */
struct raw_ipsecmb *raw_ipsecmb_new(const char *level, size_t keys, const char **why);
void raw_ipsecmb_free(struct raw_ipsecmb *raw);

/* Each of these does `batch` (1 to RAW_MESSAGES_MAX) messages of `octets` once, under the keys next
 * in turn. @return whether the library did all of them. */

/** HMAC-SHA1, one hash burst. */
bool raw_ipsecmb_hmac_sha1(struct raw_ipsecmb *raw, size_t batch, size_t octets);
/** AES-CTR, one cipher burst, out of place from one plaintext. @param key_len 16 or 32 */
bool raw_ipsecmb_ctr(struct raw_ipsecmb *raw, size_t key_len, size_t batch, size_t octets);
/** SRTP's AES-CM with HMAC-SHA1 over packets of `octets` in all before the tag (12 of header): a
 * cipher burst out of place from one plaintext, then a hash burst over the packet and 4 octets of
 * ROC, with tags of 12 octets. */
bool raw_ipsecmb_cm_sha1(struct raw_ipsecmb *raw, size_t batch, size_t octets);
/** AES-GCM with 12 octets of additional data and `octets` that are enciphered (an SRTP packet of
 * 1200 is 1188 here), one direct call a message, out of place from one plaintext. */
bool raw_ipsecmb_gcm(struct raw_ipsecmb *raw, size_t key_len, size_t batch, size_t octets);

#endif
