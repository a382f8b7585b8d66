"""Made-up views of a table, in the daemon's own message types."""

from __future__ import annotations

from collections.abc import Sequence

from firmware_protocol import messages as wire
from firmware_protocol.faults import FAULTS, fault_line, fault_line_zh
from tablectl.messages import (
    Alternative,
    CallView,
    Health,
    IssueView,
    LinkHealth,
    MeldView,
    PatternView,
    Question,
    Questions,
    SeatView,
    SettlementView,
    TableState,
    TileView,
    WinView,
)
from tablectl.tiles import format_tile, parse_tiles

TABLE = "t1"
NAMES = ("Mei 梅", "Jonas", "Old Chen 老陳", "Aiko")


def tiles(text: str, ref: str = "", unsure: Sequence[int] = ()) -> tuple[TileView, ...]:
    """Tiles in notation, named ``<ref>.<n>`` for corrections."""
    return tuple(
        TileView(tile=format_tile(tile), certain=n not in unsure, ref=f"{ref}.{n}" if ref else "")
        for n, tile in enumerate(parse_tiles(text))
    )


def meld(
    kind: str, text: str, ref: str, called: int | None = None, from_seat: int | None = None
) -> MeldView:
    """An exposed set with its claimed tile marked."""
    laid = tuple(
        tile.model_copy(update={"called": n == called}) for n, tile in enumerate(tiles(text, ref))
    )
    return MeldView(kind=kind, tiles=laid, from_seat=from_seat)


def closed_kong(face: str, ref: str) -> MeldView:
    """Outer tiles face down, as it lies on many tables."""
    names = ("back", face, face, "back")
    return MeldView(
        kind="closed_kong",
        tiles=tuple(TileView(tile=name, ref=f"{ref}.{n}") for n, name in enumerate(names)),
    )


def seats(scores: Sequence[int] = (24, -8, 12, -28)) -> tuple[SeatView, ...]:
    """Four players in the middle of a hand."""
    return (
        SeatView(
            seat=0, name=NAMES[0], wind="S", score=scores[0], hand_count=10,
            river=tiles("9m1z4p2s7z6m8p3z1s5p2m", "r0"),
            melds=(meld("pung", "777s", "m0.0", called=1, from_seat=2),),
            flowers=tiles("2f", "f0"),
        ),
        SeatView(
            seat=1, name=NAMES[1], wind="W", score=scores[1], hand_count=13,
            river=tiles("2z9p1m4z8s3p6z9s5m7m4s1p", "r1", unsure=(9,)),
            flowers=tiles("3f7f", "f1"),
        ),
        SeatView(
            seat=2, name=NAMES[2], wind="N", score=scores[2], hand_count=7,
            river=tiles("3z1p9s2p6s4m8m5z7p", "r2"),
            melds=(
                closed_kong("3m", "m2.0"),
                meld("chow", "456p", "m2.1", called=0, from_seat=1),
            ),
        ),
        SeatView(
            seat=3, name=NAMES[3], wind="E", score=scores[3], dealer=True, hand_count=8,
            river=tiles("1z9m6p2s8s3s7z4z9p5s", "r3"),
            melds=(
                meld("added_kong", "2222p", "m3.0", called=2, from_seat=2),
                meld("chow", "789m", "m3.1", called=2, from_seat=2),
            ),
            flowers=tiles("1f8f", "f3"),
        ),
    )  # fmt: skip


def playing(**changes: object) -> TableState:
    """A Hangzhou hand under way: 5p is turned up, 6p is the fortune tile, seat 1 to play."""
    state = TableState(
        table=TABLE, session="2026-11-30-evening", hand=7, t=431.0, rules="hangzhou",
        rules_en="Hangzhou", rules_zh="杭州麻將", phase="playing", dealer=3, streak=2,
        round_wind="E", indicator=TileView(tile="5p", ref="i"), wild=("6p",), wall=41, turn=1,
        last_discard=(0, 10), seats=seats(),
        last_call=CallView(seat=3, call="chow", tile="9m", from_seat=2, t=300.0),
        simulated=True,
    )  # fmt: skip
    return TableState.model_validate(state.model_dump() | changes)


def pung_called() -> TableState:
    """South calls pung of 5 Circles from East."""
    return playing(
        t=440.0,
        last_call=CallView(seat=0, call="pung", tile="5p", from_seat=3, t=440.0).model_dump(),
        turn=0,
    )


def swap_discard() -> TableState:
    """A discard that the rules don't allow."""
    issue = IssueView(
        id="swap_discard",
        seat=0,
        text_en="may not throw the tile just called",
        text_zh="不可打出剛要的牌",
    )
    return playing(t=445.0, issues=(issue.model_dump(),))


_WINNING_HAND = "234m55z66p"


def win_view() -> WinView:
    """Seat 2's hand as laid open, won by own draw."""
    return WinView(
        seat=2, by="self_draw", from_seat=None, tile="5z", hand=tiles(_WINNING_HAND, "h2"),
        melds=(closed_kong("3m", "m2.0"), meld("chow", "456p", "m2.1", called=0, from_seat=1)),
        patterns=(
            PatternView(id="wild_eye", en="Wild eye", zh="爆頭", value=2),
            PatternView(id="fortune_float", en="Fortune float", zh="財飄", value=2),
            PatternView(id="kong_bloom", en="Kong bloom", zh="槓開", value=2),
        ),
        unit="times", wild_as=(("6p", "5z"), ("6p", "6p")),
    )  # fmt: skip


def settlement(final: bool = True) -> SettlementView:
    """Eight times the base, paid by all three."""
    return SettlementView(
        hand_id="2026-11-30-evening/7", hand=7, t=520.0, final=final, wins=(win_view(),),
        delta=(-8, -8, 32, -16), totals=(16, -16, 44, -44),
        lines=(
            "base 1 × wild eye 2 × fortune float 2 × kong bloom 2 = 8",
            "Mei pays 8",
            "Jonas pays 8",
            "Aiko pays 8 × dealer's second hand 2 = 16",
            "Old Chen receives 8 + 8 + 16 = 32",
        ),
        next_dealer=2, next_streak=1, next_round_wind="E",
    )  # fmt: skip


def settled(scores: Sequence[int] = (16, -16, 44, -44)) -> TableState:
    """The same hand, won and laid open."""
    laid = [seat.model_dump() for seat in seats(scores)]
    laid[2]["hand"] = [tile.model_dump() for tile in tiles(_WINNING_HAND + "5z", "h2")]
    return playing(
        t=520.0, phase="settled", turn=None, seats=laid, wall=28, last_discard=None,
        last_call=CallView(seat=2, call="hu", tile="5z", t=518.0).model_dump(),
    )  # fmt: skip


def settling() -> TableState:
    """Won, with one tile of the hand unsure."""
    return TableState.model_validate(
        settled((24, -8, 12, -28)).model_dump() | {"phase": "settling", "open_questions": 1}
    )


def winning_tile_question() -> Questions:
    """Which dragon is it? The settlement waits."""
    return Questions(
        open=(
            Question(
                id="q17", kind="winning_tile", seat=2, ref="w2",
                text_en="Which tile did Old Chen win with?", text_zh="老陳胡的是哪張牌？",
                alternatives=(
                    Alternative(id="tile:5z", label_en="White dragon", label_zh="白", tile="5z",
                                probability=0.71),
                    Alternative(id="tile:6p", label_en="6 Circles", label_zh="六筒", tile="6p",
                                probability=0.22),
                    Alternative(id="tile:5p", label_en="5 Circles", label_zh="五筒", tile="5p",
                                probability=0.04),
                ),
                free_tile=True, asked_at=519.0, blocks_settlement=True,
            ),
        )
    )  # fmt: skip


def river_question() -> Questions:
    """A discard that the detector could not tell, in the middle of play."""
    return Questions(
        open=(
            Question(
                id="q9", kind="tile", seat=1, ref="r1.9", text_en="What did Jonas discard?",
                text_zh="Jonas 打的是哪張牌？",
                alternatives=(
                    Alternative(id="tile:7m", label_en="7 Characters", label_zh="七萬", tile="7m",
                                probability=0.55),
                    Alternative(id="tile:9m", label_en="9 Characters", label_zh="九萬", tile="9m",
                                probability=0.41),
                ),
                free_tile=True,
            ),
            Question(
                id="q10", kind="claimant", seat=None, text_en="Who took the 5 Circles?",
                text_zh="誰拿了五筒？",
                alternatives=(
                    Alternative(id="seat:0", label_en="Mei", label_zh="梅", probability=0.6),
                    Alternative(id="seat:2", label_en="Old Chen", label_zh="老陳", probability=0.4),
                ),
            ),
        )
    )  # fmt: skip


def hongkong_win() -> tuple[TableState, SettlementView]:
    """A discard win without wild tiles, many patterns, a crowded table."""
    state = TableState.model_validate(
        settled((-24, 96, -40, -32)).model_dump()
        | {
            "rules": "hongkong", "rules_en": "Hong Kong", "rules_zh": "香港麻將", "hand": 12,
            "indicator": None, "wild": (), "streak": 1, "round_wind": "S",
            "last_call": CallView(seat=1, call="hu", tile="7z", from_seat=0, t=518.0).model_dump(),
        }
    )  # fmt: skip
    names = (
        ("all_pung", "All pungs", "對對胡", 3), ("half_flush", "Half flush", "混一色", 3),
        ("dragon_pung", "Dragon pung: Red", "箭刻：中", 1),
        ("seat_wind", "Seat wind", "門風", 1), ("round_wind", "Round wind", "圈風", 1),
        ("no_flowers", "No flowers", "無花", 1), ("last_tile", "Last tile", "河底撈魚", 1),
    )  # fmt: skip
    win = WinView(
        seat=1, by="discard", from_seat=0, tile="7z", hand=tiles("222s77z33z", "h1")[:7],
        melds=(meld("pung", "111z", "m1.0", 2, 2), meld("kong", "9999s", "m1.1", 0, 0)),
        patterns=tuple(PatternView(id=i, en=en, zh=zh, value=v) for i, en, zh, v in names),
        unit="faan",
    )  # fmt: skip
    view = SettlementView(
        hand_id="2026-11-30-evening/12", hand=12, t=520.0, final=True, wins=(win,),
        delta=(-64, 128, -32, -32), totals=(-24, 96, -40, -32),
        lines=(
            "all pungs 3 + half flush 3 + dragon pung 1 + seat wind 1 + round wind 1 "
            "+ no flowers 1 + last tile 1 = 11 faan, limit 10",
            "10 faan: base 32",
            "Mei, who discarded, pays 2 × 32 = 64; Old Chen and Aiko pay 32 each",
        ),
        next_dealer=3, next_streak=2, next_round_wind="S",
    )  # fmt: skip
    return state, view


def health(**changes: object) -> Health:
    """All well."""
    good = Health(
        t=431.0, camera="fine", camera_frame_age=0.1, sight="clear", detector_ms=74.0,
        recording="sessions/2026-11-30-evening.mcap", version="0.1.0",
        camera_counters={"frames": 4310, "dropped": 12, "restarts": 0},
        link=LinkHealth(state="up", port="/dev/serial/by-id/usb-tablectl-0001", firmware="1.0.0",
                        table_state="ready", board="0x51a71e", last_reset="external",
                        round_trip_ms=4.2, errors_per_minute=1,
                        counters={"retransmissions": 3, "bad_frames": 2, "reconnects": 0},
                        table_counters={"frames_received": 8123, "naks_sent": 2}),
    )  # fmt: skip
    return Health.model_validate(good.model_dump() | changes)


STUCK = wire.TableState(
    wire.TableMode.FAULT, wire.Motion.NONE, wire.Place.LOW, wire.Place.UNKNOWN,
    wire.TileProgram.TILES_136, walls_complete=True, fault=wire.FaultCode.LIFT_NOT_ARRIVED,
    fault_side=wire.Side.SIDE_2, fault_cause=wire.FaultCause.NOT_SEEN_IN_TIME,
    e_stop_open=False, cover_open=False, uptime_ms=0,
)  # fmt: skip
"""A lift tray has not arrived."""


def ailing() -> Health:
    """The tray is stuck and the camera repeats its last frame."""
    return health(
        camera="stale", camera_frame_age=7.4,
        camera_remedy="Check the camera's cable; the picture has not changed for 7 s.",
        problems=("The camera repeats its last frame: play is held until it sees again.",),
        link=LinkHealth(
            state="fault_latched", port="/dev/serial/by-id/usb-tablectl-0001", firmware="1.0.0",
            table_state="fault", fault=fault_line(STUCK), fault_zh=fault_line_zh(STUCK),
            fault_remedy=FAULTS[STUCK.fault].remedy,
            fault_remedy_zh=FAULTS[STUCK.fault].remedy_zh,
        ).model_dump(),
    )  # fmt: skip
