/* SPDX-License-Identifier: MIT */
/**
 * @file  A lite, controlled ICE agent for one peer and one component (RFC 8445): it answers checks,
 * keeps the valid tuples, follows nomination, and knows when consent is over. Its rules stand as a
 * table in src/stun/ice_lite.c.
 * @module stun
 *
 * Two steps a request: leat_ice_check says whether it is authentic and changes nothing, so that the
 * owner of all peers can refuse a tuple that belongs to another one; leat_ice_accept then acts and
 * answers. No request that fails the check is answered (a public server is silent to strangers); an
 * authentic one gets a success or 420/487.
 */
#ifndef LEAT_ICE_H
#define LEAT_ICE_H

#include <leat/heap.h>
#include <leat/sink.h>
#include <leat/stun.h>

#define LEAT_ICE_UFRAG_MAX 256 /**< RFC 8839 5.4 */
#define LEAT_ICE_PWD_MAX 256
#define LEAT_ICE_LOCAL_UFRAG_LEN 12 /**< worker (1), generation (3), then 48 random bits (8) */
#define LEAT_ICE_LOCAL_PWD_LEN 24   /**< 144 random bits */
#define LEAT_ICE_TUPLES_MAX 8
#define LEAT_ICE_TIDS_MAX 32
#define LEAT_ICE_CONSENT_US 30000000u /**< RFC 7675 5.1 */

/** Ours for one generation of a peer. */
struct leat_ice_local {
    char ufrag[LEAT_ICE_LOCAL_UFRAG_LEN + 1];
    char pwd[LEAT_ICE_LOCAL_PWD_LEN + 1];
};

/** What is needed of the remote's: a lite agent never sends checks, so the password only names a
 * generation. */
struct leat_ice_remote {
    char ufrag[LEAT_ICE_UFRAG_MAX + 1];
    char pwd[LEAT_ICE_PWD_MAX + 1];
};

/**
 * Fresh local credentials.
 * @param worker      0..63, the first character, so that a datagram is steered before anything is
 * looked up
 * @param generation  of the process (18 bits are used): credentials of an earlier process are not
 * ours
 */
void leat_ice_local_make(struct leat_ice_local *l, struct leat_rng *rng, unsigned worker,
                         uint32_t generation);
/** The worker index that a local ufrag names. @return -1 when it does not have our form or
 * generation. */
int leat_ice_local_worker(struct leat_span ufrag, uint32_t generation);
/** ice-char only, ufrag 4..256, pwd 22..256 (RFC 8839 5.4). */
bool leat_ice_remote_is_valid(struct leat_span ufrag, struct leat_span pwd);

enum leat_ice_verdict {
    LEAT_ICE_OK,            /**< authentic Binding request: go on with leat_ice_accept */
    LEAT_ICE_INDICATION,    /**< Binding indication or a response: ignored, nothing to answer */
    LEAT_ICE_BAD_METHOD,    /**< not Binding */
    LEAT_ICE_BAD_USERNAME,  /**< not LOCAL:REMOTE of a generation that is valid now */
    LEAT_ICE_BAD_INTEGRITY, /**< MESSAGE-INTEGRITY missing or wrong */
    LEAT_ICE_REPLAYED /**< a transaction id of the last LEAT_ICE_TIDS_MAX, from another address */
};

struct leat_ice_tuple {
    struct leat_tuple tuple;
    uint32_t priority;     /**< of the last request */
    uint64_t checked_us;   /**< last request with success */
    uint64_t nominated_us; /**< last one with USE-CANDIDATE, 0 = never */
};

struct leat_ice_generation {
    struct leat_ice_local local;
    char remote_ufrag[LEAT_ICE_UFRAG_MAX + 1];
    struct leat_hmac_sha1 key; /**< of local.pwd */
    bool is_used;
};

struct leat_ice_tid {
    uint8_t tid[LEAT_STUN_TID_LEN];
    struct leat_tuple tuple;
};

struct leat_ice {
    struct leat_ice_generation now;
    struct leat_ice_generation before; /**< answered until `now` is nominated, or 30 s */
    uint64_t before_until_us;
    struct leat_ice_tuple tuples[LEAT_ICE_TUPLES_MAX];
    size_t tuple_count;
    int selected;            /**< index of the tuple that we send on; -1 = none yet */
    bool is_nominated;       /**< selected by USE-CANDIDATE, not only by being checked last */
    bool is_restarting;      /**< restarted and the new generation has no nomination yet */
    uint64_t started_us;     /**< of the agent */
    uint64_t checked_us;     /**< last request with success on any tuple; 0 = none yet */
    uint64_t first_reply_us; /**< our first success response; 0 = none yet */
    struct leat_ice_tid tids[LEAT_ICE_TIDS_MAX];
    size_t tid_at;
    uint64_t requests, responses, errors; /**< authentic requests, success and error replies */
};

/** What an accepted request changed; the owner of the tuple map acts on it. */
struct leat_ice_change {
    bool tuple_added;   /**< `added` is new */
    bool tuple_removed; /**< `removed` is gone: pushed out by `added`, or silent (tick) */
    bool selected_changed;
    struct leat_tuple added, removed;
};

/** Zeroes and fills. `ice` is moved never. */
void leat_ice_init(struct leat_ice *ice, const struct leat_ice_local *local,
                   struct leat_span remote_ufrag, uint64_t now_us);
void leat_ice_deinit(struct leat_ice *ice); /**< wipes */
/** ICE restart (RFC 8445 9): new credentials on both sides; valid tuples, selected tuple and media
 * stay until the new nomination. */
void leat_ice_restart(struct leat_ice *ice, const struct leat_ice_local *local,
                      struct leat_span remote_ufrag, uint64_t now_us);

enum leat_ice_verdict leat_ice_check(const struct leat_ice *ice, const struct leat_stun_msg *m,
                                     const struct leat_tuple *tuple, uint64_t now_us);
/** Act on a request that passed leat_ice_check with the same arguments, and send the reply. A full
 * sink loses the reply only: the client asks again. */
void leat_ice_accept(struct leat_ice *ice, const struct leat_stun_msg *m,
                     const struct leat_tuple *tuple, uint64_t now_us, struct leat_sink *out,
                     struct leat_ice_change *change);

/** Whether DTLS and SRTP from this tuple are heard. */
bool leat_ice_is_valid_tuple(const struct leat_ice *ice, const struct leat_tuple *tuple);
/** The tuple to send on, or NULL. */
const struct leat_tuple *leat_ice_selected(const struct leat_ice *ice);
/** Consent expiry, removal of a silent tuple, or the end of the generation before. */
uint64_t leat_ice_deadline(const struct leat_ice *ice);
/** @return false when consent is over (30 s without an authentic request, or none at all since the
 * start): the peer ends. Otherwise at most one silent tuple is removed a call, reported in *change;
 * call again while change->tuple_removed. */
bool leat_ice_tick(struct leat_ice *ice, uint64_t now_us, struct leat_ice_change *change);
/** Drop a tuple that another peer takes over. The best of the others is selected in its place. */
void leat_ice_remove_tuple(struct leat_ice *ice, const struct leat_tuple *tuple);

#endif
