/* SPDX-License-Identifier: MIT */
/**
 * @file  The control protocol: JSON-RPC 2.0 lines in, lines and commands to workers out. Owns the
 * picture of the world that controllers see; runs on the control thread.
 * @module control
 *
 * Pure of sockets and threads: the owner delivers lines, completed commands, events and time, and
 * carries out what the port asks. Peers belong to the daemon: a connection that goes away takes
 * nothing with it.
 */
#ifndef LEAT_CONTROL_H
#define LEAT_CONTROL_H

#include <leat/json.h>
#include <leat/sdp.h>
#include <leat/sfu.h>

#define LEAT_CONTROL_WORKERS_MAX 64
#define LEAT_CONTROL_LISTEN_MAX 8      /**< sockets of one worker */
#define LEAT_CONTROL_QUEUE_MAX 4194304 /**< octets that may wait for one reader */

struct leat_control;
struct leat_control_conn;

/** What control asks of its owner. */
struct leat_control_port {
    void *data;
    /** Hand a command to a worker's mailbox; it comes back through leat_control_complete. From
     * inside this call only with an error, when it could not be handed over. */
    void (*post)(void *data, unsigned worker, struct leat_command *command);
    /** Send octets to a connection. @return 0, or LEAT_E_RANGE when its queue is full (control
     * closes it then). */
    int (*write)(void *data, void *conn, const char *octets, size_t len);
    /** Close when what was written has gone; leat_control_conn_closed follows, not from inside this
     * call. */
    void (*close)(void *data, void *conn);
    /** daemon.shutdown, or a drain that is over; called from leat_control_tick, once. */
    void (*shutdown)(void *data);
    /** Octets that wait for a connection's reader. With it the snapshot of a large world is handed
     * over as the reader takes it (control asks to be ticked meanwhile); NULL: everything is
     * written at once. */
    size_t (*queued)(void *data, void *conn);
};

/** What daemon.info says and the control side needs; texts and arrays are borrowed for control's
 * life. */
struct leat_control_info {
    const char *version;
    char boot[17]; /**< random hex, names this start */
    int pid;
    unsigned workers;
    uint32_t generation;
    size_t listen_count;
    struct {
        unsigned worker;
        struct leat_addr addr;
    } listen[LEAT_CONTROL_WORKERS_MAX * LEAT_CONTROL_LISTEN_MAX];
    size_t announce_counts[LEAT_CONTROL_WORKERS_MAX];
    struct leat_addr announce[LEAT_CONTROL_WORKERS_MAX][LEAT_SDP_CANDIDATES_MAX]; /**< per worker */
    const struct leat_dtls_identity *identity; /**< held by control */
    enum leat_srtp_profile profiles[LEAT_SRTP_PROFILES_MAX];
    size_t profile_count;
    struct leat_sdp_policy policy; /**< the configuration's codecs and setup */
    size_t peers_max, ssrcs_per_peer;
    uint64_t ended_keep_us;
    size_t receive_buffer;                                   /**< granted */
    const char *firewall;                                    /**< one sentence */
    const char *dtls_backend;                                /**< "mbedtls" or "openssl" */
    const char *dtls_version;                                /**< of its library; NULL: left out */
    const char *uv_version, *mbedtls_version, *srtp_version; /**< NULL: left out */
    const char *key_exchange; /**< leat_dtls_key_exchange(); NULL: left out */
};

int leat_control_new(struct leat_control **out, const struct leat_control_info *info,
                     const struct leat_control_port *port, struct leat_rng *rng, uint64_t now_us);
void leat_control_free(struct leat_control *c);

/** @return NULL without memory: the owner closes it then. */
struct leat_control_conn *leat_control_conn_opened(struct leat_control *c, void *conn);
void leat_control_conn_octets(struct leat_control *c, struct leat_control_conn *conn,
                              struct leat_span octets, uint64_t now_us);
/** The remote closed its sending side: a last unfinished line is still served. */
void leat_control_conn_ended(struct leat_control *c, struct leat_control_conn *conn,
                             uint64_t now_us);
void leat_control_conn_closed(struct leat_control *c, struct leat_control_conn *conn);

/** A posted command came back; control frees it. */
void leat_control_complete(struct leat_control *c, struct leat_command *command, uint64_t now_us);
/** An event of a worker; takes over final_stats. */
void leat_control_event(struct leat_control *c, unsigned worker, struct leat_sfu_event *event,
                        uint64_t now_us);

/** The identity of the peers to come; those that are there keep theirs until they have gone. */
void leat_control_set_identity(struct leat_control *c, const struct leat_dtls_identity *identity);

uint64_t leat_control_deadline(const struct leat_control *c);
void leat_control_tick(struct leat_control *c, uint64_t now_us);

/** Refuse new peers from now on; when the last one has gone, or at the deadline, port->shutdown is
 * called. */
void leat_control_drain(struct leat_control *c, uint64_t deadline_us, uint64_t now_us);
bool leat_control_is_draining(const struct leat_control *c);
/** Peers that have not ended. */
size_t leat_control_live_peers(const struct leat_control *c);

#endif
