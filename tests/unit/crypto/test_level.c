/* SPDX-License-Identifier: MIT */
/*
 * The levels of the ipsecmb provider that this CPU can run are those up to the one that stands as
 * the only argument ("none", "sse", "avx2", "avx512") and no others; what is offered is fit to
 * start with. Run on masked CPUs.
 */
#include "provider.h"

#include <dlfcn.h>

#include "harness.h"

#define SKIPPED 77

static const struct {
    const char *name;
    const struct leat_crypto_provider *provider;
} levels[] = {{"none", NULL},
              {"sse", &leat__crypto_ipsecmb_sse},
              {"avx2", &leat__crypto_ipsecmb_avx2},
              {"avx512", &leat__crypto_ipsecmb_avx512}};

static bool is_installed(void)
{
    return dlopen("libIPSec_MB.so.1", RTLD_NOW) != NULL ||
           dlopen("libIPSec_MB.so.2", RTLD_NOW) != NULL;
}

static bool is_offered(void)
{
    const char *name;
    for (size_t i = 0; (name = leat_crypto_provider_name(i)) != NULL; i++) {
        if (strcmp(name, "ipsecmb") == 0) {
            return true;
        }
    }
    return false;
}

static void check_levels(size_t highest)
{
    for (size_t i = 1; i < LEAT_ARRAY_LEN(levels); i++) {
        const struct leat_crypto_provider *p = levels[i].provider;
        LEAT_CHECK_ROW(i, p->is_available(p) == (i <= highest));
    }
    LEAT_CHECK_INT(is_offered(), highest > 0);
    for (size_t i = 0; i <= highest; i++) {
        const struct leat_crypto_options options = {.provider = "ipsecmb", .level = levels[i].name};
        LEAT_CHECK_ROW(i, leat_crypto_start_with(&options) == (i > 0 ? 0 : LEAT_E_INVALID));
    }
    LEAT_CHECK_INT(leat_crypto_start(), 0);
}

int main(int argc, char **argv)
{
    if (!is_installed()) {
        printf("intel-ipsec-mb is not installed\n");
        return SKIPPED;
    }
    for (size_t i = 0; argc == 2 && i < LEAT_ARRAY_LEN(levels); i++) {
        if (strcmp(argv[1], levels[i].name) == 0) {
            check_levels(i);
            return leat_test_failures == 0 ? 0 : 1;
        }
    }
    fprintf(stderr, "usage: %s none|sse|avx2|avx512\n", argv[0]);
    return 2;
}
