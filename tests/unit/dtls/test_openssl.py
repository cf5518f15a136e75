#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Handshakes with OpenSSL's command line tool: its exported keying material must be ours, and data must come back.

Usage: test_openssl.py PROGRAM VECTORS, where PROGRAM is dtls_udp. Prints `N passed, N failed`. LEAT_BACKEND in the
environment chooses the library on our side.
"""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

PROGRAM, VECTORS = sys.argv[1], sys.argv[2]
OPENSSL = shutil.which("openssl")
SRTP = ["-use_srtp", "SRTP_AES128_CM_SHA1_80", "-keymatexport", "EXTRACTOR-dtls_srtp", "-keymatexportlen", "60"]
GCM = {"AEAD_AES_128_GCM": 56, "AEAD_AES_256_GCM": 88}  # octets of keying material
CLOSED, FINGERPRINT, NO_CERT, NO_PROFILE = 1, 2, 3, 4  # enum leat_dtls_end


class Lines:
    """A process whose output is read line by line in the background."""

    def __init__(self, command, **environment):
        self.text = ""
        self.process = subprocess.Popen(command, env={**os.environ, **environment}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, bufsize=1, errors="replace")
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.text += line

    def wait(self, pattern, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = re.search(pattern, self.text, re.MULTILINE)
            if found:
                return found[1]
            time.sleep(0.01)
        raise AssertionError(f"no {pattern!r} in:\n{self.text}")

    def write(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def stop(self):
        self.process.kill()
        self.process.wait()


def sections():
    out = {}
    with open(os.path.join(VECTORS, "dtls_identities.txt"), encoding="ascii") as file:
        for line in file:
            name = re.match(r"== ([a-z0-9-]+)$", line)
            if name:
                text = out[name[1]] = []
            elif out:
                text.append(line)
    return {name: "".join(lines) for name, lines in out.items()}


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def exported(tool):
    return tool.wait(r"Keying material: ([0-9A-F]+)").lower()


class Relay:
    """Datagrams between one client and a server, but for the first `count` of the server's that begin so."""

    def __init__(self, port, start, count):
        self.server, self.start, self.count, self.lost = ("127.0.0.1", port), start, count, []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        client = None
        while True:
            data, sender = self.socket.recvfrom(4096)
            if sender != self.server:
                client = sender
                self.socket.sendto(data, self.server)
            elif data.startswith(self.start) and len(self.lost) < self.count:
                self.lost.append(data)
            else:
                self.socket.sendto(data, client)


def as_client(files, kind, options, lost=0):
    """OpenSSL is the client. @return (ours, tool), running; our last flight is lost so often."""
    fingerprint = files["fingerprints"][kind]
    ours = Lines([PROGRAM, "server", fingerprint])
    port = ours.wait(r"^port (\d+)")
    if lost:
        port = Relay(int(port), b"\x14", lost).port  # it begins with a ChangeCipherSpec
    tool = Lines([OPENSSL, "s_client", "-dtls1_2", "-connect", f"127.0.0.1:{port}", *options])
    return ours, tool


def certificate(files, kind):
    return ["-cert", files[f"{kind}-cert"], "-key", files[f"{kind}-key"]]


def check_equal(a, b):
    if a != b:
        raise AssertionError(f"{a!r} != {b!r}")


def data_comes_back(tool):
    for text in ("some data", "more of it"):
        tool.write(text + "\n")
        tool.wait(f"({text}\n(.*\n)*{text}\n)")


def client_connects(files, kind, extra=(), lost=0):
    ours, tool = as_client(files, kind, certificate(files, kind) + SRTP + list(extra), lost)
    try:
        material = ours.wait(r"^material ([0-9a-f]+)")
        check_equal(exported(tool), material)
        check_equal(tool.wait(r"SRTP Extension negotiated, profile=(\S+)"), "SRTP_AES128_CM_SHA1_80")
        data_comes_back(tool)
        ours.write("close\n")
        check_equal(int(ours.wait(r"^ended (\d+)")), CLOSED)
        tool.process.wait(10)  # it leaves on a close_notify
    finally:
        tool.stop()
        ours.stop()


def client_closes(files):
    ours, tool = as_client(files, "ec", certificate(files, "ec") + SRTP)
    try:
        ours.wait(r"^(connected) ")
        tool.write("Q\n")
        check_equal(int(ours.wait(r"^ended (\d+)")), CLOSED)
    finally:
        tool.stop()
        ours.stop()


def client_is_refused(files, kind, options, end, alert):
    ours, tool = as_client(files, kind, options)
    try:
        check_equal(int(ours.wait(r"^ended (\d+)")), end)
        tool.wait(f"(alert number {alert})")
        if "connected" in ours.text:
            raise AssertionError(ours.text)
    finally:
        tool.stop()
        ours.stop()


def client_connects_with_gcm(files, profile):
    fingerprint = files["fingerprints"]["ec"]
    ours = Lines([PROGRAM, "server", fingerprint], LEAT_PROFILE=profile)
    tool = Lines([OPENSSL, "s_client", "-dtls1_2", "-connect", f"127.0.0.1:{ours.wait(r'^port ([0-9]+)')}",
                  *certificate(files, "ec"), *with_gcm(profile)])
    try:
        material = ours.wait(r"^material ([0-9a-f]+)")
        check_equal(exported(tool), material)
        check_equal(len(material), 2 * GCM[profile])
    finally:
        tool.stop()
        ours.stop()


def server_connects_with_gcm(files, profile):
    port = free_port()
    tool = Lines([OPENSSL, "s_server", "-dtls1_2", "-accept", f"127.0.0.1:{port}", "-verify", "1",
                  *certificate(files, "ec"), *with_gcm(profile)])
    tool.wait(r"^(ACCEPT)")
    ours = Lines([PROGRAM, "client", files["fingerprints"]["ec"], str(port)], LEAT_PROFILE=profile)
    try:
        material = ours.wait(r"^material ([0-9a-f]+)")
        check_equal(exported(tool), material)
        check_equal(len(material), 2 * GCM[profile])
    finally:
        tool.stop()
        ours.stop()


def with_gcm(profile):
    return ["-use_srtp", "SRTP_" + profile, "-keymatexport", "EXTRACTOR-dtls_srtp", "-keymatexportlen", str(GCM[profile])]


def server_connects(files, kind, extra=(), lost=0):
    port = free_port()
    tool = Lines([OPENSSL, "s_server", "-dtls1_2", "-accept", f"127.0.0.1:{port}", "-verify", "1",
                  *certificate(files, kind), *SRTP, *extra])
    ours = None
    try:
        tool.wait(r"^(ACCEPT)")
        relay = Relay(port, b"\x14", lost)
        ours = Lines([PROGRAM, "client", files["fingerprints"][kind], str(relay.port)])
        material = ours.wait(r"^material ([0-9a-f]+)")
        check_equal(exported(tool), material)
        check_equal(len(relay.lost), lost)
        data_comes_back(tool)
        ours.write("close\n")
        check_equal(int(ours.wait(r"^ended (\d+)")), CLOSED)
    finally:
        tool.stop()
        if ours:
            ours.stop()


def main():
    text = sections()
    with tempfile.TemporaryDirectory() as folder:
        files = {"fingerprints": {kind: text[f"{kind}-fingerprint"].strip() for kind in ("ec", "rsa")}}
        for name in ("ec-cert", "ec-key", "rsa-cert", "rsa-key"):
            files[name] = os.path.join(folder, name)
            with open(files[name], "w", encoding="ascii") as file:
                file.write(text[name])
        ec, rsa = certificate(files, "ec"), certificate(files, "rsa")
        no_profile = ["-use_srtp", "SRTP_AEAD_AES_128_GCM"]
        tests = {
            "client__ec__exports_our_keys": lambda: client_connects(files, "ec"),
            "client__rsa__exports_our_keys": lambda: client_connects(files, "rsa"),
            "client__aes_256_sha_384__exports_our_keys": lambda: client_connects(
                files, "ec", ["-cipher", "ECDHE-ECDSA-AES256-GCM-SHA384"]),
            "client__chacha20__exports_our_keys": lambda: client_connects(
                files, "ec", ["-cipher", "ECDHE-ECDSA-CHACHA20-POLY1305"]),
            "client__x25519_first__exports_our_keys": lambda: client_connects(
                files, "ec", ["-curves", "X25519:P-256"]),
            "client__mtu_256__exports_our_keys": lambda: client_connects(files, "rsa", ["-mtu", "256"]),
            "client__last_flight_lost_twice__connects": lambda: client_connects(files, "ec", lost=2),
            "client__quits__ends_closed": lambda: client_closes(files),
            "client__other_certificate__is_refused": lambda: client_is_refused(
                files, "ec", rsa + SRTP, FINGERPRINT, 42),
            "client__no_certificate__is_refused": lambda: client_is_refused(files, "ec", SRTP, NO_CERT, 40),
            "client__no_srtp__is_refused": lambda: client_is_refused(files, "ec", ec, NO_PROFILE, 40),
            "client__gcm_only__is_refused": lambda: client_is_refused(files, "ec", ec + no_profile, NO_PROFILE, 40),
            "server__ec__exports_our_keys": lambda: server_connects(files, "ec"),
            "server__rsa__exports_our_keys": lambda: server_connects(files, "rsa"),
            "server__aes_256_sha_384__exports_our_keys": lambda: server_connects(
                files, "ec", ["-cipher", "ECDHE-ECDSA-AES256-GCM-SHA384"]),
            "server__chacha20__exports_our_keys": lambda: server_connects(
                files, "ec", ["-cipher", "ECDHE-ECDSA-CHACHA20-POLY1305"]),
        }
        tests["server__that_asks_for_a_cookie__exports_our_keys"] = lambda: server_connects(files, "ec", ["-listen"])
        tests["server__last_flight_lost_twice__connects"] = lambda: server_connects(files, "ec", lost=2)
        if os.environ.get("LEAT_BACKEND") == "openssl":
            for profile in GCM:
                tests[f"client__{profile}__exports_our_keys"] = lambda profile=profile: client_connects_with_gcm(files, profile)
                tests[f"server__{profile}__exports_our_keys"] = lambda profile=profile: server_connects_with_gcm(files, profile)
        failed = 0
        for name, test in tests.items():
            try:
                test()
            except Exception as error:  # any failure is the test's
                failed += 1
                print(f"not ok {name}: {error}")
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
