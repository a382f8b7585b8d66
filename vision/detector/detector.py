"""The tile recogniser: a finder (where are tiles) and a reader (which tile, turned how)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
import numpy.typing as npt
import onnxruntime as ort

from tablectl.tiles import BACK, N_KINDS

from .adaptation import Adaptation, fitted, shown
from .boxes import area_of, cut_by_window, decode_grid, merged, share_inside, window_starts
from .crops import Box, cut_crops
from .detection import Detection
from .plain import WHITE, Colours, weighed
from .sizes import odd_sized
from .tile_set import REMEDY, TileSet, TileSetError
from .weights import Weights, WeightsError, find_weights

ImageArray = npt.NDArray[np.uint8]
FloatArray = npt.NDArray[np.float32]

CLASSES: Final = 43
BLANK: Final = (WHITE, BACK)
"""White and back: any even patch looks like one, so that no size is taken from them, and what a
score means is another thing."""

NO_TILE: Final = 43
OUTPUTS: Final = 44
"""Logits of the reader: the kinds, then "no tile"."""
STRIDES: Final = (8, 16)
WINDOW_PX: Final = 640
"""Longest side of what goes through the finder at once."""

EASY_TILE_PX: Final = (30.0, 90.0)
"""Tile widths that the finder reads as they are."""

SMALL_TILE_PX: Final = 32.0
"""Width to which smaller tiles are brought: more finds little more and costs more."""

BEST_TILE_PX: Final = 42.0
"""Width to which larger tiles are brought."""

PHOTO_TILE_PX: Final = (28.0, 110.0)
"""Sizes (root of the box area, at 640 px) at which a photograph needs no second look."""

MAX_SIDE: Final = 3200
"""Longest side to which a picture is scaled to find its tiles, px."""

FINDER_SHARE: Final = 0.6
"""The finder's raw threshold over the score wanted in the end, which calibration may raise."""

CLEAR: Final = 0.2
"""The finder's raw score from which a find says anything of how large tiles are; what
``tablectl read`` lists has more."""

LITTLE: Final = 3.0
"""Tiles that a first look at a whole picture must show, or it is looked at closer."""

LARGER: Final = 1.4
"""Scale of the second look where the first found only a part of a tile."""

REACH: Final = 1.6
"""Tile widths round such a part that are looked at again."""

COVERED: Final = 0.7
"""Share of a part inside a whole tile's box from which it belongs to that tile."""

MEASURED: Final = 0.8
"""Confidence from which a face shows how large tiles are round it."""

ODD_SIZE: Final = 3.0
"""Log odds that a find loses whose size is no tile's there: about 1 to 20.

Of the tiles of rendered tables and of the photographs one in 200 has such a size, of false finds
more than half.
"""

SURE_AT_ONCE: Final = 0.9
"""Probability, not calibrated, from which one look at a crop is enough."""

HOPELESS: Final = 0.4
"""Share of the score wanted below which one look at a crop is enough, too: more hardly ever help.

Of the photographs' finds seven in a picture are so; one of 258 reached 0.25 after four looks.
"""

BATCH: Final = 64


class Detector:
    """Finds and names tiles; one instance belongs to one thread.

    Args:
        weights_dir: folder with ``tiles.json``; None looks in the checkout, then in the package.
        threads: of onnxruntime, for one call.
        min_score: detections whose score is below it are dropped.
        tile_set: the set on the table, where it was taught: its faces are read the better.

    Raises:
        WeightsError: weights missing, damaged or not loadable.
        TileSetError: the set was taught to a recogniser with other inputs.
    """

    def __init__(
        self,
        weights_dir: Path | None = None,
        threads: int = 1,
        min_score: float = 0.5,
        tile_set: TileSet | None = None,
    ) -> None:
        self.weights: Weights = find_weights(weights_dir)
        self.min_score = min_score
        self._finder = _session(self.weights.finder, threads)
        self._reader = _session(self.weights.reader, threads)
        self.crop_px = int(self._reader.get_inputs()[0].shape[3])
        """Side of the reader's input."""
        self._adaptation: Adaptation | None = None
        if tile_set is not None:
            self.learn(tile_set)

    def learn(self, tile_set: TileSet) -> None:
        """Read the faces of this set the better from now on; what was taught before is forgotten.

        Takes a second or two.

        Raises:
            TileSetError: it was taught to a recogniser with other inputs.
        """
        if tile_set.crops.shape[-1] != self.crop_px:
            raise TileSetError(
                f"the tile set was taught with crops of {tile_set.crops.shape[-1]} px, the "
                f"recogniser has {self.crop_px}; {REMEDY}"
            )
        looks = [self._features(crops) for crops in shown(tile_set.crops)]
        features, logits = (np.concatenate(parts) for parts in zip(*looks, strict=True))
        kinds = np.tile(tile_set.kinds, len(looks))
        self._adaptation = fitted(features, logits[:, :N_KINDS], kinds, self.weights.temperature)

    def detect(
        self,
        image: ImageArray,
        *,
        tile_px: float | None = None,
        least_area: float = 0.0,
        colours: Colours | None = None,
    ) -> list[Detection]:
        """All tiles of a BGR picture (H, W, 3) of any size, best score first.

        Args:
            image: the picture.
            tile_px: width (short side) of the tiles in pixels where known, as over a calibrated
                table: windows are then read at that scale. Without it the picture is looked at as
                a whole and again at the scale of what was found, and what has another size than
                the faces round it needs better evidence.
            least_area: with ``tile_px``: area (px²) of the smallest box of a whole tile. Half a 4p
                is a good 2p; so what is smaller is looked at again, and is no tile if it stays so.
            colours: of the tiles, for a part of a table that may show few.
        """
        if tile_px is None:
            return self._name(image, *self.find_photo(image), weigh_sizes=True)
        found = self.find_table(image, tile_px, least_area)
        return self._name(image, *found, weigh_sizes=False, colours=colours)

    def classify(self, image: ImageArray, boxes: Sequence[Box]) -> tuple[FloatArray, FloatArray]:
        """Probabilities (N, 43) and rotations (N,) degrees of tiles at known places."""
        probabilities, _, rotations = self.read(image, boxes)
        return probabilities, rotations

    def read(
        self, image: ImageArray, boxes: Sequence[Box], scores: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Kinds (N, 43) given that it is a tile, chance (N,) that it is one, rotations (N,).

        ``scores`` as for :meth:`raw_reader`.
        """
        out = self.raw_reader(self.crops(image, boxes), scores)
        return self.named(out)

    def crops(self, image: ImageArray, boxes: Sequence[Box]) -> ImageArray:
        """Inputs of the reader (N, 4, ``crop_px``, ``crop_px``) for tiles at known places."""
        return cut_crops(image, boxes, self.crop_px)

    def named(self, out: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What outputs (N, 48) of the reader say: as :meth:`read`."""
        logits = out[:, :OUTPUTS].astype(np.float64) / self.weights.temperature
        power = np.exp(logits - logits.max(axis=1, keepdims=True))
        kinds = power[:, :CLASSES]
        total = kinds.sum(axis=1)
        chance = total / power.sum(axis=1)
        probabilities = kinds / total[:, None]
        return (
            probabilities.astype(np.float32),
            chance.astype(np.float32),
            rotation_of(out[:, OUTPUTS:]),
        )

    def raw_reader(self, crops: ImageArray, scores: FloatArray | None = None) -> FloatArray:
        """Outputs (N, 48) of :meth:`crops`: 44 uncalibrated logits, 4 directions.

        Crops that the reader is not sure of are read again in three quarter turns; their logits
        are the mean of four looks. With the finder's ``scores`` (N,), not those that will hardly
        be wanted.
        """
        out = self._run_reader(crops)
        logits = out[:, :OUTPUTS]
        power = np.exp(logits - logits.max(axis=1, keepdims=True))
        again = power.max(axis=1) / power.sum(axis=1) < SURE_AT_ONCE
        if scores is not None:
            kinds, chance, _ = self.named(out)
            again &= self.calibrated(scores, kinds, chance) >= HOPELESS * self.min_score
        unsure = np.flatnonzero(again)
        if len(unsure) == 0:
            return out
        turned = [
            self._run_reader(np.ascontiguousarray(np.rot90(crops[unsure], turns, (2, 3))))
            for turns in (1, 2, 3)
        ]
        looks = [out[unsure, :OUTPUTS], *(look[:, :OUTPUTS] for look in turned)]
        out[unsure, :OUTPUTS] = np.mean(looks, axis=0)
        return out

    def _run_reader(self, crops: ImageArray) -> FloatArray:
        if len(crops) == 0:
            return np.zeros((0, OUTPUTS + 4), np.float32)
        features, out = self._features(crops)
        if self._adaptation is not None:
            out[:, :OUTPUTS] = self._adaptation.adapted(features, out[:, :OUTPUTS])
        return out

    def _features(self, crops: ImageArray) -> tuple[FloatArray, FloatArray]:
        """What the reader's last layer is given (N, F) and makes of it (N, 48)."""
        batches = [crops[i : i + BATCH] for i in range(0, len(crops), BATCH)]
        parts = [self._reader.run(["features", "out"], {"crops": batch}) for batch in batches]
        features, out = (np.concatenate(part) for part in zip(*parts, strict=True))
        return np.asarray(features, np.float32), np.asarray(out, np.float32)

    def _run_finder(self, window: ImageArray) -> tuple[FloatArray, FloatArray]:
        height, width = window.shape[:2]
        padded = np.full((-(-height // 32) * 32, -(-width // 32) * 32, 3), 114, np.uint8)
        padded[:height, :width] = window
        grids = self._finder.run(None, {"image": padded[None]})
        parts = [
            decode_grid(np.asarray(grid)[0], stride, FINDER_SHARE * self.min_score)
            for grid, stride in zip(grids, STRIDES, strict=True)
        ]
        boxes = np.concatenate([part[0] for part in parts])
        limit = np.array([width, height, width, height], np.float32)
        boxes = np.clip(boxes, 0, limit)
        scores = np.concatenate([part[1] for part in parts])
        real = (boxes[:, 2:] - boxes[:, :2]).min(axis=1, initial=np.inf) > 3
        return boxes[real], scores[real]

    def _find(self, image: ImageArray, scale: float) -> tuple[FloatArray, FloatArray]:
        """Boxes (px of ``image``) and scores, doubles merged; as :meth:`_candidates`."""
        return merged(*self._candidates(image, scale))

    def _candidates(self, image: ImageArray, scale: float) -> tuple[FloatArray, FloatArray]:
        """Every box (px of ``image``) and score; the picture is scaled and looked at in windows."""
        scaled = image
        if scale != 1.0:
            method = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
            scaled = np.asarray(
                cv2.resize(image, None, fx=scale, fy=scale, interpolation=method), np.uint8
            )
        height, width = scaled.shape[:2]
        found: list[tuple[FloatArray, FloatArray]] = []
        overlap = round(3.2 * BEST_TILE_PX)
        for top in window_starts(height, WINDOW_PX, overlap):
            for left in window_starts(width, WINDOW_PX, overlap):
                window = scaled[top : top + WINDOW_PX, left : left + WINDOW_PX]
                boxes, scores = self._run_finder(window)
                size = (window.shape[1], window.shape[0])
                whole = ~cut_by_window(boxes, (left, top), size, (width, height))
                offset = np.array([left, top, left, top], np.float32)
                found.append((boxes[whole] + offset, scores[whole]))
        boxes = np.concatenate([boxes for boxes, _ in found])
        boxes = np.asarray(boxes / scale, np.float32)
        scores = np.concatenate([scores for _, scores in found])
        return boxes, scores

    def find_table(
        self, image: ImageArray, tile_px: float = BEST_TILE_PX, least_area: float = 0.0
    ) -> tuple[FloatArray, FloatArray]:
        """Boxes (N, 4) px and raw scores (N,) where the width of the tiles is known.

        ``least_area`` as for :meth:`detect`.
        """
        scale = 1.0
        if tile_px < EASY_TILE_PX[0]:
            scale = SMALL_TILE_PX / tile_px
        elif tile_px > EASY_TILE_PX[1]:
            scale = BEST_TILE_PX / tile_px
        boxes, scores = self._candidates(image, scale)
        whole = area_of(boxes) >= least_area
        found = merged(boxes[whole], scores[whole])
        parts, _ = merged(boxes[~whole], scores[~whole])
        for part in parts:
            if share_inside(part, found[0]) < COVERED:
                again = self._look_closer(image, part, tile_px, LARGER * scale)
                whole = area_of(again[0]) >= least_area
                found = merged(
                    np.concatenate([found[0], again[0][whole]]),
                    np.concatenate([found[1], again[1][whole]]),
                )
        return found

    def _look_closer(
        self, image: ImageArray, at: FloatArray, tile_px: float, scale: float
    ) -> tuple[FloatArray, FloatArray]:
        """Boxes and scores of whole tiles round a box, looked at in another scale."""
        height, width = image.shape[:2]
        low = np.maximum(at[:2] - REACH * tile_px, 0).astype(int)
        high = np.minimum(at[2:] + REACH * tile_px + 1, (width, height)).astype(int)
        region = image[low[1] : high[1], low[0] : high[0]]
        boxes, scores = self._candidates(region, scale)
        size = (region.shape[1], region.shape[0])
        uncut = ~cut_by_window(boxes, (int(low[0]), int(low[1])), size, (width, height))
        offset = np.concatenate([low, low]).astype(np.float32)
        return merged(boxes[uncut] + offset, scores[uncut])

    def find_photo(self, image: ImageArray) -> tuple[FloatArray, FloatArray]:
        """Boxes (N, 4) px and raw scores (N,) of a picture whose tile size is not known.

        The picture is looked at as a whole, closer if that shows hardly a tile, then again at the
        scale at which what was found has the size that the finder reads best, at most twice: tiles
        a few pixels wide in the first look are often guessed too large or too small.
        """
        longest = max(image.shape[:2])
        scale = min(WINDOW_PX / longest, 2.0)
        scale, (boxes, scores) = self._closer_if_little(image, scale, min(1.0, MAX_SIDE / longest))
        for _ in range(2):
            clear = scores >= CLEAR
            size = _typical_size(boxes[clear], scores[clear]) * scale
            if not clear.any() or PHOTO_TILE_PX[0] <= size <= PHOTO_TILE_PX[1]:
                break
            again = min(scale * BEST_TILE_PX * 1.15 / size, 1.5, MAX_SIDE / longest)
            if 0.85 < again / scale < 1.2:
                break
            scale = again
            boxes, scores = self._find(image, scale)
        return boxes, scores

    def _closer_if_little(
        self, image: ImageArray, scale: float, most: float
    ) -> tuple[float, tuple[FloatArray, FloatArray]]:
        """The scale up to ``most`` that shows most tiles, and boxes and scores there.

        Shrunk, tiles of a few pixels are lost, and the panel of a table looks like one.
        """
        found = self._find(image, scale)
        nearer = scale
        while _evidence(found[1]) < LITTLE and nearer < most:
            nearer = min(2 * nearer, most)
            there = self._find(image, nearer)
            if _evidence(there[1]) > _evidence(found[1]):
                scale, found = nearer, there
        return scale, found

    def _name(
        self,
        image: ImageArray,
        boxes: FloatArray,
        scores: FloatArray,
        *,
        weigh_sizes: bool,
        colours: Colours | None = None,
    ) -> list[Detection]:
        plain: list[Box] = [(float(a), float(b), float(c), float(d)) for a, b, c, d in boxes]
        kinds, chance, rotations = self.read(image, plain, scores)
        certainty = self.calibrated(scores, kinds, chance)
        if weigh_sizes:
            kind, sure = kinds.argmax(axis=1), certainty * kinds.max(axis=1)
            faces = (sure >= MEASURED) & ~np.isin(kind, BLANK)
            odd = odd_sized(boxes, rotations, faces, (image.shape[1], image.shape[0]))
            certainty[odd] = less_likely(certainty[odd], ODD_SIZE)
        kinds, certainty = weighed(image, boxes, kinds, certainty, colours)
        found = [
            Detection(box, float(score), tuple(float(p) for p in row), float(rotation))
            for box, score, row, rotation in zip(plain, certainty, kinds, rotations, strict=True)
            if score >= self.min_score
        ]
        return sorted(found, key=lambda detection: -detection.score)

    def calibrated(self, scores: FloatArray, kinds: FloatArray, chance: FloatArray) -> FloatArray:
        """Probability (N,) of a tile from what the finder and the reader each think.

        ``scores`` (N,) of the finder, ``kinds`` (N, 43) and ``chance`` (N,) as of :meth:`read`.
        """
        seen, read = safe_logit(scores), safe_logit(chance)
        printed, plain = (
            fit.finder * seen + fit.reader * read + fit.offset
            for fit in (self.weights.printed, self.weights.plain)
        )
        total = np.where(np.isin(kinds.argmax(axis=1), BLANK), plain, printed)
        return np.asarray(1 / (1 + np.exp(-total)), np.float32)


def safe_logit(probability: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float64]:
    """log(p / (1 - p)), with p kept within 0.0001 of its ends."""
    safe = np.clip(probability.astype(np.float64), 1e-4, 1 - 1e-4)
    return np.asarray(np.log(safe / (1 - safe)), np.float64)


def less_likely(probability: FloatArray, log_odds: float) -> FloatArray:
    """Probabilities after evidence against them."""
    return np.asarray(
        probability / (probability + (1 - probability) * np.exp(log_odds)), np.float32
    )


def rotation_of(directions: FloatArray) -> FloatArray:
    """Degrees 0..360 from (N, 4): cos, sin of the rotation, cos, sin of twice the rotation.

    The doubled angle gives the axis precisely, for every face; the single one which end is up.
    """
    axis = np.degrees(np.arctan2(directions[:, 3], directions[:, 2])) / 2
    coarse = np.degrees(np.arctan2(directions[:, 1], directions[:, 0]))
    away = np.abs((coarse - axis + 180) % 360 - 180)
    turned = np.where(away > 90, axis + 180, axis) % 360
    return np.asarray(turned, np.float32)


def _evidence(scores: FloatArray) -> float:
    """How many tiles clear finds speak of."""
    return float(scores[scores >= CLEAR].sum())


def _typical_size(boxes: FloatArray, scores: FloatArray) -> float:
    """Weighted median of the root of the box areas, px; 0 without boxes."""
    if len(boxes) == 0:
        return 0.0
    sizes = np.sqrt(np.prod(boxes[:, 2:] - boxes[:, :2], axis=1))
    order = np.argsort(sizes)
    share = np.cumsum(scores[order])
    return float(sizes[order][np.searchsorted(share, share[-1] / 2)])


def _session(path: Path, threads: int) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Spinning between calls would burn a core that the daemon needs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's exceptions share no public base class
        raise WeightsError(
            f"{path}: onnxruntime cannot load it ({error}); "
            "restore it with `git checkout -- models` or reinstall tablectl"
        ) from error
