/* SPDX-License-Identifier: MIT */
/** @file  Reads tests/vectors/dtls_first_flights.txt. */
#ifndef LEAT_TEST_DTLS_FLIGHTS_H
#define LEAT_TEST_DTLS_FLIGHTS_H

#include <stdlib.h>

#include <leat/bytes.h>

#include "../harness.h"

#define FLIGHTS_MAX 24

struct client_flight {
    char name[48];
    struct {
        uint8_t data[1600];
        size_t len;
    } datagrams[4];
    size_t datagram_count;
    uint8_t hello[4096];
    size_t hello_len;
};

static inline bool flight_line(struct client_flight *f, const char *line)
{
    ptrdiff_t len = 0;
    const char *hex = strchr(line, ' ') + 1;
    size_t hex_len = strcspn(hex, "\n");
    if (strncmp(line, "hello ", 6) == 0) {
        len = leat_hex_decode(hex, hex_len, f->hello, sizeof(f->hello));
        f->hello_len = len > 0 ? (size_t)len : 0;
    } else if (strncmp(line, "datagram ", 9) == 0 && f->datagram_count < 4) {
        len = leat_hex_decode(hex, hex_len, f->datagrams[f->datagram_count].data,
                              sizeof(f->datagrams[0].data));
        f->datagrams[f->datagram_count++].len = len > 0 ? (size_t)len : 0;
    }
    return len > 0;
}

/* @return clients read; the caller frees *out. */
static inline size_t flights_load(struct client_flight **out)
{
    static char line[16384];
    size_t count = 0;
    *out = calloc(FLIGHTS_MAX, sizeof(**out));
    FILE *file = fopen(LEAT_VECTORS "/dtls_first_flights.txt", "r");
    LEAT_CHECK(file != NULL && *out != NULL);
    while (file && *out && fgets(line, sizeof(line), file)) {
        if (line[0] == '#') {
            continue;
        }
        if (strncmp(line, "client ", 7) == 0) {
            LEAT_CHECK(count < FLIGHTS_MAX);
            (void)leat_text_copy((*out)[count].name, sizeof((*out)[count].name),
                                 leat_span(line + 7, strcspn(line + 7, "\n")));
            count++;
        } else {
            LEAT_CHECK_ROW(count, count > 0 && flight_line(&(*out)[count - 1], line));
        }
    }
    if (file) {
        fclose(file);
    }
    LEAT_CHECK(count >= 8);
    return count;
}

#endif
