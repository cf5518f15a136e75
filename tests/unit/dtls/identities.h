/* SPDX-License-Identifier: MIT */
/** @file  Reads a section of tests/vectors/dtls_identities.txt. */
#ifndef LEAT_TEST_DTLS_IDENTITIES_H
#define LEAT_TEST_DTLS_IDENTITIES_H

#include <leat/bytes.h>

#include "../harness.h"

/* @return the section's text in out[8192], valid while out is; empty when there is none. */
static inline struct leat_span identity_text(const char *name, char out[static 8192])
{
    char line[256];
    size_t len = 0;
    bool is_inside = false;
    FILE *file = fopen(LEAT_VECTORS "/dtls_identities.txt", "r");
    while (file && fgets(line, sizeof(line), file)) {
        if (strncmp(line, "== ", 3) == 0) {
            line[strcspn(line, "\n")] = '\0';
            is_inside = strcmp(line + 3, name) == 0;
        } else if (is_inside && len + strlen(line) < 8192) {
            memcpy(out + len, line, strlen(line));
            len += strlen(line);
        }
    }
    if (file) {
        fclose(file);
    }
    LEAT_CHECK(len != 0);
    return leat_span(out, len);
}

#endif
