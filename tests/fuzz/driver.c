/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target without libFuzzer, so that every build of the tests does: each seed as it is,
 * then mutations of seeds by a generator that gives the same ones every time.
 *
 *     driver [--runs N] [--prefix TEXT] FILE|FOLDER...
 *
 * A .txt file holds seeds as words of hex among other words ("#" begins a comment line); any other
 * file is one seed as it stands. A prefix is put in front of each seed of a .txt file: pairs of hex
 * digits, and L for the seed's length in two octets. Inputs are copied to blocks of exactly their
 * length, so that AddressSanitizer sees a read past the end.
 */
#include <leat/bytes.h>

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define SEEDS_MAX 512
#define GROWTH_MAX 256    /* octets that mutations may add to a seed */
#define WORD_OCTETS_MIN 4 /* shorter words of hex are words */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* There in builds with a sanitizer only. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));

struct seed {
    uint8_t *data;
    size_t len;
};

struct corpus {
    struct seed seeds[SEEDS_MAX];
    size_t count;
};

static void die(const char *what, const char *about)
{
    fprintf(stderr, "fuzz driver: %s: %s\n", what, about);
    exit(2);
}

static void *get_memory(size_t len)
{
    void *p = malloc(len != 0 ? len : 1);
    if (!p) {
        die("out of memory", "");
    }
    return p;
}

static void add_seed(struct corpus *c, const void *data, size_t len)
{
    if (c->count == SEEDS_MAX) {
        return;
    }
    struct seed *s = &c->seeds[c->count++];
    s->data = get_memory(len);
    s->len = len;
    if (len != 0) {
        memcpy(s->data, data, len);
    }
}

static size_t put_prefix(const char *prefix, size_t seed_len, uint8_t *out, size_t cap)
{
    struct leat_writer w;
    leat_writer_init(&w, out, cap);
    while (*prefix != '\0') {
        uint8_t octet;
        if (*prefix == 'L') {
            leat_write_u16(&w, (uint16_t)seed_len);
            prefix++;
        } else if (leat_hex_decode(prefix, prefix[1] != '\0' ? 2 : 1, &octet, 1) == 1) {
            leat_write_u8(&w, octet);
            prefix += 2;
        } else {
            die("not a prefix", prefix);
        }
    }
    return leat_writer_len(&w);
}

static void add_word(struct corpus *c, const char *prefix, const char *word, size_t len)
{
    uint8_t *octets = get_memory(len / 2 + 64);
    size_t head = put_prefix(prefix, len / 2, octets, 64);
    ptrdiff_t n = leat_hex_decode(word, len, octets + head, len / 2);
    if (n >= WORD_OCTETS_MIN) {
        add_seed(c, octets, head + (size_t)n);
    }
    free(octets);
}

static void add_words(struct corpus *c, const char *prefix, const char *text)
{
    while (*text != '\0') {
        size_t line = strcspn(text, "\n");
        const char *end = text + line;
        while (*text != '#' && text < end) {
            size_t len = strcspn(text, " \t\r\n");
            add_word(c, prefix, text, len);
            text += len;
            text += text < end ? strspn(text, " \t\r") : 0;
        }
        text = *end == '\n' ? end + 1 : end;
    }
}

static void add_file(struct corpus *c, const char *prefix, const char *path)
{
    FILE *f = fopen(path, "rb");
    long len = -1;
    if (!f || fseek(f, 0, SEEK_END) != 0 || (len = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) != 0) {
        die("cannot read", path);
    }
    char *text = get_memory((size_t)len + 1);
    if (fread(text, 1, (size_t)len, f) != (size_t)len) {
        die("cannot read", path);
    }
    text[len] = '\0';
    (void)fclose(f);
    const char *ending = strrchr(path, '.');
    if (ending && strcmp(ending, ".txt") == 0) {
        add_words(c, prefix, text);
    } else {
        add_seed(c, text, (size_t)len);
    }
    free(text);
}

/** A folder's files in the order of their names, so that each run is the same; or one file. */
static void add_path(struct corpus *c, const char *prefix, const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) {
        add_file(c, prefix, path);
        return;
    }
    for (int i = 0; i < count; i++) {
        char file[4096];
        if (entries[i]->d_name[0] != '.') {
            (void)snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
            add_file(c, prefix, file);
        }
        free(entries[i]);
    }
    free(entries);
}

/** Marsaglia's xorshift64. */
static uint32_t draw(uint64_t *state, size_t bound)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)((*state >> 16) % bound);
}

/** Put `n` octets of another seed at `at`. @return the new length. */
static size_t splice(uint8_t *data, size_t len, size_t cap, size_t at, const struct seed *from,
                     uint64_t *state)
{
    if (from->len == 0) {
        return len;
    }
    size_t offset = draw(state, from->len);
    size_t n = draw(state, from->len - offset) + 1u;
    n = n < cap - len ? n : cap - len;
    memmove(data + at + n, data + at, len - at);
    memcpy(data + at, from->data + offset, n);
    return len + n;
}

static size_t mutate_once(const struct corpus *c, uint8_t *data, size_t len, size_t cap,
                          uint64_t *state)
{
    static const uint8_t edges[] = {0x00, 0x01, 0x7f, 0x80, 0xff, 0x20, 0x22, 0x0a};
    size_t at = draw(state, len + 1), n;
    switch (draw(state, 7)) {
    case 0:
        return at; /* cut off */
    case 1:
        n = draw(state, (len - at < 16 ? len - at : 16) + 1);
        memmove(data + at, data + at + n, len - at - n);
        return len - n;
    case 2:
        return splice(data, len, cap, at, &c->seeds[draw(state, c->count)], state);
    case 3:
        if (len < cap) {
            memmove(data + at + 1, data + at, len - at);
            data[at] = (uint8_t)draw(state, 256);
            return len + 1;
        }
        return len;
    default:
        break;
    }
    if (at < len) {
        uint8_t edge = edges[draw(state, sizeof(edges))];
        uint8_t flip = (uint8_t)(1u << draw(state, 8));
        data[at] = draw(state, 3) == 0 ? edge : data[at] ^ flip;
    }
    return len;
}

static struct leat_span running; /* for the report of a crash */

static void show_input(void)
{
    fprintf(stderr, "fuzz driver: the input was ");
    for (size_t i = 0; i < running.len; i++) {
        fprintf(stderr, "%02x", running.data[i]);
    }
    fprintf(stderr, "\n");
}

static void on_signal(int number)
{
    show_input(); /* not safe in a handler, but there is nothing left to lose */
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void watch_for_crashes(void)
{
    (void)signal(SIGABRT, on_signal);
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(show_input);
    } else {
        (void)signal(SIGSEGV, on_signal);
    }
}

static void run(const uint8_t *data, size_t len)
{
    uint8_t *exact = get_memory(len);
    if (len != 0) {
        memcpy(exact, data, len);
    }
    running = leat_span(data, len);
    (void)LLVMFuzzerTestOneInput(exact, len);
    free(exact);
}

static void run_mutations(const struct corpus *c, unsigned long runs)
{
    uint64_t state = 0x9e3779b97f4a7c15;
    for (unsigned long i = 0; i < runs; i++) {
        const struct seed *s = &c->seeds[draw(&state, c->count)];
        size_t cap = s->len + GROWTH_MAX, len = s->len;
        uint8_t *data = get_memory(cap);
        memcpy(data, s->data, len);
        for (uint32_t k = draw(&state, 6) + 1; k > 0; k--) {
            len = mutate_once(c, data, len, cap, &state);
        }
        run(data, len);
        free(data);
    }
}

int main(int argc, char **argv)
{
    static struct corpus corpus;
    const char *prefix = "";
    unsigned long runs = 5000;
    add_seed(&corpus, "", 0);
    add_seed(&corpus, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc) {
            runs = strtoul(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--prefix") == 0 && i + 1 < argc) {
            prefix = argv[++i];
        } else {
            add_path(&corpus, prefix, argv[i]);
        }
    }
    watch_for_crashes();
    for (size_t i = 0; i < corpus.count; i++) {
        run(corpus.seeds[i].data, corpus.seeds[i].len);
    }
    run_mutations(&corpus, runs);
    printf("%zu seeds, %lu mutations\n", corpus.count, runs);
    for (size_t i = 0; i < corpus.count; i++) {
        free(corpus.seeds[i].data);
    }
    return 0;
}
