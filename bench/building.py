# SPDX-License-Identifier: MIT
"""Building and running the bench programs of a source tree, and what to say about the machine."""
import json
import os
import pathlib
import re
import shlex
import subprocess
import time

import rows

ORDER = ("crypto", "stun", "dtls", "srtp")
LIBRARIES = ("libmbedcrypto*", "libssl3*", "libsrtp2-1", "libipsec-mb[0-9]*")
CPU_FLAGS = ("aes", "sha_ni", "vaes", "avx2", "avx512f")


class Failed(Exception):
    """Something could not be built or run; the text says what."""


def modules(source):
    """The modules that have a bench program, in the order in which they build upon each other."""
    found = {path.stem[len("bench_"):] for path in (source / "bench").glob("bench_*.c")}
    return [name for name in ORDER if name in found] + sorted(found - set(ORDER))


def check_modules(wanted, source):
    """The modules asked for, or all."""
    there = modules(source)
    for name in wanted:
        if name not in there:
            raise Failed(f"'{name}' has no bench; there are {', '.join(there)}")
    return [name for name in there if name in wanted or not wanted]


def run_logged(command, log, **more):
    with open(log, "ab") as out:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, check=False,
                              **more).returncode


def configure(source, folder, log):
    """The release build as tools/run and tools/test have it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not (folder / "build.ninja").is_file() and run_logged(
            ["meson", "setup", folder, source], log, env={**os.environ, "CC": "gcc"}) != 0:
        raise Failed(f"{source} cannot be configured:\n{tail(log)}")


def build(folder, module, log):
    """@return whether the module's program could be built."""
    return run_logged(["ninja", "-C", folder, f"bench/bench_{module}"], log) == 0


def tail(log, count=30):
    return "\n".join(pathlib.Path(log).read_text(errors="replace").splitlines()[-count:])


def run_program(folder, module, arguments):
    """The rows of one run. A program's progress and complaints go where ours go."""
    done = subprocess.run([folder / f"bench/bench_{module}", "--json", *arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"bench_{module} ended with status {done.returncode}")
    return rows.parse(done.stdout.splitlines(), f"bench_{module}")[1]


def list_rows(folder, module, arguments):
    """The rows that a run with these arguments has, as text."""
    done = subprocess.run([folder / f"bench/bench_{module}", "--list", *arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"bench_{module} ended with status {done.returncode}")
    return done.stdout.splitlines()


def output_of(*command):
    """The first line that a command prints, or nothing."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip().split("\n")[0] if done.returncode == 0 else ""


def commit_of(source):
    commit = output_of("git", "-C", source, "rev-parse", "--short=12", "HEAD")
    changed = output_of("git", "-C", source, "status", "--porcelain", "--untracked-files=no")
    return commit + (" with changes" if changed else "")


def library_versions():
    done = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${source:Package} ${Version}\n", *LIBRARIES],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    found = {line.split(" ", 1)[1] for line in done.stdout.splitlines() if line.startswith("installed ")}
    return sorted(found)


def environment(source, command):
    """What has to stand beside figures."""
    info = pathlib.Path("/proc/cpuinfo").read_text(errors="replace")
    model = re.search(r"^model name\s*:\s*(.*)", info, re.MULTILINE)
    flags = (re.search(r"^(?:flags|Features)\s*:\s*(.*)", info, re.MULTILINE) or ["", ""])[1].split()
    release = pathlib.Path("/etc/os-release")
    system = re.search(r'^PRETTY_NAME="?([^"\n]*)', release.read_text() if release.is_file() else "", re.MULTILINE)
    try:
        libraries = library_versions()
    except OSError:
        libraries = []
    return {
        "cpu": f"{model[1] if model else os.uname().machine}, {os.cpu_count()} CPUs"
               f" ({', '.join(flag for flag in CPU_FLAGS if flag in flags)})",
        "system": f"{system[1] if system else os.uname().sysname}, Linux {os.uname().release}",
        "compiler": output_of("gcc", "--version"),
        "libraries": ", ".join(libraries),
        "commit": commit_of(source),
        "command": shlex.join(command),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "load": f"{os.getloadavg()[0]:.1f} (mean of the minute before)",
    }


def environment_line(found):
    return json.dumps({"environment": found}, ensure_ascii=False)


def show_environment(found, markdown):
    if not found:
        return ""
    mark = "- " if markdown else ""
    return "\n".join(f"{mark}{name}: {f'`{value}`' if markdown and name in ('commit', 'command') else value}"
                     for name, value in found.items() if value) + "\n"
