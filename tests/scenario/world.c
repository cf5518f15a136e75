/* SPDX-License-Identifier: MIT */
/*
 * The scripted world. Every datagram in flight is an entry of a list ordered by arrival; a step
 * takes the next arrival, timer or media instant, whichever is first, and sets the clock to it.
 * What arrives at the shard at one instant arrives as one burst.
 */
#include <stdio.h>
#include <stdlib.h>

#include "world_private.h"

#define BURST_MAX 64

struct flight {
    struct leat_list node;
    uint64_t at_us;
    struct world_client *from, *to; /* to NULL: the shard */
    struct leat_tuple tuple;        /* as the receiver sees it: local first */
    size_t len;
    uint8_t data[LEAT_PACKET_MAX];
};

struct running_job {
    struct leat_list node;
    struct leat_sfu_job *job;
    uint64_t at_us;
};

/* ---- flights ---- */

static struct leat_tuple swapped(const struct leat_tuple *t)
{
    return (struct leat_tuple){t->remote, t->local};
}

static struct world_client *client_at(struct world *w, const struct leat_addr *addr)
{
    for (unsigned i = 0; i < w->client_count; i++) {
        if (leat_addr_equal(&w->clients[i].client.params.tuple.local, addr) ||
            leat_addr_equal(&w->clients[i].also, addr)) {
            return &w->clients[i];
        }
    }
    return NULL;
}

static void launch(struct world *w, struct world_client *from, struct world_client *to,
                   const struct leat_tuple *tuple, const uint8_t *data, size_t len, uint64_t at_us)
{
    struct flight *f = calloc(1, sizeof *f);
    if (f == NULL || len > sizeof f->data) {
        abort();
    }
    f->at_us = at_us;
    f->from = from;
    f->to = to;
    f->tuple = *tuple;
    f->len = len;
    memcpy(f->data, data, len);
    struct leat_list *after = w->flights.prev;
    while (after != &w->flights && LEAT_CONTAINER(after, struct flight, node)->at_us > at_us) {
        after = after->prev;
    }
    f->node.prev = after;
    f->node.next = after->next;
    after->next->prev = &f->node;
    after->next = &f->node;
}

static bool happens(struct world *w, unsigned per_mille)
{
    return per_mille > 0 && leat_rng_below(&w->rng, 1000) < per_mille;
}

static void through_link(struct world *w, struct world_client *c, struct world_link *link,
                         struct world_client *to, const struct leat_tuple *tuple,
                         const uint8_t *data, size_t len)
{
    if (link->is_cut || (link->filter != NULL && !link->filter(c, tuple, data, len)) ||
        happens(w, link->loss)) {
        link->lost_rtp += leat_demux(leat_span(data, len)) == LEAT_DEMUX_RTP ? 1 : 0;
        return;
    }
    unsigned copies = happens(w, link->duplicate) ? 2 : 1;
    for (unsigned i = 0; i < copies; i++) {
        uint64_t at_us = w->now_us + link->delay_us;
        if (link->jitter_us > 0) {
            at_us += leat_rng_below(&w->rng, (uint32_t)link->jitter_us);
        }
        if (happens(w, link->reorder)) {
            at_us += 10 * link->jitter_us + 1000;
        }
        launch(w, c, to, tuple, data, len, at_us);
    }
}

static uint8_t *sink_reserve(struct leat_sink *sink, size_t len)
{
    struct world_sink *s = LEAT_CONTAINER(sink, struct world_sink, sink);
    return rooms_reserve(&s->rooms, len);
}

static void sink_commit_room(struct leat_sink *sink, uint8_t *room, size_t len,
                             const struct leat_tuple *tuple)
{
    struct world_sink *s = LEAT_CONTAINER(sink, struct world_sink, sink);
    struct leat_tuple seen = swapped(tuple);
    if (s->owner != NULL) {
        through_link(s->world, s->owner, &s->owner->up, NULL, &seen, room, len);
        return;
    }
    struct world_client *to = client_at(s->world, &tuple->remote);
    if (to == NULL) {
        s->world->stray++;
        return;
    }
    through_link(s->world, to, &to->down, to, &seen, room, len);
}

/* ---- set-up ---- */

static void sink_commit(struct leat_sink *sink, size_t len, const struct leat_tuple *tuple)
{
    struct world_sink *s = LEAT_CONTAINER(sink, struct world_sink, sink);
    sink_commit_room(sink, s->rooms.last, len, tuple);
}

static void init_sink(struct world_sink *s, struct world *w, struct world_client *owner)
{
    s->sink.reserve = sink_reserve;
    s->sink.commit = sink_commit;
    s->sink.commit_room = sink_commit_room;
    s->world = w;
    s->owner = owner;
}

struct world *world_new(uint64_t seed)
{
    uint8_t octets[32] = {0};
    struct world *w = calloc(1, sizeof *w);
    if (w == NULL || leat_crypto_start() != 0) {
        abort();
    }
    static bool has_srtp;
    if (!has_srtp && leat_srtp_start() != 0) {
        abort();
    }
    has_srtp = true;
    leat_put_u64(octets, seed);
    leat_rng_init_seeded(&w->rng, octets);
    w->now_us = WORLD_START_US;
    leat_list_init(&w->flights);
    leat_list_init(&w->jobs);
    init_sink(&w->shard_sink, w, NULL);
    struct leat_sfu_params params = {.worker = 0,
                                     .generation = 77,
                                     .peers_max = WORLD_CLIENTS_MAX,
                                     .packets = 1024,
                                     .jobs_max = 2,
                                     .waiting_max = 64,
                                     .rng = &w->rng};
    uint64_t unix_s = (WORLD_UNIX_OFFSET_US + w->now_us) / 1000000;
    if (leat_sfu_new(&w->sfu, &params) != 0 ||
        leat_dtls_identity_new(&w->server_identity, &w->rng, unix_s) != 0 ||
        leat_dtls_identity_new(&w->client_identity, &w->rng, unix_s) != 0) {
        abort();
    }
    leat_sfu_tick(w->sfu, w->now_us, WORLD_UNIX_OFFSET_US + w->now_us, &w->shard_sink.sink);
    return w;
}

void world_free(struct world *w)
{
    while (!leat_list_is_empty(&w->jobs)) {
        struct running_job *r = LEAT_CONTAINER(w->jobs.next, struct running_job, node);
        leat_list_remove(&r->node);
        leat_sfu_job_run(r->job, &w->rng);
        leat_sfu_job_done(w->sfu, r->job, w->now_us, &w->shard_sink.sink);
        free(r);
    }
    leat_sfu_free(w->sfu);
    for (unsigned i = 0; i < w->client_count; i++) {
        leat_client_deinit(&w->clients[i].client);
    }
    while (!leat_list_is_empty(&w->flights)) {
        struct flight *f = LEAT_CONTAINER(w->flights.next, struct flight, node);
        leat_list_remove(&f->node);
        free(f);
    }
    leat_dtls_identity_free(w->server_identity);
    leat_dtls_identity_free(w->client_identity);
    free(w);
}

void world_describe(struct leat_media_desc *d, enum leat_kind kind, const char *mid, uint32_t ssrc,
                    bool is_track)
{
    memset(d, 0, sizeof *d);
    (void)leat_text_copy(d->mid, sizeof d->mid, leat_span_str(mid));
    d->kind = kind;
    d->is_active = true;
    d->is_rsize = true;
    d->codec_count = 1;
    d->codecs[0] = kind == LEAT_KIND_AUDIO ? (struct leat_codec){.name = LEAT_CODEC_OPUS,
                                                                 .pt = WORLD_AUDIO_PT,
                                                                 .channels = 2,
                                                                 .clock_hz = 48000}
                                           : (struct leat_codec){.name = LEAT_CODEC_VP8,
                                                                 .pt = WORLD_VIDEO_PT,
                                                                 .channels = 1,
                                                                 .clock_hz = 90000,
                                                                 .has_pli = true,
                                                                 .has_fir = true};
    d->exts.ids[LEAT_EXT_MID] = WORLD_MID_ID;
    d->exts.ids[LEAT_EXT_AUDIO_LEVEL] = kind == LEAT_KIND_AUDIO ? WORLD_LEVEL_ID : 0;
    if (is_track) {
        d->encoding_count = 1;
        d->encodings[0].ssrc = ssrc;
    } else {
        d->ssrc = ssrc;
    }
}

static struct leat_media_desc *describe_both(uint32_t audio_ssrc, uint32_t video_ssrc,
                                             bool is_track)
{
    struct leat_media_desc *d = calloc(2, sizeof *d);
    if (d == NULL) {
        abort();
    }
    world_describe(&d[0], LEAT_KIND_AUDIO, "0", audio_ssrc, is_track);
    world_describe(&d[1], LEAT_KIND_VIDEO, "1", video_ssrc, is_track);
    return d;
}

static void fill_open(struct world *w, struct world_client *c, struct leat_command *open)
{
    struct leat_peer_params *p = &open->params;
    p->ice_local = c->server;
    (void)leat_text_copy(p->remote_ufrag, sizeof p->remote_ufrag,
                         leat_span_str(c->client.params.local.ufrag));
    p->dtls.identity = w->server_identity;
    p->dtls.role = LEAT_DTLS_SERVER;
    leat_dtls_identity_fingerprint(w->client_identity, p->dtls.remote_fingerprint);
    p->dtls.profiles[0] = LEAT_SRTP_AES128_CM_SHA1_80;
    p->dtls.profile_count = 1;
    open->rtcp_ssrc = 0x5ca1ab1e;
    (void)snprintf(open->cname, sizeof open->cname, "cname-%u", c->index);
    if (c->role != WORLD_SUBSCRIBER) {
        open->tracks = describe_both(c->audio_ssrc, c->video_ssrc, true);
        open->track_count = 2;
    }
    if (c->role != WORLD_PUBLISHER) {
        open->senders = describe_both(c->our_audio_ssrc, c->our_video_ssrc, false);
        open->sender_count = 2;
    }
}

static void fill_client(struct world *w, struct world_client *c, struct leat_client_params *p)
{
    static const uint8_t server_ip[4] = {192, 0, 2, 1};
    const uint8_t ip[4] = {198, 51, 100, (uint8_t)(c->index + 1)};
    p->tuple.local = leat_addr_v4(ip, (uint16_t)(40000 + c->index));
    p->tuple.remote = leat_addr_v4(server_ip, 3478);
    leat_ice_local_make(&p->local, &w->rng, 1, 12345);
    (void)leat_text_copy(p->remote_ufrag, sizeof p->remote_ufrag, leat_span_str(c->server.ufrag));
    (void)leat_text_copy(p->remote_pwd, sizeof p->remote_pwd, leat_span_str(c->server.pwd));
    p->dtls.identity = w->client_identity;
    p->dtls.role = LEAT_DTLS_CLIENT;
    leat_dtls_identity_fingerprint(w->server_identity, p->dtls.remote_fingerprint);
    p->dtls.profiles[0] = LEAT_SRTP_AES128_CM_SHA1_80;
    p->dtls.profile_count = 1;
}

static void start_media(struct world *w, struct world_client *c)
{
    c->audio_ssrc = 0x11110000 + c->index;
    c->video_ssrc = 0x22220000 + c->index;
    c->our_audio_ssrc = 0x33330000 + c->index;
    c->our_video_ssrc = 0x44440000 + c->index;
    c->audio_seq = (uint16_t)leat_rng_u32(&w->rng);
    c->video_seq = (uint16_t)leat_rng_u32(&w->rng);
    c->audio_ts = leat_rng_u32(&w->rng);
    c->video_ts = leat_rng_u32(&w->rng);
    c->is_sending = c->role != WORLD_SUBSCRIBER;
    c->wants_keyframe = true;
    c->next_media_us = c->next_sr_us = w->now_us;
}

static void start(struct world *w, struct world_client *c, unsigned index, enum world_role role,
                  void (*change)(struct leat_command *open, struct leat_client_params *client))
{
    memset(c, 0, sizeof *c);
    c->world = w;
    c->index = index;
    c->role = role;
    c->handle = ++w->next_handle;
    c->up.delay_us = c->down.delay_us = 1000;
    c->route_reason = "";
    start_media(w, c);
    leat_ice_local_make(&c->server, &w->rng, 0, 77);
    init_sink(&w->client_sinks[index], w, c);
    struct leat_client_params params = {0};
    fill_client(w, c, &params);
    c->client.params = params;
    struct leat_command *open = leat_command_new(LEAT_COMMAND_OPEN, c->handle);
    if (open == NULL) {
        abort();
    }
    fill_open(w, c, open);
    if (change != NULL) {
        change(open, &params);
    }
    c->is_open = world_execute(w, open, false) == 0;
    if (leat_client_init(&c->client, &params, &w->rng, w->now_us) != 0) {
        abort();
    }
}

struct world_client *world_add_with(struct world *w, enum world_role role,
                                    void (*change)(struct leat_command *open,
                                                   struct leat_client_params *client))
{
    if (w->client_count == WORLD_CLIENTS_MAX) {
        abort();
    }
    unsigned index = w->client_count++;
    start(w, &w->clients[index], index, role, change);
    return &w->clients[index];
}

struct world_client *world_add(struct world *w, enum world_role role)
{
    return world_add_with(w, role, NULL);
}

void world_rejoin(struct world *w, struct world_client *c)
{
    leat_client_deinit(&c->client);
    start(w, c, c->index, c->role, NULL);
}

/* ---- commands ---- */

int world_execute(struct world *w, struct leat_command *c, bool keep)
{
    leat_sfu_execute(w->sfu, c, w->now_us, &w->shard_sink.sink);
    int result = c->result;
    if (!keep) {
        leat_command_free(c);
    }
    return result;
}

int world_route_one(struct world *w, struct world_client *to, const char *to_mid,
                    struct world_client *from, const char *from_mid, bool is_paused)
{
    struct leat_command *c = leat_command_new(LEAT_COMMAND_ROUTES, to->handle);
    struct leat_route_desc *r = calloc(1, sizeof *r);
    if (c == NULL || r == NULL) {
        abort();
    }
    c->routes = r;
    c->route_count = 1;
    r->to = to->handle;
    r->from = from != NULL ? from->handle : 0;
    (void)leat_text_copy(r->to_mid, sizeof r->to_mid, leat_span_str(to_mid));
    (void)leat_text_copy(r->from_mid, sizeof r->from_mid, leat_span_str(from_mid));
    r->is_paused = is_paused;
    r->reason = "set";
    return world_execute(w, c, false);
}

int world_route(struct world *w, struct world_client *to, struct world_client *from)
{
    int audio = world_route_one(w, to, "0", from, "0", false);
    int video = world_route_one(w, to, "1", from, "1", false);
    return audio != 0 ? audio : video;
}

static struct leat_media_desc *copy_of(const struct leat_media_desc *d, size_t count)
{
    struct leat_media_desc *copy = calloc(count > 0 ? count : 1, sizeof *copy);
    if (copy == NULL) {
        abort();
    }
    for (size_t i = 0; i < count; i++) {
        copy[i] = d[i];
    }
    return copy;
}

int world_media(struct world *w, struct world_client *c, const struct leat_media_desc *tracks,
                size_t track_count, const struct leat_media_desc *senders, size_t sender_count)
{
    struct leat_command *command = leat_command_new(LEAT_COMMAND_MEDIA, c->handle);
    if (command == NULL) {
        abort();
    }
    command->tracks = copy_of(tracks, track_count);
    command->track_count = track_count;
    command->senders = copy_of(senders, sender_count);
    command->sender_count = sender_count;
    return world_execute(w, command, false);
}

void world_close(struct world *w, struct world_client *c, enum leat_peer_end end)
{
    struct leat_command *command = leat_command_new(LEAT_COMMAND_CLOSE, c->handle);
    if (command == NULL) {
        abort();
    }
    command->end = end;
    (void)world_execute(w, command, false);
}

void world_restart_ice(struct world *w, struct world_client *c)
{
    struct leat_command *command = leat_command_new(LEAT_COMMAND_RESTART_ICE, c->handle);
    struct leat_ice_local client_local;
    if (command == NULL) {
        abort();
    }
    leat_ice_local_make(&c->server, &w->rng, 0, 77);
    leat_ice_local_make(&client_local, &w->rng, 1, 12345);
    command->ice_local = c->server;
    (void)leat_text_copy(command->remote_ufrag, sizeof command->remote_ufrag,
                         leat_span_str(client_local.ufrag));
    (void)world_execute(w, command, false);
    leat_client_restart_ice(&c->client, &client_local, c->server.ufrag, c->server.pwd, w->now_us);
}

/* ---- arrivals ---- */

int world_send_rtp(struct world_client *c, struct leat_span plain)
{
    return leat_client_send_rtp(&c->client, plain, &c->world->client_sinks[c->index].sink);
}

int world_send_rtcp(struct world_client *c, struct leat_span plain)
{
    return leat_client_send_rtcp(&c->client, plain, &c->world->client_sinks[c->index].sink);
}

void world_hang_up(struct world_client *c)
{
    leat_client_close(&c->client, c->world->now_us, &c->world->client_sinks[c->index].sink);
}

static void arrive_at_client(struct world *w, struct flight *f)
{
    struct world_client *c = f->to;
    size_t len = f->len;
    switch (leat_client_receive(&c->client, f->data, &len, w->now_us, &w->rng,
                                &w->client_sinks[c->index].sink)) {
    case LEAT_CLIENT_NOTHING:
        break;
    case LEAT_CLIENT_RTP:
        world__receive_rtp(c, leat_span(f->data, len));
        break;
    case LEAT_CLIENT_RTCP:
        world__receive_rtcp(c, leat_span(f->data, len));
        break;
    }
}

static struct flight *next_arrival(struct world *w)
{
    if (leat_list_is_empty(&w->flights)) {
        return NULL;
    }
    struct flight *f = LEAT_CONTAINER(w->flights.next, struct flight, node);
    if (f->at_us > w->now_us) {
        return NULL;
    }
    leat_list_remove(&f->node);
    return f;
}

static void arrive(struct world *w)
{
    struct flight *burst[BURST_MAX], *f;
    struct leat_datagram datagrams[BURST_MAX];
    size_t count = 0;
    while (count < BURST_MAX && (f = next_arrival(w)) != NULL) {
        if (f->to != NULL) {
            arrive_at_client(w, f);
            free(f);
            continue;
        }
        datagrams[count] = (struct leat_datagram){f->data, f->len, f->tuple};
        burst[count++] = f;
    }
    if (count > 0) {
        leat_sfu_receive(w->sfu, datagrams, count, w->now_us, &w->shard_sink.sink);
    }
    for (size_t i = 0; i < count; i++) {
        free(burst[i]);
    }
}

/* ---- events and jobs of the shard ---- */

static struct world_client *client_of(struct world *w, leat_handle handle)
{
    for (unsigned i = 0; i < w->client_count; i++) {
        if (w->clients[i].handle == handle) {
            return &w->clients[i];
        }
    }
    return NULL;
}

static void take_event(struct world_client *c, const struct leat_sfu_event *e)
{
    bool is_video = strcmp(e->mid, "1") == 0;
    switch (e->type) {
    case LEAT_EVENT_PEER_STATE:
        c->state = e->peer_state;
        c->end = e->end;
        c->ended_events += e->peer_state == LEAT_PEER_ENDED ? 1 : 0;
        break;
    case LEAT_EVENT_TRACK_STATE:
        *(is_video ? &c->track_video : &c->track_audio) = e->track_state;
        c->track_events++;
        break;
    case LEAT_EVENT_ROUTE_STATE:
        *(is_video ? &c->route_video : &c->route_audio) = e->route_state;
        c->route_reason = e->reason;
        c->route_events++;
        break;
    }
}

static void take_events(struct world *w)
{
    struct leat_sfu_event e;
    while (leat_sfu_next_event(w->sfu, &e)) {
        struct world_client *c = client_of(w, e.peer);
        free(e.final_stats);
        if (c != NULL) {
            take_event(c, &e);
        }
    }
}

static void take_jobs(struct world *w)
{
    struct leat_sfu_job *job;
    while ((job = leat_sfu_next_job(w->sfu, w->now_us)) != NULL) {
        struct running_job *r = calloc(1, sizeof *r);
        if (r == NULL) {
            abort();
        }
        r->job = job;
        r->at_us = w->now_us + w->job_delay_us;
        leat_list_add_tail(&w->jobs, &r->node);
        size_t running = leat_sfu_jobs_running(w->sfu);
        w->jobs_most = running > w->jobs_most ? running : w->jobs_most;
    }
}

static void finish_jobs(struct world *w)
{
    while (!leat_list_is_empty(&w->jobs)) {
        struct running_job *r = LEAT_CONTAINER(w->jobs.next, struct running_job, node);
        if (r->at_us > w->now_us) {
            return;
        }
        leat_list_remove(&r->node);
        leat_sfu_job_run(r->job, &w->rng);
        leat_sfu_job_done(w->sfu, r->job, w->now_us, &w->shard_sink.sink);
        free(r);
        take_jobs(w);
    }
}

/* ---- time ---- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t next_instant(struct world *w)
{
    uint64_t next = leat_sfu_deadline(w->sfu);
    if (!leat_list_is_empty(&w->flights)) {
        next = earlier(next, LEAT_CONTAINER(w->flights.next, struct flight, node)->at_us);
    }
    if (!leat_list_is_empty(&w->jobs)) {
        next = earlier(next, LEAT_CONTAINER(w->jobs.next, struct running_job, node)->at_us);
    }
    for (unsigned i = 0; i < w->client_count; i++) {
        next = earlier(next, leat_client_deadline(&w->clients[i].client));
        if (w->clients[i].role != WORLD_SUBSCRIBER) {
            next = earlier(next, w->clients[i].next_media_us);
        }
    }
    return next;
}

static void settle(struct world *w)
{
    take_jobs(w);
    finish_jobs(w);
    while (!w->is_held && world_release(w)) {
    }
    take_events(w);
}

static void step(struct world *w)
{
    arrive(w);
    if (leat_sfu_deadline(w->sfu) <= w->now_us) {
        leat_sfu_tick(w->sfu, w->now_us, WORLD_UNIX_OFFSET_US + w->now_us, &w->shard_sink.sink);
    }
    for (unsigned i = 0; i < w->client_count; i++) {
        struct world_client *c = &w->clients[i];
        if (leat_client_deadline(&c->client) <= w->now_us) {
            leat_client_tick(&c->client, w->now_us, &w->rng, &w->client_sinks[i].sink);
        }
        if (c->role != WORLD_SUBSCRIBER && c->next_media_us <= w->now_us) {
            world_publish(c);
        }
    }
    settle(w);
}

void world_run(struct world *w, uint64_t ms)
{
    uint64_t until_us = w->now_us + ms * 1000;
    settle(w);
    for (;;) {
        uint64_t next = next_instant(w);
        if (next > until_us) {
            break;
        }
        w->now_us =
            next > w->now_us
                ? next
                : w->now_us +
                      1; /* something that is due and does nothing must not stop the clock */
        step(w);
    }
    w->now_us = until_us;
}

uint64_t world_now(const struct world *w)
{
    return w->now_us;
}

struct leat_sfu *world_sfu(struct world *w)
{
    return w->sfu;
}

struct leat_rng *world_rng(struct world *w)
{
    return &w->rng;
}

void world_inject(struct world *w, const void *data, size_t len, const struct leat_tuple *tuple)
{
    launch(w, NULL, NULL, tuple, data, len, w->now_us);
}

uint64_t world_stray(const struct world *w)
{
    return w->stray;
}

void world_set_job_delay(struct world *w, uint64_t us)
{
    w->job_delay_us = us;
}

size_t world_jobs_most(const struct world *w)
{
    return w->jobs_most;
}

void world_hold(struct world *w, bool is_held)
{
    w->is_held = is_held;
}

bool world_release(struct world *w)
{
    return leat_sfu_release(w->sfu, w->now_us, &w->shard_sink.sink);
}
