/* SPDX-License-Identifier: MIT */
/* What the files of the scripted world share. */
#ifndef LEAT_SCENARIO_WORLD_PRIVATE_H
#define LEAT_SCENARIO_WORLD_PRIVATE_H

#include "rooms.h"
#include "world.h"

#define WORLD_MEDIA_US 20000u
#define WORLD_UNIX_OFFSET_US 1700000000000000u
#define WORLD_AUDIO_PT 111
#define WORLD_VIDEO_PT 96
#define WORLD_MID_ID 4
#define WORLD_LEVEL_ID 1

/** A sink that puts datagrams into flight. */
struct world_sink {
    struct leat_sink sink;
    struct world *world;
    struct world_client *owner; /* NULL: the shard */
    struct rooms rooms;
};

struct world {
    uint64_t now_us;
    struct leat_rng rng;
    struct leat_sfu *sfu;
    struct leat_dtls_identity *server_identity, *client_identity;
    struct world_sink shard_sink, client_sinks[WORLD_CLIENTS_MAX];
    struct world_client clients[WORLD_CLIENTS_MAX];
    unsigned client_count;
    leat_handle next_handle;
    struct leat_list flights, jobs;
    uint64_t stray, job_delay_us;
    size_t jobs_most;
    bool is_held;
};

/* world_media.c */
void world__receive_rtp(struct world_client *c, struct leat_span packet);
void world__receive_rtcp(struct world_client *c, struct leat_span compound);

#endif
