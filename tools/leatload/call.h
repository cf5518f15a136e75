/* SPDX-License-Identifier: MIT */
/**
 * @file  The run: everybody joins, media flows, everybody leaves.
 * @module loadgen
 */
#ifndef LEAT_LOADGEN_CALL_H
#define LEAT_LOADGEN_CALL_H

#include "control.h"
#include "member.h"
#include "report.h"
#include "sockets.h"

#define LEAT_LOAD_OWN_ADDRS_MAX 64

enum leat_load_phase {
    LEAT_LOAD_OPENING,
    LEAT_LOAD_PUBLISHERS_JOIN,
    LEAT_LOAD_SUBSCRIBERS_JOIN,
    LEAT_LOAD_SENDING,
    LEAT_LOAD_DRAINING, /**< nothing is sent; what is under way arrives */
    LEAT_LOAD_CLOSING,
    LEAT_LOAD_OVER
};

struct leat_load_call {
    const struct leat_load_options *options;
    struct leat_loop *loop;
    struct leat_timer *timer;
    struct leat_rng *rng;
    struct leat_dtls_identity *identity;
    char fingerprint[LEAT_FINGERPRINT_TEXT_MAX];
    char group[LEAT_ID_MAX + 1];
    bool has_progress; /**< lines on stderr */
    struct leat_addr own[LEAT_LOAD_OWN_ADDRS_MAX];
    size_t own_count;
    struct leat_load_control control;
    struct leat_load_sockets sockets;
    struct leat_heap deadlines;
    struct leat_load_member *members; /**< publishers first */
    size_t count;
    enum leat_load_phase phase;
    uint64_t phase_until_us;
    size_t next;           /**< member to create, or to close */
    size_t joining;        /**< members that are on their way in */
    size_t routes_pending; /**< route.set without a reply yet */
    uint64_t media_start_us, cpu_start_us;
    uint64_t reports_sent; /**< RTCP, round-robin over the members */
    uint64_t progress_us;  /**< next line */
    uint64_t noticed;      /**< failures told on stderr */
    struct leat_load_result result;
};

/** @return 0, or an error with a sentence in `why`. */
int leat_load_call_init(struct leat_load_call *call, const struct leat_load_options *options,
                        char *why, size_t why_cap);
/** Runs to the end; the result is in call->result. */
void leat_load_call_run(struct leat_load_call *call);
/** Ctrl-C: end in order; the second time at once. */
void leat_load_call_interrupt(struct leat_load_call *call);
void leat_load_call_deinit(struct leat_load_call *call);

/* ---- traffic.c ---- */

struct leat_load_member *leat_load_publisher(const struct leat_load_call *call, size_t index);
struct leat_load_member *leat_load_subscriber(const struct leat_load_call *call, size_t index);
/** A datagram of a member's media or RTCP, already in the clear. */
void leat_load_traffic_take(struct leat_load_call *call, struct leat_load_member *m, uint8_t *data,
                            size_t len, bool is_rtcp, uint64_t now_us);
void leat_load_traffic_start(struct leat_load_call *call, uint64_t now_us);
/** Send what is due. @return when it wants to be called again. */
uint64_t leat_load_traffic_send(struct leat_load_call *call, uint64_t now_us);
/** Count everything into the result. */
void leat_load_traffic_result(struct leat_load_call *call);

#endif
