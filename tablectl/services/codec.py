"""Bus messages as JSON and back, with their schemas: the content of recordings.

A schema's name is ``package.Type``, ``tablectl.TableState`` or ``firmware_protocol.TableState``,
so that messages of the same name don't meet.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import importlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from firmware_protocol.errors import MalformedMessageError
from firmware_protocol.events import LinkChanged, event_from_json, event_to_json
from firmware_protocol.wire import Message as WireMessage
from tablectl.services.clock import NANOSECONDS, from_ns, to_ns

CAMERA_CHANNEL: Final = "/camera"
"""Where :class:`CameraFrame` is published."""
CAMERA_SCHEMA: Final = "foxglove.CompressedImage"
MODEL_MODULES: Final = ("tablectl.messages", "vision.messages", "tablectl.referee.inputs")
"""Modules whose models recordings may hold."""
JPEG_QUALITY: Final = 85


class CodecError(ValueError):
    """A message can't be written or read; the text names its type and the reason."""


@dataclass(frozen=True, eq=False)
class CameraFrame:
    """A picture on the bus.

    Attributes:
        t: capture time, seconds on the daemon's clock.
        seq: the source's count of pictures.
        image: (height, width, 3) uint8, BGR; not to be written to.
    """

    t: float
    seq: int
    image: NDArray[np.uint8]


def schema_name(kind: type) -> str:
    """Name of a message type's schema."""
    return f"{kind.__module__.partition('.')[0]}.{kind.__name__}"


def encode(message: object, quality: int = JPEG_QUALITY) -> tuple[str, bytes]:
    """Schema name and JSON of a message.

    Args:
        message: pydantic model, message of the wire, :class:`CameraFrame`, or plain dataclass of
            JSON values.
        quality: JPEG quality of pictures, 1 to 100.

    Raises:
        CodecError: the message has no JSON form.
    """
    if isinstance(message, CameraFrame):
        return CAMERA_SCHEMA, _encode_frame(message, quality)
    if isinstance(message, BaseModel):
        return schema_name(type(message)), message.model_dump_json().encode()
    if isinstance(message, WireMessage | LinkChanged):
        return schema_name(type(message)), _dumps(event_to_json(message))
    if dataclasses.is_dataclass(message) and not isinstance(message, type):
        return schema_name(type(message)), _dumps(dataclasses.asdict(message))
    raise CodecError(f"{type(message).__name__} can't be recorded: no model, no dataclass")


def schema_of(kind: type) -> bytes:
    """JSON schema of a message type, as a recording holds it."""
    if issubclass(kind, CameraFrame):
        return _dumps(_CAMERA_JSON_SCHEMA)
    if issubclass(kind, BaseModel):
        return _dumps(kind.model_json_schema(mode="serialization"))
    if not dataclasses.is_dataclass(kind):
        raise CodecError(f"{kind.__name__} has no schema: no model, no dataclass")
    names = [field.name for field in dataclasses.fields(kind)]
    properties: dict[str, Any] = {name: {} for name in names}
    if issubclass(kind, WireMessage | LinkChanged):
        properties = {"type": {"const": kind.__name__}, **properties}
    return _dumps({"title": kind.__name__, "type": "object", "properties": properties})


class Decoder:
    """Makes messages of JSON again.

    Args:
        kinds: message types beyond those of :data:`MODEL_MODULES` and the wire.
    """

    def __init__(self, kinds: Iterable[type[BaseModel]] = ()) -> None:
        self._models = {schema_name(kind): kind for kind in (*_known_models(), *kinds)}

    def decode(self, schema: str, data: bytes) -> object:
        """The message.

        Raises:
            CodecError: an unknown schema, or content that does not fit it.
        """
        try:
            if schema == CAMERA_SCHEMA:
                return decode_frame(data)
            if schema in self._models:
                return self._models[schema].model_validate_json(data)
            if schema.startswith("firmware_protocol."):
                return event_from_json(_object(data))
        except (ValidationError, MalformedMessageError, ValueError, TypeError, KeyError) as error:
            raise CodecError(f"{schema}: {error}") from error
        raise CodecError(f"{schema}: this version of tablectl does not know that message")

    def knows(self, schema: str) -> bool:
        """Whether :meth:`decode` can make a message of it."""
        return (
            schema == CAMERA_SCHEMA
            or schema in self._models
            or schema.startswith("firmware_protocol.")
        )


@functools.cache
def _known_models() -> tuple[type[BaseModel], ...]:
    found: dict[type[BaseModel], None] = {}
    for name in MODEL_MODULES:
        for value in vars(importlib.import_module(name)).values():
            if isinstance(value, type) and issubclass(value, BaseModel) and value is not BaseModel:
                found[value] = None
    return tuple(found)


def _encode_frame(frame: CameraFrame, quality: int) -> bytes:
    done, jpeg = cv2.imencode(".jpg", frame.image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not done:
        raise CodecError(f"picture {frame.seq} of shape {frame.image.shape} can't be made a JPEG")
    seconds, nanoseconds = divmod(to_ns(frame.t), NANOSECONDS)
    return _dumps(
        {
            "timestamp": {"sec": seconds, "nsec": nanoseconds},
            "frame_id": "table",
            "format": "jpeg",
            "data": base64.b64encode(jpeg.tobytes()).decode(),
            "seq": frame.seq,
        }
    )


def decode_frame(data: bytes) -> CameraFrame:
    """A recorded picture.

    Raises:
        CodecError: no JPEG in it.
    """
    value = _object(data)
    jpeg = np.frombuffer(base64.b64decode(value["data"]), np.uint8)
    image = cv2.imdecode(jpeg, cv2.IMREAD_COLOR) if jpeg.size else None
    if image is None:
        raise CodecError("the picture is no JPEG")
    stamp = value["timestamp"]
    t = from_ns(stamp["sec"] * NANOSECONDS + stamp["nsec"])
    return CameraFrame(t, int(value.get("seq", 0)), np.asarray(image, np.uint8))


def _object(data: bytes) -> dict[str, Any]:
    value = json.loads(data)
    if not isinstance(value, dict):
        raise CodecError(f"a JSON object was expected, not {data[:40]!r}")
    return value


def _dumps(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain).encode()


def _plain(value: object) -> object:
    """JSON form of what the json module does not know."""
    convert: Callable[[], object] | None = getattr(value, "isoformat", None)
    if convert is not None:
        return convert()
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise CodecError(f"{type(value).__name__} has no JSON form")


_CAMERA_JSON_SCHEMA: Final = {
    "title": CAMERA_SCHEMA,
    "description": "A compressed image",
    "type": "object",
    "properties": {
        "timestamp": {
            "type": "object",
            "title": "time",
            "properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}},
        },
        "frame_id": {"type": "string"},
        "data": {"type": "string", "contentEncoding": "base64"},
        "format": {"type": "string"},
        "seq": {"type": "integer"},
    },
}
