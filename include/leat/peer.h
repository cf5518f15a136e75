/* SPDX-License-Identifier: MIT */
/**
 * @file  One WebRTC transport to one remote: ICE, DTLS and SRTP meet here and nowhere else.
 * @module peer
 *
 * Datagrams and time in; datagrams (through the sink), events and deadlines out. A peer answers
 * DTLS on the tuple that its last record came from while no tuple is nominated, and on the
 * nominated one afterwards. SRTP keys are in place before the flight that ends the handshake
 * leaves.
 */
#ifndef LEAT_PEER_H
#define LEAT_PEER_H

#include <leat/dtls.h>
#include <leat/ice.h>
#include <leat/srtp.h>

enum leat_peer_state {
    LEAT_PEER_NEW,        /**< no authentic check yet */
    LEAT_PEER_CONNECTING, /**< a tuple is valid, DTLS is not over */
    LEAT_PEER_CONNECTED,  /**< keys are in place */
    LEAT_PEER_ENDED
};

enum leat_peer_end {
    LEAT_PEER_END_NONE,
    LEAT_PEER_END_CLOSED,           /**< by the controller */
    LEAT_PEER_END_CLOSED_BY_REMOTE, /**< close_notify */
    LEAT_PEER_END_ICE_TIMEOUT,      /**< no authentic check within 30 s of the start */
    LEAT_PEER_END_CONSENT_EXPIRED,
    LEAT_PEER_END_DTLS_TIMEOUT,
    LEAT_PEER_END_DTLS_FAILED,
    LEAT_PEER_END_DTLS_ALERT,
    LEAT_PEER_END_FINGERPRINT,
    LEAT_PEER_END_NO_CERTIFICATE,
    LEAT_PEER_END_NO_SRTP_PROFILE,
    LEAT_PEER_END_INTERNAL,
    LEAT_PEER_END_SHUTDOWN
};

/** The stable words of the control protocol: "new", ...; "closed", "consent_expired", ...; "" for
 * NONE. */
const char *leat_peer_state_text(enum leat_peer_state state);
const char *leat_peer_end_text(enum leat_peer_end end);

struct leat_peer_params {
    struct leat_ice_local ice_local;
    char remote_ufrag[LEAT_ICE_UFRAG_MAX + 1];
    struct leat_dtls_params dtls; /**< identity is held for the peer's life */
    size_t ssrc_limit;            /**< incoming SSRCs; 0 = LEAT_SRTP_SSRCS_MAX */
};

struct leat_peer_counters {
    uint64_t datagrams_in, octets_in, datagrams_out, octets_out;
    uint64_t stun_replayed,
        stun_rejected; /**< rejected: any other ICE verdict but OK and INDICATION */
    uint64_t dtls_malformed, dtls_dropped; /**< datagrams; dropped: queue full or ignored */
    uint64_t dtls_forged, dtls_replayed,   /**< records; as struct leat_dtls_counters */
        dtls_data_dropped, dtls_flights_repeated;
    uint64_t srtp_replay, srtp_auth_fail, srtp_malformed, srtp_ssrc_limit,
        srtp_early; /**< early: before keys */
    uint64_t send_index_used, send_failed, send_no_tuple, send_sink_full;
    uint64_t selected_changes;
};

struct leat_peer;

int leat_peer_new(struct leat_peer **out, const struct leat_peer_params *params, uint64_t now_us);
/** Not while a job runs. NULL is fine. */
void leat_peer_free(struct leat_peer *p);

/* ---- ICE ---- */
enum leat_ice_verdict leat_peer_check_stun(struct leat_peer *p, const struct leat_stun_msg *m,
                                           const struct leat_tuple *tuple, uint64_t now_us);
/** After LEAT_ICE_OK: answer; the first one starts DTLS. */
void leat_peer_accept_stun(struct leat_peer *p, const struct leat_stun_msg *m,
                           const struct leat_tuple *tuple, uint64_t now_us, struct leat_sink *out,
                           struct leat_ice_change *change);
void leat_peer_restart_ice(struct leat_peer *p, const struct leat_ice_local *local,
                           struct leat_span remote_ufrag, uint64_t now_us);
void leat_peer_remove_tuple(struct leat_peer *p, const struct leat_tuple *tuple);
/** Authenticated traffic (STUN or SRTP) from that tuple not longer than a second ago: it is not
 * moved to another peer. */
bool leat_peer_is_tuple_busy(const struct leat_peer *p, const struct leat_tuple *tuple,
                             uint64_t now_us);

/* ---- DTLS ---- */
/** From a valid tuple only; others are counted and dropped. */
void leat_peer_receive_dtls(struct leat_peer *p, struct leat_span datagram,
                            const struct leat_tuple *tuple, uint64_t now_us, struct leat_sink *out);
bool leat_peer_wants_job(const struct leat_peer *p);
bool leat_peer_is_job_running(const struct leat_peer *p);
/** Some job was done for it already: what it waits for ends a handshake that was begun. */
bool leat_peer_is_shaking_hands(const struct leat_peer *p);
void leat_peer_job_begin(struct leat_peer *p, uint64_t now_us);
void leat_peer_job_run(struct leat_peer *p, struct leat_rng *rng); /**< any thread */
void leat_peer_job_end(struct leat_peer *p, uint64_t now_us, struct leat_sink *out);

/* ---- SRTP ---- */
/** In place; verdicts are counted. Before the keys or from a tuple that is not valid:
 * LEAT_SRTP_FAILED (srtp_early). */
enum leat_srtp_verdict leat_peer_unprotect(struct leat_peer *p, uint8_t *pkt, size_t *len,
                                           const struct leat_tuple *tuple, uint64_t now_us,
                                           bool is_rtcp);
/** RTP packets, each for one peer, that are protected together and sent on their peers' selected
 * tuples. */
struct leat_peer_batch {
    size_t count; /**< 0 at first; full at LEAT_SRTP_BATCH_MAX */
    struct leat_peer *peers[LEAT_SRTP_BATCH_MAX];
    struct leat_srtp_job jobs[LEAT_SRTP_BATCH_MAX]; /**< verdicts, after leat_peer_batch_send */
};

/** Room in the sink for a plain packet of at most `len` octets to this peer, which goes to a batch
 * that is not full. @return NULL when the peer has no keys or tuple or the sink is full (counted).
 */
uint8_t *leat_peer_batch_room(struct leat_peer_batch *b, struct leat_peer *p, size_t len,
                              struct leat_sink *out);
/** Add the packet of the room given last. @param header_len octets of RTP header in the room
 *  @param payload  lives until leat_peer_batch_send */
void leat_peer_batch_add(struct leat_peer_batch *b, size_t header_len, struct leat_span payload);
/** Protect and send all of it, in order; b->jobs[0..count-1].verdict say what became of each. */
void leat_peer_batch_send(struct leat_peer_batch *b, uint64_t now_us, struct leat_sink *out);
/** Protect into the sink and send on the selected tuple. */
enum leat_srtp_verdict leat_peer_send_rtcp(struct leat_peer *p, struct leat_span plain,
                                           struct leat_sink *out);

/* ---- life ---- */
uint64_t leat_peer_deadline(const struct leat_peer *p);
/** Do what is due. Call again while change->tuple_removed. */
void leat_peer_tick(struct leat_peer *p, uint64_t now_us, struct leat_sink *out,
                    struct leat_ice_change *change);
/** close_notify, then ENDED with `end`. */
void leat_peer_close(struct leat_peer *p, enum leat_peer_end end, uint64_t now_us,
                     struct leat_sink *out);

enum leat_peer_state leat_peer_state_of(const struct leat_peer *p);
enum leat_peer_end leat_peer_end_of(const struct leat_peer *p);
/** True once after each change of state; the owner polls after every call above. */
bool leat_peer_take_state_change(struct leat_peer *p);
const struct leat_tuple *leat_peer_selected(const struct leat_peer *p);

/** When the peer's join got where; 0 = not yet. */
struct leat_peer_times {
    uint64_t check_us;     /**< first authentic request */
    uint64_t selected_us;  /**< first selected tuple */
    uint64_t connected_us; /**< SRTP keys in place */
    uint64_t media_us;     /**< first RTP packet, either way */
};

const struct leat_peer_times *leat_peer_times_of(const struct leat_peer *p);
const struct leat_ice *leat_peer_ice(const struct leat_peer *p);
const struct leat_peer_counters *leat_peer_counters_of(const struct leat_peer *p);
enum leat_srtp_profile leat_peer_srtp_profile(const struct leat_peer *p);
const char *leat_peer_dtls_cipher(const struct leat_peer *p);
enum leat_dtls_role leat_peer_dtls_role(const struct leat_peer *p);

#endif
