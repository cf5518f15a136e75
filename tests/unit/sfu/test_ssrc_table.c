/* SPDX-License-Identifier: MIT */
/* The table from an SSRC to its source, on a slot without a peer. */
#include <stdlib.h>

#include "private.h"

#include "harness.h"

#define TRACKS LEAT_SECTIONS_MAX

struct bench {
    struct leat_sfu_slot slot;
    struct leat_sfu_track tracks[TRACKS];
    struct leat_sfu_track *list[TRACKS];
    struct leat_sfu_ssrc table[LEAT_SFU_SSRC_TABLE];
};

static struct bench *bench_new(size_t track_count)
{
    struct bench *b = calloc(1, sizeof *b);
    for (size_t i = 0; b != NULL && i < track_count; i++) {
        b->tracks[i].slot = &b->slot;
        b->tracks[i].active = -1;
        b->list[i] = &b->tracks[i];
    }
    if (b == NULL) {
        abort();
    }
    b->slot.tracks = b->list;
    b->slot.track_count = track_count;
    b->slot.ssrcs = b->table;
    return b;
}

static void check_leads(const struct bench *b, uint32_t ssrc, unsigned track, unsigned source)
{
    const struct leat_sfu_ssrc *e = leat__sfu_ssrc_entry(&b->slot, ssrc);
    LEAT_CHECK_ROW(ssrc, e != NULL && e->is_used);
    LEAT_CHECK_ROW(ssrc, e != NULL && e->ssrc == ssrc && e->track == track && e->source == source);
}

static void ssrc_table__no_tracks__knows_nothing(void)
{
    struct leat_sfu_slot slot = {0};
    leat__sfu_ssrcs_rebuild(&slot);
    LEAT_CHECK(leat__sfu_ssrc_entry(&slot, 0) == NULL);
    LEAT_CHECK(leat__sfu_ssrc_entry(&slot, 7) == NULL);
}

static void ssrc_table__zero_and_all_ones__are_ssrcs_like_others(void)
{
    struct bench *b = bench_new(2);
    LEAT_CHECK(!leat__sfu_ssrc_entry(&b->slot, 0)->is_used);
    (void)leat__sfu_source_add(&b->tracks[0], 0);
    (void)leat__sfu_source_add(&b->tracks[1], UINT32_MAX);
    leat__sfu_ssrcs_rebuild(&b->slot);
    check_leads(b, 0, 0, 0);
    check_leads(b, UINT32_MAX, 1, 0);
    LEAT_CHECK(!leat__sfu_ssrc_entry(&b->slot, 1)->is_used);
    free(b);
}

static void ssrc_table__same_place_in_the_hash__each_is_found(void)
{
    struct bench *b = bench_new(8);
    uint32_t colliding[8];
    size_t count = 0;
    const uint32_t mask = LEAT_SFU_SSRC_TABLE - 1;
    for (uint32_t i = 1; count < LEAT_ARRAY_LEN(colliding); i++) { /* near the table's end too */
        if (((i * 2654435761u) >> 16 & mask) >= mask - 1) {
            colliding[count++] = i;
        }
    }
    for (size_t i = 0; i < count; i++) {
        (void)leat__sfu_source_add(&b->tracks[i], colliding[i]);
    }
    leat__sfu_ssrcs_rebuild(&b->slot);
    for (unsigned i = 0; i < count; i++) {
        check_leads(b, colliding[i], i, 0);
    }
    free(b);
}

static void ssrc_table__as_many_as_a_peer_can_have__each_is_found(void)
{
    struct bench *b = bench_new(TRACKS);
    for (uint32_t t = 0; t < TRACKS; t++) {
        for (uint32_t i = 0; i < LEAT_ENCODINGS_MAX; i++) {
            (void)leat__sfu_source_add(&b->tracks[t], t * 0x01000193u + i);
        }
    }
    leat__sfu_ssrcs_rebuild(&b->slot);
    for (uint32_t t = 0; t < TRACKS; t++) {
        for (uint32_t i = 0; i < LEAT_ENCODINGS_MAX; i++) {
            check_leads(b, t * 0x01000193u + i, t, i);
        }
    }
    LEAT_CHECK(!leat__sfu_ssrc_entry(&b->slot, 0xfeedbeef)->is_used);
    free(b);
}

static void ssrc_table__stands_twice__is_the_first_sections(void)
{
    struct bench *b = bench_new(3);
    (void)leat__sfu_source_add(&b->tracks[1], 42);
    (void)leat__sfu_source_add(&b->tracks[2], 43);
    (void)leat__sfu_source_add(&b->tracks[2], 42);
    leat__sfu_ssrcs_rebuild(&b->slot);
    check_leads(b, 42, 1, 0);
    check_leads(b, 43, 2, 0);
    free(b);
}

static void source_add__no_room__the_longest_silent_gives_way_but_never_the_forwarded(void)
{
    for (int active = -1; active < LEAT_ENCODINGS_MAX; active++) {
        struct bench *b = bench_new(1);
        struct leat_sfu_track *t = &b->tracks[0];
        static const uint64_t last_us[LEAT_ENCODINGS_MAX] = {300, 100, 200, 400};
        for (uint32_t i = 0; i < LEAT_ENCODINGS_MAX; i++) {
            leat__sfu_source_add(t, 10 + i)->last_us = last_us[i];
        }
        t->active = active;
        struct leat_sfu_source *source = leat__sfu_source_add(t, 99);
        LEAT_CHECK_ROW(active + 1, source == &t->sources[active == 1 ? 2 : 1]);
        LEAT_CHECK_INT(t->source_count, LEAT_ENCODINGS_MAX);
        LEAT_CHECK_INT(t->active, active);
        LEAT_CHECK_INT(source->ssrc, 99);
        LEAT_CHECK_INT(source->last_us, 0);
        free(b);
    }
}

LEAT_TESTS(LEAT_TEST(ssrc_table__no_tracks__knows_nothing),
           LEAT_TEST(ssrc_table__zero_and_all_ones__are_ssrcs_like_others),
           LEAT_TEST(ssrc_table__same_place_in_the_hash__each_is_found),
           LEAT_TEST(ssrc_table__as_many_as_a_peer_can_have__each_is_found),
           LEAT_TEST(ssrc_table__stands_twice__is_the_first_sections),
           LEAT_TEST(source_add__no_room__the_longest_silent_gives_way_but_never_the_forwarded))
