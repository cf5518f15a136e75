/* SPDX-License-Identifier: MIT */
/**
 * @file  The insides of a shard, shared by the files of this folder.
 * @module sfu
 *
 * Who points at whom: a slot owns its peer, tracks and senders. A sender names its source by handle
 * and mid (struct leat_route_desc form) and caches the track it resolves to; the track lists the
 * senders that it feeds. Both ends are unlinked in the same call that removes either (routes.c),
 * and all of it belongs to one thread, so a cached pointer never outlives its target.
 */
#ifndef LEAT_SFU_PRIVATE_H
#define LEAT_SFU_PRIVATE_H

#include <assert.h>

#include <leat/map.h>
#include <leat/pool.h>
#include <leat/sfu.h>

struct leat_sfu_slot;

/** A stored plaintext packet: this header stands in front of its octets in a pool packet. */
struct leat_sfu_media {
    struct leat_rtp rtp;
    struct leat_exts exts; /**< ids of the source's section */
    bool is_keyframe_start;
    uint16_t len;
};

#define LEAT_SFU_HEADROOM 128
static_assert(sizeof(struct leat_sfu_media) <= LEAT_SFU_HEADROOM,
              "the header must fit in front of the octets");
#define LEAT_SFU_RTP_MAX (LEAT_PACKET_MAX - LEAT_SFU_HEADROOM)

static inline struct leat_sfu_media *leat__sfu_media(struct leat_packet *p)
{
    return (struct leat_sfu_media *)(void *)p->data;
}

static inline uint8_t *leat__sfu_octets(struct leat_packet *p)
{
    return p->data + LEAT_SFU_HEADROOM;
}

/** One incoming SSRC. */
struct leat_sfu_source {
    uint32_t ssrc;
    bool is_declared; /**< by the negotiation, not learnt from a packet */
    uint8_t pt;       /**< of the last packet */
    uint64_t last_us; /**< last packet; 0 = none yet */
    uint64_t payload_octets, keyframes, discarded;
    struct leat_rtp_receiver rx;
    bool has_sr;
    uint64_t sr_unix_us; /**< the publisher's clock in its last SR */
    uint32_t sr_timestamp;
    uint32_t last_timestamp; /**< of the newest packet, where there is no SR yet */
};

struct leat_sfu_sender;

struct leat_sfu_track {
    struct leat_sfu_slot *slot;
    struct leat_media_desc desc;
    enum leat_track_state state;
    size_t source_count;
    struct leat_sfu_source sources[LEAT_ENCODINGS_MAX];
    int active; /**< index of the source that is forwarded; -1 = none yet */
    struct leat_keyframe_limiter keyframes;
    uint8_t fir_seq_nr;
    uint64_t pli_sent, fir_sent;
    struct leat_sfu_sender **receivers; /**< senders that it feeds */
    size_t receiver_count, receiver_cap,
        receiver_first; /**< first: where the next packet starts, so that it rotates */
};

struct leat_sfu_sender {
    struct leat_sfu_slot *slot;
    struct leat_media_desc desc;
    bool has_route, is_paused;
    leat_handle from;
    char from_mid[LEAT_MID_MAX + 1];
    struct leat_sfu_track *track; /**< what `from` resolves to now; NULL = not there */
    enum leat_route_state state;
    struct leat_pt_map pts;
    bool has_rewriter, needs_keyframe, is_flowing;
    bool has_source; /**< source_ssrc is set: packets of the track were seen since the route was
                        pointed at it */
    bool is_cut;     /**< packets were held back: the next one takes the number after the last one
                        sent, so that they leave no hole */
    uint32_t source_ssrc;   /**< whose packets are queued */
    uint32_t rewriter_ssrc; /**< whose numbers the rewriter continues */
    struct leat_rewriter rewriter;
    uint64_t packets, octets, dropped, unmapped; /**< sent; dropped: late, refused or shed */
    uint64_t last_sent_us;
    uint64_t pli_received, fir_received, pli_window_us, pli_in_window;
    int fir_seq_nr; /**< last one taken; -1 = none */
    /** What the counters were when the route was set, so that explain speaks of this route only. */
    uint64_t packets_before, dropped_before, unmapped_before;
    bool has_report;
    uint64_t report_us; /**< when the report below came */
    struct leat_rtcp_block report;
    double round_trip_s;
};

struct leat_sfu_queued {
    struct leat_packet *packet; /**< NULL: withdrawn */
    struct leat_sfu_sender *sender;
    bool is_after_cut; /**< the sender's is_cut when it was queued */
};

/** Where an SSRC of one peer leads. */
struct leat_sfu_ssrc {
    uint32_t ssrc;
    bool is_used;
    uint8_t source;
    uint16_t track;
};

#define LEAT_SFU_SSRC_TABLE                                                                        \
    1024 /**< a power of two, at least twice LEAT_SECTIONS_MAX * LEAT_ENCODINGS_MAX */

struct leat_sfu_job {
    struct leat_sfu_slot *slot;
};

struct leat_sfu_slot {
    leat_handle handle;
    struct leat_peer *peer;
    struct leat_heap_node timer;
    struct leat_list jobs_node;    /**< in sfu->wanting */
    struct leat_list release_node; /**< in sfu->releasing */
    struct leat_list zombie_node;  /**< in sfu->zombies: ended, waits for its job */
    struct leat_sfu_job job;
    bool is_ended;
    struct leat_tuple tuples[LEAT_ICE_TUPLES_MAX]; /**< keys of sfu->by_tuple; family NONE = free */
    /** Keys of sfu->by_ufrag, "" = free: at most two are answered, a third one is on its way. */
    struct leat_ice_local ufrags[3];
    struct leat_sfu_track **tracks;
    struct leat_sfu_sender **senders;
    size_t track_count, sender_count;
    struct leat_sfu_ssrc *ssrcs;   /**< LEAT_SFU_SSRC_TABLE, NULL without tracks */
    struct leat_sfu_queued *queue; /**< ring of queue_cap (a power of two), NULL without senders */
    size_t queue_head, queue_len, queue_cap; /**< cap: doubled up to LEAT_SFU_QUEUE */
    char cname[32];
    uint32_t rtcp_ssrc;
    uint64_t report_us; /**< next compound report; LEAT_NEVER before connected */
    bool has_clock;
    int64_t clock_offset_us; /**< least (our wall clock at arrival - the peer's) over its SRs: RFC
                                3550 6.4.1 */
    uint64_t clock_us;       /**< when that least was seen */
};

struct leat_sfu_event_node {
    struct leat_list node;
    struct leat_sfu_event event;
};

struct leat_sfu {
    struct leat_sfu_params params;
    struct leat_pool pool;
    struct leat_map by_handle, by_ufrag, by_tuple;
    struct leat_heap timers;
    struct leat_list wanting, releasing, zombies, events;
    size_t jobs_running, wanting_count;
    uint64_t unix_offset_us; /**< wall clock minus monotonic, as of the last tick */
    struct leat_sfu_counters counters;
};

/* sfu.c */
/** Take a slot out of the line for handshakes, if it stands there. */
void leat__sfu_forget_job(struct leat_sfu *s, struct leat_sfu_slot *slot);

/* peers.c */
struct leat_sfu_slot *leat__sfu_find(const struct leat_sfu *s, leat_handle handle);
int leat__sfu_open(struct leat_sfu *s, struct leat_command *c, uint64_t now_us);
int leat__sfu_media_set(struct leat_sfu *s, struct leat_command *c, uint64_t now_us);
int leat__sfu_restart_ice(struct leat_sfu *s, struct leat_command *c, uint64_t now_us);
void leat__sfu_apply_ice_change(struct leat_sfu *s, struct leat_sfu_slot *slot,
                                const struct leat_ice_change *change);
/** After anything that may have changed a peer: its state, its wish for a job, its timer. It may be
 * gone afterwards. */
void leat__sfu_after(struct leat_sfu *s, struct leat_sfu_slot *slot, uint64_t now_us);
void leat__sfu_rearm(struct leat_sfu *s, struct leat_sfu_slot *slot);
void leat__sfu_slot_free(struct leat_sfu *s, struct leat_sfu_slot *slot);
/** The entry of an SSRC, or the free one where it belongs; NULL when the table is full. */
struct leat_sfu_ssrc *leat__sfu_ssrc_entry(const struct leat_sfu_slot *slot, uint32_t ssrc);
/** After the sources of a track changed. */
void leat__sfu_ssrcs_rebuild(struct leat_sfu_slot *slot);
struct leat_sfu_track *leat__sfu_track(const struct leat_sfu_slot *slot, const char *mid);
struct leat_sfu_sender *leat__sfu_sender(const struct leat_sfu_slot *slot, const char *mid);

/* media.c */
/** The codec of a payload type in a section, or NULL. */
const struct leat_codec *leat__sfu_codec(const struct leat_media_desc *d, uint8_t pt);
void leat__sfu_receive_rtp(struct leat_sfu *s, struct leat_sfu_slot *slot, struct leat_datagram *d,
                           uint64_t now_us, struct leat_sink *out);
/** Room for one more SSRC; the longest silent one gives way when there is none. */
struct leat_sfu_source *leat__sfu_source_add(struct leat_sfu_track *t, uint32_t ssrc);
void leat__sfu_track_state(struct leat_sfu *s, struct leat_sfu_track *t,
                           enum leat_track_state state);

/* release.c */
/** Drop what waits for a sender. */
void leat__sfu_withdraw(struct leat_sfu_sender *sender);

/* rtcp_in.c, rtcp_out.c */
void leat__sfu_receive_rtcp(struct leat_sfu *s, struct leat_sfu_slot *slot,
                            struct leat_span compound, uint64_t now_us, struct leat_sink *out);
void leat__sfu_report(struct leat_sfu *s, struct leat_sfu_slot *slot, uint64_t now_us,
                      struct leat_sink *out);
/** Somebody wants a keyframe of the track. @return whether a request went out now. */
bool leat__sfu_want_keyframe(struct leat_sfu *s, struct leat_sfu_track *t, uint64_t now_us,
                             struct leat_sink *out);
void leat__sfu_keyframe_tick(struct leat_sfu *s, struct leat_sfu_track *t, uint64_t now_us,
                             struct leat_sink *out);

/* routes.c */
int leat__sfu_routes_set(struct leat_sfu *s, struct leat_command *c, uint64_t now_us,
                         struct leat_sink *out);
void leat__sfu_route_clear(struct leat_sfu *s, struct leat_sfu_sender *sender, const char *reason);
/** Close every route that the track feeds. */
void leat__sfu_track_unlink(struct leat_sfu *s, struct leat_sfu_track *t, const char *reason);
/** Both descriptions may have changed: map the payload types anew. */
void leat__sfu_route_remap(struct leat_sfu_sender *sender);
/** Work out the state of a sender's route and tell when it is another one. */
void leat__sfu_route_state(struct leat_sfu *s, struct leat_sfu_sender *sender, const char *reason);
void leat__sfu_route_states_of(struct leat_sfu *s, struct leat_sfu_track *t);

/* stats.c */
int leat__sfu_stats(struct leat_sfu *s, struct leat_command *c);
/** Records of one peer, in heap memory. */
int leat__sfu_stats_of(const struct leat_sfu_slot *slot, struct leat_stat **stats, size_t *count);
int leat__sfu_explain(const struct leat_sfu *s, struct leat_command *c, uint64_t now_us);

/* events.c */
/** A zeroed event at the end of the queue to be filled in; NULL without memory (counted nowhere:
 * nothing can be told). */
struct leat_sfu_event *leat__sfu_event_add(struct leat_sfu *s, enum leat_sfu_event_type type,
                                           leat_handle peer);

#endif
