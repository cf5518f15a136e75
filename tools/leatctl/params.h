/* SPDX-License-Identifier: MIT */
/**
 * @file  `to.peer=b to.mid=1 paused=true` as a JSON object.
 * @module leatctl
 */
#ifndef LEAT_CTL_PARAMS_H
#define LEAT_CTL_PARAMS_H

#include <leat/json.h>

#define LEAT_CTL_NODES_MAX 512
#define LEAT_CTL_WHY_MAX 256

struct leat_ctl_node {
    char *key;
    char *json; /**< a value; NULL for an object */
    struct leat_ctl_node *first, *next;
};

/** An ordered tree; dots in keys make objects. */
struct leat_ctl_params {
    struct leat_ctl_node nodes[LEAT_CTL_NODES_MAX]; /**< [0] is the root */
    size_t count;
};

void leat_ctl_params_init(struct leat_ctl_params *p);
void leat_ctl_params_deinit(struct leat_ctl_params *p);

/**
 * One `key=value`. A value is JSON where it parses as JSON, else a string; of keys that name things
 * (id, peer, mid, group, ...) it is a string always, so that mid=1 is "1"; peers and types take a
 * list, a,b. `@FILE` is the text of a file, `@-` of the standard input.
 *
 * @param below  object that the key is put into ("filter"), NULL for the root
 * @return 0, or an error with a sentence in `why`
 */
int leat_ctl_params_add(struct leat_ctl_params *p, const char *argument, const char *below,
                        char why[static LEAT_CTL_WHY_MAX]);
bool leat_ctl_params_has(const struct leat_ctl_params *p, const char *key);
/** The whole object. */
void leat_ctl_params_write(const struct leat_ctl_params *p, struct leat_json_writer *w);

#endif
