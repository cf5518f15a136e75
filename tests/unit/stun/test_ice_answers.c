/* SPDX-License-Identifier: MIT */
/*
 * Rows A (authentication) and B (answers) of the table in src/stun/ice_lite.c, each under its
 * number. The octets of single requests and of all answers come from another implementation;
 * sequences are built with the builder, which test_build.c compares with the same.
 */
#include "stun_agent.h"

/* ---- A: authentication ---- */

static void a1__other_method__bad_method(void)
{
    struct agent a = new_agent();
    LEAT_CHECK_INT(give_hex(&a, "000300002112a4420102030405060708090a0b0c", from_port(50000), T0),
                   LEAT_ICE_BAD_METHOD);
    LEAT_CHECK_INT(give_hex(&a, "000200002112a4420102030405060708090a0b0c", from_port(50000), T0),
                   LEAT_ICE_BAD_METHOD);
}

static void a2__indication_or_response__ignored(void)
{
    static const char *const rows[] = {"001100082112a4420102030405060708090a0b0c802800044862c2c6",
                                       P01_REPLY_V4,
                                       "011100382112a4420102030405060708090a0b0c000900110000045752"
                                       "6f6c6520436f6e666c6963740000000008001460ca0c5bd9eaab5d7338"
                                       "ffbf69ea75833bf90f378028000456178a32"};
    struct agent a = new_agent();
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        LEAT_CHECK_ROW(i, give_hex(&a, rows[i], from_port(50000), T0) == LEAT_ICE_INDICATION);
    }
}

/* All with a right MESSAGE-INTEGRITY or none at all. */
static void a3__username_missing_or_not_ours__bad_username(void)
{
    static const char *const rows[] = {
        /* none */
        "000100002112a4420102030405060708090a0b0c",
        /* dmnU without a colon */
        "0001003c2112a4420102030405060708090a0b0c00060004646d6e55002400046e7f1eff802a000811223344"
        "5566778800080014"
        "2df212afaad3d0ba50c591a9fb22fbf674f567bc802800044782eb9f",
        /* dmnUx:peer */
        "000100442112a4420102030405060708090a0b0c0006000a646d6e55783a7065657200000024"
        "00046e7f1eff802a0008112233445566778800080014620e075ba35282ae52c5d50d41c39154c3b32a2d8028"
        "00048c6db3de",
    };
    struct agent a = new_agent();
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        LEAT_CHECK_ROW(i, give_hex(&a, rows[i], from_port(50000), T0) == LEAT_ICE_BAD_USERNAME);
    }
    static const char *const ufrags[] = {"dmn", "dmnu", "DMNU", "d", "dmnUdmnU", "mnU", "peer"};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(ufrags); i++) {
        a.local = local_of(ufrags[i], FIXTURE_PWD);
        struct octets o = request(&a, 1, HIGH, false);
        LEAT_CHECK_ROW(i, give(&a, span_of(&o), from_port(50000), T0) == LEAT_ICE_BAD_USERNAME);
    }
}

static void a4__other_remote_ufrag__bad_username(void)
{
    static const char *const remotes[] = {"pee",   "peerx", "Peer",     "p",
                                          "peer:", "dmnU",  "peer:peer"};
    struct agent a = new_agent();
    for (size_t i = 0; i < LEAT_ARRAY_LEN(remotes); i++) {
        a.remote = remotes[i];
        struct octets o = request(&a, 1, HIGH, false);
        LEAT_CHECK_ROW(i, give(&a, span_of(&o), from_port(50000), T0) == LEAT_ICE_BAD_USERNAME);
    }
}

static void a4__remote_ufrag_of_the_other_generation__bad_username(void)
{
    struct agent a = new_agent();
    struct leat_ice_local next = local_of("dmnV", "anotherPassword012345678");
    leat_ice_restart(&a.ice, &next, leat_span_str("reep"), T0);
    a.remote = "reep"; /* dmnU:reep */
    struct octets o = request(&a, 1, HIGH, true);
    LEAT_CHECK_INT(give(&a, span_of(&o), from_port(50000), T0), LEAT_ICE_BAD_USERNAME);
    a.local = next;
    a.remote = "peer"; /* dmnV:peer */
    o = request(&a, 1, HIGH, true);
    LEAT_CHECK_INT(give(&a, span_of(&o), from_port(50000), T0), LEAT_ICE_BAD_USERNAME);
}

static void a4__remote_ufrag_too_long_or_empty__matches_nothing(void)
{
    char longer[258];
    memset(longer, 'x', 257);
    longer[257] = '\0';
    struct agent a = new_agent();
    leat_ice_init(&a.ice, &a.local, leat_span_str(longer), T0);
    longer[256] = '\0';
    a.remote = longer;
    struct octets o = request(&a, 1, HIGH, false);
    LEAT_CHECK_INT(give(&a, span_of(&o), from_port(50000), T0), LEAT_ICE_BAD_USERNAME);
    leat_ice_init(&a.ice, &a.local, leat_span_str(""), T0);
    a.remote = "";
    o = request(&a, 1, HIGH, false);
    LEAT_CHECK_INT(give(&a, span_of(&o), from_port(50000), T0), LEAT_ICE_BAD_USERNAME);
    leat_ice_init(&a.ice, &a.local, leat_span_str(longer), T0);
    a.remote = longer; /* 256 is the limit */
    o = request(&a, 1, HIGH, false);
    LEAT_CHECK_INT(give(&a, span_of(&o), from_port(50000), T0), LEAT_ICE_OK);
}

static void a5__integrity_missing_or_wrong__refused(void)
{
    struct agent a = new_agent();
    /* first octet of the HMAC changed, FINGERPRINT right */
    struct octets o = unhex(P01);
    o.data[64] = 0xef;
    leat_put_u32(o.data + 88, 0x807ef0ac);
    LEAT_CHECK_INT(give(&a, span_of(&o), from_port(50000), T0), LEAT_ICE_BAD_INTEGRITY);
    /* cut off before MESSAGE-INTEGRITY */
    o = unhex(P01);
    o.len = 60;
    leat_put_u16(o.data + 2, 40);
    LEAT_CHECK_INT(give(&a, span_of(&o), from_port(50000), T0), LEAT_ICE_BAD_INTEGRITY);
    /* another password */
    a.local = local_of("dmnU", "daemonPassword0123456788");
    o = request(&a, 1, HIGH, true);
    LEAT_CHECK_INT(give(&a, span_of(&o), from_port(50000), T0), LEAT_ICE_BAD_INTEGRITY);
    LEAT_CHECK_INT(a.out.count, 0);
    LEAT_CHECK_INT(a.ice.tuple_count, 0);
}

static void a6__without_fingerprint__accepted(void)
{
    struct agent a = new_agent();
    LEAT_CHECK_INT(
        give_hex(
            &a,
            "000100402112a4420102030405060708090a0b0c00060009646d6e553a70656572000000002400046e"
            "7f1eff802a000811223344556677880025000000080014eefdb8b826b9c9bb58c12eddde0a50d928f2"
            "09fa",
            from_port(50000), T0),
        LEAT_ICE_OK);
    check_reply(&a, P01_REPLY_V4);
}

static void a6__without_fingerprint_and_wrong_integrity__refused(void)
{
    struct agent a = new_agent();
    struct octets o = unhex(P01);
    o.len = 84;
    leat_put_u16(o.data + 2, 64);
    o.data[83] ^= 1;
    LEAT_CHECK_INT(give(&a, span_of(&o), from_port(50000), T0), LEAT_ICE_BAD_INTEGRITY);
}

static void a7__recorded_id_from_another_tuple__replayed(void)
{
    struct agent a = new_agent();
    struct leat_tuple other_local = {addr("127.0.0.2", 3478), addr("127.0.0.1", 50000)};
    LEAT_CHECK_INT(give_hex(&a, P01, from_port(50000), T0), LEAT_ICE_OK);
    LEAT_CHECK_INT(give_hex(&a, P01, from_port(50001), T0 + 5 * SECOND), LEAT_ICE_REPLAYED);
    LEAT_CHECK_INT(give_hex(&a, P01, other_local, T0 + 5 * SECOND), LEAT_ICE_REPLAYED);
    LEAT_CHECK_INT(a.out.count, 1);
    LEAT_CHECK(is_selected(&a, from_port(50000)));
    LEAT_CHECK_INT(a.ice.tuple_count, 1);
}

static void a7__window__the_last_32(void)
{
    struct agent a = new_agent();
    LEAT_CHECK_INT(give_hex(&a, P01, from_port(50000), T0), LEAT_ICE_OK);
    for (int i = 0; i < 31; i++) {
        check(&a, from_port(50000), HIGH, T0);
    }
    LEAT_CHECK_INT(give_hex(&a, P01, from_port(50001), T0), LEAT_ICE_REPLAYED);
    check(&a, from_port(50000), HIGH, T0);
    LEAT_CHECK_INT(give_hex(&a, P01, from_port(50001), T0), LEAT_ICE_OK);
}

/* A refused request must not push recorded ones out. */
static void a7__refused_requests__not_recorded(void)
{
    struct agent a = new_agent();
    struct agent stranger = new_agent();
    LEAT_CHECK_INT(give_hex(&a, P01, from_port(50000), T0), LEAT_ICE_OK);
    stranger.local = local_of("dmnU", "strangerPassword01234567");
    for (uint32_t i = 0; i < 40; i++) {
        struct octets o = request(&stranger, 1000 + i, HIGH, true);
        LEAT_CHECK_INT(give(&a, span_of(&o), from_port(50001), T0), LEAT_ICE_BAD_INTEGRITY);
    }
    LEAT_CHECK_INT(give_hex(&a, P01, from_port(50001), T0), LEAT_ICE_REPLAYED);
}

static void a7__id_of_zeros__is_not_an_empty_record(void)
{
    struct agent a = new_agent();
    struct octets o = request(&a, 0, HIGH, false);
    LEAT_CHECK_INT(give(&a, span_of(&o), from_port(50000), T0), LEAT_ICE_OK);
    LEAT_CHECK(a.change.tuple_added);
    LEAT_CHECK_INT(give(&a, span_of(&o), from_port(50001), T0), LEAT_ICE_REPLAYED);
}

static void a8__check_alone__changes_nothing(void)
{
    struct agent a = new_agent();
    struct octets o = unhex(P01);
    struct leat_ice before = a.ice;
    struct leat_tuple tuple = from_port(50000);
    struct leat_stun_msg m;
    LEAT_CHECK_INT(leat_stun_parse(&m, span_of(&o)), LEAT_STUN_OK);
    LEAT_CHECK_INT(leat_ice_check(&a.ice, &m, &tuple, T0), LEAT_ICE_OK);
    LEAT_CHECK_INT(leat_ice_check(&a.ice, &m, &tuple, T0), LEAT_ICE_OK);
    LEAT_CHECK(memcmp(&before, &a.ice, sizeof(before)) == 0);
}

/* Every octet of P01 set to every other value. MESSAGE-INTEGRITY covers 0..83, FINGERPRINT all; an
 * attribute behind MESSAGE-INTEGRITY that is not FINGERPRINT is ignored, so only a changed type
 * there (octets 84, 85) leaves a request without FINGERPRINT. */
static void a8__every_changed_octet__not_authentic(void)
{
    struct agent a = new_agent();
    struct octets right = unhex(P01);
    struct leat_tuple tuple = from_port(50000);
    for (size_t at = 0; at < right.len; at++) {
        for (unsigned change = 1; change < 256; change++) {
            struct octets o = right;
            struct leat_stun_msg m;
            o.data[at] ^= (uint8_t)change;
            bool is_ok = leat_stun_parse(&m, guarded(span_of(&o))) == LEAT_STUN_OK &&
                         leat_ice_check(&a.ice, &m, &tuple, T0) == LEAT_ICE_OK;
            if (is_ok != (at == 84 || at == 85)) {
                LEAT_CHECK_ROW(at * 1000 + change, false);
            }
        }
    }
    LEAT_CHECK_INT(give_hex(&a, P01, from_port(50000), T0), LEAT_ICE_OK);
    check_reply(&a, P01_REPLY_V4);
}

/* The same where the sender repairs FINGERPRINT, which needs no key. */
static void a8__every_changed_octet_with_right_fingerprint__not_authentic(void)
{
    struct agent a = new_agent();
    struct octets right = unhex(P01);
    struct leat_tuple tuple = from_port(50000);
    for (size_t at = 0; at < 84; at++) {
        for (unsigned change = 1; change < 256; change++) {
            struct octets o = right;
            struct leat_stun_msg m;
            o.data[at] ^= (uint8_t)change;
            leat_put_u32(o.data + 88, leat_crc32(0, o.data, 84) ^ 0x5354554e);
            if (leat_stun_parse(&m, guarded(span_of(&o))) == LEAT_STUN_OK &&
                leat_ice_check(&a.ice, &m, &tuple, T0) == LEAT_ICE_OK) {
                LEAT_CHECK_ROW(at * 1000 + change, false);
            }
        }
    }
}

/* ---- B: answers ---- */

static void b1__unknown_required__420(void)
{
    struct agent a = new_agent();
    LEAT_CHECK_INT(
        give_hex(
            &a,
            "0001004c2112a4420102030405060708090a0b0c00060009646d6e553a70656572000000002400046e"
            "7f1eff802a000811223344556677887ffe00046162636400080014f4f086e2dcb17096c6b95b8d7318"
            "e158fb4e89908028000493630132",
            from_port(50000), T0),
        LEAT_ICE_OK);
    check_reply(&a, "011100442112a4420102030405060708090a0b0c0009001500000414556e6b6e6f776e20417474"
                    "726962757465000000000a00027ffe000000080014fbb3eec58963befa8eddab1408e7e45f0efd"
                    "839c802800048ae2a991");
    LEAT_CHECK_INT(a.ice.tuple_count, 0);
    LEAT_CHECK_INT(a.ice.checked_us, 0);
    LEAT_CHECK_INT(a.ice.first_reply_us, 0);
    LEAT_CHECK_INT(a.ice.requests, 1);
    LEAT_CHECK_INT(a.ice.errors, 1);
    LEAT_CHECK_INT(a.ice.responses, 0);
    LEAT_CHECK(!a.change.tuple_added && !a.change.selected_changed);
    /* its transaction id was not recorded */
    LEAT_CHECK_INT(give_hex(&a, P01, from_port(50001), T0), LEAT_ICE_OK);
}

static void b1__several_unknown__each_once(void)
{
    struct agent a = new_agent();
    LEAT_CHECK_INT(
        give_hex(
            &a,
            "0001005c2112a4420102030405060708090a0b0c00060009646d6e553a70656572000000002400046e"
            "7f1eff7ffe000461626364010100007ffe000378797a00002a000171000000c0570004000100000008"
            "0014c1946557bcd765d4c42775683de64c08b17ce68980280004b95967af",
            from_port(50000), T0),
        LEAT_ICE_OK);
    check_reply(&a, "011100482112a4420102030405060708090a0b0c0009001500000414556e6b6e6f776e20417474"
                    "726962757465000000000a00067ffe0101002a000000080014957e00c049104b33b762e5ff7d90"
                    "3ac7bc93e9858028000420b1a19f");
}

static void b2__controlled__487_and_nothing_changes(void)
{
    struct agent a = new_agent();
    LEAT_CHECK_INT(give_hex(&a, CONTROLLED, from_port(50000), T0), LEAT_ICE_OK);
    check_reply(&a, "011100382112a4420102030405060708090a0b0c0009001100000457526f6c6520436f6e666c69"
                    "63740000000008001460ca0c5bd9eaab5d7338ffbf69ea75833bf90f378028000456178a32");
    LEAT_CHECK_INT(a.ice.tuple_count, 0);
    LEAT_CHECK_INT(a.ice.errors, 1);
    LEAT_CHECK(leat_ice_selected(&a.ice) == NULL);
    LEAT_CHECK(leat_tuple_equal(
        &a.out.to, &(struct leat_tuple){addr("127.0.0.1", 3478), addr("127.0.0.1", 50000)}));
}

static void b2__controlled_beside_a_nominated_tuple__selected_stays(void)
{
    struct agent a = new_agent();
    nominate(&a, from_port(50001), LOW, T0);
    struct leat_ice before = a.ice;
    LEAT_CHECK_INT(give_hex(&a, CONTROLLED, from_port(50000), T0 + 2 * SECOND), LEAT_ICE_OK);
    before.requests++;
    before.errors++;
    LEAT_CHECK(memcmp(&before, &a.ice, sizeof(before)) == 0);
}

static void b2__tie_breaker_zero__success_and_nomination(void)
{
    struct agent a = new_agent();
    LEAT_CHECK_INT(
        give_hex(
            &a,
            "000100482112a4420102030405060708090a0b0c00060009646d6e553a70656572000000002400046e"
            "7f1eff802a00080000000000000000002500000008001"
            "45d57461c673337f1d923866ca1cb3c40c3"
            "9d4e108028000470ab3076",
            from_port(50000), T0),
        LEAT_ICE_OK);
    check_reply(&a, P01_REPLY_V4);
    LEAT_CHECK(a.ice.is_nominated && is_selected(&a, from_port(50000)));
}

/* 0xC057 and a 900-octet 0xC070 (a client that carries its handshake in checks) are also among the
 * recorded requests of test_clients.c. */
static void b3__unknown_optional__ignored(void)
{
    static const uint8_t filler[900] = {22, 0xfe, 0xff};
    struct agent a = new_agent();
    struct octets o;
    struct leat_writer w;
    leat_writer_init(&w, o.data, sizeof(o.data));
    leat_stun_begin(&w, LEAT_STUN_REQUEST, 1, (const uint8_t *)FIXTURE_TID);
    leat_write_u16(&w, 0xc070);
    leat_write_u16(&w, sizeof(filler));
    leat_write_bytes(&w, filler, sizeof(filler));
    leat_stun_add_u32(&w, 0xc057, 1);
    leat_stun_add_username(&w, leat_span_str("dmnU"), leat_span_str("peer"));
    o.len = leat_stun_end(&w, &a.ice.now.key);
    LEAT_CHECK(o.len > 900);
    LEAT_CHECK_INT(give(&a, guarded(span_of(&o)), from_port(50000), T0), LEAT_ICE_OK);
    check_reply(&a, P01_REPLY_V4);
}

static void b4__success__mapped_address_of_either_family(void)
{
    static const struct {
        const char *local, *remote, *hex;
    } rows[] = {{"127.0.0.1", "127.0.0.1", P01_REPLY_V4},
                {"::ffff:127.0.0.1", "::ffff:127.0.0.1", P01_REPLY_V4},
                {"::1", "::1", P01_REPLY_V6}};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct leat_tuple tuple = {addr(rows[i].local, 3478), addr(rows[i].remote, 50000)};
        struct agent a = new_agent();
        LEAT_CHECK_INT(give_hex(&a, P01, tuple, T0), LEAT_ICE_OK);
        check_reply(&a, rows[i].hex);
        LEAT_CHECK_ROW(i, leat_tuple_equal(&a.out.to, &tuple));
    }
}

static void b4__nominated_elsewhere__answer_goes_to_the_requests_tuple(void)
{
    struct agent a = new_agent();
    nominate(&a, from_port(50000), HIGH, T0);
    check(&a, from_port(50001), LOW, T0);
    struct leat_tuple asked = from_port(50001);
    LEAT_CHECK(leat_tuple_equal(&a.out.to, &asked));
}

static void b4__sink_is_full__state_moves_and_the_repeat_is_answered(void)
{
    struct agent a = new_agent();
    a.out.is_full = true;
    LEAT_CHECK_INT(give_hex(&a, P01, from_port(50000), T0), LEAT_ICE_OK);
    LEAT_CHECK(a.ice.is_nominated && a.ice.responses == 0 && a.ice.first_reply_us == 0);
    LEAT_CHECK_INT(give_hex(&a, CONTROLLED, from_port(50000), T0), LEAT_ICE_OK);
    LEAT_CHECK_INT(a.ice.errors, 0);
    a.out.is_full = false;
    LEAT_CHECK_INT(give_hex(&a, P01, from_port(50000), T0 + 500 * MS), LEAT_ICE_OK);
    check_reply(&a, P01_REPLY_V4);
    LEAT_CHECK_INT(a.ice.first_reply_us, T0 + 500 * MS);
}

static void b5__same_id_same_tuple__answered_again_and_nothing_changes(void)
{
    struct agent a = new_agent();
    LEAT_CHECK_INT(give_hex(&a, P01, from_port(50000), T0), LEAT_ICE_OK);
    struct leat_ice before = a.ice;
    memset(a.out.last, 0, sizeof(a.out.last));
    LEAT_CHECK_INT(give_hex(&a, P01, from_port(50000), T0 + SECOND), LEAT_ICE_OK);
    check_reply(&a, P01_REPLY_V4);
    LEAT_CHECK_INT(a.out.count, 2);
    before.requests++;
    before.responses++;
    LEAT_CHECK(memcmp(&before, &a.ice, sizeof(before)) == 0);
}

/* A captured USE-CANDIDATE of an address that was left must not bring media back to it. */
static void b5__old_nomination_again__does_not_select(void)
{
    struct agent a = new_agent();
    struct octets old = request(&a, 900, HIGH, true);
    LEAT_CHECK_INT(give(&a, span_of(&old), from_port(50000), T0), LEAT_ICE_OK);
    nominate(&a, from_port(50001), LOW, T0 + 2 * SECOND);
    LEAT_CHECK(is_selected(&a, from_port(50001)));
    LEAT_CHECK_INT(give(&a, span_of(&old), from_port(50000), T0 + 5 * SECOND), LEAT_ICE_OK);
    LEAT_CHECK(is_selected(&a, from_port(50001)));
    LEAT_CHECK(!a.change.selected_changed);
}

static void accept__without_a_passed_check__does_nothing(void)
{
    struct agent a = new_agent();
    struct leat_tuple tuple = from_port(50000);
    struct octets o = unhex("000100002112a4420102030405060708090a0b0c");
    struct leat_stun_msg m;
    LEAT_CHECK_INT(leat_stun_parse(&m, span_of(&o)), LEAT_STUN_OK);
    leat_ice_accept(&a.ice, &m, &tuple, T0, &a.out.sink, &a.change);
    LEAT_CHECK_INT(a.out.count, 0);
    LEAT_CHECK_INT(a.ice.requests, 0);
}

STUN_TESTS(LEAT_TEST(a1__other_method__bad_method), LEAT_TEST(a2__indication_or_response__ignored),
           LEAT_TEST(a3__username_missing_or_not_ours__bad_username),
           LEAT_TEST(a4__other_remote_ufrag__bad_username),
           LEAT_TEST(a4__remote_ufrag_of_the_other_generation__bad_username),
           LEAT_TEST(a4__remote_ufrag_too_long_or_empty__matches_nothing),
           LEAT_TEST(a5__integrity_missing_or_wrong__refused),
           LEAT_TEST(a6__without_fingerprint__accepted),
           LEAT_TEST(a6__without_fingerprint_and_wrong_integrity__refused),
           LEAT_TEST(a7__recorded_id_from_another_tuple__replayed),
           LEAT_TEST(a7__window__the_last_32), LEAT_TEST(a7__refused_requests__not_recorded),
           LEAT_TEST(a7__id_of_zeros__is_not_an_empty_record),
           LEAT_TEST(a8__check_alone__changes_nothing),
           LEAT_TEST(a8__every_changed_octet__not_authentic),
           LEAT_TEST(a8__every_changed_octet_with_right_fingerprint__not_authentic),
           LEAT_TEST(b1__unknown_required__420), LEAT_TEST(b1__several_unknown__each_once),
           LEAT_TEST(b2__controlled__487_and_nothing_changes),
           LEAT_TEST(b2__controlled_beside_a_nominated_tuple__selected_stays),
           LEAT_TEST(b2__tie_breaker_zero__success_and_nomination),
           LEAT_TEST(b3__unknown_optional__ignored),
           LEAT_TEST(b4__success__mapped_address_of_either_family),
           LEAT_TEST(b4__nominated_elsewhere__answer_goes_to_the_requests_tuple),
           LEAT_TEST(b4__sink_is_full__state_moves_and_the_repeat_is_answered),
           LEAT_TEST(b5__same_id_same_tuple__answered_again_and_nothing_changes),
           LEAT_TEST(b5__old_nomination_again__does_not_select),
           LEAT_TEST(accept__without_a_passed_check__does_nothing))
