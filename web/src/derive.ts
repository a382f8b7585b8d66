/** Views of the model: pure functions from messages to what is drawn. */

import type { Health, MeldView, Question, SeatView, SettlementView, TableState, TileView } from "./messages";
import type { Model } from "./store";

/** Where a seat sits on the screen: 0 bottom, 1 right, 2 top, 3 left. */
export type Place = 0 | 1 | 2 | 3;

/** Seats run counter-clockwise; three-player tables leave the fourth edge empty. */
export function placeOf(seat: number, mySeat: number): Place {
  return (((seat - mySeat) % 4) + 4) % 4 as Place;
}

export function seatName(state: TableState | null, seat: number | null): string {
  if (seat === null) return "";
  return state?.seats.find((s) => s.seat === seat)?.name || `Seat ${seat + 1}`;
}

/**
 * The tiles of a meld from left to right as they lie before their owner, the claimed tile turned
 * at the place that points to its giver: left for the seat before, middle for the seat across,
 * right for the seat after. The fourth tile of an added kong lies on the turned one.
 */
export function layMeld(meld: MeldView, owner: number): { row: readonly TileView[]; stacked: TileView | null } {
  const called = meld.tiles.find((tile) => tile.called);
  if (!called || meld.from_seat === null) return { row: meld.tiles, stacked: null };
  const others = meld.tiles.filter((tile) => tile !== called);
  const stacked = meld.kind === "added_kong" && others.length === 3 ? (others.pop() ?? null) : null;
  const from = placeOf(meld.from_seat, owner);
  const at = from === 3 ? 0 : from === 1 ? others.length : 1;
  return { row: [...others.slice(0, at), called, ...others.slice(at)], stacked };
}

/** Tile widths of what lies before a seat, so that a long row is drawn smaller, never cut. */
export const ROW = { hand: 0.64, open: 0.8, meld: 0.84, flower: 0.62, gap: 0.35, turned: 1.36 } as const;

export function rowWidth(seat: SeatView): number {
  const open = seat.hand.length > 0;
  const hand = open ? seat.hand.length * ROW.open : seat.hand_count * ROW.hand;
  const melds = seat.melds.reduce((sum, meld) => {
    const { row } = layMeld(meld, seat.seat);
    const turned = row.some((tile) => tile.called && meld.from_seat !== null) ? ROW.turned - 1 : 0;
    return sum + (row.length + turned) * ROW.meld + ROW.gap;
  }, 0);
  const flowers = seat.flowers.length > 0 ? seat.flowers.length * ROW.flower + ROW.gap : 0;
  return hand + melds + flowers + ROW.gap;
}

export const RIVER_COLUMNS = 6;

/** Rows that the longest river needs, at least three so that the table keeps its size. */
export function riverRows(state: TableState): 3 | 4 {
  return state.seats.some((seat) => seat.river.length > 3 * RIVER_COLUMNS) ? 4 : 3;
}

/** Rows of a river: six a row, the fourth row takes all that is left. */
export function splitRiver(river: readonly TileView[]): readonly (readonly TileView[])[] {
  const rows: (readonly TileView[])[] = [];
  for (let row = 0; row * RIVER_COLUMNS < river.length && row < 4; row += 1) {
    const end = row === 3 ? river.length : (row + 1) * RIVER_COLUMNS;
    rows.push(river.slice(row * RIVER_COLUMNS, end));
  }
  return rows;
}

/** The settlement of the hand on the table, from the win until the next hand is dealt. */
export function shownSettlement(model: Model): SettlementView | null {
  const { state, settlement } = model;
  if (!state || !settlement || settlement.hand !== state.hand) return null;
  return state.phase === "playing" || state.phase === "dealing" ? null : settlement;
}

/** Change of the last settled hand per seat; null where none belongs to this session. */
export function lastDelta(model: Model): { values: readonly number[]; final: boolean } | null {
  const { state, settlement } = model;
  if (!state || !settlement || settlement.error !== null || settlement.delta.length === 0) return null;
  const age = state.hand - settlement.hand;
  if (age < 0 || age > 1) return null;
  return { values: settlement.delta, final: settlement.final };
}

/**
 * Points won or lost since the session began. Payments sum to zero, so the mean of the scores is
 * what each seat began with (0, or chips dealt out alike); null where that does not come out even.
 */
export function sinceStart(state: TableState): readonly number[] | null {
  const count = state.seats.length;
  if (count === 0) return null;
  const start = state.seats.reduce((sum, seat) => sum + seat.score, 0) / count;
  return Number.isInteger(start) ? state.seats.map((seat) => seat.score - start) : null;
}

/** Places 1.. by score; equal scores share a place. */
export function ranks(state: TableState): readonly number[] {
  return state.seats.map((seat) => 1 + state.seats.filter((other) => other.score > seat.score).length);
}

export interface Transfer {
  readonly from: number;
  readonly to: number;
  readonly amount: number;
}

/** Who pays whom as the daemon tells it; an older one tells only the net changes. */
export function payments(settlement: SettlementView): readonly Transfer[] | null {
  if (settlement.payments.length === 0) return transfers(settlement.delta);
  return settlement.payments.map(({ payer, receiver, points }) => ({ from: payer, to: receiver, amount: points }));
}

/**
 * Who pays whom, where the net changes leave one answer: a single receiver or a single payer.
 * Null for several on both sides; then only the net changes are certain.
 */
export function transfers(delta: readonly number[]): readonly Transfer[] | null {
  const gains = delta.flatMap((amount, seat) => (amount > 0 ? [{ seat, amount }] : []));
  const losses = delta.flatMap((amount, seat) => (amount < 0 ? [{ seat, amount: -amount }] : []));
  const [gain] = gains;
  const [loss] = losses;
  if (!gain || !loss) return [];
  if (gains.length === 1) return losses.map((l) => ({ from: l.seat, to: gain.seat, amount: l.amount }));
  if (losses.length === 1) return gains.map((g) => ({ from: loss.seat, to: g.seat, amount: g.amount }));
  return null;
}

/** Whether a tile of the table is one of the wild kinds. */
export function isWild(tile: string, state: TableState | null): boolean {
  return state?.wild.includes(tile) ?? false;
}

export function questionFor(ref: string, open: readonly Question[]): Question | null {
  return ref === "" ? null : (open.find((question) => question.ref === ref) ?? null);
}

/** Every tile of the state by its correction reference. */
export function findTile(model: Model, ref: string): TileView | null {
  const { state, settlement } = model;
  const tiles = [
    ...(state?.indicator ? [state.indicator] : []),
    ...(state?.seats ?? []).flatMap((seat) => [
      ...seat.river,
      ...seat.hand,
      ...seat.flowers,
      ...seat.melds.flatMap((meld) => meld.tiles),
    ]),
    ...(settlement?.wins ?? []).flatMap((win) => [...win.hand, ...win.melds.flatMap((meld) => meld.tiles)]),
  ];
  return tiles.find((tile) => tile.ref === ref) ?? null;
}

export type Severity = "good" | "warn" | "bad";

export function linkSeverity(health: Health): Severity {
  switch (health.link.state) {
    case "up":
      return health.link.fault ? "bad" : "good";
    case "connecting":
    case "off":
      return "warn";
    case "lost":
    case "refused":
    case "fault_latched":
      return "bad";
  }
}

const GOOD_CAMERA: ReadonlySet<string> = new Set(["fine", "ok"]);
const STARTING_CAMERA: ReadonlySet<string> = new Set(["starting", "off", "none"]);
/** Reading goes on, with less certainty. */
const POOR_CAMERA: ReadonlySet<string> = new Set(["dim", "bright", "tinted", "flicker"]);

export function cameraSeverity(health: Health): Severity {
  if (GOOD_CAMERA.has(health.camera)) return "good";
  return STARTING_CAMERA.has(health.camera) || POOR_CAMERA.has(health.camera) ? "warn" : "bad";
}
