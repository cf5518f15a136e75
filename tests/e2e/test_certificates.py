#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# timeout: 180
"""leatd's certificate: what is wrong with one is said, and SIGHUP takes a new one for peers to come."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "interop"))
from harness.daemon import LEATD, ROOT, Daemon
from harness.program import run, until

LEATLOAD = pathlib.Path(LEATD).parents[2] / "tools/leatload/leatload"
OFFER = (ROOT / "tests/vectors/sdp/chromium156-default.sdp").read_text()
FINGERPRINT = re.compile(r"^a=fingerprint:sha-256 (\S+)\r$", re.M)


class Pair:
    """A certificate's file and its key's, in a folder of their own."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.certificate, self.key = self.folder / "cert.pem", self.folder / "key.pem"
        self.dtls = {"certificate": str(self.certificate), "key": str(self.key)}

    def make(self):
        """A new pair. @return its fingerprint by OpenSSL."""
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                        self.key, "-out", self.certificate, "-days", "2", "-subj", "/CN=x"], check=True, stderr=subprocess.DEVNULL)
        shown = subprocess.run(["openssl", "x509", "-in", self.certificate, "-noout", "-fingerprint", "-sha256"],
                               capture_output=True, text=True, check=True).stdout
        return shown.strip().split("=")[1]


def vector(name):
    """One text of the file of certificates."""
    text = (ROOT / "tests/vectors/dtls_identities.txt").read_text()
    return text.split(f"== {name}\n")[1].split("\n==")[0] + "\n"


def load(leatd, subscribers, seconds):
    return subprocess.Popen([LEATLOAD, "--socket", str(leatd.socket), "--publishers", "1", "--subscribers", str(subscribers),
                             "--seconds", str(seconds), "--rate-kbps", "200"], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def must_be_good(call):
    out, _ = call.communicate(timeout=60)
    assert call.returncode == 0, out


def fingerprints(answer):
    found = set(FINGERPRINT.findall(answer))
    assert len(found) == 1, answer
    return found.pop()


def is_flowing(leatd, count):
    return sum(route["state"] == "flowing" for route in leatd.rpc.call("route.list")["routes"]) == count


def sighup__new_pair__is_for_new_peers_and_leaves_the_others_alone():
    with tempfile.TemporaryDirectory() as folder:
        pair = Pair(folder)
        old = pair.make()
        with Daemon(config={"dtls": pair.dtls}) as leatd:
            assert leatd.rpc.call("daemon.info")["fingerprint"] == old
            assert fingerprints(leatd.rpc.call("peer.create", id="a", offer=OFFER)["answer"]) == old
            before = load(leatd, 3, 4)
            until(lambda: is_flowing(leatd, 3), "the old peers have media")
            new = pair.make()
            leatd.signal(signal.SIGHUP)
            until(lambda: leatd.rpc.call("daemon.info")["fingerprint"] == new, "the new certificate is in force")
            assert before.poll() is None
            assert fingerprints(leatd.rpc.call("peer.negotiate", id="a", offer=OFFER)["answer"]) == old
            assert fingerprints(leatd.rpc.call("peer.create", id="b", offer=OFFER)["answer"]) == new
            must_be_good(load(leatd, 2, 1))
            must_be_good(before)
            assert f"fingerprint={new} file=\"{pair.certificate}\"" in leatd.text(), leatd.text()


def sighup__no_pair_configured__makes_another():
    with Daemon() as leatd:
        old = leatd.rpc.call("daemon.info")["fingerprint"]
        leatd.rpc.call("peer.create", id="a", offer=OFFER)
        leatd.signal(signal.SIGHUP)
        until(lambda: leatd.rpc.call("daemon.info")["fingerprint"] != old, "the new certificate is in force")
        assert fingerprints(leatd.rpc.call("peer.negotiate", id="a", offer=OFFER)["answer"]) == old
        must_be_good(load(leatd, 1, 1))


def spoil_with_another_key(pair):
    pair.key.write_text(vector("other-key"))


def spoil_by_age(pair):
    pair.certificate.write_text(vector("leap-cert"))
    pair.key.write_text(vector("ec-key"))


def spoil_certificate(pair):
    pair.certificate.write_text("not PEM")


def spoil_key(pair):
    pair.key.write_text("not PEM")


def remove_key(pair):
    pair.key.unlink()


def make_certificate_a_folder(pair):
    pair.certificate.unlink()
    pair.certificate.mkdir()


FAULTS = ((spoil_with_another_key, "key.pem", "does not belong to"), (spoil_by_age, "cert.pem", "expired on 2024-03-01"),
          (spoil_certificate, "cert.pem", "the certificate is not PEM"), (spoil_key, "key.pem", "the private key is not PEM"),
          (remove_key, "key.pem", "No such file"), (make_certificate_a_folder, "cert.pem", "directory"))


def sighup__bad_pair__keeps_the_old_one_and_says_why():
    for spoil, file, words in FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            pair = Pair(folder)
            old = pair.make()
            with Daemon(config={"dtls": pair.dtls}) as leatd:
                spoil(pair)
                leatd.signal(signal.SIGHUP)
                until(lambda: "event=certificate_refused" in leatd.text(), "the refusal is told")
                line = leatd.text().split("event=certificate_refused")[1].splitlines()[0]
                assert f"{folder}/{file}" in line and words in line, (spoil.__name__, line)
                assert leatd.rpc.call("daemon.info")["fingerprint"] == old
                must_be_good(load(leatd, 1, 1))
                if pair.certificate.is_dir():
                    pair.certificate.rmdir()
                new = pair.make()
                leatd.signal(signal.SIGHUP)
                until(lambda: leatd.rpc.call("daemon.info")["fingerprint"] == new, "a good one is taken after a bad one")


def start__bad_pair__does_not_start_and_says_why():
    for spoil, file, words in FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            pair = Pair(folder)
            pair.make()
            spoil(pair)
            status, err = start(folder, pair)
            assert status == 1 and f"{folder}/{file}" in err and words in err, (spoil.__name__, status, err)


def start__file_that_it_may_not_read__names_it():
    """Root may read everything; a root without two capabilities may not."""
    wrapper = []
    if os.geteuid() == 0:
        wrapper = [shutil.which("setpriv"), "--bounding-set", "-dac_override,-dac_read_search"]
    for file in ("cert.pem", "key.pem"):
        with tempfile.TemporaryDirectory() as folder:
            pair = Pair(folder)
            pair.make()
            (pair.folder / file).chmod(0)
            status, err = start(folder, pair, *wrapper)
            assert status == 1 and f"{folder}/{file}: Permission denied" in err, (file, status, err)


def start(folder, pair, *wrapper):
    """(status, stderr) of a leatd that must end by itself."""
    path = pathlib.Path(folder) / "leatd.json"
    path.write_text(json.dumps({"control": {"socket": f"{folder}/s"}, "dtls": pair.dtls}))
    done = subprocess.run([*wrapper, LEATD, "--config", path], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


if __name__ == "__main__":
    sys.exit(run([
        sighup__new_pair__is_for_new_peers_and_leaves_the_others_alone, sighup__no_pair_configured__makes_another,
        sighup__bad_pair__keeps_the_old_one_and_says_why, start__bad_pair__does_not_start_and_says_why,
        start__file_that_it_may_not_read__names_it,
    ]))
