"""The text that names a source in configuration and on the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from vision.sources.frame import SourceSpecError

Kind = Literal["v4l2", "file", "rtsp", "http", "folder", "recording", "feed"]

FORMS: Final = (
    "v4l2:/dev/v4l/by-id/NAME, file:VIDEO, rtsp://..., http://..., folder:DIR, recording:MCAP "
    "or feed:SOCKET"
)
_PREFIXES: Final[dict[str, Kind]] = {
    "v4l2": "v4l2",
    "file": "file",
    "folder": "folder",
    "recording": "recording",
    "feed": "feed",
}
_URLS: Final[dict[str, Kind]] = {
    "rtsp": "rtsp",
    "rtsps": "rtsp",
    "http": "http",
    "https": "http",
}


@dataclass(frozen=True)
class SourceSpec:
    """A parsed source text.

    Attributes:
        kind: which reader opens it.
        target: device path, file, folder, socket or whole URL.
    """

    kind: Kind
    target: str

    @property
    def live(self) -> bool:
        """Whether pictures come when they come and can't wait for us."""
        return self.kind in ("v4l2", "rtsp", "http")

    def __str__(self) -> str:
        return self.target if self.kind in ("rtsp", "http") else f"{self.kind}:{self.target}"


def parse_spec(text: str) -> SourceSpec:
    """Read a source text.

    Raises:
        SourceSpecError: unknown form; the message lists the known ones.
    """
    scheme, colon, rest = text.partition(":")
    if colon and scheme in _URLS and rest.startswith("//"):
        return SourceSpec(_URLS[scheme], text)
    if colon and scheme in _PREFIXES and rest:
        return SourceSpec(_PREFIXES[scheme], rest)
    raise SourceSpecError(f"camera source {text!r} is not understood: use {FORMS}")
