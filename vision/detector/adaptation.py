"""The tile reader adapted to one set of tiles: its last layer learns from what was taught.

The network stays as it is. To the logits of the faces is added a linear function of the features
from which they come, fitted by logistic regression with an L2 penalty towards nothing: a maximum a
posteriori estimate with the trained layer as its prior. Such adapting of the last layer is the
strong baseline of few-shot learning (Chen et al., "A closer look at few-shot classification", ICLR
2019, section 3). Only which face is learnt: the chances that it is a back or no tile stay exactly
what they were, for a layout shows nothing of backs in another lamp's light and of what is no tile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]

PENALTY: Final = 0.001
"""Of the squared weights, for features of mean square 1. With 0.01 as much is read rightly, less
of it surely; with 0.0003 more is sure and wrong where the light has changed since."""

STEPS: Final = 600
"""Of accelerated gradient descent, after which no small change makes the fit better."""

GAINS: Final = (0.7, 1.0, 1.3)
"""Light in which each lesson is shown, to be read in another lamp's; but for 1 also blurred."""


@dataclass(frozen=True, eq=False)
class Adaptation:
    """What is added to the logits of the faces.

    Attributes:
        weights: (K, F), times the features.
        bias: (K,).
        temperature: divides logits before they become probabilities.
    """

    weights: FloatArray
    bias: FloatArray
    temperature: float

    def shift(self, features: FloatArray) -> FloatArray:
        """What to add to the logits of the faces (N, K), from features (N, F)."""
        return np.asarray(features @ self.weights.T + self.bias, np.float32)

    def adapted(self, features: FloatArray, logits: FloatArray) -> FloatArray:
        """Logits (N, C) of all classes, the K faces first, with the faces told apart anew.

        The others go up or down together with the faces, so that their chances stay.
        """
        count = len(self.bias)
        faces = logits[:, :count] + self.shift(features)
        before, after = (self._together(some) for some in (logits[:, :count], faces))
        others = logits[:, count:] + (after - before)[:, None]
        return np.asarray(np.hstack([faces, others]), np.float32)

    def _together(self, logits: FloatArray) -> FloatArray:
        """The logit (N,) that would have the chance of all of these."""
        top = logits.max(axis=1)
        power = np.exp((logits - top[:, None]) / self.temperature)
        return np.asarray(top + self.temperature * np.log(power.sum(axis=1)), np.float32)


def shown(crops: npt.NDArray[np.uint8]) -> Iterator[npt.NDArray[np.uint8]]:
    """Crops (N, 4, side, side) as they would look turned by quarters and in other light."""
    for gain in GAINS:
        lit = crops.copy()
        lit[:, :3] = np.clip(crops[:, :3].astype(np.float32) * gain, 0, 255)
        if gain != 1:
            for channel in (channel for crop in lit for channel in crop[:3]):
                channel[:] = cv2.GaussianBlur(channel, (0, 0), 1.0)
        for turns in range(4):
            yield np.ascontiguousarray(np.rot90(lit, turns, (2, 3)))


def fitted(
    features: FloatArray, logits: FloatArray, kinds: npt.NDArray[np.int64], temperature: float
) -> Adaptation:
    """The adaptation with which tiles of these features and logits are named rightly.

    Args:
        features: (N, F), what the reader's last layer is given.
        logits: (N, K), what it makes of them for the faces.
        kinds: (N,), the right face of each.
        temperature: divides the logits before they become probabilities.
    """
    count, classes = logits.shape
    scale = float(np.sqrt(np.mean(np.square(features, dtype=np.float64)))) or 1.0
    inputs = np.hstack([features / scale, np.ones((count, 1))])
    curvature = float(np.linalg.eigvalsh(inputs.T @ inputs / count)[-1])
    step = 1 / (curvature / (2 * temperature**2) + 2 * PENALTY)
    wanted = np.eye(classes)[kinds]
    weights = ahead = np.zeros((classes, inputs.shape[1]))
    pace = 1.0
    for _ in range(STEPS):  # Nesterov's method
        wrong = _softmax((logits + inputs @ ahead.T) / temperature) - wanted
        slope = wrong.T @ inputs / (count * temperature) + 2 * PENALTY * ahead
        before, weights = weights, ahead - step * slope
        faster = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        ahead = weights + (pace - 1) / faster * (weights - before)
        pace = faster
    return Adaptation(
        np.asarray(weights[:, :-1] / scale, np.float32),
        np.asarray(weights[:, -1], np.float32),
        temperature,
    )


def _softmax(logits: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    power = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(power / power.sum(axis=1, keepdims=True))
