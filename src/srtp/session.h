/* SPDX-License-Identifier: MIT */
#ifndef LEAT_SRTP_SESSION_H
#define LEAT_SRTP_SESSION_H

#include "fanout.h"

struct leat__srtp_fanout *leat__srtp_fanout_of(struct leat_srtp *s);

#endif
