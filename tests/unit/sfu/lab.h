/* SPDX-License-Identifier: MIT */
/** @file  A shard and a few clients on lines without delay or loss. */
#ifndef LEAT_TEST_SFU_LAB_H
#define LEAT_TEST_SFU_LAB_H

#include <stdlib.h>

#include <leat/sfu.h>

#include "client.h"
#include "rooms.h"

#define LAB_CLIENTS 2
#define LAB_DATAGRAMS 64
#define LAB_AUDIO_PT 111
#define LAB_VIDEO_PT 96
#define LAB_MID_ID 4

struct lab_datagram {
    struct leat_tuple tuple; /**< as its receiver sees it */
    size_t len;
    uint8_t data[2300];
};

struct lab_line {
    struct leat_sink sink;
    struct rooms rooms;
    struct lab_datagram items[LAB_DATAGRAMS];
    size_t count;
};

struct lab {
    uint64_t now_us;
    bool holds_jobs; /* settling does none */
    struct leat_rng rng;
    struct leat_sfu *sfu;
    struct leat_dtls_identity *ours, *theirs;
    struct leat_client clients[LAB_CLIENTS];
    size_t client_count;
    struct lab_line from_sfu, from_clients;
};

static inline uint8_t *lab_reserve(struct leat_sink *sink, size_t len)
{
    struct lab_line *l = LEAT_CONTAINER(sink, struct lab_line, sink);
    return l->count < LAB_DATAGRAMS ? rooms_reserve(&l->rooms, len) : NULL;
}

static inline void lab_commit_room(struct leat_sink *sink, uint8_t *room, size_t len,
                                   const struct leat_tuple *tuple)
{
    struct lab_line *l = LEAT_CONTAINER(sink, struct lab_line, sink);
    if (l->count == LAB_DATAGRAMS || len > sizeof l->items[0].data) {
        abort();
    }
    memcpy(l->items[l->count].data, room, len);
    l->items[l->count].len = len;
    l->items[l->count++].tuple = (struct leat_tuple){tuple->remote, tuple->local};
}

static inline void lab_commit(struct leat_sink *sink, size_t len, const struct leat_tuple *tuple)
{
    struct lab_line *l = LEAT_CONTAINER(sink, struct lab_line, sink);
    lab_commit_room(sink, l->rooms.last, len, tuple);
}

static inline struct lab *lab_new(size_t peers_max)
{
    static const uint8_t seed[32] = {3};
    static bool has_srtp;
    struct lab *lab = calloc(1, sizeof *lab);
    if (lab == NULL || leat_crypto_start() != 0 || (!has_srtp && leat_srtp_start() != 0)) {
        abort();
    }
    has_srtp = true;
    leat_rng_init_seeded(&lab->rng, seed);
    lab->now_us = 5000000;
    lab->from_sfu.sink = lab->from_clients.sink =
        (struct leat_sink){lab_reserve, lab_commit, lab_commit_room};
    struct leat_sfu_params params = {.generation = 1,
                                     .peers_max = peers_max,
                                     .packets = 64,
                                     .jobs_max = 1,
                                     .waiting_max = 1,
                                     .rng = &lab->rng};
    if (leat_sfu_new(&lab->sfu, &params) != 0 ||
        leat_dtls_identity_new(&lab->ours, &lab->rng, 1700000000) != 0 ||
        leat_dtls_identity_new(&lab->theirs, &lab->rng, 1700000000) != 0) {
        abort();
    }
    return lab;
}

static inline void lab_free(struct lab *lab)
{
    leat_sfu_free(lab->sfu);
    for (size_t i = 0; i < lab->client_count; i++) {
        leat_client_deinit(&lab->clients[i]);
    }
    leat_dtls_identity_free(lab->ours);
    leat_dtls_identity_free(lab->theirs);
    free(lab);
}

/** Carries out and frees. */
static inline int lab_do(struct lab *lab, struct leat_command *c)
{
    leat_sfu_execute(lab->sfu, c, lab->now_us, &lab->from_sfu.sink);
    int result = c->result;
    leat_command_free(c);
    return result;
}

static inline struct leat_command *lab_command(enum leat_command_type type, leat_handle handle)
{
    struct leat_command *c = leat_command_new(type, handle);
    if (c == NULL) {
        abort();
    }
    return c;
}

/** A section with one codec. */
static inline struct leat_media_desc lab_section(enum leat_kind kind, const char *mid)
{
    struct leat_media_desc d = {
        .kind = kind, .is_active = true, .is_rsize = true, .codec_count = 1};
    bool is_video = kind == LEAT_KIND_VIDEO;
    (void)leat_text_copy(d.mid, sizeof d.mid, leat_span_str(mid));
    d.codecs[0] = (struct leat_codec){.name = is_video ? LEAT_CODEC_VP8 : LEAT_CODEC_OPUS,
                                      .pt = is_video ? LAB_VIDEO_PT : LAB_AUDIO_PT,
                                      .channels = is_video ? 1 : 2,
                                      .clock_hz = is_video ? 90000 : 48000,
                                      .has_pli = is_video};
    d.exts.ids[LEAT_EXT_MID] = LAB_MID_ID;
    return d;
}

/** The command's sections, copied. */
static inline void lab_give(struct leat_media_desc **out, size_t *out_count,
                            const struct leat_media_desc *d, size_t count)
{
    *out = calloc(count > 0 ? count : 1, sizeof **out);
    if (*out == NULL) {
        abort();
    }
    for (size_t i = 0; i < count; i++) {
        (*out)[i] = d[i];
    }
    *out_count = count;
}

static inline struct leat_command *lab_open(struct lab *lab, leat_handle handle)
{
    struct leat_command *c = lab_command(LEAT_COMMAND_OPEN, handle);
    leat_ice_local_make(&c->params.ice_local, &lab->rng, 0, 1);
    (void)leat_text_copy(c->params.remote_ufrag, sizeof c->params.remote_ufrag,
                         leat_span_str("theirs"));
    c->params.dtls = (struct leat_dtls_params){.identity = lab->ours,
                                               .role = LEAT_DTLS_SERVER,
                                               .profiles = {LEAT_SRTP_AES128_CM_SHA1_80},
                                               .profile_count = 1};
    leat_dtls_identity_fingerprint(lab->theirs, c->params.dtls.remote_fingerprint);
    return c;
}

/** All that can happen at this instant. */
static inline void lab_settle(struct lab *lab)
{
    bool has_moved = true;
    while (has_moved) {
        has_moved = false;
        for (size_t i = 0; i < lab->client_count; i++) {
            leat_client_tick(&lab->clients[i], lab->now_us, &lab->rng, &lab->from_clients.sink);
        }
        for (size_t i = 0; i < lab->from_clients.count; i++) {
            struct lab_datagram *d = &lab->from_clients.items[i];
            struct leat_datagram one = {d->data, d->len, d->tuple};
            leat_sfu_receive(lab->sfu, &one, 1, lab->now_us, &lab->from_sfu.sink);
            has_moved = true;
        }
        lab->from_clients.count = 0;
        struct leat_sfu_job *job;
        while (!lab->holds_jobs && (job = leat_sfu_next_job(lab->sfu, lab->now_us)) != NULL) {
            leat_sfu_job_run(job, &lab->rng);
            leat_sfu_job_done(lab->sfu, job, lab->now_us, &lab->from_sfu.sink);
            has_moved = true;
        }
        for (size_t i = 0; i < lab->from_sfu.count; i++) {
            struct lab_datagram *d = &lab->from_sfu.items[i];
            struct leat_client *c = &lab->clients[d->tuple.local.port % LAB_CLIENTS];
            (void)leat_client_receive(c, d->data, &d->len, lab->now_us, &lab->rng,
                                      &lab->from_clients.sink);
            has_moved = true;
        }
        lab->from_sfu.count = 0;
    }
}

/** A connected publisher with those tracks. @return its index; its handle is one more. */
static inline size_t lab_publish(struct lab *lab, const struct leat_media_desc *tracks,
                                 size_t count)
{
    static const uint8_t ours[4] = {192, 0, 2, 1}, theirs[4] = {198, 51, 100, 1};
    size_t index = lab->client_count;
    struct leat_command *open = lab_open(lab, index + 1);
    struct leat_client_params p = {
        .tuple = {leat_addr_v4(theirs, (uint16_t)(5000 + index)), leat_addr_v4(ours, 3478)}};
    leat_ice_local_make(&p.local, &lab->rng, 1, 2);
    (void)leat_text_copy(open->params.remote_ufrag, sizeof open->params.remote_ufrag,
                         leat_span_str(p.local.ufrag));
    (void)leat_text_copy(p.remote_ufrag, sizeof p.remote_ufrag,
                         leat_span_str(open->params.ice_local.ufrag));
    (void)leat_text_copy(p.remote_pwd, sizeof p.remote_pwd,
                         leat_span_str(open->params.ice_local.pwd));
    p.dtls = open->params.dtls;
    p.dtls.identity = lab->theirs;
    p.dtls.role = LEAT_DTLS_CLIENT;
    leat_dtls_identity_fingerprint(lab->ours, p.dtls.remote_fingerprint);
    lab_give(&open->tracks, &open->track_count, tracks, count);
    if (lab_do(lab, open) != 0 ||
        leat_client_init(&lab->clients[index], &p, &lab->rng, lab->now_us) != 0) {
        abort();
    }
    lab->client_count++;
    lab_settle(lab);
    return index;
}

/** One packet of a client; mid NULL: without the extension. */
static inline void lab_send(struct lab *lab, size_t index, uint32_t ssrc, uint16_t seq, uint8_t pt,
                            const char *mid)
{
    uint8_t packet[128], payload[40] = {0x10, 0x00};
    struct leat_rtp_ext_out ext = {LAB_MID_ID, leat_span_str(mid != NULL ? mid : "")};
    size_t len = leat_rtp_compose(packet, sizeof packet, true, pt, seq, 960u * seq, ssrc, NULL, 0,
                                  &ext, mid != NULL ? 1 : 0, leat_span(payload, sizeof payload));
    if (len == 0 || leat_client_send_rtp(&lab->clients[index], leat_span(packet, len),
                                         &lab->from_clients.sink) != 0) {
        abort();
    }
    lab_settle(lab);
}

/** Packets that a peer's section took from an SSRC. */
static inline uint64_t lab_taken(struct lab *lab, leat_handle handle, const char *mid,
                                 uint32_t ssrc)
{
    struct leat_command *c = lab_command(LEAT_COMMAND_STATS, 0);
    uint64_t packets = 0;
    leat_sfu_execute(lab->sfu, c, lab->now_us, &lab->from_sfu.sink);
    for (size_t i = 0; i < c->stat_count; i++) {
        const struct leat_stat *s = &c->stats[i];
        if (s->type == LEAT_STAT_INBOUND && s->peer == handle && s->ssrc == ssrc &&
            strcmp(s->mid, mid) == 0) {
            packets += s->packets;
        }
    }
    leat_command_free(c);
    return packets;
}

#endif
