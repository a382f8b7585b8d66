/**
 * Pictures of the tiles. The drawn set in `vision/art` is bundled at build time; a face that is
 * missing there is set in type, so that no tile is ever blank.
 */

import { tileName } from "./tiles";

const drawn = import.meta.glob("../../vision/art/**/*.svg", {
  query: "?inline",
  import: "default",
  eager: true,
}) as Record<string, string>;

const byName: ReadonlyMap<string, string> = new Map(
  Object.entries(drawn).map(([path, url]) => [path.replace(/^.*\//, "").replace(/\.svg$/, ""), url]),
);

const INK: Readonly<Record<string, string>> = { m: "#b3211f", p: "#1c4f9c", s: "#14713f", z: "#16181d", f: "#8a3b8f" };
const HONOUR_INK: readonly string[] = ["#16181d", "#16181d", "#16181d", "#16181d", "#1c4f9c", "#14713f", "#b3211f"];

/** Address of a tile's picture (a data URL). */
export function faceUrl(tile: string): string {
  return byName.get(tile) ?? typeset(tile);
}

export const hasDrawnFaces = byName.size > 0;

const cache = new Map<string, string>();

function typeset(tile: string): string {
  let url = cache.get(tile);
  if (url === undefined) {
    url = `data:image/svg+xml,${encodeURIComponent(faceSvg(tile))}`;
    cache.set(tile, url);
  }
  return url;
}

const FONT = "font-family='Noto Serif CJK TC,Noto Serif TC,Noto Sans CJK TC,serif' font-weight='700' text-anchor='middle'";

function faceSvg(tile: string): string {
  const open = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 100 135'>";
  if (tile === "back") {
    return `${open}<rect width='100' height='135' fill='#1d7a53'/><rect x='12' y='12' width='76' height='111' rx='8' fill='none' stroke='#2fa574' stroke-width='4'/></svg>`;
  }
  const number = Number(tile[0]);
  const suit = tile[1] ?? "";
  const ink = suit === "z" ? (HONOUR_INK[number - 1] ?? "#16181d") : (INK[suit] ?? "#5b5b5b");
  const name = tileName(tile).zh;
  const glyph = (text: string, y: number, size: number): string =>
    `<text x='50' y='${y}' ${FONT} font-size='${size}' fill='${ink}'>${text}</text>`;
  const body = "mps".includes(suit) && suit !== ""
    ? glyph(name[0] ?? "", 62, 58) + glyph(name[1] ?? "", 120, 52)
    : suit === "z" || suit === "f"
      ? glyph(name, 92, 76)
      : glyph("?", 95, 84);
  const corner = "mpsf".includes(suit) && suit !== "" ? `<text x='12' y='24' ${FONT} font-size='22' fill='${ink}'>${number}</text>` : "";
  return `${open}<rect width='100' height='135' fill='#fbf6e6'/>${body}${corner}</svg>`;
}
