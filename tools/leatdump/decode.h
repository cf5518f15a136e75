/* SPDX-License-Identifier: MIT */
/**
 * @file  What a datagram says, member by member. Whatever it is: nothing outside it is read.
 * @module leatdump
 */
#ifndef LEAT_DUMP_DECODE_H
#define LEAT_DUMP_DECODE_H

#include "out.h"

/** Class by its first octets, then everything that can be read without keys. */
void leat_dump_datagram(struct leat_dump_out *o, struct leat_span datagram);
void leat_dump_stun(struct leat_dump_out *o, struct leat_span datagram);
void leat_dump_dtls(struct leat_dump_out *o, struct leat_span datagram);
void leat_dump_rtp(struct leat_dump_out *o, struct leat_span datagram);
void leat_dump_rtcp(struct leat_dump_out *o, struct leat_span datagram);

#endif
