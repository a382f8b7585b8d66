"""What the referee takes for the same tile from one reading to the next."""

from __future__ import annotations

from tablectl.referee.felt import Change, Felt
from vision.geometry import Zone
from vision.messages import SeenTile

WIDTH = 28.0


def seen(face: str, x: float, p: float = 0.98) -> SeenTile:
    other = "9s" if face != "9s" else "8s"
    return SeenTile(
        probabilities={face: p, other: round(1 - p, 4)}, x=x, y=100.0, rotation=0.0,
        zone=Zone.RIVER, seat=0, frames=2,
    )  # fmt: skip


def changed(first: list[SeenTile], then: list[SeenTile]) -> Change:
    felt = Felt(WIDTH)
    felt.update(first, (), frozenset())
    return felt.update(then, (), frozenset())


def test_a_tile_first_seen_beside_its_place_is_the_same_tile() -> None:
    """Half behind a hand its middle was 13 mm off."""
    change = changed([seen("7z", 44.9), seen("8m", 57.9, 0.55)], [seen("7z", 47.2), seen("8m", 71)])
    assert (change.new, change.gone) == ((), ())


def test_another_face_there_is_another_tile() -> None:
    change = changed([seen("8m", 57.9)], [seen("2p", 71.0)])
    assert (len(change.new), len(change.gone)) == (1, 1)


def test_a_tile_of_the_same_face_beside_it_is_another_tile() -> None:
    first = [seen("8m", 0.0)]
    change = changed(first, [*first, seen("8m", 1.02 * WIDTH)])
    assert (len(change.new), len(change.gone)) == (1, 0)
    left = changed(first, [seen("8m", 1.02 * WIDTH)])
    assert (len(left.new), len(left.gone)) == (1, 1)
