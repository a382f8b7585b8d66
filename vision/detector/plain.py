"""Blank Whites, backs, and plain things that are no tile, told apart by their colour.

Cut out alone they look alike. But a blank White has the colour of the faces' ground beside it, and
the backs of one set look all the same. So each plain find is weighed as White, as back and as no
tile by how far its colour is from both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import cv2
import numpy as np
import numpy.typing as npt

from tablectl.tiles import BACK, parse_tile

from .sizes import FEWEST, NEIGHBOURS

ImageArray = npt.NDArray[np.uint8]
FloatArray = npt.NDArray[np.float32]
Lab = npt.NDArray[np.float64]

WHITE: Final = parse_tile("5z")

PLAIN: Final = 0.8
"""Chance of White or back, given a tile, from which a find is weighed."""

SURE: Final = 0.8
"""Confidence from which a find shows how faces and backs look."""

GROUND_STEPS: Final = (5.0, 10.0, 16.0)
BACK_STEPS: Final = (3.0, 6.0, 12.0)
"""Distances of colour (CIELAB, lightness halved: shadows) that part the columns below."""

LIKE_GROUND: Final = np.array(
    [[0.82, 0.10, 0.04, 0.04], [0.03, 0.02, 0.05, 0.90], [0.10, 0.08, 0.10, 0.72]]
)
LIKE_BACKS: Final = np.array(
    [[0.01, 0.02, 0.03, 0.94], [0.90, 0.05, 0.02, 0.03], [0.05, 0.03, 0.09, 0.83]]
)
"""How often a White, a back and no tile is so far from the ground of the faces round it, and from
the nearest of the other backs. Counted on training pictures: path-traced and rendered tables,
photographs."""


@dataclass(frozen=True)
class Colours:
    """How the tiles of a table look, from what was seen before; CIELAB.

    Attributes:
        ground: of the faces (3,), between the ink.
        backs: some backs.
    """

    ground: Lab
    backs: tuple[Lab, ...] = ()


def colours_of(
    image: ImageArray, faces: Sequence[FloatArray], backs: Sequence[FloatArray]
) -> Colours | None:
    """The colours of tiles in known boxes (4,) px; None where too few faces are known."""
    if len(faces) < FEWEST:
        return None
    ground = np.median([colour_of(image, box, printed=True) for box in faces], axis=0)
    return Colours(ground, tuple(colour_of(image, box, printed=False) for box in backs))


def weighed(
    image: ImageArray,
    boxes: FloatArray,
    kinds: FloatArray,
    certainty: FloatArray,
    known: Colours | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Kinds and certainty of finds, those of plain ones weighed by colour.

    Args:
        image: BGR (H, W, 3).
        boxes: (N, 4) px.
        kinds: (N, 43) probabilities, given that there is a tile.
        certainty: (N,) probability that there is one.
        known: colours for a picture that shows too few faces itself.
    """
    plain = np.flatnonzero(kinds[:, WHITE] + kinds[:, BACK] >= PLAIN)
    sure = certainty * kinds.max(axis=1) >= SURE
    best = kinds.argmax(axis=1)
    faces = np.flatnonzero(sure & (best != WHITE) & (best != BACK))
    if len(plain) == 0 or (len(faces) < FEWEST and known is None):
        return kinds, certainty
    backs = np.flatnonzero(sure & (best == BACK))
    centres = (boxes[:, :2] + boxes[:, 2:]) / 2
    ground = cache(lambda i: colour_of(image, boxes[i], printed=True))
    middle = cache(lambda i: colour_of(image, boxes[i], printed=False))
    kinds, certainty = kinds.copy(), certainty.copy()
    for i in plain:
        if len(faces) >= FEWEST:
            distance = np.linalg.norm(centres[faces] - centres[i], axis=1)
            near = faces[np.argsort(distance, kind="stable")[:NEIGHBOURS]]
            beside = np.median([ground(int(j)) for j in near], axis=0)
        else:
            assert known is not None
            beside = known.ground
        odds = LIKE_GROUND[:, np.searchsorted(GROUND_STEPS, apart(middle(int(i)), beside))]
        others = [middle(int(j)) for j in backs if j != i] + list(known.backs if known else ())
        odds = odds * _like_backs(middle(int(i)), others)
        here = np.array([kinds[i, WHITE], kinds[i, BACK]])
        tile, tiles = certainty[i] * here * odds[:2], certainty[i] * (1 - here.sum()) * odds.mean()
        total = tile.sum() + tiles + (1 - certainty[i]) * odds[2]
        certainty[i] = (tile.sum() + tiles) / total
        kinds[i, [WHITE, BACK]] = here.sum() * tile / tile.sum()
    return kinds, certainty


def _like_backs(colour: Lab, backs: Sequence[Lab]) -> Lab:
    if not backs:
        return np.ones(3)
    return LIKE_BACKS[:, np.searchsorted(BACK_STEPS, min(apart(colour, b) for b in backs))]


def colour_of(image: ImageArray, box: FloatArray, *, printed: bool) -> Lab:
    """CIELAB (3,) of the middle of a box; of what is not ink where something is ``printed``."""
    rim = 0.2 if printed else 0.3
    (x1, y1, x2, y2), height, width = box, *image.shape[:2]
    left, top = max(0, int(x1 + rim * (x2 - x1))), max(0, int(y1 + rim * (y2 - y1)))
    right, low = (
        min(width, int(x2 - rim * (x2 - x1)) + 1),
        min(height, int(y2 - rim * (y2 - y1)) + 1),
    )
    patch = image[
        min(top, height - 1) : max(low, top + 1), min(left, width - 1) : max(right, left + 1)
    ]
    pixels = patch.reshape(-1, 3)
    if printed:
        light = pixels.sum(axis=1, dtype=np.int64)
        pixels = pixels[light >= np.percentile(light, 60)]
    colour = np.median(pixels, axis=0).astype(np.uint8)[None, None]
    lab = cv2.cvtColor(colour, cv2.COLOR_BGR2LAB)[0, 0].astype(np.float64)
    return np.asarray(lab * (100 / 255, 1, 1))


def apart(one: Lab, other: Lab) -> float:
    """Distance of two colours, lightness counted half."""
    return float(np.linalg.norm((one - other) * (0.5, 1, 1)))
