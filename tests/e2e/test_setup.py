#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# build: release
"""tools/setup: what it asks the package manager for, which is a stand-in here that writes down what it was asked."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "interop"))
from harness.daemon import ROOT
from harness.program import run

NEEDED = {"gcc", "meson", "libmbedtls-dev"}
OPTIONAL = {"libssl-dev", "libipsec-mb-dev"}


def names():
    """All packages of the build's list, as its lines begin."""
    lines = (ROOT / "tools/packages/build.txt").read_text().splitlines()
    return {line.split()[0] for line in lines if line.strip() and not line.startswith("#")}


def asked(arch="amd64", missing=(), archive=(), user=0, sudo=False):
    """(exit status, what it said, the calls of apt-get) on a machine that lacks `missing`, whose archive has `archive`."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        installed = "".join(f"installed {name}\n" for name in sorted(names() - set(missing)))
        stand_ins = {
            "dpkg": f'echo {arch}', "dpkg-query": f"cat <<'TEXT'\n{installed}TEXT", "id": f"echo {user}",
            "apt-cache": f'case " {" ".join(archive)} " in *" $2 "*) ;; *) exit 100 ;; esac',
            "apt-get": f'echo "$*" >>"{folder}/calls"',
        }
        if sudo:
            stand_ins["sudo"] = 'exec "$@"'
        for name, text in stand_ins.items():
            (folder / name).write_text(f"#!/bin/sh\n{text}\n")
            (folder / name).chmod(0o755)
        for tool in ("bash", "sh", "env", "dirname", "sed", "awk", "sort", "comm", "cat"):
            (folder / tool).symlink_to(next(path for path in (pathlib.Path(d) / tool for d in os.defpath.split(":") if d) if path.exists()))
        done = subprocess.run(["bash", ROOT / "tools/setup", "build"], env={"PATH": str(folder)}, capture_output=True, text=True,
                              timeout=60, check=False)
        calls = (folder / "calls").read_text().splitlines() if (folder / "calls").is_file() else []
        return done.returncode, done.stdout + done.stderr, calls


def installed_by(calls):
    """The packages of the one call that installs."""
    assert [call.split()[0] for call in calls] == ["update", "install"], calls
    return set(calls[1].split()) & (names() | OPTIONAL)


def lists__name_what_these_tests_count_on():
    assert NEEDED | OPTIONAL <= names(), names()


def setup__nothing_is_missing__nothing_is_done():
    assert asked(archive=names()) == (0, "", [])


def setup__needed_and_optional_missing__installs_both():
    status, _, calls = asked(missing=["gcc", "libssl-dev"], archive=names())
    assert status == 0 and installed_by(calls) == {"gcc", "libssl-dev"}, calls


def setup__optional_that_the_archive_lacks__no_error_and_nothing_is_done():
    assert asked(missing=["libssl-dev", "libipsec-mb-dev"]) == (0, "", [])
    status, _, calls = asked(missing=["gcc", "libipsec-mb-dev"], archive=["gcc"])
    assert status == 0 and installed_by(calls) == {"gcc"}, calls


def setup__needed_that_the_archive_lacks__is_asked_for_all_the_same():
    _, _, calls = asked(missing=["gcc"])
    assert installed_by(calls) == {"gcc"}, calls


def setup__package_of_another_architecture__is_not_wanted():
    assert asked(arch="arm64", missing=["libipsec-mb-dev"], archive=names()) == (0, "", [])
    status, _, calls = asked(arch="arm64", missing=["libipsec-mb-dev", "libssl-dev"], archive=names())
    assert status == 0 and installed_by(calls) == {"libssl-dev"}, calls
    status, _, calls = asked(arch="amd64", missing=["libipsec-mb-dev"], archive=names())
    assert status == 0 and installed_by(calls) == {"libipsec-mb-dev"}, calls


def setup__neither_root_nor_sudo__an_error_only_for_what_is_needed():
    status, said, calls = asked(missing=["gcc", "libssl-dev"], archive=names(), user=1000)
    assert status == 1 and calls == [] and "as root run: apt-get install gcc libssl-dev" in said, said
    assert asked(missing=["libssl-dev"], archive=names(), user=1000) == (0, "", [])
    status, _, calls = asked(missing=["gcc"], archive=names(), user=1000, sudo=True)
    assert status == 0 and installed_by(calls) == {"gcc"}, calls


def main():
    return run([lists__name_what_these_tests_count_on, setup__nothing_is_missing__nothing_is_done,
                setup__needed_and_optional_missing__installs_both,
                setup__optional_that_the_archive_lacks__no_error_and_nothing_is_done,
                setup__needed_that_the_archive_lacks__is_asked_for_all_the_same,
                setup__package_of_another_architecture__is_not_wanted,
                setup__neither_root_nor_sudo__an_error_only_for_what_is_needed])


if __name__ == "__main__":
    sys.exit(main())
