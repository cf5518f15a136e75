/* SPDX-License-Identifier: MIT */
#ifndef LEAT_SRTP_SESSION_H
#define LEAT_SRTP_SESSION_H

#include "fanout.h"
#include "stream.h"

struct leat_srtp {
    struct leat__srtp_fanout send; /* begins a cache line */
    enum leat_srtp_profile profile;
    struct leat_srtp_master receive_master; /**< libsrtp2 derives from it for each new SSRC */
    size_t ssrc_limit;
    struct leat__srtp_table receive;
    _Alignas(64) uint8_t memory[]; /* of `send` */
};

#endif
