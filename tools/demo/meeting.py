# SPDX-License-Identifier: MIT
"""Rooms on leatd: publishers, and viewers whose slots show them.

Nothing is kept that leatd does not know: each peer carries in `data` what it is for, so a controller that is started again
learns the whole world from one events.subscribe, and media never notices.
"""
import collections
import itertools
import re
import secrets
import sys
import threading

from leatd import LeatdError


def streams_of(offer):
    """{mid: stream}: browsers play sections of one stream in sync, here the n-th audio with the n-th video section."""
    count, streams = collections.Counter(), {}
    for kind, mid in re.findall(r"^m=(audio|video) .*?^a=mid:(\S+)", offer, re.MULTILINE | re.DOTALL):
        streams[mid] = f"slot-{count[kind]}"
        count[kind] += 1
    return streams


def slots_of(viewer):
    """A slot is what shows one publisher: {"audio": mid, "video": mid}."""
    mids = {kind: [s["mid"] for s in viewer["senders"] if s["kind"] == kind] for kind in ("audio", "video")}
    return [{"audio": audio, "video": video} for audio, video in itertools.zip_longest(mids["audio"], mids["video"])]


class Meeting:
    """Who publishes in which room, and whom the slots of each viewer show."""

    def __init__(self, leatd):
        self.leatd, self.changed = leatd, threading.Condition()  # the lock of all that follows
        self.peers = {}  # id -> peer as leatd describes it; a viewer also has "shown": the publisher of each slot
        self.on_event("snapshot", leatd.call("events.subscribe", filter={"types": ["peer.state"]})["snapshot"] or {})

    def on_event(self, method, params):
        with self.changed:
            if method == "snapshot":  # a large world comes in several
                self.peers |= {p["id"]: {**p, "shown": []} for p in params.get("peers", []) if "role" in (p["data"] or {})}
                shown = {(r["to"]["peer"], r["to"]["mid"]): r["from"]["peer"] for r in params.get("routes", []) if r["from"]}
                for viewer in {to for to, _ in shown} & self.peers.keys():
                    self.peers[viewer]["shown"] = [shown.get((viewer, slot["video"]), shown.get((viewer, slot["audio"])))
                                                   for slot in slots_of(self.peers[viewer])]
            elif method == "peer.state" and params["peer"] in self.peers:
                self.peers[params["peer"]]["state"] = params["state"]
            for peer in [p["id"] for p in self.peers.values() if p["state"] == "ended"]:
                self.leave(peer)
            self.settle()

    def join(self, room, data, offer):
        """A browser publishes or watches: (id of its peer, SDP answer)."""
        with self.changed:
            for old in [p["id"] for p in self.peers.values() if data["client"] and p["group"] == room
                        and all(p["data"][key] == data[key] for key in ("role", "client"))]:
                self.leave(old)  # its page was loaded again
            peer = f"{data['role']}-{secrets.token_hex(8)}"
            streams = {"streams": streams_of(offer)} if data["role"] == "viewer" else {}
            made = self.leatd.call("peer.create", id=peer, group=room, data=data, offer=offer, **streams)
            self.peers[peer] = {**made, "group": room, "data": data, "shown": []}
            self.settle()
            return peer, made["answer"]

    def renegotiate(self, peer, offer):
        """A new offer of a peer: more slots, or an ICE restart. Returns the answer."""
        with self.changed:
            streams = {"streams": streams_of(offer)} if peer.startswith("viewer") else {}
            made = self.leatd.call("peer.negotiate", id=peer, offer=offer, **streams)
            self.peers[peer] |= {"tracks": made["tracks"], "senders": made["senders"]}
            self.settle()
            return made["answer"]

    def leave(self, peer):
        with self.changed:
            self.leatd.call("peer.close", id=peer)
            self.peers.pop(peer, None)
            self.settle()

    def publishers(self, room, client, only=None):
        """The connected publishers of a room that a client is to see: not itself; or only the one of a name or id."""
        return [p["id"] for p in self.peers.values() if p["group"] == room and p["data"]["role"] == "publisher"
                and p["state"] == "connected" and (not client or p["data"]["client"] != client)
                and only in (None, p["id"], p["data"]["name"])]

    def settle(self):
        """Slots keep the publisher they show; one whose publisher is gone takes the next that is not shown yet."""
        for viewer in [p for p in self.peers.values() if p["data"]["role"] == "viewer"]:
            wanted = self.publishers(viewer["group"], viewer["data"]["client"], viewer["data"].get("only"))
            slots, shown = slots_of(viewer), viewer["shown"]
            shown += [None] * (len(slots) - len(shown))
            for i, slot in enumerate(slots):
                if shown[i] not in wanted:
                    publisher = next((p for p in wanted if p not in shown), None)
                    if publisher != shown[i]:
                        shown[i] = publisher
                        self.point(viewer["id"], slot, publisher)
        self.changed.notify_all()

    def point(self, viewer, slot, publisher):
        """Let a slot show a publisher, or nobody. The browser is not asked: no renegotiation."""
        tracks = {t["kind"]: {"peer": publisher, "mid": t["mid"]} for t in self.peers[publisher]["tracks"]} if publisher else {}
        routes = [{"to": {"peer": viewer, "mid": mid}, "from": tracks.get(kind)} for kind, mid in slot.items() if mid]
        try:
            self.leatd.call("route.set", routes=routes)
        except LeatdError as error:
            print(f"controller: {viewer} cannot show {publisher}: {error}", file=sys.stderr)

    def watch(self, room, client):
        """Yield what a client's page shows, now and after every change, and at times anyway: so we notice that it left."""
        view = None
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.view(room, client) != view, timeout=15)
                view = self.view(room, client)
            yield view

    def view(self, room, client):
        publishers = [{"id": p, "name": self.peers[p]["data"]["name"]} for p in self.publishers(room, client)]
        slots = [p["shown"] for p in self.peers.values()
                 if p["group"] == room and p["data"]["role"] == "viewer" and p["data"]["client"] == client]
        return {"publishers": publishers, "slots": list(slots[0]) if slots else []}
