/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "options.h"

#define ARGUMENTS_MAX 12

static int count(char **arguments)
{
    int n = 0;
    while (n < ARGUMENTS_MAX && arguments[n] != NULL) {
        n++;
    }
    return n;
}

static void options__none__are_the_defaults(void)
{
    struct leat_load_options o;
    char why[200], name[] = "leatload";
    char *arguments[] = {name};
    LEAT_CHECK_INT(leat_load_options_read(&o, 1, arguments, NULL, why, sizeof why), 0);
    LEAT_CHECK_INT(o.publishers, 1);
    LEAT_CHECK_INT(o.subscribers, 1);
    LEAT_CHECK_INT(o.seconds, 10);
    LEAT_CHECK_INT(o.rate_kbps, 1000);
    LEAT_CHECK_INT(o.size, 1200);
    LEAT_CHECK_STR(o.socket, "/run/leat/leatd.sock");
    LEAT_CHECK_INT(o.backend, LEAT_DTLS_MBEDTLS);
    LEAT_CHECK(!o.is_json && !o.has_audio && !o.is_help);
    LEAT_CHECK_INT(leat_load_options_read(&o, 1, arguments, "/from/environment", why, sizeof why),
                   0);
    LEAT_CHECK_STR(o.socket, "/from/environment");
}

static void options__all__are_read(void)
{
    struct leat_load_options o;
    char why[200];
    char line[][16] = {"leatload",  "--publishers", "2",       "--subscribers", "16",
                       "--json",    "--seconds",    "5",       "--rate-kbps",   "300",
                       "--size",    "800",          "--audio", "--socket",      "/s",
                       "--backend", "openssl"};
    char *arguments[17];
    for (size_t i = 0; i < 17; i++) {
        arguments[i] = line[i];
    }
    LEAT_CHECK_INT(leat_load_options_read(&o, 17, arguments, "/other", why, sizeof why), 0);
    LEAT_CHECK_INT(o.publishers, 2);
    LEAT_CHECK_INT(o.subscribers, 16);
    LEAT_CHECK_INT(o.seconds, 5);
    LEAT_CHECK_INT(o.rate_kbps, 300);
    LEAT_CHECK_INT(o.size, 800);
    LEAT_CHECK_STR(o.socket, "/s");
    LEAT_CHECK_INT(o.backend, LEAT_DTLS_OPENSSL);
    LEAT_CHECK(o.is_json && o.has_audio && !o.is_help);
}

static void options__wrong__are_refused(void)
{
    static char rows[][4][20] = {
        {"leatload", "--publishers", "0"},     {"leatload", "--publishers", "129"},
        {"leatload", "--subscribers", "4001"}, {"leatload", "--seconds", "-1"},
        {"leatload", "--seconds", "1x"},       {"leatload", "--seconds", ""},
        {"leatload", "--seconds", " 5"},       {"leatload", "--seconds", "99999999999999"},
        {"leatload", "--size", "79"},          {"leatload", "--size", "1401"},
        {"leatload", "--rate-kbps"},           {"leatload", "--socket"},
        {"leatload", "--nope", "1"},           {"leatload", "5"},
        {"leatload", "--backend", "gnutls"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct leat_load_options o;
        char why[200] = "";
        char *arguments[ARGUMENTS_MAX] = {NULL};
        for (size_t k = 0; k < 4 && (rows[i][k][0] != '\0' || k == 2); k++) {
            arguments[k] = rows[i][k];
        }
        bool has_no_value = i == 10 || i == 11 || i == 13;
        int argc = has_no_value ? count(arguments) - 1 : count(arguments);
        LEAT_CHECK_ROW(i, leat_load_options_read(&o, argc, arguments, NULL, why, sizeof why) != 0);
        LEAT_CHECK_ROW(i, why[0] != '\0');
    }
}

static void options__too_many_publishers_for_audio__are_refused(void)
{
    struct leat_load_options o;
    char why[200];
    char line[][16] = {"leatload", "--publishers", "65", "--audio"};
    char *arguments[] = {line[0], line[1], line[2], line[3]};
    LEAT_CHECK(leat_load_options_read(&o, 4, arguments, NULL, why, sizeof why) != 0);
    LEAT_CHECK_INT(leat_load_options_read(&o, 3, arguments, NULL, why, sizeof why), 0);
}

LEAT_TESTS(LEAT_TEST(options__none__are_the_defaults), LEAT_TEST(options__all__are_read),
           LEAT_TEST(options__wrong__are_refused),
           LEAT_TEST(options__too_many_publishers_for_audio__are_refused))
