"""The tile recogniser at run time: numpy, OpenCV and onnxruntime, no torch."""

from .detection import Detection
from .detector import Detector
from .tile_set import TileSet, TileSetError
from .weights import Weights, WeightsError, find_weights

__all__ = [
    "Detection", "Detector", "TileSet", "TileSetError", "Weights", "WeightsError", "find_weights",
]  # fmt: skip
