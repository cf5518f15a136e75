#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# timeout: 180
"""leatd as an operator meets it: its command line, its start, its signals, its end."""
import json
import os
import pathlib
import re
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "interop"))
from harness.daemon import LEATD, ROOT, Daemon, RpcError, free_udp_port
from harness.program import run, until

LEATLOAD = pathlib.Path(LEATD).parents[2] / "tools/leatload/leatload"
OFFER = (ROOT / "tests/vectors/sdp/chromium156-default.sdp").read_text()


def leatd_says(*arguments, config=None):
    """(status, stdout, stderr) of a leatd that must end by itself."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "leatd.json"
        if config is not None:
            path.write_text(config if isinstance(config, str) else json.dumps(config))
        command = [LEATD, *(str(path) if argument == "CONFIG" else argument for argument in arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr.replace(str(path), "CONFIG")


def command_line__version_and_help__good():
    status, out, _ = leatd_says("--version")
    assert status == 0 and out.startswith("leatd 0.") and "libsrtp2" in out and "libuv" in out and "Mbed TLS" in out, out
    status, out, _ = leatd_says("--help")
    assert status == 0 and "--check-config" in out


def command_line__wrong_call__exit_2():
    for arguments in ([], ["--config"], ["--verbose"], ["--config", "no/such/file"]):
        status, _, err = leatd_says(*arguments)
        assert status == 2 and err.startswith("leatd: "), (arguments, status, err)


def check_config__shipped_file__good():
    status, out, err = leatd_says("--config", str(ROOT / "conf/leatd.json"), "--check-config")
    assert (status, err) == (0, "") and "good" in out, (status, out, err)


def check_config__wrong__names_file_key_and_expectation():
    for config, place, words in (({"worker": 2}, "CONFIG: worker:", "unknown key"),
                                 ({"port": "x"}, "CONFIG: port:", "expected an integer from 1 to 65535"),
                                 ({"port": 70000}, "CONFIG: port:", "got 70000"),
                                 ({"srtp": {"profiles": ["AEAD_AES_128_GCM"]}}, "CONFIG: srtp.profiles:", "cannot negotiate"),
                                 ({"dtls": {"certificate": "no.pem", "key": "no.key"}}, "no.pem:", "No such file"),
                                 ('{"port": 1', "CONFIG:", "line 1")):
        status, _, err = leatd_says("--config", "CONFIG", "--check-config", config=config)
        assert status == 2 and place in err and words in err, (config, status, err)


def certificate__key_of_another__says_so():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a", "b"):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                            "-keyout", f"{folder}/{name}.key", "-out", f"{folder}/{name}.pem", "-days", "2", "-subj", "/CN=x"],
                           check=True, stderr=subprocess.DEVNULL)
        good = {"dtls": {"certificate": f"{folder}/a.pem", "key": f"{folder}/a.key"}}
        status, out, err = leatd_says("--config", "CONFIG", "--check-config", config=good)
        assert status == 0, (out, err)
        bad = {"dtls": {"certificate": f"{folder}/a.pem", "key": f"{folder}/b.key"}}
        status, _, err = leatd_says("--config", "CONFIG", "--check-config", config=bad)
        assert status == 2 and "a.pem" in err and "key" in err, err
        shown = subprocess.run(["openssl", "x509", "-in", f"{folder}/a.pem", "-noout", "-fingerprint", "-sha256"],
                               capture_output=True, text=True, check=True).stdout.strip().split("=")[1]
        with Daemon(config=good) as leatd:
            assert leatd.rpc.call("daemon.info")["fingerprint"] == shown


PRIMITIVES = {"sha-256", "hmac-sha1", "hmac-sha1-batch", "chacha20-poly1305", "key-stream"} | {
    f"aes-{size}-{mode}{batch}" for size in (128, 256) for mode in ("ctr", "gcm") for batch in ("", "-batch")}


def providers():
    """The names below 'providers that run here:'."""
    status, out, err = leatd_says("--crypto")
    assert (status, err) == (0, ""), (status, err)
    return [line.split()[0] for line in out.split("providers that run here:\n")[1].splitlines()]


def crypto__shown__has_a_row_for_every_primitive():
    status, out, err = leatd_says("--crypto")
    assert (status, err) == (0, ""), (status, err)
    rows = [line.split() for line in out.split("\n\n")[0].splitlines()[1:]]
    assert {row[0] for row in rows} == PRIMITIVES, out
    assert all(row[1] in providers() and int(row[3]) > 0 and int(row[4]) > 0 for row in rows), out
    versions = [line.split(None, 1) for line in out.split("providers that run here:\n")[1].splitlines()]
    assert providers()[0] == "mbedtls" and all(len(v) == 2 and re.search(r"\d+\.\d+", v[1]) for v in versions), out


def crypto__pinned__serves_alone():
    for name in providers():
        status, out, err = leatd_says("--crypto", "--config", "CONFIG", config={"crypto": {"provider": name}})
        assert (status, err) == (0, ""), (status, err)
        rows = {line.split()[0]: line.split()[1] for line in out.split("\n\n")[0].splitlines()[1:]}
        assert {rows[p] for p in PRIMITIVES - {"sha-256", "chacha20-poly1305"}} == {name}, out


def crypto__pin_that_cannot_run__names_key_and_what_runs():
    config = {"crypto": {"provider": "ipsecmb", "level": "none"}}
    for arguments, expected in ((["--check-config"], 2), (["--crypto"], 1), ([], 1)):
        status, _, err = leatd_says("--config", "CONFIG", *arguments, config=config)
        assert status == expected and err.startswith("leatd: CONFIG: crypto.provider: \"ipsecmb\" "), (arguments, status, err)
        assert 'what runs here: "mbedtls"' in err, (arguments, status, err)
        assert ('does not run with crypto.level "none"' if "ipsecmb" in providers() else "library is missing") in err, err


def crypto__pinned_or_masked__carries_a_call():
    settings = [{"provider": name} for name in providers()] + [{"level": level} for level in ("none", "sse", "avx2")]
    for crypto in settings:
        with Daemon(config={"crypto": crypto}) as leatd:
            info = leatd.rpc.call("daemon.info")
            names = {row["provider"] for row in info["crypto"] if row["primitive"] not in ("sha-256", "chacha20-poly1305")}
            assert names == {crypto.get("provider")} or "level" in crypto, info
            said = re.search(r"event=crypto (.*)", leatd.text())[1].split()
            assert said == [f"{row['primitive']}={row['provider']}" + (f"/{row['level']}" if "level" in row else "")
                            for row in info["crypto"]], leatd.text()
            done = subprocess.run([LEATLOAD, "--socket", str(leatd.socket), "--publishers", "1", "--subscribers", "3",
                                   "--seconds", "1"], capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode == 0, (crypto, done.stdout, done.stderr)


def key_exchange__chosen_or_off__is_told_and_carries_a_call():
    fast = "openssl" if "openssl" in providers() else "mbedtls"
    for setting, expected in (({}, fast), ({"key_exchange": "auto"}, fast), ({"key_exchange": "mbedtls"}, "mbedtls")):
        with Daemon(config={"dtls": setting}) as leatd:
            assert leatd.rpc.call("daemon.info")["dtls"]["key_exchange"] == expected, setting
            assert f"p256={expected}" in leatd.text(), leatd.text()
            done = subprocess.run([LEATLOAD, "--socket", str(leatd.socket), "--publishers", "1", "--subscribers", "3",
                                   "--seconds", "1"], capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode == 0, (setting, done.stdout, done.stderr)


def start__socket_mode_and_info__as_promised():
    with Daemon() as leatd:
        mode = stat.S_IMODE(leatd.socket.stat().st_mode)
        assert mode == 0o600, oct(mode)
        info = leatd.rpc.call("daemon.info")
        assert info["pid"] == leatd.process.pid and info["api"].split(".")[0] == "1", info
        assert str(leatd.port) in info["firewall"], info
        assert {"address": "127.0.0.1", "port": leatd.port} in info["announce"], info
        assert "event=firewall" in leatd.text() and "event=receive_buffer" in leatd.text(), leatd.text()


def start__small_receive_buffer__warned_with_the_line():
    with Daemon(config={"receive_buffer": 65536}) as leatd:
        assert "receive_buffer_small" in leatd.text() and "sysctl -w net.core.rmem_max=" in leatd.text(), leatd.text()


def start__port_taken__one_sentence():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken, tempfile.TemporaryDirectory() as folder:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        status, _, err = leatd_says("--config", "CONFIG", config={
            "control": {"socket": f"{folder}/s"}, "listen": [{"address": "127.0.0.1", "port": port}]})
        assert status == 1 and f"cannot listen on UDP 127.0.0.1:{port}" in err and "in use" in err, (status, err)


def start__stale_socket_and_live_socket__replaced_and_refused():
    with Daemon() as leatd:
        leatd.may_end_badly = True
        leatd.process.kill()
        leatd.process.wait()
        assert leatd.socket.is_socket()
        leatd.start()  # over the stale file
        leatd.may_end_badly = False
        port = free_udp_port()
        status, _, err = leatd_says("--config", "CONFIG", config={
            "control": {"socket": str(leatd.socket)}, "listen": [{"address": "127.0.0.1", "port": port}]})
        assert status == 1 and str(leatd.socket) in err, (status, err)
        assert leatd.rpc.call("daemon.info")["pid"] == leatd.process.pid
        plain = leatd.folder / "plain"
        plain.write_text("keep me")
        status, _, err = leatd_says("--config", "CONFIG", "--control", str(plain), config={
            "listen": [{"address": "127.0.0.1", "port": port}]})
        assert status == 1 and plain.read_text() == "keep me", (status, err)


def two_daemons__other_sockets_and_ports__side_by_side():
    with Daemon() as one, Daemon(config={"workers": 2}) as two:
        assert one.rpc.call("daemon.info")["boot"] != two.rpc.call("daemon.info")["boot"]
        one.rpc.call("peer.create", id="a", offer=OFFER)
        assert two.rpc.call("peer.list")["peers"] == []
        ports = {entry["port"] for entry in two.rpc.call("daemon.info")["listen"]}
        assert ports == {two.port, two.port + 1}, ports


def signals__sighup__keeps_the_peers():
    with Daemon() as leatd:
        leatd.rpc.call("peer.create", id="a", offer=OFFER)
        leatd.signal(signal.SIGHUP)
        until(lambda: leatd.text().count("event=certificate ") == 2, "SIGHUP is noticed")
        assert [peer["id"] for peer in leatd.rpc.call("peer.list")["peers"]] == ["a"]


def signals__sigterm__ends_well_and_tells():
    with Daemon() as leatd:
        leatd.rpc.call("peer.create", id="a", offer=OFFER)
        leatd.rpc.call("events.subscribe")
        assert leatd.stop() == 0
        assert not leatd.socket.exists()


def signals__sigterm_with_drain__refuses_new_peers_and_waits():
    with Daemon(config={"drain_s": 60}) as leatd:
        leatd.rpc.call("peer.create", id="a", offer=OFFER)
        leatd.signal(signal.SIGTERM)
        until(lambda: leatd.rpc.call("daemon.info")["state"] == "draining", "the daemon drains")
        try:
            leatd.rpc.call("peer.create", id="b", offer=OFFER)
            raise AssertionError("a draining daemon took a new peer")
        except RpcError as error:
            assert error.reason == "draining", error.reason
        assert leatd.rpc.peer("a")["state"] == "new"  # what is there goes on
        leatd.rpc.call("peer.close", id="a")  # the last one has gone
        assert leatd.process.wait(30) == 0


def signals__second_sigterm__ends_at_once():
    with Daemon(config={"drain_s": 600}) as leatd:
        leatd.rpc.call("peer.create", id="a", offer=OFFER)
        leatd.signal(signal.SIGTERM)
        until(lambda: "event=draining" in leatd.text(), "the daemon drains")
        assert leatd.process.poll() is None
        leatd.signal(signal.SIGTERM)
        assert leatd.process.wait(30) == 0


def threads__pool__runs_at_lower_priority():
    """A handshake wakes the pool; its threads are nicer than the loops."""
    with Daemon() as leatd:
        leatload = LEATD.parents[2] / "tools/leatload/leatload"
        subprocess.run([leatload, "--socket", leatd.socket, "--publishers", "1", "--subscribers", "1", "--seconds", "1",
                        "--rate-kbps", "100", "--size", "500"], check=True, capture_output=True, timeout=60)
        nices = {}
        for task in pathlib.Path(f"/proc/{leatd.process.pid}/task").iterdir():
            nices.setdefault(os.getpriority(os.PRIO_PROCESS, int(task.name)), []).append((task / "comm").read_text().strip())
        worker = next(nice for nice, names in nices.items() if any(name.startswith("leat-worker") for name in names))
        assert max(nices) >= min(worker + 5, 19), nices


def idle__no_peers__costs_nothing():
    """An idle daemon sleeps: its CPU time does not move."""
    with Daemon() as leatd:
        time.sleep(1.0)
        start = cpu_ticks(leatd.process.pid)
        time.sleep(2.0)
        assert cpu_ticks(leatd.process.pid) - start <= 5, "an idle daemon is busy"


def cpu_ticks(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


if __name__ == "__main__":
    sys.exit(run([
        command_line__version_and_help__good, command_line__wrong_call__exit_2, check_config__shipped_file__good,
        check_config__wrong__names_file_key_and_expectation, certificate__key_of_another__says_so,
        crypto__shown__has_a_row_for_every_primitive, crypto__pinned__serves_alone,
        crypto__pin_that_cannot_run__names_key_and_what_runs, crypto__pinned_or_masked__carries_a_call,
        key_exchange__chosen_or_off__is_told_and_carries_a_call,
        start__socket_mode_and_info__as_promised, start__small_receive_buffer__warned_with_the_line,
        start__port_taken__one_sentence, start__stale_socket_and_live_socket__replaced_and_refused,
        two_daemons__other_sockets_and_ports__side_by_side, signals__sighup__keeps_the_peers,
        signals__sigterm__ends_well_and_tells, signals__sigterm_with_drain__refuses_new_peers_and_waits,
        signals__second_sigterm__ends_at_once, threads__pool__runs_at_lower_priority, idle__no_peers__costs_nothing,
    ]))
