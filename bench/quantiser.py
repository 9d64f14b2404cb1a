#!/usr/bin/env python3
"""How fast heddle's quantiser makes 8-bit inputs of bf16 ones: beside a copy, and end to end.

`useful` bytes are those no quantiser can do without: each number read once, each 8-bit one written.
Scales that many rows share cost a second reading, counted in `moved`. A cell's rates are over the
bandwidth of a copy of the same process. End to end: quantiser and attention, beside bf16 attention.
"""

import argparse
import statistics
import sys

import cells
import heddle_ctypes
from compare import exit_code, numbers, random_inputs, timing, torch
from eight_bits import EightBitAttention
from heddle_torch import Attention
from report import environment, format_table

NUMBER_BYTES = 2
COPY_BYTES = 1 << 30
RECIPES = {"none": 0, "rotate": heddle_ctypes.ROTATE}
HEADER = ["cell", "recipe", "us", "useful GB/s", "of copy", "moved GB/s", "of copy"]
HEADER += ["attention us", "both us", "bf16 us", "bf16/both"]


def useful_bytes(cell):
    return 3 * cell.batch * cell.heads * cell.length * cell.head_dim * (NUMBER_BYTES + 1)


def moved_bytes(cell, scales):
    """A block's and a row's scale take no second reading; V's is a head's or the tensor's."""
    readings = 1 if scales in ("block", "token") else 3
    elements = cell.batch * cell.heads * cell.length * cell.head_dim
    return useful_bytes(cell) + readings * elements * NUMBER_BYTES


def copy_bandwidth(repetitions):
    source = torch.empty(COPY_BYTES, device="cuda", dtype=torch.uint8)
    target = torch.empty_like(source)
    times = timing.interleaved({"copy": lambda i: target.copy_(source)}, repetitions)
    return 2 * COPY_BYTES / statistics.median(times["copy"])


def row_of(cell, recipe, times, options, copied):
    median = {name: statistics.median(seconds) for name, seconds in times.items()}
    row = [cell.name, recipe, f"{median['quantiser'] * 1e6:.1f}"]
    for count in (useful_bytes(cell), moved_bytes(cell, options.scales)):
        rate = count / median["quantiser"]
        row += [f"{rate * 1e-9:.0f}", f"{rate / copied:.3f}"]
    row += [f"{median[name] * 1e6:.1f}" for name in ("attention", "both", "bf16")]
    return [*row, f"{median['bf16'] / median['both']:.3f}"]


def measure(context, cell, steps, options):
    causal = cell.mask == "causal"
    count = timing.input_set_count(useful_bytes(cell))
    sets = [random_inputs(cell) for _ in range(count)]
    eight = [
        EightBitAttention(context, *tensors, causal, options.scales, options.value_layout, steps)
        for tensors in sets
    ]
    plain = [Attention(context, *tensors, causal) for tensors in sets]

    def both(i):
        eight[i % count].quantise()
        eight[i % count]()

    return timing.interleaved(
        {
            "quantiser": lambda i: eight[i % count].quantise(),
            "attention": lambda i: eight[i % count](),
            "both": both,
            "bf16": lambda i: plain[i % count](),
        },
        options.repetitions,
    )


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--head-dims", type=numbers, default=[64, 128, 256])
    parser.add_argument("--lengths", type=numbers, default=[1024, 16384])
    parser.add_argument("--scales", choices=heddle_ctypes.SCALES, default="head")
    parser.add_argument(
        "--value-layout", choices=heddle_ctypes.VALUE_LAYOUTS, default="transposed"
    )
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--library", help="libheddle.so (default: $HEDDLE_LIBRARY)")
    parser.add_argument("--nvrtc", help="libnvrtc or its folder (default: $HEDDLE_NVRTC)")
    return parser.parse_args()


def run(options):
    copied = copy_bandwidth(options.repetitions)
    rows = [HEADER]
    library = heddle_ctypes.load_library(options.library)
    with heddle_ctypes.Context(library, nvrtc_path=options.nvrtc) as context:
        for cell in cells.sweep(options.head_dims, ["full"], options.lengths):
            for recipe, steps in RECIPES.items():
                times = measure(context, cell, steps, options)
                rows.append(row_of(cell, recipe, times, options, copied))
            torch.cuda.empty_cache()
    print(", ".join(f"{name} {value}" for name, value in environment().items()), end="\n\n")
    print(f"copy: {copied * 1e-9:.0f} GB/s, read and written", format_table(rows), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(exit_code(run, parse_arguments()))
