"""Where the numbers and scales of 8-bit tensors are: shapes and orders as lists; no PyTorch."""

KEY_GROUP = 16
# wgmma_8bit_key in templates/wgmma_fragment.cuh: the key at each position of a group.
KEY_ORDER = [0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15]
# kScaleBlockRows in templates/warpgroup_layout.cuh.
SCALE_BLOCK = 128


def ceil_div(count, size):
    return -(-count // size)


def padded_keys(length):
    """Positions of a transposed V: whole groups."""
    return ceil_div(length, KEY_GROUP) * KEY_GROUP


def value_shape(value_layout, batch, heads, length, head_dim):
    if value_layout == "rows":
        return batch, heads, length, head_dim
    return batch, heads, head_dim, padded_keys(length)


def descale_shape(scales, batch, heads, length):
    """Of Q's or K's scales."""
    return {
        "tensor": (1,),
        "head": (batch, heads),
        "token": (batch, heads, length),
        "block": (batch, heads, ceil_div(length, SCALE_BLOCK)),
    }[scales]


def value_descale_shape(scales, batch, heads):
    """V's are of the tensor or of heads: a product sums over its rows."""
    return descale_shape("tensor" if scales == "tensor" else "head", batch, heads, 0)


def key_positions(length):
    """Where a transposed V holds each of its keys."""
    return [
        key // KEY_GROUP * KEY_GROUP + KEY_ORDER.index(key % KEY_GROUP) for key in range(length)
    ]


def scale_of_row(count, rows):
    """Which of a head's `count` scales each of its rows has: the only one, its own or its block's."""
    if count == 1:
        return [0] * rows
    if count == rows:
        return list(range(rows))
    if count != ceil_div(rows, SCALE_BLOCK):
        raise ValueError(
            f"scales: a head of {rows} rows has {count}; pass 1, {rows}, "
            f"or {ceil_div(rows, SCALE_BLOCK)} (one per {SCALE_BLOCK} rows)"
        )
    return [row // SCALE_BLOCK for row in range(rows)]
