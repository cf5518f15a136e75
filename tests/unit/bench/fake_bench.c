/* SPDX-License-Identifier: MIT */
/*
 * A bench program whose rows report times that are known beforehand, and tell on the standard error
 * stream what the harness has them do: "set-up NAME", "run NAME", "take-down NAME", each once a
 * turn. What they report depends on the turn only, so a run that the harness repeats changes
 * nothing.
 */
#include <stdio.h>

#include "bench.h"

struct fake {
    const char *name;
    uint64_t ns[4]; /* an operation, at each turn; the first is for calibration */
    uint64_t step;  /* operations that are done at least */
    unsigned turn;
    const char *why; /* why it cannot be set up */
};

static const struct fake *running;

static bool set_up(void *context, const char **why)
{
    const struct fake *f = context;

    fprintf(stderr, "set-up %s\n", f->name);
    *why = f->why;
    return f->why == NULL;
}

static void take_down(void *context)
{
    const struct fake *f = context;

    fprintf(stderr, "take-down %s\n", f->name);
}

static uint64_t run(void *context, uint64_t times, uint64_t *done)
{
    struct fake *f = context;

    if (running != f) {
        f->turn += running != NULL && f->turn < 3;
        running = f;
        fprintf(stderr, "run %s\n", f->name);
    }
    *done = (times + f->step - 1) / f->step * f->step;
    return *done * f->ns[f->turn];
}

static void add(struct bench *b, struct fake *f, struct bench_key key)
{
    struct bench_row row = {
        .key = key, .set_up = set_up, .take_down = take_down, .run = run, .context = f};

    bench_add(b, &row);
}

static void declare(struct bench *b)
{
    /* Of two rows in one group the second's first turn is a change of turns already. */
    static struct fake first = {.name = "first", .ns = {700, 900, 100, 500}, .step = 1};
    static struct fake second = {.name = "second", .ns = {1, 250, 250, 250}, .step = 16};
    static struct fake missing = {.name = "missing", .why = "there is none here", .step = 1};
    static struct fake gone = {.name = "gone", .why = "there is none here", .step = 1};
    static struct fake alone = {.name = "alone", .ns = {40, 40, 40, 40}, .step = 1};

    bench_group(b);
    add(b, &first,
        (struct bench_key){.op = "first",
                           .side = "server",
                           .suite = "S",
                           .backend = "b",
                           .provider = "p",
                           .level = "l",
                           .cache = "hot",
                           .octets = 1200,
                           .batch = 1,
                           .sessions = 64});
    add(b, &missing, (struct bench_key){.op = "missing", .batch = 16});
    add(b, &second, (struct bench_key){.op = "second", .provider = "p", .batch = 16});
    add(b, &gone, (struct bench_key){.op = "gone"});
    bench_group(b);
    add(b, &alone, (struct bench_key){.op = "alone", .octets = 20});
}

int main(int argc, char **argv)
{
    return bench_main(argc, argv, "fake", declare);
}
