"""The page of ``tablectl calibrate --browser``: the daemon's own, with a camera and no game."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Final

import typer

from tablectl.cli.pictures import check_sources, read_image
from tablectl.services.broker import BrokerAccess, BrokerAddress, Credentials
from tablectl.services.calibrating import CalibrationDesk
from tablectl.services.http import WebServer, generate_operator_password
from vision.calibration import Calibration, CalibrationError
from vision.geometry import TableGeometry
from vision.sources import SourceError, open_source
from vision.sources.frame import Image

HOST: Final = "0.0.0.0"
_PATIENCE_S: Final = 5.0
"""Time for the camera's first picture before the page is offered without one."""
_FAREWELL_S: Final = 1.5
"""Time for the page to hear that it was saved."""


def serve_page(
    geometry: TableGeometry, out: Path, source: str | None, image: Path | None,
    size: tuple[int, int] | None, port: int,
) -> None:  # fmt: skip
    """Serve the page until a calibration has been saved.

    Raises:
        CalibrationError, SourceError: neither camera nor picture, or they can't be read.
        ServerError: the port is taken.
    """
    check_sources(source, image)
    page = CalibrationPage(geometry, out)
    if image is not None:
        page.picture = read_image(image)
    asyncio.run(page.serve(source, size, port))


class CalibrationPage:
    """Serves the page for one camera.

    Args:
        geometry: of the table.
        out: file of the calibration; one that is there already is shown first.
    """

    def __init__(self, geometry: TableGeometry, out: Path) -> None:
        self._out = out
        self._kept: Calibration | None = None
        with contextlib.suppress(CalibrationError):
            self._kept = Calibration.load(out)
        self._saved = asyncio.Event()
        self.picture: Image | None = None
        self.password = generate_operator_password()
        self.desk = CalibrationDesk(
            geometry, out, picture=lambda: self.picture, current=lambda: self._kept,
            keep=self._keep,
        )  # fmt: skip

    async def _keep(self, calibration: Calibration) -> None:
        self._kept = calibration
        self._saved.set()

    def server(self) -> WebServer:
        """The page's server, not started."""
        return WebServer(_no_broker(), "calibration", self.password, desk=self.desk)

    async def serve(self, source: str | None, size: tuple[int, int] | None, port: int) -> None:
        """Until something has been saved.

        Raises:
            SourceError: the camera's text is not understood, or a file can't be read.
            ServerError: the port is taken.
        """
        server = self.server()
        tasks: set[asyncio.Task[bool]] = {asyncio.create_task(self._saved.wait())}
        if source is not None:
            tasks.add(asyncio.create_task(self._watch(source, size)))
        try:
            await self._first_picture(tasks)
            port = await server.start(HOST, port)
            url = f"http://localhost:{port}/#calibrate"
            typer.echo(f"{url}  operator password: {self.password}")
            while not self._saved.is_set():
                done, tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()  # a camera that can't be opened ends it with its reason
            await asyncio.sleep(_FAREWELL_S)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await server.stop()
        typer.echo(f"{self._out}: saved")

    async def _first_picture(self, tasks: set[asyncio.Task[bool]]) -> None:
        """Give the camera a moment, so that a wrong name is said instead of a page."""
        deadline = asyncio.get_running_loop().time() + _PATIENCE_S
        while self.picture is None and asyncio.get_running_loop().time() < deadline:
            for task in tasks:
                if task.done():
                    task.result()
            await asyncio.sleep(0.05)

    async def _watch(self, text: str, size: tuple[int, int] | None) -> bool:
        """Keep the newest picture; a file's last one stays."""
        async with open_source(text, size=size) as source:
            async for frame in source.frames():
                self.picture = frame.image
        if self.picture is None:
            raise SourceError(f"{text} has no pictures")
        return True


def _no_broker() -> BrokerAccess:
    """No game is played, so there is nobody to talk to; only the operator's login is needed."""
    nowhere = BrokerAddress(unix=Path("/nonexistent/tablectl-calibration"))
    return BrokerAccess(
        nowhere, {"display": None, "operator": Credentials("operator", "no broker here")}
    )
