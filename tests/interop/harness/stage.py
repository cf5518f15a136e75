# SPDX-License-Identifier: MIT
"""Where calls happen: one network namespace with a daemon, the demo controller and browsers in it.

All is made when first asked for, kept for the following tests, and gone at the end.
"""
import contextlib
import subprocess
import sys
import tempfile

import browser
import netns

from .daemon import ROOT, Daemon
from .page import Call, load
from .program import run, until

HTTP_PORT = 8080
URL = f"http://127.0.0.1:{HTTP_PORT}"


class Demo:
    """The demo controller as a process; the log is shown by explain()."""

    def __init__(self, inside, control_socket):
        self.netns, self.control_socket = inside, control_socket
        self.log = tempfile.TemporaryFile("w+")
        self.process = None

    def __enter__(self):
        self.process = subprocess.Popen(
            self.netns.command(sys.executable, ROOT / "tools/demo/controller.py", "--socket", self.control_socket,
                               "--address", "127.0.0.1", "--port", HTTP_PORT),
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT)
        until(self._is_up, "the demo controller serves its page")
        return self

    def _is_up(self):
        if self.process.poll() is not None:
            self.explain()
            raise AssertionError(f"the demo controller ended at once with status {self.process.returncode}")
        with contextlib.suppress(OSError), self.netns.connect("127.0.0.1", HTTP_PORT, 5.0):
            return True

    def explain(self):
        self.log.seek(0)
        text = self.log.read()
        if text:
            print("  ---- the demo controller said")
            print("  | " + text.replace("\n", "\n  | "))

    def kill(self):
        """As a crash would; enter it again for a new one."""
        self.process.kill()
        self.process.wait()

    def __exit__(self, *_):
        self.kill()
        self.log.close()


class Stage:
    """with Stage() as stage: stage.leatd, stage.demo, stage.chromium(1), stage.firefox, stage.page(browser)"""

    def __init__(self, config=None):
        self.config = config
        self.things = contextlib.ExitStack()
        self.inside = self.leatd = None
        self.browsers, self.pages = {}, []
        self._demo = None

    def __enter__(self):
        with contextlib.ExitStack() as things:
            self.inside = things.enter_context(netns.Namespace("stage"))
            self.leatd = things.enter_context(Daemon(self.inside, self.config))
            self.things = things.pop_all()
        return self

    def __exit__(self, *failure):
        return self.things.__exit__(*failure)

    @property
    def rpc(self):
        return self.leatd.rpc

    @property
    def demo(self):
        if not self._demo:
            self._demo = self.things.enter_context(Demo(self.inside, self.leatd.socket))
        return self._demo

    def _browser(self, key, kind):
        if key not in self.browsers:
            self.browsers[key] = self.things.enter_context(kind(netns=self.inside))
        return self.browsers[key]

    def chromium(self, number=1):
        return self._browser(f"chromium {number}", browser.Chromium)

    @property
    def firefox(self):
        return self._browser("firefox", browser.Firefox)

    def page(self, where, path="/demo.css", is_new=False, **how):
        """A page of a browser, fresh: by default a text of the controller, for its origin."""
        _ = self.demo
        if is_new:
            page = where.new_page()
            self.pages.append(page)
        else:
            page = where.page
        return load(page, URL + path, **how)

    def create(self, call, peer, offer, **more):
        """Make the peer of a page's connection."""
        made = self.rpc.call("peer.create", id=peer, offer=offer, **more)
        call.accept(made["answer"])
        return made

    def publisher(self, page, peer, **what):
        call = Call(page, peer)
        call.made = self.create(call, peer, call.publish(**what))
        return call

    def receiver(self, page, peer, *kinds, streams=None):
        call = Call(page, peer)
        call.made = self.create(call, peer, call.receive(*kinds), streams=streams or {})
        return call

    def tidy(self):
        """After a test: no pages but the first of each browser, no peers."""
        for page in self.pages:
            page.close()
        self.pages.clear()
        for one in self.browsers.values():
            one.page.open("about:blank")
        for peer in self.rpc.call("peer.list")["peers"]:
            self.rpc.call("peer.close", id=peer["id"])
        self.rpc.events.clear()

    def explain(self):
        self.leatd.explain()
        if self._demo:
            self._demo.explain()
        for kind in ("peers", "routes"):
            for one in self.rpc.call("peer.list" if kind == "peers" else "route.list")[kind]:
                print("  | " + kind[:-1], {key: value for key, value in one.items() if key not in ("tracks", "senders", "stats")})


def perform(tests):
    """Run tests on a stage of their own; returns the program's exit status."""
    if not netns.may_create():
        print(f"skip {tests[0].__name__} machine: may not create network namespaces")
        return 0
    only = [test for test in tests if any(word in test.__name__ for word in sys.argv[1:])]
    with Stage() as stage:
        return run(only or tests, stage, tidy=stage.tidy)


def mids(made, part="senders"):
    """{kind: [mid, ...]} of a result's tracks or senders."""
    found = {"audio": [], "video": []}
    for one in made[part]:
        found[one["kind"]].append(one["mid"])
    return found

