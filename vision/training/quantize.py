"""Float networks to int8: ``python -m vision.training.quantize --weights runs/float --out models``.

Static quantisation by onnxruntime (weights of 7 bits for each channel, activations of 8): a third
of the reader's time and two thirds of the finder's on a processor with 8-bit dot products, and a
third of the size. The ranges of the activations come from training photographs and from the made
pictures of ``--pictures``. The calibration of ``--weights`` is kept; fit it again afterwards
(:mod:`vision.training.calibrate`).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from onnxruntime.quantization import CalibrationMethod, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from vision.detector import Detector
from vision.detector.detector import BATCH, WINDOW_PX

from .export import write_manifest
from .sources import ImageArray, PhotoSetError, load_split

PHOTOGRAPHS = 60
PICTURES = 20
CROPS_A_PICTURE = 40
MIN_SCORE = 0.05


class Inputs:
    """Inputs of one network, one after the other: onnxruntime's ``CalibrationDataReader``."""

    def __init__(self, name: str, values: list[npt.NDArray[np.uint8]]) -> None:
        self.name, self.values = name, iter(values)

    def get_next(self) -> dict[str, npt.NDArray[np.uint8]] | None:
        """The next input, or None after the last."""
        value = next(self.values, None)
        return None if value is None else {self.name: value}


def looked_at(photos: Path, folders: list[Path]) -> Iterator[ImageArray]:
    """Some training photographs and made pictures, spread over what there is."""
    listed = load_split(photos, "train")
    for photo in listed[:: max(1, len(listed) // PHOTOGRAPHS)]:
        yield photo.read()
    made = sorted(path for folder in folders for path in folder.glob("*.jpg"))
    for path in made[:: max(1, len(made) // PICTURES)]:
        image = cv2.imread(str(path))
        if image is None:
            raise PhotoSetError(f"{path}: not a readable picture")
        yield np.asarray(image, np.uint8)


def windows_of(image: ImageArray) -> list[npt.NDArray[np.uint8]]:
    """Finder inputs (1, 640, 640, 3): the picture as a whole, and its middle as it is."""
    scale = WINDOW_PX / max(image.shape[:2])
    whole = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    inputs = []
    for view in (whole, _middle(image)):
        padded = np.full((1, WINDOW_PX, WINDOW_PX, 3), 114, np.uint8)
        padded[0, : view.shape[0], : view.shape[1]] = view
        inputs.append(padded)
    return inputs


def _middle(image: ImageArray) -> ImageArray:
    top, left = (max(0, (side - WINDOW_PX) // 2) for side in image.shape[:2])
    return image[top : top + WINDOW_PX, left : left + WINDOW_PX]


def crops_of(detector: Detector, image: ImageArray) -> npt.NDArray[np.uint8]:
    """Reader inputs (N, 4, side, side): what the finder finds, good and bad."""
    boxes, _ = detector.find_photo(image)
    every = max(1, len(boxes) // CROPS_A_PICTURE)
    plain = [(float(a), float(b), float(c), float(d)) for a, b, c, d in boxes[::every]]
    return detector.crops(image, plain)


def quantised(source: Path, target: Path, inputs: Inputs) -> None:
    """Write the int8 network of a float one."""
    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / source.name
        quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
        quantize_static(
            str(prepared),
            str(target),
            inputs,
            per_channel=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            reduce_range=True,  # products of 8-bit weights saturate on AVX2 without VNNI
            calibrate_method=CalibrationMethod.MinMax,
        )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=Path, default=Path("../shared/data/photos"))
    parser.add_argument("--pictures", type=Path, nargs="*", default=[], help="made pictures")
    parser.add_argument("--weights", type=Path, required=True, help="folder of export")
    parser.add_argument("--out", type=Path, default=Path("models"))
    options = parser.parse_args()
    cv2.setNumThreads(1)
    detector = Detector(options.weights, min_score=MIN_SCORE)
    windows: list[npt.NDArray[np.uint8]] = []
    crops: list[npt.NDArray[np.uint8]] = []
    for image in looked_at(options.photos, options.pictures):
        windows += windows_of(image)
        crops.append(crops_of(detector, image))
    joined = np.concatenate(crops)
    batches = [joined[i : i + BATCH] for i in range(0, len(joined), BATCH)]
    options.out.mkdir(parents=True, exist_ok=True)
    for role, name, values in (("finder", "image", windows), ("reader", "crops", batches)):
        file = f"tile_{role}.onnx"
        quantised(options.weights / file, options.out / file, Inputs(name, values))
    manifest: dict[str, Any] = json.loads((options.weights / "tiles.json").read_text())
    kept = {key: manifest[key] for key in ("temperature", "score_calibration")}
    write_manifest(options.out, manifest["version"], kept)
    print(f"ranges from {len(windows)} windows and {len(joined)} crops")


if __name__ == "__main__":
    main()
