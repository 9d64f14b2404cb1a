"""bench/race_setting.py beside a heddle that answers from a table."""
import json
import os
import stat
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "bench"))
import race_setting  # noqa: E402

# Each launch is slower than the one before, as on a card that warms up.
HEDDLE = """#!/usr/bin/env python3
import json, os, sys
log = os.path.join(os.path.dirname(__file__), "log")
with open(log, "a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
count = len(open(log).readlines())
if "tma_store=true" in sys.argv and "split_kv=true" in sys.argv:
    sys.exit("heddle: tma_store=true with split_kv=true: no")
drift = 1.0 + 0.01 * count
factor = 0.8 if "ping_pong=true" in sys.argv else 1.0
config = "family=fa3, tile_m=128, split_kv=true, ping_pong=false"
print(json.dumps([{"config": config, "flops": 1e12, "seconds": factor * drift}]))
"""


class Race(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.heddle = os.path.join(self.folder.name, "heddle")
        with open(self.heddle, "w", encoding="utf-8") as file:
            file.write(HEDDLE)
        os.chmod(self.heddle, os.stat(self.heddle).st_mode | stat.S_IXUSR)

    def tearDown(self):
        self.folder.cleanup()

    def calls(self):
        with open(os.path.join(self.folder.name, "log"), encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def test_ratio_is_of_neighbours_in_time(self):
        bases, ratios = race_setting.race(self.heddle, [], ["ping_pong=true"], 3)
        self.assertEqual(len(bases), 3)
        for ratio in ratios["ping_pong=true"]:
            self.assertAlmostEqual(ratio, 1.25, delta=0.02)
            self.assertLess(ratio, 1.25)  # it ran later
        calls = self.calls()
        self.assertEqual(len(calls), 1 + 2 * 3)
        self.assertNotIn("--set", calls[0])
        self.assertIn("ping_pong=false", calls[1])
        self.assertIn("ping_pong=true", calls[2])
        self.assertNotIn("ping_pong=false", calls[2])

    def test_base_changes_both(self):
        race_setting.race(self.heddle, [], ["tile_m=64"], 1, base="split_kv=false")
        for call in self.calls()[1:]:
            self.assertIn("split_kv=false", call)

    def test_refusal_is_said_and_ends_that_way_only(self):
        bases, ratios = race_setting.race(self.heddle, [], ["tma_store=true", "tile_m=64"], 2)
        self.assertEqual(ratios["tma_store=true"], "heddle: tma_store=true with split_kv=true: no")
        self.assertEqual(len(ratios["tile_m=64"]), 2)
        line = race_setting.line_of("64:full:512", bases, ratios)
        self.assertIn("tma_store=true: heddle: tma_store=true", line)
        self.assertRegex(line, r"tile_m=64: 0\.\d{3} \(0\.\d{3} to 0\.\d{3}\)")

    def test_cell(self):
        self.assertEqual(race_setting.problem_flags("128:causal:2048"),
                         ["--head-dim", "128", "--mask", "causal", "--batch", "8", "--heads", "16",
                          "--seqlen-q", "2048"])


if __name__ == "__main__":
    unittest.main()
