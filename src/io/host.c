/* SPDX-License-Identifier: MIT */
/*
 * What the host gives: CPUs to run on and addresses to listen on.
 *
 * A control group's quota is found by the group's path under the mount, and in each parent up to
 * the mount itself. In a container without a group namespace the path is the host's and does not
 * exist under the mount, whose root then is the container's own group: walking up finds it.
 */
#include "host.h"

#include <leat/io.h>

#include <ifaddrs.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PATH_CAP 4096
#define CPUS_MAX 8192

/** First line of a file under `dir`. */
static bool read_line(const char *dir, const char *name, char *out, int cap)
{
    char path[PATH_CAP];
    int len = snprintf(path, sizeof(path), "%s/%s", dir, name);
    if (len < 0 || (size_t)len >= sizeof(path)) {
        return false;
    }
    FILE *f = fopen(path, "re");
    if (f == NULL) {
        return false;
    }
    bool ok = fgets(out, cap, f) != NULL;
    (void)fclose(f);
    return ok;
}

static unsigned whole_cpus(int64_t quota_us, int64_t period_us)
{
    if (quota_us <= 0 || period_us <= 0 || quota_us / period_us >= CPUS_MAX) {
        return UINT_MAX;
    }
    return (unsigned)(quota_us / period_us) + (quota_us % period_us != 0);
}

/** "50000 100000" or "max 100000". */
static unsigned quota_v2(const char *dir)
{
    char line[64];
    int64_t quota_us, period_us;
    if (!read_line(dir, "cpu.max", line, sizeof(line)) ||
        sscanf(line, "%" SCNd64 " %" SCNd64, &quota_us, &period_us) != 2) {
        return UINT_MAX;
    }
    return whole_cpus(quota_us, period_us);
}

/** Two files; the quota is -1 without a limit. */
static unsigned quota_v1(const char *dir)
{
    char quota[64], period[64];
    if (!read_line(dir, "cpu.cfs_quota_us", quota, sizeof(quota)) ||
        !read_line(dir, "cpu.cfs_period_us", period, sizeof(period))) {
        return UINT_MAX;
    }
    return whole_cpus(strtoll(quota, NULL, 10), strtoll(period, NULL, 10));
}

/** The smallest quota of root/controller/path and its parents. `path` is "/a/b" or "/" and is cut
 * down. */
static unsigned smallest_quota(const char *root, const char *controller, char *path,
                               unsigned (*quota)(const char *dir))
{
    unsigned smallest = UINT_MAX;
    for (;;) {
        char dir[PATH_CAP];
        int len = snprintf(dir, sizeof(dir), "%s%s%s", root, controller, path);
        if (len > 0 && (size_t)len < sizeof(dir)) {
            unsigned here = quota(dir);
            smallest = here < smallest ? here : smallest;
        }
        char *slash = strrchr(path, '/');
        if (slash == NULL) {
            return smallest;
        }
        *slash = '\0';
    }
}

/** Whether a list such as "cpu,cpuacct" has the cpu controller. */
static bool has_cpu(const char *controllers)
{
    for (const char *at = controllers; *at != '\0';) {
        size_t len = strcspn(at, ",");
        if (len == 3 && memcmp(at, "cpu", 3) == 0) {
            return true;
        }
        at += len + (at[len] == ',');
    }
    return false;
}

/** One line "4:cpu,cpuacct:/path" or "0::/path". */
static unsigned quota_of_line(char *line, const char *root)
{
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (path == NULL) {
        return UINT_MAX;
    }
    *path++ = '\0';
    controllers++;
    if (*controllers == '\0') {
        return smallest_quota(root, "", path, quota_v2);
    }
    return has_cpu(controllers) ? smallest_quota(root, "/cpu", path, quota_v1) : UINT_MAX;
}

unsigned leat__cpu_quota(const char *self_cgroup, const char *root)
{
    FILE *f = fopen(self_cgroup, "re");
    if (f == NULL) {
        return UINT_MAX;
    }
    unsigned smallest = UINT_MAX;
    char line[PATH_CAP];
    while (fgets(line, sizeof(line), f) != NULL) {
        unsigned here = quota_of_line(line, root);
        smallest = here < smallest ? here : smallest;
    }
    (void)fclose(f);
    return smallest;
}

static unsigned affinity_count(void)
{
    cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
    size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
    int count = 0;
    if (set != NULL && sched_getaffinity(0, size, set) == 0) {
        count = CPU_COUNT_S(size, set);
    }
    CPU_FREE(set);
    return count > 0 ? (unsigned)count : 1;
}

unsigned leat_cpu_count(void)
{
    unsigned affinity = affinity_count();
    unsigned quota = leat__cpu_quota("/proc/self/cgroup", "/sys/fs/cgroup");
    return quota < affinity ? quota : affinity;
}

/** The address of an interface in our form; family NONE when it is of another kind or not to be
 * listened on. */
static struct leat_addr usable_addr(const struct ifaddrs *i)
{
    struct leat_addr a = {0};
    if (i->ifa_addr == NULL || (i->ifa_flags & IFF_UP) == 0) {
        return a;
    }
    if (i->ifa_addr->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, i->ifa_addr, sizeof(v4));
        uint8_t ip[4];
        memcpy(ip, &v4.sin_addr, 4);
        a = leat_addr_v4(ip, 0);
    } else if (i->ifa_addr->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, i->ifa_addr, sizeof(v6));
        a = leat_addr_v6(v6.sin6_addr.s6_addr, 0, v6.sin6_scope_id);
    }
    static const uint8_t localhost[4] = {127, 0, 0, 1};
    bool is_other_loopback = leat_addr_is_loopback(&a) &&
                             (a.family != LEAT_FAMILY_V4 || memcmp(a.ip, localhost, 4) != 0);
    if (is_other_loopback || leat_addr_is_link_local(&a)) {
        a = (struct leat_addr){0};
    }
    return a;
}

size_t leat_interface_addrs(struct leat_addr *out, size_t cap)
{
    struct ifaddrs *list;
    if (getifaddrs(&list) != 0) {
        return 0;
    }
    size_t count = 0;
    for (const struct ifaddrs *i = list; i != NULL && count < cap; i = i->ifa_next) {
        struct leat_addr a = usable_addr(i);
        bool is_new = a.family != LEAT_FAMILY_NONE;
        for (size_t k = 0; k < count; k++) {
            is_new = is_new && !leat_addr_equal(&out[k], &a);
        }
        if (is_new) {
            out[count++] = a;
        }
    }
    freeifaddrs(list);
    return count;
}
