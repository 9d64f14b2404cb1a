"""The cells of a sweep, and the rows of `heddle bench --json` that belong to them."""

import dataclasses
import json


@dataclasses.dataclass(frozen=True)
class Cell:
    """One self-attention problem: [batch, heads, length, head_dim], contiguous."""

    head_dim: int
    mask: str
    length: int
    batch: int
    heads: int
    dtype: str = "bf16"

    @property
    def flops(self):
        """4·b·h·s²·d, halved for causal: the usual count, whatever a kernel really does."""
        full = 4 * self.batch * self.heads * self.length**2 * self.head_dim
        return full / 2 if self.mask == "causal" else full

    @property
    def name(self):
        shape = f"d{self.head_dim} {self.mask} {self.length}"
        return shape if self.dtype == "bf16" else f"{self.dtype} {shape}"


def sweep(head_dims, masks, lengths, tokens=16384, hidden=2048, dtype="bf16"):
    """`tokens` in all and one hidden size, so that every cell reads the same bytes."""
    return [
        Cell(head_dim, mask, length, max(1, tokens // length), max(1, hidden // head_dim), dtype)
        for head_dim in head_dims
        for mask in masks
        for length in lengths
    ]


_DEFAULTS = {
    "dtype": "bf16",
    "head_dim": "128",
    "mask": "full",
    "batch": "1",
    "heads": "1",
    "kv_heads": "0",
    "seqlen_q": "1",
    "seqlen_kv": "1",
}


def parse_canonical(text):
    """heddle's "name=value,name=value" with the defaults that it leaves out."""
    values = dict(entry.split("=", 1) for entry in text.split(",") if entry)
    return {**_DEFAULTS, **values}


def cell_of(row):
    """The Cell of a JSON row; None for a problem that no sweep has (8-bit, GQA, decode)."""
    variant, sizes = parse_canonical(row["variant"]), parse_canonical(row["sizes"])
    is_plain = (
        variant["dtype"] in ("bf16", "fp16")
        and sizes["kv_heads"] in ("0", sizes["heads"])
        and sizes["seqlen_q"] == sizes["seqlen_kv"]
    )
    if not is_plain:
        return None
    return Cell(
        head_dim=int(variant["head_dim"]),
        mask=variant["mask"],
        length=int(sizes["seqlen_q"]),
        batch=int(sizes["batch"]),
        heads=int(sizes["heads"]),
        dtype=variant["dtype"],
    )


def read_heddle_json(path):
    """{(cell, family): seconds} of a file that `heddle bench --json` or `heddle tune --json` wrote.

    Predicted times are left out: they are no measurements.
    """
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)
    times = {}
    for row in rows:
        measured = row if "seconds" in row else row.get("winner")
        cell = cell_of(row)
        if measured is None or cell is None or row.get("evidence", "measured") != "measured":
            continue
        family = {"family": "fa2", **parse_canonical(measured["config"])}["family"]
        times[cell, family] = float(measured["seconds"])
    return times
