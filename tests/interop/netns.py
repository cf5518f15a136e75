# SPDX-License-Identifier: MIT
"""Network namespaces for tests: make one, open sockets in it, run programs in it.

A socket belongs to the namespace of the thread that created it, so a test needs no process of its own in there:

    with Namespace("call") as inside:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
        server.socket = inside.socket()
        subprocess.Popen(inside.command("leatd", "--config", path))
"""
import contextlib
import ctypes
import os
import socket
import subprocess

CLONE_NEWNET = 0x40000000
ADDRESS = "10.78.0.1"  # of the interface beside lo
LIBC = ctypes.CDLL(None, use_errno=True)


def may_create():
    """Whether this process may make network namespaces; say `skip NAME machine: ...` when it may not."""
    name = f"leat-{os.getpid()}-probe"
    done = subprocess.run(["ip", "netns", "add", name], stderr=subprocess.DEVNULL, check=False)
    if done.returncode == 0:
        subprocess.run(["ip", "netns", "del", name], check=True)
    return done.returncode == 0


@contextlib.contextmanager
def entered(path):
    """This thread is in the namespace of the path while the body runs."""
    with open("/proc/thread-self/ns/net", "rb") as outside, open(path, "rb") as inside:
        _setns(inside.fileno())
        try:
            yield
        finally:
            _setns(outside.fileno())


def _setns(fd):
    if LIBC.setns(fd, CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


class Namespace:
    """lo, and a veth with an address, a second address and a default route that leads nowhere.

    Firefox and libnice gather no candidate on lo and want a default route, so they and the daemon meet on ADDRESS.
    """

    def __init__(self, name):
        self.name = f"leat-{os.getpid()}-{name}"
        self.path = f"/run/netns/{self.name}"
        self.address = ADDRESS

    def __enter__(self):
        subprocess.run(["ip", "netns", "add", self.name], check=True)
        try:
            for line in ("link set lo up", "link add v0 type veth peer name v1", f"addr add {ADDRESS}/24 dev v0",
                         "addr add fd78::1/64 dev v0 nodad", "link set v0 up", "link set v1 up",
                         "route add default via 10.78.0.2"):
                self.ip(*line.split())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        subprocess.run(["ip", "netns", "del", self.name], check=False)

    def ip(self, *arguments):
        """One `ip` command inside."""
        subprocess.run(["ip", "-n", self.name, *arguments], check=True)

    def command(self, *arguments):
        """The command line that runs a program inside."""
        return ["ip", "netns", "exec", self.name, *[str(argument) for argument in arguments]]

    def socket(self, family=socket.AF_INET, kind=socket.SOCK_STREAM):
        with entered(self.path):
            return socket.socket(family, kind)

    def connect(self, host, port, timeout=10.0):
        made = self.socket()
        made.settimeout(timeout)
        made.connect((host, port))
        return made
