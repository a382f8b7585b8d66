"""What was taught of one set of tiles: crops of its faces, each with its name, and their file."""

from __future__ import annotations

import contextlib
import io
import json
import math
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from tablectl.tiles import N_KINDS

FORMAT: Final = 1
REMEDY: Final = "teach the set again with `tablectl teach`"
_UNREADABLE: Final = (
    ValueError, KeyError, TypeError, EOFError, RuntimeError, struct.error, zlib.error,
    zipfile.BadZipFile,
)  # fmt: skip
"""What numpy, zip archives and JSON raise on damaged content."""


class TileSetError(ValueError):
    """A tile set can't be taught, read or used; the message names the place and the remedy."""


@dataclass(frozen=True, eq=False)
class TileSet:
    """The faces of one set as one camera sees them.

    Attributes:
        crops: (N, 4, side, side) uint8, inputs of the tile reader; several of a kind.
        kinds: (N,) which face each shows.
        taught: date, ISO 8601.
        tile_px: width of a tile in the picture it was taught from.
    """

    crops: npt.NDArray[np.uint8]
    kinds: npt.NDArray[np.int64]
    taught: str
    tile_px: float

    def with_more(self, other: TileSet) -> TileSet:
        """This and what was taught of the same set in another place or light, dated like that.

        Raises:
            TileSetError: it was taught to a recogniser with other inputs.
        """
        if self.crops.shape[1:] != other.crops.shape[1:]:
            raise TileSetError(
                f"the tile set was taught with crops of {self.crops.shape[-1]} px and now they are "
                f"{other.crops.shape[-1]} px: teach it without adding"
            )
        return TileSet(
            np.concatenate([self.crops, other.crops]),
            np.concatenate([self.kinds, other.kinds]),
            other.taught,
            other.tile_px,
        )

    def save(self, path: Path) -> None:
        """Write it to a ``.npz`` file, replacing one only when complete.

        Raises:
            TileSetError: it can't be written.
        """
        content = self.to_bytes()
        temporary = path.with_name(path.name + ".new")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(content)
            temporary.replace(path)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise TileSetError(f"{path} can't be written: {error.strerror}") from None

    @classmethod
    def load(cls, path: Path) -> TileSet:
        """Read a file of :meth:`save`.

        Raises:
            TileSetError: no such file, or it holds something else.
        """
        try:
            return cls.from_bytes(path.read_bytes())
        except OSError as error:
            raise TileSetError(f"{path}: {error.strerror or error}; {REMEDY}") from None
        except TileSetError as error:
            raise TileSetError(f"{path}: {error}; {REMEDY}") from None

    def to_bytes(self) -> bytes:
        """Content of its file; the same set gives the same bytes."""
        about = {"format": FORMAT, "taught": self.taught, "tile_px": self.tile_px}
        file = io.BytesIO()
        np.savez_compressed(
            file, crops=self.crops, kinds=self.kinds, about=np.array(json.dumps(about))
        )
        return file.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> TileSet:
        """The set of a file's content.

        Raises:
            TileSetError: it is something else; the message names no place.
        """
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as stored:
                about = json.loads(str(stored["about"]))
                crops, kinds = stored["crops"], stored["kinds"]
                known, taught, tile_px = about["format"], about["taught"], float(about["tile_px"])
        except _UNREADABLE as error:
            raise TileSetError(f"no taught tile set ({error})") from None
        if known != FORMAT:
            raise TileSetError(f"of another version of tablectl (format {known})")
        if not _sound(crops, kinds) or not (math.isfinite(tile_px) and tile_px > 0):
            raise TileSetError("crops and names do not fit together")
        return cls(crops, kinds.astype(np.int64), str(taught), tile_px)


def _sound(crops: npt.NDArray[np.uint8], kinds: npt.NDArray[np.int64]) -> bool:
    square = crops.ndim == 4 and crops.shape[1] == 4 and crops.shape[2] == crops.shape[3]
    named = kinds.ndim == 1 and len(kinds) == len(crops) > 0
    if not (square and named and crops.dtype == np.uint8 and kinds.dtype.kind == "i"):
        return False
    return bool(kinds.min() >= 0 and kinds.max() < N_KINDS)
