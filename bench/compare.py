# SPDX-License-Identifier: MIT
"""Two revisions on one machine: builds both in work trees of their own, runs their benches in turn, judges each row.

A difference counts when it is larger than the noise, which is measured: how far a side's runs of the same row lie apart,
and at least what is typical of all rows, so that two runs that agree by luck prove nothing.
"""
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

import building
import rows

SIDES = ("base", "head")


@dataclasses.dataclass
class Plan:
    base: str
    head: str = "HEAD"
    arguments: list = dataclasses.field(default_factory=list)  # for the programs
    rounds: int = 5
    is_ported: bool = False  # differing bench sources: take the head's on both sides


@dataclasses.dataclass
class Result:
    """One row; `old` and `new` are the medians of each of a side's runs, empty where it has no such row."""
    row: dict
    old: list
    new: list
    is_ported: bool = False


# ---- judging

def reach(figures):
    return max(figures) - min(figures)


def spread(figures):
    return reach(figures) / statistics.median(figures)


def typical_noise(results):
    """The median over the rows that both sides have; 0 without any."""
    spreads = [max(spread(result.old), spread(result.new)) for result in results if result.old and result.new]
    return statistics.median(spreads) if spreads else 0.0


def judge(result, typical):
    """What the report says of one row."""
    said = {field: result.row[field] for field in rows.KEY if result.row.get(field) is not None}
    said.update({side: statistics.median(runs) for side, runs in (("old", result.old), ("new", result.new)) if runs})
    if not result.new:
        said["verdict"] = "only in base"
    elif not result.old:
        said["verdict"] = "only in head"
    else:
        noise = max(reach(result.old), reach(result.new), typical * max(said["old"], said["new"]))
        is_apart = max(result.new) < min(result.old) or max(result.old) < min(result.new)
        is_outside = is_apart and abs(said["new"] - said["old"]) > noise
        said.update(ratio=round(said["new"] / said["old"], 4), noise=round(noise / said["old"], 4),
                    verdict="within noise" if not is_outside else "faster" if said["new"] < said["old"] else "slower")
    if result.is_ported:
        said["ported"] = True
    return said


def collect(old_runs, new_runs, is_ported):
    """Results of one program from the rows of each of its runs, in the order of the newer side."""
    figures = {}
    for side, runs in ((1, new_runs), (0, old_runs)):
        for run in runs:
            for row in run:
                entry = figures.setdefault(rows.key_of(row), (row, [], []))
                entry[1 + side].append(row["ns"])
    return [Result(row, old, new, is_ported) for row, old, new in figures.values()]


# ---- the two trees

def commit_of(root, revision):
    done = subprocess.run(["git", "-C", root, "rev-parse", "--verify", "--quiet", revision + "^{commit}"],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise building.Failed(f"'{revision}' names no commit")
    return done.stdout.strip()


@contextlib.contextmanager
def work_trees(root, commits):
    """{side: path}; gone afterwards, whatever happens."""
    with tempfile.TemporaryDirectory(prefix="leat-bench-") as folder:
        trees = {side: pathlib.Path(folder) / side for side in SIDES}
        try:
            for side, tree in trees.items():
                subprocess.run(["git", "-C", root, "worktree", "add", "--quiet", "--detach", tree, commits[side]], check=True)
            yield trees
        except subprocess.CalledProcessError as error:
            raise building.Failed(f"{error.cmd[0]} ended with status {error.returncode}") from None
        finally:
            before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
            for tree in trees.values():
                subprocess.run(["git", "-C", root, "worktree", "remove", "--force", tree], stderr=subprocess.DEVNULL, check=False)
            for number, handler in before.items():
                signal.signal(number, handler)


def sources_of(folder, module, tree):
    """The files of the tree's bench/ that a built program is made of."""
    listed = subprocess.run(["ninja", "-C", folder, "-t", "deps"], stdout=subprocess.PIPE, text=True, check=True).stdout
    found, is_ours = set(), False
    for line in listed.splitlines():
        target = re.match(r"(\S+): #deps", line)
        if target:
            program = re.match(r"bench/bench_(\w+)\.p/", target[1])
            is_ours = target[1].startswith("bench/") and (not program or program[1] == module)
        elif is_ours and line.strip():
            path = pathlib.Path(os.path.normpath(folder / line.strip()))
            if path.is_relative_to(tree / "bench"):
                found.add(path.relative_to(tree))
    return sorted(found)


def differing(trees, sources):
    """Those of the head's files that the base lacks or has otherwise."""
    return [str(path) for path in sources if not (trees["base"] / path).is_file()
            or (trees["base"] / path).read_bytes() != (trees["head"] / path).read_bytes()]


def copy_benches(trees):
    for path in (trees["head"] / "bench").iterdir():
        if path.is_file() and (path.suffix in (".c", ".h") or path.name == "meson.build"):
            shutil.copyfile(path, trees["base"] / "bench" / path.name)


class Builds:
    """Both sides built, and what can be compared."""

    def __init__(self, trees, plan, say):
        self.folders = {side: tree.parent / f"build-{side}" for side, tree in trees.items()}
        self.logs = {side: tree.parent / f"{side}.log" for side, tree in trees.items()}
        self.comparable = {}  # module -> whether the base's side is ported
        self.notes = []  # what is not comparable, and why
        there = {side: building.modules(tree) for side, tree in trees.items()}
        say("building head")
        building.configure(trees["head"], self.folders["head"], self.logs["head"])
        for module in there["head"]:
            if not building.build(self.folders["head"], module, self.logs["head"]):
                raise building.Failed(f"bench_{module} of head cannot be built:\n{building.tail(self.logs['head'])}")
        changes = {module: differing(trees, sources_of(self.folders["head"], module, trees["head"]))
                   for module in there["head"]}
        if plan.is_ported and any(changes.values()):
            (trees["base"] / "bench").mkdir(exist_ok=True)
            copy_benches(trees)
        say("building base")
        building.configure(trees["base"], self.folders["base"], self.logs["base"])
        for module, changed in changes.items():
            if building.list_rows(self.folders["head"], module, plan.arguments) or not changed:
                self._take(module, changed, module in there["base"], plan.is_ported)
        self.notes += [f"bench_{module}: only in base" for module in there["base"] if module not in there["head"]]

    def _take(self, module, changed, is_in_base, is_ported):
        if changed and not is_ported:
            self.notes.append(f"bench_{module}: only in head" if not is_in_base else
                              f"bench_{module}: not comparable, its sources differ: {', '.join(changed)}")
        elif building.build(self.folders["base"], module, self.logs["base"]):
            self.comparable[module] = bool(changed)
        elif changed:
            self.notes.append(f"bench_{module}: not comparable, the head's sources cannot be built in the base")
        else:
            raise building.Failed(f"bench_{module} of base cannot be built:\n{building.tail(self.logs['base'])}")


# ---- running

def measure(builds, plan, say):
    """Each program A B A B, all on one CPU."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        results = []
        for module, is_ported in builds.comparable.items():
            sides = [side for side in SIDES if building.list_rows(builds.folders[side], module, plan.arguments)]
            runs = {side: [] for side in SIDES}
            for number in range(plan.rounds):
                for side in sides:
                    say(f"bench_{module}, round {number + 1} of {plan.rounds}, {side}")
                    runs[side].append(building.run_program(builds.folders[side], module, plan.arguments))
            results += collect(runs["base"], runs["head"], is_ported)
        return results
    finally:
        os.sched_setaffinity(0, before)


def show_table(judged, markdown):
    fields = rows.used(judged, rows.KEY)
    body = []
    for said in judged:
        marks = said["verdict"] + (", ported" if said.get("ported") else "")
        numbers = [rows.show_ns(said[side]) if side in said else None for side in ("old", "new")]
        body.append([*(said.get(field) for field in fields), *numbers,
                     f"{said['ratio']:.3f}" if "ratio" in said else None,
                     f"{100 * said['noise']:.1f} %" if "noise" in said else None, marks])
    numbers = {"octets", "batch", "sessions", "old ns", "new ns", "ratio", "noise"}
    return rows.format_table([*fields, "old ns", "new ns", "ratio", "noise", "verdict"], body, numbers, markdown)


def report(judged, notes, typical, commits, shown, command):
    """In the shape asked for; notes go to the standard error stream beside JSON."""
    if shown == "json":
        print("\n".join(json.dumps(said, separators=(",", ":")) for said in judged))
        print("".join(note + "\n" for note in notes), end="", file=sys.stderr)
        return
    is_markdown = shown == "markdown"
    found = building.environment(pathlib.Path(__file__).parent, command)
    found["commit"] = f"base {commits['base'][:12]}, head {commits['head'][:12]}"
    print(building.show_environment(found, is_markdown))
    for note in notes:
        print(("- " if is_markdown else "") + note)
    if notes:
        print()
    if judged:
        print(show_table(judged, is_markdown))
        print(f"\nratio: new / old; noise: of a row, over old; typical of all rows: {100 * typical:.1f} %")


def run(root, plan, shown, command):
    commits = {"base": commit_of(root, plan.base), "head": commit_of(root, plan.head)}
    signal.signal(signal.SIGTERM, signal.default_int_handler)

    def say(text):
        print(f"tools/bench compare: {text}", file=sys.stderr, flush=True)

    if plan.head == "HEAD" and building.commit_of(root).endswith("with changes"):
        say("changes that are not committed are not in it")
    with work_trees(root, commits) as trees:
        builds = Builds(trees, plan, say)
        results = measure(builds, plan, say)
    if not results and not builds.notes:
        raise building.Failed("no row matches the filter")
    typical = typical_noise(results)
    report([judge(result, typical) for result in results], builds.notes, typical, commits, shown, command)
