"""Thousands of simulated hands with every option switched, each value of it at least once.

``python -m tests.engine.many_hands RULES... [--hands N] [--first SEED]`` plays and prints figures.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from time import process_time
from typing import Any, Literal, get_args, get_origin

from tablectl.engine.events import Event
from tablectl.engine.selfplay import Deal, play_hand
from tablectl.rules import registry
from tests.engine.test_selfplay import check_hand

NUMBERS: dict[str, list[Any]] = {
    "max_doubles": [None, 1, 3, 5], "hands": [None, 1, 8], "minutes": [None, 90.0],
    "unit_value": [None, 0.5], "reseat_after": [None, 4], "max_loss": [None, 40, 50, 100],
    "reseat_minutes": [None, 60.0], "point_value": [None, 2.0], "base_factor": [1, 5, 8],
    "busted_points": [0, 10], "heavenly_points": [0, 20], "earthly_points": [0, 20],
    "wild_kong_points": [0, 20], "limit": [None, 100], "golden_limit": [None, 150],
    "radiant_limit": [None, 200], "trinity_limit": [None, 250], "base_points": [1, 5],
    "limit_fan": [3, 8], "minimum_fan": [0, 2],
    "extra_doubles": [{}, {"pure_one_suit": 1, "all_pung": 1, "single_tile": 1, "last_tile": 2}],
    "doubles": [{}, {"closed": 0, "own_tile": 2}, {"banker": 0, "kong_bloom": 2}],
    "fan": [{}, {"all_chows": 2, "own_tile": 0}],
    "joys": [["four_winds", "three_dragons"], ["four_winds"], ["three_dragons"], []],
}  # fmt: skip
"""Values to try of options that are neither words nor yes and no."""

BY_SET: dict[tuple[str, str], list[Any]] = {
    ("yangzhou", "minimum"): [None, 0, 7, 13], ("wuhan", "minimum"): [None, 0, 16],
    ("jingzhou", "minimum"): [None, 0, 16], ("beijing", "point_value"): [1, 2],
}  # fmt: skip


def choices(rules: str) -> dict[str, list[Any]]:
    """Every option of a rule set with the values to try."""
    found: dict[str, list[Any]] = {}
    for name, info in registry.get(rules).model.model_fields.items():
        if info.annotation is bool:
            found[name] = [False, True]
        elif get_origin(info.annotation) is Literal:
            found[name] = list(get_args(info.annotation))
        else:
            found[name] = BY_SET.get((rules, name)) or NUMBERS[name]
    return found


def options_of(rules: str, seed: int) -> dict[str, Any]:
    """One value of one option, in turn, and some others by chance."""
    tried = choices(rules)
    turns = [(name, value) for name, values in tried.items() for value in values]
    rng = Random(f"{rules}/{seed}/options")
    options = {n: rng.choice(values) for n, values in tried.items() if rng.random() < 0.25}
    if turns:
        name, value = turns[seed % len(turns)]
        options[name] = value
    return options


def hand_of(rules: str, seed: int) -> tuple[dict[str, Any], list[Event]]:
    """A simulated hand with its options."""
    rng, options = Random(f"{rules}/{seed}/deal"), options_of(rules, seed)
    ruleset = registry.get(rules)
    seats = ruleset.equipment(ruleset.options(options)).seats
    deal = Deal(
        dealer=rng.randrange(seats),
        streak=rng.randrange(1, 5),
        round_wind=rng.choice("ESWN") if ruleset.play.round_winds else None,
        first_dealer=rng.randrange(seats),
    )
    return options, play_hand(rules, options, seed, deal=deal)


@dataclass
class Figures:
    """What a run came to; ``values`` counts (option, value) as they were played."""

    hands: int = 0
    won: int = 0
    drawn: int = 0
    events: int = 0
    values: Counter[tuple[str, str]] = field(default_factory=Counter)
    seconds: float = 0.0


def play_one(rules: str, seed: int, figures: Figures, *, hidden: bool) -> None:
    """Play a hand and check its end (:func:`check_hand`)."""
    options, events = hand_of(rules, seed)
    state = check_hand(events, hidden=hidden)
    figures.hands += 1
    figures.won += bool(state.wins)
    figures.drawn += state.drawn_hand
    figures.events += len(events)
    figures.values.update((name, repr(value)) for name, value in options.items())


def play(rules: str, seeds: range, *, hidden_each: int = 10) -> Figures:
    """Play the hands of some seeds; every ``hidden_each``-th also as seen from above."""
    figures, start = Figures(), process_time()
    for seed in seeds:
        try:
            play_one(rules, seed, figures, hidden=seed % hidden_each == 0)
        except Exception as error:
            error.add_note(f"{rules}, seed {seed}, options {options_of(rules, seed)}")
            raise
    figures.seconds = process_time() - start
    return figures


def never_switched(rules: str, figures: Figures) -> list[tuple[str, str]]:
    """Values of options that no hand was played with."""
    wanted = [(n, repr(value)) for n, values in choices(rules).items() for value in values]
    return [pair for pair in wanted if not figures.values[pair]]


def main() -> int:
    """Play and print figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rules", choices=registry.IDS, nargs="+")
    parser.add_argument("--hands", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    for rules in given.rules:
        figures = play(rules, range(given.first, given.first + given.hands))
        missing = never_switched(rules, figures)
        print(  # noqa: T201
            f"{rules}: {figures.hands} hands, {figures.won} won, {figures.drawn} drawn, "
            f"{figures.events} events, {len(figures.values)} values of options, "
            f"never switched: {missing or 'none'}; {figures.seconds:.0f} s",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
