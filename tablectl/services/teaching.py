"""What the page ``#teach`` asks for: the layout in the newest picture, teaching it, forgetting."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog
from pydantic import BaseModel, ConfigDict

from tablectl.services.desk import given, jpeg, understood
from tablectl.tiles import Tile, format_tile
from vision.calibration import Calibration
from vision.calibration_check import tile_px_in
from vision.detector import Detection, Detector, TileSet, TileSetError
from vision.sources.frame import Image
from vision.teaching import Layout, layout_finder, layout_of, learnt

log = structlog.get_logger(__name__)


class TeachingWish(BaseModel):
    """What a person wants of a layout.

    Attributes:
        trust_layout: teach it also where the recogniser is sure that another tile lies somewhere.
        add: to what is taught already: the layout in another place or light.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    trust_layout: bool = False
    add: bool = False


class ForgettingWish(BaseModel):
    """Nothing is to be chosen about forgetting."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True, eq=False)
class _Look:
    """A picture, what was found in it, and the layout, or why it is none."""

    image: Image
    found: Sequence[Detection]
    layout: Layout | None
    problem: str


@dataclass
class TeachingDesk:
    """Teaches the tiles of one table.

    Attributes:
        path: file that the taught set is kept in.
        named: whether the configuration names the file, so that its lack is a problem.
        pictures: the newest pictures of one view, the newest first; none before the first.
        current: the calibration in use, which tells the tiles' width.
        use: called with a set that has been saved, or None for none, to read by it from now on.
        taught: the set in use.
        weights: folder of the recogniser's weights; None for the usual one.
    """

    path: Path
    named: bool
    pictures: Callable[[], Sequence[Image]]
    current: Callable[[], Calibration | None]
    use: Callable[[TileSet | None], Awaitable[None]]
    taught: TileSet | None = None
    weights: Path | None = None
    _finder: Detector | None = field(default=None, init=False, repr=False)
    # A detector belongs to one thread at a time, and what is kept to one person.
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, init=False, repr=False)

    @property
    def problem(self) -> str:
        """A set that the configuration names is not there, and what to do; empty else."""
        if not self.named or self.taught is not None:
            return ""
        return f"tile set {self.path} is missing: teach it at #teach or with `tablectl teach`"

    async def attempt(self, wish: object) -> dict[str, Any]:
        """What is seen and what of it is no layout; nothing is kept.

        Raises:
            DeskError, TileSetError, WeightsError: there is nothing to look at or to look with.
        """
        understood(TeachingWish, wish)
        async with self._lock:
            look = await asyncio.to_thread(self._look, self._newest())
            return await self._told(look)

    async def save(self, wish: object) -> dict[str, Any]:
        """Teach what is seen now, keep it in the file, and read by it from now on.

        Raises:
            TileSetError: it is no layout, contradicts the recogniser, or the file can't be written.
            DeskError, WeightsError: as :meth:`attempt`.
        """
        wished = understood(TeachingWish, wish)
        async with self._lock:
            look, tile_set = await asyncio.to_thread(self._teach, self._newest(), wished)
            await self.use(tile_set)
            self.taught = tile_set
            log.info("tiles taught", file=str(self.path), tiles=len(look.found))
            return await self._told(look)

    async def forget(self, wish: object) -> dict[str, Any]:
        """Remove the file and read as the recogniser comes.

        Raises:
            TileSetError: the file can't be removed.
            DeskError, WeightsError: as :meth:`attempt`.
        """
        understood(ForgettingWish, wish)
        async with self._lock:
            try:
                await asyncio.to_thread(self.path.unlink, missing_ok=True)
            except OSError as error:
                raise TileSetError(f"{self.path} can't be removed: {error.strerror}") from None
            await self.use(None)
            self.taught = None
            log.info("tiles forgotten", file=str(self.path))
            return {"taught": None, "note": self._note()}

    def _note(self) -> str:
        """What forgetting asks of a person besides."""
        if not self.named:
            return ""
        return (
            f"the configuration names {self.path} as detector.tile_set: that it is missing counts "
            "as a problem until a set is taught again or that line is taken out"
        )

    def _newest(self) -> Sequence[Image]:
        pictures = self.pictures()
        newest = given(pictures[0] if pictures else None)
        return [picture for picture in pictures if picture.shape == newest.shape]

    def _tile_px(self, image: Image) -> float | None:
        calibration = self.current()
        return None if calibration is None else tile_px_in(image, calibration)

    def _look(self, pictures: Sequence[Image]) -> _Look:
        if self._finder is None:
            self._finder = layout_finder(self.weights)
        image = pictures[0]
        found = self._finder.detect(image, tile_px=self._tile_px(image))
        try:
            layout = layout_of(found, image, self._finder)
        except TileSetError as error:
            return _Look(image, found, None, str(error))
        return _Look(image, [seen for seen, _ in layout.tiles], layout, "")

    def _teach(self, pictures: Sequence[Image], wished: TeachingWish) -> tuple[_Look, TileSet]:
        look = self._look(pictures)
        if look.layout is None:
            raise TileSetError(look.problem)
        assert self._finder is not None, "it has just looked"
        tile_set = learnt(
            look.layout, pictures, self._finder, trust_layout=wished.trust_layout
        )  # fmt: skip
        if wished.add and self.taught is not None:
            tile_set = self.taught.with_more(tile_set)
        tile_set.save(self.path)
        return look, tile_set

    async def _told(self, look: _Look) -> dict[str, Any]:
        layout = look.layout
        places: Sequence[tuple[Detection, Tile | None]] = (
            [(seen, None) for seen in look.found] if layout is None else layout.tiles
        )
        return {
            "width": look.image.shape[1],
            "height": look.image.shape[0],
            "jpeg": await asyncio.to_thread(jpeg, look.image),
            "tile_px": None if layout is None else round(layout.tile_px, 1),
            "problem": look.problem,
            "tiles": [_place(seen, wanted) for seen, wanted in places],
            "contradictions": [] if layout is None else [
                {
                    "row": wrong.row, "tile": wrong.column,
                    "wanted": format_tile(wrong.wanted), "seen": format_tile(wrong.seen),
                }
                for wrong in layout.contradictions()
            ],
            "taught": self._kept(),
        }  # fmt: skip

    def _kept(self) -> dict[str, Any] | None:
        if self.taught is None:
            return None
        return {
            "on": self.taught.taught,
            "tiles": len(set(self.taught.kinds.tolist())),
            "tile_px": self.taught.tile_px,
            "file": str(self.path),
        }


def _place(seen: Detection, wanted: Tile | None) -> dict[str, Any]:
    return {
        "box": [round(edge, 1) for edge in seen.box],
        "seen": format_tile(seen.tile),
        "confidence": round(seen.confidence, 3),
        "wanted": None if wanted is None else format_tile(wanted),
        "agrees": wanted is None or seen.tile == wanted,
    }
