"""compare.py's walk over the sweep, with a made-up PyTorch: what is measured outlives what is not."""

import contextlib
import io
import os
import sys
import tempfile
import types
import unittest

# None of it is called: what a cell takes is made up below.
torch = types.ModuleType("torch")
torch.bfloat16 = torch.float16 = None
torch.cuda = types.SimpleNamespace(empty_cache=lambda: None)
sys.modules["torch"] = torch
for name, content in {
    "eight_bits": {"EightBitAttention": None},
    "heddle_torch": {"Attention": None},
    "peers": {"PEERS": {"cudnn": None}},
    "reference": {},
    "timing": {},
}.items():
    module = types.ModuleType(name)
    module.__dict__.update(content)
    sys.modules[name] = module

import cells  # noqa: E402
import compare  # noqa: E402
import report  # noqa: E402

FACTS = {"gpu": "a card", "command": "compare.py"}


class Sweep(unittest.TestCase):
    def walk(self, folder, measure):
        compare.measure, compare.environment = measure, lambda: FACTS
        options = types.SimpleNamespace(
            bars=None, peers=["cudnn"],
            csv=os.path.join(folder, "out.csv"), markdown=os.path.join(folder, "out.md"),
        )
        comparison = report.Comparison("heddle")
        sweep = cells.sweep([128], ["full"], [512, 1024, 2048])
        with contextlib.redirect_stderr(io.StringIO()) as said:
            try:
                status = compare.measure_sweep(None, sweep, options, comparison, {})
            except RuntimeError:
                status = "raised"
        with open(options.csv, encoding="utf-8") as file:
            lines = len(file.readlines())
        with open(options.markdown, encoding="utf-8") as file:
            return status, lines, file.read(), said.getvalue()

    @staticmethod
    def measure_until(length, error):
        def measure(context, cell, options, peers):
            if cell.length == length:
                raise error
            return {"heddle": [1e-3], "cudnn": [2e-3]}, "exact: x"

        return measure

    def test_all_cells(self):
        with tempfile.TemporaryDirectory() as folder:
            status, lines, text, _ = self.walk(folder, self.measure_until(0, None))
        self.assertEqual((status, lines), (0, 7))
        self.assertIn("| d 128 full | 69 (2.00) | 137 (2.00) | 275 (2.00) |", text)

    def test_an_interruption_keeps_what_is_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            status, lines, text, said = self.walk(
                folder, self.measure_until(2048, KeyboardInterrupt())
            )
        self.assertEqual((status, lines), (130, 5))
        self.assertIn("| d 128 full | 69 (2.00) | 137 (2.00) |\n", text)
        self.assertIn("interrupted after 2 of 3 cells", said)

    def test_so_does_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            status, lines, _, _ = self.walk(folder, self.measure_until(1024, RuntimeError("lost")))
        self.assertEqual((status, lines), ("raised", 3))


if __name__ == "__main__":
    unittest.main()
