#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# timeout: 240
"""The control socket of the real daemon: several controllers, one that dies in a call, readers that do not read, bad lines."""
import json
import pathlib
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "interop"))
from harness.daemon import BUILD, ROOT, Daemon, RpcError
from harness.program import run, until

OFFER = (ROOT / "tests/vectors/sdp/chromium156-default.sdp").read_text()
LEATCTL = BUILD / "tools/leatctl/leatctl"
LEATLOAD = BUILD / "tools/leatload/leatload"

# A controller in a process of its own, to be killed: it makes a peer that the test did not.
CONTROLLER = """
import json, socket, sys, time
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
s.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "peer.create",
                      "params": {"id": "of-the-dead", "group": "g", "data": {"n": 7}, "offer": open(sys.argv[2]).read()}}).encode() + b"\\n")
s.sendall(b'{"jsonrpc": "2.0", "id": 2, "method": "events.subscribe", "params": {}}\\n')
print(s.makefile().readline()[:20], flush=True)
time.sleep(600)
"""


def picture(rpc):
    """What a controller sees of the world after one subscribe: its snapshot without what moves by itself."""
    result = rpc.call("events.subscribe")
    peers, routes = [], []
    parts = [event["params"] for event in rpc.events if event["method"] == "snapshot"]
    for part in [result["snapshot"] or {}, *parts]:
        peers += part.get("peers", [])
        routes += part.get("routes", [])
    def still(peer):
        return {key: peer[key] for key in ("id", "group", "data", "state", "worker", "created_us")}
    return sorted((still(peer) for peer in peers), key=lambda peer: peer["id"]), \
        sorted((json.dumps([route["to"], route["from"]]) for route in routes))


def controllers__one_is_killed_in_a_call__media_and_picture_stay():
    with Daemon() as leatd:
        load = subprocess.Popen([LEATLOAD, "--socket", leatd.socket, "--json", "--publishers", "2", "--subscribers", "4",
                                 "--seconds", "8", "--rate-kbps", "300", "--size", "900"],
                                stdout=subprocess.PIPE, text=True)
        doomed = subprocess.Popen([sys.executable, "-c", CONTROLLER, leatd.socket, ROOT / "tests/vectors/sdp/chromium156-default.sdp"],
                                  stdout=subprocess.PIPE, text=True)
        assert doomed.stdout.readline().startswith('{"jsonrpc"')
        until(lambda: len([p for p in leatd.rpc.call("peer.list")["peers"] if p["state"] == "connected"]) == 6,
              "the load is connected")
        until(lambda: leatd.rpc.call("daemon.stats")["workers"][0]["counters"]["rtp_out"] > 100, "media flows")
        before = picture(leatd.connect())
        doomed.send_signal(signal.SIGKILL)
        doomed.wait()
        time.sleep(0.5)
        with leatd.connect() as heir:
            after = picture(heir)
            assert before == after, (before, after)
            assert {"id": "of-the-dead", "group": "g", "data": {"n": 7}, "worker": 0}.items() <= \
                next(peer for peer in after[0] if peer["id"] == "of-the-dead").items()
            assert len(after[1]) >= 8, after[1]
            heir.call("peer.close", id="of-the-dead")
        output, _ = load.communicate(timeout=60)
        result = json.loads(output)
        assert load.returncode == 0 and result["lost"] == 0 and result["wrong"] == 0, result


def events__resume_with_since__nothing_missed():
    with Daemon() as leatd, leatd.connect() as reader:
        first = reader.call("events.subscribe")
        leatd.rpc.call("peer.create", id="a", offer=OFFER)
        leatd.rpc.call("peer.close", id="a")
        reader.event("peer.state", peer="a", state="ended", reason="closed")
        reader.close()
        with leatd.connect() as again:
            resumed = again.call("events.subscribe", since={"boot": first["boot"], "seq": first["seq"]})
            assert resumed["resumed"] is True and resumed["boot"] == first["boot"], resumed
            assert again.event("peer.state", peer="a", state="ended")["seq"] > first["seq"]
        with leatd.connect() as stranger:
            other = stranger.call("events.subscribe", since={"boot": "0" * 16, "seq": 1})
            assert other["resumed"] is False and other.get("gap") is True, other


def events__group_filter__only_its_own():
    with Daemon() as leatd, leatd.connect() as reader:
        reader.call("events.subscribe", filter={"group": "red"})
        leatd.rpc.call("peer.create", id="b", group="blue", offer=OFFER)
        leatd.rpc.call("peer.create", id="r", group="red", offer=OFFER)
        for peer in ("b", "r"):
            leatd.rpc.call("peer.close", id=peer)
        reader.event("peer.state", peer="r", state="ended")
        assert not [event for event in reader.events if event["params"].get("peer") == "b"], reader.events


def reader__that_does_not_read__is_cut_off_alone():
    with Daemon() as leatd, leatd.connect() as good:
        good.call("events.subscribe")
        deaf = socket.socket(socket.AF_UNIX)
        deaf.connect(str(leatd.socket))
        line = b'{"jsonrpc":"2.0","id":1,"method":"rpc.discover","params":{}}\n'
        deaf.settimeout(5)
        try:
            for _ in range(2000):  # each answer has tens of kilobytes; nobody reads them
                deaf.sendall(line)
        except OSError:
            pass
        until(lambda: leatd.rpc.call("daemon.stats")["control"]["readers_cut_off"] == 1, "the deaf reader is cut off")
        leatd.rpc.call("peer.create", id="a", offer=OFFER)
        leatd.rpc.call("peer.close", id="a")
        good.event("peer.state", peer="a", state="ended")
        deaf.close()


def lines__bad_ones__answered_and_the_next_is_served():
    with Daemon() as leatd, leatd.connect() as rpc:
        for octets, code in ((b"nonsense\n", -32700), (b'{"jsonrpc":"2.0","id":1}\n', -32600), (b"[]\n", -32600),
                             (b'{"jsonrpc":"2.0","id":1,"method":"peer.clse"}\n', -32601),
                             (b'{"jsonrpc":"2.0","id":1,"method":"peer.get","params":{"id":"a\\u0000b"}}\n', -32700),
                             (b'{"jsonrpc":"2.0","id":1,"method":"peer.get","params":{"id":"a","id":"b"}}\n', -32700),
                             (b'{"jsonrpc":"2.0","id":1,"method":"peer.get","params":{"id":"\xff\xfe"}}\n', -32700),
                             (b'{"jsonrpc":"2.0","id":1,"method":"peer.get","params":{"name":"a"}}\n', -32602)):
            rpc.send(octets)
            reply = rpc.line()
            assert reply["error"]["code"] == code, (octets, reply)
            if b"clse" in octets:
                assert "peer.close" in reply["error"]["data"]["did_you_mean"], reply
        for part in (b'{"jsonrpc":"2.0",', b'"id":9,"method":"daemon.in', b'fo"}\r', b"\n\n"):
            rpc.send(part)
            time.sleep(0.05)
        assert rpc.line()["result"]["name"] == "leatd"
        rpc.send(b"x" * 300000)
        assert rpc.line()["error"]["code"] == -32700
        try:
            assert rpc.line() is None, "a stream with an overlong line goes on"
        except ConnectionResetError:
            pass  # closed while the rest of the line was still unread


def commands__near_misses_and_half_known__typed_errors():
    with Daemon() as leatd:
        rpc = leatd.rpc
        rpc.call("peer.create", id="a", offer=OFFER)
        rpc.call("peer.create", id="a", offer=OFFER)  # repeating is safe
        for reason, method, params in (
                ("exists", "peer.create", {"id": "a", "offer": OFFER.replace("a=sendrecv", "a=sendonly")}),
                ("bad_id", "peer.create", {"id": "a b", "offer": OFFER}),
                ("bad_sdp", "peer.create", {"id": "c", "offer": "hello"}),
                ("no_such_peer", "peer.get", {"id": "nobody"}),
                ("no_such_peer", "route.set", {"routes": [{"to": {"peer": "x", "mid": "0"}, "from": None}]}),
                ("no_such_mid", "route.set", {"routes": [{"to": {"peer": "a", "mid": "9"}, "from": None}]}),
                ("kind_mismatch", "route.set", {"routes": [{"to": {"peer": "a", "mid": "0"}, "from": {"peer": "a", "mid": "1"}}]}),
                ("not_supported", "peer.create", {"id": "d", "sections": []})):
            try:
                rpc.call(method, **params)
                raise AssertionError(f"{method} {params} was taken")
            except RpcError as error:
                assert error.reason == reason, (reason, error.error)
        assert rpc.call("peer.close", id="a")["closed"] is True
        assert rpc.call("peer.close", id="a")["closed"] is False


def peer_list__more_than_a_page__every_peer_once():
    with Daemon() as leatd:
        made = [f"peer-{i}" for i in range(400)]
        for peer in made:
            leatd.rpc.call("peer.create", id=peer, offer=OFFER)
        page = leatd.rpc.call("peer.list")
        listed = [peer["id"] for peer in page["peers"]]
        assert "next" in page and len(listed) < 400, "400 peers fit one page: the test proves nothing"
        while "next" in page:
            page = leatd.rpc.call("peer.list", after=page["next"])
            listed += [peer["id"] for peer in page["peers"]]
        assert listed == made
        sockets = leatd.rpc.call("daemon.stats")["workers"][0]["sockets"]
        assert sockets["kernel_drops"] == 0 and "send_errors" in sockets, sockets


def ended_peer__nobody_came__stays_listed_with_its_reason_until_closed():
    """30 s without an authentic check; and the same for clients that vanish without a word in a call."""
    with Daemon(config={"ended_keep_s": 3600}) as leatd, leatd.connect() as reader:
        reader.call("events.subscribe")
        leatd.rpc.call("peer.create", id="awaited", data="kept", offer=OFFER)
        load = subprocess.Popen([LEATLOAD, "--socket", leatd.socket, "--publishers", "1", "--subscribers", "1", "--seconds", "60",
                                 "--rate-kbps", "100", "--size", "500"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        vanished = [reader.event("peer.state", state="connected")["peer"] for _ in range(2)]
        load.kill()
        load.wait()
        reader.event("peer.state", timeout=60, peer="awaited", state="ended", reason="ice_timeout")
        for peer in vanished:
            reader.event("peer.state", timeout=60, peer=peer, state="ended", reason="consent_expired")
            listed = leatd.rpc.peer(peer)
            assert listed["state"] == "ended" and listed["reason"] == "consent_expired", listed
            transport = next(record for record in listed["stats"] if record["type"] == "transport")
            assert transport["packetsReceived"] > 0, transport
        assert leatd.rpc.peer("awaited")["data"] == "kept"
        assert leatd.rpc.call("peer.close", id="awaited")["closed"] is True
        assert "awaited" not in [peer["id"] for peer in leatd.rpc.call("peer.list")["peers"]]


def leatctl__commands_of_an_operator__readable_and_exact():
    def ctl(*arguments):
        done = subprocess.run([LEATCTL, "--socket", leatd.socket, *arguments], capture_output=True, text=True, timeout=30,
                              check=False)
        return done.returncode, done.stdout, done.stderr
    with Daemon() as leatd:
        for peer in ("ann", "bob"):
            leatd.rpc.call("peer.create", id=peer, group="room", offer=OFFER)
        status, out, _ = ctl("peer.list")
        assert status == 0 and "ann" in out and "bob" in out and "new" in out, out
        status, out, err = ctl("route.set", "to.peer=bob", "to.mid=1", "from.peer=ann", "from.mid=1")
        assert status == 0, (out, err)
        assert leatd.rpc.call("route.list")["routes"][0]["from"] == {"peer": "ann", "mid": "1"}
        status, out, _ = ctl("--json", "route.list")
        assert status == 0 and json.loads(out)["routes"][0]["to"] == {"peer": "bob", "mid": "1"}, out
        status, out, _ = ctl("route.explain", "to.peer=bob", "to.mid=1")
        assert status == 0 and "no_consent" in out, out
        status, _, err = ctl("peer.lst")
        assert status != 0 and "peer.list" in err, err
        status, _, err = ctl("peer.get", "id=nobody")
        assert status == 1 and "no_such_peer" in err, err
        status, out, _ = ctl("methods")
        assert status == 0 and "route.set" in out and "daemon.drain" in out, out
    done = subprocess.run([LEATCTL, "--socket", "/nonexistent/leatd.sock", "peer.list"], capture_output=True, text=True,
                          timeout=30, check=False)
    assert done.returncode == 2 and "/nonexistent/leatd.sock" in done.stderr, done


if __name__ == "__main__":
    sys.exit(run([
        controllers__one_is_killed_in_a_call__media_and_picture_stay, events__resume_with_since__nothing_missed,
        events__group_filter__only_its_own, reader__that_does_not_read__is_cut_off_alone,
        lines__bad_ones__answered_and_the_next_is_served, commands__near_misses_and_half_known__typed_errors,
        peer_list__more_than_a_page__every_peer_once, ended_peer__nobody_came__stays_listed_with_its_reason_until_closed, leatctl__commands_of_an_operator__readable_and_exact,
    ]))
