/* SPDX-License-Identifier: MIT */
/**
 * @file  The insides of a peer, shared by the files of this folder.
 * @module peer
 */
#ifndef LEAT_PEER_PRIVATE_H
#define LEAT_PEER_PRIVATE_H

#include <leat/peer.h>

struct leat_peer {
    enum leat_peer_state state;
    enum leat_peer_end end;
    bool has_state_change;
    bool has_dtls_tuple;  /**< dtls_tuple is set */
    bool is_close_wanted; /**< leat_peer_close came while a job ran; its alert goes out when the job
                             is back */
    struct leat_tuple dtls_tuple;  /**< where the last DTLS record came from */
    struct leat_tuple media_tuple; /**< where the last authentic SRTP packet came from */
    uint64_t media_us;             /**< and when; 0 = never */
    struct leat_peer_times times;
    size_t ssrc_limit;
    struct leat_ice ice;
    struct leat_dtls *dtls;
    struct leat_srtp *srtp; /**< NULL before the keys */
    struct leat_peer_counters counters;
};

#endif
