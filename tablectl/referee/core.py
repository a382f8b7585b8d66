"""The referee: inputs of a whole session in, everything that displays and the ledger see out.

A pure, deterministic machine: the same inputs with the same time stamps give the same outputs, so a
recording replays to the same session. It reads no clock and does no I/O.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from firmware_protocol.messages import (
    Button,
    ButtonPressed,
    DiceRolled,
    FaultCleared,
    FaultRaised,
    Stacks,
    TableState,
)
from tablectl.engine import wins
from tablectl.engine.events import Start
from tablectl.messages import (
    CallView,
    EventView,
    IssueView,
    Phase,
    Question,
    Questions,
    Request,
    Response,
    SeatView,
    SettlementView,
)
from tablectl.messages import TableState as TableView
from tablectl.referee import questions
from tablectl.referee.director import Director
from tablectl.referee.hand import HandFollower, Struck, Thresholds
from tablectl.referee.inputs import (
    CommandResult,
    Input,
    Outputs,
    SessionPlan,
    TableCommand,
    Tick,
    renamed,
)
from tablectl.referee.questions import AnswerError
from tablectl.referee.remains import still_lying, without
from tablectl.referee.views import HandView, announce, call_view, issue_views, refs, seat_wind
from tablectl.rules import registry
from tablectl.rules.settlement import Settlement
from tablectl.tiles import TileNotationError, parse_tile
from vision.geometry import Zone
from vision.messages import SeenTile, SightChange, TableReading

_BUTTON_CALLS: Final = {
    Button.HU: "hu", Button.KONG: "kong", Button.PUNG: "pung", Button.CHOW: "chow",
    Button.PASS: "pass",
}  # fmt: skip
_SHOWN_ISSUES: Final = 4


@dataclass(frozen=True)
class NextHand:
    """Who deals the next hand and what the rules carry into it."""

    dealer: int
    streak: int
    round_wind: str | None
    session: dict[str, object]
    over: bool = False


class Referee:
    """Follows one session."""

    def __init__(self, plan: SessionPlan) -> None:
        """Begin a session before its first hand.

        Raises:
            CaseError: the plan names an unknown rule set or option.
        """
        self.plan = plan
        self.rules = registry.get(plan.rules)
        self.options = self.rules.options(plan.options)
        self.kit = self.rules.equipment(self.options)
        self.geometry = plan.table_geometry()
        self.names = plan.seat_names(self.kit.seats)
        self.hand: HandFollower | None = None
        self.number = 0
        self.totals = [0] * self.kit.seats
        self.next = NextHand(plan.first_dealer, 1, "E" if self.rules.play.round_winds else None, {})
        self.director = Director(program=self.kit.total)
        self._clear_felt = True
        self._lying: tuple[SeenTile, ...] = ()
        self._remains: tuple[SeenTile, ...] = ()
        self._call: CallView | None = None
        self._issues: list[IssueView] = []
        self._asked: list[Question] = []
        self._pressed_early: float | None = None
        self._settled: SettlementView | None = None
        self._paid: tuple[int, ...] | None = None
        self._sent = Outputs()
        self._fault: str | None = None
        self._events = 0

    # --- inputs ---

    def feed(self, t: float, message: Input) -> Outputs:
        """Take one input at time ``t`` (seconds, never falling) and say what follows from it."""
        out = Outputs()
        match message:
            case TableReading():
                self._on_reading(t, message)
                self._catch_up_with_start(t)
            case ButtonPressed():
                self._on_button(t, message, out)
            case Tick():
                told = self.hand is not None and self.hand.on_tick(t)
                if not told and not self._wall_question_due(t):
                    return out
            case DiceRolled():
                self.director.on_dice(message)
            case CommandResult():
                out.commands += self.director.on_result(message)
            case TableState():
                self.director.on_table(message)
            case FaultRaised():
                self._fault = message.code.name if message.latched else self._fault
            case FaultCleared():
                self._fault = None
            case Request():
                out.responses.append(self._on_request(t, message, out))
            case SightChange() | Stacks():
                return out
        self._begin_when_dealt(t)
        self._publish(t, out)
        return out

    @property
    def open_questions(self) -> tuple[Question, ...]:
        """Questions that wait for an answer, as last published."""
        return tuple(self._asked)

    def start_output(self) -> Outputs:
        """What displays see before anything has happened."""
        out = Outputs()
        self._publish(0.0, out)
        return out

    def _on_reading(self, t: float, reading: TableReading) -> None:
        felt = (Zone.RIVER, Zone.EXPOSED, Zone.RACK)
        self._clear_felt = not any(tile.zone in felt for tile in reading.tiles)
        self._lying = reading.tiles
        self._remains = still_lying(self._remains, reading.tiles)
        if self._remains:
            tiles = without(reading.tiles, self._remains)
            reading = reading.model_copy(update={"tiles": tiles})
        if self.hand is not None:
            self.hand.on_reading(t, reading)

    def _on_button(self, t: float, event: ButtonPressed, out: Outputs) -> None:
        if event.button is Button.START:
            self._on_start(t, out)
        elif self.hand is not None and not self.hand.over and event.seat < self.kit.seats:
            kind = _BUTTON_CALLS[event.button]
            self.hand.on_call(t, event.seat, kind)  # type: ignore[arg-type]
            if kind != "pass":
                self._call = announce(event.seat, kind, self._winds(), t=t)

    def _on_start(self, t: float, out: Outputs) -> None:
        hand = self.hand
        if hand is not None and not hand.over:
            if not hand.wall_gone:
                self._pressed_early = t if self._pressed_early is None else self._pressed_early
                return
            hand.exhaust(t)
        if self._close_hand(t, out):
            out.commands += self.director.press_start(self.next.dealer, self._clear_felt)

    def _catch_up_with_start(self, t: float) -> None:
        """The last discard was seen after START: the hand is drawn as the press said.

        The machine waits for another press: by now somebody may have pressed again.
        """
        pressed = self._pressed_early
        if pressed is None or t - pressed > 2 * self.plan.patience_s:
            return
        if self.hand is not None and not self.hand.over and self.hand.wall_gone:
            self._pressed_early = None
            self.hand.exhaust(t)

    def _wall_question_due(self, t: float) -> bool:
        """START was pressed with tiles left in the wall, and no late discard has explained it."""
        pressed = self._pressed_early
        running = self.hand is not None and not self.hand.over
        return running and pressed is not None and t - pressed >= self.plan.patience_s

    def _close_hand(self, t: float, out: Outputs) -> bool:
        """End the running hand if nothing in it is open. Returns whether none is running now."""
        if self.hand is None:
            return True
        self._settle(t)
        if self._settled is None or not self._settled.final:
            return False
        self.hand.end(t)
        following = self.hand.finished.next
        assert following is not None
        self.next = NextHand(
            following.dealer, following.streak, following.round_wind, dict(following.session),
            following.over,
        )  # fmt: skip
        out.events += self._flush_events(t)
        self.director.hand_over()
        self.hand, self._remains = None, self._lying
        return True

    def _begin_when_dealt(self, t: float) -> None:
        if not self.director.ready_to_deal:
            return
        self.director.dealt()
        self.number += 1
        start = Start(
            rules=self.rules.id, options=dict(self.plan.options), dealer=self.next.dealer,
            streak=self.next.streak, round_wind=self.next.round_wind,
            first_dealer=self.plan.first_dealer, dice=[list(d) for d in self.director.dice],
            session=self.next.session,
        )  # fmt: skip
        thresholds = Thresholds(self.plan.sure, self.plan.patience_s)
        self.hand = HandFollower(t, start, self.geometry, thresholds)
        self._settled, self._paid, self._call = None, None, None
        self._issues, self._pressed_early = [], None
        self._events = 0

    # --- requests of the operator ---

    def _on_request(self, t: float, request: Request, out: Outputs) -> Response:
        try:
            self._do(t, request, out)
        except (AnswerError, TileNotationError, KeyError, ValueError) as error:
            text = f"missing argument {error}" if isinstance(error, KeyError) else str(error)
            return Response(id=request.id, ok=False, error=text)
        return Response(id=request.id, ok=True)

    def _do(self, t: float, request: Request, out: Outputs) -> None:
        args = request.args
        match request.verb:
            case "answer":
                self._answer(t, str(args["question"]), str(args["answer"]), out)
            case "correct":
                self._correct(t, str(args["ref"]), str(args["tile"]))
            case "undo":
                if self.hand is None or not self.hand.undo():
                    raise AnswerError("there is nothing to undo in this hand")
            case "next_hand":
                self._on_start(t, out)
            case "ruling":
                hand = self._running()
                hand.rule(t, int(str(args["seat"])), str(args["kind"]))  # type: ignore[arg-type]
            case "seat":
                self.names = renamed(self.names, args)
            case _:
                raise AnswerError(f"{request.verb}: not a request that the referee answers")

    def _running(self) -> HandFollower:
        if self.hand is None:
            raise AnswerError("no hand is running")
        return self.hand

    def _answer(self, t: float, question_id: str, reply: str, out: Outputs) -> None:
        question = next((q for q in self._asked if q.id == question_id), None)
        if question is None:
            raise AnswerError("this question is no longer open")
        hand = self._running()
        questions.answer(hand, question, reply, t)
        if question.kind == "event":
            self._pressed_early = None
        if reply == questions.VOID:
            self._void(t, hand, out)

    def _void(self, t: float, hand: HandFollower, out: Outputs) -> None:
        """Nobody pays for the running hand; the same dealer deals again."""
        hand.void()
        self._unpay()
        self._settled = HandView(hand).void(self._hand_id, self.number, t, tuple(self.totals))
        out.events += self._flush_events(t)
        self.director.hand_over()
        self.hand, self._remains = None, self._lying

    def _correct(self, t: float, ref: str, face: str) -> None:
        parse_tile(face)
        hand = self._running()
        tile = next((r.tile for r in refs(hand.layout) if r.text == ref), None)
        if tile is None:
            raise AnswerError(f"there is no tile {ref!r} on the table now")
        hand.confirm(t, tile, face)

    # --- outputs ---

    def _publish(self, t: float, out: Outputs) -> None:
        out.events += self._flush_events(t)
        if self.hand is not None:
            out.commands += self._lower_walls()
            self._settle(t)
        if self._settled != self._sent.settlement and self._settled is not None:
            out.settlement = self._sent.settlement = self._settled
        asked = Questions(open=tuple(self._open_questions(t)))
        if asked != self._sent.questions:
            self._asked = list(asked.open)
            out.questions = self._sent.questions = asked
        state = self._state(t)
        if self._sent.state is None or state != self._sent.state.model_copy(update={"t": t}):
            out.state = self._sent.state = state

    def _lower_walls(self) -> list[TableCommand]:
        assert self.hand is not None
        if self.director.stage == "playing" and self.hand.layout.last_discard is not None:
            return self.director.first_discard()
        return []

    def _flush_events(self, t: float) -> list[EventView]:
        if self.hand is None:
            return []
        views: list[EventView] = []
        for entry in self.hand.take_fresh():
            if isinstance(entry, Struck):
                views.append(EventView(n=entry.n, t=t, event={}))
                continue
            call = call_view(entry, self.hand, self._winds())
            self._call = call or self._call
            views.append(
                EventView(
                    n=entry.n, t=t, event=entry.event.to_json(), drawn=entry.fact.drawn,
                    issues=issue_views(entry),
                )
            )  # fmt: skip
        if views:  # what is corrected is broken no more
            found = [issue for entry in self.hand.book.entries for issue in issue_views(entry)]
            self._issues = found[-_SHOWN_ISSUES:]
        return views

    def _settle(self, t: float) -> None:
        """Bring the settlement up to date; totals follow final settlements, corrected ones too."""
        hand = self.hand
        settlement = None if hand is None else hand.settlement()
        if hand is None or settlement is None:
            self._unpay()
            self._settled = None if hand is not None else self._settled
            return
        blocking = any(q.blocks_settlement for q in self._hand_questions())
        final = settlement.error is None and not blocking and not hand.waits
        self._unpay()
        if final:
            self._paid = settlement.delta
            for seat, points in enumerate(settlement.delta or ()):
                self.totals[seat] += points
        view = self._settlement_view(t, hand, settlement, final=final)
        before = self._settled
        if before is None or view != before.model_copy(update={"t": t}):
            self._settled = view

    def _settlement_view(
        self, t: float, hand: HandFollower, settlement: Settlement, *, final: bool
    ) -> SettlementView:
        """The settlement told with the players' names, and who deals next."""
        told = wins.told_to(hand.finished, lambda seat: self.names[seat]) or settlement
        view = HandView(hand).settlement(
            self._hand_id, self.number, t, told, tuple(self.totals), final=final
        )
        following = hand.finished.next
        if following is None:
            return view
        return view.model_copy(
            update={
                "next_dealer": following.dealer, "next_streak": following.streak,
                "next_round_wind": following.round_wind,
            }
        )  # fmt: skip

    def _unpay(self) -> None:
        for seat, points in enumerate(self._paid or ()):
            self.totals[seat] -= points
        self._paid = None

    def _hand_questions(self) -> list[Question]:
        if self.hand is None:
            return []
        return questions.hand_questions(self.hand, self._hand_id, self._winds())

    def _open_questions(self, t: float) -> list[Question]:
        asked = {q.id: q.asked_at for q in self._asked}
        found = self._hand_questions()
        if self._wall_question_due(t):
            assert self.hand is not None
            assert self.hand.book.step is not None
            found.append(questions.wall_not_gone(self._hand_id, self.hand.book.step.wall))
        return [q.model_copy(update={"asked_at": asked.get(q.id, t)}) for q in found]

    @property
    def _hand_id(self) -> str:
        return f"{self.plan.session}/{self.number}"

    def _winds(self) -> list[str]:
        dealer = self.next.dealer
        if self.hand is not None:
            dealer = HandView(self.hand).start.dealer
        return [seat_wind(s, dealer, self.kit.seats) for s in range(self.kit.seats)]

    def _phase(self) -> Phase:
        if self._fault is not None:
            return "fault"
        if self.hand is None:
            return "building" if self.director.stage != "idle" else self._idle_phase()
        if self.hand.over:
            return "settled" if self._settled is not None and self._settled.final else "settling"
        if any(self.hand.called_hu(s) for s in range(self.kit.seats)):
            return "settling"
        return "playing" if self.hand.layout.last_discard is not None else "dealing"

    def _idle_phase(self) -> Phase:
        return "idle" if self.number == 0 else "settled"

    def _state(self, t: float) -> TableView:
        base = TableView(
            table=self.plan.table, session=self.plan.session, hand=self.number, t=t,
            rules=self.rules.id, rules_en=self.rules.name, rules_zh=self.rules.name_zh,
            options=dict(self.plan.options), phase=self._phase(), dealer=self.next.dealer,
            streak=self.next.streak, round_wind=self.next.round_wind, last_call=self._call,
            issues=tuple(self._issues), seats=self._bare_seats(),
            open_questions=len(self._asked), simulated=self.plan.simulated,
        )  # fmt: skip
        if self.hand is None:
            return base
        view = HandView(self.hand)
        start, step = view.start, self.hand.book.step
        assert step is not None
        shown = view.layout.indicator
        return base.model_copy(
            update={
                "dealer": start.dealer, "streak": start.streak, "round_wind": start.round_wind,
                "indicator": None if shown is None else view.tile(shown), "wild": view.wild(),
                "wall": step.wall, "turn": None if self.hand.over else step.turn,
                "last_discard": view.last_discard,
                "seats": tuple(
                    view.seat(s, self.names[s], self.totals[s]) for s in range(self.kit.seats)
                ),
            }
        )  # fmt: skip

    def _bare_seats(self) -> tuple[SeatView, ...]:
        winds = self._winds()
        return tuple(
            SeatView(
                seat=s, name=self.names[s], wind=winds[s], score=self.totals[s],
                dealer=s == self.next.dealer,
            )
            for s in range(self.kit.seats)
        )  # fmt: skip
