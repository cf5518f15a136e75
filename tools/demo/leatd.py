# SPDX-License-Identifier: MIT
"""leatd's control socket from Python: JSON-RPC 2.0 on a Unix socket, one message a line.

    leatd = Leatd("/run/leat/leatd.sock")
    answer = leatd.call("peer.create", id="alice", offer=sdp)["answer"]
    for method, params in leatd.events(): ...
"""
import itertools
import json
import queue
import socket
import threading


class LeatdError(Exception):
    """leatd refused: the text is a sentence for people, .reason the stable word for programs."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.reason = (error.get("data") or {}).get("reason")


class Leatd:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.ids, self.replies, self.notifications = itertools.count(1), {}, queue.Queue()
        self.sending = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def call(self, method, **params):
        number, reply = next(self.ids), queue.Queue()
        self.replies[number] = reply
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        with self.sending:
            self.socket.sendall(json.dumps(message).encode() + b"\n")
        answer = reply.get()
        if "error" in answer:
            raise LeatdError(answer["error"])
        return answer["result"]

    def events(self):
        """(method, params) of each notification, until leatd ends."""
        return iter(self.notifications.get, None)

    def _read(self):
        for line in self.socket.makefile(encoding="utf-8"):
            message = json.loads(line)
            if "method" in message:
                self.notifications.put((message["method"], message["params"]))
            else:
                self.replies.pop(message["id"]).put(message)
        self.notifications.put(None)
        for reply in list(self.replies.values()):
            reply.put({"error": {"message": "leatd is gone"}})
