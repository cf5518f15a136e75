#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# timeout: 600
"""Eight threads exchange keys and sign with one fresh key, under ThreadSanitizer, together with mbedTLS.

The library is built for it from the source of the installed Debian package, which apt fetches with lists of its own; it and
the program stay below the build folder for the next run. The library by itself does race there (2.28 builds a table on first
use without a lock), which shows that the sanitizer sees into it.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

from harness.program import Skip, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["LEAT_BUILD"]).resolve()
FOLDER = BUILD / "key-exchange-threads"
SANITIZE = "-fsanitize=thread"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def call(*command, cwd=FOLDER, **more):
    done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def version():
    """Of the source package whose library is installed."""
    return call("dpkg-query", "-W", "-f", "${source:Version}", "libmbedtls-dev", cwd=ROOT)


def unpack_source(wanted):
    """From the archives that apt is configured for, without a change to its configuration."""
    archives = {tuple(line.split()) for line in call("apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME)",
                                                     "Created-By: Packages", "Origin: Debian", "Component: main").splitlines()}
    (FOLDER / "sources.list").write_text("".join(f"deb-src [signed-by={KEYRING}] {uri} {suite} main\n"
                                                 for uri, suite in sorted(archives)))
    for name in ("lists/partial", "cache/archives/partial"):
        (FOLDER / name).mkdir(parents=True, exist_ok=True)
    options = ["-qq", "-o", f"Dir::Etc::sourcelist={FOLDER}/sources.list", "-o", "Dir::Etc::sourceparts=-",
               "-o", f"Dir::State::lists={FOLDER}/lists", "-o", f"Dir::Cache={FOLDER}/cache", "-o", "APT::Sandbox::User=root"]
    for words in (["update"], ["source", f"mbedtls={wanted}"]):
        done = subprocess.run(["apt-get", *options, *words], cwd=FOLDER, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Skip("machine: its archive does not give the source of mbedTLS: " + done.stderr.strip().splitlines()[-1])


def library():
    """The folder of the sanitized shared libraries, configured as the package is."""
    wanted = version()
    folder = FOLDER / ("mbedtls-" + re.sub(r"^\d+:|-[^-]*$", "", wanted))
    if not (folder / "built").is_file() or (folder / "built").read_text() != wanted:
        FOLDER.mkdir(exist_ok=True)
        if not folder.is_dir():
            unpack_source(wanted)
        for setting in re.findall(r"^\s*scripts/config\.py ((?:set|unset) \w+)$", (folder / "debian/rules").read_text(), re.MULTILINE):
            call("python3", "scripts/config.py", *setting.split(), cwd=folder)
        call("make", "-j2", "-C", "library", "shared", "SHARED=1", "CC=gcc", f"CFLAGS=-O1 -g -fPIC {SANITIZE}", f"LDFLAGS={SANITIZE}",
             cwd=folder)
        (folder / "built").write_text(wanted)
    return folder / "library"


def program():
    """kx_threads, instrumented throughout."""
    build = FOLDER / "leat"
    if not (build / "build.ninja").is_file():
        call("meson", "setup", str(build), str(ROOT), "-Db_sanitize=thread", "-Db_lundef=false", "-Ddebug=true", cwd=ROOT)
    options = {option["name"]: option["value"] for option in
               json.loads((build / "meson-info/intro-buildoptions.json").read_text())}
    assert options["b_sanitize"] in ("thread", ["thread"]), options["b_sanitize"]
    call("ninja", "-C", str(build), "tests/unit/dtls/kx_threads", cwd=ROOT)
    return build / "tests/unit/dtls/kx_threads"


def work_of(provider):
    """(status, what it said, reports of the sanitizer)."""
    shared, binary = library(), program()
    environment = {**os.environ, "LD_LIBRARY_PATH": str(shared), "TSAN_OPTIONS": "halt_on_error=0 exitcode=66"}
    linked = call("ldd", str(binary), env=environment)
    assert re.search(rf"libmbedcrypto\S+ => {re.escape(str(shared))}/", linked), linked
    done = subprocess.run([binary, provider], env=environment, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


def threads__libcrypto__no_race():
    status, said, reports = work_of("openssl")
    assert status == 0 and "0 of 128 failed" in said and "WARNING" not in reports, (status, said, reports[:4000])


def threads__library_itself__races_where_it_has_no_lock():
    if not version().startswith("2."):
        raise Skip("machine: this mbedTLS has its tables from the compiler")
    status, said, reports = work_of("mbedtls")
    assert status == 66 and "data race" in reports and "ecp" in reports, (status, said, reports[:4000])


if __name__ == "__main__":
    sys.exit(run([threads__libcrypto__no_race, threads__library_itself__races_where_it_has_no_lock]))
