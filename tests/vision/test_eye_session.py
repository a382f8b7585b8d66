"""The eye over simulated hands: after every event the reading is the felt, tile for tile.

The recogniser is the renderer's truth with shaky boxes; what is tested is everything around it:
hands in the way, claims, kongs, flowers, hands laid open, and looks that nobody has seen before.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

import numpy as np
import pytest

from tablectl.engine.events import End, Event, Reveal
from tablectl.engine.selfplay import Deal, play_hand
from tablectl.rules import registry
from tablectl.simulate.choreography import BRISK, Choreography, Moment
from tablectl.simulate.felt import SimulatedFelt
from vision.eye import EyeCore
from vision.messages import CameraState, CameraStatus, SeenTile, TableReading
from vision.render.scene import Pose
from vision.render.style import Style

from .felt_world import GEOMETRY, TruthDetector, World

Lying = tuple[str, str, int | None, float, float]


class FilmedHand:
    """A hand that is played under an eye."""

    def __init__(self, rules: str, seed: int, style: Style, size: tuple[int, int]) -> None:
        rule_set = registry.get(rules)
        kit = rule_set.equipment(rule_set.options({}))
        rng = random.Random(seed)
        self.world = World(style, size, interval=1 / BRISK.fps)
        self.felt = SimulatedFelt(GEOMETRY, kit.seats, kit.total, rng)
        self.film = Choreography(self.felt, BRISK, rng)
        finder = TruthDetector(self.world, jitter_px=0.5, seed=seed)
        self.core = EyeCore(self.world.calibrate(), GEOMETRY, finder)
        self.readings: list[TableReading] = []
        wind = "E" if rule_set.play.round_winds else None
        self.events: tuple[Event, ...] = tuple(
            play_hand(rules, {}, seed, deal=Deal(round_wind=wind))
        )
        self.show(self.film.still(0.8))
        self.felt.raise_walls(7)
        self.show(self.film.still(1.0))

    def show(self, moments: Iterable[Moment]) -> None:
        for moment in moments:
            self.world.scene = moment.scene
            for message in self.core.process(self.world.frame(moment.scene.hands)):
                if isinstance(message, TableReading):
                    self.readings.append(message)
                elif isinstance(message, CameraStatus):
                    assert message.state is CameraState.FINE

    def lying(self) -> list[Lying]:
        """What a perfect eye would report."""
        found: list[Lying] = []
        for tile in self.felt.scene().tiles:
            zone, seat = GEOMETRY.locate(tile.x_mm, tile.y_mm)
            name = "back" if tile.pose is Pose.FLAT_DOWN else _name(tile.tile)
            if tile.pose is Pose.STANDING or (name == "back" and zone != "exposed"):
                continue
            found.append((name, zone, seat, tile.x_mm, tile.y_mm))
        return found


def _name(tile: int) -> str:
    from tablectl.tiles import NAMES

    return NAMES[tile]


def wrong(lying: list[Lying], seen: Iterable[SeenTile]) -> tuple[list[Lying], list[SeenTile]]:
    """What lies there unseen, and what is seen and does not lie there."""
    left = list(seen)
    missing = []
    for name, zone, seat, x, y in lying:
        match = [
            s
            for s in left
            if (s.best, s.zone, s.seat) == (name, zone, seat) and abs(s.x - x) + abs(s.y - y) < 12
        ]
        if match:
            left.remove(match[0])
        else:
            missing.append((name, zone, seat, x, y))
    return missing, left


def play(hand: FilmedHand, events: Iterable[Event]) -> None:
    for n, event in enumerate(events):
        if isinstance(event, Reveal | End):
            continue
        hand.show(hand.film.perform(event))
        hand.show(hand.film.still(0.8))
        missing, extra = wrong(hand.lying(), hand.readings[-1].tiles)
        assert (missing, extra) == ([], []), f"after event {n}: {event}"


def test_the_first_turns_of_a_hand() -> None:
    hand = FilmedHand("hangzhou", 1, Style(), (1280, 720))
    play(hand, hand.events[:16])
    assert len(hand.readings) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["hongkong", "hangzhou"])
@pytest.mark.parametrize("look", range(3))
def test_whole_hands_with_looks_of_all_kinds(rules: str, look: int) -> None:
    style = Style.random(np.random.default_rng(look), "test")
    size = (1280, 720) if look % 2 else (1920, 1080)
    hand = FilmedHand(rules, 10 + look, style, size)
    play(hand, hand.events)
    assert min(tile.confidence for tile in hand.readings[-1].tiles) > 0.9
