/* SPDX-License-Identifier: MIT */
/* leatload's command line: a table of numbers with their bounds, and a few flags. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <leat/error.h>

const char leat_load_usage[] =
    "usage: leatload [--publishers P] [--subscribers S] [--seconds T] [--rate-kbps R] [--size B]\n"
    "                [--audio] [--backend B] [--socket PATH] [--json]\n"
    "\n"
    "Real WebRTC clients on this machine against the leatd of this machine: every subscriber gets\n"
    "every publisher and checks each packet.\n"
    "\n"
    "  --publishers P   peers that send (1)\n"
    "  --subscribers S  peers that receive all of them (1)\n"
    "  --seconds T      how long media flows (10)\n"
    "  --rate-kbps R    video of each publisher, kbit/s of RTP (1000)\n"
    "  --size B         octets of a video packet, RTP header included (1200)\n"
    "  --audio          each publisher sends audio too: a packet in 20 ms\n"
    "  --backend B      who shakes hands: mbedtls, or openssl, which can AEAD GCM too (mbedtls)\n"
    "  --socket PATH    leatd's control socket ($LEAT_SOCKET, else " LEAT_LOAD_SOCKET ")\n"
    "  --json           the result as one JSON object\n"
    "\n"
    "Exit status: 0 when everything arrived and was right, 1 when not, 2 for a wrong call.\n";

struct number {
    const char *name;
    size_t offset;
    unsigned min, max;
};

static const struct number numbers[] = {
    {"--publishers", offsetof(struct leat_load_options, publishers), 1, LEAT_LOAD_PUBLISHERS_MAX},
    {"--subscribers", offsetof(struct leat_load_options, subscribers), 1,
     LEAT_LOAD_SUBSCRIBERS_MAX},
    {"--seconds", offsetof(struct leat_load_options, seconds), 1, 86400},
    {"--rate-kbps", offsetof(struct leat_load_options, rate_kbps), 8, 1000000},
    {"--size", offsetof(struct leat_load_options, size), LEAT_LOAD_SIZE_MIN, LEAT_LOAD_SIZE_MAX},
};

static const struct number *number_of(const char *name)
{
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(numbers[i].name, name) == 0) {
            return &numbers[i];
        }
    }
    return NULL;
}

static bool read_number(const struct number *n, const char *text, unsigned *out)
{
    char *end = NULL;
    unsigned long value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || value < n->min || value > n->max) {
        return false;
    }
    *out = (unsigned)value;
    return true;
}

/** Flags take no value. */
static bool read_flag(struct leat_load_options *o, const char *name)
{
    if (strcmp(name, "--audio") == 0) {
        return o->has_audio = true;
    }
    if (strcmp(name, "--json") == 0) {
        return o->is_json = true;
    }
    if (strcmp(name, "--help") == 0) {
        return o->is_help = true;
    }
    return false;
}

static int read_backend(struct leat_load_options *o, const char *value, char *why, size_t why_cap)
{
    if (strcmp(value, "mbedtls") != 0 && strcmp(value, "openssl") != 0) {
        (void)snprintf(why, why_cap, "--backend: expected mbedtls or openssl, got '%s'", value);
        return LEAT_E_INVALID;
    }
    o->backend = strcmp(value, "openssl") == 0 ? LEAT_DTLS_OPENSSL : LEAT_DTLS_MBEDTLS;
    return 0;
}

static int read_value(struct leat_load_options *o, const char *name, const char *value, char *why,
                      size_t why_cap)
{
    const struct number *n = number_of(name);
    bool is_backend = strcmp(name, "--backend") == 0;
    if (n == NULL && !is_backend && strcmp(name, "--socket") != 0) {
        (void)snprintf(why, why_cap, "unknown argument '%s'", name);
        return LEAT_E_INVALID;
    }
    if (value == NULL) {
        (void)snprintf(why, why_cap, "%s wants a value", name);
        return LEAT_E_INVALID;
    }
    if (is_backend) {
        return read_backend(o, value, why, why_cap);
    }
    if (n == NULL) {
        o->socket = value;
        return 0;
    }
    unsigned number = 0;
    if (!read_number(n, value, &number)) {
        (void)snprintf(why, why_cap, "%s: expected an integer from %u to %u, got '%s'", name,
                       n->min, n->max, value);
        return LEAT_E_INVALID;
    }
    memcpy((char *)o + n->offset, &number, sizeof number);
    return 0;
}

int leat_load_options_read(struct leat_load_options *o, int argc, char **argv, const char *socket,
                           char *why, size_t why_cap)
{
    *o = (struct leat_load_options){.publishers = 1,
                                    .subscribers = 1,
                                    .seconds = 10,
                                    .rate_kbps = 1000,
                                    .size = 1200,
                                    .socket = socket != NULL ? socket : LEAT_LOAD_SOCKET};
    for (int i = 1; i < argc; i++) {
        if (read_flag(o, argv[i])) {
            continue;
        }
        int error = read_value(o, argv[i], i + 1 < argc ? argv[i + 1] : NULL, why, why_cap);
        if (error != 0) {
            return error;
        }
        i++;
    }
    if (o->has_audio && o->publishers > LEAT_LOAD_PUBLISHERS_MAX / 2) {
        (void)snprintf(why, why_cap, "--publishers: at most %d with --audio",
                       LEAT_LOAD_PUBLISHERS_MAX / 2);
        return LEAT_E_INVALID;
    }
    return 0;
}
