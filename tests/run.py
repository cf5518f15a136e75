#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build, run every test, add up. Called by tools/test, which says what the options mean.

Three kinds of test are known:
  - meson's (unit, scenario, fuzz: in the sanitized build; lint: in the release build). A program that ends with
    `N passed, N failed` counts as that many tests, any other as one;
  - tests/e2e/test_*.py, run against the release and the sanitized daemon;
  - tests/interop/test_*.py (real browsers and libraries), run against the release daemon.
The Python programs print `ok NAME`, `not ok NAME` or `skip NAME REASON` lines and exit with 0 when nothing failed. They find
the build by LEAT_BUILD and the daemon by LEATD. Comments near their top may say `# timeout: SECONDS` and `# build: release`.

With CI set a skip counts as a failure, unless its reason begins with `machine:`, which says that the machine, not the
set-up, lacks something (a permission, a kernel feature).
"""
import argparse
import ctypes
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
LOGS = BUILD / "test-logs"
BUILDS = {  # name -> (CC, meson options)
    "release": ("gcc", []),
    "asan": ("gcc", ["-Dsanitize=true", "-Ddebug=true"]),
    "clang": ("clang", []),
}
TIMEOUT_S = 300  # of a Python program, unless it says otherwise
BUILD_TIMEOUT_S = 1800
MESON_TIMEOUT_FACTOR = 4  # a busy machine with two cores
LOG_TAIL = 40  # lines of a failed test's log that are shown
LOG_WIDTH = 400  # and how much of each
IN_CI = bool(os.environ.get("CI"))

PR_SET_CHILD_SUBREAPER = 36


class Tally:
    """What happened so far; every count is of single tests, not of programs."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.failures = []

    def add(self, name, passed=0, failed=0, skipped=0, seconds=0.0, log=None, note=""):
        self.passed, self.failed, self.skipped = self.passed + passed, self.failed + failed, self.skipped + skipped
        word = "not ok" if failed else "skip" if skipped and not passed else "ok"
        counts = f"{passed} passed" + (f", {failed} failed" if failed else "") + (f", {skipped} skipped" if skipped else "")
        print(f"{word:<6} {name:<46} {counts}, {seconds:.1f} s{' ' + note if note else ''}", flush=True)
        if failed:
            self.failures.append(name)
            show_tail(log)

    def finish(self):
        if self.failures:
            print("failed: " + ", ".join(self.failures))
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        print(f"{self.passed} passed, {self.failed} failed{skipped}", flush=True)
        return 1 if self.failed or not self.passed else 0


def show_tail(log):
    if log is None or not log.is_file():
        return
    lines = log.read_text(errors="replace").splitlines()
    print(f"  ---- last lines of {log.relative_to(ROOT)} ({len(lines)} lines)")
    for line in lines[-LOG_TAIL:]:
        print("  | " + line[:LOG_WIDTH])


def own_processes():
    """Every process that descends from this one. Orphans do too: this process is their subreaper."""
    children = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, queue = [], [os.getpid()]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found


def end_leftovers():
    """End what a test left running, whichever session or process group it moved to."""
    for number, grace_s in ((signal.SIGTERM, 3.0), (signal.SIGKILL, 1.0)):
        until = time.monotonic() + grace_s
        for pid in own_processes():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass
        while time.monotonic() < until:
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                return
            time.sleep(0.05)


def run_logged(command, log, timeout_s, env=None):
    """Run a command with its output in a log. (exit status or None when it ran out of time, seconds)."""
    log.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT,
                                   env={**os.environ, **(env or {})})
        try:
            status = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            status = None
            out.write(f"\nran out of time: {timeout_s} s\n".encode())
        finally:
            end_leftovers()
    return status, time.monotonic() - started


def build(name, tally):
    """Configure when needed and compile. A build that works counts as one test."""
    compiler, options = BUILDS[name]
    folder, log = BUILD / name, LOGS / f"build-{name}.log"
    seconds = 0.0
    if not (folder / "build.ninja").is_file():
        status, seconds = run_logged(["meson", "setup", folder, ROOT, *options], log, BUILD_TIMEOUT_S, {"CC": compiler})
        if status != 0:
            tally.add(f"build {name}", failed=1, seconds=seconds, log=log)
            return False
    status, more = run_logged(["ninja", "--quiet", "-C", folder], log, BUILD_TIMEOUT_S)
    tally.add(f"build {name}", passed=int(status == 0), failed=int(status != 0), seconds=seconds + more, log=log)
    return status == 0


def count_meson_test(record):
    """(passed, failed, skipped) of one line of testlog.json."""
    if record["result"] == "SKIP":
        return (0, 1, 0) if IN_CI else (0, 0, 1)
    is_ok = record["result"] in ("OK", "EXPECTEDFAIL")
    inner = re.findall(r"^(\d+) passed, (\d+) failed", record.get("stdout") or "", re.MULTILINE)
    if not inner:
        return int(is_ok), int(not is_ok), 0
    passed, failed = (sum(int(pair[i]) for pair in inner) for i in (0, 1))
    if not is_ok and failed == 0:
        failed = 1  # it died, or the sanitizer spoke, after the last test
    return passed, failed, 0


def run_meson_tests(name, selection, only, tally):
    """Run the tests of one build, selected by suite, and count each program's inner tests."""
    folder = BUILD / name
    listed = subprocess.run(["meson", "introspect", folder, "--tests"], stdout=subprocess.PIPE, text=True, check=True)
    suites = {"lint"} if selection == "lint" else {"unit", "scenario", "fuzz"}
    names = sorted({test["name"] for test in json.loads(listed.stdout)
                    if suites & {suite.split(":")[-1] for suite in test["suite"]}
                    and (not only or only.search(f"{name} {test['name']}"))})
    if not names:
        return
    result = folder / "meson-logs/testlog.json"
    result.unlink(missing_ok=True)
    log = LOGS / f"meson-{name}-{selection}.log"
    run_logged(["meson", "test", "-C", folder, "--no-rebuild", "-t", str(MESON_TIMEOUT_FACTOR), *names], log, BUILD_TIMEOUT_S,
               {"ASAN_OPTIONS": "detect_stack_use_after_return=1", "UBSAN_OPTIONS": "print_stacktrace=1"})
    seen = set()
    for line in result.read_text().splitlines() if result.is_file() else []:
        record = json.loads(line)
        test = record["name"].split(" / ")[-1]
        seen.add(test)
        one = LOGS / f"{name}-{test.replace('/', '-')}.log"
        one.write_text((record.get("stdout") or "") + (record.get("stderr") or "") + f"\n{record['result']}\n")
        tally.add(f"{name} {test}", *count_meson_test(record), seconds=record["duration"], log=one)
    for test in sorted(set(names) - seen):
        tally.add(f"{name} {test}", failed=1, log=log, note="(gave no result)")


def program_setting(program, key, default):
    """The value of a `# key: value` comment among the first lines of a program."""
    head = "\n".join(program.read_text().splitlines()[:15])
    found = re.search(rf"^# {key}: (\S+)", head, re.MULTILINE)
    return found.group(1) if found else default


def run_program(program, build_name, tally):
    folder = BUILD / build_name
    name = f"{build_name} {program.parent.name}/{program.stem}"
    log = LOGS / f"{build_name}-{program.parent.name}-{program.stem}.log"
    timeout_s = int(program_setting(program, "timeout", TIMEOUT_S))
    status, seconds = run_logged([sys.executable, "-u", program], log, timeout_s,
                                 {"LEAT_BUILD": str(folder), "LEATD": str(folder / "src/daemon/leatd"),
                                  "PYTHONDONTWRITEBYTECODE": "1"})
    text = log.read_text(errors="replace")
    passed = len(re.findall(r"^ok \S", text, re.MULTILINE))
    failed = len(re.findall(r"^not ok \S", text, re.MULTILINE))
    skips = re.findall(r"^skip (\S+) *(.*)", text, re.MULTILINE)
    note = "; ".join(f"{test}: {reason}" for test, reason in skips)
    if IN_CI:
        failed += sum(not reason.startswith("machine:") for _, reason in skips)
        skips = [skip for skip in skips if skip[1].startswith("machine:")]
    if status != 0 and failed == 0 or passed + failed + len(skips) == 0:
        failed += 1
        note = "(ran out of time)" if status is None else f"(exit status {status})"
    tally.add(name, passed, failed, len(skips), seconds, log, note)


def run_programs(folder, builds, only, tally):
    for program in sorted((ROOT / "tests" / folder).glob("test_*.py")):
        for name in builds:
            wanted = program_setting(program, "build", name)
            if wanted == name and (not only or only.search(f"{name} {folder}/{program.stem}")):
                run_program(program, name, tally)


def main():
    parser = argparse.ArgumentParser(prog="tools/test", description="Build leat and run its tests.")
    parser.add_argument("--quick", action="store_true", help="without browsers and other implementations")
    parser.add_argument("--full", action="store_true", help="also build with clang (always done when CI is set)")
    parser.add_argument("--only", metavar="PATTERN", help="only tests whose names match this regular expression")
    parser.add_argument("--pure", action="store_true", help="only the sanitized unit and scenario tests")
    options = parser.parse_args()
    only = re.compile(options.only) if options.only else None
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    tally = Tally()
    has_asan = build("asan", tally)
    if has_asan:
        run_meson_tests("asan", "all", only, tally)
    if not options.pure:
        has_release = build("release", tally)
        if has_release:
            run_meson_tests("release", "lint", only, tally)
        if options.full or IN_CI:
            build("clang", tally)
        run_programs("e2e", ["release"] * has_release + ["asan"] * has_asan, only, tally)
        if has_release and not options.quick:
            run_programs("interop", ["release"], only, tally)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
