"""What both trainers share: averaged weights, the learning rate, checkpoints."""

from __future__ import annotations

import csv
import math
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from torch import nn

CHECKPOINT = "last.pt"
CURVE = "curve.csv"
"""Beside the checkpoint: step, learning rate, and the means since the row before."""


class Average:
    """Exponential moving average of the weights; its memory grows with the number of steps."""

    def __init__(self, model: nn.Module) -> None:
        self.model = deepcopy(model).eval()
        for parameter in self.model.parameters():
            parameter.requires_grad_(False)

    def update(self, model: nn.Module, step: int) -> None:
        """Take in the weights after ``step``."""
        decay = 0.998 * (1 - math.exp(-step / 150))
        with torch.no_grad():
            for mine, other in zip(
                self.model.state_dict().values(), model.state_dict().values(), strict=True
            ):
                if mine.dtype.is_floating_point:
                    mine.mul_(decay).add_(other.detach(), alpha=1 - decay)


def parameter_groups(model: nn.Module, decay: float) -> list[dict[str, Any]]:
    """Weight decay for matrices only, not for biases and norms."""
    matrices = [p for p in model.parameters() if p.ndim > 1 and p.requires_grad]
    vectors = [p for p in model.parameters() if p.ndim <= 1 and p.requires_grad]
    return [{"params": matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}]


def learning_rate(step: int, steps: int, peak: float, final: float, warmup: int = 100) -> float:
    """Linear warm-up, then a cosine from ``peak`` to ``final``."""
    if step < warmup:
        return peak * (step + 1) / warmup
    return final + (peak - final) * (1 + math.cos(math.pi * step / steps)) / 2


def save(
    folder: Path, step: int, model: nn.Module, average: Average, optimizer: torch.optim.Optimizer
) -> None:
    """Write the checkpoint after ``step``; a kill leaves the old or the new one, never half."""
    part = folder / f"{CHECKPOINT}.part"
    torch.save(
        {
            "step": step,
            "model": model.state_dict(),
            "average": average.model.state_dict(),
            "optimizer": optimizer.state_dict(),
        },
        part,
    )
    part.replace(folder / CHECKPOINT)


def resumed(
    folder: Path, model: nn.Module, average: Average, optimizer: torch.optim.Optimizer
) -> int:
    """Put back what the last checkpoint holds; returns its step."""
    state = torch.load(folder / CHECKPOINT, weights_only=True)
    model.load_state_dict(state["model"])
    average.model.load_state_dict(state["average"])
    optimizer.load_state_dict(state["optimizer"])
    return int(state["step"])


class Curve:
    """The rows of ``curve.csv``: what the training did so far, kept when it is resumed.

    A row after the checkpoint that is resumed from is dropped: it will come again.
    """

    def __init__(self, folder: Path, columns: tuple[str, ...], first: int) -> None:
        self.path, self.columns = folder / CURVE, columns
        kept: list[list[str]] = []
        if first and self.path.exists():
            with self.path.open(newline="") as file:
                kept = [row for row in list(csv.reader(file))[1:] if int(row[0]) <= first]
        with self.path.open("w", newline="") as file:
            csv.writer(file).writerows([["step", "rate", *columns], *kept])

    def add(self, step: int, rate: float, means: torch.Tensor) -> str:
        """Write a row; returns it for people."""
        values = means.tolist()
        with self.path.open("a", newline="") as file:
            row = [step, f"{rate:.3e}", *(f"{value:.4f}" for value in values)]
            csv.writer(file).writerow(row)
        named = zip(self.columns, values, strict=True)
        return " ".join(f"{name} {value:.3f}" for name, value in named)
