/** Messages as the daemon sends them, with only what a test is about spelt out. */

import { decodeSettlement, decodeState } from "../src/decode";
import type { SettlementView, TableState } from "../src/messages";
import { EMPTY, reduce, type Action, type Model } from "../src/store";

export const SEATS = ["Mei", "Jonas", "Chen", "Aiko"].map((name, seat) => ({
  seat,
  name,
  wind: "ESWN"[seat],
  score: [24, -8, 12, -28][seat],
  hand_count: 13,
  dealer: seat === 0,
}));

export function state(change: Record<string, unknown> = {}): TableState {
  return decodeState({
    schema_version: 1,
    table: "t1",
    session: "evening",
    hand: 3,
    t: 100,
    rules: "hangzhou",
    phase: "playing",
    wall: 50,
    turn: 1,
    indicator: { tile: "5p", ref: "i" },
    wild: ["6p"],
    seats: SEATS,
    ...change,
  });
}

export function settlement(change: Record<string, unknown> = {}): SettlementView {
  return decodeSettlement({
    schema_version: 1,
    hand_id: "evening/3",
    hand: 3,
    t: 120,
    final: true,
    delta: [-8, -8, 32, -16],
    totals: [16, -16, 44, -44],
    lines: ["base 1 × wild eye 2 = 2"],
    ...change,
  });
}

export const message = (topic: string, payload: unknown): Action => ({
  type: "message",
  topic,
  payload: typeof payload === "string" ? payload : JSON.stringify(payload),
});

export function play(actions: readonly (Action | readonly [Action, number])[], from: Model = EMPTY): Model {
  return actions.reduce<Model>((model, entry) => {
    const [action, now] = Array.isArray(entry) ? (entry as [Action, number]) : [entry as Action, 1_000];
    return reduce(model, action, now);
  }, from);
}

export const CONNECT: readonly Action[] = [
  { type: "connecting", table: "t1" },
  { type: "connected" },
  message("availability", "online"),
];

export function live(change: Record<string, unknown> = {}): Model {
  return play([...CONNECT, message("state", state(change))]);
}
