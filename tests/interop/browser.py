# SPDX-License-Identifier: MIT
"""Drive real browsers, headless, with Python's standard library alone.

    with Chromium() as browser:                       # or Firefox(); netns=Namespace runs it in there
        browser.open("http://localhost:8080/")
        title = browser.evaluate("async (suffix) => document.title + suffix", "!")

Chromium is driven by Debian's chromedriver (W3C WebDriver over HTTP), Firefox by its own WebDriver BiDi (JSON over a
WebSocket). Both have a camera and a microphone that need no permission and play without a click. A browser starts with one
page; new_page() opens more, each with open, evaluate, screenshot and close of its own.
"""
import base64
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

from websocket import WebSocket

START_TIMEOUT_S = 60.0
COMMAND_TIMEOUT_S = 60.0
CHROMIUM = "/usr/bin/chromium"
CHROMEDRIVER = "/usr/bin/chromedriver"
FIREFOX = "/usr/bin/firefox-esr"

CHROMIUM_FLAGS = [
    "--headless=new", "--window-size=1280,900", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--autoplay-policy=no-user-gesture-required",
    "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", "--allow-loopback-in-peer-connection",
    # Pages beside the one in front keep their timers and go on playing.
    "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
]

FIREFOX_PREFS = {
    "media.navigator.streams.fake": True,
    "media.navigator.permission.disabled": True,
    "media.autoplay.default": 0,
    "media.autoplay.blocking_policy": 0,
    "remote.active-protocols": 1,  # WebDriver BiDi
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "browser.tabs.remote.separatePrivilegedMozillaWebContentProcess": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.enabled": False,
    "app.update.disabledForTesting": True,
    "app.normandy.enabled": False,
    "extensions.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "dom.min_background_timeout_value": 4,
    "dom.timeout.enable_budget_timer_throttling": False,
}


class BrowserError(Exception):
    """The browser or its driver refused, or a script in the page threw."""


class Browser:
    """What both have in common: a profile of their own, a process of their own, a first page."""

    def __init__(self, netns=None):
        self.netns = netns
        self.process = None
        self.page = None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="leat-browser-"))
        self.log = (self.folder / "log").open("wb")

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def open(self, url):
        self.page.open(url)

    def evaluate(self, function, *arguments, timeout=COMMAND_TIMEOUT_S):
        return self.page.evaluate(function, *arguments, timeout=timeout)

    def screenshot(self, path):
        self.page.screenshot(path)

    def _spawn(self, command):
        """Start a program in a session of its own, so that all that it starts can be found again."""
        if self.netns:
            command = self.netns.command(*command)
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=subprocess.STDOUT, start_new_session=True,
                                        env={**os.environ, "HOME": str(self.folder), "TMPDIR": str(self.folder),
                                             "MOZ_DISABLE_CONTENT_SANDBOX": "1",
                                             "MOZ_CRASHREPORTER_DISABLE": "1"})

    def _await_line(self, pattern):
        """The first group of a pattern that the program prints once it is ready."""
        until = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < until:
            text = (self.folder / "log").read_text(errors="replace")
            found = re.search(pattern, text)
            if found:
                return found.group(1)
            if self.process.poll() is not None:
                raise BrowserError(f"{self.process.args[0]} ended at once:\n{text[-2000:]}")
            time.sleep(0.05)
        raise BrowserError(f"{self.process.args[0]} did not get ready:\n{text[-2000:]}")

    def close(self):
        """End the browser. Nothing that it started is left."""
        try:
            if self.process:
                self._say_goodbye()
        except (BrowserError, OSError, http.client.HTTPException):
            pass  # it is killed below
        finally:
            if self.process:
                self._kill()
            self.log.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _kill(self):
        until = time.monotonic() + 5
        number = signal.SIGTERM
        while (pids := processes_of_session(self.process.pid)) and time.monotonic() < until + 5:
            for pid in pids:
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    pass
            self.process.poll()
            time.sleep(0.05)
            if time.monotonic() > until:
                number = signal.SIGKILL
        self.process.wait()


def processes_of_session(session):
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


class Chromium(Browser):
    """flags: more command line switches."""

    def __init__(self, netns=None, flags=()):
        super().__init__(netns)
        self.flags = list(flags)
        self.port = 0
        self.session = ""

    def start(self):
        self._spawn([CHROMEDRIVER, "--port=0", "--allowed-ips=127.0.0.1"])
        self.port = int(self._await_line(r"started successfully on port (\d+)"))
        options = {"binary": CHROMIUM,
                   "args": CHROMIUM_FLAGS + self.flags + [f"--user-data-dir={self.folder / 'profile'}"]}
        reply = self._request("POST", "/session", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}})
        self.session = "/session/" + reply["sessionId"]
        self.page = ChromiumPage(self, self.command("GET", "/window"))

    def new_page(self):
        return ChromiumPage(self, self.command("POST", "/window/new", {"type": "window"})["handle"])

    def command(self, method, path, body=None, timeout=COMMAND_TIMEOUT_S):
        return self._request(method, self.session + path, body, timeout)

    def _request(self, method, path, body=None, timeout=COMMAND_TIMEOUT_S):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        if self.netns:
            connection.sock = self.netns.connect("127.0.0.1", self.port, timeout)
        try:
            connection.request(method, path, None if body is None else json.dumps(body),
                               {"Content-Type": "application/json"})
            value = json.loads(connection.getresponse().read())["value"]
        finally:
            connection.close()
        if isinstance(value, dict) and "error" in value and "stacktrace" in value:
            raise BrowserError(f"{value['error']}: {value['message'].splitlines()[0]}")
        return value

    def _say_goodbye(self):
        if self.session:
            self.command("DELETE", "", timeout=10)


class ChromiumPage:
    SCRIPT = """
        const done = arguments[2];
        (async () => ({value: await (%s)(...JSON.parse(arguments[0]))}))()
            .catch(e => ({thrown: String(e && e.stack || e)})).then(v => done(JSON.stringify(v)));"""

    def __init__(self, browser, handle):
        self.browser, self.handle = browser, handle

    def _command(self, method, path, body=None, timeout=COMMAND_TIMEOUT_S):
        if self.browser.page:  # with one page only there is nothing to switch
            self.browser.command("POST", "/window", {"handle": self.handle})
        return self.browser.command(method, path, body, timeout)

    def open(self, url):
        self._command("POST", "/url", {"url": url})

    def evaluate(self, function, *arguments, timeout=COMMAND_TIMEOUT_S):
        """Call an async JavaScript function in the page; arguments and result are JSON values."""
        self._command("POST", "/timeouts", {"script": int(timeout * 1000)})
        text = self._command("POST", "/execute/async", {"script": self.SCRIPT % function,
                                                        "args": [json.dumps(arguments), None]}, timeout + 10)
        return _unwrap(text)

    def screenshot(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self._command("GET", "/screenshot")))

    def close(self):
        self._command("DELETE", "/window")


class Firefox(Browser):
    """prefs: more preferences."""

    def __init__(self, netns=None, prefs=None):
        super().__init__(netns)
        self.prefs = {**FIREFOX_PREFS, **(prefs or {})}
        self.channel = None
        self.last_id = 0

    def start(self):
        profile = self.folder / "profile"
        profile.mkdir()
        (profile / "user.js").write_text("".join(
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in self.prefs.items()))
        self._spawn([FIREFOX, "--headless", "--no-remote", "--remote-debugging-port=0", "--profile", profile,
                     "--width", "1280", "--height", "900"])
        port = int(self._await_line(r"WebDriver BiDi listening on ws://127\.0\.0\.1:(\d+)"))
        self.channel = WebSocket("127.0.0.1", port, "/session", COMMAND_TIMEOUT_S,
                                 self.netns.connect if self.netns else None)
        self.command("session.new", {"capabilities": {}})
        tree = self.command("browsingContext.getTree", {})
        self.page = FirefoxPage(self, tree["contexts"][0]["context"])

    def new_page(self):
        return FirefoxPage(self, self.command("browsingContext.create", {"type": "window"})["context"])

    def command(self, method, params, timeout=COMMAND_TIMEOUT_S):
        self.last_id += 1
        self.channel.send(json.dumps({"id": self.last_id, "method": method, "params": params}))
        until = time.monotonic() + timeout
        while True:
            reply = json.loads(self.channel.receive(until - time.monotonic()))
            if reply.get("id") == self.last_id:  # anything else is an event
                break
        if reply["type"] == "error":
            raise BrowserError(f"{method}: {reply['error']}: {reply['message']}")
        return reply["result"]

    def _say_goodbye(self):
        if self.channel:
            self.command("browser.close", {}, timeout=10)
            self.channel.close()


class FirefoxPage:
    SCRIPT = """async (text) => JSON.stringify(
        await (async () => ({value: await (%s)(...JSON.parse(text))}))()
            .catch(e => ({thrown: String(e) + '\\n' + (e && e.stack || '')})))"""

    def __init__(self, browser, context):
        self.browser, self.context = browser, context

    def open(self, url):
        self.browser.command("browsingContext.navigate", {"context": self.context, "url": url, "wait": "complete"})

    def evaluate(self, function, *arguments, timeout=COMMAND_TIMEOUT_S):
        """Call an async JavaScript function in the page; arguments and result are JSON values."""
        reply = self.browser.command("script.callFunction", {
            "functionDeclaration": self.SCRIPT % function, "awaitPromise": True, "userActivation": True,
            "arguments": [{"type": "string", "value": json.dumps(arguments)}], "target": {"context": self.context}},
            timeout)
        if reply["type"] == "exception":
            raise BrowserError(reply["exceptionDetails"]["text"])
        return _unwrap(reply["result"]["value"])

    def screenshot(self, path):
        reply = self.browser.command("browsingContext.captureScreenshot", {"context": self.context})
        pathlib.Path(path).write_bytes(base64.b64decode(reply["data"]))

    def close(self):
        self.browser.command("browsingContext.close", {"context": self.context})


def _unwrap(text):
    result = json.loads(text)
    if "thrown" in result:
        raise BrowserError(result["thrown"])
    return result.get("value")
