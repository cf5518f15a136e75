/* SPDX-License-Identifier: MIT */
/* Requests and addresses of the test's own making. */
#include <stdlib.h>

#include "world_private.h"

struct leat_addr world_address(uint8_t last, uint16_t port)
{
    const uint8_t ip[4] = {203, 0, 113, last};
    return leat_addr_v4(ip, port);
}

struct leat_tuple world_from(struct leat_addr remote)
{
    static const uint8_t server_ip[4] = {192, 0, 2, 1};
    return (struct leat_tuple){leat_addr_v4(server_ip, 3478), remote};
}

struct world_check world_check_of(const struct world_client *c)
{
    return (struct world_check){.server_ufrag = c->server.ufrag,
                                .client_ufrag = c->client.params.local.ufrag,
                                .pwd = c->server.pwd,
                                .priority = 1};
}

void world_inject_check(struct world *w, const struct world_check *check, struct leat_addr from)
{
    uint8_t request[640], tid[LEAT_STUN_TID_LEN];
    struct leat_writer writer;
    struct leat_hmac_sha1 key;
    leat_rng_fill(&w->rng, tid, sizeof tid);
    leat_hmac_sha1_init(&key, check->pwd, strlen(check->pwd));
    leat_writer_init(&writer, request, sizeof request);
    leat_stun_begin(&writer, LEAT_STUN_REQUEST, 1, tid);
    leat_stun_add_username(&writer, leat_span_str(check->server_ufrag),
                           leat_span_str(check->client_ufrag));
    leat_stun_add_u64(
        &writer,
        check->is_controlled ? LEAT_STUN_ATTR_ICE_CONTROLLED : LEAT_STUN_ATTR_ICE_CONTROLLING, 1);
    if (!check->is_plain) {
        leat_stun_add_flag(&writer, LEAT_STUN_ATTR_USE_CANDIDATE);
    }
    leat_stun_add_u32(&writer, LEAT_STUN_ATTR_PRIORITY, check->priority);
    size_t len = leat_stun_end(&writer, check->has_no_integrity ? NULL : &key);
    leat_hmac_sha1_deinit(&key);
    if (len == 0) {
        abort();
    }
    struct leat_tuple tuple = world_from(from);
    world_inject(w, request, len, &tuple);
}
