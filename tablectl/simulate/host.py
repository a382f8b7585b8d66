"""The host of a simulated evening: answers the referee as a person who looks at the table would.

A question is about a tile at a place; the host looks at that place. What the display believes
decides nothing: it may have rivers in another order, or tiles too many or too few.
"""

from __future__ import annotations

from typing import Final

from tablectl.messages import Question
from tablectl.referee.core import Referee
from tablectl.referee.hand import HandFollower
from tablectl.referee.views import refs
from tablectl.simulate.felt import TableLook
from vision.geometry import Zone

Wish = tuple[str, dict[str, object]]
"""Verb and arguments of a request."""

_REACH: Final = 0.6
"""Tile widths within which a tile lies at the place that is asked about."""


def reply(question: Question, referee: Referee, look: TableLook) -> Wish | None:
    """What a person says to a question.

    Args:
        question: one that is open.
        referee: knows which place the question is about, and what its display shows.
        look: the table as it lies.

    Returns:
        The request that answers it; None where the person has nothing to say (yet).
    """
    hand = referee.hand
    if hand is None:
        return None
    match question.kind:
        case "tile":
            return _which_tile(question, hand, look)
        case "winning_tile":
            return _which_was_drawn(question, hand, look)
        case "event":
            return _answer(question, "play_on" if look.won else "drawn")
        case "settlement":
            return misread(hand, look)
        case _:
            return None


def misread(hand: HandFollower, look: TableLook) -> Wish | None:
    """Correct the first tile of the book that is another one on the table."""
    reach = _REACH * hand.geometry.tile_width_mm
    for ref in refs(hand.layout):
        tile = hand.felt.tiles[ref.tile]
        true = look.face_at(tile.x, tile.y, reach)
        if true is not None and hand.face(ref.tile) not in (true, "back"):
            return "correct", {"ref": ref.text, "tile": true}
    return None


def _which_tile(question: Question, hand: HandFollower, look: TableLook) -> Wish | None:
    tile = hand.felt.tiles[int(question.id.rsplit("/", 1)[1])]
    face = look.face_at(tile.x, tile.y, _REACH * hand.geometry.tile_width_mm)
    return None if face is None else _answer(question, f"tile:{face}")


def _which_was_drawn(question: Question, hand: HandFollower, look: TableLook) -> Wish | None:
    """The tile set apart, by the name that the display has for it."""
    assert question.seat is not None
    drawn = look.drawn_last.get(question.seat)
    if drawn is None:
        return None
    lying = hand.felt.at(Zone.RACK, question.seat)
    nearest = min(lying, key=lambda t: (t.x - drawn.x) ** 2 + (t.y - drawn.y) ** 2, default=None)
    return None if nearest is None else _answer(question, f"tile:{hand.face(nearest.id)}")


def _answer(question: Question, answer: str) -> Wish:
    return "answer", {"question": question.id, "answer": answer}
