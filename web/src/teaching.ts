/** What the teaching page asks of the daemon, and the sentences that it makes of the answers. */

import type { Desk } from "./desk";
import { FACE_ROWS, tileName, type Bilingual } from "./tiles";

export interface LaidTile {
  /** Left, top, right, bottom in pixels of the picture. */
  readonly box: readonly [number, number, number, number];
  /** What the recogniser takes it for as it comes, taught nothing. */
  readonly seen: string;
  readonly confidence: number;
  /** What its place in the layout makes it; null where there is no layout. */
  readonly wanted: string | null;
  readonly agrees: boolean;
}

export interface Contradiction {
  /** Counted from 1, from the top and from the left. */
  readonly row: number;
  readonly tile: number;
  readonly wanted: string;
  readonly seen: string;
}

export interface Taught {
  /** Date, ISO 8601. */
  readonly on: string;
  readonly tiles: number;
  readonly tile_px: number;
  readonly file: string;
}

export interface Look {
  readonly width: number;
  readonly height: number;
  /** Base64. */
  readonly jpeg: string;
  readonly tile_px: number | null;
  /** Why what is seen is no layout; empty where it is one. */
  readonly problem: string;
  readonly tiles: readonly LaidTile[];
  readonly contradictions: readonly Contradiction[];
  readonly taught: Taught | null;
}

export interface Forgotten {
  readonly taught: null;
  /** What a person should do besides; mostly empty. */
  readonly note: string;
}

export interface TeachingWish {
  /** Teach it although the recogniser is sure of other tiles. */
  readonly trust_layout: boolean;
  /** Keep what was taught before: the layout lies in another place or light. */
  readonly add: boolean;
}

export class Teacher {
  constructor(private readonly desk: Desk) {}

  attempt(): Promise<Look> {
    return this.desk.post("trial", {}) as Promise<Look>;
  }

  save(wish: TeachingWish): Promise<Look> {
    return this.desk.post("save", wish) as Promise<Look>;
  }

  forget(): Promise<Forgotten> {
    return this.desk.post("forget", {}) as Promise<Forgotten>;
  }
}

export interface LayoutRow extends Bilingual {
  readonly tiles: readonly string[];
}

/** Tile widths shown round the layout. */
const MARGIN = 2;

const ROW_NAMES: readonly Bilingual[] = [
  { en: "1 to 9 Characters", zh: "一萬至九萬" },
  { en: "1 to 9 Circles", zh: "一筒至九筒" },
  { en: "1 to 9 Bamboos", zh: "一索至九索" },
  { en: "East South West North White Green Red", zh: "東南西北白發中" },
  { en: "Spring Summer Autumn Winter Plum Orchid Chrysanthemum Bamboo", zh: "春夏秋冬梅蘭菊竹" },
];

/** The rows to lay, from the top; mirrors `vision/teaching.py`. */
export const LAYOUT: readonly LayoutRow[] = ROW_NAMES.map((name, row) => ({
  ...name,
  tiles: FACE_ROWS[row] ?? [],
}));

/** Whether this may be taught. */
export function teachable(look: Look | null, trusted: boolean): boolean {
  return look !== null && look.problem === "" && (trusted || look.contradictions.length === 0);
}

/** Tiles that the recogniser reads otherwise than the layout says: what teaching is for. */
export function misread(look: Look): readonly LaidTile[] {
  return look.tiles.filter((tile) => !tile.agrees);
}

/** Those of them that are no contradictions: each face is there once. */
export function unsurelyMisread(look: Look): readonly LaidTile[] {
  const sure = new Set(look.contradictions.map((wrong) => wrong.wanted));
  return misread(look).filter((tile) => tile.wanted !== null && !sure.has(tile.wanted));
}

/** The part of the picture that is shown, as x, y, width, height: the layout, else all of it. */
export function closeUp(look: Look): readonly [number, number, number, number] {
  const margin = MARGIN * (look.tile_px ?? 0);
  if (margin === 0 || look.tiles.length === 0) return [0, 0, look.width, look.height];
  const boxes = look.tiles.map((tile) => tile.box);
  const left = Math.max(0, Math.min(...boxes.map((box) => box[0])) - margin);
  const top = Math.max(0, Math.min(...boxes.map((box) => box[1])) - margin);
  const right = Math.min(look.width, Math.max(...boxes.map((box) => box[2])) + margin);
  const bottom = Math.min(look.height, Math.max(...boxes.map((box) => box[3])) + margin);
  return [left, top, right - left, bottom - top];
}

export function contradictionText({ row, tile, wanted, seen }: Contradiction): Bilingual {
  const [should, looks] = [tileName(wanted), tileName(seen)];
  return {
    en: `Row ${row}, tile ${tile} should be ${should.en} and looks like ${looks.en}.`,
    zh: `第 ${row} 排第 ${tile} 張應為${should.zh}，看來像${looks.zh}。`,
  };
}

/** What is said of one tile of the picture. */
export function laidText({ wanted, seen, agrees }: LaidTile): Bilingual {
  const [name, looks] = [tileName(wanted ?? seen), tileName(seen)];
  if (agrees) return name;
  return { en: `${name.en}, read as ${looks.en}`, zh: `${name.zh}，讀成${looks.zh}` };
}

export function taughtText(taught: Taught | null): Bilingual {
  if (taught === null) {
    return { en: "No set has been taught: tiles are read as the recogniser comes.", zh: "尚未教認牌：以原有辨識讀牌。" };
  }
  const px = Math.round(taught.tile_px);
  return {
    en: `Taught on ${taught.on}: ${taught.tiles} tiles, ${px} px wide.`,
    zh: `${taught.on} 已教認：${taught.tiles} 種牌，牌寬 ${px} 像素。`,
  };
}
