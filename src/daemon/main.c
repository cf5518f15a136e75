/* SPDX-License-Identifier: MIT */
/* leatd: the command line. Exit status 0 after a clean end, 1 when it could not run, 2 for a wrong
 * call or configuration. */
#include <stdio.h>
#include <stdlib.h>

#include <leat/crypto.h>
#include <leat/dtls.h>
#include <leat/io.h>
#include <leat/json.h>
#include <leat/srtp.h>

#include "node.h"
#include "version.h"

#define USAGE_ERROR 2

static const char usage[] =
    "usage: leatd --config FILE [--control SOCKET] [--port N]\n"
    "       leatd --config FILE --check-config\n"
    "       leatd --crypto [--config FILE]\n"
    "       leatd --version | --help\n"
    "\n"
    "  --config FILE     JSON with comments; conf/leatd.json explains every key\n"
    "  --check-config    read the configuration and the certificate, say what is wrong, and end\n"
    "  --crypto          measure and show which library does which part of the encryption, and "
    "end\n"
    "  --control SOCKET  path of the control socket, in place of control.socket\n"
    "  --port N          UDP port of the first worker with listen \"auto\", in place of port\n"
    "  --version         versions of leatd and of its libraries\n";

struct arguments {
    const char *config, *control, *port;
    bool is_check, is_crypto, is_version, is_help;
};

static bool read_arguments(struct arguments *a, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char **value = NULL;
        if (strcmp(argv[i], "--config") == 0) {
            value = &a->config;
        } else if (strcmp(argv[i], "--control") == 0) {
            value = &a->control;
        } else if (strcmp(argv[i], "--port") == 0) {
            value = &a->port;
        } else if (strcmp(argv[i], "--check-config") == 0) {
            a->is_check = true;
        } else if (strcmp(argv[i], "--crypto") == 0) {
            a->is_crypto = true;
        } else if (strcmp(argv[i], "--version") == 0) {
            a->is_version = true;
        } else if (strcmp(argv[i], "--help") == 0) {
            a->is_help = true;
        } else {
            (void)fprintf(stderr, "leatd: unknown argument '%s'\n%s", argv[i], usage);
            return false;
        }
        if (value != NULL) {
            if (i + 1 == argc) {
                (void)fprintf(stderr, "leatd: %s wants a value\n%s", argv[i], usage);
                return false;
            }
            *value = argv[++i];
        }
    }
    return true;
}

static int print_crypto(const struct leat_config *c)
{
    char why[LEAT_CONFIG_WHY_MAX];
    struct leat_crypto_row row;
    const char *name;
    if (leat_node_start_crypto(c, why, sizeof why) != 0) {
        (void)fprintf(stderr, "leatd: %s\n", why);
        return 1;
    }
    (void)printf("%-20s %-10s %-8s %12s %12s\n", "primitive", "provider", "level", "ns/100 B",
                 "ns/1200 B");
    for (size_t i = 0; leat_crypto_describe(i, &row); i++) {
        (void)printf("%-20s %-10s %-8s %12.0f %12.0f\n", row.primitive, row.provider,
                     row.level != NULL ? row.level : "-", row.ns_100, row.ns_1200);
    }
    (void)printf("\nproviders that run here:\n");
    for (size_t i = 0; (name = leat_crypto_provider_name(i)) != NULL; i++) {
        (void)printf("  %-10s %s\n", name, leat_crypto_provider_version(i));
    }
    return 0;
}

static int print_versions(void)
{
    (void)printf("leatd %s\n", LEAT_VERSION);
    (void)printf("  %s\n  %s\n  libuv %s\n  cJSON %s\n",
                 leat_dtls_library_version(LEAT_DTLS_MBEDTLS), leat_srtp_library_version(),
                 leat_io_library_version(), leat_json_library_version());
    for (size_t i = 1; leat_crypto_provider_version(i) != NULL; i++) { /* 0 is mbedTLS */
        (void)printf("  %s\n", leat_crypto_provider_version(i));
    }
    return 0;
}

static int apply_overrides(const struct arguments *a, struct leat_config *c)
{
    if (a->control != NULL &&
        !leat_text_copy(c->socket, sizeof c->socket, leat_span_str(a->control))) {
        (void)fprintf(stderr, "leatd: --control: the path is too long\n");
        return LEAT_E_INVALID;
    }
    if (a->port == NULL) {
        return 0;
    }
    char *end = NULL;
    long port = strtol(a->port, &end, 10);
    if (end == a->port || *end != '\0' || port < 1 || port > 65536 - (long)leat_config_workers(c)) {
        (void)fprintf(stderr,
                      "leatd: --port: expected an integer from 1 to 65535 that leaves room for "
                      "every worker, got '%s'\n",
                      a->port);
        return LEAT_E_INVALID;
    }
    if (!c->is_listen_auto) {
        (void)fprintf(
            stderr,
            "leatd: --port goes with listen \"auto\"; the configuration lists its sockets\n");
        return LEAT_E_INVALID;
    }
    c->port = (uint16_t)port;
    return 0;
}

static int check(const struct leat_config *c, const char *file)
{
    char why[LEAT_CONFIG_WHY_MAX];
    if (leat_node_check_identity(c, why, sizeof why) != 0) {
        (void)fprintf(stderr, "leatd: %s\n", why);
        return USAGE_ERROR;
    }
    (void)printf("%s: good\n", file);
    return 0;
}

int main(int argc, char **argv)
{
    static struct leat_config config;
    struct arguments a = {0};
    char why[LEAT_CONFIG_WHY_MAX];
    if (!read_arguments(&a, argc, argv)) {
        return USAGE_ERROR;
    }
    if (a.is_help) {
        (void)fputs(usage, stdout);
        return 0;
    }
    if (a.is_version) {
        return print_versions();
    }
    leat_config_init(&config);
    if (a.config == NULL && a.is_crypto) {
        return print_crypto(&config);
    }
    if (a.config == NULL) {
        (void)fprintf(stderr, "leatd: --config is missing\n%s", usage);
        return USAGE_ERROR;
    }
    if (leat_config_load(&config, a.config, why) != 0) {
        (void)fprintf(stderr, "leatd: %s\n", why);
        return USAGE_ERROR;
    }
    if (a.is_crypto) {
        return print_crypto(&config);
    }
    if (apply_overrides(&a, &config) != 0) {
        return USAGE_ERROR;
    }
    return a.is_check ? check(&config, a.config) : leat_node_run(&config);
}
