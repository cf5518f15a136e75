/* SPDX-License-Identifier: MIT */
/**
 * @file  One connection to leatd: a request out, lines in.
 * @module leatctl
 */
#ifndef LEAT_CTL_SESSION_H
#define LEAT_CTL_SESSION_H

#include <leat/io.h>
#include <leat/json.h>

#define LEAT_CTL_LINE_MAX (32u << 20) /**< octets of a reply; leatd bounds its own at 2 MiB */
#define LEAT_CTL_REPLY_US 30000000u

struct leat_ctl_session {
    struct leat_loop *loop;
    struct leat_conn *conn;
    struct leat_timer *timer;
    struct leat_signal *interrupt, *terminate;
    uint8_t *text; /**< of the line that is being read */
    size_t len, cap;
    bool is_over;
    /** A line. @return whether more are wanted. */
    bool (*line)(void *data, struct leat_span line);
    void *data;
    char why[200]; /**< what went wrong with the connection, "" for nothing */
};

/** @return 0, or an error with a sentence in s->why. */
int leat_ctl_session_open(struct leat_ctl_session *s, const char *path);
/** The request with id 1. */
int leat_ctl_session_request(struct leat_ctl_session *s, const char *method,
                             struct leat_span params);
/**
 * Hand every line to s->line until it has enough.
 * @param is_endless  no reply within LEAT_CTL_REPLY_US is no error; SIGINT and SIGTERM end it well
 * @return 0, or LEAT_E_IO with a sentence in s->why
 */
int leat_ctl_session_run(struct leat_ctl_session *s, bool is_endless);
void leat_ctl_session_close(struct leat_ctl_session *s);

#endif
