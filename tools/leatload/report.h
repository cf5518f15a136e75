/* SPDX-License-Identifier: MIT */
/**
 * @file  The result of a run, and how it is told.
 * @module loadgen
 */
#ifndef LEAT_LOADGEN_REPORT_H
#define LEAT_LOADGEN_REPORT_H

#include <stdio.h>

#include <leat/hist.h>

#include "check.h"
#include "options.h"

struct leat_load_result {
    size_t connected, not_connected, ended_early;
    uint64_t sent;     /**< packets that publishers made */
    uint64_t expected; /**< packets that subscribers should have got */
    uint64_t received, lost;
    uint64_t fates[LEAT_LOAD_FATES];
    uint64_t undecryptable; /**< or malformed, RTCP included */
    uint64_t unknown_ssrc;
    uint64_t stray; /**< datagrams from elsewhere, or for no client */
    uint64_t kernel_receive_drops, kernel_send_drops; /**< on our side: the generator is too slow */
    uint64_t behind_us; /**< the most that a publisher's schedule slipped */
    uint64_t keyframe_requests, keyframes;
    uint64_t media_us;                     /**< how long media flowed */
    uint64_t octets_sent, octets_received; /**< RTP, unprotected */
    double cpu_share;                      /**< of one CPU, of this process while media flowed */
    bool is_interrupted;
    char failure[200]; /**< why the run could not go on, "" when it could */
    struct leat_hist join_us, delay_us;
    /** Parts of a join as its client sees it: from the first check to an answer, from there to the
     * keys; and from keys and media, whichever came later, to the first packet. */
    struct leat_hist ice_us, dtls_us, first_media_us;
};

/** What is wrong: not decrypted or not what was sent. */
uint64_t leat_load_result_wrong(const struct leat_load_result *r);
/** Everybody was there, and everything came, once, in order. */
bool leat_load_result_is_good(const struct leat_load_result *r);
void leat_load_report_text(FILE *out, const struct leat_load_options *o,
                           const struct leat_load_result *r);
/** One object. @return 0 or LEAT_E_NOMEM. */
int leat_load_report_json(FILE *out, const struct leat_load_options *o,
                          const struct leat_load_result *r);

#endif
