"""What the referee asks: the question, its ranked answers, and what an answer does."""

from __future__ import annotations

from typing import Final

from tablectl.engine.game import finish
from tablectl.messages import Alternative, Question
from tablectl.referee.book import Entry
from tablectl.referee.doubts import Doubt
from tablectl.referee.hand import HandFollower
from tablectl.referee.opened import Opened
from tablectl.referee.texts import WIND_NAMES, issue_text
from tablectl.referee.views import HandView, alternative, order
from tablectl.tiles import name_en, name_zh, parse_tile

DRAWN, PLAY_ON = "drawn", "play_on"
FALSE_WIN, TAKE_BACK = "false_win", "take_back"
YES, NO = "yes", "no"
WHOLE, UNSEEN = "whole", "unseen"
GONE = "gone"
VOID = "void"
"""The hand can't be told from what was seen: nobody pays, and it is dealt again."""
_MOST_FACES = 6


class AnswerError(ValueError):
    """An answer that fits no open question; the message says why."""


def hand_questions(hand: HandFollower, hand_id: str, winds: list[str]) -> list[Question]:
    """Everything that one hand leaves open now."""
    view = HandView(hand)
    out: list[Question] = []
    shown = view.layout.indicator
    deciding = hand.deciding_tiles()
    if shown is not None and not hand.sure(shown) and shown not in deciding:
        deciding.insert(0, shown)
    # One at a time: what is answered often settles the next.
    out += [_which_tile(view, hand_id, tile_id, winds) for tile_id in deciding[:1]]
    for seat in range(hand.kit.seats):
        if hand.wins.apart_unknown(seat):
            out.append(_which_was_drawn(hand, hand_id, seat, winds))
        lying = hand.wins.short_of(seat)
        if lying is not None:
            out.append(_which_is_missing(hand, hand_id, lying, winds))
    if not out:
        out += [_doubt(hand_id, doubt, winds) for doubt in hand.doubts.open()[:1]]
    refused = hand.refused_win
    if refused is not None:
        out.append(_refused_win(hand, hand_id, refused, winds))
    if not out and hand.over:
        settled = hand.settlement()
        if settled is None or settled.error is not None:
            out.append(_unsettled(hand, hand_id))
    return out


_VOID: Final = Alternative(id=VOID, label_en="Void: deal again", label_zh="作廢，重新發牌")
_GONE: Final = Alternative(id=GONE, label_en="There is no tile", label_zh="沒有這張牌")


def wall_not_gone(hand_id: str, left: int) -> Question:
    """START was pressed although tiles can be drawn by the count."""
    return Question(
        id=f"{hand_id}/wall", kind="event", seat=None,
        text_en=f"Is the hand drawn? By my count {left} tiles can still be drawn.",
        text_zh=f"流局嗎？依計數尚有 {left} 張可摸。",
        alternatives=(
            Alternative(id=PLAY_ON, label_en="No, play on", label_zh="否，續打"),
            Alternative(id=DRAWN, label_en="Yes, drawn hand", label_zh="是，流局"),
            _VOID,
        ),
    )  # fmt: skip


def _which_tile(view: HandView, hand_id: str, tile_id: int, winds: list[str]) -> Question:
    ranked = view.hand.alternatives(tile_id)
    ref = view.tile(tile_id).ref
    en, zh = _place(ref, winds)
    first = parse_tile(ranked[0][0])
    seat = view.hand.felt.tiles[tile_id].seat
    return Question(
        id=f"{hand_id}/tile/{tile_id}", kind="tile", seat=seat, ref=ref,
        text_en=f"Which tile is this: {name_en(first)}? ({en})",
        text_zh=f"這張是{name_zh(first)}嗎？（{zh}）",
        alternatives=(*(alternative(face, round(p, 3)) for face, p in ranked), _GONE),
        free_tile=True, blocks_settlement=True,
    )  # fmt: skip


def _place(ref: str, winds: list[str]) -> tuple[str, str]:
    if ref == "i":
        return "the indicator", "翻牌"
    en, zh = WIND_NAMES[winds[int(ref[1])]]
    places = {"r": ("river", "牌河"), "m": ("set", "副露"), "f": ("flowers", "花牌"),
              "h": ("hand", "手牌"), "w": ("winning tile", "胡牌")}  # fmt: skip
    place_en, place_zh = places[ref[0]]
    numbers = [str(int(n) + 1) for n in ref[2:].strip(".").split(".") if n]
    which = f", no. {numbers[-1]}" if numbers else ""
    return f"{en}, {place_en}{which}", f"{zh}家{place_zh}{numbers[-1] if numbers else ''}"


def _which_was_drawn(hand: HandFollower, hand_id: str, seat: int, winds: list[str]) -> Question:
    faces = sorted({hand.face(tile.id) for tile in hand.open_hand(seat)}, key=order)
    en, zh = WIND_NAMES[winds[seat]]
    return Question(
        id=f"{hand_id}/drawn/{seat}", kind="winning_tile", seat=seat,
        text_en=f"{en} laid the hand open: which tile was drawn last?",
        text_zh=f"{zh}家亮牌：最後摸到哪張？",
        alternatives=tuple(alternative(face, None) for face in faces),
        blocks_settlement=True,
    )  # fmt: skip


def _which_is_missing(
    hand: HandFollower, hand_id: str, lying: Opened, winds: list[str]
) -> Question:
    """A hand laid open is not all seen: which tile is missing?"""
    seat, seen = lying.seat, len(lying.tiles)
    en, zh = WIND_NAMES[winds[seat]]
    ranked = hand.wins.missing_faces(lying)[:_MOST_FACES] if lying.extra >= -1 else []
    alternatives = [alternative(face, round(p, 3)) for face, p in ranked]
    none_en, none_zh = "None is missing", "沒有少"
    last = hand.layout.last_discard
    if lying.extra == 0 and last is not None and last[0] != seat:
        giver_en, giver_zh = WIND_NAMES[winds[last[0]]]
        none_en = f"None: won on {giver_en}'s discard"
        none_zh = f"沒有：胡{giver_zh}家打出的牌"
    alternatives.append(Alternative(id=WHOLE, label_en=none_en, label_zh=none_zh))
    return Question(
        id=f"{hand_id}/missing/{seat}", kind="tile", seat=seat,
        text_en=f"I see {seen} tiles of {en}'s hand. Which one is missing?",
        text_zh=f"{zh}家亮牌只見 {seen} 張，少了哪張？",
        alternatives=tuple(alternatives), free_tile=True, blocks_settlement=True,
    )  # fmt: skip


def _doubt(hand_id: str, doubt: Doubt, winds: list[str]) -> Question:
    """Something that may have happened unseen."""
    en, zh = WIND_NAMES[winds[doubt.seat]]
    yes, no = ("Yes", "是"), ("No", "否")
    match doubt.kind:
        case "last":
            text = ("Was it the last tile of the wall?", "那是牌牆最後一張嗎？")
        case "threw":
            text = (f"Did {en} throw a tile that I have not seen?", f"{zh}家打過我沒看到的牌嗎？")
        case "kong":
            text = (f"{en} said Kong: are there four tiles?", f"{zh}家叫槓：是四張嗎？")
        case "flower":
            text = (f"Does one more flower lie in {en}'s row?", f"{zh}家花牌之間還有一張嗎？")
        case "wall":
            text = (
                f"The wall lacks a tile: has {en} one more flower?",
                f"牌牆少一張：{zh}家還有一張花牌嗎？",
            )
        case _:
            text = (f"What is the single tile before {en}?", f"{zh}家面前那張單牌是什麼？")
            yes, no = ("A flower", "花牌"), ("Nothing: leave it out", "不算")
    return Question(
        id=f"{hand_id}/doubt/{doubt.id}", kind="meld", seat=doubt.seat,
        text_en=text[0], text_zh=text[1],
        alternatives=(
            Alternative(id=YES, label_en=yes[0], label_zh=yes[1]),
            Alternative(id=NO, label_en=no[0], label_zh=no[1]),
        ),
        blocks_settlement=True,
    )  # fmt: skip


def _refused_win(hand: HandFollower, hand_id: str, refused: Entry, winds: list[str]) -> Question:
    reasons = [issue_text(name) for name, _ in refused.issues] or [("", "")]
    seat = refused.fact.seat
    unsure = [i for i in refused.fact.all_tiles if not hand.sure(i)]
    hint = f" {len(unsure)} of its tiles are not read surely." if unsure else ""
    unseen: list[Alternative] = []
    if hand.may_have_won_unseen(refused, None):
        unseen.append(
            Alternative(
                id=f"{UNSEEN}/draw", label_en="Own draw: a tile was missed",
                label_zh="自摸，漏看了牌",
            )
        )  # fmt: skip
    for giver in range(hand.kit.seats):
        if hand.may_have_won_unseen(refused, giver):
            en, zh = WIND_NAMES[winds[giver]]
            unseen.append(
                Alternative(
                    id=f"{UNSEEN}/{giver}", label_en=f"{en} threw it: it was missed",
                    label_zh=f"{zh}家打出，漏看了那張",
                )
            )  # fmt: skip
    return Question(
        id=f"{hand_id}/refused/{refused.n}", kind="settlement", seat=seat,
        text_en=f"No valid win: {reasons[0][0]}.{hint} Correct a misread tile, or rule.",
        text_zh=f"此胡不成立：{reasons[0][1]}。請更正誤讀的牌，或裁決。",
        alternatives=(
            *unseen,
            Alternative(id=FALSE_WIN, label_en="A false win: penalty", label_zh="詐胡，罰"),
            Alternative(id=TAKE_BACK, label_en="Taken back: play on", label_zh="收回，續打"),
            _VOID,
        ),
        blocks_settlement=True,
    )  # fmt: skip


def _unsettled(hand: HandFollower, hand_id: str) -> Question:
    """The hand is over, every tile is sure, and yet it can't be settled."""
    state = hand.book.state
    assert state is not None
    ended = finish(state)
    error = None if ended.settlement is None else ended.settlement.error
    reason = issue_text(error)[0] if error else ended.unsettled
    return Question(
        id=f"{hand_id}/unsettled", kind="settlement", seat=None,
        text_en=f"This can't be settled: {reason}. Correct a misread tile, or take the end back.",
        text_zh=f"無法結算：{reason}。請更正誤讀的牌，或收回。",
        alternatives=(
            Alternative(id=TAKE_BACK, label_en="Taken back: play on", label_zh="收回，續打"),
            _VOID,
        ),
        blocks_settlement=True,
    )  # fmt: skip


def answer(hand: HandFollower, question: Question, reply: str, t: float) -> None:
    """Apply an answer to the hand; :data:`VOID` is for the session to do.

    Args:
        reply: id of one of the alternatives, or ``tile:3m`` where any tile may be answered.

    Raises:
        AnswerError: the reply is none of the answers.
    """
    known = {a.id for a in question.alternatives}
    if reply not in known and not (question.free_tile and reply.startswith("tile:")):
        raise AnswerError(f"{reply!r} is no answer to this question; expected one of {known}")
    match question.kind:
        case _ if reply == VOID:
            pass
        case "meld":
            _answer_doubt(hand, question, reply, t)
        case "tile" if "/missing/" in question.id:
            _answer_missing(hand, question.seat or 0, reply, t)
        case "tile" if reply == GONE:
            hand.deny(t, int(question.id.rsplit("/", 1)[1]))
        case "tile":
            hand.confirm(t, int(question.id.rsplit("/", 1)[1]), _tile(reply))
        case "winning_tile":
            _answer_drawn(hand, question.seat or 0, _tile(reply), t)
        case "settlement":
            _answer_settlement(hand, question.seat or 0, reply, t)
        case "event" if reply == DRAWN:
            hand.exhaust(t)
        case _:
            pass


def _answer_doubt(hand: HandFollower, question: Question, reply: str, t: float) -> None:
    doubt = next((d for d in hand.doubts.open() if question.id.endswith(f"/{d.id}")), None)
    if doubt is None:
        raise AnswerError("this question is no longer open")
    if reply == YES:
        hand.doubts.accept(t, doubt)
    else:
        hand.doubts.dismiss(doubt)


def _answer_missing(hand: HandFollower, seat: int, reply: str, t: float) -> None:
    if reply == WHOLE:
        hand.say_whole(t, seat)
    else:
        hand.add_to_hand(t, seat, _tile(reply))


def _answer_drawn(hand: HandFollower, seat: int, face: str, t: float) -> None:
    tile = next((i for i in hand.open_hand(seat) if hand.face(i.id) == face), None)
    if tile is None:
        raise AnswerError(f"{face} is not in the hand laid open")
    hand.choose_winning_tile(t, seat, tile.id)


def _answer_settlement(hand: HandFollower, seat: int, reply: str, t: float) -> None:
    if reply.startswith(UNSEEN):
        giver = reply.rsplit("/", 1)[1]
        hand.assume_won_with(t, seat, None if giver == "draw" else int(giver))
    elif reply == FALSE_WIN:
        hand.rule(t, seat, "false_win")
    elif hand.over:
        hand.undo()
    else:
        hand.take_back_win()


def _tile(reply: str) -> str:
    try:
        face = reply.removeprefix("tile:")
        parse_tile(face)
    except ValueError as error:
        raise AnswerError(str(error)) from None
    return face
