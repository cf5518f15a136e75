/* SPDX-License-Identifier: MIT */
/**
 * @file  What the files of control share: the picture of the world, requests in flight, readers.
 * @module control
 *
 * Life of a call: rpc.c opens the envelope of the reply in control.out up to the result, a method
 * reads params, and either sets a fault, writes the result, or makes a request: it posts commands
 * that carry it and commits; `done` writes the result when the last of them is back. Nothing is
 * changed before everything is validated and allocated; what was changed at post time is undone by
 * `done` when a worker failed. `done` names peers by handle only: they may have gone.
 */
#ifndef LEAT_CONTROL_PRIVATE_H
#define LEAT_CONTROL_PRIVATE_H

#include <leat/control.h>
#include <leat/list.h>
#include <leat/map.h>

#define LEAT__CONTROL_API "1.0"
#define LEAT__CONTROL_DATA_MAX 1024
#define LEAT__CONTROL_EVENTS 4096    /**< kept for a reader that resumes; a power of two */
#define LEAT__CONTROL_PART_MAX 65536 /**< octets of one line of a snapshot */
#define LEAT__CONTROL_REQUESTS 16384 /**< in flight, of all connections */
#define LEAT__CONTROL_FIELD_MAX 192
#define LEAT__CONTROL_WORDS_MAX 8 /**< event types of a filter */

/* ---- faults and parameters (params.c) ---- */

enum leat__control_code {
    LEAT__RPC_NONE = 0,
    LEAT__RPC_PARSE = -32700,
    LEAT__RPC_INVALID = -32600,
    LEAT__RPC_METHOD = -32601,
    LEAT__RPC_PARAMS = -32602,
    LEAT__RPC_FAILED = -32000
};

/** Why a call fails. The first one set counts. */
struct leat__control_fault {
    enum leat__control_code code;
    const char *reason; /**< stable word; NULL: none */
    char field[LEAT__CONTROL_FIELD_MAX];
    char message[400];
    const char *did_you_mean;                  /**< of an unknown method */
    const struct leat_media_desc *have, *want; /**< of no_common_codec; borrowed until the reply */
};

void leat__control_fault_set(struct leat__control_fault *f, enum leat__control_code code,
                             const char *reason, const char *field, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/** A worker's or an allocation's error. `what` names what could not be done. */
void leat__control_fault_error(struct leat__control_fault *f, int error, const char *what);

/** An object that is read member by member. */
struct leat__control_params {
    const leat_json *object;
    struct leat__control_fault *fault;
    char path[LEAT__CONTROL_FIELD_MAX]; /**< "" at the top, "routes[0].to" below */
};

/** Refuse members that are not among the words of `known`. */
void leat__control_params_known(const struct leat__control_params *p, const char *known);
bool leat__control_params_has(const struct leat__control_params *p, const char *key);
/** Path of a member. @return out. */
const char *leat__control_params_path(const struct leat__control_params *p, const char *key,
                                      char out[static LEAT__CONTROL_FIELD_MAX]);
/* Readers return true when the member is there and good. Of another type it is a fault; when it is
 * absent, only if required. */
bool leat__control_params_text(const struct leat__control_params *p, const char *key,
                               bool is_required, struct leat_span *out);
bool leat__control_params_id(const struct leat__control_params *p, const char *key,
                             bool is_required, char out[static LEAT_ID_MAX + 1]);
bool leat__control_params_mid(const struct leat__control_params *p, const char *key,
                              char out[static LEAT_MID_MAX + 1]);
bool leat__control_params_int(const struct leat__control_params *p, const char *key,
                              bool is_required, int64_t min, int64_t max, int64_t *out);
bool leat__control_params_bool(const struct leat__control_params *p, const char *key, bool *out);
bool leat__control_params_object(const struct leat__control_params *p, const char *key,
                                 bool is_required, struct leat__control_params *out);
/** @param max elements */
bool leat__control_params_array(const struct leat__control_params *p, const char *key,
                                bool is_required, size_t max, const leat_json **out);
/** The index-th element of an array that is made of objects. */
bool leat__control_params_element(const struct leat__control_params *p, const char *key,
                                  size_t index, const leat_json *element,
                                  struct leat__control_params *out);
/** "peers[3]". */
void leat__control_index_name(const char *key, size_t index, char out[static 48]);
/** One of the words of `words`. @return its index, -1 when absent or a fault. */
int leat__control_params_word(const struct leat__control_params *p, const char *key,
                              bool is_required, const char *words);
/** Whether `text` is one of the blank-separated words. */
bool leat__control_is_word(const char *words, struct leat_span text, int *index);

/* ---- codecs and the parameter form (codecs.c, remote.c) ---- */

/** `codecs` as an ordered allow-list into the policy. */
void leat__control_read_codecs(const struct leat__control_params *p,
                               struct leat_sdp_policy *policy);
/** name, clock, channels and parameters. @return false for a name that we do not know or a fault.
 */
bool leat__control_read_codec(const struct leat__control_params *p, struct leat_codec *out);
/** The parameter form to what an offer would have said; deinit `out` in any case. */
void leat__control_read_remote(const struct leat__control_params *p, struct leat_sdp_desc *out);

/* ---- the world (world.c) ---- */

/** What a sender carries. */
struct leat__control_link {
    leat_handle from; /**< 0: nothing */
    char from_id[LEAT_ID_MAX + 1], from_mid[LEAT_MID_MAX + 1];
    bool is_paused;
};

/** Beside a section of the agreement: what moves without a negotiation. */
struct leat__control_section {
    enum leat_track_state track_state;
    struct leat__control_link link;   /**< as the worker has it */
    struct leat__control_link wanted; /**< as set by commands that are out, while pending */
    unsigned pending;
    enum leat_route_state route_state;
    const char *route_reason; /**< static; NULL: none */
    uint64_t mark;            /**< of the last route.set that named it */
};

struct leat__control_peer {
    struct leat_list node;       /**< control.peers in order of creation, or control.leaving */
    struct leat_list ended_node; /**< control.ended, in order of ending */
    char id[LEAT_ID_MAX + 1], group[LEAT_ID_MAX + 1];
    char *data; /**< JSON text; NULL: null */
    leat_handle handle;
    unsigned worker;
    bool is_opening;  /**< its OPEN is out */
    bool is_leaving;  /**< closed by the controller: its id is free, its end not told yet */
    bool is_told;     /**< leaving, and its end was told because the id was taken again */
    bool is_form;     /**< made with `remote` */
    unsigned waiters; /**< repeated creates that wait for the OPEN */
    enum leat_peer_state state;
    enum leat_peer_end end;
    uint64_t created_us, ended_us;
    struct leat_addr remote;
    bool has_digest;
    uint8_t digest[32]; /**< of the create's params, until a negotiation */
    struct leat_sdp_session sdp;
    struct leat__control_section *sections;    /**< sdp.section_count */
    char *answer;                              /**< NULL in the parameter form */
    const struct leat_dtls_identity *identity; /**< held */
    struct leat_ice_local local;
    struct leat_ice_local
        fresh; /**< issued by peer.restart_ice, in force with the next negotiate */
    bool has_fresh;
    char cname[32];
    uint32_t rtcp_ssrc;
    uint32_t *used_ssrcs; /**< every one that this peer ever had (RFC 3711 9.1) */
    size_t used_count;
    uint64_t media_seq; /**< counts negotiations */
    uint64_t mark;      /**< of the last stats.get that named it */
    struct leat_stat *final_stats;
    size_t final_count;
};

struct leat__control_event; /* events.c */
struct leat__control_request;

struct leat_control {
    struct leat_control_info info;
    struct leat_control_port port;
    struct leat_rng *rng;
    uint64_t start_us;

    struct leat_list connections, requests;
    size_t connection_count, request_count;

    struct leat_list peers, leaving, ended;
    struct leat_map by_id, by_handle;
    leat_handle last_handle;
    size_t live_count, ended_count; /**< live: not ended, leaving ones included */
    size_t worker_peers[LEAT_CONTROL_WORKERS_MAX];
    uint64_t mark;

    bool is_draining, is_shutdown_wanted, is_shutdown_done;
    uint64_t drain_us;
    uint64_t backlog_us; /**< when readers of a backlog are looked at next */

    uint64_t seq, oldest_seq; /**< of the last event; of the oldest one that is kept */
    struct leat__control_event *events[LEAT__CONTROL_EVENTS];

    struct leat_json_writer out, line; /**< the reply being made; an event or a snapshot's line */
    struct leat_json_writer id;        /**< the running call's id as text */
    uint64_t calls, faults, cut_off;
};

struct leat__control_peer *leat__control_find(const struct leat_control *c, const char *id);
struct leat__control_peer *leat__control_find_handle(const struct leat_control *c,
                                                     leat_handle handle);
/** Takes over p on success. @return 0, LEAT_E_NOMEM */
int leat__control_world_add(struct leat_control *c, struct leat__control_peer *p);
/** Out of every list and map, and freed. */
void leat__control_world_remove(struct leat_control *c, struct leat__control_peer *p);
void leat__control_peer_free(struct leat__control_peer *p);
/** The controller closed it: its id is free from now on, its end is still to come. */
void leat__control_world_leave(struct leat_control *c, struct leat__control_peer *p);
/** An id is about to be taken again: tell the end of the peer that had it. */
void leat__control_world_settle(struct leat_control *c, const char *id, uint64_t now_us);
unsigned leat__control_choose_worker(const struct leat_control *c, const char *group);
/** Drop ended peers that were kept long enough, or are too many. */
void leat__control_world_expire(struct leat_control *c, uint64_t now_us);
uint64_t leat__control_world_deadline(const struct leat_control *c);
/** The peer that params.<key> names. NULL with a fault. */
struct leat__control_peer *leat__control_read_peer(const struct leat_control *c,
                                                   const struct leat__control_params *p,
                                                   const char *key);
/** The peer and section that {peer, mid} name: a sender's or a track's of a peer that has not
 * ended. NULL with a fault. */
struct leat__control_peer *leat__control_read_end(const struct leat_control *c,
                                                  const struct leat__control_params *end,
                                                  bool is_sender, ptrdiff_t *section);
static inline bool leat__control_has_track(const struct leat_sdp_agreed *s)
{
    return s->has_track && !s->is_rejected;
}
static inline bool leat__control_has_sender(const struct leat_sdp_agreed *s)
{
    return s->has_sender && !s->is_rejected;
}
/** Index of the section with that mid that is not rejected, or -1. */
ptrdiff_t leat__control_section_find(const struct leat__control_peer *p, const char *mid);
/** What a section's sender carries as a controller sees it. */
const struct leat__control_link *leat__control_link_of(const struct leat__control_section *s);
/** Microseconds since the daemon's start, for everything that a controller reads; 0 stays 0. */
uint64_t leat__control_since_start(const struct leat_control *c, uint64_t at_us);

/* ---- negotiation (media.c) ---- */

/** What a create or negotiate asks for, read and checked. */
struct leat__control_proposal {
    struct leat_sdp_desc desc;
    struct leat_sdp_policy policy;
    bool is_form;
};

/** Reads offer | remote, codecs, setup; deinit in any case. */
void leat__control_proposal_read(struct leat_control *c, const struct leat__control_params *p,
                                 struct leat__control_proposal *out);
/** Agree on top of `before`; faults carry sdp's words. */
int leat__control_agree(const struct leat__control_proposal *proposal,
                        const struct leat_sdp_session *before, struct leat_sdp_session *after,
                        struct leat__control_fault *fault);
/** `streams` into the agreement's senders. */
void leat__control_read_streams(const struct leat__control_params *p, struct leat_sdp_session *s);
/** An SSRC for every sender that has none yet, noted as used. @return 0 or LEAT_E_NOMEM. */
int leat__control_choose_ssrcs(struct leat_control *c, struct leat__control_peer *p,
                               struct leat_sdp_session *s);
/** The answer's text in heap memory. @return 0 or an error. */
int leat__control_compose(struct leat_control *c, const struct leat__control_peer *p,
                          const struct leat_ice_local *local, struct leat_sdp_session *s,
                          char **answer);
/** tracks and senders of an agreement into a command. @return 0 or LEAT_E_NOMEM. */
int leat__control_fill_media(struct leat_command *command, const struct leat_sdp_session *s);
/** Section states for `to`: those that live on are taken from `from`. NULL without memory. */
struct leat__control_section *
leat__control_carry_sections(const struct leat_sdp_session *to, const struct leat_sdp_session *from,
                             const struct leat__control_section *sections);

/* ---- calls and requests (rpc.c, request.c) ---- */

struct leat__control_call {
    struct leat_control *c;
    struct leat_control_conn *conn; /**< NULL: gone */
    struct leat_span id;            /**< JSON text; empty: a notification */
    struct leat__control_params params;
    uint64_t now_us;
    struct leat__control_fault fault;
    bool is_deferred;
};

struct leat__control_method {
    const char *name;
    void (*run)(struct leat__control_call *call);
    const char *params; /**< names, separated by blanks */
};

extern const struct leat__control_method leat__control_methods[];
extern const size_t leat__control_method_count;

/** One line of a connection. */
void leat__control_serve(struct leat_control *c, struct leat_control_conn *conn,
                         struct leat_span line, uint64_t now_us);
/** The line that a stream ends on because it was too long. */
void leat__control_refuse_line(struct leat_control *c, struct leat_control_conn *conn);
/** Opens the envelope in c->out up to the result. */
void leat__control_reply_begin(struct leat_control *c, struct leat_span id);
/** Closes and sends it, or the fault instead. */
void leat__control_reply_end(struct leat__control_call *call);

/** A call that waits for workers. */
struct leat__control_request {
    struct leat_list node;
    struct leat_control_conn *conn;
    char *id;
    size_t id_len;
    unsigned pending; /**< commands that are out, and one until it is committed */
    int error;        /**< the first one of its commands */
    leat_handle handle;
    bool is_waiting; /**< for the OPEN of `handle`, with no command of its own */
    /** Takes what is needed out of a command that came back; NULL: nothing. */
    void (*collect)(struct leat__control_request *r, struct leat_command *command);
    /** Like a method: writes the result or sets a fault. */
    void (*done)(struct leat__control_call *call, struct leat__control_request *r);
    /** After the reply has gone; NULL: nothing. */
    void (*after)(struct leat_control *c, struct leat__control_request *r, uint64_t now_us);
    void (*release)(struct leat__control_request *r); /**< of what payload owns; NULL: nothing */
    _Alignas(16) unsigned char payload[];
};

/** With a zeroed payload. NULL with a fault when too many are in flight or there is no memory. */
struct leat__control_request *leat__control_request_new(
    struct leat__control_call *call, size_t payload,
    void (*done)(struct leat__control_call *call, struct leat__control_request *r));
/** One that was not posted. NULL is fine. */
void leat__control_request_free(struct leat__control_request *r);
/** After the posts: the call is answered by the request when all of them are back, at once if there
 * are none. r may be gone then. */
void leat__control_request_commit(struct leat__control_call *call, struct leat__control_request *r);
void leat__control_request_post(struct leat_control *c, struct leat__control_request *r,
                                unsigned worker, struct leat_command *command);
/** Finish the requests that wait for this peer's OPEN. */
void leat__control_requests_wake(struct leat_control *c, leat_handle handle, int error,
                                 uint64_t now_us);
void leat__control_requests_forget(struct leat_control *c, const struct leat_control_conn *conn);
/** A command, or NULL with a fault. */
struct leat_command *leat__control_command(struct leat__control_call *call,
                                           enum leat_command_type type, leat_handle handle);

/* ---- connections (control.c) ---- */

struct leat__control_filter {
    char group[LEAT_ID_MAX + 1], peer[LEAT_ID_MAX + 1]; /**< "": any */
    size_t type_count;                                  /**< 0: any */
    const char *types[LEAT__CONTROL_WORDS_MAX];
};

struct leat_control_conn {
    struct leat_list node;
    void *conn; /**< the owner's */
    struct leat_json_lines lines;
    size_t pending; /**< requests in flight */
    bool is_closing, is_ended, is_subscribed;
    struct leat__control_filter filter;
    char *backlog; /**< a snapshot, and what came after it, until the reader has taken it */
    size_t backlog_at, backlog_len, backlog_cap;
    size_t backlog_free; /**< of that, octets of the snapshot: they do not count as unread */
};

void leat__control_write(struct leat_control *c, struct leat_control_conn *conn, const char *octets,
                         size_t len);
/** A part of a snapshot: waits in the backlog, so that a large world does not cut its reader off.
 */
void leat__control_write_bulk(struct leat_control *c, struct leat_control_conn *conn,
                              const char *octets, size_t len);
void leat__control_cut_off(struct leat_control *c, struct leat_control_conn *conn);
/** Close a connection whose remote has finished sending, once nothing is owed to it. */
void leat__control_close_if_idle(struct leat_control *c, struct leat_control_conn *conn);
void leat__control_set_draining(struct leat_control *c, bool is_draining, uint64_t deadline_us,
                                uint64_t now_us);

/* ---- events (events.c) ---- */

/** Whom an event is about; "" where there is none. */
struct leat__control_subject {
    const char *peer, *group, *other_peer, *other_group;
};

/** The event types, separated by blanks. */
extern const char leat__control_event_types[];
/** The static text of one, or NULL. */
const char *leat__control_event_type(struct leat_span text);

/** Opens the line in c->line up to its own members. */
struct leat_json_writer *leat__control_event_begin(struct leat_control *c, const char *type,
                                                   uint64_t now_us);
/** @param type static */
void leat__control_event_end(struct leat_control *c, const char *type,
                             const struct leat__control_subject *subject);
void leat__control_emit_peer(struct leat_control *c, const struct leat__control_peer *p,
                             uint64_t now_us);
void leat__control_emit_daemon(struct leat_control *c, uint64_t now_us);
bool leat__control_filter_passes(const struct leat__control_filter *f, const char *type,
                                 const struct leat__control_subject *subject);
/** Send what is kept after `seq`. */
void leat__control_events_resend(struct leat_control *c, struct leat_control_conn *conn,
                                 uint64_t seq);
void leat__control_events_clear(struct leat_control *c);

/* ---- JSON of the world (write.c) ---- */

/** Our own: an identity's. */
void leat__control_put_fingerprint(struct leat_json_writer *w,
                                   const struct leat_dtls_identity *identity);
void leat__control_put_addr(struct leat_json_writer *w, const char *key,
                            const struct leat_addr *addr);
void leat__control_put_candidates(struct leat_json_writer *w, const struct leat_control *c,
                                  unsigned worker);
void leat__control_put_media(struct leat_json_writer *w, const struct leat__control_peer *p);
void leat__control_put_end(struct leat_json_writer *w, const char *key, const char *id,
                           const char *mid);
void leat__control_write_peer(struct leat_json_writer *w, const struct leat_control *c,
                              const struct leat__control_peer *p);
void leat__control_write_route(struct leat_json_writer *w, const struct leat__control_peer *p,
                               size_t section);
/** The routes of a receiver that the filter lets pass. */
void leat__control_write_routes(struct leat_json_writer *w, const struct leat_control *c,
                                const struct leat__control_peer *p,
                                const struct leat__control_filter *filter);
void leat__control_write_stats(struct leat_json_writer *w, const struct leat_control *c,
                               const struct leat__control_peer *p, const struct leat_stat *stats,
                               size_t count, uint64_t now_us);

/** The common part of the results of peer.create and peer.negotiate (method_create.c). */
void leat__control_put_negotiated(struct leat_json_writer *w, const struct leat_control *c,
                                  const struct leat__control_peer *p);

/* ---- the document (generated from openrpc.json) ---- */
extern const char leat__control_openrpc[];
extern const size_t leat__control_openrpc_len;

/* ---- methods ---- */
void leat__control_peer_create(struct leat__control_call *call);
void leat__control_peer_negotiate(struct leat__control_call *call);
void leat__control_peer_restart_ice(struct leat__control_call *call);
void leat__control_peer_close(struct leat__control_call *call);
void leat__control_peer_get(struct leat__control_call *call);
void leat__control_peer_list(struct leat__control_call *call);
void leat__control_group_close(struct leat__control_call *call);
void leat__control_route_set(struct leat__control_call *call);
void leat__control_route_list(struct leat__control_call *call);
void leat__control_route_explain(struct leat__control_call *call);
void leat__control_track_request_keyframe(struct leat__control_call *call);
void leat__control_stats_get(struct leat__control_call *call);
void leat__control_events_subscribe(struct leat__control_call *call);
void leat__control_events_unsubscribe(struct leat__control_call *call);
void leat__control_daemon_info(struct leat__control_call *call);
void leat__control_daemon_stats(struct leat__control_call *call);
void leat__control_daemon_drain(struct leat__control_call *call);
void leat__control_daemon_shutdown(struct leat__control_call *call);
void leat__control_rpc_discover(struct leat__control_call *call);

#endif
