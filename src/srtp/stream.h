/* SPDX-License-Identifier: MIT */
/**
 * @file  One incoming SSRC as a libsrtp2 session of its own, and the table of them.
 */
#ifndef LEAT_SRTP_STREAM_H
#define LEAT_SRTP_STREAM_H

#include <srtp2/srtp.h>

#include <leat/srtp.h>

struct leat__srtp_stream {
    srtp_t session; /**< NULL: an empty slot */
    uint32_t ssrc;
    bool has_rtp; /**< an RTP packet authenticated; SRTCP alone does not count */
};

/** Open addressing by SSRC, at most half full. Streams are never removed one by one: what was used
 * under a key stays known as long as the key. */
struct leat__srtp_table {
    struct leat__srtp_stream *slots;
    size_t capacity; /**< power of two, or 0 */
    size_t count;
};

/** A session for one SSRC under one master key. @return 0, LEAT_E_NOMEM or LEAT_E_CRYPTO. */
int leat__srtp_stream_open(struct leat__srtp_stream *out, enum leat_srtp_profile profile,
                           const struct leat_srtp_master *master, uint32_t ssrc, size_t window);
void leat__srtp_stream_close(struct leat__srtp_stream *stream);

/** @return the stream, or NULL. Valid until the next reserve. */
struct leat__srtp_stream *leat__srtp_table_get(const struct leat__srtp_table *t, uint32_t ssrc);
/** Make room for one more. @return 0 or LEAT_E_NOMEM. */
int leat__srtp_table_reserve(struct leat__srtp_table *t);
/** Take over a stream whose SSRC is not in the table; room must have been reserved. @return where
 * it is now. */
struct leat__srtp_stream *leat__srtp_table_add(struct leat__srtp_table *t,
                                               const struct leat__srtp_stream *stream);
/** Close every stream and free the table. */
void leat__srtp_table_deinit(struct leat__srtp_table *t);

#endif
