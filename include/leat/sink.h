/* SPDX-License-Identifier: MIT */
/**
 * @file  Where pure code puts the datagrams it wants sent: reserve room, fill it, commit it to a
 * tuple.
 * @module base
 *
 * io implements it over a send batch, tests over an array. A room stays good until LEAT_SINK_OPEN
 * further ones were reserved, so that as many datagrams can be made side by side; one that is not
 * committed by then is void. A commit never fails from the caller's view: what the system refuses
 * is counted by the owner.
 */
#ifndef LEAT_SINK_H
#define LEAT_SINK_H

#include <leat/addr.h>

#define LEAT_SINK_OPEN 64 /**< rooms that may be open at a time */

/** A datagram of a burst, as it came. */
struct leat_datagram {
    uint8_t
        *data; /**< may be changed in place by whoever it is handed to, until the call returns */
    size_t len;
    struct leat_tuple tuple;
};

struct leat_sink {
    /** @return at least `len` octets of room, or NULL when the sink is full (the datagram is then
     * dropped, counted). */
    uint8_t *(*reserve)(struct leat_sink *sink, size_t len);
    /** Send the first `len` octets of the last reservation from tuple->local to tuple->remote. */
    void (*commit)(struct leat_sink *sink, size_t len, const struct leat_tuple *tuple);
    /** The same for any open room, once. */
    void (*commit_room)(struct leat_sink *sink, uint8_t *room, size_t len,
                        const struct leat_tuple *tuple);
};

/** What a worker's sockets did; io counts, statistics show. */
struct leat_udp_counters {
    uint64_t datagrams_in, octets_in, datagrams_out, octets_out;
    uint64_t truncated;    /**< longer than LEAT_UDP_MTU_MAX */
    uint64_t kernel_drops; /**< SO_RXQ_OVFL */
    uint64_t receive_errors;
    uint64_t send_again;     /**< socket buffer full: dropped */
    uint64_t send_errors;    /**< any other errno, of one destination each */
    uint64_t send_no_socket; /**< no socket of the set has that local address */
    uint64_t batch_full;     /**< reserve of more than LEAT_UDP_MTU_MAX, or of a closed set */
    uint64_t receive_calls, send_calls;
    uint64_t gso_messages, gso_datagrams; /**< runs sent as one message, and what was in them */
    uint64_t gso_refused;                 /**< runs that the kernel or the device did not take */
};

/** How busy a worker's loop is; io measures, statistics show. A turn is what runs between two
 * waits. */
struct leat_loop_load {
    uint64_t turns, busy_us;
    uint64_t longest_us;        /**< turn, since the start */
    uint64_t longest_recent_us; /**< of the last 10 to 20 s */
};

#endif
