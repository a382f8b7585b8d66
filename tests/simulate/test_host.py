"""The simulated host answers by what lies at the place that a question is about."""

from __future__ import annotations

from tablectl.engine.events import Win
from tablectl.engine.selfplay import play_hand
from tablectl.messages import Question
from tablectl.referee.inputs import SessionPlan
from tablectl.simulate.host import misread, reply
from tablectl.tiles import Tile, format_tile
from tests.referee.drive import Drive
from tests.referee.eye import certain
from tests.referee.test_whole_hands import as_played, deal_of


def one_off(tile: Tile) -> dict[str, float]:
    """Reads every circle as its neighbour, surely."""
    return {format_tile(Tile(9 + (tile - 8) % 9)): 0.999} if 9 <= tile < 18 else certain(tile)


def halfway() -> Drive:
    drive = Drive(SessionPlan(session="s", table="t", rules="hongkong"), one_off, 3)
    drive.deal()
    events = as_played(play_hand("hongkong", {}, 3, deal=deal_of(drive)))
    drive.play(events[:30])
    return drive


def ask(tile: int) -> Question:
    return Question(
        id=f"s/1/tile/{tile}", kind="tile", seat=0, text_en="", text_zh="", alternatives=()
    )


def test_every_tile_is_named_by_what_lies_there_whatever_the_display_says() -> None:
    drive = halfway()
    hand = drive.referee.hand
    assert hand is not None
    shown = sorted(hand.layout.explained & hand.felt.present)
    assert len(shown) > 10
    for i in shown:
        tile = hand.felt.tiles[i]
        true = drive.felt.face_at(tile.x, tile.y)
        assert true is not None
        wish = reply(ask(i), drive.referee, drive.felt.look())
        assert wish == (
            "answer",
            {"question": f"s/1/tile/{i}", "answer": f"tile:{format_tile(true)}"},
        )


def test_misread_tiles_are_corrected_until_the_display_is_right() -> None:
    drive = halfway()
    hand = drive.referee.hand
    assert hand is not None
    for _ in range(40):
        wish = misread(hand, drive.felt.look())
        if wish is None:
            break
        out = drive.request(wish[0], **wish[1])
        assert out.responses[0].ok, out.responses
    for i in hand.layout.explained & hand.felt.present:
        tile = hand.felt.tiles[i]
        true = drive.felt.face_at(tile.x, tile.y)
        assert true is None or hand.face(i) == format_tile(true)


def test_nobody_says_that_a_hand_is_drawn_that_was_won() -> None:
    drive = halfway()
    question = Question(
        id="s/1/wall", kind="event", seat=None, text_en="", text_zh="", alternatives=()
    )
    assert reply(question, drive.referee, drive.felt.look()) == (
        "answer", {"question": "s/1/wall", "answer": "drawn"},
    )  # fmt: skip
    win = next(e for e in play_hand("hongkong", {}, 3) if isinstance(e, Win))
    drive.felt.won_from[win.seat] = win.source
    wish = reply(question, drive.referee, drive.felt.look())
    assert wish is not None
    assert wish[1]["answer"] == "play_on"
