"""What the rules add to the eye: fewer wrong faces than the likeliest of each look alone.

``python -m tests.referee.test_inference`` prints the figures of ``docs/referee.md``.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from tablectl.referee.beliefs import best, face_up
from tablectl.tiles import format_tile
from tests.referee.eye import doubting
from tests.referee.test_whole_hands import play_one


@dataclass
class Count:
    """Tiles that lie face up at the end of hands, and how many of them are taken for another."""

    tiles: int = 0
    wrong_by_look: int = 0
    wrong_by_rules: int = 0
    sure_and_wrong: int = 0

    def add(self, rules: str, seed: int, share: float) -> None:
        """Play a hand in which a share of the suited tiles is read doubtfully, half of it wrong."""
        drive, _ = play_one(rules, seed, doubting(seed, share))
        hand = drive.referee.hand
        if hand is None:  # drawn, and closed by START
            return
        for i in sorted(hand.layout.explained & hand.felt.present):
            tile = hand.felt.tiles[i]
            true = drive.felt.face_at(tile.x, tile.y)
            if true is None or tile.face_down:
                continue
            self.tiles += 1
            self.wrong_by_look += best(face_up(tile.belief))[0] != format_tile(true)
            wrong = hand.face(i) != format_tile(true)
            self.wrong_by_rules += wrong
            self.sure_and_wrong += wrong and hand.sure(i)


def counted(hands: int, share: float) -> Count:
    count = Count()
    for seed in range(hands):
        count.add("hongkong" if seed % 2 else "hangzhou", seed, share)
    return count


def test_rules_mend_what_single_looks_get_wrong() -> None:
    count = counted(6, 0.2)
    assert count.wrong_by_look > 20
    assert count.wrong_by_rules < 0.75 * count.wrong_by_look
    assert count.sure_and_wrong == 0


if __name__ == "__main__":
    for share in (0.08, 0.2):
        found = counted(int(sys.argv[1]) if len(sys.argv) > 1 else 40, share)
        sys.stdout.write(
            f"{share:.0%} doubtful: {found.tiles} tiles, wrong by the look alone "
            f"{found.wrong_by_look}, with the rules {found.wrong_by_rules}, "
            f"of those taken for sure {found.sure_and_wrong}\n"
        )
