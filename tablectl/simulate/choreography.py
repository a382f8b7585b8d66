"""How a hand moves over the table: events become pictures in time.

A moment is one picture's worth of the table. Players reach, take or lay down, withdraw; between two
actions the table lies still for a while, as real tables do.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from firmware_protocol.messages import Button
from tablectl.engine.events import Call, Discard, Draw, Event, Flower, Joy, Meld, Reveal, Win
from tablectl.simulate.felt import SimulatedFelt
from vision.render.scene import Hand, Scene

_SKIN: Final = ((222, 178, 148), (186, 136, 104), (236, 198, 170), (140, 98, 74))
_SLEEVES: Final = ((52, 60, 84), (120, 40, 46), (200, 196, 188), (38, 74, 58))
_AWAY: Final = 19.0
_BUTTONS: Final = {
    "hu": Button.HU, "kong": Button.KONG, "pung": Button.PUNG, "chow": Button.CHOW,
    "pass": Button.PASS,
}  # fmt: skip


@dataclass(frozen=True)
class Tempo:
    """Pictures a second and how long things take, in seconds of the simulated camera.

    ``rest`` is the time for which the table lies still after an action.
    """

    fps: float = 10.0
    reach: float = 0.4
    rest: float = 0.9
    think: float = 0.5

    def pictures(self, seconds: float) -> int:
        """Pictures in so many seconds, at least one."""
        return max(1, round(seconds * self.fps))


LIVELY: Final = Tempo()
"""As people who know each other play."""
BRISK: Final = Tempo(fps=5.0, reach=0.2, rest=0.6, think=0.0)
"""As fast as the eye must be able to follow; for runs against the clock."""


@dataclass(frozen=True)
class Moment:
    """One picture, and the buttons that are pressed just before it is taken.

    ``rested`` is the discard that lies free of hands in this picture for the first time.
    """

    scene: Scene
    presses: tuple[tuple[int, Button], ...] = ()
    rested: Discard | None = None


class Choreography:
    """Turns the events of one hand into moments."""

    def __init__(self, felt: SimulatedFelt, tempo: Tempo, rng: random.Random) -> None:
        self.felt = felt
        self.tempo = tempo
        self._rng = rng

    def perform(self, event: Event) -> Iterator[Moment]:
        """The moments of one event; when they are over the felt shows what it says."""
        match event:
            case Call() if event.call in _BUTTONS:
                yield Moment(self.felt.scene(), ((event.seat, _BUTTONS[event.call]),))
            case Draw():
                yield from self._reach(event, rest=False)
            case Discard() | Meld() | Joy() | Flower():
                yield from self.still(self.tempo.think if isinstance(event, Discard) else 0.0)
                yield from self._reach(event, rest=True)
            case Win() | Reveal():
                yield from self._reach(event, rest=True)
                yield from self.still(self.tempo.rest)
            case _:
                self.felt.apply(event)
                yield from self.still(self.tempo.rest)

    def still(self, seconds: float) -> Iterator[Moment]:
        """The table lies still."""
        if seconds <= 0.0:
            return
        for _ in range(self.tempo.pictures(seconds)):
            yield Moment(self.felt.scene())

    def sweep(self) -> Iterator[Moment]:
        """All players push the tiles into the open centre."""
        for step in range(self.tempo.pictures(2 * self.tempo.reach)):
            hands = [self._hand(s, 4.0 * self._rng.random(), 4.0 + step) for s in self._seats]
            yield Moment(self.felt.scene(hands))
        self.felt.clear()
        yield from self.still(self.tempo.rest)

    @property
    def _seats(self) -> range:
        return range(self.felt.seats)

    def _reach(self, event: Event, *, rest: bool) -> Iterator[Moment]:
        before = self.felt.scene()
        visits = self.felt.apply(event)
        pictures = self.tempo.pictures(self.tempo.reach)
        for n, (seat, x, y) in enumerate(visits):
            for i in range(pictures):
                scene = before if n == 0 and i < pictures else self.felt.scene()
                near = (i + 1) / pictures
                yield Moment(self._with_hand(scene, seat, x, y + (1 - near) * (_AWAY - y)))
        seat, x, y = visits[-1]
        for i in range(max(1, pictures - 1)):
            away = (i + 0.3) / pictures
            scene = self.felt.scene()
            yield Moment(self._with_hand(scene, seat, x, y + away * (_AWAY - y)))
        if rest:
            first, *others = self.still(self.tempo.rest)
            yield replace(first, rested=event if isinstance(event, Discard) else None)
            yield from others

    def _with_hand(self, scene: Scene, seat: int, x: float, y: float) -> Scene:
        hand = self._hand(seat, x, y)
        return Scene(
            tiles=scene.tiles, hands=(*scene.hands, hand), props=scene.props, dice=scene.dice,
            panel_open=scene.panel_open, led_texts=scene.led_texts, active_seat=scene.active_seat,
        )  # fmt: skip

    def _hand(self, seat: int, x: float, y: float) -> Hand:
        geometry = self.felt.geometry
        x_mm, y_mm = geometry.to_table(seat, x, y - 0.2)
        lean = math.degrees(math.atan2(x * 0.35, _AWAY - y + 6.0))
        return Hand(
            x_mm, y_mm, angle_deg=geometry.seat_angle(seat) - lean,
            skin=_SKIN[seat], sleeve=_SLEEVES[seat],
        )  # fmt: skip
