"""Camera sources: every camera in its own process, newest picture wins, health watched.

:func:`open_source` turns a text such as ``v4l2:/dev/v4l/by-id/...`` into a :class:`Source`.
"""

from vision.sources.frame import Frame, FrameSource, SourceError, SourceSpecError
from vision.sources.memory import MemorySource
from vision.sources.source import CameraSource, open_source
from vision.sources.spec import SourceSpec, parse_spec

__all__ = [
    "CameraSource",
    "Frame",
    "FrameSource",
    "MemorySource",
    "SourceError",
    "SourceSpec",
    "SourceSpecError",
    "open_source",
    "parse_spec",
]
