"""How fast 8-bit attention has to be: FlashAttention-3's e4m3 rates, carried over to this card.

A bar is FlashAttention-3's e4m3 rate times cuDNN's bf16 rate here over cuDNN's bf16 rate then, all
of one cell: what differs of a card's clock and cooling between two days touches both alike. The
figures and their sources are in peers.yaml.
"""

import re

_ROW = re.compile(
    r"-\s*\{\s*peer:\s*(?P<peer>[^,]+),\s*source:\s*(?P<source>\w+),"
    r"\s*dtype:\s*(?P<dtype>\w+),\s*head_dim:\s*(?P<head_dim>\d+),\s*mask:\s*(?P<mask>\w+),"
    r"\s*tflops:\s*\{(?P<tflops>[^}]*)\}\s*\}"
)
_PEERS = {("FA3", "fa3_alone", "e4m3"): "fa3", ("cuDNN", "same_run", "bf16"): "cudnn"}


def read(path):
    """{(head_dim, mask, length): (FlashAttention-3's e4m3, cuDNN's bf16)} in TFLOP/s.

    Of peers.yaml only these rows are looked at, so that no YAML library is needed.
    """
    figures = {}
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for row in _ROW.finditer(text):
        peer = _PEERS.get((row["peer"], row["source"], row["dtype"]))
        if peer is None:
            continue
        for entry in row["tflops"].split(","):
            length, tflops = entry.split(":")
            key = int(row["head_dim"]), row["mask"], int(length)
            figures.setdefault(key, {})[peer] = float(tflops)
    bars = {
        key: (known["fa3"], known["cudnn"]) for key, known in figures.items() if len(known) == 2
    }
    if not bars:
        raise OSError(f"{path}: no cell with FlashAttention-3's e4m3 and cuDNN's bf16 figures")
    return bars


def seconds(bars, cell, cudnn_seconds):
    """What the cell may take where cuDNN took so long in each repetition; None without a figure."""
    known = bars.get((cell.head_dim, cell.mask, cell.length))
    if known is None:
        return None
    fa3, cudnn = known
    return [time * cudnn / fa3 for time in cudnn_seconds]
