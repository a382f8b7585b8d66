/**
 * Payloads from the broker to typed messages.
 *
 * Unknown fields are dropped and missing ones get the schema's defaults, so that a page and a
 * daemon of neighbouring versions still understand each other; a payload of another shape or of a
 * newer schema raises {@link PayloadError} and is shown as a problem, never guessed at.
 */

import {
  SCHEMA_VERSION,
  type Alternative,
  type CallView,
  type EventView,
  type Health,
  type IssueView,
  type MeldView,
  type PatternView,
  type PaymentView,
  type Phase,
  type Question,
  type Questions,
  type Response as TableResponse,
  type SeatView,
  type SettlementView,
  type TableState,
  type TileView,
  type WinView,
} from "./messages";

export class PayloadError extends Error {}

type Fields = Readonly<Record<string, unknown>>;

function fields(value: unknown, where: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new PayloadError(`${where} is not an object`);
  }
  return value as Fields;
}

const text = (value: unknown, otherwise = ""): string => (typeof value === "string" ? value : otherwise);
const number = (value: unknown, otherwise = 0): number =>
  typeof value === "number" && Number.isFinite(value) ? value : otherwise;
const flag = (value: unknown, otherwise = false): boolean => (typeof value === "boolean" ? value : otherwise);
const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);
const numberOrNull = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) ? value : null;

function list<T>(value: unknown, item: (entry: unknown) => T): readonly T[] {
  return Array.isArray(value) ? value.map(item) : [];
}

function counters(value: unknown): Readonly<Record<string, number>> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([key, count]) => [key, number(count)]));
}

function versioned(value: unknown, where: string): Fields {
  const f = fields(value, where);
  if (number(f["schema_version"], SCHEMA_VERSION) > SCHEMA_VERSION) {
    throw new PayloadError(`${where} has schema ${String(f["schema_version"])}, this page knows ${SCHEMA_VERSION}`);
  }
  return f;
}

function tile(value: unknown): TileView {
  const f = fields(value, "tile");
  return {
    tile: text(f["tile"], "?"),
    certain: flag(f["certain"], true),
    called: flag(f["called"]),
    ref: text(f["ref"]),
  };
}

function meld(value: unknown): MeldView {
  const f = fields(value, "meld");
  return { kind: text(f["kind"]), tiles: list(f["tiles"], tile), from_seat: numberOrNull(f["from_seat"]) };
}

function seat(value: unknown): SeatView {
  const f = fields(value, "seat");
  return {
    seat: number(f["seat"]),
    name: text(f["name"]),
    wind: text(f["wind"]),
    score: number(f["score"]),
    dealer: flag(f["dealer"]),
    hand_count: number(f["hand_count"]),
    hand: list(f["hand"], tile),
    river: list(f["river"], tile),
    melds: list(f["melds"], meld),
    flowers: list(f["flowers"], tile),
    forfeited: flag(f["forfeited"]),
  };
}

function call(value: unknown): CallView {
  const f = fields(value, "call");
  return {
    seat: number(f["seat"]),
    call: text(f["call"]),
    tile: textOrNull(f["tile"]),
    from_seat: numberOrNull(f["from_seat"]),
    t: number(f["t"]),
    text_en: text(f["text_en"]),
    text_zh: text(f["text_zh"]),
  };
}

function issue(value: unknown): IssueView {
  const f = fields(value, "issue");
  return {
    id: text(f["id"]),
    seat: numberOrNull(f["seat"]),
    text_en: text(f["text_en"]),
    text_zh: text(f["text_zh"]),
  };
}

const PHASES: readonly Phase[] = ["idle", "building", "dealing", "playing", "settling", "settled", "fault"];

export function decodeState(value: unknown): TableState {
  const f = versioned(value, "state");
  const last = f["last_discard"];
  return {
    schema_version: SCHEMA_VERSION,
    table: text(f["table"]),
    session: text(f["session"]),
    hand: number(f["hand"]),
    t: number(f["t"]),
    rules: text(f["rules"]),
    rules_en: text(f["rules_en"]),
    rules_zh: text(f["rules_zh"]),
    options: typeof f["options"] === "object" && f["options"] !== null ? (f["options"] as Fields) : {},
    phase: PHASES.find((phase) => phase === f["phase"]) ?? "idle",
    dealer: number(f["dealer"]),
    streak: number(f["streak"], 1),
    round_wind: textOrNull(f["round_wind"]),
    indicator: f["indicator"] ? tile(f["indicator"]) : null,
    wild: list(f["wild"], (entry) => text(entry, "?")),
    wall: numberOrNull(f["wall"]),
    turn: numberOrNull(f["turn"]),
    last_discard: Array.isArray(last) && last.length === 2 ? [number(last[0]), number(last[1])] : null,
    last_call: f["last_call"] ? call(f["last_call"]) : null,
    issues: list(f["issues"], issue),
    seats: list(f["seats"], seat),
    open_questions: number(f["open_questions"]),
    simulated: flag(f["simulated"]),
  };
}

function pattern(value: unknown): PatternView {
  const f = fields(value, "pattern");
  return { id: text(f["id"]), en: text(f["en"]), zh: text(f["zh"]), value: number(f["value"]) };
}

function win(value: unknown): WinView {
  const f = fields(value, "win");
  return {
    seat: number(f["seat"]),
    by: text(f["by"]),
    from_seat: numberOrNull(f["from_seat"]),
    tile: textOrNull(f["tile"]),
    tile_certain: flag(f["tile_certain"], true),
    hand: list(f["hand"], tile),
    melds: list(f["melds"], meld),
    patterns: list(f["patterns"], pattern),
    unit: text(f["unit"]),
    wild_as: list(f["wild_as"], (pair) => {
      const [wild, as] = Array.isArray(pair) ? pair : [];
      return [text(wild, "?"), text(as, "?")] as const;
    }),
  };
}

function payment(value: unknown): PaymentView {
  const f = fields(value, "payment");
  return { payer: number(f["payer"]), receiver: number(f["receiver"]), points: number(f["points"]) };
}

export function decodeSettlement(value: unknown): SettlementView {
  const f = versioned(value, "settlement");
  return {
    schema_version: SCHEMA_VERSION,
    hand_id: text(f["hand_id"]),
    hand: number(f["hand"]),
    t: number(f["t"]),
    // Only an explicit yes is final: a missing field must not make a score look certain.
    final: f["final"] === true,
    drawn: flag(f["drawn"]),
    wins: list(f["wins"], win),
    delta: list(f["delta"], (entry) => number(entry)),
    payments: list(f["payments"], payment),
    totals: list(f["totals"], (entry) => number(entry)),
    lines: list(f["lines"], (entry) => text(entry)),
    error: textOrNull(f["error"]),
    error_text: text(f["error_text"]),
    error_text_zh: text(f["error_text_zh"]),
    next_dealer: numberOrNull(f["next_dealer"]),
    next_streak: numberOrNull(f["next_streak"]),
    next_round_wind: textOrNull(f["next_round_wind"]),
  };
}

function alternative(value: unknown): Alternative {
  const f = fields(value, "alternative");
  return {
    id: text(f["id"]),
    label_en: text(f["label_en"]),
    label_zh: text(f["label_zh"]),
    tile: textOrNull(f["tile"]),
    probability: numberOrNull(f["probability"]),
  };
}

const KINDS: readonly Question["kind"][] = ["tile", "winning_tile", "claimant", "meld", "event", "settlement"];

function question(value: unknown): Question {
  const f = fields(value, "question");
  return {
    id: text(f["id"]),
    kind: KINDS.find((kind) => kind === f["kind"]) ?? "event",
    seat: numberOrNull(f["seat"]),
    ref: text(f["ref"]),
    text_en: text(f["text_en"]),
    text_zh: text(f["text_zh"]),
    alternatives: list(f["alternatives"], alternative),
    free_tile: flag(f["free_tile"]),
    asked_at: number(f["asked_at"]),
    blocks_settlement: flag(f["blocks_settlement"]),
  };
}

export function decodeQuestions(value: unknown): Questions {
  const f = versioned(value, "questions");
  return { schema_version: SCHEMA_VERSION, open: list(f["open"], question) };
}

const LINKS: readonly Health["link"]["state"][] = ["off", "connecting", "up", "lost", "refused", "fault_latched"];

export function decodeHealth(value: unknown): Health {
  const f = versioned(value, "health");
  const link = fields(f["link"] ?? {}, "link");
  return {
    schema_version: SCHEMA_VERSION,
    t: number(f["t"]),
    link: {
      state: LINKS.find((state) => state === link["state"]) ?? "off",
      reason: text(link["reason"]),
      port: text(link["port"]),
      firmware: text(link["firmware"]),
      board: text(link["board"]),
      last_reset: text(link["last_reset"]),
      fault: textOrNull(link["fault"]),
      fault_zh: text(link["fault_zh"]),
      fault_remedy: text(link["fault_remedy"]),
      fault_remedy_zh: text(link["fault_remedy_zh"]),
      table_state: text(link["table_state"], "unknown"),
      round_trip_ms: numberOrNull(link["round_trip_ms"]),
      errors_per_minute: number(link["errors_per_minute"] ?? 0),
      counters: counters(link["counters"]),
      table_counters: counters(link["table_counters"]),
    },
    camera: text(f["camera"], "starting"),
    camera_remedy: text(f["camera_remedy"]),
    camera_frame_age: number(f["camera_frame_age"]),
    camera_counters: counters(f["camera_counters"]),
    sight: text(f["sight"], "blind"),
    detector_ms: numberOrNull(f["detector_ms"]),
    recording: textOrNull(f["recording"]),
    version: text(f["version"]),
    problems: list(f["problems"], (entry) => text(entry)),
  };
}

export function decodeEvent(value: unknown): EventView {
  const f = versioned(value, "event");
  return {
    schema_version: SCHEMA_VERSION,
    n: number(f["n"]),
    t: number(f["t"]),
    event: fields(f["event"] ?? {}, "event"),
    drawn: number(f["drawn"]),
    issues: list(f["issues"], issue),
  };
}

export function decodeResponse(value: unknown): TableResponse {
  const f = fields(value, "response");
  return { id: text(f["id"]), ok: f["ok"] === true, error: text(f["error"]) };
}
