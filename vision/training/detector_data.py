"""The tile finder's training stream: an endless, seeded, resumable sequence of windows."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from torch.utils.data import Dataset

from .sources import FloatArray, Photo, PhotoSetError
from .windows import Labelled, Window, degrade, labelled_of_photo, mosaic

GROUP_WEIGHT = {"cmd-train": 1.3, "cmd-valid": 0.8, "home": 1.0, "leo": 1.6, "tray": 2.0}
"""How often a photograph of each source is drawn, relative to its share of the pictures."""


@dataclass
class Synthetic:
    """A folder of made pictures, ``<stem>.jpg`` beside ``<stem>.json``, that may grow meanwhile.

    The JSON is a list of ``{"quad": [[x, y] * 4], "tile": name, "rotation": degrees}``, the corners
    clockwise from the face's own top left; with ``"ignore": true`` where hardly anything is seen.
    """

    folder: Path
    files: list[Path] = field(default_factory=list)

    def refresh(self) -> None:
        """List the pictures that are there now."""
        self.files = sorted(
            path for path in self.folder.glob("*.jpg") if path.with_suffix(".json").exists()
        )

    def draw(self, rng: np.random.Generator) -> Labelled:
        """A random picture of the folder with its outlines."""
        path = self.files[int(rng.integers(len(self.files)))]
        image = cv2.imread(str(path))
        if image is None:
            raise PhotoSetError(f"{path}: not a readable picture")
        rows: list[dict[str, Any]] = json.loads(path.with_suffix(".json").read_text())
        quads = np.array([row["quad"] for row in rows], np.float32).reshape(-1, 4, 2)
        hidden = np.array([row.get("ignore", False) for row in rows], np.bool_)
        picture = np.asarray(image, np.uint8)
        return Labelled(picture, quads[~hidden], quads[hidden], partial=False, quarter_turns=False)


class WindowStream(Dataset[dict[str, Any]]):
    """Window number ``index`` depends only on ``seed``, ``index`` and the pictures at hand."""

    def __init__(
        self,
        photos: list[Photo],
        synthetic: list[Synthetic],
        synthetic_share: float,
        size: int,
        length: int,
        seed: int,
    ) -> None:
        self.photos = photos
        weights = np.array([GROUP_WEIGHT.get(photo.group, 1.0) for photo in photos])
        self.weights = weights / weights.sum()
        self.synthetic = synthetic
        self.synthetic_share = synthetic_share
        self.size, self.length, self.seed = size, length, seed

    def __len__(self) -> int:
        return self.length

    def _source(self, rng: np.random.Generator) -> Labelled:
        ready = [folder for folder in self.synthetic if folder.files]
        if ready and rng.random() < self.synthetic_share:
            return ready[int(rng.integers(len(ready)))].draw(rng)
        photo = self.photos[int(rng.choice(len(self.photos), p=self.weights))]
        return labelled_of_photo(photo, photo.read())

    def __getitem__(self, index: int) -> dict[str, Any]:
        cv2.setNumThreads(0)
        rng = np.random.default_rng([self.seed, index])
        if index % 400 == 0:
            for folder in self.synthetic:
                folder.refresh()
        count = 4 if rng.random() < 0.5 else 1
        window = mosaic([self._source(rng) for _ in range(count)], self.size, rng, (20.0, 110.0))
        return _tensors(Window(degrade(window.image, rng), window.boxes, window.ignore))


def _tensors(window: Window) -> dict[str, Any]:
    rgb = np.ascontiguousarray(window.image[:, :, ::-1].transpose(2, 0, 1))
    height, width = window.image.shape[:2]
    boxes: FloatArray = window.boxes
    centre = (boxes[:, :2] + boxes[:, 2:]) / 2
    span = boxes[:, 2:] - boxes[:, :2]
    scale = np.array([width, height, width, height], np.float32)
    return {
        "img": torch.from_numpy(rgb),
        "bboxes": torch.from_numpy(np.concatenate([centre, span], axis=1) / scale),
        "ignore": torch.from_numpy(window.ignore),
    }


def collate(samples: list[dict[str, Any]]) -> dict[str, Any]:
    """A batch in the form of ultralytics' detection loss, with the ignore masks added."""
    counts = [len(sample["bboxes"]) for sample in samples]
    index = torch.cat([torch.full((count,), float(i)) for i, count in enumerate(counts)])
    return {
        "img": torch.stack([sample["img"] for sample in samples]),
        "bboxes": torch.cat([sample["bboxes"] for sample in samples]).float(),
        "batch_idx": index,
        "cls": torch.zeros(len(index)),
        "ignore": torch.stack([sample["ignore"] for sample in samples]),
    }
