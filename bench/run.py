# SPDX-License-Identifier: MIT
"""What tools/bench starts: times the programs itself, or hands on to compare, table, targets and plot."""
import argparse
import os
import pathlib
import subprocess
import sys

import building
import compare
import plot
import rows
import table
import targets

ROOT = pathlib.Path(__file__).resolve().parent.parent


def add_common(parser):
    parser.add_argument("--filter", action="append", default=[], metavar="WORDS",
                        help="only rows that match all of these words, as 'op=protect batch=16'; given again: or all of these")
    parser.add_argument("--quick", action="store_true", help="shorter runs")
    parser.add_argument("--runs", type=positive, metavar="N", help="interleaved runs that a median is of")


def positive(text):
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"expected a number from 1 to 1000, not '{text}'")
    return int(text)


def several(text):
    if positive(text) < 2:
        raise argparse.ArgumentTypeError("expected 2 or more: one run of a side tells nothing of the noise")
    return int(text)


def parse(arguments):
    parser = argparse.ArgumentParser(prog="tools/bench", description="Time leat's modules, or compare two revisions.")
    if not arguments or arguments[0] not in ("compare", "table", "targets", "plot"):
        parser.epilog = "Also: tools/bench compare, table, targets or plot; each has --help"
        parser.set_defaults(act=run)
        parser.add_argument("modules", nargs="*", metavar="MODULE", help="crypto, stun, dtls, srtp; without any: all")
        add_common(parser)
        output = parser.add_mutually_exclusive_group()
        output.add_argument("--json", action="store_true", help="one JSON object a line")
        output.add_argument("--list", action="store_true", help="the rows, without running them")
        output.add_argument("--save", metavar="FILE", help="JSON lines into a file, after one about the machine")
        return parser.parse_intermixed_args(arguments)
    parser.prog += " " + arguments[0]
    if arguments[0] == "compare":
        parser.set_defaults(act=run_compare)
        parser.description = "Build two revisions and run the benches that both have, in turn, on this machine."
        parser.add_argument("base", metavar="BASE", help="the older revision")
        parser.add_argument("head", nargs="?", default="HEAD", metavar="HEAD", help="the newer revision (HEAD)")
        add_common(parser)
        parser.add_argument("--rounds", type=several, default=5, metavar="N", help="times that each side runs, 2 or more (5)")
        parser.add_argument("--head-benches", action="store_true",
                            help="where bench sources differ, build the newer ones on both sides and mark the rows")
        output = parser.add_mutually_exclusive_group()
        output.add_argument("--json", action="store_true", help="one JSON object a line")
        output.add_argument("--markdown", action="store_true", help="for bench/README.md")
        return parser.parse_intermixed_args(arguments[1:])
    parser.add_argument("files", nargs="+", metavar="FILE", help="what --save or --json wrote")
    parser.add_argument("--filter", action="append", default=[], metavar="WORDS", help="only rows that match")
    if arguments[0] in ("table", "targets"):
        parser.set_defaults(act=run_table, show=table.show if arguments[0] == "table" else targets.show)
        parser.description = ("Tables of saved rows, a column for each provider." if arguments[0] == "table" else
                              "The figures to reach, from saved rows.")
        parser.add_argument("--markdown", action="store_true", help="for bench/README.md")
    else:
        parser.set_defaults(act=run_plot)
        parser.description = "Draw ns per packet of bench srtp over batch size and over session count."
        parser.add_argument("--output", default=ROOT / "bench/plots", type=pathlib.Path, metavar="FOLDER",
                            help="where the pictures go (bench/plots)")
    return parser.parse_intermixed_args(arguments[1:])


def program_arguments(options):
    arguments = [word for text in options.filter for word in ("--filter", text)]
    arguments += ["--quick"] if options.quick else []
    return arguments + (["--runs", str(options.runs)] if options.runs else [])


def run(options):
    chosen = building.check_modules(options.modules, ROOT)
    folder, log = ROOT / "build/release", ROOT / "build/bench.log"
    print("building in build/release ...", file=sys.stderr)
    log.parent.mkdir(exist_ok=True)
    log.unlink(missing_ok=True)
    building.configure(ROOT, folder, log)
    for module in chosen:
        if not building.build(folder, module, log):
            raise building.Failed(f"bench_{module} cannot be built:\n{building.tail(log)}")
    listed = {module: building.list_rows(folder, module, program_arguments(options)) for module in chosen}
    if not any(listed.values()):
        raise building.Failed("no row matches the filter; --list shows all rows")
    if options.list:
        print("\n".join(line for lines in listed.values() for line in lines))
        return
    chosen = [module for module in chosen if listed[module]]
    if options.save:
        save(options, folder, chosen)
        return
    for number, module in enumerate(chosen):
        if number and not options.json:
            print(flush=True)
        mode = ["--json"] if options.json else []
        status = subprocess.run([folder / f"bench/bench_{module}", *mode, *program_arguments(options)], check=False).returncode
        if status != 0:
            raise building.Failed(f"bench_{module} ended with status {status}")


def save(options, folder, chosen):
    """Into the file at the end only, so that a run that was stopped leaves an older file alone."""
    found = building.environment(ROOT, ["./tools/bench", *sys.argv[1:]])
    lines = [building.environment_line(found)]
    for module in chosen:
        of_module = building.run_program(folder, module, program_arguments(options))
        print(table.show(of_module, False), end="\n\n", flush=True)
        lines += [rows.line_of(row) for row in of_module]
    path = pathlib.Path(options.save)
    try:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise building.Failed(f"{path}: {error.strerror}") from None
    print(f"{len(lines) - 1} rows saved in {path}", file=sys.stderr)


def run_compare(options):
    compare.run(ROOT, compare.Plan(base=options.base, head=options.head, arguments=program_arguments(options), rounds=options.rounds,
                                   is_ported=options.head_benches),
                "json" if options.json else "markdown" if options.markdown else "text",
                ["./tools/bench", *sys.argv[1:]])


def saved(options):
    found, all_rows = rows.read(options.files)
    chosen = [row for row in all_rows if rows.matches(row, options.filter)]
    if not chosen:
        raise building.Failed("no row of the files matches the filter")
    return found, chosen


def run_table(options):
    found, chosen = saved(options)
    description = building.show_environment(found, options.markdown)
    print((description + "\n" if description else "") + options.show(chosen, options.markdown))


def run_plot(options):
    for path in plot.draw_all(saved(options)[1], options.output):
        print(path)


def main():
    options = parse(sys.argv[1:])
    try:
        options.act(options)
    except (building.Failed, rows.BadRows) as error:
        print(f"tools/bench: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("\ntools/bench: stopped", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
