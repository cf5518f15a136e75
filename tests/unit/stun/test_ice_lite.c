/* SPDX-License-Identifier: MIT */
/*
 * Rows T (tuples), N (nomination), R (restart) and C (consent) of the table in src/stun/ice_lite.c,
 * each under its number.
 */
#include "stun_agent.h"

/* ---- T: tuples ---- */

static void t1__success__tuple_becomes_valid(void)
{
    struct agent a = new_agent();
    struct leat_tuple t = from_port(50000), other = from_port(50001);
    LEAT_CHECK(!leat_ice_is_valid_tuple(&a.ice, &t));
    check(&a, t, LOW, T0);
    LEAT_CHECK(leat_ice_is_valid_tuple(&a.ice, &t) && !leat_ice_is_valid_tuple(&a.ice, &other));
    LEAT_CHECK(a.change.tuple_added && leat_tuple_equal(&a.change.added, &t));
    LEAT_CHECK(!a.change.tuple_removed);
    check(&a, t, HIGH, T0 + SECOND);
    LEAT_CHECK(!a.change.tuple_added && !a.change.selected_changed);
    LEAT_CHECK_INT(a.ice.tuple_count, 1);
    LEAT_CHECK_INT(a.ice.tuples[0].priority, HIGH);
    LEAT_CHECK_INT(a.ice.tuples[0].checked_us, T0 + SECOND);
    check(&a, t, 0, T0 + SECOND); /* without PRIORITY */
    LEAT_CHECK_INT(a.ice.tuples[0].priority, HIGH);
}

static void t2__ninth__pushes_out_the_oldest_not_selected(void)
{
    struct agent a = new_agent();
    nominate(&a, from_port(50000), HIGH, T0); /* the oldest, but selected */
    for (unsigned i = 1; i < 8; i++) {
        check(&a, from_port(50000 + i), LOW, T0 + i * MS);
        LEAT_CHECK_ROW(i, a.change.tuple_added && !a.change.tuple_removed);
    }
    check(&a, from_port(50001), LOW, T0 + 20 * MS); /* now 50002 is the oldest */
    struct leat_tuple gone = from_port(50002), added = from_port(50008), kept = from_port(50000);
    check(&a, added, LOW, T0 + 21 * MS);
    LEAT_CHECK(a.change.tuple_added && leat_tuple_equal(&a.change.added, &added));
    LEAT_CHECK(a.change.tuple_removed && leat_tuple_equal(&a.change.removed, &gone));
    LEAT_CHECK_INT(a.ice.tuple_count, LEAT_ICE_TUPLES_MAX);
    LEAT_CHECK(!leat_ice_is_valid_tuple(&a.ice, &gone));
    LEAT_CHECK(leat_ice_is_valid_tuple(&a.ice, &added) && leat_ice_is_valid_tuple(&a.ice, &kept));
    LEAT_CHECK(is_selected(&a, kept) && !a.change.selected_changed);
}

static void t2__selected_in_the_middle_is_the_oldest__stays(void)
{
    struct agent a = new_agent();
    for (unsigned i = 0; i < 8; i++) {
        check(&a, from_port(50000 + i), LOW, T0 + 10 * MS + i);
    }
    nominate(&a, from_port(50004), HIGH, T0 + 11 * MS);
    for (unsigned i = 0; i < 8; i++) {
        if (i != 4) {
            check(&a, from_port(50000 + i), LOW, T0 + 20 * MS - i);
        }
    }
    struct leat_tuple gone = from_port(50007);
    check(&a, from_port(50008), LOW, T0 + 21 * MS);
    LEAT_CHECK(a.change.tuple_removed && leat_tuple_equal(&a.change.removed, &gone));
    LEAT_CHECK(is_selected(&a, from_port(50004)));
}

static void t2__thousand_addresses__bounded(void)
{
    struct agent a = new_agent();
    nominate(&a, from_port(1024), HIGH, T0);
    for (unsigned i = 0; i < 1000; i++) {
        check(&a, from_port(2000 + i), LOW, T0 + i);
    }
    LEAT_CHECK_INT(a.ice.tuple_count, LEAT_ICE_TUPLES_MAX);
    LEAT_CHECK(is_selected(&a, from_port(1024)));
}

static void t3__before_a_nomination__latest_checked_is_selected(void)
{
    struct agent a = new_agent();
    LEAT_CHECK(leat_ice_selected(&a.ice) == NULL);
    check(&a, from_port(50000), HIGH, T0);
    LEAT_CHECK(is_selected(&a, from_port(50000)) && a.change.selected_changed);
    check(&a, from_port(50001), LOW, T0 + MS);
    LEAT_CHECK(is_selected(&a, from_port(50001)) && a.change.selected_changed);
    check(&a, from_port(50000), HIGH, T0 + 2 * MS);
    LEAT_CHECK(is_selected(&a, from_port(50000)) && a.change.selected_changed);
    LEAT_CHECK(!a.ice.is_nominated);
}

/* ---- N: nomination ---- */

static struct leat_tuple elsewhere(const char *remote_ip)
{
    return (struct leat_tuple){addr("127.0.0.1", 3478), addr(remote_ip, 50000)};
}

static void n1__first_use_candidate__selects(void)
{
    struct agent a = new_agent();
    check(&a, from_port(50000), HIGH, T0);
    check(&a, from_port(50001), HIGH, T0 + MS);
    nominate(&a, from_port(50000), LOW, T0 + 2 * MS);
    LEAT_CHECK(is_selected(&a, from_port(50000)) && a.ice.is_nominated &&
               a.change.selected_changed);
}

static void n2__higher_priority__selects_at_once(void)
{
    struct agent a = new_agent();
    nominate(&a, from_port(50000), LOW, T0);
    nominate(&a, elsewhere("127.0.0.2"), LOW + 1, T0 + MS);
    LEAT_CHECK(is_selected(&a, elsewhere("127.0.0.2")) && a.change.selected_changed);
}

static void n3__nat_rebinding__selects_at_once(void)
{
    struct agent a = new_agent();
    nominate(&a, from_port(50000), HIGH, T0);
    nominate(&a, from_port(50001), HIGH, T0 + MS);
    LEAT_CHECK(is_selected(&a, from_port(50001)) && a.change.selected_changed);
}

static void n3__other_ip_local_or_priority__is_no_rebinding(void)
{
    const struct {
        struct leat_tuple tuple;
        uint32_t priority;
    } rows[] = {{{addr("127.0.0.1", 3478), addr("127.0.0.2", 50000)}, HIGH},
                {{addr("127.0.0.2", 3478), addr("127.0.0.1", 50001)}, HIGH},
                {{addr("127.0.0.1", 3479), addr("127.0.0.1", 50001)}, HIGH},
                {{addr("127.0.0.1", 3478), addr("::1", 50001)}, HIGH},
                {from_port(50001), HIGH - 1}};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct agent a = new_agent();
        nominate(&a, from_port(50000), HIGH, T0);
        nominate(&a, rows[i].tuple, rows[i].priority, T0 + MS);
        LEAT_CHECK_ROW(i, is_selected(&a, from_port(50000)) && !a.change.selected_changed);
    }
}

static void n4__second_use_candidate_and_none_on_selected__selects(void)
{
    struct agent a = new_agent();
    nominate(&a, from_port(50000), HIGH, T0);
    nominate(&a, elsewhere("127.0.0.2"), LOW, T0 + 100 * MS);
    check(&a, from_port(50000), HIGH, T0 + 150 * MS); /* plain: keeps N5 away */
    nominate(&a, elsewhere("127.0.0.2"), LOW, T0 + 200 * MS);
    LEAT_CHECK(is_selected(&a, elsewhere("127.0.0.2")));
}

static void n4__selected_nominated_in_between__stays(void)
{
    struct agent a = new_agent();
    nominate(&a, from_port(50000), HIGH, T0);
    for (unsigned i = 0; i < 10; i++) {
        nominate(&a, elsewhere("127.0.0.2"), LOW, T0 + (100 + i * 200) * MS);
        LEAT_CHECK_ROW(i, is_selected(&a, from_port(50000)));
        nominate(&a, from_port(50000), HIGH, T0 + (200 + i * 200) * MS);
        LEAT_CHECK_ROW(i, is_selected(&a, from_port(50000)));
    }
}

static void n5__selected_silent_for_a_second__selects(void)
{
    for (unsigned late = 0; late <= 1; late++) {
        struct agent a = new_agent();
        nominate(&a, from_port(50000), HIGH, T0);
        check(&a, from_port(50000), HIGH, T0 + SECOND);
        nominate(&a, elsewhere("127.0.0.2"), LOW, T0 + 2 * SECOND - 1 + late);
        LEAT_CHECK_ROW(late, is_selected(&a, elsewhere("127.0.0.2")) == (late == 1));
    }
}

static void n6__lower_priority_beside_a_live_one__stays(void)
{
    struct agent a = new_agent();
    nominate(&a, from_port(50000), HIGH, T0);
    nominate(&a, elsewhere("127.0.0.2"), LOW, T0 + MS);
    LEAT_CHECK(is_selected(&a, from_port(50000)) && !a.change.selected_changed);
    struct leat_tuple t = elsewhere("127.0.0.2");
    LEAT_CHECK(leat_ice_is_valid_tuple(&a.ice, &t));
}

static void n7__plain_request__never_moves_a_nominated_one(void)
{
    struct agent a = new_agent();
    nominate(&a, from_port(50000), LOW, T0);
    check(&a, from_port(50001), HIGH, T0 + MS);
    check(&a, elsewhere("127.0.0.2"), HIGH, T0 + 25 * SECOND);
    LEAT_CHECK(is_selected(&a, from_port(50000)));
}

/* Two of our addresses, one of the client: equal priorities; it nominates both once and stays on
 * the second. */
static void n7__refused_nomination_and_selected_abandoned__followed(void)
{
    struct leat_tuple first = {addr("10.0.0.1", 3478), addr("10.0.0.9", 50000)};
    struct leat_tuple second = {addr("10.0.1.1", 3478), addr("10.0.0.9", 50000)};
    struct agent a = new_agent();
    nominate(&a, first, HIGH, T0);
    nominate(&a, second, HIGH, T0 + MS);
    LEAT_CHECK(is_selected(&a, first));
    check(&a, second, HIGH, T0 + 5 * SECOND);
    check(&a, second, HIGH, T0 + 10 * SECOND - 1);
    LEAT_CHECK(is_selected(&a, first));
    check(&a, second, HIGH, T0 + 10 * SECOND);
    LEAT_CHECK(is_selected(&a, second) && a.change.selected_changed);
    check(&a, first, HIGH, T0 + 21 * SECOND); /* was nominated before it: stays where it is */
    LEAT_CHECK(is_selected(&a, second));
}

/* ---- R: restart ---- */

static struct leat_ice_local restart(struct agent *a, const char *ufrag, const char *remote,
                                     uint64_t now_us)
{
    struct leat_ice_local next = local_of(ufrag, "anotherPassword012345678");
    leat_ice_restart(&a->ice, &next, leat_span_str(remote), now_us);
    return next;
}

static void r1__restart__keeps_tuples_and_answers_both(void)
{
    struct agent a = new_agent();
    struct leat_ice_local old = a.local;
    nominate(&a, from_port(50000), HIGH, T0);
    struct leat_ice_local next = restart(&a, "dmnV", "reep", T0 + SECOND);
    LEAT_CHECK(a.ice.is_restarting && a.ice.is_nominated && is_selected(&a, from_port(50000)));
    check(&a, from_port(50000), HIGH, T0 + SECOND); /* old credentials */
    a.local = next;
    a.remote = "reep";
    check(&a, from_port(50001), HIGH, T0 + SECOND); /* new ones, answered under the new password */
    struct leat_stun_msg m;
    LEAT_CHECK_INT(leat_stun_parse(&m, leat_span(a.out.last, a.out.len)), LEAT_STUN_OK);
    LEAT_CHECK(leat_stun_check_integrity(&m, &a.ice.now.key));
    LEAT_CHECK(is_selected(&a, from_port(50000)) && a.ice.is_restarting);
    a.local = old;
    a.remote = "peer";
    check(&a, from_port(50000), HIGH, T0 + 2 * SECOND);
    LEAT_CHECK_INT(leat_stun_parse(&m, leat_span(a.out.last, a.out.len)), LEAT_STUN_OK);
    LEAT_CHECK(leat_stun_check_integrity(&m, &a.ice.before.key));
}

static void r2__first_nomination_under_the_new__always_selects_and_ends_it(void)
{
    struct agent a = new_agent();
    nominate(&a, from_port(50000), HIGH, T0);
    struct octets late = request(&a, 900, HIGH, true);
    struct leat_ice_local next = restart(&a, "dmnV", "reep", T0);
    nominate(&a, from_port(50000), HIGH, T0 + MS); /* the old generation nominates on */
    LEAT_CHECK(a.ice.is_restarting);
    a.local = next;
    a.remote = "reep";
    nominate(&a, elsewhere("127.0.0.2"), LOW,
             T0 + 2 * MS); /* lower, other IP, within 1 s: N6 else */
    LEAT_CHECK(is_selected(&a, elsewhere("127.0.0.2")) && a.change.selected_changed);
    LEAT_CHECK(!a.ice.is_restarting && !a.ice.before.is_used);
    LEAT_CHECK_INT(give(&a, span_of(&late), from_port(50000), T0 + 3 * MS), LEAT_ICE_BAD_USERNAME);
    struct leat_tuple old = from_port(50000);
    LEAT_CHECK(leat_ice_is_valid_tuple(&a.ice, &old));
    nominate(&a, elsewhere("127.0.0.3"), LOW, T0 + 4 * MS); /* only the first one does */
    LEAT_CHECK(is_selected(&a, elsewhere("127.0.0.2")));
}

static void r2__new_generation_on_the_selected_tuple__ends_it(void)
{
    struct agent a = new_agent();
    nominate(&a, from_port(50000), HIGH, T0);
    a.local = restart(&a, "dmnV", "reep", T0);
    a.remote = "reep";
    nominate(&a, from_port(50000), HIGH, T0 + MS);
    LEAT_CHECK(is_selected(&a, from_port(50000)) && !a.change.selected_changed);
    LEAT_CHECK(!a.ice.is_restarting && !a.ice.before.is_used);
}

static void r3__generation_before__ends_after_30_s(void)
{
    struct agent a = new_agent();
    nominate(&a, from_port(50000), HIGH, T0);
    struct leat_ice_local next = restart(&a, "dmnV", "reep", T0 + SECOND);
    check(&a, from_port(50000), HIGH, T0 + 31 * SECOND - 1);
    struct octets o = request(&a, 900, HIGH, false);
    LEAT_CHECK_INT(give(&a, span_of(&o), from_port(50000), T0 + 31 * SECOND),
                   LEAT_ICE_BAD_USERNAME);
    LEAT_CHECK_INT(leat_ice_deadline(&a.ice), T0 + 31 * SECOND);
    LEAT_CHECK(leat_ice_tick(&a.ice, T0 + 31 * SECOND, &a.change));
    static const struct leat_ice_generation none;
    LEAT_CHECK(memcmp(&a.ice.before, &none, sizeof(none)) == 0); /* wiped */
    LEAT_CHECK(a.ice.is_restarting);
    a.local = next;
    a.remote = "reep";
    nominate(&a, elsewhere("127.0.0.2"), LOW, T0 + 31 * SECOND);
    LEAT_CHECK(is_selected(&a, elsewhere("127.0.0.2")) && !a.ice.is_restarting);
}

static void r4__restart_in_a_restart__keeps_the_generation_in_use(void)
{
    struct agent a = new_agent();
    nominate(&a, from_port(50000), HIGH, T0);
    struct agent skipped = a;
    skipped.local = restart(&a, "dmnV", "reep", T0 + SECOND);
    skipped.remote = "reep";
    struct leat_ice_local last = restart(&a, "dmnW", "rrrr", T0 + 20 * SECOND);
    struct octets o = request(&skipped, 900, HIGH, true);
    LEAT_CHECK_INT(give(&a, span_of(&o), from_port(50001), T0 + 20 * SECOND),
                   LEAT_ICE_BAD_USERNAME);
    check(&a, from_port(50000), HIGH, T0 + 29 * SECOND); /* the first generation */
    check(&a, from_port(50000), HIGH, T0 + 50 * SECOND - 1);
    a.local = last;
    a.remote = "rrrr";
    nominate(&a, from_port(50001), HIGH, T0 + 50 * SECOND);
    LEAT_CHECK(is_selected(&a, from_port(50001)) && !a.ice.is_restarting);
}

/* ---- C: consent and time ---- */

static void c1__no_request_at_all__ends_after_30_s(void)
{
    struct agent a = new_agent();
    LEAT_CHECK_INT(leat_ice_deadline(&a.ice), T0 + 30 * SECOND);
    LEAT_CHECK(leat_ice_tick(&a.ice, T0 + 30 * SECOND - 1, &a.change));
    LEAT_CHECK(!leat_ice_tick(&a.ice, T0 + 30 * SECOND, &a.change));
}

static void c1__last_success_30_s_ago__ends(void)
{
    struct agent a = new_agent();
    check(&a, from_port(50000), HIGH, T0 + 10 * SECOND);
    LEAT_CHECK_INT(leat_ice_deadline(&a.ice), T0 + 40 * SECOND);
    LEAT_CHECK(leat_ice_tick(&a.ice, T0 + 40 * SECOND - 1, &a.change));
    LEAT_CHECK(!leat_ice_tick(&a.ice, T0 + 40 * SECOND, &a.change));
}

static void c1__refused_requests__do_not_count(void)
{
    struct agent a = new_agent();
    LEAT_CHECK_INT(give_hex(&a, P01, from_port(50000), T0), LEAT_ICE_OK);
    LEAT_CHECK_INT(give_hex(&a, P01, from_port(50001), T0 + 20 * SECOND), LEAT_ICE_REPLAYED);
    LEAT_CHECK_INT(give_hex(&a, P01, from_port(50000), T0 + 20 * SECOND), LEAT_ICE_OK); /* B5 */
    LEAT_CHECK_INT(give_hex(&a, CONTROLLED, from_port(50000), T0 + 20 * SECOND), LEAT_ICE_OK);
    LEAT_CHECK(!leat_ice_tick(&a.ice, T0 + 30 * SECOND, &a.change));
}

static void c2__silent_tuples__removed_one_a_call(void)
{
    struct agent a = new_agent();
    struct leat_tuple silent[3] = {from_port(50001), from_port(50002), from_port(50003)};
    check(&a, silent[0], LOW, T0 + 1);
    check(&a, silent[1], LOW, T0 + 2);
    check(&a, silent[2], LOW, T0 + 3);
    nominate(&a, from_port(50000), HIGH, T0 + 4);
    nominate(&a, from_port(50000), HIGH, T0 + 20 * SECOND);
    LEAT_CHECK_INT(leat_ice_deadline(&a.ice), T0 + 30 * SECOND + 1);
    LEAT_CHECK(leat_ice_tick(&a.ice, T0 + 30 * SECOND, &a.change) && !a.change.tuple_removed);
    for (size_t i = 0; i < 3; i++) {
        LEAT_CHECK_ROW(i, leat_ice_tick(&a.ice, T0 + 31 * SECOND, &a.change));
        LEAT_CHECK_ROW(i,
                       a.change.tuple_removed && leat_tuple_equal(&a.change.removed, &silent[i]));
        LEAT_CHECK_ROW(i, !a.change.selected_changed && is_selected(&a, from_port(50000)));
    }
    LEAT_CHECK(leat_ice_tick(&a.ice, T0 + 31 * SECOND, &a.change) && !a.change.tuple_removed);
    LEAT_CHECK_INT(a.ice.tuple_count, 1);
    LEAT_CHECK_INT(leat_ice_deadline(&a.ice), T0 + 50 * SECOND);
}

static void c3__selected_silent__last_nominated_other_is_selected(void)
{
    struct agent a = new_agent();
    nominate(&a, elsewhere("127.0.0.3"), LOW, T0 + 10 * SECOND);
    nominate(&a, from_port(50000), HIGH, T0 + 10 * SECOND + 1); /* N2 */
    nominate(&a, elsewhere("127.0.0.2"), LOW, T0 + 10 * SECOND + 2);
    LEAT_CHECK(is_selected(&a, from_port(50000)));
    a.ice.tuples[a.ice.selected].checked_us = T0; /* as if the others were checked since */
    check(&a, from_port(50009), HIGH, T0 + 20 * SECOND);
    LEAT_CHECK(leat_ice_tick(&a.ice, T0 + 30 * SECOND, &a.change));
    LEAT_CHECK(a.change.tuple_removed && a.change.selected_changed);
    LEAT_CHECK(is_selected(&a, elsewhere("127.0.0.2")) && a.ice.is_nominated);
}

static void c3__no_other_was_nominated__latest_checked_and_open_again(void)
{
    struct agent a = new_agent();
    nominate(&a, from_port(50000), HIGH, T0);
    check(&a, from_port(50001), LOW, T0 + 20 * SECOND);
    check(&a, from_port(50002), LOW, T0 + 21 * SECOND);
    check(&a, from_port(50001), LOW, T0 + 22 * SECOND);
    LEAT_CHECK(leat_ice_tick(&a.ice, T0 + 30 * SECOND, &a.change));
    LEAT_CHECK(a.change.tuple_removed && a.change.selected_changed);
    LEAT_CHECK(is_selected(&a, from_port(50001)) && !a.ice.is_nominated);
    nominate(&a, from_port(50002), LOW, T0 + 30 * SECOND); /* N1 */
    LEAT_CHECK(is_selected(&a, from_port(50002)) && a.ice.is_nominated);
}

static void c3__taken_over_by_another_peer__best_other_or_none(void)
{
    struct agent a = new_agent();
    struct leat_tuple first = from_port(50000), second = elsewhere("127.0.0.2"),
                      third = from_port(9);
    nominate(&a, first, HIGH, T0);
    nominate(&a, second, LOW, T0 + 1);
    leat_ice_remove_tuple(&a.ice, &third); /* not ours: nothing */
    LEAT_CHECK_INT(a.ice.tuple_count, 2);
    leat_ice_remove_tuple(&a.ice, &first);
    LEAT_CHECK(is_selected(&a, second) && a.ice.is_nominated);
    leat_ice_remove_tuple(&a.ice, &second);
    LEAT_CHECK(leat_ice_selected(&a.ice) == NULL && !a.ice.is_nominated);
    LEAT_CHECK_INT(a.ice.tuple_count, 0);
    LEAT_CHECK(leat_ice_tick(&a.ice, T0 + 29 * SECOND, &a.change));
    check(&a, third, LOW, T0 + 29 * SECOND);
    LEAT_CHECK(is_selected(&a, third));
}

static void c4__first_reply__kept(void)
{
    struct agent a = new_agent();
    LEAT_CHECK_INT(a.ice.first_reply_us, 0);
    check(&a, from_port(50000), HIGH, T0 + 5);
    check(&a, from_port(50000), HIGH, T0 + 6);
    LEAT_CHECK_INT(a.ice.first_reply_us, T0 + 5);
    LEAT_CHECK_INT(a.ice.requests, 2);
    LEAT_CHECK_INT(a.ice.responses, 2);
}

static void deinit__wipes(void)
{
    struct agent a = new_agent();
    restart(&a, "dmnV", "reep", T0);
    leat_ice_deinit(&a.ice);
    struct leat_ice nothing;
    memset(&nothing, 0, sizeof(nothing));
    nothing.selected = -1;
    LEAT_CHECK(memcmp(&a.ice, &nothing, sizeof(nothing)) == 0);
}

STUN_TESTS(LEAT_TEST(t1__success__tuple_becomes_valid),
           LEAT_TEST(t2__ninth__pushes_out_the_oldest_not_selected),
           LEAT_TEST(t2__selected_in_the_middle_is_the_oldest__stays),
           LEAT_TEST(t2__thousand_addresses__bounded),
           LEAT_TEST(t3__before_a_nomination__latest_checked_is_selected),
           LEAT_TEST(n1__first_use_candidate__selects),
           LEAT_TEST(n2__higher_priority__selects_at_once),
           LEAT_TEST(n3__nat_rebinding__selects_at_once),
           LEAT_TEST(n3__other_ip_local_or_priority__is_no_rebinding),
           LEAT_TEST(n4__second_use_candidate_and_none_on_selected__selects),
           LEAT_TEST(n4__selected_nominated_in_between__stays),
           LEAT_TEST(n5__selected_silent_for_a_second__selects),
           LEAT_TEST(n6__lower_priority_beside_a_live_one__stays),
           LEAT_TEST(n7__plain_request__never_moves_a_nominated_one),
           LEAT_TEST(n7__refused_nomination_and_selected_abandoned__followed),
           LEAT_TEST(r1__restart__keeps_tuples_and_answers_both),
           LEAT_TEST(r2__first_nomination_under_the_new__always_selects_and_ends_it),
           LEAT_TEST(r2__new_generation_on_the_selected_tuple__ends_it),
           LEAT_TEST(r3__generation_before__ends_after_30_s),
           LEAT_TEST(r4__restart_in_a_restart__keeps_the_generation_in_use),
           LEAT_TEST(c1__no_request_at_all__ends_after_30_s),
           LEAT_TEST(c1__last_success_30_s_ago__ends),
           LEAT_TEST(c1__refused_requests__do_not_count),
           LEAT_TEST(c2__silent_tuples__removed_one_a_call),
           LEAT_TEST(c3__selected_silent__last_nominated_other_is_selected),
           LEAT_TEST(c3__no_other_was_nominated__latest_checked_and_open_again),
           LEAT_TEST(c3__taken_over_by_another_peer__best_other_or_none),
           LEAT_TEST(c4__first_reply__kept), LEAT_TEST(deinit__wipes))
