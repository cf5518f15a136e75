/* SPDX-License-Identifier: MIT */
/**
 * @file  The other side: one WebRTC client with a controlling ICE agent, DTLS and SRTP, sans-IO, on
 * the same pure modules as the daemon.
 * @module loadgen
 *
 * It checks one candidate pair, nominates it in every check, and keeps consent. leatload drives
 * many over sockets, the scenario tests over a scripted network with a virtual clock. Handshakes
 * run inline.
 */
#ifndef LEAT_LOADGEN_CLIENT_H
#define LEAT_LOADGEN_CLIENT_H

#include <leat/dtls.h>
#include <leat/ice.h>
#include <leat/rtp.h>
#include <leat/sink.h>
#include <leat/srtp.h>

struct leat_client_params {
    struct leat_tuple tuple; /**< ours and the daemon's address */
    struct leat_ice_local local;
    char remote_ufrag[LEAT_ICE_UFRAG_MAX + 1], remote_pwd[LEAT_ICE_PWD_MAX + 1];
    struct leat_dtls_params dtls;
    uint64_t consent_us;   /**< between checks once one succeeded; 0 = 2.5 s */
    bool holds_nomination; /**< checks carry no USE-CANDIDATE until leat_client_nominate */
};

enum leat_client_state {
    LEAT_CLIENT_CHECKING,
    LEAT_CLIENT_CONNECTING,
    LEAT_CLIENT_CONNECTED,
    LEAT_CLIENT_ENDED
};

struct leat_client_counters {
    uint64_t checks_sent, checks_answered, checks_failed; /**< failed: an error response */
    uint64_t rtp_in, rtcp_in, bad_in; /**< bad: undecryptable or malformed media */
    uint64_t rtp_out, send_failed;
};

struct leat_client {
    struct leat_client_params params;
    enum leat_client_state state;
    enum leat_dtls_end end;
    struct leat_hmac_sha1 remote_key; /**< of remote_pwd: protects our requests and their replies */
    uint8_t tid[LEAT_STUN_TID_LEN];   /**< of the running check */
    bool is_check_running;
    uint32_t retries;
    uint64_t check_us;                           /**< next transmission */
    uint64_t started_us, valid_us, connected_us; /**< 0 = not yet */
    struct leat_addr mapped;                     /**< our address as the daemon sees it */
    struct leat_dtls *dtls;
    struct leat_srtp *srtp;
    struct leat_client_counters counters;
    uint64_t tie_breaker;
};

/** What a datagram turned out to be. */
enum leat_client_input {
    LEAT_CLIENT_NOTHING, /**< STUN, DTLS, or something dropped */
    LEAT_CLIENT_RTP,     /**< plain RTP now stands in the caller's buffer */
    LEAT_CLIENT_RTCP     /**< plain RTCP */
};

int leat_client_init(struct leat_client *c, const struct leat_client_params *params,
                     struct leat_rng *rng, uint64_t now_us);
void leat_client_deinit(struct leat_client *c);
/** @param len in and out */
enum leat_client_input leat_client_receive(struct leat_client *c, uint8_t *data, size_t *len,
                                           uint64_t now_us, struct leat_rng *rng,
                                           struct leat_sink *out);
uint64_t leat_client_deadline(const struct leat_client *c);
void leat_client_tick(struct leat_client *c, uint64_t now_us, struct leat_rng *rng,
                      struct leat_sink *out);
/** Protect and send. @return 0 or LEAT_E_STATE, LEAT_E_CRYPTO, LEAT_E_RANGE. */
int leat_client_send_rtp(struct leat_client *c, struct leat_span plain, struct leat_sink *out);
int leat_client_send_rtcp(struct leat_client *c, struct leat_span plain, struct leat_sink *out);
/** New credentials on both sides; a check goes out at once (RFC 8445 9). */
void leat_client_restart_ice(struct leat_client *c, const struct leat_ice_local *local,
                             const char *remote_ufrag, const char *remote_pwd, uint64_t now_us);
/** Our address changed, as behind a NAT that rebinds: the next check leaves from `local`. */
void leat_client_rebind(struct leat_client *c, const struct leat_addr *local, uint64_t now_us);
void leat_client_nominate(struct leat_client *c, uint64_t now_us);
/** close_notify. */
void leat_client_close(struct leat_client *c, uint64_t now_us, struct leat_sink *out);

#endif
