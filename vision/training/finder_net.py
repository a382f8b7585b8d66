"""The tile finder: a one-class YOLO of ultralytics' YOLO11 blocks, with grids of 8 and 16 px."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml

os.environ.setdefault("YOLO_OFFLINE", "true")

from ultralytics.cfg import get_cfg
from ultralytics.nn.tasks import DetectionModel


def build_finder() -> DetectionModel:
    """The tile finder with random weights."""
    config: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("tile_yolo.yaml").read_text())
    model = DetectionModel({**config, "scale": "n"}, nc=1, verbose=False)
    model.args = get_cfg()
    return model
