/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "member.h"

static struct leat_rng rng;
static struct leat_load_member publishers[2], subscriber;

static void set_up(void)
{
    static const uint8_t seed[32] = {1};
    leat_rng_init_seeded(&rng, seed);
    for (unsigned i = 0; i < 2; i++) {
        LEAT_CHECK_INT(leat_load_member_init_publisher(&publishers[i], "g", i, true, &rng), 0);
    }
    LEAT_CHECK_INT(leat_load_member_init_subscriber(&subscriber, "g", 5, publishers, 2, &rng), 0);
}

static void tear_down(void)
{
    leat_load_member_deinit(&publishers[0]);
    leat_load_member_deinit(&publishers[1]);
    leat_load_member_deinit(&subscriber);
}

static void subscriber__routes__are_every_pair(void)
{
    struct leat_json_writer w;
    set_up();
    leat_json_writer_init(&w);
    leat_json_open(&w, '{');
    leat_load_member_write_routes(&subscriber, &w, publishers);
    leat_json_close(&w, '}');
    LEAT_CHECK_STR(w.text, "{\"routes\":["
                           "{\"to\":{\"peer\":\"g-sub-5\",\"mid\":\"v0\"},\"from\":{\"peer\":\"g-"
                           "pub-0\",\"mid\":\"0\"}},"
                           "{\"to\":{\"peer\":\"g-sub-5\",\"mid\":\"v1\"},\"from\":{\"peer\":\"g-"
                           "pub-1\",\"mid\":\"0\"}},"
                           "{\"to\":{\"peer\":\"g-sub-5\",\"mid\":\"a0\"},\"from\":{\"peer\":\"g-"
                           "pub-0\",\"mid\":\"1\"}},"
                           "{\"to\":{\"peer\":\"g-sub-5\",\"mid\":\"a1\"},\"from\":{\"peer\":\"g-"
                           "pub-1\",\"mid\":\"1\"}}]}");
    leat_json_writer_deinit(&w);
    tear_down();
}

#define LOCAL(candidates)                                                                          \
    "{\"local\":{\"ice\":{\"ufrag\":\"uuuu\",\"pwd\":\"pppppppppppppppppppppp\"},\"fingerprint\":" \
    "\"00:01:02:03:04:05:06:07:08:09:0A:0B:0C:0D:0E:0F:10:11:12:13:14:15:16:17:18:19:1A:1B:1C:1D:" \
    "1E:1F\",\"candidates\":[" candidates "]},\"senders\":["                                       \
    "{\"mid\":\"a1\",\"ssrc\":14},{\"mid\":\"v0\",\"ssrc\":11},{\"mid\":\"v1\",\"ssrc\":12},"      \
    "{\"mid\":\"a0\",\"ssrc\":4294967295}]}"
#define CANDIDATE(ip) "{\"address\":\"" ip "\",\"port\":3478}"

static int read_created(const char *text, struct leat_load_remote *remote)
{
    static const uint8_t own_ip[4] = {192, 0, 2, 1};
    struct leat_addr own = leat_addr_v4(own_ip, 0);
    char why[LEAT_JSON_WHY_MAX];
    leat_json *j = leat_json_parse(leat_span_str(text), why);
    LEAT_CHECK(j != NULL);
    int error = leat_load_member_read_created(&subscriber, j, &own, 1, remote, why, sizeof why);
    leat_json_free(j);
    return error;
}

static void created__own_address__is_chosen_loopback_first(void)
{
    static const struct {
        const char *text, *addr; /* NULL: refused */
    } rows[] = {
        {LOCAL(CANDIDATE("192.0.2.1") "," CANDIDATE("127.0.0.1")), "127.0.0.1:3478"},
        {LOCAL(CANDIDATE("127.0.0.1") "," CANDIDATE("192.0.2.1")), "127.0.0.1:3478"},
        {LOCAL(CANDIDATE("198.51.100.1") "," CANDIDATE("192.0.2.1")), "192.0.2.1:3478"},
        {LOCAL(CANDIDATE("::1")), "[::1]:3478"},
        {LOCAL(CANDIDATE("198.51.100.1")), NULL},
        {LOCAL(CANDIDATE("host.example")), NULL},
        {LOCAL(""), NULL},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        struct leat_load_remote remote;
        char text[LEAT_ADDR_TEXT_MAX];
        set_up();
        bool is_good = read_created(rows[i].text, &remote) == 0;
        LEAT_CHECK_ROW(i, is_good == (rows[i].addr != NULL));
        if (is_good && rows[i].addr != NULL) {
            LEAT_CHECK_STR(leat_addr_format(&remote.addr, text), rows[i].addr);
        }
        tear_down();
    }
}

static void created__senders__give_the_ssrcs(void)
{
    struct leat_load_remote remote;
    set_up();
    LEAT_CHECK_INT(read_created(LOCAL(CANDIDATE("127.0.0.1")), &remote), 0);
    static const uint32_t expected[] = {11, 12, 4294967295, 14};
    for (size_t i = 0; i < 4; i++) {
        LEAT_CHECK_ROW(i, subscriber.streams[i].ssrc == expected[i]);
        LEAT_CHECK_ROW(i, subscriber.ssrcs[i] == expected[i]);
    }
    LEAT_CHECK_STR(remote.ufrag, "uuuu");
    LEAT_CHECK_INT(remote.fingerprint[31], 0x1f);
    tear_down();
}

static void created__incomplete__is_refused(void)
{
    static const char *const texts[] = {
        "{}",
        "{\"local\":{\"ice\":{\"ufrag\":\"uuuu\"}}}",
        "{\"local\":{\"ice\":{\"ufrag\":\"u\",\"pwd\":\"p\"},\"fingerprint\":\"00\"}}",
        "{\"local\":{\"ice\":{\"ufrag\":\"u\",\"pwd\":\"p\"},\"fingerprint\":\"00:01:02:03:04:05:"
        "06:"
        "07:08:09:0A:0B:0C:0D:0E:0F:10:11:12:13:14:15:16:17:18:19:1A:1B:1C:1D:1E:1F\","
        "\"candidates\":[{\"address\":\"127.0.0.1\",\"port\":1}]},\"senders\":[]}",
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(texts); i++) {
        struct leat_load_remote remote;
        set_up();
        LEAT_CHECK_ROW(i, read_created(texts[i], &remote) != 0);
        tear_down();
    }
}

LEAT_TESTS(LEAT_TEST(subscriber__routes__are_every_pair),
           LEAT_TEST(created__own_address__is_chosen_loopback_first),
           LEAT_TEST(created__senders__give_the_ssrcs), LEAT_TEST(created__incomplete__is_refused))
