"""Short ways to write score cases in tests."""

from __future__ import annotations

from typing import Any

from tablectl.rules.case import ScoreCase, parse_case
from tablectl.rules.registry import settle
from tablectl.rules.settlement import Settlement


def meld(text: str, source: int | None = None, kind: str = "") -> dict[str, Any]:
    """A meld from its tiles: ``"222m"`` a pung, ``"123m"`` a chow, four alike a kong."""
    if not kind and len(text) == 4:
        kind = "pung" if text[0] == text[1] else "chow"
    elif not kind:
        kind = "closed_kong" if source is None else "kong"
    return {"kind": kind, "tiles": text, "from": source}


def case(
    rules: str,
    hand: str,
    tile: str | None,
    *,
    seat: int = 1,
    by: str = "self_draw",
    source: int | None = None,
    melds: list[dict[str, Any]] | None = None,
    flags: dict[str, Any] | None = None,
    others: dict[int, dict[str, Any]] | None = None,
    me: dict[str, Any] | None = None,
    players: int = 4,
    **fields: Any,
) -> ScoreCase:
    """A case of one winner; ``others`` fills other seats, ``me`` more fields of the winner's."""
    seats: list[dict[str, Any]] = [{"hand": "", "melds": []} for _ in range(players)]
    for i, values in (others or {}).items():
        seats[i] |= values
    seats[seat] |= {"hand": hand, "melds": melds or [], **(me or {})}
    win = {"seat": seat, "tile": tile, "by": by, "from": source, "flags": flags or {}}
    return parse_case(
        {
            "id": "test",
            "rules": rules,
            "dealer": 0,
            "streak": 1,
            "round_wind": "E",
            "seats": seats,
            "outcome": {"wins": [win]},
            **fields,
        }
    )


def outcome(rules: str, hand: str, tile: str | None, **fields: Any) -> Settlement:
    """The settlement of such a case."""
    return settle(case(rules, hand, tile, **fields))
