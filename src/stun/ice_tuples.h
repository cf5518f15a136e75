/* SPDX-License-Identifier: MIT */
/* The table of valid tuples inside struct leat_ice. */
#ifndef LEAT_STUN_ICE_TUPLES_H
#define LEAT_STUN_ICE_TUPLES_H

#include <leat/ice.h>

/** @return its index, -1 when it is not valid. */
int leat__ice_find_tuple(const struct leat_ice *ice, const struct leat_tuple *tuple);
/** Add a tuple that is not there yet, zeroed but for its addresses. When the table is full it takes
 * the place of the oldest-checked one that is not selected. @return its index. */
int leat__ice_add_tuple(struct leat_ice *ice, const struct leat_tuple *tuple,
                        struct leat_ice_change *change);
/** Forget a generation and wipe its key. */
void leat__ice_drop_generation(struct leat_ice_generation *g);

#endif
