// Generated from tablectl/messages.py by scripts/generate_ts_types.py; do not edit.

export const SCHEMA_VERSION = 1;

export type Phase =
  | "idle"
  | "building"
  | "dealing"
  | "playing"
  | "settling"
  | "settled"
  | "fault";

export type Verb =
  | "answer"
  | "correct"
  | "undo"
  | "table"
  | "seat"
  | "session_start"
  | "session_end"
  | "next_hand"
  | "ruling";

/**
 * A tile as shown: `tile` in notation, `back` or `?`.
 *
 * `certain` is false where the reading was not sure and nobody has confirmed it; `called`
 * marks the claimed tile of a meld; `ref` names the tile for corrections (`r1.4`: river of
 * seat 1, fifth tile; `m2.0.1`: seat 2's first meld, second tile; `f3.0`: first flower;
 * `i`: the indicator; `h0.3`: a hand laid open, `w0`: its winning tile).
 */
export interface TileView {
  readonly tile: string;
  readonly certain: boolean;
  readonly called: boolean;
  readonly ref: string;
}

/**
 * An exposed set; `from_seat` is who gave the claimed tile.
 */
export interface MeldView {
  readonly kind: string;
  readonly tiles: readonly TileView[];
  readonly from_seat: number | null;
}

/**
 * What lies before one player, and the score so far.
 */
export interface SeatView {
  readonly seat: number;
  readonly name: string;
  readonly wind: string;
  readonly score: number;
  readonly dealer: boolean;
  readonly hand_count: number;
  readonly hand: readonly TileView[];
  readonly river: readonly TileView[];
  readonly melds: readonly MeldView[];
  readonly flowers: readonly TileView[];
  readonly forfeited: boolean;
}

/**
 * The newest call or event worth announcing: `pung` by seat 2, of `5p`, from seat 1.
 */
export interface CallView {
  readonly seat: number;
  readonly call: string;
  readonly tile: string | null;
  readonly from_seat: number | null;
  readonly t: number;
  readonly text_en: string;
  readonly text_zh: string;
}

/**
 * Something that the rules don't allow, as the engine noticed it.
 */
export interface IssueView {
  readonly id: string;
  readonly seat: number | null;
  readonly text_en: string;
  readonly text_zh: string;
}

/**
 * Retained on `state`: the whole table, enough to draw the page from nothing.
 */
export interface TableState {
  readonly schema_version: number;
  readonly table: string;
  readonly session: string;
  readonly hand: number;
  readonly t: number;
  readonly rules: string;
  readonly rules_en: string;
  readonly rules_zh: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly phase: Phase;
  readonly dealer: number;
  readonly streak: number;
  readonly round_wind: string | null;
  readonly indicator: TileView | null;
  readonly wild: readonly string[];
  readonly wall: number | null;
  readonly turn: number | null;
  readonly last_discard: readonly [number, number] | null;
  readonly last_call: CallView | null;
  readonly issues: readonly IssueView[];
  readonly seats: readonly SeatView[];
  readonly open_questions: number;
  readonly simulated: boolean;
}

/**
 * One scored pattern in the rule set's own unit.
 */
export interface PatternView {
  readonly id: string;
  readonly en: string;
  readonly zh: string;
  readonly value: number;
}

/**
 * One winner of a settled hand; `tile` is the winning tile, `hand` without it.
 *
 * `tile_certain` is false where the winning tile was not read for sure and nobody has confirmed
 * it.
 */
export interface WinView {
  readonly seat: number;
  readonly by: string;
  readonly from_seat: number | null;
  readonly tile: string | null;
  readonly tile_certain: boolean;
  readonly hand: readonly TileView[];
  readonly melds: readonly MeldView[];
  readonly patterns: readonly PatternView[];
  readonly unit: string;
  readonly wild_as: readonly (readonly [string, string])[];
}

/**
 * What one seat pays another in the end, all that is owed between them together.
 */
export interface PaymentView {
  readonly payer: number;
  readonly receiver: number;
  readonly points: number;
}

/**
 * Retained on `settlement`: who pays whom, and why.
 *
 * `final` is true only when every tile in it is certain or confirmed; until then the page shows
 * it as provisional beside the open question.
 */
export interface SettlementView {
  readonly schema_version: number;
  readonly hand_id: string;
  readonly hand: number;
  readonly t: number;
  readonly final: boolean;
  readonly drawn: boolean;
  readonly wins: readonly WinView[];
  readonly delta: readonly number[];
  readonly payments: readonly PaymentView[];
  readonly totals: readonly number[];
  readonly lines: readonly string[];
  readonly error: string | null;
  readonly error_text: string;
  readonly error_text_zh: string;
  readonly next_dealer: number | null;
  readonly next_streak: number | null;
  readonly next_round_wind: string | null;
}

/**
 * One possible answer, the most likely first; `id` is what the answer request carries.
 */
export interface Alternative {
  readonly id: string;
  readonly label_en: string;
  readonly label_zh: string;
  readonly tile: string | null;
  readonly probability: number | null;
}

/**
 * What the referee can't decide alone.
 */
export interface Question {
  readonly id: string;
  readonly kind: "tile" | "winning_tile" | "claimant" | "meld" | "event" | "settlement";
  readonly seat: number | null;
  readonly ref: string;
  readonly text_en: string;
  readonly text_zh: string;
  readonly alternatives: readonly Alternative[];
  readonly free_tile: boolean;
  readonly asked_at: number;
  readonly blocks_settlement: boolean;
}

/**
 * Retained on `questions`: every open question, the oldest first.
 */
export interface Questions {
  readonly schema_version: number;
  readonly open: readonly Question[];
}

/**
 * The serial link as shown on the service page.
 *
 * `reason` says why it is not up. `fault` names the table's fault with its side and sign;
 * texts in two languages. `counters` are of the host's end, `table_counters` of the table's.
 */
export interface LinkHealth {
  readonly state: "off" | "connecting" | "up" | "lost" | "refused" | "fault_latched";
  readonly reason: string;
  readonly port: string;
  readonly firmware: string;
  readonly board: string;
  readonly last_reset: string;
  readonly fault: string | null;
  readonly fault_zh: string;
  readonly fault_remedy: string;
  readonly fault_remedy_zh: string;
  readonly table_state: string;
  readonly round_trip_ms: number | null;
  readonly errors_per_minute: number;
  readonly counters: Readonly<Record<string, number>>;
  readonly table_counters: Readonly<Record<string, number>>;
}

/**
 * Retained on `health`: is everything that the score rests on all right?
 */
export interface Health {
  readonly schema_version: number;
  readonly t: number;
  readonly link: LinkHealth;
  readonly camera: string;
  readonly camera_remedy: string;
  readonly camera_frame_age: number;
  readonly camera_counters: Readonly<Record<string, number>>;
  readonly sight: string;
  readonly detector_ms: number | null;
  readonly recording: string | null;
  readonly version: string;
  readonly problems: readonly string[];
}

/**
 * Not retained, on `event`: each game event as in a hand log, with its issues.
 *
 * A number that was told before replaces the event of that number (a correction); an empty
 * `event` says that the hand log ends before `n` now (something was struck out). `drawn` are
 * tiles that have left the wall before it beyond those counted, as a person has said.
 */
export interface EventView {
  readonly schema_version: number;
  readonly n: number;
  readonly t: number;
  readonly event: Readonly<Record<string, unknown>>;
  readonly drawn: number;
  readonly issues: readonly IssueView[];
}

/**
 * On `request/<verb>` by the operator. `id` is echoed in the response.
 */
export interface Request {
  readonly id: string;
  readonly verb: Verb;
  readonly args?: Readonly<Record<string, unknown>>;
}

/**
 * On `response/<verb>`.
 */
export interface Response {
  readonly id: string;
  readonly ok: boolean;
  readonly error: string;
}

/** Payload by topic name, the part after `tablectl/<table>/`; for `request` and
 * `response` the verb follows. */
export interface Payloads {
  /** online or offline (last will); retained */
  readonly "availability": "online" | "offline";
  /** the whole table; retained */
  readonly "state": TableState;
  /** the newest settlement; retained */
  readonly "settlement": SettlementView;
  /** open questions to the operator; retained */
  readonly "questions": Questions;
  /** link, camera, recording; retained */
  readonly "health": Health;
  /** game events as they happen */
  readonly "event": EventView;
  /** what the operator asks for; one verb a topic */
  readonly "request": Request;
  /** what became of a request */
  readonly "response": Response;
}
