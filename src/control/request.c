/* SPDX-License-Identifier: MIT */
/*
 * Calls that wait for workers. A request outlives its connection: what it changed stays true, only
 * nobody is told. Its number is bounded over all connections.
 */
#include "private.h"

#include <stdlib.h>

struct leat__control_request *leat__control_request_new(
    struct leat__control_call *call, size_t payload,
    void (*done)(struct leat__control_call *call, struct leat__control_request *r))
{
    if (call->c->request_count >= LEAT__CONTROL_REQUESTS) {
        leat__control_fault_set(&call->fault, LEAT__RPC_FAILED, "limit", "",
                                "%d requests are in flight already", LEAT__CONTROL_REQUESTS);
        return NULL;
    }
    struct leat__control_request *r = calloc(1, sizeof(*r) + payload);
    char *id = malloc(call->id.len + 1);
    if (!r || !id) {
        free(r);
        free(id);
        leat__control_fault_error(&call->fault, LEAT_E_NOMEM, "taking the request");
        return NULL;
    }
    if (call->id.len != 0) {
        memcpy(id, call->id.data, call->id.len);
    }
    leat_list_init(&r->node);
    r->pending = 1; /* the caller's, until it commits */
    r->id = id;
    r->id_len = call->id.len;
    r->conn = call->conn;
    r->done = done;
    return r;
}

void leat__control_request_free(struct leat__control_request *r)
{
    if (!r) {
        return;
    }
    if (r->release) {
        r->release(r);
    }
    free(r->id);
    free(r);
}

struct leat_command *leat__control_command(struct leat__control_call *call,
                                           enum leat_command_type type, leat_handle handle)
{
    struct leat_command *command = leat_command_new(type, handle);
    if (!command) {
        leat__control_fault_error(&call->fault, LEAT_E_NOMEM, "making a command");
    }
    return command;
}

void leat__control_request_post(struct leat_control *c, struct leat__control_request *r,
                                unsigned worker, struct leat_command *command)
{
    command->context = r;
    r->pending++;
    c->port.post(c->port.data, worker, command);
}

static void finish(struct leat_control *c, struct leat__control_request *r, uint64_t now_us)
{
    struct leat__control_call call = {
        .c = c, .conn = r->conn, .id = leat_span(r->id, r->id_len), .now_us = now_us};
    call.params.fault = &call.fault;
    leat_list_remove(&r->node);
    c->request_count--;
    if (r->conn) {
        r->conn->pending--;
    }
    leat__control_reply_begin(c, call.id);
    r->done(&call, r);
    leat__control_reply_end(&call);
    if (r->conn) {
        leat__control_close_if_idle(c, r->conn);
    }
    if (r->after) {
        r->after(c, r, now_us);
    }
    leat__control_request_free(r);
}

void leat__control_request_commit(struct leat__control_call *call, struct leat__control_request *r)
{
    struct leat_control *c = call->c;
    call->is_deferred = true;
    leat_list_add_tail(&c->requests, &r->node);
    c->request_count++;
    if (r->conn) {
        r->conn->pending++;
    }
    if (!r->is_waiting && --r->pending == 0) {
        finish(c, r, call->now_us);
    }
}

void leat_control_complete(struct leat_control *c, struct leat_command *command, uint64_t now_us)
{
    struct leat__control_request *r = command->context;
    if (r->error == 0) {
        r->error = command->result;
    }
    if (r->collect) {
        r->collect(r, command);
    }
    leat_command_free(command);
    if (--r->pending == 0) {
        finish(c, r, now_us);
    }
}

void leat__control_requests_wake(struct leat_control *c, leat_handle handle, int error,
                                 uint64_t now_us)
{
    for (struct leat_list *n = c->requests.next, *next; n != &c->requests; n = next) {
        struct leat__control_request *r = LEAT_CONTAINER(n, struct leat__control_request, node);
        next = n->next;
        if (r->is_waiting && r->handle == handle) {
            r->error = error;
            finish(c, r, now_us);
        }
    }
}

void leat__control_requests_forget(struct leat_control *c, const struct leat_control_conn *conn)
{
    for (struct leat_list *n = c->requests.next; n != &c->requests; n = n->next) {
        struct leat__control_request *r = LEAT_CONTAINER(n, struct leat__control_request, node);
        if (r->conn == conn) {
            r->conn = NULL;
        }
    }
}
