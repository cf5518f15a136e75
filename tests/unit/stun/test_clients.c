/* SPDX-License-Identifier: MIT */
/*
 * The recorded connectivity checks of eight clients: each is authentic, and our answer to it is
 * octet by octet the one that the client accepted.
 */
#include "stun_test.h"

#define SERVER_UFRAG "srvU"
#define SERVER_PWD "serverPassword0123456789"
#define LINE_MAX_LEN 4096
#define NOW_US 5000000

static void replay_request(const char *name, const struct leat_stun_msg *m, const char *reply_hex)
{
    struct octets recorded = unhex(reply_hex);
    struct leat_ice_local local = local_of(SERVER_UFRAG, SERVER_PWD);
    struct leat_span mine, theirs;
    struct leat_stun_msg reply;
    struct leat_ice_change change;
    struct array_sink out = array_sink();
    struct leat_ice ice;

    LEAT_CHECK_INT(leat_stun_parse(&reply, span_of(&recorded)), LEAT_STUN_OK);
    LEAT_CHECK(reply.has_mapped);
    struct leat_tuple tuple = {addr("10.78.0.1", 3478), reply.mapped};
    LEAT_CHECK(leat_stun_split_username(m->username, &mine, &theirs));
    leat_ice_init(&ice, &local, theirs, NOW_US);
    LEAT_CHECK_INT(leat_ice_check(&ice, m, &tuple, NOW_US), LEAT_ICE_OK);
    leat_ice_accept(&ice, m, &tuple, NOW_US, &out.sink, &change);
    LEAT_CHECK_INT(out.count, 1);
    LEAT_CHECK_MEM(out.last, out.len, recorded.data, recorded.len);
    LEAT_CHECK(leat_tuple_equal(&out.to, &tuple));
    LEAT_CHECK(leat_ice_is_valid_tuple(&ice, &tuple));
    LEAT_CHECK_INT(ice.is_nominated, m->use_candidate);
    LEAT_CHECK_INT(leat_stun_parse(&reply, leat_span(out.last, out.len)), LEAT_STUN_OK);
    LEAT_CHECK(leat_stun_check_integrity(&reply, &ice.now.key));
    leat_ice_deinit(&ice);
    if (leat_test_failures != 0) {
        fprintf(stderr, "    in %s\n", name);
    }
}

static void replay_indication(const struct leat_stun_msg *m)
{
    struct leat_ice_local local = local_of(SERVER_UFRAG, SERVER_PWD);
    struct leat_tuple tuple = from_port(50000);
    struct leat_ice ice;
    leat_ice_init(&ice, &local, leat_span_str("peer"), NOW_US);
    LEAT_CHECK_INT(leat_ice_check(&ice, m, &tuple, NOW_US), LEAT_ICE_INDICATION);
    leat_ice_deinit(&ice);
}

static void clients__recorded_checks__answered_as_recorded(void)
{
    static char line[LINE_MAX_LEN], name[64], request_hex[LINE_MAX_LEN], reply_hex[LINE_MAX_LEN];
    unsigned requests = 0, indications = 0;
    FILE *f = fopen(LEAT_VECTORS "/stun_first_checks.txt", "r");
    LEAT_CHECK(f != NULL);
    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        if (line[0] == '#' ||
            sscanf(line, "%63s %4095s %4095s", name, request_hex, reply_hex) != 3) {
            continue;
        }
        struct octets request = unhex(request_hex);
        struct leat_stun_msg m;
        LEAT_CHECK_INT(leat_stun_parse(&m, guarded(span_of(&request))), LEAT_STUN_OK);
        LEAT_CHECK(m.has_fingerprint && m.unknown_count == 0);
        if (strcmp(reply_hex, "-") == 0) {
            replay_indication(&m);
            indications++;
        } else {
            replay_request(name, &m, reply_hex);
            requests++;
        }
    }
    if (f != NULL) {
        fclose(f);
    }
    LEAT_CHECK_INT(requests, 36);
    LEAT_CHECK_INT(indications, 1);
}

STUN_TESTS(LEAT_TEST(clients__recorded_checks__answered_as_recorded))
