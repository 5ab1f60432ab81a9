#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws where a timestep goes, from what `shoal bench --profile --json` printed: a bar for each run, as long as a step of a replica, cut into what
each family of launches has of the device at least. What is left is waiting. Where launches fill the device together better than they do alone, the
parts are more than the whole: they end behind the line of 100 %.

Usage: profile_figure.py OUTPUT.svg [NAME=]PROFILE.json...

PROFILE.json: one run, or a list of them, as with --sweep or --each. NAME: in place of the spec's.
"""
import json
import os
import sys
import tempfile
from html import escape

WIDTH, LEFT, RIGHT, TOP, ROW, BAR = 760, 200, 96, 14, 46, 22  # pixels
GREY = "#666"
COLOURS = {"pairs": "#1f5fa8", "perturbed pairs": "#6fa0d8", "lists": "#b3541e", "mesh": "#2f7d4f", "terms": "#c9a227", "biases": "#7a5195",
           "motion": "#8c2d4b", "whole steps": "#1f5fa8", "samples": "#58a3a3", "volume moves": "#a3b86c", "observables": "#d98cb3",
           "reports": "#999999", "other": "#333333"}
WAITING = "waiting"


def text(x, y, words, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(str(words))}</text>'


def box(x, y, width, height, fill):
    stroke = f' stroke="{GREY}" stroke-dasharray="2 2"' if fill == "white" else ""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}"{stroke}/>'


def label(run, name):
    spec = os.path.splitext(os.path.basename(run["spec"]))[0]
    return name or f'{spec} x {run["replicas"]}', f'{run["atoms"]:,} atoms, {run["profile"]["model"]}'


def parts_of(run):
    """(family, its part of a step), and what is left, if anything is."""
    step = run["us_per_replica_step"]
    parts = [(family["family"], family["us_of_device"] / step) for family in run["profile"]["families"]]
    return parts + ([(WAITING, run["profile"]["us_rest"] / step)] if run["profile"]["us_rest"] > 0 else [])


def bar(run, name, y, scale):
    x, drawn = LEFT, []
    for family, part in parts_of(run):
        drawn.append(box(x, y, part * scale, BAR, COLOURS.get(family, "white")))
        if part * scale > 30:
            ink = GREY if family == WAITING else "white"
            drawn.append(text(x + part * scale / 2, y + 15, f"{100 * part:.0f} %", f'text-anchor="middle" fill="{ink}"'))
        x += part * scale
    above, below = label(run, name)
    return drawn + [text(LEFT - 8, y + 9, above, 'text-anchor="end"'), text(LEFT - 8, y + 23, below, f'text-anchor="end" font-size="10" fill="{GREY}"'),
                    text(max(x, LEFT + scale) + 6, y + 15, f'{run["us_per_replica_step"]:.3g} us')]


def legend(families, y):
    drawn, x = [], LEFT
    for family in families:
        width = 34 + 6.5 * len(family)
        if x + width > WIDTH - 10:
            x, y = LEFT, y + 20
        drawn += [box(x, y - 10, 12, 12, COLOURS.get(family, "white")), text(x + 17, y, family)]
        x += width
    return drawn, y + 14


def figure(runs):
    """The text of the picture; runs: (run, its name or None)."""
    most = max(1, max(sum(part for _, part in parts_of(run)) for run, _ in runs))
    scale, bottom = (WIDTH - LEFT - RIGHT) / most, TOP + ROW * len(runs)
    drawn = [part for n, (run, name) in enumerate(runs) for part in bar(run, name, TOP + ROW * n, scale)]
    drawn += [f'<line x1="{LEFT + scale:.1f}" y1="{TOP - 6}" x2="{LEFT + scale:.1f}" y2="{bottom - 12}" stroke="{GREY}" stroke-dasharray="2 4"/>',
              text(LEFT, bottom + 4, "of a step of one replica, all in flight", f'fill="{GREY}"')]
    there = {family for run, _ in runs for family, _ in parts_of(run)}
    keys, height = legend([family for family in (*COLOURS, WAITING) if family in there], bottom + 28)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
            'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>\n' + "\n".join(drawn + keys) + "\n</svg>\n")


def read(argument):
    name, path = argument.split("=", 1) if "=" in argument else (None, argument)
    with open(path, encoding="utf-8") as f:
        found = json.load(f)
    runs = found if isinstance(found, list) else [found]
    for run in runs:
        if "profile" not in run:
            sys.exit(f"profile_figure.py: {path}: a run without `profile`: expected the output of shoal bench --profile --json")
    return [(run, name) for run in runs]


def self_test():
    """Parts are as long as they say, what is left is waiting, and too much ends behind the line."""
    families = [{"family": "pairs", "us_of_device": 2.0}, {"family": "mesh", "us_of_device": 1.0}]
    run = {"spec": "a/b.yaml", "replicas": 2, "atoms": 10, "us_per_replica_step": 4.0, "profile": {"families": families, "us_rest": 1.0, "model": "<card>"}}
    assert parts_of(run) == [("pairs", 0.5), ("mesh", 0.25), (WAITING, 0.25)], parts_of(run)
    full = {**run, "us_per_replica_step": 2.0, "profile": {**run["profile"], "us_rest": -1.0}}
    assert parts_of(full) == [("pairs", 1.0), ("mesh", 0.5)], parts_of(full)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump([run, full], f)
        f.flush()
        drawn = figure(read(f"name={f.name}"))
    length = (WIDTH - LEFT - RIGHT) / 1.5
    assert f'width="{length / 2:.1f}" height="{BAR:.1f}" fill="{COLOURS["pairs"]}"' in drawn, drawn
    assert f'width="{length:.1f}" height="{BAR:.1f}" fill="{COLOURS["pairs"]}"' in drawn and "&lt;card&gt;" in drawn, drawn


def main():
    self_test()
    if len(sys.argv) == 2 and sys.argv[1] == "--test":
        return
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    with open(sys.argv[1], "w", encoding="utf-8") as f:
        f.write(figure([run for argument in sys.argv[2:] for run in read(argument)]))


main()
