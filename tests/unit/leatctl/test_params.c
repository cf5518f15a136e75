/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"
#include "params.h"

#define ARGUMENTS_MAX 8

/** The JSON of arguments, or "error: ..." of the first that is refused. */
static const char *json_of(const char *const *arguments, const char *below)
{
    static char out[4096];
    struct leat_ctl_params p;
    struct leat_json_writer w;
    char why[LEAT_CTL_WHY_MAX] = "";
    int error = 0;
    leat_ctl_params_init(&p);
    leat_json_writer_init(&w);
    for (size_t i = 0; i < ARGUMENTS_MAX && arguments[i] != NULL && error == 0; i++) {
        error = leat_ctl_params_add(&p, arguments[i], below, why);
    }
    leat_ctl_params_write(&p, &w);
    (void)snprintf(out, sizeof out, "%s%s", error != 0 ? "error: " : "", error != 0 ? why : w.text);
    leat_json_writer_deinit(&w);
    leat_ctl_params_deinit(&p);
    return out;
}

static void params__arguments__become_json(void)
{
    static const struct {
        const char *arguments[ARGUMENTS_MAX];
        const char *json;
    } rows[] = {
        {{NULL}, "{}"},
        {{"to.peer=b", "to.mid=1", "from.peer=a", "from.mid=0"},
         "{\"to\":{\"peer\":\"b\",\"mid\":\"1\"},\"from\":{\"peer\":\"a\",\"mid\":\"0\"}}"},
        {{"id=17", "group=null", "data=17"}, "{\"id\":\"17\",\"group\":\"null\",\"data\":17}"},
        {{"from=null", "paused=true"}, "{\"from\":null,\"paused\":true}"},
        {{"setup=active", "deadline_s=1.5"}, "{\"setup\":\"active\",\"deadline_s\":1.5}"},
        {{"data={\"a\": [1, 2]}"}, "{\"data\":{\"a\":[1,2]}}"},
        {{"data={\"a\": [1, 2"}, "{\"data\":\"{\\\"a\\\": [1, 2\"}"},
        {{"data=a=b"}, "{\"data\":\"a=b\"}"},
        {{"data="}, "{\"data\":\"\"}"},
        {{"id=\"quoted\""}, "{\"id\":\"quoted\"}"},
        {{"peers=a,7,b"}, "{\"peers\":[\"a\",\"7\",\"b\"]}"},
        {{"peers=[\"a\"]"}, "{\"peers\":[\"a\"]}"},
        {{"peers=7"}, "{\"peers\":[\"7\"]}"},
        {{"streams.0=1", "streams.1=cam"}, "{\"streams\":{\"0\":\"1\",\"1\":\"cam\"}}"},
        {{"remote.ice.ufrag=1234", "remote.ice.pwd=5"},
         "{\"remote\":{\"ice\":{\"ufrag\":\"1234\",\"pwd\":\"5\"}}}"},
        {{"a.b=1", "c=2", "a.d=3"}, "{\"a\":{\"b\":1,\"d\":3},\"c\":2}"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        const char *json = json_of(rows[i].arguments, NULL);
        LEAT_CHECK_ROW(i, strcmp(json, rows[i].json) == 0);
        LEAT_CHECK_STR(json, rows[i].json);
    }
}

static void params__wrong_arguments__are_refused(void)
{
    static const struct {
        const char *arguments[ARGUMENTS_MAX];
        const char *why;
    } rows[] = {
        {{"plain"}, "error: 'plain' is not key=value"},
        {{"=1"}, "error: '=1' is not key=value"},
        {{"a..b=1"}, "error: a..b: a part of the key is empty"},
        {{"a.=1"}, "error: a.: a part of the key is empty"},
        {{"a=1", "a=2"}, "error: a: given twice"},
        {{"a.b=1", "a=2"}, "error: a: given twice"},
        {{"a=1", "a.b=2"}, "error: a.b: a is a value already"},
        {{"offer=@/nonexistent"}, "error: offer: /nonexistent: No such file or directory"},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        const char *json = json_of(rows[i].arguments, NULL);
        LEAT_CHECK_ROW(i, strcmp(json, rows[i].why) == 0);
        LEAT_CHECK_STR(json, rows[i].why);
    }
}

static void params__too_many__are_refused(void)
{
    static struct leat_ctl_params p;
    char why[LEAT_CTL_WHY_MAX] = "";
    int error = 0;
    unsigned added = 0;
    leat_ctl_params_init(&p);
    while (error == 0 && added < 2 * LEAT_CTL_NODES_MAX) {
        char argument[32];
        (void)snprintf(argument, sizeof argument, "k%u=1", added);
        error = leat_ctl_params_add(&p, argument, NULL, why);
        added += error == 0 ? 1 : 0;
    }
    LEAT_CHECK_INT(added, LEAT_CTL_NODES_MAX - 1);
    LEAT_CHECK(strstr(why, "too many") != NULL);
    leat_ctl_params_deinit(&p);
}

static void params__below__goes_into_that_object(void)
{
    static const char *const arguments[ARGUMENTS_MAX] = {"group=1", "types=peer.state,track.state"};
    LEAT_CHECK_STR(json_of(arguments, "filter"),
                   "{\"filter\":{\"group\":\"1\",\"types\":[\"peer.state\",\"track.state\"]}}");
}

static void params__file__is_the_value(void)
{
    char path[] = "/tmp/leatctl-test-XXXXXX";
    char argument[64];
    int fd = mkstemp(path);
    static const char sdp[] = "v=0\r\ns=-\r\n";
    LEAT_CHECK(fd >= 0 && write(fd, sdp, sizeof sdp - 1) == (ssize_t)(sizeof sdp - 1));
    (void)snprintf(argument, sizeof argument, "offer=@%s", path);
    const char *const arguments[ARGUMENTS_MAX] = {argument};
    LEAT_CHECK_STR(json_of(arguments, NULL), "{\"offer\":\"v=0\\r\\ns=-\\r\\n\"}");
    (void)close(fd);
    (void)unlink(path);
}

LEAT_TESTS(LEAT_TEST(params__arguments__become_json),
           LEAT_TEST(params__wrong_arguments__are_refused),
           LEAT_TEST(params__too_many__are_refused),
           LEAT_TEST(params__below__goes_into_that_object), LEAT_TEST(params__file__is_the_value))
