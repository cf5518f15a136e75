/* SPDX-License-Identifier: MIT */
/*
 * The harness: the choice of rows, timing in interleaved rounds, output.
 *
 * The process stays on one CPU. Each row is first calibrated to a number of operations that fills a
 * slice of time, which also warms it; then the rows of a group take turns, so that whatever slows
 * the machine for a while slows all of them. Slices are shorter than what the scheduler gives a
 * process at a time, so that on a busy machine too most runs are undisturbed.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "options.h"

#define TRIES 10 /* of a run, until nobody takes the CPU away in it */
#define REASONS_MAX 32
#define TEXT_MAX 400
#define FIELDS 11

struct entry {
    struct bench_row row;
    size_t group;
    uint64_t times; /* operations that fill a slice */
    double ns[BENCH_RUNS_MAX];
};

/* Why rows cannot run here, each reason once. */
struct reason {
    const char *why;
    struct bench_key first;
    size_t count;
};

struct context {
    struct context *next;
    _Alignas(64) uint8_t data[];
};

struct bench {
    const char *name;
    struct bench_options options;
    struct entry **entries; /* those chosen, in the order of their declaration */
    size_t count, room, group;
    struct context *contexts; /* of all rows, the chosen and the others */
    size_t done;              /* rows behind us, for the progress line */
    int widths[FIELDS];
    struct reason reasons[REASONS_MAX];
    size_t reason_count;
};

static const char *const field_names[FIELDS] = {"op",       "side",  "suite",   "backend",
                                                "provider", "level", "cache",   "unit",
                                                "octets",   "batch", "sessions"};
#define FIRST_NUMBER 8

uint64_t bench_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void bench_must(bool is_ok, const char *what)
{
    if (!is_ok) {
        fprintf(stderr, "%s does not work\n", what);
        exit(1);
    }
}

void *bench_alloc(size_t size)
{
    void *memory = calloc(1, size);

    bench_must(memory != NULL, "allocation of memory");
    return memory;
}

void *bench_context(struct bench *b, size_t size)
{
    struct context *c = aligned_alloc(64, (sizeof(*c) + size + 63) / 64 * 64);

    bench_must(c != NULL, "allocation of memory");
    memset(c->data, 0, size);
    c->next = b->contexts;
    b->contexts = c;
    return c->data;
}

/* ---- rows ---- */

/* A field as text; empty where it does not apply. */
static void write_field(char out[static 64], const struct bench_key *key, size_t field)
{
    const char *const texts[] = {key->op,       key->side,  key->suite, key->backend,
                                 key->provider, key->level, key->cache, key->unit};
    const unsigned numbers[] = {key->octets, key->batch, key->sessions};

    out[0] = '\0';
    if (field < FIRST_NUMBER) {
        snprintf(out, 64, "%s", texts[field] != NULL ? texts[field] : "");
    } else if (numbers[field - FIRST_NUMBER] != 0) {
        snprintf(out, 64, "%u", numbers[field - FIRST_NUMBER]);
    }
}

/* "bench=crypto op=hmac-sha1 provider=mbedtls octets=100": what filters are matched against. */
static void write_key(char out[static TEXT_MAX], const char *bench, const struct bench_key *key)
{
    size_t len = (size_t)snprintf(out, TEXT_MAX, "bench=%s", bench);

    for (size_t field = 0; field < FIELDS && len < TEXT_MAX; field++) {
        char text[64];

        write_field(text, key, field);
        if (text[0] != '\0') {
            len += (size_t)snprintf(out + len, TEXT_MAX - len, " %s=%s", field_names[field], text);
        }
    }
}

static bool is_chosen(const struct bench *b, const struct bench_key *key)
{
    char text[TEXT_MAX];

    write_key(text, b->name, key);
    return bench_options_match(&b->options, text);
}

void bench_group(struct bench *b)
{
    b->group++;
}

void bench_add(struct bench *b, const struct bench_row *row)
{
    struct entry *e;

    if (!is_chosen(b, &row->key)) {
        return;
    }
    if (b->count == b->room) {
        b->room = b->room == 0 ? 64 : 2 * b->room;
        b->entries = realloc(b->entries, b->room * sizeof(struct entry *));
        bench_must(b->entries != NULL, "allocation of memory");
    }
    e = bench_alloc(sizeof(*e));
    e->row = *row;
    e->group = b->group;
    b->entries[b->count++] = e;
}

/* ---- timing ---- */

static void show_progress(const struct bench *b, const struct entry *e, unsigned run)
{
    char text[TEXT_MAX];

    if (isatty(STDERR_FILENO)) {
        write_key(text, b->name, &e->row.key);
        fprintf(stderr, "\r\033[K%zu/%zu run %u/%u %.60s", b->done + 1, b->count, run,
                b->options.runs, text + sizeof("bench=") - 1);
    }
}

static void clear_progress(void)
{
    if (isatty(STDERR_FILENO)) {
        fputs("\r\033[K", stderr);
    }
}

/* One run. @return the nanoseconds that count; `wall` are those that went by. */
static uint64_t time_once(const struct entry *e, uint64_t times, uint64_t *done, uint64_t *wall)
{
    uint64_t from = bench_now();
    uint64_t own;

    *done = 0;
    own = e->row.run(e->row.context, times, done);
    *wall = bench_now() - from;
    if (*done == 0) {
        *done = 1;
    }
    return own != 0 ? own : *wall;
}

/* Grow until a run fills the slice. A row that counts little of its time must not take for ever, so
 * the time that went by is bounded too. The very first run tells nothing: it may have more to do.
 */
static void calibrate(const struct bench *b, struct entry *e)
{
    uint64_t slice = b->options.slice_ns;
    uint64_t first, first_wall;

    time_once(e, 1, &first, &first_wall);
    for (uint64_t times = 1;; times *= 2) {
        uint64_t done, wall;
        uint64_t ns = time_once(e, times, &done, &wall);

        e->times = times;
        if (ns >= slice || wall >= 4 * slice) {
            return;
        }
        if (ns >= slice / 4) {
            e->times = 1 + (uint64_t)((double)done * (double)slice / (double)ns);
            return;
        }
    }
}

/* How often the system has taken the CPU away from us. */
static long preemptions(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

/* One run's nanoseconds an operation, after a shorter one that is not timed: caches and, for wide
 * vectors, the clock rate are still those of the row before. A run in which the CPU went to
 * somebody else tells of him, so it is repeated; if that does not help, the least disturbed counts.
 */
static double time_run(const struct entry *e)
{
    double least = 0;

    for (int i = 0; i < TRIES; i++) {
        uint64_t done, wall, ns;
        long before;
        double each;

        time_once(e, (e->times + 3) / 4, &done, &wall);
        before = preemptions();
        ns = time_once(e, e->times, &done, &wall);
        each = (double)ns / (double)done;

        if (preemptions() == before) {
            return each;
        }
        least = i == 0 || each < least ? each : least;
    }
    return least;
}

static void note_reason(struct bench *b, const struct bench_key *key, const char *why)
{
    for (size_t i = 0; i < b->reason_count; i++) {
        if (strcmp(b->reasons[i].why, why) == 0) {
            b->reasons[i].count++;
            return;
        }
    }
    if (b->reason_count < REASONS_MAX) {
        b->reasons[b->reason_count++] = (struct reason){why, *key, 1};
    }
}

static int compare_doubles(const void *a, const void *b)
{
    double x, y;

    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return (x > y) - (x < y);
}

/* Set up, calibrate and time the rows of one group; `ready` of them, in front, have figures. */
static size_t time_group(struct bench *b, struct entry **entries, size_t count)
{
    size_t ready = 0;

    for (size_t i = 0; i < count; i++) {
        struct entry *e = entries[i];
        const char *why = "it could not be set up";

        if (e->row.set_up == NULL || e->row.set_up(e->row.context, &why)) {
            entries[ready++] = e;
        } else {
            note_reason(b, &e->row.key, why);
            free(e);
        }
    }
    for (size_t i = 0; i < ready; i++) {
        show_progress(b, entries[i], 0);
        calibrate(b, entries[i]);
    }
    for (unsigned run = 0; run < b->options.runs; run++) {
        for (size_t i = 0; i < ready; i++) {
            show_progress(b, entries[i], run + 1);
            entries[i]->ns[run] = time_run(entries[i]);
        }
    }
    for (size_t i = 0; i < ready; i++) {
        struct entry *e = entries[i];

        qsort(e->ns, b->options.runs, sizeof(e->ns[0]), compare_doubles);
        if (e->row.take_down != NULL) {
            e->row.take_down(e->row.context);
        }
    }
    return ready;
}

/* ---- output ---- */

static double median(const struct bench *b, const struct entry *e)
{
    unsigned half = b->options.runs / 2;

    return b->options.runs % 2 == 1 ? e->ns[half] : (e->ns[half - 1] + e->ns[half]) / 2;
}

static int decimals(double ns)
{
    return ns < 100 ? 2 : 1;
}

static void print_json(const struct bench *b, const struct entry *e)
{
    double least = e->ns[0], most = e->ns[b->options.runs - 1], ns = median(b, e);

    printf("{\"bench\":\"%s\"", b->name);
    for (size_t field = 0; field < FIELDS; field++) {
        char text[64];

        write_field(text, &e->row.key, field);
        if (text[0] != '\0') {
            const char *quote = field < FIRST_NUMBER ? "\"" : "";

            printf(",\"%s\":%s%s%s", field_names[field], quote, text, quote);
        }
    }
    printf(",\"ns\":%.*f,\"min\":%.*f,\"max\":%.*f,\"runs\":%u}\n", decimals(ns), ns,
           decimals(least), least, decimals(most), most, b->options.runs);
}

static void print_cells(const struct bench *b, const struct bench_key *key)
{
    for (size_t field = 0; field < FIELDS; field++) {
        char text[64];

        if (b->widths[field] == 0) {
            continue;
        }
        snprintf(text, sizeof(text), "%s", field_names[field]);
        if (key != NULL) {
            write_field(text, key, field);
        }
        printf(field < FIRST_NUMBER ? "%-*s  " : "%*s  ", b->widths[field], text);
    }
}

/* A column without a single entry is left out. */
static void print_head(struct bench *b)
{
    for (size_t i = 0; i < b->count; i++) {
        for (size_t field = 0; field < FIELDS; field++) {
            char text[64];
            int len;

            write_field(text, &b->entries[i]->row.key, field);
            len = (int)strlen(text);
            if (len > 0 && b->widths[field] == 0) {
                b->widths[field] = (int)strlen(field_names[field]);
            }
            b->widths[field] = len > b->widths[field] ? len : b->widths[field];
        }
    }
    printf("%s: ns per operation, median of %u runs\n", b->name, b->options.runs);
    print_cells(b, NULL);
    printf("%12s %12s %12s\n", "ns", "min", "max");
}

static void print_row(const struct bench *b, const struct entry *e)
{
    double figures[] = {median(b, e), e->ns[0], e->ns[b->options.runs - 1]};

    if (b->options.is_json) {
        print_json(b, e);
        return;
    }
    print_cells(b, &e->row.key);
    for (size_t i = 0; i < 3; i++) {
        printf("%12.*f%c", decimals(figures[i]), figures[i], i == 2 ? '\n' : ' ');
    }
}

static void list(const struct bench *b)
{
    for (size_t i = 0; i < b->count; i++) {
        char text[TEXT_MAX];

        write_key(text, b->name, &b->entries[i]->row.key);
        puts(text);
    }
}

static void print_reasons(const struct bench *b)
{
    for (size_t i = 0; i < b->reason_count; i++) {
        const struct reason *r = &b->reasons[i];
        char text[TEXT_MAX];

        write_key(text, b->name, &r->first);
        fprintf(stderr, "bench_%s: %zu rows cannot run here, the first is '%s': %s\n", b->name,
                r->count, text, r->why);
    }
}

/* ---- the program ---- */

static void stay_on_this_cpu(void)
{
    cpu_set_t set;
    int cpu = sched_getcpu();

    CPU_ZERO(&set);
    if (cpu >= 0) {
        CPU_SET((size_t)cpu, &set);
    }
    if (cpu < 0 || sched_setaffinity(0, sizeof(set), &set) != 0) {
        fputs("cannot stay on one CPU: figures spread more\n", stderr);
    }
}

static void run_all(struct bench *b)
{
    stay_on_this_cpu();
    if (!b->options.is_json) {
        print_head(b);
    }
    for (size_t i = 0; i < b->count;) {
        size_t next = i;
        size_t ready;

        while (next < b->count && b->entries[next]->group == b->entries[i]->group) {
            next++;
        }
        ready = time_group(b, b->entries + i, next - i);
        clear_progress();
        for (size_t k = 0; k < ready; k++) {
            print_row(b, b->entries[i + k]);
        }
        fflush(stdout);
        b->done = i = next;
    }
    print_reasons(b);
}

int bench_main(int argc, char **argv, const char *name, void (*declare)(struct bench *b))
{
    static struct bench b;
    int status = bench_options_parse(&b.options, argc, argv, name);

    if (status >= 0) {
        return status;
    }
    b.name = name;
    declare(&b);
    if (b.options.is_list) {
        list(&b);
    } else if (b.count == 0) {
        fprintf(stderr, "bench_%s: no row matches the filter; --list shows all rows\n", name);
        return 1;
    } else {
        run_all(&b);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
