import { describe, expect, it } from "vitest";
import { backoff } from "../src/connection";
import {
  isWild,
  lastDelta,
  layMeld,
  placeOf,
  riverRows,
  ROW,
  rowWidth,
  shownSettlement,
  sinceStart,
  splitRiver,
  transfers,
} from "../src/derive";
import type { MeldView, TileView } from "../src/messages";
import { loadSettings } from "../src/settings";
import { clock, percent, plain, signed, windName } from "../src/text";
import { FACES, lookalikes, tileName } from "../src/tiles";
import { live, message, play, settlement, state } from "./samples";

const tile = (name: string, called = false): TileView => ({ tile: name, certain: true, called, ref: "" });
const meld = (kind: string, names: string, from: number | null): MeldView => ({
  kind,
  tiles: names.split(" ").map((name) => tile(name.replace("*", ""), name.includes("*"))),
  from_seat: from,
});
const faces = (tiles: readonly TileView[]): string => tiles.map((t) => t.tile).join(" ");

describe("where things lie", () => {
  it("puts my seat at the bottom and the next seat at the right", () => {
    expect([0, 1, 2, 3].map((seat) => placeOf(seat, 0))).toEqual([0, 1, 2, 3]);
    expect([0, 1, 2, 3].map((seat) => placeOf(seat, 2))).toEqual([2, 3, 0, 1]);
  });

  it("turns the claimed tile at the place that points to its giver", () => {
    const chow = (from: number) => faces(layMeld(meld("chow", "4p* 5p 6p", from), 2).row);
    expect(chow(1)).toBe("4p 5p 6p"); // from the seat before: left
    expect(chow(0)).toBe("5p 4p 6p"); // from across: middle
    expect(chow(3)).toBe("5p 6p 4p"); // from the seat after: right
  });

  it("lays the fourth tile of an added kong on the turned one", () => {
    const { row, stacked } = layMeld(meld("added_kong", "2p 2p* 2p 2p", 1), 2);
    expect(row).toHaveLength(3);
    expect(stacked?.tile).toBe("2p");
  });

  it("leaves a closed kong as it came", () => {
    expect(faces(layMeld(meld("closed_kong", "back 3m 3m back", null), 0).row)).toBe("back 3m 3m back");
  });

  it("breaks rivers in sixes and lets the fourth row take the rest", () => {
    const river = Array.from({ length: 27 }, () => tile("1m"));
    expect(splitRiver(river).map((row) => row.length)).toEqual([6, 6, 6, 9]);
    expect(splitRiver([])).toEqual([]);
    expect(riverRows(state())).toBe(3);
    expect(riverRows(state({ seats: [{ seat: 0, river: river.slice(0, 19) }] }))).toBe(4);
  });

  it("measures a row so that it can be drawn smaller instead of cut", () => {
    const [seat] = state().seats;
    expect(seat && rowWidth(seat)).toBeCloseTo(13 * ROW.hand + ROW.gap);
  });
});

describe("scores", () => {
  it("finds who pays whom where the net leaves one answer", () => {
    expect(transfers([-8, -8, 32, -16])).toEqual([
      { from: 0, to: 2, amount: 8 },
      { from: 1, to: 2, amount: 8 },
      { from: 3, to: 2, amount: 16 },
    ]);
    expect(transfers([4, 6, -10])).toEqual([
      { from: 2, to: 0, amount: 4 },
      { from: 2, to: 1, amount: 6 },
    ]);
    expect(transfers([5, 5, -4, -6])).toBeNull();
    expect(transfers([0, 0, 0, 0])).toEqual([]);
  });

  it("takes the mean as the start, so that chips count too", () => {
    expect(sinceStart(state())).toEqual([24, -8, 12, -28]);
    const chips = [124, 92, 112, 72].map((score, seat) => ({ seat, score }));
    expect(sinceStart(state({ seats: chips }))).toEqual([24, -8, 12, -28]);
    expect(sinceStart(state({ seats: [{ seat: 0, score: 1 }, { seat: 1, score: 2 }] }))).toBeNull();
  });

  it("shows the settlement of this hand only, and the change of the last one", () => {
    const paid = play([message("settlement", settlement())], live({ phase: "settled" }));
    expect(shownSettlement(paid)?.hand).toBe(3);
    const next = play([message("state", state({ hand: 4 }))], paid);
    expect(shownSettlement(next)).toBeNull();
    expect(lastDelta(next)?.values).toEqual([-8, -8, 32, -16]);
    expect(lastDelta(play([message("state", state({ hand: 1 }))], paid))).toBeNull();
    const unsure = play([message("settlement", settlement({ final: false }))], live());
    expect(lastDelta(unsure)?.final).toBe(false);
  });
});

describe("words", () => {
  it("names every tile in both languages, each differently", () => {
    const names = FACES.map((face) => tileName(face));
    expect(FACES).toHaveLength(42);
    expect(new Set(names.map((name) => name.en)).size).toBe(42);
    expect(new Set(names.map((name) => name.zh)).size).toBe(42);
    expect(tileName("5p")).toEqual({ en: "5 Circles", zh: "五筒" });
    expect(tileName("1s").en).toBe("1 Bamboo");
    expect(tileName("7z")).toEqual({ en: "Red dragon", zh: "中" });
    expect(tileName("9x").en).toBe("9x");
  });

  it("ranks look-alikes among existing tiles only", () => {
    expect(lookalikes("1m")).toEqual(["2m", "3m"]);
    expect(lookalikes("5z")).toEqual(["6z", "7z"]);
    for (const face of FACES) for (const other of lookalikes(face)) expect(FACES).toContain(other);
  });

  it("writes numbers with their sign", () => {
    expect([signed(8), signed(-8), signed(0)]).toEqual(["+8", "−8", "0"]);
    expect([plain(1.5), plain(-3)]).toEqual(["1.5", "−3"]);
    expect([percent(0.714), percent(0.004), percent(0)]).toEqual(["71 %", "<1 %", "0 %"]);
    expect(clock(new Date(2026, 10, 30, 7, 4, 9).getTime())).toBe("07:04:09");
  });

  it("knows winds by letter, tile and word", () => {
    expect(["S", "2z", "South"].map((wind) => windName(wind).zh)).toEqual(["南", "南", "南"]);
  });

  it("marks the wild kinds", () => {
    expect(isWild("6p", state())).toBe(true);
    expect(isWild("5p", state())).toBe(false);
  });
});

describe("patience", () => {
  it("waits longer each time, up to a ceiling, never in step with the others", () => {
    const waits = [0, 1, 2, 3, 4, 5, 50].map((attempt) => backoff(attempt, 0.5));
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
    expect(backoff(3, 0)).toBeLessThan(backoff(3, 1));
  });

  it("survives rubbish in the browser's storage", () => {
    expect(loadSettings({ getItem: () => "{oops" })).toEqual({ mySeat: 0, language: "both" });
    expect(loadSettings({ getItem: () => '{"mySeat": 9, "language": "zh"}' })).toEqual({ mySeat: 0, language: "zh" });
  });
});
