/* SPDX-License-Identifier: MIT */
/* leatdump: datagrams of a file, or of the standard input, one readable line each. Exit status 0, 1
 * when something could not be read to its end, 2 for a wrong call. */
#include <errno.h>
#include <string.h>

#include <leat/error.h>

#include "decode.h"
#include "source.h"

#define STATUS_FAULT 1
#define STATUS_USAGE 2

static const char usage[] =
    "usage: leatdump [--json] FILE ... | -\n"
    "\n"
    "Decodes STUN, DTLS, RTP and RTCP, as far as they are in the clear. FILE is a pcap file (what\n"
    "tcpdump -w writes) or has one datagram in hex a line; - is the standard input.\n"
    "\n"
    "  --json  one object a line\n";

struct program {
    struct leat_dump_out out;
    struct leat_dump_source source;
    bool has_first;
    uint64_t first_us;
};

/** Text has the time since the first datagram, JSON the time itself. */
static void put_time(struct program *p, const struct leat_dump_datagram *d)
{
    char text[48];
    uint64_t now_us = d->time_s * 1000000 + d->time_ns / 1000;
    if (!p->has_first) {
        p->has_first = true;
        p->first_us = now_us;
    }
    if (p->out.is_json) {
        (void)snprintf(text, sizeof text, "%llu.%09u", (unsigned long long)d->time_s, d->time_ns);
    } else {
        (void)snprintf(text, sizeof text, "%11.6f", ((double)now_us - (double)p->first_us) / 1e6);
    }
    leat_dump_number(&p->out, "time", text);
}

static void put_datagram(struct program *p, const struct leat_dump_datagram *d)
{
    struct leat_dump_out *o = &p->out;
    char from[LEAT_ADDR_TEXT_MAX], to[LEAT_ADDR_TEXT_MAX];
    leat_dump_begin(o);
    if (d->has_time) {
        put_time(p, d);
    } else {
        leat_dump_u64(o, "line", p->source.line);
    }
    if (d->has_addrs) {
        leat_dump_word(o, "from", leat_addr_format(&d->from, from));
        if (!o->is_json) {
            leat_dump_word(o, "", ">");
        }
        leat_dump_word(o, "to", leat_addr_format(&d->to, to));
    }
    leat_dump_datagram(o, d->octets);
    if (d->is_cut) {
        leat_dump_word(o, "capture", "cut off");
    }
    leat_dump_end(o);
}

static int dump(struct program *p, FILE *file, const char *name)
{
    char why[LEAT_DUMP_WHY_MAX];
    struct leat_dump_datagram d;
    int status = 0;
    int result = leat_dump_source_init(&p->source, file, why);
    if (result == 0) {
        p->has_first = false;
        while ((result = leat_dump_source_next(&p->source, &d, why)) == 1 ||
               result == LEAT_E_INVALID) {
            if (result == 1) {
                put_datagram(p, &d);
            } else {
                (void)fprintf(stderr, "leatdump: %s: %s\n", name, why);
                status = STATUS_FAULT;
            }
        }
    }
    if (result != 0) {
        (void)fprintf(stderr, "leatdump: %s: %s\n", name, why);
        return STATUS_FAULT;
    }
    if (p->source.skipped != 0) {
        (void)fprintf(stderr, "leatdump: %s: %llu frames without a UDP datagram\n", name,
                      (unsigned long long)p->source.skipped);
    }
    if (ferror(file) != 0) {
        (void)fprintf(stderr, "leatdump: %s: %s\n", name, strerror(errno));
        status = STATUS_FAULT;
    }
    return status;
}

static int dump_path(struct program *p, const char *path)
{
    if (strcmp(path, "-") == 0) {
        return dump(p, stdin, "standard input");
    }
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        (void)fprintf(stderr, "leatdump: %s: %s\n", path, strerror(errno));
        return STATUS_FAULT;
    }
    int status = dump(p, file, path);
    (void)fclose(file);
    return status;
}

int main(int argc, char **argv)
{
    static struct program p = {.out = {.file = NULL}};
    int status = 0, paths = 0;
    p.out.file = stdout;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            p.out.is_json = true;
        } else if (strcmp(argv[i], "--help") == 0) {
            (void)fputs(usage, stdout);
            return 0;
        } else if (argv[i][0] == '-' && argv[i][1] != '\0') {
            (void)fprintf(stderr, "leatdump: unknown option '%s'\n%s", argv[i], usage);
            return STATUS_USAGE;
        } else {
            paths++;
        }
    }
    if (paths == 0) {
        (void)fputs(usage, stderr);
        return STATUS_USAGE;
    }
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-' || argv[i][1] == '\0') {
            int one = dump_path(&p, argv[i]);
            status = one != 0 ? one : status;
        }
    }
    return fflush(stdout) == 0 ? status : STATUS_FAULT;
}
