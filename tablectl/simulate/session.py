"""A simulated evening: a table on a pseudo-terminal, a camera on a socket, players who play.

The simulated players see what people see (the table, the display through ``settled``) and act
through what people have: tiles, hands, buttons. Pictures are rendered and sent in the order of the
simulated camera's clock; the next one is rendered while the last is being looked at.
"""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from firmware_protocol.messages import Button, DiceRolled
from firmware_protocol.wire import Message
from tablectl.engine.events import Call, Discard, End, Event, Exhaust, Reveal, Win
from tablectl.engine.game import play_out
from tablectl.engine.selfplay import Deal, play_hand
from tablectl.engine.state import HandState
from tablectl.rules import registry
from tablectl.simulate.choreography import LIVELY, Choreography, Moment, Tempo
from tablectl.simulate.felt import SimulatedFelt
from vision.geometry import TableGeometry
from vision.render.renderer import Picture, Renderer
from vision.render.style import Style
from vision.sources.feed import FeedServer

_UP: Final = 0.95
_DOWN: Final = 0.05
_WAIT_S: Final = 120.0
"""Wall-clock seconds after which a simulated player gives up on the table or the display."""


_Film = tuple[float, Picture, Discard | None]
"""A picture, its time, and the discard that came to rest with it."""


_PATIENCE_S: Final = 6.0
"""Camera seconds after which players lay their hands open for a settlement that does not come."""


class MachinePlace(Protocol):
    """Where centre and trays are, 0 low to 1 high."""

    @property
    def centre(self) -> float:
        """The centre panel."""

    @property
    def lifts(self) -> tuple[float, ...]:
        """The trays of sides 0 to 3."""


class Machine(Protocol):
    """What players see of a table and can do to it: `SimulatedTable`, or a chip in simavr."""

    def press(self, seat: int, button: Button) -> None:
        """Press a button."""

    def snapshot(self) -> MachinePlace:
        """Look at the machine."""


class SimulationError(RuntimeError):
    """The session does not go on: the table or the display did not do what players wait for."""


@dataclass(frozen=True)
class SessionScript:
    """What is played.

    Attributes:
        rules, options: rule set and options that differ from the defaults.
        hands: number of hands; None for no end.
        seed: decides tiles, players and their clumsiness.
        tempo: pictures a second and how quick people are.
        realtime: whether pictures come in real time, or as fast as they are looked at.
        size: of the pictures, (width, height) in pixels.
    """

    rules: str = "hongkong"
    options: dict[str, Any] = field(default_factory=dict)
    hands: int | None = None
    seed: int = 1
    tempo: Tempo = LIVELY
    realtime: bool = True
    size: tuple[int, int] = (1920, 1080)


@dataclass(frozen=True)
class TrueHand:
    """What really happened in a hand."""

    events: tuple[Event, ...]
    delta: tuple[int, ...]


@dataclass(frozen=True)
class Rested:
    """When the camera first saw a discard lie free of hands.

    Attributes:
        hand: counts from 1; ``nth`` discard of it, from 0.
        t: when the picture was sent, seconds of ``time.monotonic()``, which all processes share.
    """

    hand: int
    nth: int
    seat: int
    tile: str
    t: float


class SimulatedSession:
    """Plays a session in a thread of its own.

    Args:
        script: what is played.
        table: the simulated machine, powered on.
        feed_path: Unix socket on which the pictures are offered.
        settled: asked now and then after a hand whether the display shows its final settlement.
        style: how the table looks.
        geometry: measures of the table.
        freeze_at: simulated seconds after which the camera repeats its last picture, and for how
            long; None never.

    Attributes:
        hands: what really happened, a hand each, as they end.
        rested: every discard so far, for those who measure how soon it is shown.
        felt: the table as it lies; read it under :attr:`lock`.
    """

    def __init__(
        self,
        script: SessionScript,
        table: Machine,
        *,
        feed_path: Path,
        settled: Callable[[int], bool],
        style: Style | None = None,
        geometry: TableGeometry | None = None,
        freeze_at: tuple[float, float] | None = None,
    ) -> None:
        self.script = script
        self.table = table
        self.hands: list[TrueHand] = []
        self.rested: list[Rested] = []
        self.lock = threading.Lock()
        self.failure: BaseException | None = None
        rules = registry.get(script.rules)
        options = rules.options(script.options)
        kit = rules.equipment(options)
        geometry = geometry or TableGeometry(seats=kit.seats)
        self._rng = random.Random(f"session/{script.seed}")
        self.felt = SimulatedFelt(geometry, kit.seats, kit.total, self._rng)
        self._renderer = Renderer(style, geometry, script.size, script.tempo.fps)
        self._choreography = Choreography(self.felt, script.tempo, self._rng)
        self._feed = FeedServer(feed_path)
        self._settled = settled
        self._dice: queue.SimpleQueue[tuple[int, int]] = queue.SimpleQueue()
        self._pictures: queue.Queue[_Film | None] = queue.Queue(maxsize=1)
        self._freeze_at = freeze_at
        self._last: Picture | None = None
        self._t = 0.0
        self._started = 0.0
        self._stop = threading.Event()
        self._next = Deal(round_wind="E" if rules.play.round_winds else None)
        self._threads = [
            threading.Thread(target=self._run, name="players", daemon=True),
            threading.Thread(target=self._send, name="camera feed", daemon=True),
        ]

    def empty_picture(self) -> Picture:
        """The bare table as the camera sees it, for calibration."""
        return self._renderer.render(self.felt.scene())

    def on_emit(self, message: Message) -> None:
        """Give this to the simulated table: players see the dice."""
        if isinstance(message, DiceRolled):
            self._dice.put((message.first, message.second))

    def start(self) -> None:
        """Begin to send pictures and to play."""
        self._started = time.monotonic()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End the session at the next picture; waits for the threads."""
        self._stop.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout=10.0)
        self._feed.close()

    @property
    def finished(self) -> bool:
        """Whether all hands were played, or the session failed."""
        return not self._threads[0].is_alive() and self._started > 0.0

    # --- the evening ---

    def _run(self) -> None:
        try:
            self._film(self._choreography.still(1.0))
            hand = 0
            while not self._stop.is_set() and hand != self.script.hands:
                self._prepare(first=hand == 0)
                self._play(hand)
                hand += 1
        except Exception as error:
            self.failure = error
            raise
        finally:
            self._put(None)

    def _prepare(self, *, first: bool) -> None:
        """Between two hands: tiles in, walls up, dice."""
        self._press(self._next.dealer, Button.START)
        if not first:
            self._wait("the centre to open", lambda: self.table.snapshot().centre >= _UP)
            self.felt.panel_open = True
            self._film(self._choreography.sweep())
            self._press(self._next.dealer, Button.START)
            self._wait("the centre to close", lambda: self.table.snapshot().centre <= _DOWN)
            self.felt.panel_open = False
        self._wait("the walls", lambda: min(self.table.snapshot().lifts[: self.felt.seats]) >= _UP)
        dice = self._wait_for_dice()
        self.felt.dice = dice
        self.felt.raise_walls(sum(dice))
        self._film(self._choreography.still(self.script.tempo.rest))

    def _play(self, number: int) -> None:
        deal = self._next
        events = play_hand(
            self.script.rules, self.script.options, self.script.seed * 1000 + number, deal=deal
        )
        *_, (state, _) = play_out(events)
        for event in events:
            if self._stop.is_set():
                return
            if isinstance(event, End | Reveal):
                continue
            if isinstance(event, Exhaust):
                self._press(deal.dealer, Button.START)
            if isinstance(event, Win) and event.by in ("self_draw", "deal"):
                self._film(self._choreography.perform(Call(seat=event.seat, call="hu")))
            self._film(self._choreography.perform(event))
        self._look_at_display(number, [e for e in events if isinstance(e, Reveal)], state)
        self._note(events, state)

    def _note(self, events: Iterable[Event], state: HandState) -> None:
        assert state.settlement is not None
        assert state.next is not None
        delta = state.settlement.delta or ()
        with self.lock:
            self.hands.append(TrueHand(tuple(events), tuple(delta)))
        following = state.next
        self._next = Deal(
            following.dealer, following.streak, following.round_wind,
            state.first_dealer, following.session,
        )  # fmt: skip

    def _look_at_display(self, number: int, hands: list[Reveal], state: HandState) -> None:
        """Players wait until they see the final settlement, then a little longer.

        They lay their hands open where tiles in them are paid, or when the display does not settle
        without.
        """
        if not state.play.hands_paid:
            self._film(self._until_settled(number, _PATIENCE_S))
        if not self._settled(number):
            for event in hands:
                self._film(self._choreography.perform(event))
        self._wait("the settlement", lambda: self._settled(number))
        self._film(self._choreography.still(4 * self.script.tempo.rest))

    def _until_settled(self, number: int, seconds: float) -> Iterator[Moment]:
        for moment in self._choreography.still(seconds):
            if self._settled(number):
                return
            yield moment

    # --- what people can do ---

    def _press(self, seat: int, button: Button) -> None:
        self.table.press(seat, button)
        self._film(self._choreography.still(0.1))

    def _wait(self, what: str, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + _WAIT_S
        while not condition():
            if time.monotonic() > end:
                raise SimulationError(f"players waited {_WAIT_S:g} s for {what}")
            if self._stop.is_set():
                return
            self._film(self._choreography.still(0.2))

    def _wait_for_dice(self) -> tuple[int, int]:
        self._wait("the dice", lambda: not self._dice.empty())
        return self._dice.get_nowait() if not self._dice.empty() else (1, 1)

    # --- the camera ---

    def _film(self, moments: Iterator[Moment]) -> None:
        for moment in moments:
            if self._stop.is_set():
                return
            for seat, button in moment.presses:
                self.table.press(seat, button)
            self._t += 1.0 / self.script.tempo.fps
            self._put((self._t, self._picture(moment), moment.rested))

    def _picture(self, moment: Moment) -> Picture:
        frozen = self._freeze_at is not None and (
            self._freeze_at[0] <= self._t < sum(self._freeze_at)
        )
        if self._last is None or not frozen:
            with self.lock:
                self._last = self._renderer.render(moment.scene)
        return self._last

    def _put(self, item: _Film | None) -> None:
        while not self._stop.is_set():
            try:
                self._pictures.put(item, timeout=0.5)
            except queue.Full:
                continue
            return

    def _send(self) -> None:
        while not self._stop.is_set():
            try:
                item = self._pictures.get(timeout=0.5)
            except queue.Empty:
                continue
            if item is None:
                self._feed.end()
                return
            t, picture, rested = item
            if self.script.realtime:
                time.sleep(max(0.0, self._started + t - time.monotonic()))
                t = time.monotonic()
            if rested is not None:
                self._note_rest(rested)
            self._feed.send(t, picture)

    def _note_rest(self, discard: Discard) -> None:
        # Without the lock, which is held while pictures are rendered: this one is due now.
        hand = len(self.hands) + 1
        nth = sum(r.hand == hand for r in self.rested)
        self.rested.append(Rested(hand, nth, discard.seat, discard.tile, time.monotonic()))
