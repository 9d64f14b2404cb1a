"""Where 8-bit tensors hold their numbers and scales, by hand; on torch tensors where there is PyTorch."""

import os
import re
import unittest

import eight_bit_layout as layout

try:
    import torch
except ImportError:
    torch = None
else:
    import eight_bits

TEMPLATES = os.path.join(os.path.dirname(layout.__file__), "..", "templates")


def template(name):
    with open(os.path.join(TEMPLATES, name), encoding="utf-8") as file:
        return file.read()


class Templates(unittest.TestCase):
    def test_the_key_order_is_that_of_the_kernels(self):
        (order,) = re.findall(r'"((?:\d+ ){15}\d+)"', template("wgmma_fragment.cuh"))
        self.assertEqual(layout.KEY_ORDER, [int(key) for key in order.split()])

    def test_the_block_of_rows_is_that_of_the_kernels(self):
        (rows,) = re.findall(r"int kScaleBlockRows = (\d+);", template("warpgroup_layout.cuh"))
        self.assertEqual(layout.SCALE_BLOCK, int(rows))


class Shapes(unittest.TestCase):
    def test_keys_are_rounded_up_to_whole_groups(self):
        padded = {length: layout.padded_keys(length) for length in (0, 1, 15, 16, 17, 32, 33)}
        self.assertEqual(padded, {0: 0, 1: 16, 15: 16, 16: 16, 17: 32, 32: 32, 33: 48})

    def test_value_lies_by_rows_or_transposed_with_padded_keys(self):
        self.assertEqual(layout.value_shape("rows", 2, 3, 17, 64), (2, 3, 17, 64))
        self.assertEqual(layout.value_shape("transposed", 2, 3, 17, 64), (2, 3, 64, 32))

    def test_blocks_of_scales_are_rounded_up(self):
        shapes = {
            scales: layout.descale_shape(scales, 2, 3, 129)
            for scales in ("tensor", "head", "token", "block")
        }
        self.assertEqual(
            shapes,
            {"tensor": (1,), "head": (2, 3), "token": (2, 3, 129), "block": (2, 3, 2)},
        )
        self.assertEqual(layout.descale_shape("block", 2, 3, 128), (2, 3, 1))
        self.assertEqual(layout.descale_shape("block", 2, 3, 1), (2, 3, 1))

    def test_value_has_a_scale_for_each_head_or_one(self):
        self.assertEqual(layout.value_descale_shape("tensor", 2, 3), (1,))
        for scales in ("head", "token", "block"):
            self.assertEqual(layout.value_descale_shape(scales, 2, 3), (2, 3))


class Keys(unittest.TestCase):
    def test_positions_of_keys_by_hand(self):
        # Key 2 is the fifth of its group, after 0 1 8 9; 20 keys end inside the second group.
        first = [0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15]
        self.assertEqual(layout.key_positions(20), [*first, 16, 17, 20, 21])
        self.assertEqual(layout.key_positions(0), [])

    def test_what_is_packed_in_the_kernels_order_is_found_again(self):
        packed = [group * 16 + key for group in range(3) for key in layout.KEY_ORDER]
        self.assertEqual([packed[at] for at in layout.key_positions(48)], list(range(48)))


class Scales(unittest.TestCase):
    def test_a_row_has_the_only_scale_its_own_or_its_blocks(self):
        self.assertEqual(layout.scale_of_row(1, 3), [0, 0, 0])
        self.assertEqual(layout.scale_of_row(3, 3), [0, 1, 2])
        self.assertEqual(layout.scale_of_row(2, 131), [0] * 128 + [1, 1, 1])
        self.assertEqual(layout.scale_of_row(2, 256), [0] * 128 + [1] * 128)

    def test_any_other_number_of_scales_is_told(self):
        with self.assertRaisesRegex(ValueError, "256 rows has 3; pass 1, 256, or 2"):
            layout.scale_of_row(3, 256)


@unittest.skipIf(torch is None, "PyTorch is not installed: what is done with its tensors is not run")
class Tensors(unittest.TestCase):
    def test_e4m3_bits_as_numbers(self):
        # Sign, four bits of exponent (bias 7), three of mantissa.
        bits = [0x00, 0x01, 0x08, 0x38, 0x3C, 0xB9, 0x7E]
        numbers = [0, 2**-9, 2**-6, 1, 1.5, -1.125, 448]
        got = eight_bits.numbers(torch.tensor(bits, dtype=torch.uint8))
        self.assertEqual(got.tolist(), numbers)

    def test_keys_of_a_transposed_value(self):
        packed = torch.tensor([16 * group + key for group in range(2) for key in layout.KEY_ORDER])
        rows = torch.stack([packed, packed + 100]).reshape(1, 1, 2, 32)
        got = eight_bits.in_key_order(rows, 20)
        self.assertEqual(got.shape, (1, 1, 2, 20))
        self.assertEqual(got[0, 0].tolist(), [list(range(20)), list(range(100, 120))])

    def test_factors_of_rows(self):
        shape = (1, 2, 130, 8)
        one = eight_bits.per_row(torch.tensor([3.0]), shape)
        self.assertEqual(one.tolist(), [[[[3.0]]]])
        heads = eight_bits.per_row(torch.tensor([[1.0, 2.0]]), shape)
        self.assertEqual(heads[..., 129, 0].tolist(), [[1.0, 2.0]])
        blocks = eight_bits.per_row(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]), shape)
        self.assertEqual(blocks.shape, (1, 2, 130, 1))
        self.assertEqual(blocks[0, :, 127:129, 0].tolist(), [[1.0, 2.0], [3.0, 4.0]])
        rows = torch.arange(260.0).reshape(1, 2, 130)
        self.assertEqual(eight_bits.per_row(rows, shape)[..., 0].tolist(), rows.tolist())
        product = torch.ones(shape) * blocks
        self.assertEqual(product[0, 1, 128].tolist(), [4.0] * 8)


if __name__ == "__main__":
    unittest.main()
