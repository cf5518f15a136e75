/* SPDX-License-Identifier: MIT */
/**
 * @file  One shard: the peers of a worker, their tracks, senders and routes, and the path of a
 * media packet between them.
 * @module sfu
 *
 * The owner (a worker thread, a scenario test) hands in bursts of datagrams, commands and time; it
 * calls leat_sfu_release until it says that nothing is left, flushes the sink, and pulls events and
 * jobs. Nothing here blocks, reads a clock or knows a thread.
 */
#ifndef LEAT_SFU_H
#define LEAT_SFU_H

#include <leat/list.h>
#include <leat/media.h>
#include <leat/peer.h>
#include <leat/route.h>
#include <leat/rtcp.h>
#include <leat/sink.h>

/** Names a peer for its whole life; the controller side counts them up and never uses one twice. 0
 * is none. */
typedef uint64_t leat_handle;

/* ---- commands: plain data, may cross threads; results come back in the same object ---- */

enum leat_command_type {
    LEAT_COMMAND_OPEN,  /**< a new peer with its media */
    LEAT_COMMAND_MEDIA, /**< replace the media description of a peer (declarative) */
    LEAT_COMMAND_RESTART_ICE,
    LEAT_COMMAND_CLOSE,
    LEAT_COMMAND_ROUTES,
    LEAT_COMMAND_KEYFRAME,
    LEAT_COMMAND_STATS,
    LEAT_COMMAND_EXPLAIN,
    LEAT_COMMAND_COUNTERS
};

struct leat_route_desc {
    leat_handle to, from; /**< from 0: nothing is routed */
    char to_mid[LEAT_MID_MAX + 1], from_mid[LEAT_MID_MAX + 1];
    bool is_paused;
    const char
        *reason; /**< static text, carried into the event: "set", "section_ended", "source_ended" */
};

enum leat_stat_type {
    LEAT_STAT_TRANSPORT,
    LEAT_STAT_INBOUND,
    LEAT_STAT_OUTBOUND,
    LEAT_STAT_REMOTE_INBOUND
};

/** One flat record. Counters are 64-bit and exact. */
struct leat_stat {
    enum leat_stat_type type;
    leat_handle peer;
    char mid[LEAT_MID_MAX + 1];
    enum leat_kind kind;
    uint32_t ssrc;
    uint64_t packets, octets; /**< received (inbound) or sent (outbound); octets of RTP payload */
    int64_t packets_lost;
    double jitter_s, round_trip_s, fraction_lost; /**< negative: not known */
    uint64_t discarded, dropped, keyframes, pli, fir;
    uint64_t last_packet_us; /**< monotonic; 0 = none */
    /* transport only */
    enum leat_peer_state state;
    struct leat_peer_counters transport;
    struct leat_peer_times times;
    struct leat_tuple selected; /**< family NONE when there is none */
    enum leat_srtp_profile profile;
    enum leat_dtls_role dtls_role;
    char dtls_cipher[64];
};

/** Facts for route.explain; the verdict's words are control's. */
struct leat_explain {
    bool has_sender, has_route, has_source, is_paused;
    bool sender_active, track_active;
    enum leat_peer_state to_state, from_state;
    uint64_t source_packets, source_last_us;
    uint64_t source_auth_fail;
    bool waits_for_keyframe;
    uint64_t keyframe_requests;
    uint64_t unmapped_payload;   /**< packets whose payload type the sender cannot carry */
    uint64_t forwarded, dropped; /**< since the route was set, as is unmapped_payload */
    double fraction_lost;        /**< of the receiver's last report; negative: none */
    uint64_t receiver_pli, receiver_fir;
    uint64_t receiver_pli_recent; /**< in the last 10 s */
    enum leat_srtp_profile profile;
};

struct leat_sfu_counters {
    uint64_t bursts, datagrams, unknown_class, stun_malformed, stun_unknown_ufrag,
        stun_foreign_tuple, unknown_tuple;
    uint64_t rtp_in, rtcp_in, rtp_malformed, rtp_unknown_ssrc, rtp_padding_only, pool_exhausted;
    uint64_t rtp_out, rtcp_out, rtp_late, rtp_unmapped, rtp_waiting_keyframe, rtp_paused,
        queue_dropped;
    uint64_t rtcp_malformed; /**< authentic, but broken somewhere: what stood before is served */
    uint64_t stun_refused;   /**< STUN that reached a peer and failed its check */
    uint64_t jobs_shed;      /**< hellos left to be repeated, because too many wait */
    uint64_t jobs, jobs_queued_max, peers, peers_total, keyframe_requests;
};

struct leat_command {
    struct leat_list node; /**< of whoever carries it */
    enum leat_command_type type;
    leat_handle handle;
    void *context; /**< the sender's, untouched */
    int result;    /**< out: 0 or an error */
    /* OPEN */
    struct leat_peer_params params;
    char cname[32];
    uint32_t rtcp_ssrc; /**< what our receiver reports to this peer are sent from */
    /* OPEN, MEDIA: owned arrays */
    struct leat_media_desc *tracks, *senders;
    size_t track_count, sender_count;
    /* RESTART_ICE */
    struct leat_ice_local ice_local;
    char remote_ufrag[LEAT_ICE_UFRAG_MAX + 1];
    /* CLOSE */
    enum leat_peer_end end;
    /* ROUTES: owned; EXPLAIN uses to_mid; KEYFRAME uses mid */
    struct leat_route_desc *routes;
    size_t route_count;
    char mid[LEAT_MID_MAX + 1];
    bool was_sent; /**< KEYFRAME out: a request went out now */
    /* STATS: handles wanted (0 = all), owned; out: owned records */
    leat_handle *handles;
    size_t handle_count;
    struct leat_stat *stats;
    size_t stat_count;
    /* EXPLAIN, COUNTERS out */
    struct leat_explain explain;
    struct leat_sfu_counters counters;
    struct leat_udp_counters sockets; /**< COUNTERS out, filled by whoever owns the sockets */
    struct leat_loop_load load;       /**< likewise, of the loop */
};

/** Zeroed, with an unlinked node. NULL when there is no memory. */
struct leat_command *leat_command_new(enum leat_command_type type, leat_handle handle);
/** Frees what it owns, wipes credentials. NULL is fine. */
void leat_command_free(struct leat_command *c);

/* ---- events ---- */

enum leat_sfu_event_type { LEAT_EVENT_PEER_STATE, LEAT_EVENT_TRACK_STATE, LEAT_EVENT_ROUTE_STATE };

enum leat_track_state {
    LEAT_TRACK_DECLARED,
    LEAT_TRACK_LIVE,
    LEAT_TRACK_STALLED,
    LEAT_TRACK_ENDED
};
enum leat_route_state {
    LEAT_ROUTE_NONE,
    LEAT_ROUTE_WAITING,
    LEAT_ROUTE_KEYFRAME,
    LEAT_ROUTE_FLOWING,
    LEAT_ROUTE_PAUSED,
    LEAT_ROUTE_SUSPENDED
};
const char *leat_track_state_text(enum leat_track_state s);
const char *leat_route_state_text(enum leat_route_state s);

struct leat_sfu_event {
    enum leat_sfu_event_type type;
    leat_handle peer; /**< route: the receiver's */
    char mid[LEAT_MID_MAX + 1];
    enum leat_peer_state peer_state;
    enum leat_peer_end end;
    struct leat_addr remote; /**< of the selected tuple when connected */
    enum leat_track_state track_state;
    enum leat_route_state route_state;
    leat_handle from;
    char from_mid[LEAT_MID_MAX + 1];
    const char *reason; /**< static text, "" when none */
    struct leat_stat
        *final_stats; /**< PEER_STATE ended: owned by the receiver of the event, free() */
    size_t final_stat_count;
};

/* ---- the shard ---- */

struct leat_sfu_params {
    unsigned worker;
    uint32_t generation; /**< of the process, as in local ufrags */
    size_t peers_max;
    size_t packets;       /**< size of the packet pool */
    size_t jobs_max;      /**< handshakes that run at once */
    struct leat_rng *rng; /**< the owner's thread's */
    /** Peers that may wait for a job before a hello is left to be repeated; those whose handshake
     * was begun always may. */
    size_t waiting_max;
};

#define LEAT_SFU_CHUNK 256      /**< (packet, receiver) pairs of one leat_sfu_release */
#define LEAT_SFU_QUEUE 512      /**< packets that wait for one receiver, at most */
#define LEAT_SFU_QUEUE_FIRST 64 /**< room at first: few receivers ever need more */

struct leat_sfu;

int leat_sfu_new(struct leat_sfu **out, const struct leat_sfu_params *params);
/** No job may be running. */
void leat_sfu_free(struct leat_sfu *s);

/**
 * Take a burst: STUN is answered at once, DTLS goes to its peer, media is opened, stored once and
 * queued for its receivers.
 */
void leat_sfu_receive(struct leat_sfu *s, struct leat_datagram *datagrams, size_t count,
                      uint64_t now_us, struct leat_sink *out);
/** Send at most one chunk of what is queued, receiver by receiver. @return true when more waits. */
bool leat_sfu_release(struct leat_sfu *s, uint64_t now_us, struct leat_sink *out);
uint64_t leat_sfu_deadline(const struct leat_sfu *s);
void leat_sfu_tick(struct leat_sfu *s, uint64_t now_us, uint64_t unix_us, struct leat_sink *out);

/** Carry out a command at once and fill its results. Repeating a CLOSE is LEAT_E_MISSING. */
void leat_sfu_execute(struct leat_sfu *s, struct leat_command *c, uint64_t now_us,
                      struct leat_sink *out);
/** @return false when there is none. */
bool leat_sfu_next_event(struct leat_sfu *s, struct leat_sfu_event *event);

/** A handshake to run: take with next_job (at most jobs_max are out), run on any thread, give back
 * on the owner's. */
struct leat_sfu_job;
struct leat_sfu_job *leat_sfu_next_job(struct leat_sfu *s, uint64_t now_us);
void leat_sfu_job_run(struct leat_sfu_job *job, struct leat_rng *rng);
void leat_sfu_job_done(struct leat_sfu *s, struct leat_sfu_job *job, uint64_t now_us,
                       struct leat_sink *out);
/** Jobs that are out now. */
size_t leat_sfu_jobs_running(const struct leat_sfu *s);

/** Close every peer, as at the end of the daemon; their events follow. */
void leat_sfu_close_all(struct leat_sfu *s, enum leat_peer_end end, uint64_t now_us,
                        struct leat_sink *out);

const struct leat_sfu_counters *leat_sfu_counters_of(const struct leat_sfu *s);
size_t leat_sfu_peer_count(const struct leat_sfu *s);

#endif
