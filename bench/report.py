"""Tables, geometric means and CSV."""

import csv
import datetime
import math
import platform
import re
import shlex
import statistics
import subprocess
import sys


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def command_line(words):
    """What was typed, less the folders of the machine that it was typed on."""
    return shlex.join(["python3", *(re.sub(r"^(--[\w-]+=)?/.*/", r"\1", word) for word in words)])


def environment():
    """What a number must be quoted with: GPU, driver, date, command."""
    import torch

    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        output = subprocess.run(query, capture_output=True, text=True, check=True).stdout
        driver = output.splitlines()[0].strip()
    except (OSError, subprocess.CalledProcessError, IndexError):
        driver = "unknown"
    return {
        "gpu": torch.cuda.get_device_name(),
        "driver": driver,
        "torch": torch.__version__,
        "cudnn": str(torch.backends.cudnn.version()),
        "python": platform.python_version(),
        "date": datetime.date.today().isoformat(),
        "command": command_line(sys.argv),
    }


def format_table(rows):
    """Left-aligned first column, the others right-aligned, two spaces between."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [text.rjust(width) for text, width in zip(row[1:], widths[1:])]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


class Comparison:
    """Times per cell and implementation; ratios of every peer's time to the subject's."""

    def __init__(self, subject):
        self.subject = subject
        self.cells = []  # (cell, {name: [seconds per repetition]}, note)

    def add(self, cell, times, note=""):
        self.cells.append((cell, times, note))

    def names(self):
        names = []
        for _, times, _ in self.cells:
            names += [name for name in times if name not in names]
        return names

    def ratios(self, times, peer):
        """Above 1: the subject is faster. One per repetition where both have as many, else the one
        of their medians; none where either was not timed."""
        if peer not in times or self.subject not in times:
            return []
        ours, theirs = times[self.subject], times[peer]
        if len(ours) != len(theirs):
            return [statistics.median(theirs) / statistics.median(ours)]
        return [theirs[i] / ours[i] for i in range(len(ours))]

    def ratio(self, times, peer):
        ratios = self.ratios(times, peer)
        return statistics.median(ratios) if ratios else None

    def ratio_text(self, times, peer):
        """The median, and the least and the most of the repetitions."""
        ratios = self.ratios(times, peer)
        if not ratios:
            return "-"
        return f"{statistics.median(ratios):.3f} [{min(ratios):.3f}-{max(ratios):.3f}]"

    def peers(self):
        return [name for name in self.names() if name != self.subject]

    def table(self):
        names, peers = self.names(), self.peers()
        header = ["TFLOP/s", *names, *(f"{self.subject}/{peer}" for peer in peers), "note"]
        rows = [header]
        for cell, times, note in self.cells:
            row = [cell.name]
            for name in names:
                known = name in times
                row.append(
                    f"{cell.flops / statistics.median(times[name]) * 1e-12:.1f}" if known else "-"
                )
            row += [self.ratio_text(times, peer) for peer in peers]
            rows.append([*row, note])
        return format_table(rows)

    def summary(self):
        """Per peer: geometric mean and worst cell, in all and per head dim and mask."""
        lines = []
        for peer in self.peers():
            groups = {}
            for cell, times, _ in self.cells:
                ratio = self.ratio(times, peer)
                if ratio is None:
                    continue
                for group in ("all", f"d{cell.head_dim} {cell.mask}"):
                    groups.setdefault(group, []).append((ratio, cell.name))
            for group, entries in groups.items():
                worst, name = min(entries)
                mean = geometric_mean([ratio for ratio, _ in entries])
                lines.append(
                    f"{self.subject}/{peer}, {group}: geometric mean {mean:.3f} over "
                    f"{len(entries)} cells, worst {worst:.3f} ({name})"
                )
        return "\n".join(lines)

    def markdown(self, peer):
        """Rates of the subject by kind and length; its ratio to the peer in brackets."""
        lengths = sorted({cell.length for cell, _, _ in self.cells})
        rows = {}
        for cell, times, _ in self.cells:
            ratio = self.ratio(times, peer)
            if ratio is None:
                continue
            rate = cell.flops / statistics.median(times[self.subject]) * 1e-12
            row = rows.setdefault(f"d {cell.head_dim} {cell.mask}", {})
            row[cell.length] = f"{rate:.0f} ({ratio:.2f})"
        lines = [
            "| | " + " | ".join(str(length) for length in lengths) + " |",
            "|---|" + "---|" * len(lengths),
        ]
        for kind, cells in rows.items():
            entries = [cells.get(length, "-") for length in lengths]
            lines.append(f"| {kind} | " + " | ".join(entries) + " |")
        return "\n".join(lines)

    def write_markdown(self, path, facts):
        """For each peer the table and what it comes to, below what both are quoted with."""
        parts = [", ".join(f"{name} {value}" for name, value in facts.items())]
        for peer in self.peers():
            own = [line for line in self.summary().splitlines() if f"/{peer}," in line]
            title = f"TFLOP/s of {self.subject}, and {self.subject}/{peer} in brackets:"
            parts += [title, self.markdown(peer), "\n".join(own)]
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n\n".join(parts) + "\n")

    def write_csv(self, path, facts):
        """A line per cell and implementation; every line says where and how it was measured."""
        columns = ["head_dim", "mask", "length", "batch", "heads", "dtype", "implementation"]
        columns += ["seconds", "tflops"]
        columns += ["subject_ratio", "least_ratio", "most_ratio", "note", *facts]
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            for cell, times, note in self.cells:
                for name, seconds in times.items():
                    median = statistics.median(seconds)
                    ratios = self.ratios(times, name)
                    summary = [statistics.median(ratios), min(ratios), max(ratios)] if ratios else []
                    writer.writerow(
                        [cell.head_dim, cell.mask, cell.length, cell.batch, cell.heads, cell.dtype]
                        + [name, f"{median:.6e}", f"{cell.flops / median * 1e-12:.2f}"]
                        + ([f"{ratio:.4f}" for ratio in summary] or [""] * 3)
                        + [note if name == self.subject else "", *facts.values()]
                    )
