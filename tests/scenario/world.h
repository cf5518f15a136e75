/* SPDX-License-Identifier: MIT */
/**
 * @file  A whole conversation in one thread and no real time: one shard, many clients, and between
 * them a scripted network that loses, doubles, delays and reorders, all of it from one seed.
 *
 *     struct world *w = world_new(7);
 *     struct world_client *a = world_add(w, WORLD_PUBLISHER), *b = world_add(w, WORLD_SUBSCRIBER);
 *     world_route(w, b, a);
 *     world_run(w, 2000);                       // virtual milliseconds
 *     LEAT_CHECK(b->video.packets > 50);
 *     world_free(w);
 */
#ifndef LEAT_SCENARIO_WORLD_H
#define LEAT_SCENARIO_WORLD_H

#include <leat/pool.h>
#include <leat/sfu.h>

#include "client.h"

#define WORLD_CLIENTS_MAX 64
#define WORLD_START_US 5000000u /* an uptime of a few seconds: early subtraction mistakes show */

struct world;
struct world_client;

enum world_role { WORLD_PUBLISHER, WORLD_SUBSCRIBER, WORLD_BOTH };

/** One direction of a client's path; probabilities in per mille. */
struct world_link {
    unsigned loss, duplicate, reorder;
    uint64_t delay_us, jitter_us; /**< a reordered datagram is held back by ten jitters */
    bool is_cut;
    /** Called for each datagram before the above; false drops it. NULL: every one passes.
     * @param tuple as its receiver sees it */
    bool (*filter)(struct world_client *c, const struct leat_tuple *tuple, const uint8_t *data,
                   size_t len);
    uint64_t lost_rtp; /**< datagrams with RTP that did not get through */
};

/** What a client received of one kind of media, checked as it comes. */
struct world_stream {
    uint64_t packets, gaps, /**< gaps: numbers that were skipped when a higher one came */
        late,               /**< packets that filled such a gap afterwards */
        duplicates, wrong;  /**< wrong: payload, extension or payload type is not what it must be */
    uint64_t switches;      /**< the payload's source changed */
    uint64_t renumbered;    /**< the numbers of one source were moved while it ran */
    uint64_t keyframes;
    bool is_started;
    uint16_t highest_seq, number_offset; /**< number_offset: ours minus the source's */
    uint32_t last_ts;
    uint64_t last_capture_us; /**< of the packet with the highest number */
    uint32_t source;          /**< publisher index in the last payload */
    uint64_t last_us, longest_pause_us;
    bool began_without_keyframe; /**< a source's first video packet, or the first one after numbers
                                    were moved, was no keyframe */
    uint64_t backward_ts;        /**< a newer packet had an older timestamp */
    /* by the last sender report: its instant of the newest packet's capture minus the true one */
    int64_t lag_us;
    uint64_t lag_ntp;
    uint32_t lag_source;
    uint8_t seen[65536 / 8]; /**< sequence numbers */
};

struct world_client {
    struct world *world;
    unsigned index;
    enum world_role role;
    leat_handle handle;
    struct leat_client client;
    struct leat_addr also;        /**< takes datagrams too, beside the client's own address */
    struct world_link up, down;   /**< to and from the daemon */
    struct leat_ice_local server; /**< the daemon's credentials for it */
    bool is_open;                 /**< its peer exists in the shard */
    /* a publisher's media: one video packet in 20 ms (a keyframe first and when asked), one audio
     * packet in 20 ms */
    bool is_sending;
    uint32_t audio_ssrc, video_ssrc;
    uint16_t audio_seq, video_seq;
    uint32_t audio_ts, video_ts;
    bool wants_keyframe; /**< a PLI or FIR came */
    bool ignores_keyframe_requests;
    uint64_t next_media_us, keyframe_requests, next_sr_us;
    int64_t clock_error_us; /**< of its wall clock, as seen in its sender reports */
    uint64_t blocks;        /**< report blocks about its media */
    struct leat_rtcp_block block_audio, block_video; /**< the last ones */
    /* a subscriber's view */
    struct world_stream audio, video;
    uint32_t our_audio_ssrc, our_video_ssrc; /**< what the daemon sends with */
    uint64_t sender_reports, receiver_reports, byes, broken_rtcp;
    uint32_t sr_rtp_audio, sr_rtp_video; /**< of the last sender reports */
    /** Called for each compound that arrives. NULL: not wanted. */
    void (*on_rtcp)(struct world_client *c, struct leat_span compound);
    uint64_t sync_checks;  /**< pairs of sender reports compared */
    int64_t sync_error_us; /**< the largest difference of audio and video in one such pair */
    /* what the shard told about its peer */
    enum leat_peer_state state;
    enum leat_peer_end end;
    unsigned ended_events, track_events, route_events;
    enum leat_route_state route_video, route_audio;
    enum leat_track_state track_video, track_audio;
    const char *route_reason;
};

/** @param seed of everything that is random */
struct world *world_new(uint64_t seed);
void world_free(struct world *w);
/** A client with one audio and one video section (mids "0" and "1"); it starts to check at once. */
struct world_client *world_add(struct world *w, enum world_role role);
/** The same, with a change to its parameters before anything starts (a wrong fingerprint, another
 * role, ...). */
struct world_client *world_add_with(struct world *w, enum world_role role,
                                    void (*change)(struct leat_command *open,
                                                   struct leat_client_params *client));
/** The client starts anew, as after a reload of its page: same address, a new peer, nothing
 * received yet. Its old peer is not told. */
void world_rejoin(struct world *w, struct world_client *c);
/** Both sections of `to` carry those of `from`; NULL: nothing. @return the command's result. */
int world_route(struct world *w, struct world_client *to, struct world_client *from);
int world_route_one(struct world *w, struct world_client *to, const char *to_mid,
                    struct world_client *from, const char *from_mid, bool is_paused);
/** The peer's sections are these from now on (copied). @return the command's result. */
int world_media(struct world *w, struct world_client *c, const struct leat_media_desc *tracks,
                size_t track_count, const struct leat_media_desc *senders, size_t sender_count);
void world_close(struct world *w, struct world_client *c, enum leat_peer_end end);
void world_restart_ice(struct world *w, struct world_client *c);
/** Let the virtual time pass. */
void world_run(struct world *w, uint64_t ms);
uint64_t world_now(const struct world *w);
struct leat_sfu *world_sfu(struct world *w);
struct leat_rng *world_rng(struct world *w);
/** Put any datagram in front of the shard, as if it came from that address. */
void world_inject(struct world *w, const void *data, size_t len, const struct leat_tuple *tuple);

/** A Binding request that no client sends. */
struct world_check {
    const char *server_ufrag, *client_ufrag, *pwd;
    uint32_t priority;
    bool has_no_integrity, is_controlled, is_plain; /**< plain: without USE-CANDIDATE */
};
/** As that client would make it, with the lowest priority. */
struct world_check world_check_of(const struct world_client *c);
/** With a fresh transaction id. */
void world_inject_check(struct world *w, const struct world_check *check, struct leat_addr from);
/** 203.0.113.last */
struct leat_addr world_address(uint8_t last, uint16_t port);
/** From there to the daemon, as the daemon sees it. */
struct leat_tuple world_from(struct leat_addr remote);

/** Plain packets of the test's own, protected and sent by a client. @return as leat_client_send. */
int world_send_rtp(struct world_client *c, struct leat_span plain);
int world_send_rtcp(struct world_client *c, struct leat_span plain);
/** One audio and one video packet of a publisher, and its sender reports when they are due; the
 * next ones follow after 20 ms. */
void world_publish(struct world_client *c);
/** close_notify of a client. */
void world_hang_up(struct world_client *c);
/** Datagrams that the shard sent to an address that no client has. */
uint64_t world_stray(const struct world *w);
/** How long a handshake job is out before it is run and given back. */
void world_set_job_delay(struct world *w, uint64_t us);
/** The most jobs that were out at once. */
size_t world_jobs_most(const struct world *w);
/** While held, nothing is released but by world_release. */
void world_hold(struct world *w, bool is_held);
/** One chunk. @return true when more waits. */
bool world_release(struct world *w);
/** Run a command to its end. @return its result; the command is freed unless `keep`. */
int world_execute(struct world *w, struct leat_command *c, bool keep);
/** The description of a section as a track or a sender, as the clients of this world negotiate it.
 */
void world_describe(struct leat_media_desc *d, enum leat_kind kind, const char *mid, uint32_t ssrc,
                    bool is_track);

#endif
