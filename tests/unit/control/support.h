/* SPDX-License-Identifier: MIT */
/**
 * @file  A controller's and a worker's side around one leat_control: connections that keep what is
 * written to them, and fake workers that record commands and carry them out when told to.
 */
#ifndef LEAT_CONTROL_SUPPORT_H
#define LEAT_CONTROL_SUPPORT_H

#include <leat/control.h>
#include <leat/list.h>

#define CONNS_MAX 8
#define WORKERS_MAX 4
#define PEERS_MAX 4096

/** Whoever reads a connection. */
struct reader {
    struct leat_control_conn *conn; /**< NULL: not open */
    char *text;                     /**< what was written and not taken yet */
    size_t len, cap, at;
    size_t limit;     /**< octets that may wait; 0: LEAT_CONTROL_QUEUE_MAX */
    bool wants_close; /**< control asked for it */
    unsigned index;
    size_t lines; /**< ever taken */
};

struct world {
    struct leat_control *c;
    struct leat_control_info info;
    struct leat_rng rng;
    struct reader readers[CONNS_MAX];
    struct leat_list commands[WORKERS_MAX];
    leat_handle alive[WORKERS_MAX][PEERS_MAX]; /**< what each worker has open; 0: free */
    size_t alive_top[WORKERS_MAX];             /**< places ever used, and one */
    int fail[LEAT_COMMAND_COUNTERS + 1];       /**< the next command of that type fails so */
    size_t posted[LEAT_COMMAND_COUNTERS + 1];
    struct leat_command last[LEAT_COMMAND_COUNTERS + 1]; /**< as posted; arrays are not kept */
    struct leat_media_desc last_track, last_sender;      /**< the first ones of the last media */
    struct leat_explain explain;                         /**< what EXPLAIN finds */
    bool was_sent;                                       /**< what KEYFRAME answers */
    bool is_out_of_memory;                               /**< no command can be handed over */
    unsigned shutdowns;
    uint64_t now_us;
    /** Carry out a command in another way; NULL: the fake one. */
    void (*execute)(struct world *w, unsigned worker, struct leat_command *command);
    /** After each command: its events; NULL: the fake ones. */
    void (*events)(struct world *w, unsigned worker);
    void *data;
};

/** Defaults: two workers, one announced address each. Changes to `info` go in between. */
void world_prepare(struct world *w);
void world_start(struct world *w);
void world_stop(struct world *w);

unsigned world_connect(struct world *w);
void world_disconnect(struct world *w, unsigned reader);
/** Hand octets over as they are. */
void world_send(struct world *w, unsigned reader, const char *octets, size_t len);
/** One line. */
void world_line(struct world *w, unsigned reader, const char *line);
/** Carry out the oldest command of a worker, then its events. @return false when there is none. */
bool world_step(struct world *w, unsigned worker);
/** Everything that is out, and close what control wanted closed. */
void world_run(struct world *w);
void world_event(struct world *w, struct leat_sfu_event *event);
/** The worker's side ends a peer by itself. */
void world_end_peer(struct world *w, leat_handle handle, enum leat_peer_end end);
/** The next whole line of a reader, parsed; NULL when there is none. Free it. */
leat_json *world_next(struct world *w, unsigned reader);
/** A call and its reply, what stands before it in the stream is dropped. Free it. */
leat_json *world_call(struct world *w, unsigned reader, const char *method, const char *params);
/** The next notification of that method. Free it. */
leat_json *world_notification(struct world *w, unsigned reader, const char *method);

/** "result.tracks.0.mid"; NULL when absent. */
const leat_json *at(const leat_json *j, const char *path);
const char *text_at(const leat_json *j, const char *path); /**< "(none)" when it is no string */
int64_t int_at(const leat_json *j, const char *path);      /**< -999 when it is no integer */
bool is_true(const leat_json *j, const char *path);
bool is_false(const leat_json *j, const char *path);

/** tests/vectors/sdp/NAME.sdp. Free it. */
char *read_offer(const char *name);
/** Parameters {id, group, offer} and what `more` adds (", \"data\": 1"). Free it. */
char *offer_params(const char *id, const char *group, const char *sdp, const char *more);
/** Parameters in the form without SDP: one audio (mid "0") and one video section (mid "1").
 *  @param direction  of both, as the remote sees it */
char *form_params(const char *id, const char *group, const char *direction);
/** A text with every occurrence of `what` replaced. Free it. */
char *replaced(const char *text, const char *what, const char *with);
/** Creates a peer in the parameter form and checks that it worked. */
void create_form(struct world *w, const char *id, const char *group, const char *direction);

#define FINGERPRINT                                                                                \
    "34:2C:02:C9:3D:71:FF:74:E0:A8:4B:A7:C0:11:BE:CB:9C:AA:29:22:F2:40:64:0A:2B:1A:18:32:E5:CB:"   \
    "AA:1F"
#define REASON "error.data.reason"
#define FIELD "error.data.field"

#endif
