#!/usr/bin/env python3
"""Unfused attention as PyTorch runs it (matmul, softmax, matmul; masked_fill too if causal).

With --also-json FILE, heddle's unfused family stands beside it:

    heddle bench --family unfused --head-dim 128 --batch 4 --heads 16 --seqlen-q 4096 --json >u.json
    python3 bench/unfused.py --head-dims 128 --masks full --lengths 4096 --also-json u.json
"""

import argparse
import sys

import cells
from compare import Comparison, add_sweep_arguments, also_measured, exit_code, input_sets
from compare import publish, timing, torch
from peers import unfused


def fits(cell):
    """Whether S and P, which live at once, leave room for the rest."""
    score_bytes = 2 * cell.batch * cell.heads * cell.length**2
    return 2 * score_bytes <= 0.8 * torch.cuda.mem_get_info()[0]


def run(options):
    also = also_measured(options)
    comparison = Comparison("heddle unfused*" if also else "unfused")
    for cell in cells.sweep(
        options.head_dims, options.masks, options.lengths, options.tokens, options.hidden
    ):
        if not fits(cell):
            print(f"unfused.py: {cell.name} left out: S and P do not fit", file=sys.stderr)
            continue
        sets = input_sets(cell)
        causal = cell.mask == "causal"
        launch = {"unfused": lambda i: unfused(*sets[i % len(sets)], causal)}
        times = timing.interleaved(launch, options.repetitions)
        comparison.add(cell, {**times, **also.get(cell, {})})
        torch.cuda.empty_cache()
    publish(comparison, options)
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_sweep_arguments(parser)
    sys.exit(exit_code(run, parser.parse_args()))
