/* SPDX-License-Identifier: MIT */
/**
 * @file  STUN messages (RFC 8489) as far as ICE connectivity checks need them: parse, check, build.
 * @module stun
 */
#ifndef LEAT_STUN_H
#define LEAT_STUN_H

#include <leat/addr.h>
#include <leat/crypto.h>

#define LEAT_STUN_TID_LEN 12
#define LEAT_STUN_UNKNOWN_MAX 8
#define LEAT_STUN_REPLY_MAX 160 /**< octets that any reply of ours fits in */

enum leat_stun_class {
    LEAT_STUN_REQUEST = 0,
    LEAT_STUN_INDICATION = 1,
    LEAT_STUN_SUCCESS = 2,
    LEAT_STUN_ERROR = 3
};

enum leat_stun_verdict {
    LEAT_STUN_OK,
    LEAT_STUN_MALFORMED,      /**< not a STUN message, or one that breaks RFC 8489 5, 14 */
    LEAT_STUN_BAD_FINGERPRINT /**< well-formed, but FINGERPRINT is there and wrong */
};

/** A parsed message; spans point into the datagram. */
struct leat_stun_msg {
    struct leat_span raw;
    enum leat_stun_class class_;
    uint16_t method;           /**< 1 = Binding */
    const uint8_t *tid;        /**< LEAT_STUN_TID_LEN octets */
    struct leat_span username; /**< {NULL, 0} when absent */
    size_t integrity_offset;   /**< of the MESSAGE-INTEGRITY attribute; 0 when absent */
    bool has_fingerprint;
    bool has_priority, has_controlling, has_controlled, use_candidate, has_mapped;
    uint32_t priority;
    uint64_t tie_breaker;
    uint16_t error_code;     /**< 300..699, 0 when absent */
    struct leat_addr mapped; /**< XOR-MAPPED-ADDRESS */
    size_t unknown_count;    /**< comprehension-required attributes that we do not know, capped */
    uint16_t unknown[LEAT_STUN_UNKNOWN_MAX];
};

/**
 * Parse one whole datagram. The declared length must be the datagram's, every attribute must lie
 * inside; attributes after MESSAGE-INTEGRITY other than FINGERPRINT are ignored (RFC 8489 14.5),
 * FINGERPRINT must be last. The first of a repeated attribute counts. USERNAME over 508 octets, a
 * MESSAGE-INTEGRITY that is not 20 octets: MALFORMED.
 */
enum leat_stun_verdict leat_stun_parse(struct leat_stun_msg *m, struct leat_span datagram);

/** Whether MESSAGE-INTEGRITY is there and right under the key (short-term credential: the password
 * itself). */
bool leat_stun_check_integrity(const struct leat_stun_msg *m, const struct leat_hmac_sha1 *key);

/** "LOCAL:REMOTE" split at the first colon. @return false when there is no colon or either half is
 * empty. */
bool leat_stun_split_username(struct leat_span username, struct leat_span *local,
                              struct leat_span *remote);

/* ---- build: header first, then attributes, then integrity, then fingerprint ---- */

void leat_stun_begin(struct leat_writer *w, enum leat_stun_class class_, uint16_t method,
                     const uint8_t tid[static LEAT_STUN_TID_LEN]);
void leat_stun_add_username(struct leat_writer *w, struct leat_span local, struct leat_span remote);
void leat_stun_add_u32(struct leat_writer *w, uint16_t type, uint32_t value);
void leat_stun_add_u64(struct leat_writer *w, uint16_t type, uint64_t value);
void leat_stun_add_flag(struct leat_writer *w, uint16_t type);
void leat_stun_add_xor_mapped(struct leat_writer *w, const struct leat_addr *addr,
                              const uint8_t tid[static LEAT_STUN_TID_LEN]);
void leat_stun_add_error(struct leat_writer *w, uint16_t code, const char *reason);
void leat_stun_add_unknown(struct leat_writer *w, const uint16_t *types, size_t count);
/** Append MESSAGE-INTEGRITY (unless key is NULL) and FINGERPRINT, and set the length. @return
 * octets, 0 when it did not fit. */
size_t leat_stun_end(struct leat_writer *w, const struct leat_hmac_sha1 *key);

#define LEAT_STUN_ATTR_PRIORITY 0x0024
#define LEAT_STUN_ATTR_USE_CANDIDATE 0x0025
#define LEAT_STUN_ATTR_ICE_CONTROLLED 0x8029
#define LEAT_STUN_ATTR_ICE_CONTROLLING 0x802a

#endif
