/* SPDX-License-Identifier: MIT */
/**
 * @file  The harness of all bench programs: declares rows, times them in interleaved rounds, prints
 * a table or one JSON object a line.
 *
 * Rows that are to be compared stand in one group: the group's rows are set up together, timed
 * round by round in turn (row 1, row 2, ..., row 1, row 2, ...), and taken down together. A row's
 * figure is the median over the rounds, with the least and the greatest beside it.
 */
#ifndef LEAT_BENCH_H
#define LEAT_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * What a row is about. A text that is NULL or a number that is 0 does not apply and is left out.
 * Texts live as long as the program, and have neither blanks nor quotation marks.
 */
struct bench_key {
    const char *op;       /**< "protect", "hmac-sha1", "set-up", ... */
    const char *side;     /**< "server" or "client" */
    const char *suite;    /**< the profile or algorithm where the op leaves it open */
    const char *backend;  /**< the library whose protocol engine runs, where ours has a choice */
    const char *provider; /**< "mbedtls", "openssl", "ipsecmb", "libsrtp2-stock", "leat", ... */
    const char *level;    /**< CPU level of the provider, where a row pins it */
    const char *cache;    /**< "hot" or "cold" */
    const char *unit;     /**< of the figure, where it is not nanoseconds: "heap-octets" */
    unsigned octets, batch, sessions;
};

struct bench_row {
    struct bench_key key;
    /** Set up what `run` needs, outside every timing. NULL: nothing. @return false: this row cannot
     * run here; it is named on the standard error stream with `why` and left out. */
    bool (*set_up)(void *context, const char **why);
    void (*take_down)(void *context);
    /**
     * Do the operation at least `times` times (a batch of n counts n). It may round up.
     * @param done  how often it was done
     * @return nanoseconds (or what the key's unit says) that count, or 0: the harness's own clock
     * around the call counts
     */
    uint64_t (*run)(void *context, uint64_t times, uint64_t *done);
    void *context; /**< lives as long as the program */
};

struct bench;

/** Begin a group; every row belongs to the last one begun. */
void bench_group(struct bench *b);
void bench_add(struct bench *b, const struct bench_row *row);

/** A monotonic clock, for a `run` that counts its own nanoseconds. */
uint64_t bench_now(void);

/** End the program when an operation that is timed does not work: `what` names it. */
void bench_must(bool is_ok, const char *what);
/** Zeroed memory, or the end of the program. */
void *bench_alloc(size_t size);
/** The same for the context of a row, which lives as long as the program: not to be freed. */
void *bench_context(struct bench *b, size_t size);

/** Keep a result alive for the compiler. */
static inline void bench_keep(const void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

/** The whole program: parses --json, --filter, --quick, --list and --runs, declares, runs and
 * prints. @return the exit status. */
int bench_main(int argc, char **argv, const char *name, void (*declare)(struct bench *b));

#endif
