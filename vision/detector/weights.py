"""Where the trained weights are, and whether they are whole."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

REMEDY: Final = "restore it with `git checkout -- models` or reinstall tablectl"

MANIFEST: Final = "tiles.json"
"""Names the two ONNX files with their SHA-256 and holds the calibration."""


class WeightsError(RuntimeError):
    """The weights are missing or damaged; the message names the place and the remedy."""


@dataclass(frozen=True)
class ScoreFit:
    """Logistic calibration of "there is a tile".

    sigmoid(finder * logit(the finder's score) + reader * logit(the reader's chance that the crop is
    a tile) + offset).
    """

    finder: float
    reader: float
    offset: float


@dataclass(frozen=True)
class Weights:
    """The files of one trained recogniser and the numbers that go with them.

    Attributes:
        version: of the weights, for records and the model card.
        finder: ONNX of the tile finder; reader: ONNX of the tile reader.
        temperature: divides the reader's logits.
        printed, plain: what a score means, for finds with something on them and for those that are
            rather White or a back: many more of these are no tile.
    """

    version: str
    finder: Path
    reader: Path
    temperature: float
    printed: ScoreFit
    plain: ScoreFit


def default_folders() -> list[Path]:
    """Where weights may lie: ``models`` of a checkout, ``tablectl/_models`` of a wheel."""
    folders = [Path(__file__).resolve().parents[2] / "models"]
    spec = importlib.util.find_spec("tablectl")
    places = (spec.submodule_search_locations or []) if spec else []
    return folders + [Path(place) / "_models" for place in places]


def find_weights(folder: Path | None = None) -> Weights:
    """The weights in ``folder``, or in the first default place that has any.

    Raises:
        WeightsError: none there, an unreadable manifest, or a file unlike its checksum.
    """
    places = [folder] if folder else default_folders()
    for place in places:
        if (place / MANIFEST).is_file():
            return _load(place)
    listed = ", ".join(str(place) for place in places)
    raise WeightsError(
        f"no tile recogniser weights ({MANIFEST}) in {listed}: reinstall tablectl, "
        "or in a checkout restore them with `git checkout -- models`"
    )


def _load(folder: Path) -> Weights:
    manifest = folder / MANIFEST
    try:
        content: dict[str, Any] = json.loads(manifest.read_text(encoding="utf-8"))
        weights = Weights(
            version=str(content["version"]),
            finder=folder / str(content["finder"]["file"]),
            reader=folder / str(content["reader"]["file"]),
            temperature=float(content["temperature"]),
            printed=_fit(content["score_calibration"]["printed"]),
            plain=_fit(content["score_calibration"]["plain"]),
        )
        expected = {
            weights.finder: str(content["finder"]["sha256"]),
            weights.reader: str(content["reader"]["sha256"]),
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(
            f"{manifest}: not a weights manifest ({type(error).__name__}: {error}); {REMEDY}"
        ) from error
    for path, digest in expected.items():
        _check(path, digest)
    return weights


def _fit(numbers: dict[str, Any]) -> ScoreFit:
    return ScoreFit(*(float(numbers[name]) for name in ("finder", "reader", "offset")))


def _check(path: Path, digest: str) -> None:
    try:
        actual = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise WeightsError(f"{path}: {error.strerror}; {REMEDY}") from error
    if actual != digest:
        raise WeightsError(
            f"{path}: damaged (checksum {actual[:12]}, expected {digest[:12]}); {REMEDY}"
        )
