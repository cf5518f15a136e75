/* SPDX-License-Identifier: MIT */
/* A publisher's audio and video reach subscribers, whole and in order, over good paths and bad
 * ones. */
#include "world.h"

#include "harness.h"

static void call__good_network__everything_arrives_in_order(void)
{
    struct world *w = world_new(1);
    struct world_client *a = world_add(w, WORLD_PUBLISHER);
    struct world_client *b = world_add(w, WORLD_SUBSCRIBER);
    LEAT_CHECK_INT(world_route(w, b, a), 0);
    world_run(w, 3000);
    LEAT_CHECK_INT(a->state, LEAT_PEER_CONNECTED);
    LEAT_CHECK_INT(b->state, LEAT_PEER_CONNECTED);
    LEAT_CHECK(b->audio.packets > 100);
    LEAT_CHECK(b->video.packets > 100);
    LEAT_CHECK_INT(b->video.wrong + b->audio.wrong, 0);
    LEAT_CHECK_INT(b->video.gaps + b->audio.gaps + b->video.duplicates + b->audio.duplicates, 0);
    LEAT_CHECK(!b->video.began_without_keyframe);
    LEAT_CHECK_INT(b->route_video, LEAT_ROUTE_FLOWING);
    LEAT_CHECK_INT(b->route_audio, LEAT_ROUTE_FLOWING);
    LEAT_CHECK(a->keyframe_requests >= 1);
    LEAT_CHECK(b->sender_reports > 0);
    LEAT_CHECK(a->receiver_reports > 0);
    world_free(w);
}

LEAT_TESTS(LEAT_TEST(call__good_network__everything_arrives_in_order))
