/* SPDX-License-Identifier: MIT */
/* Arguments of bench programs, and the filters among them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

/* A word with '=' stands for a whole field, so that batch=1 is not batch=16; any other word may
 * stand anywhere. */
static bool word_matches(const char *text, const char *word, size_t len)
{
    bool is_field = memchr(word, '=', len) != NULL;

    for (const char *at = text; *at != '\0'; at++) {
        if (strncmp(at, word, len) == 0 &&
            (!is_field || ((at == text || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0')))) {
            return true;
        }
    }
    return false;
}

static bool filter_matches(const char *text, const char *filter)
{
    for (const char *at = filter; *at != '\0';) {
        size_t len = strcspn(at, " ");

        if (len > 0 && !word_matches(text, at, len)) {
            return false;
        }
        at += len + (at[len] == ' ');
    }
    return true;
}

bool bench_options_match(const struct bench_options *o, const char *row)
{
    for (size_t i = 0; i < o->filter_count; i++) {
        if (filter_matches(row, o->filters[i])) {
            return true;
        }
    }
    return o->filter_count == 0;
}

static void usage(FILE *out, const char *name)
{
    fprintf(
        out,
        "usage: bench_%s [--filter WORDS]... [--runs N] [--quick] [--json | --list]\n"
        "  --filter WORDS  only rows that match all of the words, as 'op=protect batch=16' or\n"
        "                  parts of them; given again: or all of these\n"
        "  --runs N        interleaved runs that the median is of, 1 to %d (9, with --quick 3)\n"
        "  --quick         shorter runs\n"
        "  --json          one object a line\n"
        "  --list          the rows, without running them\n",
        name, BENCH_RUNS_MAX);
}

static bool parse_runs(unsigned *runs, const char *text)
{
    char *end;
    unsigned long value;

    errno = 0;
    value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < 1 ||
        value > BENCH_RUNS_MAX) {
        return false;
    }
    *runs = (unsigned)value;
    return true;
}

/* An option with a value. @return whether it was understood; else it is said what was expected. */
static bool take_value(struct bench_options *o, const char *name, int at, const char *option,
                       const char *value)
{
    bool is_runs = strcmp(option, "--runs") == 0;

    if (is_runs && value != NULL && parse_runs(&o->runs, value)) {
        return true;
    }
    if (!is_runs && value != NULL && o->filter_count < BENCH_FILTERS_MAX) {
        o->filters[o->filter_count++] = value;
        return true;
    }
    fprintf(stderr, "bench_%s: argument %d: ", name, at);
    if (is_runs) {
        fprintf(stderr, "--runs takes a number from 1 to %d, not '%s'\n", BENCH_RUNS_MAX,
                value != NULL ? value : "");
    } else {
        fprintf(stderr, "--filter takes words, and stands at most %d times\n", BENCH_FILTERS_MAX);
    }
    return false;
}

int bench_options_parse(struct bench_options *o, int argc, char **argv, const char *name)
{
    bool is_quick = false;

    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];

        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            usage(stdout, name);
            return 0;
        } else if (strcmp(word, "--json") == 0) {
            o->is_json = true;
        } else if (strcmp(word, "--list") == 0) {
            o->is_list = true;
        } else if (strcmp(word, "--quick") == 0) {
            is_quick = true;
        } else if (strcmp(word, "--runs") == 0 || strcmp(word, "--filter") == 0) {
            if (!take_value(o, name, i, word, i + 1 < argc ? argv[i + 1] : NULL)) {
                return 2;
            }
            i++;
        } else {
            fprintf(stderr, "bench_%s: argument %d: '%s' is no option\n", name, i, word);
            usage(stderr, name);
            return 2;
        }
    }
    o->slice_ns = is_quick ? 500000 : 2000000;
    if (o->runs == 0) {
        o->runs = is_quick ? 3 : 9;
    }
    return -1;
}
