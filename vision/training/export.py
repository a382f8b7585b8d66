"""Checkpoints to ONNX: ``python -m vision.training.export --finder F --reader R --out models``.

Writes ``tile_finder.onnx``, ``tile_reader.onnx`` and ``tiles.json`` (checksums, calibration). The
calibration starts as the identity; ``vision.training.calibrate`` fits it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

import onnx
import torch
from torch import nn

from .crops import CROP_PX
from .finder_net import build_finder
from .reader_net import TileReader


class DeployedFinder(nn.Module):
    """Picture (1, H, W, 3) uint8 BGR, sides multiples of 32, to the two raw grids (1, 65, h, w)."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.layers = model.model
        self.save = model.save

    def forward(self, image: torch.Tensor) -> list[torch.Tensor]:
        """Grids of stride 8 and 16: 64 box bins, 1 logit."""
        x = image.permute(0, 3, 1, 2).flip(1).float() / 255
        kept: list[torch.Tensor | None] = []
        for layer in self.layers[:-1]:
            if layer.f != -1:
                sources = [layer.f] if isinstance(layer.f, int) else layer.f
                inputs = [x if j == -1 else kept[j] for j in sources]
                x = inputs[0] if isinstance(layer.f, int) else inputs
            x = layer(x)
            kept.append(x if layer.i in self.save else None)
        head = self.layers[-1]
        features = [kept[j] for j in head.f]
        return [
            torch.cat([head.cv2[i](feature), head.cv3[i](feature)], dim=1)
            for i, feature in enumerate(features)
        ]


class DeployedReader(nn.Module):
    """Crops (B, 4, 96, 96) uint8 to raw outputs (B, 48) and the features they come from."""

    def __init__(self, reader: TileReader) -> None:
        super().__init__()
        self.reader = reader

    def forward(self, crops: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """See :class:`vision.training.reader_net.TileReader`."""
        features = self.reader.features(crops.float() / 255)
        return self.reader.head(features), features


def export_finder(checkpoint: Path, target: Path) -> None:
    """Write the tile finder with free height and width."""
    model = build_finder()
    model.load_state_dict(torch.load(checkpoint, weights_only=True)["average"])
    model.eval().fuse(verbose=False)
    torch.onnx.export(
        DeployedFinder(model),
        (torch.zeros(1, 64, 96, 3, dtype=torch.uint8),),
        str(target),
        input_names=["image"],
        output_names=["grid8", "grid16"],
        dynamic_axes={
            "image": {1: "height", 2: "width"},
            "grid8": {2: "height8", 3: "width8"},
            "grid16": {2: "height16", 3: "width16"},
        },
        opset_version=17,
        dynamo=False,
    )


def export_reader(checkpoint: Path, target: Path) -> None:
    """Write the tile reader with a free batch size."""
    reader = TileReader()
    reader.load_state_dict(torch.load(checkpoint, weights_only=True)["average"])
    torch.onnx.export(
        DeployedReader(reader.eval()),
        (torch.zeros(2, 4, CROP_PX, CROP_PX, dtype=torch.uint8),),
        str(target),
        input_names=["crops"],
        output_names=["out", "features"],
        dynamic_axes={name: {0: "count"} for name in ("crops", "out", "features")},
        opset_version=17,
        dynamo=False,
    )


def write_manifest(folder: Path, version: str, calibration: dict[str, Any]) -> None:
    """Write ``tiles.json`` for the ONNX files in ``folder``."""
    manifest: dict[str, Any] = {"version": version}
    for role in ("finder", "reader"):
        path = folder / f"tile_{role}.onnx"
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        manifest[role] = {"file": path.name, "sha256": digest}
    manifest.update(calibration)
    (folder / "tiles.json").write_text(json.dumps(manifest, indent=2) + "\n")


UNFITTED = {"finder": 1.0, "reader": 0.5, "offset": 0.0}
IDENTITY = {
    "temperature": 1.0,
    "score_calibration": {"printed": UNFITTED, "plain": UNFITTED},
}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--finder", type=Path, required=True)
    parser.add_argument("--reader", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("models"))
    parser.add_argument("--version", default="1")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    export_finder(options.finder, options.out / "tile_finder.onnx")
    export_reader(options.reader, options.out / "tile_reader.onnx")
    for name in ("tile_finder.onnx", "tile_reader.onnx"):
        onnx.checker.check_model(onnx.load(options.out / name))
    write_manifest(options.out, options.version, IDENTITY)


if __name__ == "__main__":
    main()
