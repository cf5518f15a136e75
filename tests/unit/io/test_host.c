/* SPDX-License-Identifier: MIT */
#include "host.h"

#include "support.h"

#include <ftw.h>
#include <sys/stat.h>

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

/** Make a file and the folders on the way to it. */
static void put(const char *root, const char *name, const char *text)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/%s", root, name);
    for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        (void)mkdir(path, 0755);
        *p = '/';
    }
    FILE *f = fopen(path, "we");
    LEAT_CHECK(f != NULL && fputs(text, f) >= 0);
    (void)fclose(f);
}

static void cpu_quota__trees_of_both_versions__smallest_rounded_up(void)
{
    static const struct {
        const char *self;
        const char *files[3][2];
        unsigned expected;
    } rows[] = {
        {"0::/\n", {{"cpu.max", "max 100000\n"}}, UINT_MAX},
        {"0::/\n", {{"cpu.max", "150000 100000\n"}}, 2},
        {"0::/\n", {{"cpu.max", "200000 100000\n"}}, 2},
        {"0::/\n", {{"cpu.max", "1000 100000\n"}}, 1},
        {"0::/a/b\n", {{"a/b/cpu.max", "max 100000\n"}, {"a/cpu.max", "300000 100000\n"}}, 3},
        {"0::/a/b\n", {{"a/b/cpu.max", "400000 100000\n"}, {"a/cpu.max", "800000 100000\n"}}, 4},
        /* the host's path, while the mount's root is the container's group */
        {"0::/docker/12ab\n", {{"cpu.max", "50000 100000\n"}}, 1},
        {"4:cpu,cpuacct:/x\n0::/x\n",
         {{"cpu/x/cpu.cfs_quota_us", "250000\n"}, {"cpu/x/cpu.cfs_period_us", "100000\n"}},
         3},
        {"4:cpu:/x\n",
         {{"cpu/x/cpu.cfs_quota_us", "-1\n"}, {"cpu/x/cpu.cfs_period_us", "100000\n"}},
         UINT_MAX},
        {"4:cpuset:/x\n",
         {{"cpu/x/cpu.cfs_quota_us", "250000\n"}, {"cpu/x/cpu.cfs_period_us", "100000\n"}},
         UINT_MAX},
        {"0::/\n", {{"cpu.max", "100000 0\n"}}, UINT_MAX},
        {"garbage\n::\n", {{"cpu.max", "garbage\n"}}, UINT_MAX},
    };
    for (size_t i = 0; i < LEAT_ARRAY_LEN(rows); i++) {
        char root[] = "/tmp/leat-io-XXXXXX", self[64];
        LEAT_CHECK(mkdtemp(root) != NULL);
        put(root, "self", rows[i].self);
        for (size_t k = 0; k < 3 && rows[i].files[k][0] != NULL; k++) {
            put(root, rows[i].files[k][0], rows[i].files[k][1]);
        }
        (void)snprintf(self, sizeof(self), "%s/self", root);
        LEAT_CHECK_ROW(i, leat__cpu_quota(self, root) == rows[i].expected);
        (void)nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    }
    LEAT_CHECK_INT(leat__cpu_quota("/nonexistent", "/nonexistent"), UINT_MAX);
}

static void cpu_count__one_cpu_allowed__is_one(void)
{
    cpu_set_t before, one;
    LEAT_CHECK_INT(sched_getaffinity(0, sizeof(before), &before), 0);
    LEAT_CHECK(leat_cpu_count() >= 1 && leat_cpu_count() <= (unsigned)CPU_COUNT(&before));
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &before)) {
            CPU_SET(i, &one);
            break;
        }
    }
    LEAT_CHECK_INT(sched_setaffinity(0, sizeof(one), &one), 0);
    LEAT_CHECK_INT(leat_cpu_count(), 1);
    LEAT_CHECK_INT(sched_setaffinity(0, sizeof(before), &before), 0);
}

static bool has(const struct leat_addr *list, size_t count, const char *ip)
{
    struct leat_addr wanted = addr_of(ip, 0);
    for (size_t i = 0; i < count; i++) {
        if (leat_addr_equal(&list[i], &wanted)) {
            return true;
        }
    }
    return false;
}

static void list_in_namespace(void)
{
    LEAT_CHECK(set_lo("lo:3", 0xa9fe0101)); /* 169.254.1.1 */
    LEAT_CHECK(set_lo("lo:4", 0x7f000005));
    bool has_v6 = add_lo_v6("fd00::1") && add_lo_v6("fe80::1");
    struct leat_addr list[16];
    size_t count = leat_interface_addrs(list, LEAT_ARRAY_LEN(list));
    LEAT_CHECK_INT(count, has_v6 ? 4 : 3);
    LEAT_CHECK(has(list, count, "127.0.0.1"));
    LEAT_CHECK(has(list, count, "10.9.0.1"));
    LEAT_CHECK(has(list, count, "10.9.0.2"));
    LEAT_CHECK(!has_v6 || has(list, count, "fd00::1"));
    LEAT_CHECK_INT(leat_interface_addrs(list, 2), 2);
}

static void interface_addrs__mixed__usable_ones_once(void)
{
    in_namespace(list_in_namespace);
}

LEAT_TESTS(LEAT_TEST(cpu_quota__trees_of_both_versions__smallest_rounded_up),
           LEAT_TEST(cpu_count__one_cpu_allowed__is_one),
           LEAT_TEST(interface_addrs__mixed__usable_ones_once))
