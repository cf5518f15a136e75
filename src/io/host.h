/* SPDX-License-Identifier: MIT */
/* Parts of host.c that tests reach with files of their own. */
#ifndef LEAT__IO_HOST_H
#define LEAT__IO_HOST_H

#include <limits.h>

/**
 * The smallest CPU quota of the control groups named in `self_cgroup` (as /proc/self/cgroup) and of
 * their parents, under the mount `root` (as /sys/fs/cgroup), rounded up to whole CPUs; UINT_MAX
 * without one.
 */
unsigned leat__cpu_quota(const char *self_cgroup, const char *root);

#endif
