/* SPDX-License-Identifier: MIT */
/**
 * @file  One client of the call with what it sends or expects, and its words on the control socket.
 * @module loadgen
 */
#ifndef LEAT_LOADGEN_MEMBER_H
#define LEAT_LOADGEN_MEMBER_H

#include <leat/heap.h>
#include <leat/json.h>

#include "check.h"
#include "client.h"

enum leat_load_member_state {
    LEAT_LOAD_IDLE,
    LEAT_LOAD_CREATING, /**< peer.create is on its way */
    LEAT_LOAD_JOINING,  /**< ICE and DTLS run */
    LEAT_LOAD_CONNECTED,
    LEAT_LOAD_FAILED,     /**< never connected */
    LEAT_LOAD_ENDED_EARLY /**< was connected, then lost before the end */
};

struct leat_load_member {
    struct leat_heap_node node; /**< the client's deadline */
    struct leat_client client;
    bool has_client;
    bool is_asked_for; /**< peer.create was sent: to be closed in the end */
    bool is_publisher;
    uint16_t index; /**< among those of its role */
    enum leat_load_member_state state;
    char id[LEAT_ID_MAX + 1];
    struct leat_ice_local local;
    uint64_t created_us;
    bool has_media; /**< a packet was received */
    struct leat_sink *out;
    uint32_t rtcp_ssrc; /**< of a subscriber's reports */
    size_t count;       /**< senders, or streams */
    struct leat_load_sender *senders;
    struct leat_load_stream *streams;
    uint32_t *ssrcs; /**< of the streams, close together for the look-up */
    uint64_t unknown_ssrc, malformed;
    uint64_t keyframe_requests;
};

/** A publisher with its senders. @return 0 or LEAT_E_NOMEM. */
int leat_load_member_init_publisher(struct leat_load_member *m, const char *group, unsigned index,
                                    bool has_audio, struct leat_rng *rng);
/** A subscriber to all senders of `count` publishers: their video first, then their audio. */
int leat_load_member_init_subscriber(struct leat_load_member *m, const char *group, unsigned index,
                                     const struct leat_load_member *publishers, size_t count,
                                     struct leat_rng *rng);
void leat_load_member_deinit(struct leat_load_member *m);

/** The params of peer.create, of the form `remote`. */
void leat_load_member_write_create(const struct leat_load_member *m, struct leat_json_writer *w,
                                   const char *group, const char *fingerprint);
/** The params of a subscriber's route.set. */
void leat_load_member_write_routes(const struct leat_load_member *m, struct leat_json_writer *w,
                                   const struct leat_load_member *publishers);

/** What the daemon said about its end. */
struct leat_load_remote {
    char ufrag[LEAT_ICE_UFRAG_MAX + 1], pwd[LEAT_ICE_PWD_MAX + 1];
    uint8_t fingerprint[LEAT_FINGERPRINT_LEN];
    struct leat_addr addr; /**< the candidate of this machine */
};

/**
 * The result of peer.create.
 * @param own  addresses of this machine: nothing is sent to any other; 127.0.0.1 comes first
 * @return 0 or LEAT_E_INVALID with a sentence in `why`
 */
int leat_load_member_read_created(struct leat_load_member *m, const leat_json *result,
                                  const struct leat_addr *own, size_t own_count,
                                  struct leat_load_remote *remote, char *why, size_t why_cap);

#endif
