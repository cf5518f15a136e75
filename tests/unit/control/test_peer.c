/* SPDX-License-Identifier: MIT */
/* Peers: creation from captured offers and from parameters, repeats, negotiation, ends. */
#include "harness.h"
#include "support.h"

#include <stdlib.h>

static struct world w;

static unsigned begin(void)
{
    world_prepare(&w);
    world_start(&w);
    return world_connect(&w);
}

static leat_json *call_owned(unsigned r, const char *method, char *params)
{
    leat_json *j = world_call(&w, r, method, params);
    free(params);
    return j;
}

static void create__chromium_offer__answers_and_opens(void)
{
    unsigned r = begin();
    char *sdp = read_offer("chromium156-default");
    leat_json *j =
        call_owned(r, "peer.create",
                   offer_params("a", "room", sdp, "\"data\":{\"name\":\"\\u00e4\",\"n\":[1]}"));
    LEAT_CHECK_STR(text_at(j, "result.id"), "a");
    LEAT_CHECK_STR(text_at(j, "result.state"), "new");
    LEAT_CHECK(is_true(j, "result.created"));
    const char *answer = text_at(j, "result.answer");
    LEAT_CHECK(strncmp(answer, "v=0\r\n", 5) == 0);
    LEAT_CHECK(strstr(answer, "a=ice-lite\r\n") != NULL);
    LEAT_CHECK(strstr(answer, "a=setup:passive\r\n") != NULL);
    LEAT_CHECK(strstr(answer, " 127.0.0.1 3478 typ host") != NULL);
    LEAT_CHECK(at(j, "result.local") == NULL);
    LEAT_CHECK_INT(leat_json_count(at(j, "result.tracks")), 2);
    LEAT_CHECK_INT(leat_json_count(at(j, "result.senders")), 2);
    LEAT_CHECK_STR(text_at(j, "result.tracks.0.kind"), "audio");
    LEAT_CHECK_STR(text_at(j, "result.tracks.1.kind"), "video");
    LEAT_CHECK_STR(text_at(j, "result.tracks.1.state"), "declared");
    LEAT_CHECK_INT(int_at(j, "result.tracks.1.encodings.0.ssrc"), 64893092); /* as in the offer */
    LEAT_CHECK_INT(leat_json_count(at(j, "result.tracks.1.encodings")), 1);  /* no RTX partner */
    LEAT_CHECK_INT(int_at(j, "result.tracks.0.codecs.0.pt"), 111);
    LEAT_CHECK_STR(text_at(j, "result.tracks.0.codecs.0.name"), "opus");
    LEAT_CHECK_INT(int_at(j, "result.tracks.0.codecs.0.channels"), 2);
    LEAT_CHECK_STR(text_at(j, "result.rejected.0.mid"), "2");
    LEAT_CHECK(int_at(j, "result.senders.0.ssrc") > 0);
    LEAT_CHECK(int_at(j, "result.senders.0.ssrc") != int_at(j, "result.senders.1.ssrc"));
    char ssrc[64];
    (void)snprintf(ssrc, sizeof(ssrc),
                   "a=ssrc:%u cname:", (unsigned)int_at(j, "result.senders.1.ssrc"));
    LEAT_CHECK(strstr(answer, ssrc) != NULL);

    const struct leat_command *open = &w.last[LEAT_COMMAND_OPEN];
    LEAT_CHECK_INT(w.posted[LEAT_COMMAND_OPEN], 1);
    LEAT_CHECK_STR(open->params.remote_ufrag, "733B");
    LEAT_CHECK(open->params.dtls.role == LEAT_DTLS_SERVER);
    LEAT_CHECK(open->params.dtls.remote_fingerprint[0] == 0x34);
    LEAT_CHECK(open->params.dtls.remote_fingerprint[31] == 0x1f);
    LEAT_CHECK_INT(open->params.dtls.profile_count, 1);
    LEAT_CHECK_INT(leat_ice_local_worker(leat_span_str(open->params.ice_local.ufrag), 5), 0);
    LEAT_CHECK(strstr(answer, open->params.ice_local.ufrag) != NULL);
    LEAT_CHECK(strstr(answer, open->cname) != NULL && open->cname[0] != '\0');
    LEAT_CHECK(open->rtcp_ssrc != 0);
    LEAT_CHECK_INT(open->track_count, 2);
    LEAT_CHECK_INT(open->sender_count, 2);
    LEAT_CHECK(w.last_track.is_active && w.last_sender.is_active);
    LEAT_CHECK_INT(w.last_track.exts.ids[LEAT_EXT_MID], 4);
    LEAT_CHECK_INT(w.last_sender.ssrc, int_at(j, "result.senders.0.ssrc"));
    LEAT_CHECK_STR(w.last_sender.stream, text_at(j, "result.senders.0.stream"));
    leat_json_free(j);

    j = world_call(&w, r, "peer.get", "{\"id\":\"a\"}");
    LEAT_CHECK_STR(text_at(j, "result.group"), "room");
    LEAT_CHECK_STR(text_at(j, "result.data.name"), "\xc3\xa4");
    LEAT_CHECK_STR(text_at(j, "result.kind"), "webrtc");
    LEAT_CHECK_STR(text_at(j, "result.reason"), "");
    LEAT_CHECK(at(j, "result.remote") &&
               leat_json_type_of(at(j, "result.remote")) == LEAT_JSON_NULL);
    LEAT_CHECK_INT(int_at(j, "result.created_us"), 0);
    leat_json_free(j);
    free(sdp);
    world_stop(&w);
}

static void create__repeated__gives_the_same_and_opens_nothing(void)
{
    unsigned r = begin();
    char *sdp = read_offer("firefox153-default");
    char *params = offer_params("a", NULL, sdp, "\"data\":1");
    leat_json *first = world_call(&w, r, "peer.create", params);
    leat_json *again = world_call(&w, r, "peer.create", params);
    LEAT_CHECK(is_true(first, "result.created"));
    LEAT_CHECK(is_false(again, "result.created"));
    LEAT_CHECK_STR(text_at(again, "result.answer"), text_at(first, "result.answer"));
    LEAT_CHECK_INT(int_at(again, "result.senders.0.ssrc"), int_at(first, "result.senders.0.ssrc"));
    LEAT_CHECK_INT(w.posted[LEAT_COMMAND_OPEN], 1);
    leat_json_free(again);
    again = call_owned(r, "peer.create", offer_params("a", NULL, sdp, "\"data\":2"));
    LEAT_CHECK_STR(text_at(again, REASON), "exists");
    leat_json_free(again);
    again = call_owned(r, "peer.create", offer_params("a", "g", sdp, "\"data\":1"));
    LEAT_CHECK_STR(text_at(again, REASON), "exists");
    leat_json_free(again);
    leat_json_free(first);
    free(params);
    free(sdp);
    world_stop(&w);
}

static void create__repeated_before_the_worker_answered__waits_for_it(void)
{
    unsigned r = begin();
    char *params = form_params("a", NULL, "sendrecv");
    char line[2600];
    for (int id = 1; id <= 2; id++) {
        (void)snprintf(line, sizeof(line),
                       "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"peer.create\",\"params\":%s}",
                       id, params);
        world_line(&w, r, line);
    }
    LEAT_CHECK(world_next(&w, r) == NULL);
    LEAT_CHECK_INT(w.posted[LEAT_COMMAND_OPEN], 1);
    w.fail[LEAT_COMMAND_OPEN] = LEAT_E_RANGE;
    world_run(&w);
    for (int id = 1; id <= 2; id++) {
        leat_json *j = world_next(&w, r);
        LEAT_CHECK_INT(int_at(j, "id"), id);
        LEAT_CHECK_STR(text_at(j, REASON), "limit");
        leat_json_free(j);
    }
    leat_json *j = world_call(&w, r, "peer.get", "{\"id\":\"a\"}");
    LEAT_CHECK_STR(text_at(j, REASON), "no_such_peer"); /* undone */
    LEAT_CHECK_INT(leat_control_live_peers(w.c), 0);
    leat_json_free(j);
    j = world_call(&w, r, "peer.create", params); /* and can be tried again */
    LEAT_CHECK(is_true(j, "result.created"));
    leat_json_free(j);
    free(params);
    world_stop(&w);
}

static void create__parameter_form__gives_local_parameters(void)
{
    unsigned r = begin();
    leat_json *j = call_owned(r, "peer.create", form_params("a", NULL, "sendonly"));
    LEAT_CHECK(is_true(j, "result.local.ice.lite"));
    LEAT_CHECK_INT(strlen(text_at(j, "result.local.ice.ufrag")), LEAT_ICE_LOCAL_UFRAG_LEN);
    LEAT_CHECK_INT(strlen(text_at(j, "result.local.ice.pwd")), LEAT_ICE_LOCAL_PWD_LEN);
    LEAT_CHECK_INT(strlen(text_at(j, "result.local.fingerprint")), 95);
    LEAT_CHECK_STR(text_at(j, "result.local.setup"), "passive");
    LEAT_CHECK_STR(text_at(j, "result.local.candidates.0.address"), "127.0.0.1");
    LEAT_CHECK_INT(int_at(j, "result.local.candidates.0.port"), 3478);
    LEAT_CHECK(at(j, "result.answer") == NULL);
    LEAT_CHECK_INT(leat_json_count(at(j, "result.tracks")), 2);
    LEAT_CHECK_INT(leat_json_count(at(j, "result.senders")), 0);
    LEAT_CHECK_INT(int_at(j, "result.tracks.1.encodings.0.ssrc"), 1234);
    LEAT_CHECK_STR(w.last[LEAT_COMMAND_OPEN].params.remote_ufrag, "abcd");
    LEAT_CHECK_INT(w.last_track.exts.ids[LEAT_EXT_MID], 4);
    leat_json_free(j);
    world_stop(&w);
}

static void create__setup_active__makes_a_dtls_client(void)
{
    unsigned r = begin();
    char *sdp = read_offer("chromium156-default");
    leat_json *j =
        call_owned(r, "peer.create", offer_params("a", NULL, sdp, "\"setup\":\"active\""));
    LEAT_CHECK(strstr(text_at(j, "result.answer"), "a=setup:active\r\n") != NULL);
    LEAT_CHECK(w.last[LEAT_COMMAND_OPEN].params.dtls.role == LEAT_DTLS_CLIENT);
    leat_json_free(j);
    free(sdp);
    world_stop(&w);
}

static void create__codecs_and_streams__decide_order_and_ids(void)
{
    unsigned r = begin();
    char *sdp = read_offer("chromium156-default");
    leat_json *j = call_owned(
        r, "peer.create",
        offer_params("a", NULL, sdp,
                     "\"codecs\":[{\"name\":\"H264\",\"parameters\":\"packetization-mode=1;"
                     "profile-level-id=42e01f\"},{\"name\":\"vp8\"},{\"name\":\"opus\"}],"
                     "\"streams\":{\"1\":\"camera\"}"));
    LEAT_CHECK_INT(leat_json_count(at(j, "result.senders.1.codecs")), 2);
    LEAT_CHECK_STR(text_at(j, "result.senders.1.codecs.0.name"), "H264");
    LEAT_CHECK_INT(int_at(j, "result.senders.1.codecs.0.pt"),
                   108); /* 42e01f, mode 1 in the offer */
    LEAT_CHECK_STR(text_at(j, "result.senders.1.codecs.1.name"), "VP8");
    LEAT_CHECK_STR(text_at(j, "result.senders.1.stream"), "camera");
    LEAT_CHECK(strstr(text_at(j, "result.answer"), "a=msid:camera ") != NULL);
    leat_json_free(j);
    j = call_owned(r, "peer.create",
                   offer_params("b", NULL, sdp, "\"streams\":{\"9\":\"camera\"}"));
    LEAT_CHECK_STR(text_at(j, REASON), "no_such_sender");
    LEAT_CHECK_STR(text_at(j, FIELD), "streams.9");
    leat_json_free(j);
    j = call_owned(r, "peer.create", offer_params("b", NULL, sdp, "\"codecs\":[{\"name\":\"x\"}]"));
    LEAT_CHECK_STR(text_at(j, FIELD), "codecs[0].name");
    leat_json_free(j);
    free(sdp);
    world_stop(&w);
}

/** What a create must refuse, and that it leaves no trace. */
static void create__wrong_content__is_refused_by_reason(void)
{
    static const struct {
        const char *params, *reason;
        int code;
    } rows[] = {
        {"{\"id\":\"a\"}", "missing_parameter", -32602},
        {"{\"id\":\"a\",\"offer\":\"v=0\",\"remote\":{}}", "conflicting_parameters", -32602},
        {"{\"id\":\"a\",\"sections\":[{\"kind\":\"audio\"}]}", "not_supported", -32000},
        {"{\"id\":\"a\",\"offer\":\"hello\"}", "bad_sdp", -32000},
        {"{\"id\":\"a\",\"offer\":\"\"}", "bad_sdp", -32000},
        {"{\"id\":\"a\",\"offer\":7}", "wrong_type", -32602},
        {"{\"id\":\"a\",\"offer\":\"v=0\",\"setup\":\"both\"}", "out_of_range", -32602},
        {"{\"id\":\"a\",\"offer\":\"v=0\",\"max_incoming_bps\":1000}", "not_supported", -32000},
        {"{\"id\":\"a\",\"remote\":{}}", "missing_parameter", -32602},
    };
    unsigned r = begin();
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        leat_json *j = world_call(&w, r, "peer.create", rows[i].params);
        LEAT_CHECK_STR(text_at(j, REASON), rows[i].reason);
        LEAT_CHECK_ROW(i, int_at(j, "error.code") == rows[i].code);
        leat_json_free(j);
    }
    LEAT_CHECK_INT(w.posted[LEAT_COMMAND_OPEN], 0);
    LEAT_CHECK_INT(leat_control_live_peers(w.c), 0);
    world_stop(&w);
}

/** One member of the parameter form changed at a time. */
static void create__remote_out_of_range__is_named(void)
{
    static const struct {
        const char *what, *with, *field; /**< field NULL: is taken */
    } rows[] = {
        {"\"pt\":96", "\"pt\":-1", "remote.sections[1].codecs[0].pt"},
        {"\"pt\":96", "\"pt\":0", NULL},
        {"\"pt\":96", "\"pt\":63", NULL},
        {"\"pt\":96", "\"pt\":64", "remote.sections[1].codecs[0].pt"},
        {"\"pt\":96", "\"pt\":72", "remote.sections[1].codecs[0].pt"},
        {"\"pt\":96", "\"pt\":95", "remote.sections[1].codecs[0].pt"},
        {"\"pt\":96", "\"pt\":127", NULL},
        {"\"pt\":96", "\"pt\":128", "remote.sections[1].codecs[0].pt"},
        {"\"pt\":96", "\"pt\":200", "remote.sections[1].codecs[0].pt"},
        {"\"pt\":96", "\"pt\":255", "remote.sections[1].codecs[0].pt"},
        {"\"pt\":96", "\"pt\":256", "remote.sections[1].codecs[0].pt"},
        {"\"pt\":96", "\"pt\":\"96\"", "remote.sections[1].codecs[0].pt"},
        {"\"id\":4", "\"id\":0", "remote.sections[0].extensions[0].id"},
        {"\"id\":4", "\"id\":1", NULL},
        {"\"id\":4", "\"id\":14", NULL},
        {"\"id\":4", "\"id\":16", NULL},
        {"\"id\":4", "\"id\":255", NULL},
        {"\"id\":4", "\"id\":256", "remote.sections[0].extensions[0].id"},
        {"\"ssrc\":1234", "\"ssrc\":0", "remote.sections[1].encodings[0].ssrc"},
        {"\"ssrc\":1234", "\"ssrc\":4294967295", NULL},
        {"\"ssrc\":1234", "\"ssrc\":4294967296", "remote.sections[1].encodings[0].ssrc"},
        {"\"mid\":\"0\"", "\"mid\":\"\"", "remote.sections[0].mid"},
        {"\"mid\":\"0\"", "\"mid\":\"a b\"", "remote.sections[0].mid"},
        {"\"mid\":\"0\"", "\"mid\":\"12345678901234567\"", "remote.sections[0].mid"},
        {"\"kind\":\"audio\"", "\"kind\":\"smell\"", "remote.sections[0].kind"},
        {"\"actpass\"", "\"holdconn\"", "remote.setup"},
        {"\"abcd\"", "\"abc\"", "remote.ice"},
        {"\"abcd\"", "\"ab:d\"", "remote.ice"},
        {"34:2C", "34:2", "remote.fingerprint"},
        {"\"ice\":", "\"ICE\":", "remote.ICE"},
        {"\"pli\":true", "\"pli\":1", "remote.sections[1].codecs[0].pli"},
        {"\"name\":\"VP8\"", "\"name\":\"VP8\",\"parameters\":\"a\\r\\nb\"",
         "remote.sections[1].codecs[0].parameters"},
    };
    unsigned r = begin();
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        char *params = form_params("a", NULL, "sendrecv");
        char *changed = replaced(params, rows[i].what, rows[i].with);
        LEAT_CHECK_ROW(i, strcmp(params, changed) != 0);
        leat_json *j = world_call(&w, r, "peer.create", changed);
        if (rows[i].field) {
            LEAT_CHECK_ROW(i, at(j, "error") != NULL);
            LEAT_CHECK_STR(text_at(j, FIELD), rows[i].field);
        } else {
            LEAT_CHECK_ROW(i, is_true(j, "result.created"));
        }
        leat_json_free(j);
        leat_json_free(world_call(&w, r, "peer.close", "{\"id\":\"a\"}"));
        free(changed);
        free(params);
    }
    world_stop(&w);
}

static void create__sdp_reasons__are_passed_on(void)
{
    static const struct {
        const char *what, *with, *reason;
    } rows[] = {
        {"a=ice-ufrag:733B", "a=x:y", "no_ice"},  {"a=fingerprint:", "a=x:", "no_fingerprint"},
        {"a=setup:actpass", "a=x:y", "no_setup"}, {"a=rtcp-mux", "a=x", "no_media"},
        {"a=mid:1", "a=mid:0", "duplicate_mid"},
    };
    unsigned r = begin();
    char *sdp = read_offer("chromium156-default");
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        char *changed = replaced(sdp, rows[i].what, rows[i].with);
        leat_json *j = call_owned(r, "peer.create", offer_params("a", NULL, changed, NULL));
        LEAT_CHECK_STR(text_at(j, REASON), rows[i].reason);
        LEAT_CHECK_STR(text_at(j, FIELD), "offer");
        LEAT_CHECK(strlen(text_at(j, "error.message")) > 8);
        leat_json_free(j);
        free(changed);
    }
    free(sdp);
    world_stop(&w);
}

static void create__data_over_its_limit__is_too_large(void)
{
    unsigned r = begin();
    char *params = form_params("a", NULL, "sendrecv");
    char *data = malloc(2000), *changed;
    for (int extra = 0; extra <= 1; extra++) {
        (void)snprintf(data, 2000, "{\"data\":\"%0*d\",", 1022 + extra, 0);
        char *with_id = replaced(params, "{\"id\"", "{#\"id\"");
        changed = replaced(with_id, "{#", data);
        leat_json *j = world_call(&w, r, "peer.create", changed);
        if (extra == 0) {
            LEAT_CHECK(is_true(j, "result.created"));
            leat_json_free(world_call(&w, r, "peer.close", "{\"id\":\"a\"}"));
        } else {
            LEAT_CHECK_STR(text_at(j, REASON), "too_large");
            LEAT_CHECK_STR(text_at(j, FIELD), "data");
        }
        leat_json_free(j);
        free(changed);
        free(with_id);
    }
    free(data);
    free(params);
    world_stop(&w);
}

static void create__over_the_limit__is_refused(void)
{
    world_prepare(&w);
    w.info.peers_max = 2;
    world_start(&w);
    unsigned r = world_connect(&w);
    create_form(&w, "a", NULL, "sendrecv");
    create_form(&w, "b", NULL, "sendrecv");
    leat_json *j = call_owned(r, "peer.create", form_params("c", NULL, "sendrecv"));
    LEAT_CHECK_STR(text_at(j, REASON), "limit");
    leat_json_free(j);
    leat_json_free(world_call(&w, r, "peer.close", "{\"id\":\"a\"}"));
    create_form(&w, "c", NULL, "sendrecv");
    world_stop(&w);
}

static void worker__of_a_group__is_its_first_peers(void)
{
    unsigned r = begin();
    static const char *const rows[][3] = {{"a", "g", "0"}, {"b", "h", "1"}, {"c", "g", "0"},
                                          {"d", "g", "0"}, {"e", "h", "1"}, {"f", NULL, "1"}};
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        leat_json *j =
            call_owned(r, "peer.create", form_params(rows[i][0], rows[i][1], "sendrecv"));
        LEAT_CHECK_ROW(i, int_at(j, "result.worker") == rows[i][2][0] - '0');
        LEAT_CHECK_ROW(i,
                       int_at(j, "result.local.candidates.0.port") == 3478 + rows[i][2][0] - '0');
        leat_json_free(j);
    }
    world_stop(&w);
}

/* ---- negotiation ---- */

static void negotiate__same_offer__keeps_credentials_and_raises_the_version(void)
{
    unsigned r = begin();
    char *sdp = read_offer("chromium156-default");
    leat_json *first = call_owned(r, "peer.create", offer_params("a", NULL, sdp, NULL));
    leat_json *next = call_owned(r, "peer.negotiate", offer_params("a", NULL, sdp, NULL));
    LEAT_CHECK_INT(leat_json_count(at(next, "result.changed")), 0);
    LEAT_CHECK(is_false(next, "result.created"));
    LEAT_CHECK_INT(w.posted[LEAT_COMMAND_RESTART_ICE], 0);
    LEAT_CHECK_INT(w.posted[LEAT_COMMAND_MEDIA], 1);
    LEAT_CHECK_INT(int_at(next, "result.senders.1.ssrc"), int_at(first, "result.senders.1.ssrc"));
    const char *ufrag = w.last[LEAT_COMMAND_OPEN].params.ice_local.ufrag;
    LEAT_CHECK(strstr(text_at(next, "result.answer"), ufrag) != NULL);
    LEAT_CHECK(strcmp(text_at(next, "result.answer"), text_at(first, "result.answer")) != 0);
    leat_json_free(first);
    leat_json_free(next);
    free(sdp);
    world_stop(&w);
}

static void negotiate__new_credentials__restart_ice(void)
{
    unsigned r = begin();
    char *sdp = read_offer("chromium156-default");
    char *restarted = replaced(sdp, "733B", "ZZZZ");
    leat_json_free(call_owned(r, "peer.create", offer_params("a", NULL, sdp, NULL)));
    leat_json *j = call_owned(r, "peer.negotiate", offer_params("a", NULL, restarted, NULL));
    LEAT_CHECK_INT(leat_json_count(at(j, "result.changed")), 1);
    LEAT_CHECK_STR(text_at(j, "result.changed.0"), "ice_restart");
    const struct leat_command *restart = &w.last[LEAT_COMMAND_RESTART_ICE];
    LEAT_CHECK_INT(w.posted[LEAT_COMMAND_RESTART_ICE], 1);
    LEAT_CHECK_STR(restart->remote_ufrag, "ZZZZ");
    LEAT_CHECK(strcmp(restart->ice_local.ufrag, w.last[LEAT_COMMAND_OPEN].params.ice_local.ufrag) !=
               0);
    LEAT_CHECK(strstr(text_at(j, "result.answer"), restart->ice_local.ufrag) != NULL);
    leat_json_free(j);
    j = call_owned(r, "peer.create", offer_params("a", NULL, sdp, NULL));
    LEAT_CHECK_STR(text_at(j, REASON),
                   "exists"); /* the first offer is not the running one any more */
    leat_json_free(j);
    free(restarted);
    free(sdp);
    world_stop(&w);
}

/* Whether an answer has the fingerprint of this identity and of no other. */
static bool has_fingerprint(const char *answer, const struct leat_dtls_identity *identity)
{
    uint8_t fingerprint[LEAT_FINGERPRINT_LEN];
    char text[LEAT_FINGERPRINT_TEXT_MAX], line[160];
    leat_dtls_identity_fingerprint(identity, fingerprint);
    (void)snprintf(line, sizeof(line), "a=fingerprint:sha-256 %s\r\n",
                   leat_dtls_fingerprint_format(fingerprint, text));
    const char *first = strstr(answer, "a=fingerprint:");
    for (const char *p = first; p; p = strstr(p + 1, "a=fingerprint:")) {
        if (strncmp(p, line, strlen(line)) != 0) {
            return false;
        }
    }
    return first != NULL;
}

static void negotiate__identity_changed__old_peers_keep_theirs(void)
{
    unsigned r = begin();
    char *sdp = read_offer("chromium156-default");
    struct leat_dtls_identity *fresh;
    const struct leat_dtls_identity *old = w.info.identity;
    LEAT_CHECK_INT(leat_dtls_identity_new(&fresh, &w.rng, 1700000000), 0);
    leat_json_free(call_owned(r, "peer.create", offer_params("a", NULL, sdp, NULL)));
    leat_control_set_identity(w.c, fresh);

    leat_json *j = call_owned(r, "peer.negotiate", offer_params("a", NULL, sdp, NULL));
    LEAT_CHECK(has_fingerprint(text_at(j, "result.answer"), old));
    leat_json_free(j);
    j = call_owned(r, "peer.create", offer_params("b", NULL, sdp, NULL));
    LEAT_CHECK(has_fingerprint(text_at(j, "result.answer"), fresh));
    LEAT_CHECK(w.last[LEAT_COMMAND_OPEN].params.dtls.identity == fresh);
    leat_json_free(j);
    j = call_owned(r, "peer.create", form_params("c", NULL, "sendrecv"));
    char in_info[LEAT_FINGERPRINT_TEXT_MAX];
    (void)snprintf(in_info, sizeof(in_info), "%s", text_at(j, "result.local.fingerprint"));
    leat_json_free(j);
    j = world_call(&w, r, "daemon.info", "{}");
    LEAT_CHECK_STR(text_at(j, "result.fingerprint"), in_info);
    leat_json_free(j);
    leat_dtls_identity_free(fresh); /* control's holds are enough */
    j = call_owned(r, "peer.negotiate", offer_params("b", NULL, sdp, NULL));
    LEAT_CHECK_INT(leat_json_count(at(j, "result.changed")), 0);
    leat_json_free(j);
    free(sdp);
    world_stop(&w);
}

static void negotiate__refused__changes_nothing(void)
{
    unsigned r = begin();
    char *sdp = read_offer("chromium156-default");
    char *other = replaced(sdp, "34:2C", "35:2C");
    leat_json_free(call_owned(r, "peer.create", offer_params("a", NULL, sdp, NULL)));
    leat_json *before = world_call(&w, r, "peer.get", "{\"id\":\"a\"}");
    leat_json *j = call_owned(r, "peer.negotiate", offer_params("a", NULL, other, NULL));
    LEAT_CHECK_STR(text_at(j, REASON), "new_association");
    LEAT_CHECK_INT(w.posted[LEAT_COMMAND_MEDIA], 0);
    leat_json_free(j);
    char *inactive = replaced(sdp, "a=sendrecv", "a=recvonly");
    w.fail[LEAT_COMMAND_MEDIA] = LEAT_E_NOMEM;
    j = call_owned(r, "peer.negotiate", offer_params("a", NULL, inactive, NULL));
    LEAT_CHECK_STR(text_at(j, REASON), "internal");
    leat_json_free(j);
    leat_json *after = world_call(&w, r, "peer.get", "{\"id\":\"a\"}");
    LEAT_CHECK(is_true(after, "result.tracks.0.active"));
    LEAT_CHECK_INT(int_at(after, "result.senders.0.ssrc"), int_at(before, "result.senders.0.ssrc"));
    leat_json_free(after);
    j = call_owned(r, "peer.negotiate", offer_params("a", NULL, inactive, NULL));
    LEAT_CHECK_STR(text_at(j, "result.changed.0"), "sections");
    LEAT_CHECK(is_false(j, "result.tracks.0.active"));
    LEAT_CHECK(is_true(j, "result.senders.0.active"));
    LEAT_CHECK(!w.last_track.is_active && w.last_sender.is_active);
    leat_json_free(j);
    leat_json_free(before);
    free(inactive);
    free(other);
    free(sdp);
    world_stop(&w);
}

static void negotiate__wrong_form__is_refused(void)
{
    unsigned r = begin();
    char *sdp = read_offer("chromium156-default");
    leat_json_free(call_owned(r, "peer.create", offer_params("a", NULL, sdp, NULL)));
    create_form(&w, "f", NULL, "sendrecv");
    static const struct {
        const char *params, *reason;
    } rows[] = {
        {"{\"id\":\"a\"}", "missing_parameter"},
        {"{\"id\":\"a\",\"rollback\":true}", "rollback_without_offer"},
        {"{\"id\":\"a\",\"rollback\":false}", "missing_parameter"},
        {"{\"id\":\"a\",\"answer\":\"v=0\"}", "not_supported"},
        {"{\"id\":\"a\",\"offer\":\"v=0\",\"rollback\":true}", "conflicting_parameters"},
        {"{\"id\":\"a\",\"remote\":{}}", "not_supported"},
        {"{\"id\":\"f\",\"offer\":\"v=0\"}", "not_supported"},
        {"{\"id\":\"x\",\"offer\":\"v=0\"}", "no_such_peer"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        leat_json *j = world_call(&w, r, "peer.negotiate", rows[i].params);
        LEAT_CHECK_STR(text_at(j, REASON), rows[i].reason);
        leat_json_free(j);
    }
    free(sdp);
    world_stop(&w);
}

/** A section that ends and one that takes its place: a new SSRC, never the old one. */
static void negotiate__recycled_section__gets_a_fresh_ssrc(void)
{
    unsigned r = begin();
    char *sdp = read_offer("chromium156-default");
    char *unbundled = replaced(sdp, "BUNDLE 0 1 2", "BUNDLE 0 2");
    char *without = replaced(unbundled, "m=video 9", "m=video 0");
    leat_json *j = call_owned(r, "peer.create", offer_params("a", NULL, sdp, NULL));
    int64_t ssrc = int_at(j, "result.senders.1.ssrc");
    leat_json_free(j);
    j = call_owned(r, "peer.negotiate", offer_params("a", NULL, without, NULL));
    LEAT_CHECK_INT(leat_json_count(at(j, "result.tracks")), 1);
    LEAT_CHECK_INT(leat_json_count(at(j, "result.senders")), 1);
    LEAT_CHECK_STR(text_at(j, "result.rejected.0.mid"), "1");
    LEAT_CHECK_STR(text_at(j, "result.rejected.0.reason"), "rejected_by_offer");
    LEAT_CHECK_STR(text_at(j, "result.changed.0"), "sections");
    LEAT_CHECK_INT(w.last[LEAT_COMMAND_MEDIA].track_count, 1);
    leat_json_free(j);
    j = call_owned(r, "peer.negotiate", offer_params("a", NULL, sdp, NULL));
    LEAT_CHECK_INT(leat_json_count(at(j, "result.senders")), 2);
    LEAT_CHECK(int_at(j, "result.senders.1.ssrc") > 0);
    LEAT_CHECK(int_at(j, "result.senders.1.ssrc") != ssrc);
    leat_json_free(j);
    free(without);
    free(unbundled);
    free(sdp);
    world_stop(&w);
}

static void restart_ice__parameter_form__is_in_force_with_the_next_negotiation(void)
{
    unsigned r = begin();
    create_form(&w, "a", NULL, "sendrecv");
    leat_json *issued = world_call(&w, r, "peer.restart_ice", "{\"id\":\"a\"}");
    leat_json *again = world_call(&w, r, "peer.restart_ice", "{\"id\":\"a\"}");
    LEAT_CHECK_INT(strlen(text_at(issued, "result.local.ice.ufrag")), LEAT_ICE_LOCAL_UFRAG_LEN);
    LEAT_CHECK_STR(text_at(again, "result.local.ice.pwd"), text_at(issued, "result.local.ice.pwd"));
    LEAT_CHECK_INT(w.posted[LEAT_COMMAND_RESTART_ICE], 0);
    char *params = form_params("a", NULL, "sendrecv");
    char *restarted = replaced(params, "abcd", "efgh");
    leat_json *j = world_call(&w, r, "peer.negotiate", restarted);
    LEAT_CHECK_STR(text_at(j, "result.changed.0"), "ice_restart");
    LEAT_CHECK_STR(text_at(j, "result.local.ice.ufrag"), text_at(issued, "result.local.ice.ufrag"));
    LEAT_CHECK_STR(w.last[LEAT_COMMAND_RESTART_ICE].remote_ufrag, "efgh");
    LEAT_CHECK_STR(w.last[LEAT_COMMAND_RESTART_ICE].ice_local.pwd,
                   text_at(issued, "result.local.ice.pwd"));
    leat_json_free(j);
    j = world_call(&w, r, "peer.negotiate", restarted); /* once only */
    LEAT_CHECK_INT(leat_json_count(at(j, "result.changed")), 0);
    leat_json_free(j);
    free(restarted);
    free(params);
    leat_json_free(issued);
    leat_json_free(again);
    world_stop(&w);
}

static void restart_ice__sdp_peer__says_who_starts_it(void)
{
    unsigned r = begin();
    char *sdp = read_offer("chromium156-default");
    leat_json_free(call_owned(r, "peer.create", offer_params("a", NULL, sdp, NULL)));
    leat_json *j = world_call(&w, r, "peer.restart_ice", "{\"id\":\"a\"}");
    LEAT_CHECK_STR(text_at(j, REASON), "not_supported");
    LEAT_CHECK(strstr(text_at(j, "error.message"), "offer") != NULL);
    leat_json_free(j);
    free(sdp);
    world_stop(&w);
}

/* ---- ends ---- */

static void close__repeated__is_safe_and_frees_the_id(void)
{
    unsigned r = begin();
    create_form(&w, "a", NULL, "sendrecv");
    leat_json *j = world_call(&w, r, "peer.close", "{\"id\":\"a\"}");
    LEAT_CHECK_STR(text_at(j, "result.id"), "a");
    LEAT_CHECK(is_true(j, "result.closed"));
    LEAT_CHECK(w.last[LEAT_COMMAND_CLOSE].end == LEAT_PEER_END_CLOSED);
    leat_json_free(j);
    j = world_call(&w, r, "peer.close", "{\"id\":\"a\"}");
    LEAT_CHECK(is_false(j, "result.closed"));
    leat_json_free(j);
    create_form(&w, "a", NULL, "sendrecv");
    LEAT_CHECK_INT(leat_control_live_peers(w.c), 1);
    world_stop(&w);
}

/** The id is taken again before the worker has carried out the close: the old end is told first. */
static void close__then_create_at_once__tells_the_end_before_the_new_peer(void)
{
    unsigned r = begin(), watcher = world_connect(&w);
    create_form(&w, "a", "g", "sendrecv");
    create_form(&w, "b", "h", "sendrecv"); /* so that the new one goes to another worker */
    create_form(&w, "c", "h", "sendrecv");
    leat_json_free(world_call(&w, watcher, "events.subscribe", "{}"));
    world_line(&w, r, "{\"jsonrpc\":\"2.0\",\"method\":\"peer.close\",\"params\":{\"id\":\"a\"}}");
    char *params = form_params("a", "h", "sendrecv");
    char line[2600];
    (void)snprintf(line, sizeof(line),
                   "{\"jsonrpc\":\"2.0\",\"method\":\"peer.create\",\"params\":%s}", params);
    world_line(&w, r, line);
    LEAT_CHECK(world_step(&w, 1)); /* the new one's worker is the faster one */
    world_run(&w);
    leat_json *j = world_notification(&w, watcher, "peer.state");
    LEAT_CHECK_STR(text_at(j, "params.state"), "ended");
    LEAT_CHECK_STR(text_at(j, "params.reason"), "closed");
    leat_json_free(j);
    j = world_notification(&w, watcher, "peer.state");
    LEAT_CHECK_STR(text_at(j, "params.state"), "new");
    leat_json_free(j);
    LEAT_CHECK(world_notification(&w, watcher, "peer.state") == NULL);
    LEAT_CHECK_INT(leat_control_live_peers(w.c), 3);
    free(params);
    world_stop(&w);
}

static void ended_peer__stays_listed__until_its_time(void)
{
    unsigned r = begin();
    create_form(&w, "a", "g", "sendrecv");
    create_form(&w, "b", "g", "sendrecv");
    w.now_us += 1000;
    world_end_peer(&w, w.last[LEAT_COMMAND_OPEN].handle, LEAT_PEER_END_CONSENT_EXPIRED);
    LEAT_CHECK_INT(leat_control_live_peers(w.c), 1);
    leat_json *j = world_call(&w, r, "peer.list", "{\"state\":\"ended\",\"group\":\"g\"}");
    LEAT_CHECK_INT(leat_json_count(at(j, "result.peers")), 1);
    LEAT_CHECK_STR(text_at(j, "result.peers.0.id"), "b");
    LEAT_CHECK_STR(text_at(j, "result.peers.0.reason"), "consent_expired");
    LEAT_CHECK_STR(text_at(j, "result.peers.0.stats.0.id"), "b/transport");
    LEAT_CHECK_INT(int_at(j, "result.peers.0.stats.0.bytesReceived"), 4711);
    LEAT_CHECK_STR(text_at(j, "result.peers.0.tracks.0.state"), "ended");
    leat_json_free(j);
    j = world_call(&w, r, "stats.get", "{\"peers\":[\"b\"]}");
    LEAT_CHECK_INT(int_at(j, "result.stats.0.bytesReceived"), 4711);
    leat_json_free(j);
    j = call_owned(r, "peer.negotiate", form_params("b", NULL, "sendrecv"));
    LEAT_CHECK_STR(text_at(j, REASON), "ended");
    leat_json_free(j);
    j = call_owned(r, "peer.create", form_params("b", "x", "sendrecv"));
    LEAT_CHECK_STR(text_at(j, REASON), "exists");
    leat_json_free(j);
    LEAT_CHECK_INT(leat_control_deadline(w.c), w.now_us + 60000000);
    w.now_us += 59999999;
    world_run(&w);
    leat_json_free(world_call(&w, r, "peer.get", "{\"id\":\"b\"}"));
    w.now_us += 1;
    world_run(&w);
    j = world_call(&w, r, "peer.get", "{\"id\":\"b\"}");
    LEAT_CHECK_STR(text_at(j, REASON), "no_such_peer");
    leat_json_free(j);
    LEAT_CHECK(leat_control_deadline(w.c) == LEAT_NEVER);
    world_stop(&w);
}

static void ended_peer__closed__is_forgotten_without_a_command(void)
{
    unsigned r = begin();
    create_form(&w, "a", NULL, "sendrecv");
    world_end_peer(&w, w.last[LEAT_COMMAND_OPEN].handle, LEAT_PEER_END_DTLS_ALERT);
    leat_json *j = world_call(&w, r, "peer.close", "{\"id\":\"a\"}");
    LEAT_CHECK(is_true(j, "result.closed"));
    LEAT_CHECK_INT(w.posted[LEAT_COMMAND_CLOSE], 0);
    leat_json_free(j);
    j = world_call(&w, r, "peer.list", "{}");
    LEAT_CHECK_INT(leat_json_count(at(j, "result.peers")), 0);
    leat_json_free(j);
    world_stop(&w);
}

static void group_close__mixed_states__counts_what_it_removed(void)
{
    unsigned r = begin();
    create_form(&w, "a", "g", "sendrecv");
    create_form(&w, "b", "g", "sendrecv");
    create_form(&w, "c", "h", "sendrecv");
    create_form(&w, "d", "g", "sendrecv");
    world_end_peer(&w, w.last[LEAT_COMMAND_OPEN].handle, LEAT_PEER_END_ICE_TIMEOUT);
    leat_json *j = world_call(&w, r, "group.close", "{\"group\":\"g\"}");
    LEAT_CHECK_INT(int_at(j, "result.closed"), 3);
    LEAT_CHECK_INT(w.posted[LEAT_COMMAND_CLOSE], 2);
    leat_json_free(j);
    j = world_call(&w, r, "group.close", "{\"group\":\"g\"}");
    LEAT_CHECK_INT(int_at(j, "result.closed"), 0);
    leat_json_free(j);
    j = world_call(&w, r, "peer.list", "{}");
    LEAT_CHECK_INT(leat_json_count(at(j, "result.peers")), 1);
    leat_json_free(j);
    world_stop(&w);
}

LEAT_TESTS(LEAT_TEST(create__chromium_offer__answers_and_opens),
           LEAT_TEST(create__repeated__gives_the_same_and_opens_nothing),
           LEAT_TEST(create__repeated_before_the_worker_answered__waits_for_it),
           LEAT_TEST(create__parameter_form__gives_local_parameters),
           LEAT_TEST(create__setup_active__makes_a_dtls_client),
           LEAT_TEST(create__codecs_and_streams__decide_order_and_ids),
           LEAT_TEST(create__wrong_content__is_refused_by_reason),
           LEAT_TEST(create__remote_out_of_range__is_named),
           LEAT_TEST(create__sdp_reasons__are_passed_on),
           LEAT_TEST(create__data_over_its_limit__is_too_large),
           LEAT_TEST(create__over_the_limit__is_refused),
           LEAT_TEST(worker__of_a_group__is_its_first_peers),
           LEAT_TEST(negotiate__same_offer__keeps_credentials_and_raises_the_version),
           LEAT_TEST(negotiate__new_credentials__restart_ice),
           LEAT_TEST(negotiate__identity_changed__old_peers_keep_theirs),
           LEAT_TEST(negotiate__refused__changes_nothing),
           LEAT_TEST(negotiate__wrong_form__is_refused),
           LEAT_TEST(negotiate__recycled_section__gets_a_fresh_ssrc),
           LEAT_TEST(restart_ice__parameter_form__is_in_force_with_the_next_negotiation),
           LEAT_TEST(restart_ice__sdp_peer__says_who_starts_it),
           LEAT_TEST(close__repeated__is_safe_and_frees_the_id),
           LEAT_TEST(close__then_create_at_once__tells_the_end_before_the_new_peer),
           LEAT_TEST(ended_peer__stays_listed__until_its_time),
           LEAT_TEST(ended_peer__closed__is_forgotten_without_a_command),
           LEAT_TEST(group_close__mixed_states__counts_what_it_removed))
