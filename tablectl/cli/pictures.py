"""Pictures for commands that need some of a camera: from the camera itself, or from a file."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from pathlib import Path
from typing import Final

from vision.read import PhotoError, load_image
from vision.sources import SourceError, open_source
from vision.sources.frame import Image

SETTLE_FRAMES: Final = 15
"""Pictures that a camera takes to find its exposure."""

PATIENCE_S: Final = 20.0


def take(
    source: str | None, image: Path | None, size: tuple[int, int] | None, count: int = 1
) -> list[Image]:
    """One or more pictures, one after the other, of a camera that has settled; or a file's.

    Of a file or a short film there may be fewer.

    Raises:
        SourceError: both or none are given, or there is no picture.
    """
    check_sources(source, image)
    if image is not None:
        return [read_image(image)]
    assert source is not None
    return asyncio.run(_grab(source, size, count))


def check_sources(source: str | None, image: Path | None) -> None:
    """One of a camera and a picture.

    Raises:
        SourceError: both or none.
    """
    if (source is None) == (image is None):
        raise SourceError("give a camera with --source, or one picture with --image")


def read_image(path: Path) -> Image:
    """A picture file.

    Raises:
        SourceError: it can't be read.
    """
    try:
        return load_image(path)
    except PhotoError as error:
        raise SourceError(str(error)) from None


def picture_size(text: str | None) -> tuple[int, int] | None:
    """``1920x1080`` as numbers.

    Raises:
        SourceError: it is something else.
    """
    if text is None:
        return None
    match = re.fullmatch(r"(\d{2,5})x(\d{2,5})", text)
    if match is None:
        raise SourceError(f"--size {text!r} is no WxH such as 1920x1080")
    return int(match[1]), int(match[2])


async def _grab(text: str, size: tuple[int, int] | None, count: int) -> list[Image]:
    """The last pictures of a camera that has settled, or of a short file."""
    pictures: deque[Image] = deque(maxlen=count)
    async with open_source(text, size=size) as source:
        frames = source.frames()
        try:
            async with asyncio.timeout(PATIENCE_S):
                async for frame in frames:
                    pictures.append(frame.image)
                    if frame.seq >= SETTLE_FRAMES + count - 1:
                        break
        except TimeoutError:
            status = source.status()
            if not pictures:
                raise SourceError(status.remedy or f"{text} gives no pictures") from None
    if not pictures:
        raise SourceError(f"{text} has no pictures")
    return list(pictures)
