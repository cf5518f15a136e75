/* SPDX-License-Identifier: MIT */
/* What each command answers when it cannot be carried out, and that it has changed nothing then. */
#include "lab.h"

#include "harness.h"

static struct leat_command *media(leat_handle handle, const struct leat_media_desc *tracks,
                                  size_t track_count, const struct leat_media_desc *senders,
                                  size_t sender_count)
{
    struct leat_command *c = lab_command(LEAT_COMMAND_MEDIA, handle);
    lab_give(&c->tracks, &c->track_count, tracks, track_count);
    lab_give(&c->senders, &c->sender_count, senders, sender_count);
    return c;
}

static struct leat_media_desc sender(const char *mid, uint32_t ssrc)
{
    struct leat_media_desc d = lab_section(LEAT_KIND_VIDEO, mid);
    d.ssrc = ssrc;
    return d;
}

static struct leat_command *on_mid(enum leat_command_type type, leat_handle handle, const char *mid)
{
    struct leat_command *c = lab_command(type, handle);
    (void)leat_text_copy(c->mid, sizeof c->mid, leat_span_str(mid));
    return c;
}

static struct leat_command *with_end(leat_handle handle)
{
    struct leat_command *c = lab_command(LEAT_COMMAND_CLOSE, handle);
    c->end = LEAT_PEER_END_CLOSED;
    return c;
}

struct route {
    leat_handle to;
    const char *to_mid;
    leat_handle from;
    const char *from_mid;
};

static struct leat_command *routes(const struct route *r, size_t count)
{
    struct leat_command *c = lab_command(LEAT_COMMAND_ROUTES, 0);
    c->routes = calloc(count, sizeof *c->routes);
    if (c->routes == NULL) {
        abort();
    }
    c->route_count = count;
    for (size_t i = 0; i < count; i++) {
        c->routes[i].to = r[i].to;
        c->routes[i].from = r[i].from;
        c->routes[i].reason = "set";
        (void)leat_text_copy(c->routes[i].to_mid, LEAT_MID_MAX + 1, leat_span_str(r[i].to_mid));
        (void)leat_text_copy(c->routes[i].from_mid, LEAT_MID_MAX + 1, leat_span_str(r[i].from_mid));
    }
    return c;
}

/** Peer 1 has the track "a", peer 2 the senders "x" and "y". */
static struct lab *furnished(void)
{
    struct lab *lab = lab_new(3);
    struct leat_media_desc track = lab_section(LEAT_KIND_VIDEO, "a");
    struct leat_media_desc senders[] = {sender("x", 1), sender("y", 2)};
    LEAT_CHECK_INT(lab_do(lab, lab_open(lab, 1)), 0);
    LEAT_CHECK_INT(lab_do(lab, lab_open(lab, 2)), 0);
    LEAT_CHECK_INT(lab_do(lab, media(1, &track, 1, NULL, 0)), 0);
    LEAT_CHECK_INT(lab_do(lab, media(2, NULL, 0, senders, 2)), 0);
    return lab;
}

static bool has_track(struct lab *lab, leat_handle handle, const char *mid)
{
    return lab_do(lab, on_mid(LEAT_COMMAND_KEYFRAME, handle, mid)) == 0;
}

static bool has_route(struct lab *lab, leat_handle handle, const char *mid)
{
    struct leat_command *c = on_mid(LEAT_COMMAND_EXPLAIN, handle, mid);
    leat_sfu_execute(lab->sfu, c, lab->now_us, &lab->from_sfu.sink);
    bool is_routed = c->result == 0 && c->explain.has_route;
    leat_command_free(c);
    return is_routed;
}

static void open__handle_or_ufrag_taken__exists_and_nothing_is_left(void)
{
    struct lab *lab = lab_new(3);
    struct leat_command *first = lab_open(lab, 1), *same_ufrag = lab_open(lab, 2);
    same_ufrag->params.ice_local = first->params.ice_local;
    LEAT_CHECK_INT(lab_do(lab, first), 0);
    LEAT_CHECK_INT(lab_do(lab, lab_open(lab, 1)), LEAT_E_EXISTS);
    LEAT_CHECK_INT(lab_do(lab, same_ufrag), LEAT_E_EXISTS);
    LEAT_CHECK_INT(leat_sfu_peer_count(lab->sfu), 1);
    LEAT_CHECK_INT(lab_do(lab, lab_open(lab, 2)), 0);
    lab_free(lab);
}

static void open__more_than_the_shard_takes__range(void)
{
    struct lab *lab = lab_new(2);
    LEAT_CHECK_INT(lab_do(lab, lab_open(lab, 1)), 0);
    LEAT_CHECK_INT(lab_do(lab, lab_open(lab, 2)), 0);
    LEAT_CHECK_INT(lab_do(lab, lab_open(lab, 3)), LEAT_E_RANGE);
    LEAT_CHECK_INT(lab_do(lab, with_end(1)), 0);
    LEAT_CHECK_INT(lab_do(lab, lab_open(lab, 3)), 0);
    LEAT_CHECK_INT(leat_sfu_counters_of(lab->sfu)->peers_total, 3);
    lab_free(lab);
}

static void open__no_usable_profile__unsupported_and_nothing_is_left(void)
{
    struct lab *lab = lab_new(2);
    struct leat_command *c = lab_open(lab, 1);
    c->params.dtls.profile_count = 0;
    LEAT_CHECK_INT(lab_do(lab, c), LEAT_E_UNSUPPORTED);
    LEAT_CHECK_INT(leat_sfu_peer_count(lab->sfu), 0);
    LEAT_CHECK_INT(lab_do(lab, lab_open(lab, 1)), 0);
    lab_free(lab);
}

static void open__impossible_sections__invalid_and_nothing_is_left(void)
{
    struct lab *lab = lab_new(2);
    struct leat_media_desc twice[] = {lab_section(LEAT_KIND_VIDEO, "a"),
                                      lab_section(LEAT_KIND_AUDIO, "a")};
    struct leat_command *c = lab_open(lab, 1);
    struct leat_ice_local local = c->params.ice_local;
    lab_give(&c->tracks, &c->track_count, twice, 2);
    LEAT_CHECK_INT(lab_do(lab, c), LEAT_E_INVALID);
    LEAT_CHECK_INT(leat_sfu_peer_count(lab->sfu), 0);
    c = lab_open(lab, 1);
    c->params.ice_local = local; /* free again */
    LEAT_CHECK_INT(lab_do(lab, c), 0);
    struct leat_sfu_event e;
    while (leat_sfu_next_event(lab->sfu, &e)) {
        LEAT_CHECK(e.type != LEAT_EVENT_PEER_STATE); /* nothing ended, nothing has begun */
    }
    lab_free(lab);
}

static void media__impossible_sections__refused_and_the_old_ones_stay(void)
{
    struct lab *lab = furnished();
    struct leat_media_desc tracks[] = {lab_section(LEAT_KIND_VIDEO, "b"),
                                       lab_section(LEAT_KIND_VIDEO, "b")};
    struct leat_media_desc senders[] = {sender("u", 9), sender("v", 9)};
    LEAT_CHECK_INT(lab_do(lab, media(7, tracks, 1, NULL, 0)), LEAT_E_MISSING);
    LEAT_CHECK_INT(lab_do(lab, media(1, tracks, 2, NULL, 0)), LEAT_E_INVALID);
    LEAT_CHECK_INT(lab_do(lab, media(1, tracks, 1, senders, 2)), LEAT_E_INVALID);
    struct leat_media_desc *many = calloc(LEAT_SECTIONS_MAX + 1, sizeof *many);
    for (size_t i = 0; many != NULL && i <= LEAT_SECTIONS_MAX; i++) {
        char mid[8];
        (void)snprintf(mid, sizeof mid, "%zu", i);
        many[i] = sender(mid, (uint32_t)i);
    }
    LEAT_CHECK_INT(lab_do(lab, media(1, many, LEAT_SECTIONS_MAX + 1, NULL, 0)), LEAT_E_RANGE);
    LEAT_CHECK_INT(lab_do(lab, media(1, NULL, 0, many, LEAT_SECTIONS_MAX + 1)), LEAT_E_RANGE);
    LEAT_CHECK(has_track(lab, 1, "a"));
    LEAT_CHECK(!has_track(lab, 1, "b"));
    LEAT_CHECK_INT(lab_do(lab, media(1, many, LEAT_SECTIONS_MAX, many, LEAT_SECTIONS_MAX)), 0);
    LEAT_CHECK(has_track(lab, 1, "127"));
    free(many);
    lab_free(lab);
}

static void routes__one_end_missing__none_of_the_command_is_set(void)
{
    struct lab *lab = furnished();
    static const struct route wrong[] = {
        {2, "y", 1, "b"}, {2, "z", 1, "a"}, {9, "x", 1, "a"}, {2, "y", 9, "a"},
        {1, "a", 1, "a"}, {2, "y", 2, "x"}, {0, "", 0, ""},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(wrong); i++) {
        struct route both[] = {{2, "x", 1, "a"}, wrong[i]};
        LEAT_CHECK_ROW(i, lab_do(lab, routes(both, 2)) == LEAT_E_MISSING);
        LEAT_CHECK_ROW(i, !has_route(lab, 2, "x"));
    }
    static const struct route right[] = {{2, "x", 1, "a"}, {2, "y", 1, "a"}, {2, "y", 0, ""}};
    LEAT_CHECK_INT(lab_do(lab, routes(right, 3)), 0);
    LEAT_CHECK(has_route(lab, 2, "x"));
    LEAT_CHECK(!has_route(lab, 2, "y")); /* the last word counts */
    lab_free(lab);
}

static void route__either_end_goes__is_gone(void)
{
    struct lab *lab = furnished();
    static const struct route both[] = {{2, "x", 1, "a"}, {2, "y", 1, "a"}};
    struct leat_media_desc x = sender("x", 1);
    LEAT_CHECK_INT(lab_do(lab, routes(both, 2)), 0);
    LEAT_CHECK_INT(lab_do(lab, media(2, NULL, 0, &x, 1)), 0);
    LEAT_CHECK(has_route(lab, 2, "x"));
    LEAT_CHECK(!has_route(lab, 2, "y"));
    LEAT_CHECK_INT(lab_do(lab, with_end(1)), 0);
    LEAT_CHECK(!has_route(lab, 2, "x"));
    LEAT_CHECK_INT(lab_do(lab, with_end(2)), 0);
    lab_free(lab);
}

static void others__object_missing__missing(void)
{
    struct lab *lab = furnished();
    LEAT_CHECK_INT(lab_do(lab, with_end(9)), LEAT_E_MISSING);
    LEAT_CHECK_INT(lab_do(lab, on_mid(LEAT_COMMAND_KEYFRAME, 9, "a")), LEAT_E_MISSING);
    LEAT_CHECK_INT(lab_do(lab, on_mid(LEAT_COMMAND_KEYFRAME, 1, "x")), LEAT_E_MISSING);
    LEAT_CHECK_INT(lab_do(lab, on_mid(LEAT_COMMAND_KEYFRAME, 2, "x")), LEAT_E_MISSING);
    LEAT_CHECK_INT(lab_do(lab, on_mid(LEAT_COMMAND_EXPLAIN, 9, "x")), LEAT_E_MISSING);
    LEAT_CHECK_INT(lab_do(lab, on_mid(LEAT_COMMAND_EXPLAIN, 1, "a")), LEAT_E_MISSING);
    struct leat_command *restart = lab_command(LEAT_COMMAND_RESTART_ICE, 9);
    leat_ice_local_make(&restart->ice_local, &lab->rng, 0, 1);
    LEAT_CHECK_INT(lab_do(lab, restart), LEAT_E_MISSING);
    LEAT_CHECK_INT(lab_do(lab, with_end(1)), 0);
    LEAT_CHECK_INT(lab_do(lab, with_end(1)), LEAT_E_MISSING); /* repeated */
    lab_free(lab);
}

static void restart_ice__ufrag_taken__exists(void)
{
    struct lab *lab = lab_new(2);
    struct leat_command *open = lab_open(lab, 1);
    struct leat_ice_local taken = open->params.ice_local;
    LEAT_CHECK_INT(lab_do(lab, open), 0);
    LEAT_CHECK_INT(lab_do(lab, lab_open(lab, 2)), 0);
    for (unsigned i = 0; i < 20; i++) {
        struct leat_command *wrong = lab_command(LEAT_COMMAND_RESTART_ICE, 2);
        struct leat_command *right = lab_command(LEAT_COMMAND_RESTART_ICE, 2);
        wrong->ice_local = taken;
        leat_ice_local_make(&right->ice_local, &lab->rng, 0, 1);
        (void)leat_text_copy(right->remote_ufrag, sizeof right->remote_ufrag,
                             leat_span_str("again"));
        LEAT_CHECK_ROW(i, lab_do(lab, wrong) == LEAT_E_EXISTS);
        LEAT_CHECK_ROW(i, lab_do(lab, right) == 0); /* as often as one likes */
    }
    lab_free(lab);
}

static void stats__handles_that_are_gone__no_records(void)
{
    struct lab *lab = furnished();
    struct leat_command *c = lab_command(LEAT_COMMAND_STATS, 0);
    c->handles = calloc(3, sizeof *c->handles);
    c->handle_count = 3;
    c->handles[0] = 9;
    c->handles[1] = 2;
    c->handles[2] = 77;
    leat_sfu_execute(lab->sfu, c, lab->now_us, &lab->from_sfu.sink);
    LEAT_CHECK_INT(c->result, 0);
    LEAT_CHECK_INT(c->stat_count, 3); /* its transport and two senders */
    for (size_t i = 0; i < c->stat_count; i++) {
        LEAT_CHECK_INT(c->stats[i].peer, 2);
    }
    leat_command_free(c);
    c = lab_command(LEAT_COMMAND_COUNTERS, 0);
    leat_sfu_execute(lab->sfu, c, lab->now_us, &lab->from_sfu.sink);
    LEAT_CHECK_INT(c->counters.peers, 2);
    leat_command_free(c);
    leat_command_free(NULL);
    lab_free(lab);
}

static void close_all__every_peer__ends_with_the_reason(void)
{
    struct lab *lab = furnished();
    leat_sfu_close_all(lab->sfu, LEAT_PEER_END_SHUTDOWN, lab->now_us, &lab->from_sfu.sink);
    LEAT_CHECK_INT(leat_sfu_peer_count(lab->sfu), 0);
    LEAT_CHECK(leat_sfu_deadline(lab->sfu) == LEAT_NEVER);
    unsigned ended = 0;
    struct leat_sfu_event e;
    while (leat_sfu_next_event(lab->sfu, &e)) {
        if (e.type == LEAT_EVENT_PEER_STATE) {
            ended++;
            LEAT_CHECK_INT(e.peer_state, LEAT_PEER_ENDED);
            LEAT_CHECK_INT(e.end, LEAT_PEER_END_SHUTDOWN);
            LEAT_CHECK(e.final_stat_count >= 1);
        }
        free(e.final_stats);
    }
    LEAT_CHECK_INT(ended, 2);
    lab_free(lab);
}

LEAT_TESTS(LEAT_TEST(open__handle_or_ufrag_taken__exists_and_nothing_is_left),
           LEAT_TEST(open__more_than_the_shard_takes__range),
           LEAT_TEST(open__no_usable_profile__unsupported_and_nothing_is_left),
           LEAT_TEST(open__impossible_sections__invalid_and_nothing_is_left),
           LEAT_TEST(media__impossible_sections__refused_and_the_old_ones_stay),
           LEAT_TEST(routes__one_end_missing__none_of_the_command_is_set),
           LEAT_TEST(route__either_end_goes__is_gone), LEAT_TEST(others__object_missing__missing),
           LEAT_TEST(restart_ice__ufrag_taken__exists),
           LEAT_TEST(stats__handles_that_are_gone__no_records),
           LEAT_TEST(close_all__every_peer__ends_with_the_reason))
