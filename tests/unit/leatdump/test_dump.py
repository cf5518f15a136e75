#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""leatdump on captured datagrams, on pcap files made here, and on what is broken.

Usage: test_dump.py PROGRAM VECTORS. The expected lines in VECTORS were checked by eye against the values that the
packets were made from, and against the notes taken with the captures. Prints `N passed, N failed`.
"""
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import traceback

PROGRAM, VECTORS = sys.argv[1], pathlib.Path(sys.argv[2])
ENV = {**os.environ, "ASAN_OPTIONS": "detect_stack_use_after_return=1"}


def dump(*arguments, stdin=b""):
    """(status, output lines, errors)."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV)
    return done.returncode, done.stdout.decode().splitlines(), done.stderr.decode()


def dump_json(octets):
    status, lines, errors = dump("--json", "-", stdin=octets.hex().encode())
    assert status == 0 and len(lines) == 1, (status, lines, errors)
    return json.loads(lines[0])


def vectors(name):
    lines = (VECTORS / name).read_text().splitlines()
    return [bytes.fromhex(line) for line in lines if not line.startswith("#")]


def has(object_, **wanted):
    for key, value in wanted.items():
        assert object_.get(key) == value, f"{key} is {object_.get(key)!r}, expected {value!r} in {object_}"


# ---- known datagrams ----

def text_is_as_expected(name):
    status, lines, errors = dump(VECTORS / f"{name}.hex")
    expected = (VECTORS / f"{name}.txt").read_text().splitlines()
    assert status == 0 and not errors, (status, errors)
    for got, want in zip(lines, expected):
        assert got == want, f"\nis       {got}\nexpected {want}"
    assert len(lines) == len(expected)


def attributes(message):
    return {a["name"]: a["value"] for a in message["attributes"]}


def stun_of_chromium_has_the_noted_values():
    request, reply = vectors("first_flights.hex")[4:6]
    message = dump_json(request)
    has(message, **{"class": "stun", "octets": 96, "method": "Binding", "kind": "request"})
    has(attributes(message), **{"USERNAME": "srvU:733B", "GOOG-NETWORK-INFO": "00010000", "PRIORITY": 0x6e7f1eff,
                                "ICE-CONTROLLING": "efafda610f4f9b56"})
    assert [a["name"] for a in message["attributes"]] == [
        "USERNAME", "GOOG-NETWORK-INFO", "ICE-CONTROLLING", "PRIORITY", "MESSAGE-INTEGRITY", "FINGERPRINT"]
    assert "fault" not in message
    message = dump_json(reply)
    has(message, kind="success", tid=request[8:20].hex())
    port, address = struct.unpack("!HI", reply[26:32])  # after type, length, 0, family
    address ^= 0x2112A442
    text = ".".join(str(address >> shift & 255) for shift in (24, 16, 8, 0))
    has(attributes(message), **{"XOR-MAPPED-ADDRESS": f"{text}:{port ^ 0x2112}"})


def hello_in_two_datagrams_has_the_noted_fragments():
    first, second = vectors("first_flights.hex")[6:8]
    for octets, seq, offset, length in ((first, 0, 0, 1175), (second, 1, 1175, 238)):
        record, = dump_json(octets)["records"]
        has(record, record="handshake", version="1.0", epoch=0, seq=seq, len=length + 12)
        message, = record["messages"]
        has(message, message="client_hello", mseq=0, total=1413, offset=offset, len=length)


def stun_with_a_wrong_fingerprint_says_so():
    request = bytearray(vectors("first_flights.hex")[0])
    request[-1] ^= 1
    has(dump_json(bytes(request)), fault="wrong FINGERPRINT")


def stun_with_an_ipv6_address_and_an_error():
    cookie_and_tid = bytes.fromhex("2112a442") + bytes(range(12))
    address = bytes.fromhex("20010db8000000000000000000000001")
    xored = bytes(a ^ b for a, b in zip(address, cookie_and_tid))
    body = (struct.pack("!HHBBH", 0x20, 20, 0, 2, 5000 ^ 0x2112) + xored + struct.pack("!HHHBB", 9, 12, 0, 4, 20) + b"Unknown\0"
            + struct.pack("!HHHH", 0x0A, 4, 0x24, 0x7777))
    message = dump_json(struct.pack("!HH", 0x0111, len(body)) + cookie_and_tid + body)
    has(message, kind="error")
    has(attributes(message), **{"XOR-MAPPED-ADDRESS": "[2001:db8::1]:5000", "ERROR-CODE": "420 Unknown",
                                "UNKNOWN-ATTRIBUTES": "0024,7777"})


def controls_in_text_are_escaped():
    username = b'a"\x1b[31m\\\xff:'
    body = struct.pack("!HH", 6, len(username)) + username + bytes(-len(username) % 4)
    packet = struct.pack("!HHI12s", 1, len(body), 0x2112A442, b"") + body
    has(attributes(dump_json(packet)), USERNAME='a"\x1b[31m\\\u00ff:')
    _, lines, _ = dump("-", stdin=packet.hex().encode())
    assert 'USERNAME=a"\\x1b[31m\\\\\\xff:' in lines[0], lines[0]


def plaintext_alert_has_its_name():
    record, = dump_json(bytes.fromhex("15fefd000000000000000500020228"))["records"]
    has(record, record="alert", level="fatal", alert="handshake_failure", seq=5)


def dtls13_header_is_told_apart():
    record, = dump_json(bytes.fromhex("2f0001") + bytes(40))["records"]
    has(record, record="unified_header", version="1.3", encrypted=True)


def rtp_with_encrypted_padding_is_read():
    message = dump_json(bytes.fromhex("b0600001 00000002 00000003 bede0001 3061ffff") + b"\xff" * 30)
    has(message, pt=96, seq=1, padding=True, payload=30)
    assert message["extensions"] == [{"ext": 3, "value": "61"}], message


def rtcp_that_walks_by_chance_is_encrypted():
    """An RR and a GCM trailer of 20 octets: lengths fit, but 5 is no RTCP packet type."""
    message = dump_json(bytes.fromhex("80c90001 00000007 80050004") + bytes(16))
    has(message, encrypted=True, first="RR", ssrc=7)
    assert "packets" not in message


# ---- pcap files ----

FROM, TO = ("192.0.2.1", 5000), ("198.51.100.7", 3478)


def ipv4(payload, protocol=17, fragment=0, options=b""):
    udp = struct.pack("!HHHH", FROM[1], TO[1], 8 + len(payload), 0) + payload
    head = struct.pack("!BBHHHBBH4s4s", 0x45 + len(options) // 4, 0, 20 + len(options) + len(udp), 1, fragment, 64, protocol, 0,
                       bytes(map(int, FROM[0].split("."))), bytes(map(int, TO[0].split("."))))
    return head + options + udp


def ipv6(payload, chain=()):
    udp = struct.pack("!HHHH", 1, 2, 8 + len(payload), 0) + payload
    kinds = [kind for kind, _ in chain] + [17]
    headers = b"".join(bytes([kinds[i + 1]]) + rest for i, (_, rest) in enumerate(chain))
    addresses = bytes.fromhex("20010db8" + "00" * 11 + "01" + "20010db8" + "00" * 11 + "02")
    return struct.pack("!IHBB", 6 << 28, len(headers) + len(udp), kinds[0], 64) + addresses + headers + udp


def pcap(link, frames, order="<", magic=0xA1B2C3D4, cut=0):
    out = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, link)
    for i, frame in enumerate(frames):
        out += struct.pack(order + "IIII", 1700000000 + i, 250000, len(frame) - cut, len(frame)) + frame[:len(frame) - cut]
    return out


def dump_pcap(octets, *flags):
    with tempfile.NamedTemporaryFile(suffix=".pcap") as file:
        file.write(octets)
        file.flush()
        return dump(*flags, file.name)


ETHER = bytes(12)
LINKS = {
    "null": (0, struct.pack("<I", 2), ipv4), "ethernet": (1, ETHER + b"\x08\x00", ipv4),
    "vlan": (1, ETHER + bytes.fromhex("810000050800"), ipv4), "qinq": (1, ETHER + bytes.fromhex("88a8000581000006" + "0800"), ipv4),
    "raw": (101, b"", ipv4), "loop": (108, struct.pack("!I", 2), ipv4), "sll": (113, bytes(14) + b"\x08\x00", ipv4),
    "sll2": (276, b"\x08\x00" + bytes(18), ipv4), "ipv4": (228, b"", ipv4),
    "ipv4 options": (101, b"", lambda p: ipv4(p, options=bytes(8))),
    "ethernet v6": (1, ETHER + b"\x86\xdd", ipv6), "ipv6": (229, b"", ipv6), "sll2 v6": (276, b"\x86\xdd" + bytes(18), ipv6),
    "ipv6 headers": (101, b"", lambda p: ipv6(p, [(0, bytes(7)), (43, b"\x01" + b"\xff" * 14), (60, bytes(7)), (44, bytes(7))])),
}


def every_link_type_gives_the_datagram():
    octets = vectors("rtp_aiortc.hex")[0]
    for name, (link, head, ip) in LINKS.items():
        status, lines, errors = dump_pcap(pcap(link, [head + ip(octets)]), "--json")
        assert status == 0 and len(lines) == 1, (name, status, errors)
        got = json.loads(lines[0])
        has(got, **{"class": "rtp", "octets": len(octets), "pt": 111, "seq": 65535})
        has(got, **({"from": "192.0.2.1:5000", "to": "198.51.100.7:3478"} if ip is not ipv6 and "6" not in name
                    else {"from": "[2001:db8::1]:1", "to": "[2001:db8::2]:2"}))


def every_octet_order_and_unit_gives_the_time():
    frame = ipv4(vectors("rtp_aiortc.hex")[1])
    for order in "<>":
        for magic, time in ((0xA1B2C3D4, "1700000000.250000000"), (0xA1B23C4D, "1700000000.000250000")):
            status, lines, _ = dump_pcap(pcap(101, [frame, frame], order, magic), "--json")
            assert status == 0 and re.match(rf'{{"time":{re.escape(time)},', lines[0]), lines
        status, lines, _ = dump_pcap(pcap(101, [frame, frame], order))
        assert [line.split()[0] for line in lines] == ["0.000000", "1.000000"], lines


def frames_without_udp_are_skipped_and_told():
    octets = vectors("rtp_aiortc.hex")[0]
    frames = [b"", b"\x45", ipv4(octets, protocol=6), ipv4(octets, fragment=100), ipv4(octets), ipv6(octets, [(44, b"\0\0\x08" + bytes(4))]),
              ipv6(octets, [(6, bytes(7))]), b"\x00" * 60]
    status, lines, errors = dump_pcap(pcap(101, frames))
    assert status == 0 and len(lines) == 1 and "7 frames without a UDP datagram" in errors, (lines, errors)


def datagram_cut_by_the_capture_says_so():
    status, lines, _ = dump_pcap(pcap(101, [ipv4(vectors("first_flights.hex")[6])], cut=1000), "--json")
    assert status == 0
    has(json.loads(lines[0]), capture="cut off", octets=200)


def unreadable_files_are_refused():
    good = pcap(101, [ipv4(b"\x80" * 20)])
    cases = {"pcapng": (b"\x0a\x0d\x0d\x0a" + bytes(60), "editcap"), "link type": (pcap(147, []), "link type 147"),
             "half a header": (good[:20], "pcap header"), "half a frame": (good[:-5], "frame 1"),
             "giant frame": (good[:32] + b"\xff" * 4 + good[36:], "frame 1")}
    for name, (octets, word) in cases.items():
        status, _, errors = dump_pcap(octets)
        assert status == 1 and word in errors, (name, status, errors)
    assert dump("/nonexistent/file")[0] == 1


def wrong_calls_are_status_2():
    assert dump()[0] == 2 and dump("--nope")[0] == 2
    assert dump("--help")[0] == 0


def bad_line_is_told_and_the_rest_goes_on():
    octets = vectors("rtp_aiortc.hex")[0].hex()
    spaced = " ".join(re.findall("..", octets)).upper()
    status, lines, errors = dump("-", stdin=f"\n# text\nxyz\nabc\n{spaced} # end\r\n{'ab' * 300000}\n{octets}".encode())
    assert status == 1 and len(lines) == 2 and lines[0].split(" ", 1)[1] == lines[1].split(" ", 1)[1], lines
    assert all(f"line {n} " in errors for n in (3, 4, 6)), errors


# ---- anything ----

def feed(packets):
    """Many at once; none may end the program."""
    for flags in ((), ("--json",)):
        status, lines, errors = dump(*flags, "-", stdin="\n".join(p.hex() for p in packets if p).encode())
        assert status == 0 and not errors, (status, errors[-2000:])
        assert len(lines) == sum(1 for p in packets if p)
        for line in lines if flags else []:
            json.loads(line)


def all_vectors():
    return [p for name in ("first_flights", "dtls_openssl", "rtp_aiortc") for p in vectors(f"{name}.hex")]


def prefixes_of_everything_are_survived():
    feed([p[:n] for p in all_vectors() for n in range(min(len(p), 160))])


def flipped_octets_are_survived():
    rng, packets = random.Random(1), []
    for packet in all_vectors():
        for _ in range(60):
            octets = bytearray(packet)
            for _ in range(rng.randrange(1, 5)):
                octets[rng.randrange(min(len(octets), 80))] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
            packets.append(bytes(octets))
    feed(packets)


def noise_is_survived():
    rng = random.Random(2)
    feed([bytes([first]) + rng.randbytes(rng.randrange(0, 90)) for first in range(256) for _ in range(12)])


def broken_frames_are_survived():
    rng = random.Random(3)
    for link, head, ip in LINKS.values():
        frames = []
        for _ in range(200):
            frame = bytearray(head + ip(b"\x80" * 30))
            for _ in range(3):
                frame[rng.randrange(len(frame))] = rng.randrange(256)
            frames.append(bytes(frame[:rng.randrange(len(frame) + 1)]))
        status, _, errors = dump_pcap(pcap(link, frames))
        assert status == 0 and "ERROR" not in errors, errors


TESTS = {
    "text__first_flights__is_as_expected": lambda: text_is_as_expected("first_flights"),
    "text__dtls_handshake__is_as_expected": lambda: text_is_as_expected("dtls_openssl"),
    "text__rtp_and_rtcp__is_as_expected": lambda: text_is_as_expected("rtp_aiortc"),
    "stun__chromium__has_the_noted_values": stun_of_chromium_has_the_noted_values,
    "stun__wrong_fingerprint__is_told": stun_with_a_wrong_fingerprint_says_so,
    "stun__ipv6_and_error__are_read": stun_with_an_ipv6_address_and_an_error,
    "stun__controls_in_text__are_escaped": controls_in_text_are_escaped,
    "dtls__hello_in_two_datagrams__has_the_noted_fragments": hello_in_two_datagrams_has_the_noted_fragments,
    "dtls__plaintext_alert__has_its_name": plaintext_alert_has_its_name,
    "dtls__unified_header__is_told_apart": dtls13_header_is_told_apart,
    "rtp__encrypted_padding__is_read": rtp_with_encrypted_padding_is_read,
    "rtcp__that_walks_by_chance__is_encrypted": rtcp_that_walks_by_chance_is_encrypted,
    "pcap__every_link_type__gives_the_datagram": every_link_type_gives_the_datagram,
    "pcap__octet_orders_and_units__give_the_time": every_octet_order_and_unit_gives_the_time,
    "pcap__frames_without_udp__are_skipped": frames_without_udp_are_skipped_and_told,
    "pcap__cut_datagram__is_told": datagram_cut_by_the_capture_says_so,
    "files__unreadable__are_refused": unreadable_files_are_refused,
    "arguments__wrong__are_status_2": wrong_calls_are_status_2,
    "hex__bad_line__the_rest_goes_on": bad_line_is_told_and_the_rest_goes_on,
    "anything__prefixes__are_survived": prefixes_of_everything_are_survived,
    "anything__flipped_octets__are_survived": flipped_octets_are_survived,
    "anything__noise__is_survived": noise_is_survived,
    "anything__broken_frames__are_survived": broken_frames_are_survived,
}


def main():
    failed = 0
    for name, test in TESTS.items():
        try:
            test()
        except Exception:  # any failure is the test's
            failed += 1
            print(f"not ok {name}\n{traceback.format_exc()}")
    print(f"{len(TESTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
