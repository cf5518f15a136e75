/* SPDX-License-Identifier: MIT */
/**
 * @file  leatload's end of the control socket: JSON-RPC requests in flight and their replies.
 * @module loadgen
 */
#ifndef LEAT_LOADGEN_CONTROL_H
#define LEAT_LOADGEN_CONTROL_H

#include <leat/io.h>
#include <leat/json.h>

#define LEAT_LOAD_REQUESTS_MAX 128 /**< in flight */

/** `result` is NULL when the daemon refused; then `error` has its message and data. */
typedef void (*leat_load_reply)(void *data, size_t index, const leat_json *result,
                                const leat_json *error);

struct leat_load_request {
    leat_load_reply reply; /**< NULL: free */
    uint64_t id;
    size_t index;
};

struct leat_load_control {
    struct leat_conn *conn;
    struct leat_json_lines lines;
    struct leat_json_writer out;
    struct leat_load_request requests[LEAT_LOAD_REQUESTS_MAX];
    size_t in_flight;
    uint64_t next_id;
    /** A notification. */
    void (*notified)(void *data, struct leat_span method, const leat_json *params);
    /** The connection is over, or spoke something else than JSON-RPC. */
    void (*gone)(void *data, const char *why);
    void *data; /**< of every callback */
};

/** notified, gone and data are the caller's. @return 0, or an error with a sentence in `why`. */
int leat_load_control_open(struct leat_load_control *c, struct leat_loop *loop, const char *path,
                           char *why, size_t why_cap);
/** No callback comes any more. */
void leat_load_control_close(struct leat_load_control *c);
void leat_load_control_deinit(struct leat_load_control *c);
/** Begin a request; the params' members are written next. @return the writer. */
struct leat_json_writer *leat_load_control_begin(struct leat_load_control *c, const char *method);
/** @return 0, LEAT_E_RANGE when too many are in flight or wait unread, LEAT_E_STATE when the
 * connection is over, LEAT_E_NOMEM. */
int leat_load_control_send(struct leat_load_control *c, leat_load_reply reply, size_t index);

#endif
