# SPDX-License-Identifier: MIT
"""The frame of a test program: it prints `ok NAME`, `not ok NAME` or `skip NAME REASON` and exits with 0 when nothing failed."""
import sys
import time
import traceback

PATIENCE_S = 30.0  # for what takes a moment on a machine of its own: two busy cores are shared by much


class Skip(Exception):
    """This test cannot run here; the text begins with `machine:` when the machine, not the set-up, is why."""


def run(tests, *context, tidy=None):
    """Call each test with the context, and tidy after it; returns the program's exit status."""
    failed = 0
    for test in tests:
        name = getattr(test, "label", None) or test.__name__
        started = time.monotonic()
        try:
            test(*context)
        except Skip as reason:
            print(f"skip {name} {reason}", flush=True)
        except Exception:  # the next test still runs
            failed += 1
            print(f"not ok {name}", flush=True)
            traceback.print_exc(file=sys.stdout)
            show_context(context)
        else:
            print(f"ok {name} # {time.monotonic() - started:.1f} s", flush=True)
        if tidy:
            tidy()
    return 1 if failed else 0


def show_context(context):
    """Whatever can say more about a failure does."""
    for part in context:
        if hasattr(part, "explain"):
            try:
                part.explain()
            except Exception as error:
                print(f"  (no explanation of {part}: {error})")
    sys.stdout.flush()


def until(condition, what, timeout=PATIENCE_S, every=0.1):
    """Call a function until it returns something true, which is returned; an error names what never came."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"after {timeout:.0f} s still not: {what() if callable(what) else what}")
        time.sleep(every)
