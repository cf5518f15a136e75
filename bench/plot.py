# SPDX-License-Identifier: MIT
"""Pictures of bench srtp: ns per packet over batch size and over the number of sessions, a line for each provider.

Both axes are logarithmic: what matters are ratios. Lines carry their names at their right ends.
"""
import collections
import html
import math

import rows
import table

WIDTH, HEIGHT = 860, 460
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 52, 56
LABEL_GAP = 15
# Okabe and Ito's colours, told apart by colour-blind readers too. A provider keeps its own in every picture; its CPU levels
# and cold caches differ in their dashes.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31")
KNOWN = ("ipsecmb", "libsrtp2-stock", "openssl", "mbedtls", "auto", "ipsecmb-raw")
DASHES = {"avx2": "9 3", "sse": "2 3", "none": "1 5", "cold": "5 4"}
FONT = 'font-family="sans-serif" font-size="13"'


class Scale:
    """From a range of values to a range of the picture, by logarithms."""

    def __init__(self, values, start, end):
        self.low, self.high = math.log(min(values)), math.log(max(values))
        self.start, self.end = start, end

    def __call__(self, value):
        part = (math.log(value) - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return self.start + part * (self.end - self.start)


def ticks(low, high):
    """1, 2 and 5 times the powers of ten, from at most the lowest to at least the highest value."""
    steps = [factor * 10.0 ** power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
             for factor in (1, 2, 5)]
    below = [step for step in steps if step <= low] or steps[:1]
    above = [step for step in steps if step >= high] or steps[-1:]
    return [step for step in steps if below[-1] <= step <= above[0]]


def most_common(chosen, field):
    """The value that most rows have; of several the greatest."""
    counts = collections.Counter(row[field] for row in chosen if row.get(field) is not None)
    return max(counts, key=lambda value: (counts[value], value)) if counts else None


def series_of(chosen, field):
    """{line's name: [(x, ns)]} by the field, without the lines of one point."""
    lines = {}
    for row in chosen:
        if row.get(field) is not None:
            name = table.provider_of(row) + (", cold" if row.get("cache") == "cold" else "")
            lines.setdefault(name, {})[row[field]] = row["ns"]
    return {name: sorted(points.items()) for name, points in lines.items() if len(points) > 1}


def parts_of(name):
    """(provider, what distinguishes it)."""
    provider, *marks = name.replace(", ", "/").split("/")
    return provider, marks


def colour_of(name, others):
    order = [*KNOWN, *sorted({parts_of(other)[0] for other in others} - set(KNOWN))]
    return COLOURS[order.index(parts_of(name)[0]) % len(COLOURS)]


def dash_of(name):
    dashes = [DASHES[mark] for mark in parts_of(name)[1] if mark in DASHES]
    return f' stroke-dasharray="{dashes[-1]}"' if dashes else ""


def spread_labels(ends):
    """{name: y} near the wanted places, far enough from each other to be read."""
    placed, last = {}, -math.inf
    for y, name in sorted((y, name) for name, y in ends.items()):
        last = max(y, last + LABEL_GAP)
        placed[name] = last
    too_low = last - (HEIGHT - 8) if placed else 0
    return {name: y - max(too_low, 0) for name, y in placed.items()}


def draw(title, x_name, lines):
    """The text of one picture."""
    xs = sorted({x for points in lines.values() for x, _ in points})
    ys = [y for points in lines.values() for _, y in points]
    marks = ticks(min(ys), max(ys))
    across = Scale(xs, LEFT, WIDTH - RIGHT)
    up = Scale(marks, HEIGHT - BOTTOM, TOP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {FONT}>',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           f'<text x="{LEFT}" y="24" font-size="15" font-weight="bold">{html.escape(title)}</text>',
           f'<text x="{LEFT - 54}" y="{TOP - 10}" fill="#444">ns per packet</text>',
           f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 12}" text-anchor="middle" fill="#444">{html.escape(x_name)}</text>']
    for mark in marks:
        out.append(f'<path d="M{LEFT} {up(mark):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 8}" y="{up(mark) + 4:.1f}" text-anchor="end">{mark:g}</text>')
    for x in xs:
        out.append(f'<text x="{across(x):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{x}</text>')
    labels = spread_labels({name: up(points[-1][1]) for name, points in lines.items()})
    for name, points in lines.items():
        colour = colour_of(name, lines)
        path = "L".join(f"{across(x):.1f} {up(y):.1f}" for x, y in points)
        out.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"{dash_of(name)}/>')
        out += [f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="3" fill="{colour}"><title>{html.escape(name)}, '
                f"{x}: {rows.show_ns(y)} ns</title></circle>" for x, y in points]
        out.append(f'<text x="{WIDTH - RIGHT + 10}" y="{labels[name] + 4:.1f}" fill="{colour}">{html.escape(name)}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def pictures(all_rows):
    """{file name: text} of everything that the rows suffice for."""
    found = {}
    protect = [row for row in all_rows if row["bench"] == "srtp" and row["op"] == "protect"]
    for suite in dict.fromkeys(row.get("suite") for row in protect):
        of_suite = [row for row in protect if row.get("suite") == suite]
        octets = most_common(of_suite, "octets")
        of_size = [row for row in of_suite if row.get("octets") == octets]
        for field, other, x_name in (("batch", "sessions", "packets a batch"), ("sessions", "batch", "live sessions")):
            wanted = {"batch": 16, "sessions": 64}[other]
            fixed = wanted if any(row.get(other) == wanted for row in of_size) else most_common(of_size, other)
            lines = series_of([row for row in of_size if row.get(other) == fixed], field)
            if lines:
                what = f"batches of {fixed}" if other == "batch" else f"{fixed} sessions"
                title = f"Protect, {suite}, {octets} octets, {what}"
                found[f"protect-{suite}-by-{field}.svg"] = draw(title, x_name, lines)
    return found


def draw_all(all_rows, folder):
    """Write the pictures; their paths."""
    found = pictures(all_rows)
    if not found:
        raise rows.BadRows("no rows of bench srtp with op=protect over several batch sizes or session counts")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in found.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in found]
