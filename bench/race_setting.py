#!/usr/bin/env python3
"""Races each problem's kernel against itself with some knobs set otherwise.

What `heddle bench` would run for a problem is the base; every --set is one way to change it (several
assignments at once are joined by commas). Base and ways are timed in turn, round by round, so that a
drift of the clock meets all of them. Prints TFLOP/s of the base and, for each way, the median of the
rounds' ratios to it with their spread: above 1 is faster. A way that heddle refuses is said so.
"""
import argparse
import json
import statistics
import subprocess
import sys


def problem_flags(cell):
    """Flags of HEAD_DIM:MASK:LENGTH, a cell of the peers' sweep: 16384 tokens, 2048 columns."""
    head_dim, mask, length = cell.split(":")
    return ["--head-dim", head_dim, "--mask", mask, "--batch", str(16384 // int(length)),
            "--heads", str(2048 // int(head_dim)), "--seqlen-q", length]


def knobs_of(config):
    """A config's text as a dictionary, in its order."""
    return dict(item.strip().split("=", 1) for item in config.split(",") if item.strip())


def settings(config, changes):
    """The arguments that ask for `config` with `changes` applied."""
    knobs = {**knobs_of(config), **knobs_of(changes)}
    family = knobs.pop("family")
    arguments = ["--family", family]
    for name, value in knobs.items():
        arguments += ["--set", f"{name}={value}"]
    return arguments


def measure(heddle, arguments):
    """The one result of a bench, or the last line of what heddle says against it."""
    run = subprocess.run([heddle, "bench", "--json", *arguments], capture_output=True, text=True)
    if run.returncode != 0:
        lines = run.stderr.strip().splitlines() or [f"exit code {run.returncode}"]
        return lines[-1]
    results = json.loads(run.stdout)
    return results[0] if isinstance(results, list) else results


def tflops(result):
    return result["flops"] / result["seconds"] / 1e12


def race(heddle, flags, ways, rounds, base=""):
    """The base's results, and for each way its ratios to the base, or why it was refused."""
    chosen = measure(heddle, flags)
    if isinstance(chosen, str):
        return chosen, {}
    config = chosen["config"]
    bases, ratios = [], {way: [] for way in ways}
    for _ in range(rounds):
        first = measure(heddle, flags + settings(config, base))
        if isinstance(first, str):
            return first, {}
        bases.append(tflops(first))
        for way in ways:
            if isinstance(ratios[way], str):
                continue
            other = measure(heddle, flags + settings(config, ",".join(filter(None, [base, way]))))
            if isinstance(other, str):
                ratios[way] = other
            else:
                ratios[way].append(first["seconds"] / other["seconds"])
    return bases, ratios


def line_of(cell, bases, ratios):
    if isinstance(bases, str):
        return f"{cell}: {bases}"
    text = f"{cell}: {statistics.median(bases):.0f} TFLOP/s"
    for way, found in ratios.items():
        if isinstance(found, str):
            text += f"; {way}: {found}"
        else:
            text += (f"; {way}: {statistics.median(found):.3f} "
                     f"({min(found):.3f} to {max(found):.3f})")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--heddle", default="heddle", help="the command")
    parser.add_argument("--set", action="append", required=True, dest="ways",
                        help="knob=value[,knob=value]: a way to change the base")
    parser.add_argument("--base", default="", help="the same, of base and ways alike")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("cells", nargs="+", help="HEAD_DIM:MASK:LENGTH of the sweep")
    options = parser.parse_args()
    refused = False
    for cell in options.cells:
        bases, ratios = race(options.heddle, problem_flags(cell), options.ways, options.rounds,
                             options.base)
        refused |= isinstance(bases, str)
        print(line_of(cell, bases, ratios), flush=True)
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
