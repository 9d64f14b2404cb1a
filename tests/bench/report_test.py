"""Cells, the rows of heddle's JSON, and ratios: what needs no GPU."""

import csv
import json
import os
import tempfile
import unittest

import bars
import cells
import report

PEERS = os.path.join(os.path.dirname(bars.__file__), "peers.yaml")


class Cells(unittest.TestCase):
    def test_the_sweep_keeps_tokens_and_hidden_size(self):
        sweep = cells.sweep([64, 128], ["full"], [512, 16384])
        self.assertEqual(len(sweep), 4)
        for cell in sweep:
            self.assertEqual(cell.batch * cell.length, 16384)
            self.assertEqual(cell.heads * cell.head_dim, 2048)

    def test_flops_of_causal_are_half(self):
        full, causal = cells.sweep([128], ["full", "causal"], [16384])
        self.assertEqual(full.flops, 4 * 16 * 16384**2 * 128)
        self.assertEqual(causal.flops, full.flops / 2)

    def test_json_rows_find_their_cell(self):
        bench = {
            "variant": "head_dim=64,mask=causal",
            "sizes": "batch=4,heads=32,seqlen_q=4096,seqlen_kv=4096",
            "config": "family=unfused,tile_m=128",
            "seconds": 0.5,
        }
        tuned = {
            "variant": "",
            "sizes": "batch=1,heads=16,seqlen_q=16384,seqlen_kv=16384",
            "evidence": "measured",
            "winner": {"config": "tile_m=128", "seconds": 0.25},
        }
        predicted = {**tuned, "evidence": "predicted"}
        decode = {**bench, "sizes": "heads=32,seqlen_kv=4096"}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump([bench, tuned, decode], file)
            times = cells.read_heddle_json(path)
            with open(path, "w", encoding="utf-8") as file:
                json.dump([predicted], file)
            self.assertEqual(cells.read_heddle_json(path), {})
        self.assertEqual(
            times,
            {
                (cells.Cell(64, "causal", 4096, 4, 32), "unfused"): 0.5,
                (cells.Cell(128, "full", 16384, 1, 16), "fa2"): 0.25,
            },
        )


class Bars(unittest.TestCase):
    def test_every_cell_of_the_sweep_has_one(self):
        known = bars.read(PEERS)
        sweep = cells.sweep(
            [64, 128, 256], ["full", "causal"], [512, 1024, 2048, 4096, 8192, 16384], dtype="e4m3"
        )
        self.assertEqual(len(known), len(sweep))
        for cell in sweep:
            self.assertEqual(len(bars.seconds(known, cell, [1.0, 2.0])), 2, cell.name)

    def test_a_bar_is_fa3_times_cudnn_now_over_cudnn_then(self):
        cell = cells.sweep([128], ["causal"], [4096], dtype="e4m3")[0]
        known = bars.read(PEERS)
        self.assertEqual(known[128, "causal", 4096], (850.8, 578.0))
        # The card is a tenth slower than then, and so is the bar.
        cudnn_now = cell.flops / (0.9 * 578.0e12)
        (bar,) = bars.seconds(known, cell, [cudnn_now])
        self.assertAlmostEqual(cell.flops / bar * 1e-12, 0.9 * 850.8, places=6)

    def test_no_figure_no_bar(self):
        cell = cells.sweep([96], ["full"], [4096], dtype="e4m3")[0]
        self.assertIsNone(bars.seconds(bars.read(PEERS), cell, [1.0]))
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as empty:
            with self.assertRaisesRegex(OSError, "no cell"):
                bars.read(empty.name)


class Command(unittest.TestCase):
    def test_folders_of_the_machine_are_left_out(self):
        words = ["/a/b/compare.py", "--csv", "/c/x.csv", "--bars=/d/e/peers.yaml", "--lengths", "1,2"]
        self.assertEqual(
            report.command_line(words),
            "python3 compare.py --csv x.csv --bars=peers.yaml --lengths 1,2",
        )
        self.assertEqual(
            report.command_line(["bench/compare.py", "--csv", "out/x.csv"]),
            "python3 bench/compare.py --csv out/x.csv",
        )


class Ratios(unittest.TestCase):
    def setUp(self):
        self.comparison = report.Comparison("heddle")
        first, second = cells.sweep([64], ["full"], [512, 1024])
        # The card slows down in the second repetition: the paired ratio does not.
        self.comparison.add(first, {"heddle": [1e-3, 2e-3], "flash": [2e-3, 4e-3]}, "exact: x")
        self.comparison.add(second, {"heddle": [4e-3, 4e-3], "flash": [2e-3, 2e-3]})

    def test_ratios_are_paired_by_repetition(self):
        ratios = [self.comparison.ratio(times, "flash") for _, times, _ in self.comparison.cells]
        self.assertEqual(ratios, [2, 0.5])

    def test_the_table_shows_how_far_repetitions_spread(self):
        cell = cells.Cell(64, "full", 4096, 4, 32)
        self.comparison.add(cell, {"heddle": [1e-3, 2e-3, 1e-3], "flash": [1e-3, 3e-3, 2e-3]})
        self.assertIn("1.500 [1.000-2.000]", self.comparison.table().splitlines()[-1])

    def test_the_summary_has_mean_and_worst_cell(self):
        summary = self.comparison.summary()
        self.assertIn("heddle/flash, all: geometric mean 1.000 over 2 cells", summary)
        self.assertIn("worst 0.500 (d64 full 1024)", summary)

    def test_missing_peers_leave_a_dash(self):
        self.comparison.add(cells.Cell(64, "full", 2048, 8, 32), {"heddle": [1e-3]})
        self.assertEqual(self.comparison.table().splitlines()[-1].split()[-2:], ["-", "-"])

    def test_markdown_is_the_table_of_the_log(self):
        self.comparison.add(cells.Cell(128, "causal", 1024, 16, 16), {"heddle": [1e-3]})
        self.assertEqual(
            self.comparison.markdown("flash").splitlines(),
            ["| | 512 | 1024 |", "|---|---|---|", "| d 64 full | 46 (2.00) | 34 (0.50) |"],
        )
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.md")
            self.comparison.write_markdown(path, {"gpu": "H200", "command": "compare.py --x"})
            with open(path, encoding="utf-8") as file:
                text = file.read()
        self.assertTrue(text.startswith("gpu H200, command compare.py --x\n\nTFLOP/s of heddle,"))
        self.assertIn("\n\nheddle/flash, all: geometric mean 1.000 over 2 cells", text)

    def test_csv_lines_say_where_they_come_from(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.csv")
            self.comparison.write_csv(path, {"gpu": "H200", "command": "compare.py --x"})
            with open(path, newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 4)
        self.assertEqual({row["gpu"] for row in rows}, {"H200"})
        self.assertEqual(rows[0]["note"], "exact: x")
        self.assertEqual([row["subject_ratio"] for row in rows[:2]], ["1.0000", "2.0000"])
        self.assertEqual([row["most_ratio"] for row in rows[2:]], ["1.0000", "0.5000"])


if __name__ == "__main__":
    unittest.main()
