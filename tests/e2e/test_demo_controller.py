# SPDX-License-Identifier: MIT
# timeout: 60
# build: release
"""The demo's controller against a scripted leatd: HTTP as WHIP and WHEP have it, slots that are used again, a restart."""
import http.client
import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]


def offer_of(*sections):
    """An SDP offer, as much as matters here: sections are like 'audio 0 sendonly'."""
    lines = ["v=0"]
    for section in sections:
        kind, mid, direction = section.split()
        lines += [f"m={kind} 9 UDP/TLS/RTP/SAVPF 96", f"a=mid:{mid}", f"a={direction}"]
    return "\r\n".join(lines) + "\r\n"


PUBLISH = offer_of("audio 0 sendonly", "video 1 sendonly")


class FakeLeatd:
    """Answers what the controller calls and remembers the world: peers and routes."""

    def __init__(self, path):
        self.peers, self.routes, self.calls, self.connections = {}, {}, [], []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            connection = self.listener.accept()[0]
            self.connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        for line in connection.makefile():
            request = json.loads(line)
            self.calls.append((request["method"], request["params"]))
            outcome = getattr(self, request["method"].replace(".", "_"))(**request["params"])
            reply = {"jsonrpc": "2.0", "id": request["id"], **outcome}
            connection.sendall(json.dumps(reply).encode() + b"\n")

    def set_state(self, peer, state):
        self.peers[peer]["state"] = state
        event = {"jsonrpc": "2.0", "method": "peer.state", "params": {
            "seq": 1, "time_us": 1, "peer": peer, "group": self.peers[peer]["group"], "state": state, "reason": ""}}
        for connection in self.connections:
            try:
                connection.sendall(json.dumps(event).encode() + b"\n")
            except OSError:
                pass

    def events_subscribe(self, filter):
        routes = [{"to": {"peer": to[0], "mid": to[1]}, "from": source and {"peer": source[0], "mid": source[1]}}
                  for to, source in self.routes.items()]
        return {"result": {"boot": "b", "seq": 0, "resumed": False,
                           "snapshot": {"peers": list(self.peers.values()), "routes": routes}}}

    def peer_create(self, id, group, data, offer, streams=None):
        if "m=" not in offer:
            return {"error": {"code": -32000, "message": "the offer has no section", "data": {"reason": "no_media"}}}
        sections = re.findall(r"m=(\w+) .*?a=mid:(\S+).*?a=(\w+)\r", offer, re.DOTALL)
        self.peers[id] = {"id": id, "group": group, "data": data, "state": "new", "streams": streams or {},
                          "tracks": [{"mid": mid, "kind": kind} for kind, mid, way in sections if way == "sendonly"],
                          "senders": [{"mid": mid, "kind": kind} for kind, mid, way in sections if way == "recvonly"]}
        return {"result": {**self.peers[id], "answer": f"answer to {id}", "created": True}}

    def peer_negotiate(self, id, offer, streams=None):
        if id not in self.peers:
            return {"error": {"code": -32000, "message": f"there is no peer {id}", "data": {"reason": "no_such_peer"}}}
        old = self.peers[id]
        made = self.peer_create(id, old["group"], old["data"], offer, streams)
        self.peers[id]["state"] = old["state"]
        return made

    def peer_close(self, id):
        was = self.peers.pop(id, None)
        self.routes = {to: source for to, source in self.routes.items() if id not in (to[0], source and source[0])}
        return {"result": {"id": id, "closed": bool(was)}}

    def route_set(self, routes):
        for route in routes:
            to, source = route["to"], route["from"]
            self.routes[to["peer"], to["mid"]] = source and (source["peer"], source["mid"])
        return {"result": {"routes": []}}


class Demo:
    """One leatd and its controller."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="leat-demo-")
        self.socket = self.folder.name + "/leatd.sock"
        self.leatd = FakeLeatd(self.socket)
        self.controller = None
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        self.folder.cleanup()

    def start(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.controller = subprocess.Popen([sys.executable, ROOT / "tools/demo/controller.py", "--socket", self.socket,
                                            "--port", str(self.port)])
        until = time.monotonic() + 10
        while True:
            try:
                return self.request("GET", "/")
            except ConnectionError:
                assert time.monotonic() < until and self.controller.poll() is None, "the controller does not answer"
                time.sleep(0.05)

    def stop(self):
        self.controller.kill()
        self.controller.wait()

    def request(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response, text

    def join(self, path, offer):
        response, _ = self.request("POST", path, offer)
        assert response.status == 201, response.status
        return response.headers["Location"].rsplit("/", 1)[1]

    def publish(self, client, room="r"):
        peer = self.join(f"/whip/{room}?client={client}&name={client}", PUBLISH)
        self.leatd.set_state(peer, "connected")
        return peer

    def watch(self, client, slots, room="r"):
        return self.join(f"/watch/{room}?client={client}", self.slots(slots))

    @staticmethod
    def slots(count):
        return offer_of(*[f"{('audio', 'video')[i % 2]} {i} recvonly" for i in range(2 * count)])

    def shown(self, viewer):
        """The publisher of each video section that has one."""
        return {mid: source[0] for (peer, mid), source in self.leatd.routes.items() if peer == viewer and source and source[1] == "1"}

    def settles(self, question, what):
        until = time.monotonic() + 5
        while not question():
            assert time.monotonic() < until, what
            time.sleep(0.02)


def whip__an_offer__is_answered_as_rfc_9725_says():
    with Demo() as demo:
        response, answer = demo.request("POST", "/whip/r?name=Ann", PUBLISH, {"Content-Type": "application/sdp"})
        assert response.status == 201 and response.headers["Content-Type"] == "application/sdp"
        location = response.headers["Location"]
        peer = location.rsplit("/", 1)[1]
        assert answer == f"answer to {peer}"
        assert demo.leatd.peers[peer]["group"] == "r" and demo.leatd.peers[peer]["data"]["name"] == "Ann"
        assert demo.request("PATCH", location, "a=candidate:...")[0].status == 204
        assert demo.request("PATCH", location, "a=ice-ufrag:x", {"If-Match": "*"})[0].status == 405
        response, answer = demo.request("PUT", location, PUBLISH)
        assert response.status == 200 and answer == f"answer to {peer}"
        assert demo.request("DELETE", location)[0].status == 200 and peer not in demo.leatd.peers
        assert demo.request("PUT", location, PUBLISH)[0].status == 404


def whip__an_offer_that_leatd_refuses__is_said():
    with Demo() as demo:
        response, text = demo.request("POST", "/whip/r", "v=0\r\n")
        assert response.status == 400 and text == "the offer has no section"
        assert demo.request("GET", "/../controller.py")[0].status == 404


def whep__before_and_after_its_publisher__shows_it():
    with Demo() as demo:
        player = demo.join("/whep/r/Ann", demo.slots(1))
        demo.publish("Bob")
        ann = demo.publish("Ann")
        demo.settles(lambda: demo.shown(player) == {"1": ann}, "the player shows another publisher")
        again = demo.publish("Ann")  # its page was loaded again
        assert ann not in demo.leatd.peers
        demo.settles(lambda: demo.shown(player) == {"1": again}, "the player lost its publisher")


def watch__publishers_come_and_go__slots_are_used_again():
    with Demo() as demo:
        first = demo.publish("a")
        viewer = demo.watch("me", 1)
        demo.settles(lambda: demo.shown(viewer) == {"1": first}, "the first publisher is not shown")
        assert demo.leatd.peers[viewer]["streams"] == {"0": "slot-0", "1": "slot-0"}
        second = demo.publish("b")
        demo.publish("me")
        time.sleep(0.2)
        assert demo.shown(viewer) == {"1": first}
        demo.request("PUT", f"/peer/{viewer}", demo.slots(2))
        assert demo.leatd.peers[viewer]["streams"] == {"0": "slot-0", "1": "slot-0", "2": "slot-1", "3": "slot-1"}
        demo.settles(lambda: demo.shown(viewer) == {"1": first, "3": second}, "the second slot stays empty")
        demo.leatd.set_state(first, "ended")
        demo.settles(lambda: demo.shown(viewer) == {"3": second}, "a slot shows one that ended")
        third = demo.publish("c")
        demo.settles(lambda: demo.shown(viewer) == {"1": third, "3": second}, "the free slot is not used")
        other = demo.publish("d", room="other")
        time.sleep(0.2)
        assert other not in demo.shown(viewer).values()


def events__a_room__is_told_as_it_changes():
    with Demo() as demo:
        connection = http.client.HTTPConnection("127.0.0.1", demo.port, timeout=5)
        connection.request("GET", "/events/r?client=me")
        stream = connection.getresponse()

        def following():
            while not (line := stream.readline()).startswith(b"data: "):
                pass
            return json.loads(line[6:])

        assert following() == {"publishers": [], "slots": []}
        demo.publish("me")  # is not told of itself
        peer = demo.publish("a")
        assert following() == {"publishers": [{"id": peer, "name": "a"}], "slots": []}
        demo.watch("me", 1)
        assert following()["slots"] == [peer]
        demo.leatd.set_state(peer, "ended")
        view = following()
        while view["slots"] != [None]:  # the end and its consequence may come in one or in two
            view = following()
        assert view["publishers"] == []
        connection.close()


def controller__killed_and_started_again__goes_on():
    with Demo() as demo:
        first, second = demo.publish("a"), demo.publish("b")
        viewer = demo.watch("me", 2)
        demo.settles(lambda: demo.shown(viewer) == {"1": first, "3": second}, "not all are shown")
        demo.stop()
        demo.leatd.set_state(first, "ended")  # while nobody looks
        demo.leatd.calls.clear()
        demo.start()
        demo.settles(lambda: demo.shown(viewer) == {"3": second}, "the new controller missed an end")
        touched = {route["to"]["mid"] for method, params in demo.leatd.calls if method == "route.set" for route in params["routes"]}
        assert not touched & {"2", "3"}, "a slot that was right was touched"
        third = demo.publish("c")
        demo.settles(lambda: demo.shown(viewer) == {"1": third, "3": second}, "the new controller does not go on")


def main():
    failed = 0
    for test in (whip__an_offer__is_answered_as_rfc_9725_says, whip__an_offer_that_leatd_refuses__is_said,
                 whep__before_and_after_its_publisher__shows_it, watch__publishers_come_and_go__slots_are_used_again,
                 events__a_room__is_told_as_it_changes, controller__killed_and_started_again__goes_on):
        try:
            test()
            print("ok", test.__name__, flush=True)
        except Exception:
            failed += 1
            print("not ok", test.__name__, flush=True)
            traceback.print_exc()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
