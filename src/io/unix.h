/* SPDX-License-Identifier: MIT */
/* What the server (unix.c) and the connections (conn.c) of Unix stream sockets share. */
#ifndef LEAT__IO_UNIX_H
#define LEAT__IO_UNIX_H

#include "loop.h"

/** @return 0, or LEAT_E_RANGE or LEAT_E_INVALID with a text. */
int leat__unix_check_path(const char *path, char *why, size_t why_cap);
/** Connect without waiting. @return a non-blocking descriptor, or a negative errno. */
int leat__unix_dial(const char *path);

/** A connection over a connected descriptor. @return NULL without memory; fd stays the caller's
 * then. */
struct leat_conn *leat__conn_new(struct leat_loop *loop, int fd,
                                 const struct leat_conn_events *events, void *data);
/** Tell the owner, then read. */
void leat__conn_open(struct leat_conn *c);

#endif
