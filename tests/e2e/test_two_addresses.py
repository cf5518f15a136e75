#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# timeout: 60
"""Every datagram leaves from the address its tuple arrived on: a wildcard socket on a host with two addresses, checks to the second."""
import hashlib
import hmac
import os
import pathlib
import re
import socket
import struct
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "interop"))
import netns
from harness.daemon import ROOT, Daemon
from harness.program import Skip, run

OFFER = (ROOT / "tests/vectors/sdp/chromium156-default.sdp").read_text()
REMOTE_UFRAG = re.search(r"a=ice-ufrag:(\S+)", OFFER)[1]


def attribute(kind, value):
    return struct.pack("!HH", kind, len(value)) + value + bytes(-len(value) % 4)


def check(local):
    """A Binding request as a controlling agent sends it (RFC 8445 7.2.4)."""
    def header(length):
        return struct.pack("!HHI", 1, length, 0x2112A442) + tid
    tid = os.urandom(12)
    body = attribute(6, f"{local['ufrag']}:{REMOTE_UFRAG}".encode()) + attribute(0x24, struct.pack("!I", 0x6E7F1EFF))
    body += attribute(0x802A, os.urandom(8)) + attribute(0x25, b"")
    body += attribute(8, hmac.new(local["pwd"].encode(), header(len(body) + 24) + body, hashlib.sha1).digest())
    message = header(len(body) + 8) + body
    return tid, message + attribute(0x8028, struct.pack("!I", zlib.crc32(message) ^ 0x5354554E))


def wildcard__request_to_each_address__answered_from_it():
    if not netns.may_create():
        raise Skip("machine: network namespaces cannot be made here")
    with netns.Namespace("two") as inside:
        inside.ip("addr", "add", "10.78.0.9/24", "dev", "v0")
        inside.ip("addr", "add", "fd78::9/64", "dev", "v0", "nodad")
        with Daemon(inside) as leatd:
            answer = leatd.rpc.call("peer.create", id="a", offer=OFFER)["answer"]
            local = {key: re.search(rf"a=ice-{key}:(\S+)", answer)[1] for key in ("ufrag", "pwd")}
            for family, source, target in ((socket.AF_INET, "10.78.0.1", "10.78.0.9"), (socket.AF_INET, "10.78.0.1", "10.78.0.1"),
                                           (socket.AF_INET, "127.0.0.1", "127.0.0.1"), (socket.AF_INET6, "fd78::1", "fd78::9"),
                                           (socket.AF_INET6, "fd78::9", "fd78::1")):
                assert target in answer, (target, answer)
                with inside.socket(family, socket.SOCK_DGRAM) as client:
                    client.settimeout(10)
                    client.bind((source, 0))
                    tid, request = check(local)
                    client.sendto(request, (target, leatd.port))
                    reply, sender = client.recvfrom(2048)
                    assert reply[:2] == b"\x01\x01" and reply[8:20] == tid, reply.hex()
                    assert sender[:2] == (target, leatd.port), f"asked {target}, answered from {sender}"
            assert leatd.rpc.peer("a")["state"] == "connecting"


if __name__ == "__main__":
    sys.exit(run([wildcard__request_to_each_address__answered_from_it]))
