/* SPDX-License-Identifier: MIT */
/**
 * @file  The version, from the build.
 * @module daemon
 */
#ifndef LEAT_DAEMON_VERSION_H
#define LEAT_DAEMON_VERSION_H

#ifndef LEAT_VERSION
#error "LEAT_VERSION comes from meson.build"
#endif

#endif
