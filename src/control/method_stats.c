/* SPDX-License-Identifier: MIT */
/* stats.get: one STATS command a worker that has some of the peers asked for. Ended peers answer
 * with what they had at their end. */
#include "private.h"

#include <stdlib.h>

#define PEERS_MAX 4096

struct gathering {
    size_t handle_count;
    leat_handle *handles; /**< of the peers asked for, ended ones too */
    size_t batch_count;
    struct leat_stat *batches[LEAT_CONTROL_WORKERS_MAX];
    size_t counts[LEAT_CONTROL_WORKERS_MAX];
};

static struct gathering *gathering_of(struct leat__control_request *r)
{
    return (struct gathering *)(void *)r->payload;
}

static void release(struct leat__control_request *r)
{
    struct gathering *g = gathering_of(r);
    free(g->handles);
    for (size_t i = 0; i < g->batch_count; i++) {
        free(g->batches[i]);
    }
}

static void collect(struct leat__control_request *r, struct leat_command *command)
{
    struct gathering *g = gathering_of(r);
    g->batches[g->batch_count] = command->stats;
    g->counts[g->batch_count++] = command->stat_count;
    command->stats = NULL;
}

static void finish(struct leat__control_call *call, struct leat__control_request *r)
{
    struct gathering *g = gathering_of(r);
    struct leat_control *c = call->c;
    struct leat_json_writer *w = &c->out;
    if (r->error != 0) {
        leat__control_fault_error(&call->fault, r->error, "reading the statistics");
        return;
    }
    leat_json_open(w, '{');
    leat_json_put_u64(w, "timestamp_us", leat__control_since_start(c, call->now_us));
    leat_json_write_key(w, "stats");
    leat_json_open(w, '[');
    for (size_t i = 0; i < g->batch_count; i++) {
        for (size_t j = 0; j < g->counts[i]; j++) {
            const struct leat_stat *s = &g->batches[i][j];
            const struct leat__control_peer *p = leat__control_find_handle(c, s->peer);
            if (p && p->state != LEAT_PEER_ENDED && w->len <= LEAT_CONTROL_QUEUE_MAX) {
                leat__control_write_stats(w, c, p, s, 1, call->now_us);
            }
        }
    }
    for (size_t i = 0; i < g->handle_count; i++) {
        const struct leat__control_peer *p = leat__control_find_handle(c, g->handles[i]);
        if (p && p->state == LEAT_PEER_ENDED && w->len <= LEAT_CONTROL_QUEUE_MAX) {
            leat__control_write_stats(w, c, p, p->final_stats, p->final_count, p->ended_us);
        }
    }
    leat_json_close(w, ']');
    leat_json_close(w, '}');
}

/** The peers of `peers`, by name; each once. */
static void read_peers(struct leat__control_call *call, const leat_json *list, struct gathering *g)
{
    struct leat_control *c = call->c;
    size_t index = 0;
    for (const leat_json *e = leat_json_first(list); e; e = leat_json_next(e), index++) {
        char field[48], id[LEAT_ID_MAX + 1];
        struct leat_span text;
        leat__control_index_name("peers", index, field);
        if (!leat_json_string(e, &text)) {
            leat__control_fault_set(&call->fault, LEAT__RPC_PARAMS, "wrong_type", field,
                                    "%s must be a string", field);
            return;
        }
        if (!leat_id_is_valid(text)) {
            leat__control_fault_set(&call->fault, LEAT__RPC_FAILED, "bad_id", field, "%s is no id",
                                    field);
            return;
        }
        (void)leat_text_copy(id, sizeof(id), text);
        struct leat__control_peer *p = leat__control_find(c, id);
        if (!p) {
            leat__control_fault_set(&call->fault, LEAT__RPC_FAILED, "no_such_peer", field,
                                    "there is no peer \"%s\"", id);
            return;
        }
        if (p->mark != c->mark) {
            p->mark = c->mark;
            g->handles[g->handle_count++] = p->handle;
        }
    }
}

/** All peers, or those of a group. */
static void take_group(struct leat_control *c, const char *group, struct gathering *g)
{
    for (struct leat_list *n = c->peers.next; n != &c->peers; n = n->next) {
        const struct leat__control_peer *p = LEAT_CONTAINER(n, struct leat__control_peer, node);
        if (group[0] == '\0' || strcmp(p->group, group) == 0) {
            g->handles[g->handle_count++] = p->handle;
        }
    }
}

/** The command for the live ones of a worker; NULL when there is none, or with a fault. */
static struct leat_command *make_command(struct leat__control_call *call, const struct gathering *g,
                                         unsigned worker)
{
    struct leat_command *command = leat__control_command(call, LEAT_COMMAND_STATS, 0);
    if (!command) {
        return NULL;
    }
    command->handles = calloc(g->handle_count + 1, sizeof(*command->handles));
    if (!command->handles) {
        leat__control_fault_error(&call->fault, LEAT_E_NOMEM, "reading the statistics");
    }
    for (size_t i = 0; command->handles && i < g->handle_count; i++) {
        const struct leat__control_peer *p = leat__control_find_handle(call->c, g->handles[i]);
        if (p && p->worker == worker && p->state != LEAT_PEER_ENDED) {
            command->handles[command->handle_count++] = p->handle;
        }
    }
    if (command->handle_count == 0) {
        leat_command_free(command);
        return NULL;
    }
    return command;
}

static void ask_workers(struct leat__control_call *call, struct leat__control_request *r)
{
    struct leat_command *commands[LEAT_CONTROL_WORKERS_MAX] = {NULL};
    for (unsigned i = 0; i < call->c->info.workers; i++) {
        commands[i] = make_command(call, gathering_of(r), i);
    }
    if (call->fault.code != LEAT__RPC_NONE) {
        for (unsigned i = 0; i < call->c->info.workers; i++) {
            leat_command_free(commands[i]);
        }
        leat__control_request_free(r);
        return;
    }
    for (unsigned i = 0; i < call->c->info.workers; i++) {
        if (commands[i]) {
            leat__control_request_post(call->c, r, i, commands[i]);
        }
    }
    leat__control_request_commit(call, r);
}

void leat__control_stats_get(struct leat__control_call *call)
{
    struct leat_control *c = call->c;
    char group[LEAT_ID_MAX + 1] = "";
    const leat_json *list = NULL;
    (void)leat__control_params_id(&call->params, "group", false, group);
    bool has_list = leat__control_params_array(&call->params, "peers", false, PEERS_MAX, &list);
    if (has_list && group[0] != '\0') {
        leat__control_fault_set(&call->fault, LEAT__RPC_PARAMS, "conflicting_parameters", "peers",
                                "give group or peers, not both");
    }
    if (call->fault.code != LEAT__RPC_NONE) {
        return;
    }
    struct leat__control_request *r =
        leat__control_request_new(call, sizeof(struct gathering), finish);
    if (!r) {
        return;
    }
    struct gathering *g = gathering_of(r);
    r->release = release;
    r->collect = collect;
    size_t most = has_list ? leat_json_count(list) : c->live_count + c->ended_count;
    g->handles = calloc(most + 1, sizeof(*g->handles));
    if (!g->handles) {
        leat__control_fault_error(&call->fault, LEAT_E_NOMEM, "reading the statistics");
    } else if (has_list) {
        c->mark++;
        read_peers(call, list, g);
    } else {
        take_group(c, group, g);
    }
    if (call->fault.code != LEAT__RPC_NONE) {
        leat__control_request_free(r);
        return;
    }
    ask_workers(call, r);
}
