/** What the calibration page asks of the daemon, and the arithmetic of its handles. */

import type { Desk } from "./desk";

export type Point = readonly [number, number];

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Base64. */
  readonly jpeg: string;
  /** Whether a calibration is in use. */
  readonly kept: boolean;
  readonly seats: number;
}

export interface Wish {
  readonly method: "corners" | "markers" | "kept";
  readonly corners: readonly Point[];
  readonly snap: boolean;
  /** Lens above the felt by tape measure. */
  readonly height_mm: number | null;
}

export interface ZoneShape {
  readonly zone: string;
  readonly seat: number | null;
  readonly points: readonly Point[];
}

export interface Outcome {
  readonly corners: readonly Point[];
  readonly zones: readonly ZoneShape[];
  readonly score: number;
  readonly notes: readonly string[];
  readonly tile_px: number;
  readonly reprojection_px: number;
  readonly k1: number;
  readonly k2: number;
  readonly camera_height_mm: number;
  readonly camera_height_known: boolean;
  /** The felt seen straight, base64 JPEG. */
  readonly felt: string;
  /** Corners that lie where the felt's edges meet, after a snap. */
  readonly snapped?: number;
  /** Where it was saved. */
  readonly file?: string;
}

export class Calibrator {
  constructor(private readonly desk: Desk) {}

  picture(): Promise<Picture> {
    return this.desk.get("picture") as Promise<Picture>;
  }

  attempt(wish: Wish): Promise<Outcome> {
    return this.desk.post("trial", wish) as Promise<Outcome>;
  }

  save(wish: Wish): Promise<Outcome> {
    return this.desk.post("save", wish) as Promise<Outcome>;
  }
}

/** Corners in the order in which they are clicked. */
export const CORNERS = [
  { en: "top left", zh: "左上" },
  { en: "top right", zh: "右上" },
  { en: "bottom right", zh: "右下" },
  { en: "bottom left", zh: "左下" },
] as const;

/** A point kept inside the picture, to a tenth of a pixel. */
export function inside(point: Point, picture: Pick<Picture, "width" | "height">): Point {
  const [x, y] = point;
  return [clamp(x, picture.width - 1), clamp(y, picture.height - 1)];
}

function clamp(value: number, most: number): number {
  return Math.round(Math.min(Math.max(value, 0), most) * 10) / 10;
}

/** Where a zone's name is written. */
export function middle(points: readonly Point[]): Point {
  const sum = points.reduce<[number, number]>((a, [x, y]) => [a[0] + x, a[1] + y], [0, 0]);
  return [sum[0] / points.length, sum[1] / points.length];
}

/** Points as SVG wants them. */
export function outline(points: readonly Point[]): string {
  return points.map(([x, y]) => `${x},${y}`).join(" ");
}
