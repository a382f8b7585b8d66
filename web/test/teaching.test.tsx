import type { VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { describe, expect, it } from "vitest";
import { LAYOUT, closeUp, contradictionText, laidText, misread, taughtText, teachable, unsurelyMisread, type LaidTile, type Look } from "../src/teaching";
import { Misread, Picture, RowsToLay, TaughtNow, Verdict } from "../src/ui/Teach";

const words = (node: VNode): string => renderToString(node).replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");

function laid(wanted: string | null, seen: string, left = 0): LaidTile {
  return { box: [left, 10, left + 30, 50], seen, confidence: 0.9, wanted, agrees: wanted === null || wanted === seen };
}

function look(change: Partial<Look> = {}): Look {
  return {
    width: 1120, height: 1000, jpeg: "AAAA", tile_px: 29.4, problem: "",
    tiles: [laid("1m", "1m"), laid("2f", "6f", 40)], contradictions: [], taught: null, ...change,
  };
}

const wrong = { row: 2, tile: 3, wanted: "3p", seen: "6p" };
const taught = { on: "2026-12-01", tiles: 42, tile_px: 28.7, file: "/var/lib/tablectl/tiles.npz" };

describe("the layout", () => {
  it("has the rows that tablectl teach wants", () => {
    expect(LAYOUT.map((row) => row.tiles.length)).toEqual([9, 9, 9, 7, 8]);
    expect(new Set(LAYOUT.flatMap((row) => row.tiles)).size).toBe(42);
    const text = words(<RowsToLay />);
    expect(text).toContain("1 to 9 Characters");
    expect(text).toContain("春夏秋冬梅蘭菊竹");
    expect(renderToString(<RowsToLay />).match(/data-tile=/g)).toHaveLength(42);
  });
});

describe("what may be taught", () => {
  it("is a layout without contradictions, or one that is trusted", () => {
    expect(teachable(null, true)).toBe(false);
    expect(teachable(look(), false)).toBe(true);
    expect(teachable(look({ contradictions: [wrong] }), false)).toBe(false);
    expect(teachable(look({ contradictions: [wrong] }), true)).toBe(true);
    expect(teachable(look({ problem: "rows of 9, 8 tiles" }), true)).toBe(false);
  });
});

describe("sentences", () => {
  it("name the place, the tile and what it looks like in both languages", () => {
    expect(contradictionText(wrong)).toEqual({
      en: "Row 2, tile 3 should be 3 Circles and looks like 6 Circles.",
      zh: "第 2 排第 3 張應為三筒，看來像六筒。",
    });
    expect(laidText(laid("2f", "6f"))).toEqual({ en: "Summer, read as Orchid", zh: "夏，讀成蘭" });
    expect(laidText(laid("back", "back")).en).toBe("face down");
    expect(laidText(laid(null, "5z")).en).toBe("White dragon");
    expect(misread(look()).map((tile) => tile.wanted)).toEqual(["2f"]);
  });

  it("tell since when a set is taught, or that none is", () => {
    expect(taughtText(taught).en).toBe("Taught on 2026-12-01: 42 tiles, 29 px wide.");
    expect(words(<TaughtNow look={look()} />)).toContain("No set has been taught");
    expect(renderToString(<TaughtNow look={look({ taught })} />)).toContain('data-taught="true"');
  });
});

describe("the picture", () => {
  it("names every tile and tells agreeing from differing ones by more than colour", () => {
    const html = renderToString(<Picture look={look()} />);
    expect(html).toContain('aria-label="2 tiles, 1 read as others');
    expect(html).toMatch(/class="laid agrees"[^>]*data-tile="1m"/);
    expect(html).toMatch(/class="laid differs"[^>]*data-tile="2f"/);
    expect(html).toContain("<title>Summer, read as Orchid 夏，讀成蘭</title>");
  });

  it("comes close to the layout, and shows everything where there is none", () => {
    const [x, y, width, height] = closeUp(look({ tile_px: 10, tiles: [laid("1m", "1m", 100), laid("2m", "2m", 1080)] }));
    expect([x, y, width, height]).toEqual([80, 0, 1040, 70]);
    expect(closeUp(look({ tile_px: null, problem: "no" }))).toEqual([0, 0, 1120, 1000]);
  });

  it("shows what is seen where it is no layout", () => {
    const html = renderToString(<Picture look={look({ problem: "no", tiles: [laid(null, "9s")] })} />);
    expect(html).toMatch(/class="laid "[^>]*data-tile="9s"/);
  });
});

describe("the verdict", () => {
  it("alerts with the sentence of what is wrong", () => {
    const html = renderToString(<Verdict look={look({ problem: "row 4: a tile is missing" })} />);
    expect(html).toContain('role="alert"');
    expect(html).toContain("row 4: a tile is missing");
  });

  it("lists contradictions, and apart from them what else teaching puts right", () => {
    const both = look({ contradictions: [wrong], tiles: [laid("3p", "6p"), laid("2f", "6f", 40)] });
    const text = words(<Verdict look={both} />);
    expect(text).toContain("2 tiles found, 29.4 px wide.");
    expect(text).toContain("Row 2, tile 3 should be 3 Circles");
    expect(text).not.toContain("Summer");
    expect(unsurelyMisread(both).map((tile) => tile.wanted)).toEqual(["2f"]);
    expect(words(<Misread look={both} />)).toContain("Summer, read as Orchid");
    expect(renderToString(<Misread look={look({ tiles: [laid("1m", "1m")] })} />)).toBe("");
  });
});
