"""What the desks behind the operator's pages share: the newest picture, wishes as JSON, pictures.

Pictures are too large for MQTT and are nobody's business but the operator's, so such pages ask over
HTTP with the operator's token (see :mod:`tablectl.services.http`).
"""

from __future__ import annotations

import base64
from typing import Final, TypeVar

import cv2
from pydantic import BaseModel, ValidationError

from vision.sources.frame import Image

PICTURE_QUALITY: Final = 85

WishT = TypeVar("WishT", bound=BaseModel)


class DeskError(Exception):
    """A desk can't do what it was asked; the message says why and what to do."""


class NoPictureError(DeskError):
    """The camera has given no picture yet."""


def given(image: Image | None) -> Image:
    """The picture, once there is one.

    Raises:
        NoPictureError: there is none yet.
    """
    if image is None:
        raise NoPictureError("the camera has given no picture yet: see its state")
    return image


def understood(kind: type[WishT], wish: object) -> WishT:
    """A wish as it came from the page.

    Raises:
        DeskError: it is no such wish; names the first key that is wrong.
    """
    try:
        return kind.model_validate(wish)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "request"
        raise DeskError(f"{where}: {first['msg']}") from None


def jpeg(image: Image) -> str:
    """A BGR picture as JPEG, base64.

    Raises:
        DeskError: it can't be encoded.
    """
    ok, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, PICTURE_QUALITY])
    if not ok:
        raise DeskError(f"a picture of shape {image.shape} can't be encoded")
    return base64.b64encode(data.tobytes()).decode()
