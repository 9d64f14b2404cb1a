#!/usr/bin/env python3
"""heddle beside PyTorch's attention in one process, on one GPU.

heddle chooses as it does for any caller: the winner stored in the results database ($HEDDLE_DB),
else its default; the config and how well it matches are printed. Each repetition times all of
them, order alternating; a cell's ratio is the median over repetitions. A cell whose result is
wrong is not timed, and the exit code is 1.

With --dtype e4m3 heddle's quantiser makes 8-bit inputs of the peers' bf16 ones, untimed
(quantiser.py times it), and --bars adds the column "bar": FlashAttention-3's e4m3 rate, carried
over to this card by cuDNN's (bars.py).
"""

import argparse
import os
import sys

import bars
import cells
import heddle_ctypes

try:
    import torch

    import reference
    import timing
    from eight_bits import EightBitAttention
    from heddle_torch import Attention
    from peers import PEERS
    from report import Comparison, environment
except ImportError as missing:
    print(f"{sys.argv[0]}: {missing}; it needs PyTorch with CUDA", file=sys.stderr)
    sys.exit(3)

# The peers' elements: of e4m3 what heddle's are made of.
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "e4m3": torch.bfloat16}
WRONG_USE = ("HEDDLE_INVALID_ARGUMENT", "HEDDLE_UNSUPPORTED")


def numbers(text):
    return [int(part) for part in text.split(",")]


def names_of(known):
    """A parser of comma-separated names, all of them in `known`."""

    def parse(text):
        unknown = [name for name in text.split(",") if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"{unknown[0]!r} is not one of: {', '.join(known)}")
        return text.split(",")

    return parse


def add_sweep_arguments(parser):
    parser.add_argument("--head-dims", type=numbers, default=[64, 128], help="default: 64,128")
    parser.add_argument(
        "--masks", type=names_of(["full", "causal"]), default=["full", "causal"],
        help="default: full,causal",
    )
    parser.add_argument(
        "--lengths", type=numbers, default=[512, 1024, 2048, 4096, 8192, 16384],
        help="default: 512,1024,2048,4096,8192,16384",
    )
    parser.add_argument("--tokens", type=int, default=16384, help="batch * length")
    parser.add_argument("--hidden", type=int, default=2048, help="heads * head_dim")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--csv", help="file to write, a line per cell and implementation")
    parser.add_argument("--markdown", help="file to write: a table for each peer, as in the log")
    parser.add_argument(
        "--also-json", action="append", default=[], metavar="FILE",
        help="output of `heddle bench --json` (or `tune --json`): its families become columns",
    )


def add_8bit_arguments(parser):
    parser.add_argument(
        "--scales", choices=heddle_ctypes.SCALES, default="head",
        help="e4m3: what has a scale of its own (default: head)",
    )
    parser.add_argument(
        "--value-layout", choices=heddle_ctypes.VALUE_LAYOUTS, default="transposed",
        help="e4m3: V in rows, or transposed ahead (default: transposed)",
    )
    parser.add_argument(
        "--rotate", action="store_true", help="e4m3: Q and K rotated by the quantiser: incoherent"
    )
    parser.add_argument(
        "--bars", metavar="FILE", help="e4m3: peers.yaml; needs cudnn among the peers"
    )


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_sweep_arguments(parser)
    parser.add_argument(
        "--peers", type=names_of(list(PEERS)), default=["flash", "cudnn"],
        help="of flash, cudnn, unfused (default: flash,cudnn)",
    )
    parser.add_argument("--library", help="libheddle.so (default: $HEDDLE_LIBRARY)")
    parser.add_argument("--nvrtc", help="libnvrtc or its folder (default: $HEDDLE_NVRTC)")
    parser.add_argument("--seed", type=int, default=0, help="of the inputs; 0 = drawn afresh")
    parser.add_argument(
        "--dtype", choices=sorted(DTYPES), default="bf16",
        help="of Q, K, V and O; e4m3's O is bf16 (default: bf16)",
    )
    add_8bit_arguments(parser)
    options = parser.parse_args()
    if options.bars and ("cudnn" not in options.peers or options.dtype != "e4m3"):
        parser.error("--bars are e4m3's and stand on cuDNN: add --dtype e4m3, and cudnn to --peers")
    return options


def also_measured(options):
    """{cell: {name: [seconds]}} of the --also-json files."""
    also = {}
    for path in options.also_json:
        for (cell, family), seconds in cells.read_heddle_json(path).items():
            also.setdefault(cell, {})[f"heddle {family}*"] = [seconds]
    return also


def publish(comparison, options):
    facts = environment()
    print(", ".join(f"{name} {value}" for name, value in facts.items()), end="\n\n")
    print(comparison.table(), comparison.summary(), sep="\n\n")
    if options.also_json:
        print("\n* measured in another process, by heddle itself")
    write_files(comparison, options, facts)


def write_files(comparison, options, facts):
    if options.csv:
        comparison.write_csv(options.csv, facts)
    if options.markdown:
        comparison.write_markdown(options.markdown, facts)


def random_inputs(cell):
    shape = (cell.batch, cell.heads, cell.length, cell.head_dim)
    return [torch.randn(shape, device="cuda", dtype=DTYPES[cell.dtype]) for _ in range(3)]


def input_sets(cell):
    set_bytes = 4 * cell.batch * cell.heads * cell.length * cell.head_dim * 2
    return [random_inputs(cell) for _ in range(timing.input_set_count(set_bytes))]


def make_attention(context, tensors, causal, options, with_log_sum_exp=False):
    if options.dtype != "e4m3":
        return Attention(context, *tensors, causal, with_log_sum_exp)
    steps = heddle_ctypes.ROTATE if options.rotate else 0
    return EightBitAttention(context, *tensors, causal, options.scales, options.value_layout, steps)


def check(context, tensors, causal, options):
    """What is wrong with heddle's result, or None."""
    attention = make_attention(context, tensors, causal, options, with_log_sum_exp=True)
    is_8bit = options.dtype == "e4m3"
    if is_8bit:
        tensors = attention.dequantised()
    attention.output.fill_(float("nan"))
    attention()
    torch.cuda.synchronize()
    return reference.check_output(
        tensors, attention.output, attention.log_sum_exp, causal, is_8bit=is_8bit
    )


def check_small(context, options):
    """One ragged grouped-query shape per head dim and mask."""
    wrong = []
    for head_dim in options.head_dims:
        for mask in options.masks:
            q = torch.randn(2, 6, 201, head_dim, device="cuda", dtype=DTYPES[options.dtype])
            k, v = (torch.randn_like(q[:, :2]) for _ in range(2))
            why = check(context, (q, k, v), mask == "causal", options)
            if why:
                wrong.append(f"d{head_dim} {mask}, 6 heads over 2, 201 x 201: {why}")
    return wrong


def peer_launches(peers, sets, cell):
    """{name: run(i)} of the peers that can run this cell; the others are named on stderr."""
    causal = cell.mask == "causal"
    launches = {}
    for name, attend in peers.items():
        try:
            attend(*sets[0], causal)
        except RuntimeError as error:
            first_line = str(error).splitlines()[0]
            print(f"compare.py: {cell.name}: {name} left out: {first_line}", file=sys.stderr)
            continue
        launches[name] = lambda i, attend=attend: attend(*sets[i % len(sets)], causal)
    return launches


def measure(context, cell, options, peers):
    """Times of one cell and the config that heddle used."""
    causal = cell.mask == "causal"
    sets = input_sets(cell)
    ours = [make_attention(context, tensors, causal, options) for tensors in sets]
    implementations = {"heddle": lambda i: ours[i % len(ours)]()}
    implementations.update(peer_launches(peers, sets, cell))
    times = timing.interleaved(implementations, options.repetitions)
    choice = context.explain_choice(ours[0].problem)
    return times, f"{choice.get('match', '?')}: {choice.get('config', '?')}"


def wrong_results(context, sweep, options):
    wrong = check_small(context, options)
    for cell in sweep:
        why = check(context, random_inputs(cell), cell.mask == "causal", options)
        if why:
            wrong.append(f"{cell.name}: {why}")
    return wrong


def measure_sweep(context, sweep, options, comparison, also):
    """Adds all cells; the files hold those that are done, and an interruption keeps them."""
    known_bars = bars.read(options.bars) if options.bars else {}
    peers = {name: PEERS[name] for name in options.peers}
    facts = environment()
    try:
        for cell in sweep:
            times, note = measure(context, cell, options, peers)
            times.update(also.get(cell, {}))
            bar = bars.seconds(known_bars, cell, times.get("cudnn", []))
            if bar:
                times["bar"] = bar
            comparison.add(cell, times, note)
            write_files(comparison, options, facts)
            torch.cuda.empty_cache()
    except KeyboardInterrupt:
        done = len(comparison.cells)
        print(f"compare.py: interrupted after {done} of {len(sweep)} cells", file=sys.stderr)
        return 130
    return 0


def run(options):
    torch.manual_seed(options.seed or torch.seed())
    print(f"seed {torch.initial_seed()}")
    also = also_measured(options)
    sweep = cells.sweep(
        options.head_dims, options.masks, options.lengths, options.tokens, options.hidden,
        options.dtype,
    )
    library = heddle_ctypes.load_library(options.library)
    comparison = Comparison("heddle")
    with heddle_ctypes.Context(library, nvrtc_path=options.nvrtc) as context:
        wrong = wrong_results(context, sweep, options)
        for line in wrong:
            print(f"WRONG {line}", file=sys.stderr)
        if wrong:
            return 1
        status = measure_sweep(context, sweep, options, comparison, also)
    if comparison.cells:
        publish(comparison, options)
    return status


def exit_code(run, options):
    """Of a command: what `run` returns, 2 for wrong use, 3 for what the machine lacks."""
    name = os.path.basename(sys.argv[0])
    if not torch.cuda.is_available():
        print(f"{name}: PyTorch finds no CUDA GPU; run this on a GPU machine", file=sys.stderr)
        return 3
    try:
        return run(options)
    except (heddle_ctypes.HeddleError, OSError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2 if getattr(error, "status_name", "") in WRONG_USE else 3


if __name__ == "__main__":
    sys.exit(exit_code(run, parse_arguments()))
