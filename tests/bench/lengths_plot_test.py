"""What bench/compare.py writes, drawn by `heddle bench --suite lengths`. All figures here are made up:
a synthetic card, rates that rise by the same step from length to length."""

import csv
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import cells
import report

HEDDLE = sys.argv.pop(1)
SVG = "{http://www.w3.org/2000/svg}"
FACTS = {"gpu": "a synthetic card", "driver": "0", "date": "1970-01-01", "command": "made up, none"}


def write_made_up(path):
    comparison = report.Comparison("heddle")
    lengths = [512, 1024, 2048, 4096, 8192, 16384]
    for cell in cells.sweep([64, 128], ["full", "causal"], lengths):
        step = lengths.index(cell.length)
        rates = {"heddle": 300 + 10 * step, "flash": 100 + 10 * step, "cudnn": 200 + 10 * step}
        times = {name: [cell.flops / (rate * 1e12)] for name, rate in rates.items()}
        comparison.add(cell, times, "exact: family=fa3,tile_m=128")
    comparison.write_csv(path, FACTS)


class LengthsPlot(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = {
            name: os.path.join(self.folder.name, name)
            for name in ("compare.csv", "out.csv", "out.svg")
        }
        write_made_up(self.path["compare.csv"])

    def tearDown(self):
        self.folder.cleanup()

    def draw(self, *more):
        command = [HEDDLE, "bench", "--suite", "lengths", "--from", self.path["compare.csv"], *more]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_the_plot_is_well_formed_and_has_every_cell(self):
        result = self.draw("--svg", self.path["out.svg"])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        root = xml.etree.ElementTree.parse(self.path["out.svg"]).getroot()
        self.assertEqual(root.tag, SVG + "svg")
        labels = [title.text for title in root.iter(SVG + "title")]
        for name in ("heddle", "cuDNN", "FA2", "FA3 (another run)"):
            self.assertEqual(sum(label.startswith(name + ": ") for label in labels), 24, name)
        self.assertIn("heddle: 340 at 8192", labels)
        words = [text.text for text in root.iter(SVG + "text")]
        self.assertIn("a synthetic card, driver 0, 1970-01-01", words)
        self.assertIn("prefers-color-scheme: dark", root.find(SVG + "style").text)

    def test_the_csv_keeps_where_it_was_measured(self):
        result = self.draw("--csv", self.path["out.csv"])
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path["out.csv"], newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 24)
        self.assertEqual({row["gpu"] for row in rows}, {"a synthetic card"})
        self.assertEqual({row["command"] for row in rows}, {"made up, none"})
        self.assertEqual(float(rows[0]["heddle"]), 300)

    def test_a_file_of_another_kind_is_refused(self):
        with open(self.path["compare.csv"], "w", encoding="utf-8") as file:
            file.write("a,b\n1,2\n")
        result = self.draw()
        self.assertEqual(result.returncode, 2)
        self.assertIn("has no column 'gpu'", result.stderr)


if __name__ == "__main__":
    unittest.main()
