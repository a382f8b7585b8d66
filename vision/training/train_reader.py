"""Train the tile reader: ``python -m vision.training.train_reader --synthetic DIR...``.

Crops of the training photographs and of made pictures; one photograph in twelve is kept out of
training (``is_held_out``) for the temperature of the probabilities. Seeded, resumable.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

from .crops import CROP_PX, Patches, Sample, SceneCrops, gather_patches, photo_sample
from .face_bank import FlowerBank
from .loop import Average, Curve, learning_rate, parameter_groups, resumed, save
from .reader_net import OUTPUTS, TileReader
from .relabel import apply_relabelling
from .restore import restored_reader
from .sources import is_held_out, load_split, without_flawed_flowers

CROPS_A_PICTURE = 18
"""Of one made picture in a batch: decoding it costs more than cutting these."""


class BatchStream(Dataset[dict[str, Any]]):
    """Batch number ``index``: photographed crops and made ones, in fixed proportions."""

    def __init__(
        self,
        patches: Patches,
        scenes: SceneCrops,
        batch: int,
        synthetic: int,
        length: int,
        seed: int,
        flowers: tuple[FlowerBank | None, int] = (None, 0),
    ) -> None:
        self.patches, self.scenes = patches, scenes
        self.bank, self.flowers = flowers
        self.batch, self.synthetic, self.length, self.seed = batch, synthetic, length, seed

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> dict[str, Any]:
        cv2.setNumThreads(0)
        rng = np.random.default_rng([self.seed, index])
        if index % 100 == 0 or not self.scenes.any:
            self.scenes.refresh()
        samples: list[Sample] = []
        while self.scenes.any and len(samples) < self.synthetic:
            samples += self.scenes.draw(min(CROPS_A_PICTURE, self.synthetic - len(samples)), rng)
        if self.bank is not None:
            samples += [self.bank.sample(rng) for _ in range(self.flowers)]
        rest = self.batch - len(samples)
        rows = rng.choice(len(self.patches.classes), rest, p=self.patches.weight.astype(np.float64))
        samples += [photo_sample(self.patches, int(row), rng) for row in rows]
        return to_tensors(samples)


def to_tensors(samples: list[Sample]) -> dict[str, Any]:
    """Stack samples; unknown directions become zero with a zero weight."""
    rotation = torch.tensor([sample.rotation for sample in samples])
    axis = torch.tensor([sample.axis for sample in samples])
    return {
        "pixels": torch.from_numpy(np.stack([sample.pixels for sample in samples])),
        "tile": torch.tensor([sample.tile for sample in samples]),
        "rotation": torch.deg2rad(torch.nan_to_num(rotation)),
        "has_rotation": (~rotation.isnan()).float(),
        "axis": torch.deg2rad(torch.nan_to_num(axis)),
        "has_axis": (~axis.isnan()).float(),
    }


def shrunk(crops: torch.Tensor, side: int) -> torch.Tensor:
    """Crops (N, 4, 96, 96) of bytes as the network's input (N, 4, side, side), 0..1."""
    pixels = crops.float() / 255
    return nn.functional.interpolate(pixels, (side, side), mode="area")


def losses(out: torch.Tensor, batch: dict[str, Any], smoothing: float) -> tuple[torch.Tensor, ...]:
    """Class, direction and axis losses."""
    naming = nn.functional.cross_entropy(out[:, :OUTPUTS], batch["tile"], label_smoothing=smoothing)
    direction = _angle_loss(out[:, OUTPUTS : OUTPUTS + 2], batch["rotation"], batch["has_rotation"])
    axis = _angle_loss(out[:, OUTPUTS + 2 :], 2 * batch["axis"], batch["has_axis"])
    return naming, direction, axis


def _angle_loss(out: torch.Tensor, angle: torch.Tensor, known: torch.Tensor) -> torch.Tensor:
    goal = torch.stack([angle.cos(), angle.sin()], dim=1)
    return ((out - goal).square().sum(dim=1) * known).sum() / known.sum().clamp(min=1)


def parse_arguments() -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=Path, default=Path("../shared/data/photos"))
    parser.add_argument("--relabel", type=Path, help="JSON of vision.training.relabel")
    parser.add_argument(
        "--groups", nargs="*", help="sources of photographs, and crops (default: all)"
    )
    parser.add_argument("--clutter", type=Path, help="npz of vision.training.clutter")
    parser.add_argument("--synthetic", type=Path, nargs="*", default=[])
    parser.add_argument(
        "--developed", type=Path, nargs="*", default=[], help="made pictures of compose --develop"
    )
    parser.add_argument("--fresh", type=float, default=0.7, help="share of these of the made ones")
    parser.add_argument("--flowers", type=Path, help="npz of vision.training.face_bank")
    parser.add_argument("--flower-crops", type=int, default=44, help="of a batch, from --flowers")
    parser.add_argument("--out", type=Path, default=Path("runs/reader"))
    parser.add_argument("--start", type=Path, help="checkpoint or ONNX file to start from")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--synthetic-crops", type=int, default=56, help="of a batch")
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--final-lr", type=float, default=2e-5)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument(
        "--input-px", type=int, default=CROP_PX, help="shrink crops to it: quick, to compare"
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--resume", action="store_true")
    return parser.parse_args()


def main() -> None:
    """Train, write ``last.pt`` every 100 steps and at the end."""
    options = parse_arguments()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    cv2.setNumThreads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    photos = [without_flawed_flowers(p) for p in load_split(options.photos, "train")]
    relabelled: dict[str, Any] = {}
    if options.relabel:
        relabelled = json.loads(options.relabel.read_text())
        photos = apply_relabelling(photos, options.relabel)
    photos = [photo for photo in photos if not is_held_out(photo)]
    crops: Path | None = options.photos / "crops"
    if options.groups:
        photos = [photo for photo in photos if photo.group in options.groups]
        crops = crops if "crops" in options.groups else None
    patches = gather_patches(photos, crops, relabelled, options.clutter)
    print(f"{len(patches.classes)} photographed tiles", flush=True)
    stream = BatchStream(
        patches,
        SceneCrops(options.synthetic, options.developed, options.fresh),
        options.batch,
        options.synthetic_crops,
        options.steps,
        options.seed,
        (FlowerBank(options.flowers) if options.flowers else None, options.flower_crops),
    )
    model = beginning(options.start, stream).to(memory_format=torch.channels_last)
    average = Average(model)
    optimizer = torch.optim.AdamW(parameter_groups(model, 0.03), lr=options.lr)
    first = resumed(options.out, model, average, optimizer) if options.resume else 0
    loader = DataLoader(
        Subset(stream, range(first, options.steps)),
        batch_size=None,
        num_workers=1,
        prefetch_factor=8,
    )
    run(options, model.train(), average, optimizer, loader, first)


def beginning(start: Path | None, stream: BatchStream) -> TileReader:
    """A new network, or the one of a checkpoint or of an exported model."""
    if start is None:
        return TileReader()
    if start.suffix == ".onnx":
        crops = torch.cat([stream[number]["pixels"] for number in range(4)])
        return restored_reader(start, crops.float() / 255)
    model = TileReader()
    model.load_state_dict(torch.load(start, weights_only=True)["average"])
    return model


def run(
    options: argparse.Namespace,
    model: TileReader,
    average: Average,
    optimizer: torch.optim.Optimizer,
    loader: DataLoader[Any],
    first: int,
) -> None:
    """The loop from step ``first`` on."""
    began = time.monotonic()
    curve = Curve(options.out, ("class", "direction", "axis", "right"), first)
    sums = torch.zeros(4)
    for step, batch in enumerate(loader, start=first):
        rate = learning_rate(step, options.steps, options.lr, options.final_lr)
        for group in optimizer.param_groups:
            group["lr"] = rate
        pixels = shrunk(batch["pixels"], options.input_px).to(memory_format=torch.channels_last)
        out = model(pixels)
        naming, direction, axis = losses(out, batch, 0.02)
        optimizer.zero_grad(set_to_none=True)
        (naming + 0.3 * direction + 0.3 * axis).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        average.update(model, step + 1)
        right = (out[:, :OUTPUTS].argmax(1) == batch["tile"]).float().mean()
        sums += torch.stack([naming.detach(), direction.detach(), axis.detach(), right])
        if (step + 1) % 50 == 0:
            speed = (step + 1 - first) * options.batch / (time.monotonic() - began)
            text = curve.add(step + 1, rate, sums / 50)
            print(f"step {step + 1}/{options.steps} {text} {speed:.0f} crops/s", flush=True)
            sums.zero_()
        if (step + 1) % 100 == 0 or step + 1 == options.steps:
            save(options.out, step + 1, model, average, optimizer)


if __name__ == "__main__":
    main()
