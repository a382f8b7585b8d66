"""Train the tile finder: ``python -m vision.training.train_detector --photos DIR --out DIR``.

One class ("tile"), from scratch, ultralytics' YOLO11 blocks and loss. The loop is our own because
many photographs are only partly labelled: away from their labels the loss must not punish finds.
Seeded; ``--resume`` goes on from the last checkpoint with the same stream of windows.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, Subset
from ultralytics.nn.tasks import DetectionModel
from ultralytics.utils.loss import v8DetectionLoss

from .detector_data import Synthetic, WindowStream, collate
from .finder_net import build_finder
from .loop import Average, Curve, learning_rate, parameter_groups, resumed, save
from .relabel import apply_relabelling
from .restore import restored_finder
from .sources import load_split, without_flawed_flowers


class PartialLabelLoss(v8DetectionLoss):
    """ultralytics' detection loss that takes no offence at finds inside ignored areas."""

    def __init__(self, model: DetectionModel) -> None:
        super().__init__(model)
        self.plain = self.bce
        self.bce = self._masked
        self.weight: torch.Tensor | None = None

    def _masked(self, scores: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        loss: torch.Tensor = self.plain(scores, targets)
        if self.weight is None:
            return loss
        return torch.where(targets > 0, loss, loss * self.weight)

    def forward_batch(self, preds: dict[str, Any], batch: dict[str, Any]) -> torch.Tensor:
        """Loss of a batch (scalar); ``batch["ignore"]`` is (B, H/8, W/8)."""
        fine = (~batch["ignore"]).float()[:, None]
        coarse = nn.functional.avg_pool2d(fine, 2).floor()
        self.weight = torch.cat([fine.flatten(1), coarse.flatten(1)], dim=1)[:, :, None]
        _, parts, items = self.get_assigned_targets_and_loss(preds, batch)
        self.items = items
        return parts.sum() * len(batch["img"])


def parse_arguments() -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=Path, default=Path("../shared/data/photos"))
    parser.add_argument("--relabel", type=Path, help="JSON of vision.training.relabel")
    parser.add_argument("--out", type=Path, default=Path("runs/detector"))
    parser.add_argument("--synthetic", type=Path, nargs="*", default=[])
    parser.add_argument("--synthetic-share", type=float, default=0.35)
    parser.add_argument("--start", type=Path, help="checkpoint or ONNX file to start from")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--size", type=int, default=416)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--final-lr", type=float, default=5e-5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--resume", action="store_true")
    return parser.parse_args()


def main() -> None:
    """Train, write ``last.pt`` every 100 steps and at the end."""
    options = parse_arguments()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    options.out.mkdir(parents=True, exist_ok=True)
    photos = [without_flawed_flowers(p) for p in load_split(options.photos, "train")]
    if options.relabel:
        photos = apply_relabelling(photos, options.relabel)
    stream = WindowStream(
        photos,
        [Synthetic(folder) for folder in options.synthetic],
        options.synthetic_share,
        options.size,
        options.steps * options.batch,
        options.seed,
    )
    for folder in stream.synthetic:
        folder.refresh()
    model = beginning(options.start, stream).train()
    optimizer = torch.optim.AdamW(parameter_groups(model, 0.02), lr=options.lr)
    average = Average(model)
    first = resumed(options.out, model, average, optimizer) if options.resume else 0
    rest = Subset(stream, range(first * options.batch, len(stream)))
    loader = DataLoader(
        rest, batch_size=options.batch, num_workers=1, collate_fn=collate, prefetch_factor=6
    )
    loss_of = PartialLabelLoss(model)
    run(options, model, average, optimizer, loader, loss_of, first)


def beginning(start: Path | None, stream: WindowStream) -> DetectionModel:
    """A new network, or the one of a checkpoint or of an exported model."""
    if start is not None and start.suffix == ".onnx":
        windows = torch.stack([stream[number]["img"] for number in range(32)])
        return restored_finder(start, windows.float() / 255)
    model = build_finder()
    if start is not None:
        model.load_state_dict(torch.load(start, weights_only=True)["average"])
    return model


def run(
    options: argparse.Namespace,
    model: DetectionModel,
    average: Average,
    optimizer: torch.optim.Optimizer,
    loader: DataLoader[Any],
    loss_of: PartialLabelLoss,
    first: int,
) -> None:
    """The loop from step ``first`` to the end of ``loader``."""
    began = time.monotonic()
    curve = Curve(options.out, ("box", "tile", "dfl"), first)
    sums = torch.zeros(3)
    for step, batch in enumerate(loader, start=first):
        rate = learning_rate(step, options.steps, options.lr, options.final_lr)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of.forward_batch(model(batch["img"].float() / 255), batch)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 10.0)
        optimizer.step()
        average.update(model, step + 1)
        sums += torch.stack([value.cpu() for value in loss_of.items.values()])
        if (step + 1) % 20 == 0:
            speed = (step + 1 - first) * options.batch / (time.monotonic() - began)
            text = curve.add(step + 1, rate, sums / 20)
            print(f"step {step + 1}/{options.steps} {text} {speed:.1f} windows/s", flush=True)
            sums.zero_()
        if (step + 1) % 100 == 0 or step + 1 == options.steps:
            save(options.out, step + 1, model, average, optimizer)


if __name__ == "__main__":
    main()
