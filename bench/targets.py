# SPDX-License-Identifier: MIT
"""The figures that the crypto layer and the handshake are to reach, as ratios of rows of one run wherever they can be."""
import rows

CM = "bench=srtp suite=AES_CM_128_HMAC_SHA1_80 octets=1200 cache=hot"
GCM = "bench=srtp suite=AEAD_AES_128_GCM octets=1200 cache=hot"
BATCH = "op=protect batch=16"
HANDSHAKE = "bench=dtls op=handshake side=server suite=ECDHE-ECDSA-AES128-GCM-SHA256/P-256"
RECORD = "bench=dtls op=record-encrypt suite=AES-128-GCM octets=1200"
OURS = "provider=auto"
STOCK = "provider=libsrtp2-stock"

# What, the filter of our row, the filter of the rows whose least figure it is divided by (None: ns), the most it may be.
TARGETS = (
    ("protect CM-SHA1-80, batch of 16, 64 sessions, over libsrtp2", f"{CM} {BATCH} sessions=64 {OURS}",
     f"{CM} {BATCH} sessions=64 {STOCK}", 1 / 16),
    ("the same over ipsec-mb's own bursts", f"{CM} {BATCH} sessions=64 {OURS}",
     f"{CM} {BATCH} sessions=64 provider=ipsecmb-raw", 1.15),
    ("protect GCM-128, batch of 16, over libsrtp2", f"{GCM} {BATCH} sessions=64 {OURS}", f"{GCM} {BATCH} sessions=64 {STOCK}", 1 / 8),
    ("protect CM-SHA1-80, single packet, over libsrtp2", f"{CM} op=protect-single sessions=64 {OURS}",
     f"{CM} op=protect-single sessions=64 {STOCK}", 1 / 4),
    ("unprotect CM-SHA1-80 over libsrtp2", f"{CM} op=unprotect sessions=64 {OURS}", f"{CM} op=unprotect sessions=64 {STOCK}", 1 / 4),
    ("unprotect GCM-128 over libsrtp2", f"{GCM} op=unprotect sessions=64 {OURS}", f"{GCM} op=unprotect sessions=64 {STOCK}", 1 / 4),
    ("protect CM-SHA1-80, batch of 16, 4096 over 64 sessions", f"{CM} {BATCH} sessions=4096 {OURS}",
     f"{CM} {BATCH} sessions=64 {OURS}", 1.3),
    ("protect GCM-128, batch of 16, 4096 over 64 sessions", f"{GCM} {BATCH} sessions=4096 {OURS}",
     f"{GCM} {BATCH} sessions=64 {OURS}", 1.3),
    ("8 random octets, ns", "bench=crypto op=random octets=8 provider=leat", None, 10),
    ("8 random octets over getrandom(2)", "bench=crypto op=random octets=8 provider=leat",
     "bench=crypto op=random octets=8 provider=getrandom", 1 / 20),
    ("HMAC of a 100-octet STUN message over mbedtls_md_hmac", f"bench=stun op=hmac-sha1 octets=100 {OURS}",
     "bench=stun op=hmac-sha1-key-per-call octets=100 provider=mbedtls-plain", 1 / 3),
    ("AES-128 mask, kept key, over OpenSSL EVP with the key set per call", f"bench=crypto op=mask suite=AES-128 {OURS}",
     "bench=crypto op=mask-key-per-call suite=AES-128 provider=openssl-plain", 1 / 3),
    ("handshake, server side, over plain mbedTLS", f"{HANDSHAKE} backend=mbedtls provider=openssl",
     f"{HANDSHAKE} provider=mbedtls-plain", 1 / 10),
    ("the same over OpenSSL", f"{HANDSHAKE} backend=mbedtls provider=openssl", f"{HANDSHAKE} provider=openssl-plain", 0.7),
    ("DTLS record encrypt GCM-128, 1200 octets, over SSL_write", f"{RECORD} {OURS}", f"{RECORD} provider=openssl-plain", 1 / 2),
    ("the same over mbedtls_ssl_write", f"{RECORD} {OURS}", f"{RECORD} provider=mbedtls-plain", 1 / 10),
)


def least(all_rows, filter_):
    found = [row["ns"] for row in all_rows if rows.matches(row, [filter_])]
    return min(found) if found else None


def show_ratio(value):
    return f"1/{1 / value:.1f}" if value <= 0.5 else f"{value:.2f}"


def show(all_rows, markdown):
    """The table; a row that was not measured says so."""
    body = []
    for name, ours, others, limit in TARGETS:
        mine = least(all_rows, ours)
        theirs = least(all_rows, others) if others else 1
        value = mine / theirs if mine is not None and theirs is not None else None
        write = show_ratio if others else rows.show_ns
        body.append([name, rows.show_ns(mine) if mine is not None else None,
                     rows.show_ns(theirs) if others and theirs is not None else None,
                     write(value) if value is not None else None, "<= " + (write(limit) if others else f"{limit}"),
                     "not measured" if value is None else "yes" if value <= limit else "no"])
    head = ["figure", "ns", "over ns", "measured", "target", "reached"]
    return rows.format_table(head, body, {"ns", "over ns", "measured", "target"}, markdown)
