/* SPDX-License-Identifier: MIT */
#ifndef LEAT_SRTP_SESSION_H
#define LEAT_SRTP_SESSION_H

#include "fanout.h"
#include "stream.h"

struct leat_srtp {
    struct leat__srtp_fanout send; /* begins a cache line */
    struct leat_srtp_keys keys;
    size_t ssrc_limit;
    size_t rtp_tag_len, rtcp_tag_len;
    bool is_aead;
    struct leat__srtp_table receive;
    _Alignas(64) uint8_t memory[]; /* of `send` */
};

#endif
