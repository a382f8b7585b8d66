"""The host of a simulated evening: answers the referee as a person who looks at the table would.

A question is about a tile at a place; the host looks at that place. What the display believes
decides nothing: it may have rivers in another order, or tiles too many or too few.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Final

from tablectl.messages import Question
from tablectl.referee.core import Referee
from tablectl.referee.hand import HandFollower
from tablectl.referee.views import refs
from tablectl.simulate.felt import LyingFace, TableLook
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
        case "tile" if "/missing/" in question.id:
            return _which_is_missing(question, hand, look)
        case "tile":
            return _which_tile(question, hand, look)
        case "winning_tile":
            return _which_was_drawn(question, hand, look)
        case "event":
            return _answer(question, "play_on" if look.won_from else "drawn")
        case "meld":
            return _was_it_so(question, hand, look)
        case "settlement":
            return misread(hand, look) or _how_it_was_won(question, hand, look)
        case _:
            return None


def misread(hand: HandFollower, look: TableLook) -> Wish | None:
    """Correct the first tile of the book that is another one on the table."""
    reach = _REACH * hand.geometry.tile_width_mm
    for ref in refs(hand.layout):
        tile = hand.felt.tiles[ref.tile]
        true = look.face_at(tile.x, tile.y, reach)
        if tile.assumed and tile.seat is not None:  # its place is only a guess
            unseen = [face.tile for face in _unseen(hand, look, tile.zone, tile.seat)]
            true = unseen[0] if unseen and hand.face(tile.id) not in unseen else None
        if true is not None and hand.face(ref.tile) not in (true, "back"):
            return "correct", {"ref": ref.text, "tile": true}
    return None


def _how_it_was_won(question: Question, hand: HandFollower, look: TableLook) -> Wish | None:
    """Where nothing is misread, the tile that the hand was won with has not been seen.

    If that did not help, more was missed than can be told: the hand is void.
    """
    known = {alternative.id for alternative in question.alternatives}
    source = look.won_from.get(-1 if question.seat is None else question.seat, -1)
    answer = "unseen/draw" if source is None else f"unseen/{source}"
    if answer not in known and "/refused/" in question.id:
        answer = "void"
    return _answer(question, answer) if answer in known else None


def _which_is_missing(question: Question, hand: HandFollower, look: TableLook) -> Wish:
    """A tile of the hand that the display does not have."""
    assert question.seat is not None
    seen = Counter(hand.face(tile.id) for tile in hand.open_hand(question.seat))
    there = _faces(hand, look, Zone.RACK, question.seat)
    missing = next(iter((Counter(face.tile for face in there) - seen).elements()), None)
    return _answer(question, "whole" if missing is None else f"tile:{missing}")


def _was_it_so(question: Question, hand: HandFollower, look: TableLook) -> Wish:
    """Whether a tile lies on the table that the display does not have."""
    assert question.seat is not None
    kind, key = question.id.split("/")[-2:]
    if kind == "stray":
        tile = hand.felt.tiles[int(key)]
        face = look.face_at(tile.x, tile.y, _REACH * hand.geometry.tile_width_mm) or ""
        return _answer(question, "yes" if face.endswith("f") else "no")
    if kind == "last":
        return _answer(question, "yes" if _drawable(hand, look, int(key)) <= 0 else "no")
    zone = Zone.RIVER if kind == "threw" else Zone.EXPOSED
    unseen = _unseen(hand, look, zone, question.seat)
    flowers = [face for face in unseen if face.tile.endswith("f")]
    so = bool(flowers) if kind in ("flower", "wall") else len(unseen) > len(flowers)
    if kind == "threw":  # the winner may have taken it
        so = so or question.seat in look.won_from.values()
    return _answer(question, "yes" if so else "no")


def _drawable(hand: HandFollower, look: TableLook, n: int) -> int:
    """Tiles that can still be drawn: those that lie there but for those that must stay."""
    state = hand.book.entries[n].state
    by_count = hand.kit.total - hand.kit.dealt - state.counts.drawn - state.counts.indicators
    return look.wall - (by_count - state.wall)


def _faces(hand: HandFollower, look: TableLook, zone: Zone, seat: int) -> list[LyingFace]:
    return [f for f in look.faces if hand.geometry.locate(f.x, f.y) == (zone, seat)]


def _unseen(hand: HandFollower, look: TableLook, zone: Zone, seat: int) -> list[LyingFace]:
    """Tiles where the display has none but what people have told it of."""
    reach = _REACH * hand.geometry.tile_width_mm
    seen = [t for t in hand.felt.at(zone, seat) if not t.assumed]
    return [
        face for face in _faces(hand, look, zone, seat)
        if all(math.hypot(t.x - face.x, t.y - face.y) > reach for t in seen)
    ]  # fmt: skip


def _which_tile(question: Question, hand: HandFollower, look: TableLook) -> Wish | None:
    tile = hand.felt.tiles[int(question.id.rsplit("/", 1)[1])]
    face = look.face_at(tile.x, tile.y, _REACH * hand.geometry.tile_width_mm)
    if tile.assumed and tile.seat is not None:  # its place is only a guess
        unseen = _unseen(hand, look, tile.zone, tile.seat)
        face = unseen[0].tile if unseen else face
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
