#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# timeout: 180
"""leatd over each library that shakes hands: it says which, and what is negotiated goes by the order of srtp.profiles."""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "interop"))
from harness.daemon import LEATD, Daemon
from harness.program import run, until

LEATLOAD = pathlib.Path(LEATD).parents[2] / "tools/leatload/leatload"
CM_80, CM_32, GCM_128, GCM_256 = "AES128_CM_SHA1_80", "AES128_CM_SHA1_32", "AEAD_AES_128_GCM", "AEAD_AES_256_GCM"
NAMES = {CM_80: "SRTP_AES128_CM_HMAC_SHA1_80", CM_32: "SRTP_AES128_CM_HMAC_SHA1_32", GCM_128: "SRTP_AEAD_AES_128_GCM",
         GCM_256: "SRTP_AEAD_AES_256_GCM"}


def check_config(config):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "leatd.json"
        path.write_text(json.dumps({"listen": [{"address": "127.0.0.1", "port": 3478}], **config}))
        done = subprocess.run([LEATD, "--check-config", "--config", path], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr.replace(str(path), "CONFIG")


def has_openssl():
    status, _, err = check_config({"dtls": {"backend": "openssl"}})
    assert status == 0 or "dtls.backend: this build has no OpenSSL" in err, err
    return status == 0


def check_config__gcm_with_mbedtls__says_that_it_cannot():
    for config in ({"srtp": {"profiles": [GCM_128, CM_80]}}, {"srtp": {"profiles": [CM_80, GCM_256]}, "dtls": {"backend": "mbedtls"}}):
        status, _, err = check_config(config)
        assert status == 2 and "CONFIG: srtp.profiles: the mbedTLS backend cannot negotiate" in err, (status, err)


def call(leatd, backend):
    """@return the cipher that all peers of a call have by peer.stats; the call must be good."""
    load = subprocess.Popen([LEATLOAD, "--socket", str(leatd.socket), "--backend", backend, "--publishers", "1",
                             "--subscribers", "3", "--seconds", "2", "--rate-kbps", "300"], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)
    try:
        connected = until(lambda: (lambda peers: len(peers) == 4 and peers)(leatd.rpc.call("peer.list", state="connected")["peers"]),
                          "four peers are connected")
        found = {leatd.rpc.stats(peer["id"], "transport")[0]["srtpCipher"] for peer in connected}
    finally:
        out, _ = load.communicate(timeout=60)
    assert load.returncode == 0, out
    assert len(found) == 1, found
    return found.pop()


def backend__openssl__negotiates_in_the_order_of_the_configuration():
    if not has_openssl():
        return
    for profiles in ([GCM_128, GCM_256, CM_80], [GCM_256, GCM_128, CM_80], [CM_32, GCM_128]):
        with Daemon(config={"dtls": {"backend": "openssl"}, "srtp": {"profiles": profiles}}) as leatd:
            told = leatd.rpc.call("daemon.info")["dtls"]
            assert told["backend"] == "openssl" and told["library"].startswith("OpenSSL 3."), told
            assert "event=dtls backend=openssl library=\"OpenSSL 3." in leatd.text(), leatd.text()
            assert call(leatd, "openssl") == NAMES[profiles[0]], profiles


def backend__of_either_side__carries_a_call_with_the_other():
    if not has_openssl():
        return
    for ours, theirs in (("mbedtls", "openssl"), ("openssl", "mbedtls")):
        profiles = [CM_80] if ours == "mbedtls" else [GCM_128, CM_80]
        with Daemon(config={"dtls": {"backend": ours}, "srtp": {"profiles": profiles}}) as leatd:
            assert leatd.rpc.call("daemon.info")["dtls"]["backend"] == ours
            assert call(leatd, theirs) == NAMES[CM_80], (ours, theirs)


if __name__ == "__main__":
    sys.exit(run([check_config__gcm_with_mbedtls__says_that_it_cannot,
                  backend__openssl__negotiates_in_the_order_of_the_configuration,
                  backend__of_either_side__carries_a_call_with_the_other]))
