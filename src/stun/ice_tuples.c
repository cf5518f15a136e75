/* SPDX-License-Identifier: MIT */
/*
 * The valid tuples of one agent and what time does to them (rules T, C of ice_lite.c): the table is
 * an array of at most eight, found by comparison; an index stays the same until something is
 * removed.
 */
#include "ice_tuples.h"

int leat__ice_find_tuple(const struct leat_ice *ice, const struct leat_tuple *tuple)
{
    for (size_t i = 0; i < ice->tuple_count; i++) {
        if (leat_tuple_equal(&ice->tuples[i].tuple, tuple)) {
            return (int)i;
        }
    }
    return -1;
}

static size_t oldest_unselected(const struct leat_ice *ice)
{
    size_t oldest = ice->selected == 0 ? 1 : 0;
    for (size_t i = oldest + 1; i < ice->tuple_count; i++) {
        if ((int)i != ice->selected && ice->tuples[i].checked_us < ice->tuples[oldest].checked_us) {
            oldest = i;
        }
    }
    return oldest;
}

int leat__ice_add_tuple(struct leat_ice *ice, const struct leat_tuple *tuple,
                        struct leat_ice_change *change)
{
    size_t at = ice->tuple_count;
    if (at == LEAT_ICE_TUPLES_MAX) {
        at = oldest_unselected(ice);
        change->tuple_removed = true;
        change->removed = ice->tuples[at].tuple;
    } else {
        ice->tuple_count++;
    }
    ice->tuples[at] = (struct leat_ice_tuple){.tuple = *tuple};
    change->tuple_added = true;
    change->added = *tuple;
    return (int)at;
}

/** The tuple nominated last, among equals the one checked last; -1 when there is none. */
static int best_tuple(const struct leat_ice *ice)
{
    int best = ice->tuple_count != 0 ? 0 : -1;
    for (size_t i = 1; i < ice->tuple_count; i++) {
        const struct leat_ice_tuple *a = &ice->tuples[i], *b = &ice->tuples[best];
        if (a->nominated_us > b->nominated_us ||
            (a->nominated_us == b->nominated_us && a->checked_us > b->checked_us)) {
            best = (int)i;
        }
    }
    return best;
}

static void remove_at(struct leat_ice *ice, size_t at)
{
    size_t behind = ice->tuple_count - at - 1;
    memmove(&ice->tuples[at], &ice->tuples[at + 1], behind * sizeof(ice->tuples[0]));
    ice->tuple_count--;
    memset(&ice->tuples[ice->tuple_count], 0, sizeof(ice->tuples[0]));
    if (ice->selected > (int)at) {
        ice->selected--;
    } else if (ice->selected == (int)at) {
        ice->selected = best_tuple(ice);
        ice->is_nominated = ice->selected >= 0 && ice->tuples[ice->selected].nominated_us != 0;
    }
}

void leat_ice_remove_tuple(struct leat_ice *ice, const struct leat_tuple *tuple)
{
    int at = leat__ice_find_tuple(ice, tuple);
    if (at >= 0) {
        remove_at(ice, (size_t)at);
    }
}

bool leat_ice_is_valid_tuple(const struct leat_ice *ice, const struct leat_tuple *tuple)
{
    return leat__ice_find_tuple(ice, tuple) >= 0;
}

const struct leat_tuple *leat_ice_selected(const struct leat_ice *ice)
{
    return ice->selected >= 0 ? &ice->tuples[ice->selected].tuple : NULL;
}

void leat__ice_drop_generation(struct leat_ice_generation *g)
{
    leat_hmac_sha1_deinit(&g->key);
    leat_wipe(g, sizeof(*g));
}

static uint64_t consent_end(const struct leat_ice *ice)
{
    return (ice->checked_us != 0 ? ice->checked_us : ice->started_us) + LEAT_ICE_CONSENT_US;
}

uint64_t leat_ice_deadline(const struct leat_ice *ice)
{
    uint64_t first = consent_end(ice);
    for (size_t i = 0; i < ice->tuple_count; i++) {
        uint64_t silent = ice->tuples[i].checked_us + LEAT_ICE_CONSENT_US;
        first = silent < first ? silent : first;
    }
    if (ice->before.is_used && ice->before_until_us < first) {
        first = ice->before_until_us;
    }
    return first;
}

bool leat_ice_tick(struct leat_ice *ice, uint64_t now_us, struct leat_ice_change *change)
{
    *change = (struct leat_ice_change){0};
    if (ice->before.is_used && now_us >= ice->before_until_us) {
        leat__ice_drop_generation(&ice->before);
    }
    if (now_us >= consent_end(ice)) {
        return false;
    }
    for (size_t i = 0; i < ice->tuple_count; i++) {
        if (now_us >= ice->tuples[i].checked_us + LEAT_ICE_CONSENT_US) {
            change->tuple_removed = true;
            change->removed = ice->tuples[i].tuple;
            change->selected_changed = ice->selected == (int)i;
            remove_at(ice, i);
            break;
        }
    }
    return true;
}
