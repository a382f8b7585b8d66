"""Draw training curves: ``python -m vision.training.curves models/curves``.

Draws every ``<name>.csv`` of a folder (the ``curve.csv`` of a training, renamed) there into
``curves.svg``: one panel each, losses on the left axis, the share read right and the learning rate
(of its peak) on the right.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

SHARES = ("right",)
"""Columns that are shares and not losses."""


def columns_of(path: Path) -> dict[str, list[float]]:
    """The columns of a curve by name."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [float(row[name]) for row in rows] for name in rows[0]}


def draw(paths: list[Path], target: Path) -> None:
    """One panel for each curve."""
    # Paths in place of text differ with the fonts at hand; the date would differ each time.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "curves"})
    figure, panels = plt.subplots(1, len(paths), figsize=(5 * len(paths), 3.4), squeeze=False)
    for panel, path in zip(panels[0], paths, strict=True):
        columns = columns_of(path)
        steps, rates = columns.pop("step"), columns.pop("rate")
        panel.set(title=path.stem, xlabel="step", ylabel="loss")
        right = panel.twinx()
        right.set_ylim(0, 1.02)
        right.plot(steps, [r / max(rates) for r in rates], ":", color="grey", label="rate / peak")
        for name, values in columns.items():
            side = right if name in SHARES else panel
            side.plot(steps, values, "--" if name in SHARES else "-", lw=1, label=name)
        lines = [*panel.get_lines(), *right.get_lines()]
        panel.legend(lines, [line.get_label() for line in lines], fontsize=7)
        panel.set_ylim(bottom=0)
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    draw(sorted(folder.glob("*.csv")), folder / "curves.svg")


if __name__ == "__main__":
    main()
