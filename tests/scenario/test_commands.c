/* SPDX-License-Identifier: MIT */
/*
 * A hundred thousand random commands while packets flow: handles and mids that are valid, removed
 * or never were, routes from a peer to itself, sections that come and go, closes in running jobs. A
 * model of what should be there says what each command must answer, and what route each sender must
 * have.
 */
#include <stdlib.h>

#include "world.h"

#include "harness.h"

#define COMMANDS 100000
#define CLIENTS 12
#define PEERS 70 /* more than the shard takes */
#define MIDS 6
#define NEVER_HANDLE 0x7fffffffffffu

/* ---- the model ---- */

struct model_sender {
    bool exists, has_route, is_paused;
    uint32_t ssrc;
    leat_handle from;
    unsigned from_mid;
};

struct model_peer {
    leat_handle handle; /* of an ended peer too */
    bool is_open;
    struct world_client *client; /* NULL: nobody is behind it */
    bool tracks[MIDS];
    struct model_sender senders[MIDS];
    char ufrag[LEAT_ICE_LOCAL_UFRAG_LEN + 1];
};

static struct {
    struct world *w;
    struct model_peer peers[PEERS];
    uint32_t next_ssrc;
    leat_handle next_handle;
    uint16_t next_port;
    struct leat_peer_params params; /* of any peer: its identity is the world's */
    uint64_t done[LEAT_COMMAND_COUNTERS + 1], refused;
} m;

static const char *const mids[MIDS] = {"0", "1", "2", "3", "4", "5"};

static uint32_t below(uint32_t bound)
{
    return leat_rng_below(world_rng(m.w), bound);
}

static size_t open_count(void)
{
    size_t count = 0;
    for (size_t i = 0; i < PEERS; i++) {
        count += m.peers[i].is_open ? 1 : 0;
    }
    return count;
}

static struct model_peer *peer_of(leat_handle handle)
{
    for (size_t i = 0; i < PEERS; i++) {
        if (m.peers[i].is_open && m.peers[i].handle == handle) {
            return &m.peers[i];
        }
    }
    return NULL;
}

static void forget_track(leat_handle handle, unsigned mid)
{
    for (size_t i = 0; i < PEERS; i++) {
        for (unsigned k = 0; k < MIDS; k++) {
            struct model_sender *s = &m.peers[i].senders[k];
            if (s->has_route && s->from == handle && s->from_mid == mid) {
                s->has_route = false;
            }
        }
    }
}

static void forget_peer(struct model_peer *p)
{
    for (unsigned k = 0; k < MIDS; k++) {
        forget_track(p->handle, k);
        p->tracks[k] = false;
        p->senders[k] = (struct model_sender){0};
    }
    p->is_open = false;
}

/** Mostly one that is open. */
static leat_handle any_handle(void)
{
    if (below(50) == 0) {
        return NEVER_HANDLE + below(3);
    }
    return m.peers[below(below(12) == 0 ? PEERS : CLIENTS)].handle;
}

static unsigned any_mid(void)
{
    return below(12) == 0 ? below(MIDS) : below(2);
}

static void copy_mid(char *out, unsigned mid)
{
    if (below(100) == 0) {
        (void)snprintf(out, LEAT_MID_MAX + 1, "%s", below(2) == 0 ? "" : "0123456789abcdef");
        return;
    }
    (void)snprintf(out, LEAT_MID_MAX + 1, "%s", mids[mid]);
}

/** The model's number of a mid; -1: none of ours. */
static int number_of(const char *mid)
{
    return mid[0] >= '0' && mid[0] < '0' + MIDS && mid[1] == '\0' ? mid[0] - '0' : -1;
}

static struct leat_command *command(enum leat_command_type type, leat_handle handle)
{
    struct leat_command *c = leat_command_new(type, handle);
    if (c == NULL) {
        abort();
    }
    m.done[type]++;
    return c;
}

static void expect(struct leat_command *c, int result)
{
    enum leat_command_type type = c->type;
    int actual = world_execute(m.w, c, false);
    m.refused += result != 0 ? 1 : 0;
    if (actual != result) {
        LEAT_CHECK_INT(actual, result);
        fprintf(stderr, "    command %d, number %lu of its kind\n", (int)type,
                (unsigned long)m.done[type]);
    }
}

static void *zeroed(size_t count, size_t size)
{
    void *p = calloc(count > 0 ? count : 1, size);
    if (p == NULL) {
        abort();
    }
    return p;
}

/* ---- peers ---- */

static void keep_params(struct leat_command *open, struct leat_client_params *client)
{
    (void)client;
    m.params = open->params;
}

/** What the world's own OPEN declared. */
static void adopt(struct model_peer *p, struct world_client *c)
{
    *p = (struct model_peer){.handle = c->handle, .is_open = c->is_open, .client = c};
    (void)snprintf(p->ufrag, sizeof p->ufrag, "%s", c->server.ufrag);
    for (unsigned k = 0; k < 2 && c->is_open; k++) {
        p->tracks[k] = c->role != WORLD_SUBSCRIBER;
        p->senders[k].exists = c->role != WORLD_PUBLISHER;
        p->senders[k].ssrc = k == 0 ? c->our_audio_ssrc : c->our_video_ssrc;
    }
}

static void rejoin(void)
{
    struct model_peer *p = &m.peers[below(CLIENTS)];
    for (size_t i = 0; i < CLIENTS && below(4) != 0; i++) { /* rather one that has hung up */
        p = m.peers[i].is_open ? p : &m.peers[i];
    }
    if (p->is_open && below(4) != 0) {
        struct leat_command *c = command(LEAT_COMMAND_CLOSE, p->handle);
        c->end = LEAT_PEER_END_CLOSED;
        expect(c, 0);
    } else if (p->is_open) { /* its old peer stays behind, in a place of its own */
        size_t at = CLIENTS + below(PEERS - CLIENTS);
        if (m.peers[at].is_open) {
            return;
        }
        m.peers[at] = *p;
        m.peers[at].client = NULL;
        p->is_open = false;
    }
    if (p->is_open) {
        forget_peer(p);
    }
    world_rejoin(m.w, p->client);
    p->client->client.params.tuple.local.port = m.next_port++; /* as after a reload */
    adopt(p, p->client);
}

static void open_raw(void)
{
    size_t at = CLIENTS + below(PEERS - CLIENTS);
    struct model_peer *p = &m.peers[at];
    bool is_again = p->is_open && below(2) == 0;
    struct leat_command *c = command(LEAT_COMMAND_OPEN, is_again ? p->handle : ++m.next_handle);
    c->params = m.params;
    leat_ice_local_make(&c->params.ice_local, world_rng(m.w), 0, 77);
    c->tracks = zeroed(1, sizeof *c->tracks);
    c->track_count = 1;
    world_describe(&c->tracks[0], LEAT_KIND_VIDEO, "1", 0x9000, true);
    c->senders = zeroed(1, sizeof *c->senders);
    c->sender_count = 1;
    world_describe(&c->senders[0], LEAT_KIND_VIDEO, "1", ++m.next_ssrc, false);
    uint32_t ssrc = m.next_ssrc;
    if (is_again) {
        expect(c, LEAT_E_EXISTS);
        return;
    }
    if (open_count() >= WORLD_CLIENTS_MAX) {
        expect(c, LEAT_E_RANGE);
        return;
    }
    const struct model_peer *other = &m.peers[below(CLIENTS)];
    if (other->is_open && below(5) == 0) { /* a ufrag that is taken */
        (void)snprintf(c->params.ice_local.ufrag, sizeof c->params.ice_local.ufrag, "%s",
                       other->client->server.ufrag);
        expect(c, LEAT_E_EXISTS);
        return;
    }
    if (p->is_open) {
        c->params.dtls.profile_count = 0;
        expect(c, LEAT_E_UNSUPPORTED);
        return;
    }
    leat_handle handle = c->handle;
    expect(c, 0);
    *p = (struct model_peer){.handle = handle, .is_open = true};
    p->tracks[1] = true;
    p->senders[1] = (struct model_sender){.exists = true, .ssrc = ssrc};
}

static void close_any(void)
{
    leat_handle handle = m.peers[CLIENTS + below(PEERS - CLIENTS)].handle;
    struct model_peer *p = peer_of(handle);
    struct leat_command *c = command(LEAT_COMMAND_CLOSE, handle);
    c->end = LEAT_PEER_END_CLOSED;
    expect(c, p != NULL ? 0 : LEAT_E_MISSING);
    if (p != NULL) {
        forget_peer(p);
    }
}

static void hang_up(void)
{
    struct model_peer *p = &m.peers[below(CLIENTS)];
    if (!p->is_open || p->client->state != LEAT_PEER_CONNECTED ||
        p->client->client.state != LEAT_CLIENT_CONNECTED) {
        return;
    }
    world_hang_up(p->client);
    world_run(m.w, 2);
    LEAT_CHECK_INT(p->client->state, LEAT_PEER_ENDED);
    forget_peer(p);
}

static void restart_ice(void)
{
    struct model_peer *p = &m.peers[below(CLIENTS)];
    if (p->is_open && below(2) == 0) {
        world_restart_ice(m.w, p->client);
        return;
    }
    struct leat_command *c = command(LEAT_COMMAND_RESTART_ICE, any_handle());
    const struct model_peer *other = &m.peers[below(CLIENTS)];
    bool is_taken = other->is_open && peer_of(c->handle) != NULL;
    if (is_taken) {
        c->ice_local = other->client->server;
    } else {
        c->handle = NEVER_HANDLE;
    }
    expect(c, is_taken ? LEAT_E_EXISTS : LEAT_E_MISSING);
}

/* ---- routes ---- */

static bool does_resolve(const struct leat_route_desc *r)
{
    const struct model_peer *to = peer_of(r->to), *from = peer_of(r->from);
    int to_mid = number_of(r->to_mid), from_mid = number_of(r->from_mid);
    if (to == NULL || to_mid < 0 || !to->senders[to_mid].exists) {
        return false;
    }
    return r->from == 0 || (from != NULL && from_mid >= 0 && from->tracks[from_mid]);
}

static void set_routes(void)
{
    struct leat_command *c = command(LEAT_COMMAND_ROUTES, 0);
    c->route_count = below(4) == 0 ? below(5) : 1;
    c->routes = zeroed(c->route_count, sizeof *c->routes);
    struct leat_route_desc routes[5];
    bool is_right = true;
    for (size_t i = 0; i < c->route_count; i++) {
        struct leat_route_desc *r = &c->routes[i];
        unsigned mid = any_mid();
        r->to = any_handle();
        r->from = below(8) == 0 ? 0 : below(10) == 0 ? r->to : any_handle();
        copy_mid(r->to_mid, mid);
        copy_mid(r->from_mid, below(10) == 0 ? any_mid() : mid);
        r->is_paused = below(5) == 0;
        r->reason = "set";
        is_right = is_right && does_resolve(r);
        routes[i] = *r;
    }
    size_t count = c->route_count;
    expect(c, is_right ? 0 : LEAT_E_MISSING);
    for (size_t i = 0; i < count && is_right; i++) {
        struct model_sender *s = &peer_of(routes[i].to)->senders[number_of(routes[i].to_mid)];
        s->has_route = routes[i].from != 0;
        s->from = routes[i].from;
        s->is_paused = routes[i].from != 0 && routes[i].is_paused;
        s->from_mid = s->has_route ? (unsigned)number_of(routes[i].from_mid) : 0;
    }
}

static void explain(void)
{
    leat_handle handle = any_handle();
    unsigned mid = any_mid();
    const struct model_peer *p = peer_of(handle);
    const struct model_sender *s = p != NULL && p->senders[mid].exists ? &p->senders[mid] : NULL;
    struct leat_command *c = command(LEAT_COMMAND_EXPLAIN, handle);
    (void)snprintf(c->mid, sizeof c->mid, "%s", mids[mid]);
    LEAT_CHECK_INT(world_execute(m.w, c, true), s != NULL ? 0 : LEAT_E_MISSING);
    if (s != NULL) {
        LEAT_CHECK_INT(c->explain.has_route, s->has_route);
        LEAT_CHECK_INT(c->explain.has_source, s->has_route);
        LEAT_CHECK(!s->has_route || c->explain.is_paused == s->is_paused);
    }
    leat_command_free(c);
}

/* ---- media ---- */

static void describe(struct leat_media_desc *d, unsigned mid, uint32_t ssrc, bool is_track)
{
    world_describe(d, mid % 2 == 0 ? LEAT_KIND_AUDIO : LEAT_KIND_VIDEO, mids[mid], ssrc, is_track);
    d->is_active = below(12) != 0;
    if (below(40) == 0) {
        d->codecs[0].name = mid % 2 == 0 ? LEAT_CODEC_PCMU : LEAT_CODEC_H264;
    }
    if (below(40) == 0) {
        d->codecs[0].pt = (uint8_t)(96 + below(20));
    }
    if (is_track && below(4) == 0) {
        d->encoding_count = below(LEAT_ENCODINGS_MAX + 1);
        for (size_t i = 0; i < d->encoding_count; i++) {
            d->encodings[i].ssrc = below(3) == 0 ? 0 : 0x7000 + below(20);
        }
    }
}

static uint32_t track_ssrc(const struct model_peer *p, unsigned mid)
{
    if (p->client == NULL || mid > 1) {
        return 0x8000 + mid;
    }
    return mid == 0 ? p->client->audio_ssrc : p->client->video_ssrc;
}

/** Sections of a peer as they shall be; a model of them in `next`. */
static void choose_media(const struct model_peer *p, struct leat_command *c,
                         struct model_peer *next)
{
    for (unsigned k = 0; k < MIDS; k++) {
        next->tracks[k] = p->tracks[k] ? below(20) != 0 : below(k < 2 ? 2 : 6) == 0;
        if (next->tracks[k]) {
            describe(&c->tracks[c->track_count++], k, track_ssrc(p, k), true);
        }
        struct model_sender *s = &next->senders[k];
        bool stays = p->senders[k].exists && below(20) != 0;
        if (!stays) {
            bool exists = below(k < 2 ? 2 : 6) == 0;
            *s = (struct model_sender){.exists = exists, .ssrc = ++m.next_ssrc};
        }
        if (s->exists) {
            describe(&c->senders[c->sender_count++], k, s->ssrc, false);
        }
    }
}

static void set_media(void)
{
    struct leat_command *c = command(LEAT_COMMAND_MEDIA, any_handle());
    struct model_peer *p = peer_of(c->handle);
    c->tracks = zeroed(MIDS + 1, sizeof *c->tracks);
    c->senders = zeroed(MIDS + 1, sizeof *c->senders);
    if (p == NULL) {
        expect(c, LEAT_E_MISSING);
        return;
    }
    struct model_peer next = *p;
    choose_media(p, c, &next);
    if (below(10) == 0 && c->track_count > 0) { /* a mid twice */
        c->tracks[c->track_count] = c->tracks[below((uint32_t)c->track_count)];
        c->track_count++;
        expect(c, LEAT_E_INVALID);
        return;
    }
    if (below(10) == 0 && c->sender_count > 0) { /* an SSRC twice */
        c->senders[c->sender_count] = c->senders[below((uint32_t)c->sender_count)];
        (void)snprintf(c->senders[c->sender_count].mid, LEAT_MID_MAX + 1, "other");
        c->sender_count++;
        expect(c, LEAT_E_INVALID);
        return;
    }
    expect(c, 0);
    for (unsigned k = 0; k < MIDS; k++) {
        if (p->tracks[k] && !next.tracks[k]) {
            forget_track(p->handle, k);
            if (next.senders[k].has_route) {
                next.senders[k].has_route = p->senders[k].has_route;
            }
        }
    }
    for (unsigned k = 0; k < MIDS; k++) { /* its own senders may have been fed by its own tracks */
        next.senders[k].has_route = next.senders[k].has_route && p->senders[k].has_route;
    }
    *p = next;
}

static void request_keyframe(void)
{
    leat_handle handle = any_handle();
    unsigned mid = any_mid();
    const struct model_peer *p = peer_of(handle);
    struct leat_command *c = command(LEAT_COMMAND_KEYFRAME, handle);
    (void)snprintf(c->mid, sizeof c->mid, "%s", mids[mid]);
    expect(c, p != NULL && p->tracks[mid] ? 0 : LEAT_E_MISSING);
}

static void count_all(void)
{
    struct leat_command *c = command(LEAT_COMMAND_COUNTERS, 0);
    LEAT_CHECK_INT(world_execute(m.w, c, true), 0);
    LEAT_CHECK_INT(c->counters.peers, open_count());
    leat_command_free(c);
    c = command(LEAT_COMMAND_STATS, 0);
    size_t wanted = 0;
    if (below(2) == 0) {
        c->handle_count = 1 + below(5);
        c->handles = zeroed(c->handle_count, sizeof *c->handles);
        for (size_t i = 0; i < c->handle_count; i++) {
            c->handles[i] = any_handle();
            wanted += peer_of(c->handles[i]) != NULL ? 1 : 0;
        }
    } else {
        wanted = open_count();
    }
    LEAT_CHECK_INT(world_execute(m.w, c, true), 0);
    size_t transports = 0;
    for (size_t i = 0; i < c->stat_count; i++) {
        transports += c->stats[i].type == LEAT_STAT_TRANSPORT ? 1 : 0;
    }
    LEAT_CHECK_INT(transports, wanted);
    leat_command_free(c);
}

/* ---- the run ---- */

static void one_command(void)
{
    uint32_t dice = below(1000);
    if (dice < 500) {
        set_routes();
    } else if (dice < 650) {
        explain();
    } else if (dice < 820) {
        set_media();
    } else if (dice < 890) {
        request_keyframe();
    } else if (dice < 930) {
        restart_ice();
    } else if (dice < 960) {
        open_raw();
    } else if (dice < 985) {
        close_any();
    } else if (dice < 993) {
        count_all();
    } else if (dice < 998) {
        request_keyframe();
    } else if (below(3) != 0) {
        rejoin();
    } else {
        hang_up();
    }
}

static void check_routes(void)
{
    for (size_t i = 0; i < PEERS; i++) {
        for (unsigned k = 0; k < MIDS && m.peers[i].is_open; k++) {
            const struct model_sender *s = &m.peers[i].senders[k];
            struct leat_command *c = command(LEAT_COMMAND_EXPLAIN, m.peers[i].handle);
            (void)snprintf(c->mid, sizeof c->mid, "%s", mids[k]);
            LEAT_CHECK_INT(world_execute(m.w, c, true), s->exists ? 0 : LEAT_E_MISSING);
            LEAT_CHECK_INT(c->explain.has_source, s->has_route);
            leat_command_free(c);
        }
    }
}

static void commands__random_ones_while_packets_flow__as_the_model_says(void)
{
    memset(&m, 0, sizeof m);
    m.w = world_new(1);
    m.next_handle = 1000000;
    m.next_port = 50000;
    m.next_ssrc = 0xa0000000;
    for (size_t i = 0; i < CLIENTS; i++) {
        adopt(&m.peers[i], world_add_with(m.w,
                                          i % 3 == 0   ? WORLD_BOTH
                                          : i % 3 == 1 ? WORLD_PUBLISHER
                                                       : WORLD_SUBSCRIBER,
                                          keep_params));
    }
    world_run(m.w, 500);
    for (unsigned i = 0; i < COMMANDS && leat_test_failures < 10; i++) {
        one_command();
        if (i % 4 == 0) {
            world_set_job_delay(m.w, below(3) * 10000);
            world_run(m.w, 1);
        }
        if (i % 5000 == 0) {
            check_routes();
        }
    }
    LEAT_CHECK(leat_sfu_counters_of(world_sfu(m.w))->rtp_out > 2000);
    LEAT_CHECK(m.refused > COMMANDS / 20 && m.refused < COMMANDS / 2);
    for (size_t i = 0; i < PEERS; i++) {
        if (m.peers[i].is_open) {
            struct leat_command *c = command(LEAT_COMMAND_CLOSE, m.peers[i].handle);
            c->end = LEAT_PEER_END_SHUTDOWN;
            expect(c, 0);
        }
    }
    world_run(m.w, 1000);
    LEAT_CHECK_INT(leat_sfu_peer_count(world_sfu(m.w)), 0);
    LEAT_CHECK_INT(leat_sfu_jobs_running(world_sfu(m.w)), 0);
    world_free(m.w);
}

LEAT_TESTS(LEAT_TEST(commands__random_ones_while_packets_flow__as_the_model_says))
