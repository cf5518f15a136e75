/* SPDX-License-Identifier: MIT */
/**
 * @file  The daemon as a whole: the control thread, its socket, the workers, and how all of it
 * starts and ends.
 * @module daemon
 */
#ifndef LEAT_DAEMON_NODE_H
#define LEAT_DAEMON_NODE_H

#include "config.h"

/** Run until told to stop. @return the process's exit status; a failed start prints its reason on
 * stderr. */
int leat_node_run(const struct leat_config *config);
/** Choose the crypto providers as configured. @return 0 or an error with one sentence in `why`. */
int leat_node_start_crypto(const struct leat_config *config, char *why, size_t why_cap);
/** Read or make the certificate as the configuration says. @return 0 or an error with one sentence
 * in `why`. */
int leat_node_check_identity(const struct leat_config *config, char *why, size_t why_cap);

#endif
