/** The tile vocabulary as shown: notation to names; mirrors `tablectl/tiles.py`. */

export interface Bilingual {
  readonly en: string;
  readonly zh: string;
}

const DIGITS_ZH = "一二三四五六七八九";
const SUITS: Readonly<Record<string, Bilingual>> = {
  m: { en: "Character", zh: "萬" },
  p: { en: "Circle", zh: "筒" },
  s: { en: "Bamboo", zh: "索" },
};
const HONOURS: readonly Bilingual[] = [
  { en: "East wind", zh: "東" },
  { en: "South wind", zh: "南" },
  { en: "West wind", zh: "西" },
  { en: "North wind", zh: "北" },
  { en: "White dragon", zh: "白" },
  { en: "Green dragon", zh: "發" },
  { en: "Red dragon", zh: "中" },
];
const FLOWERS: readonly Bilingual[] = [
  { en: "Spring", zh: "春" },
  { en: "Summer", zh: "夏" },
  { en: "Autumn", zh: "秋" },
  { en: "Winter", zh: "冬" },
  { en: "Plum", zh: "梅" },
  { en: "Orchid", zh: "蘭" },
  { en: "Chrysanthemum", zh: "菊" },
  { en: "Bamboo flower", zh: "竹" },
];

/** Rows of the tile picker: every face, one suit a row. */
export const FACE_ROWS: readonly (readonly string[])[] = [
  ["m", 9],
  ["p", 9],
  ["s", 9],
  ["z", 7],
  ["f", 8],
].map(([suit, count]) => Array.from({ length: Number(count) }, (_, i) => `${i + 1}${suit}`));

export const FACES: readonly string[] = FACE_ROWS.flat();

/** Names of a tile in notation; unknown text is named by itself, never hidden. */
export function tileName(tile: string): Bilingual {
  if (tile === "back") return { en: "face down", zh: "背" };
  if (tile === "?" || tile === "") return { en: "unread tile", zh: "未辨認" };
  const number = Number(tile[0]);
  const suit = tile[1] ?? "";
  const suited = SUITS[suit];
  if (suited && number >= 1 && number <= 9) {
    const plural = number === 1 ? "" : "s";
    return { en: `${number} ${suited.en}${plural}`, zh: `${DIGITS_ZH[number - 1]}${suited.zh}` };
  }
  const named = suit === "z" ? HONOURS[number - 1] : suit === "f" ? FLOWERS[number - 1] : undefined;
  return named ?? { en: tile, zh: tile };
}

/** Both names on one line, for tooltips and screen readers. */
export function tileLabel(tile: string): string {
  const { en, zh } = tileName(tile);
  return en === zh ? en : `${en} ${zh}`;
}

/**
 * Faces that a camera takes for this one most easily: near numbers of the suit, honours of the
 * kind. Used to rank the picker where the referee has sent no ranking of its own.
 */
export function lookalikes(tile: string): readonly string[] {
  const number = Number(tile[0]);
  const suit = tile[1] ?? "";
  if (SUITS[suit]) {
    return [1, -1, 2, -2]
      .map((step) => number + step)
      .filter((n) => n >= 1 && n <= 9)
      .map((n) => `${n}${suit}`);
  }
  if (suit === "z") {
    const group = number <= 4 ? [1, 2, 3, 4] : [5, 6, 7];
    return group.filter((n) => n !== number).map((n) => `${n}z`);
  }
  return [];
}
