/** What the calibration page asks of the daemon, and the arithmetic of its handles. */

import { LoginError } from "./operator";

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

/** Refused with a sentence for the person at the page. */
export class CalibrationError extends Error {}

export interface CalibratorPorts {
  readonly fetch: (path: string, init: RequestInit) => Promise<Response>;
  readonly token: () => string | null;
  /** The login no longer holds. */
  readonly expired: () => void;
}

export class Calibrator {
  constructor(private readonly ports: CalibratorPorts) {}

  picture(): Promise<Picture> {
    return this.ask("picture", { method: "GET" }) as Promise<Picture>;
  }

  attempt(wish: Wish): Promise<Outcome> {
    return this.ask("trial", post(wish)) as Promise<Outcome>;
  }

  save(wish: Wish): Promise<Outcome> {
    return this.ask("save", post(wish)) as Promise<Outcome>;
  }

  private async ask(what: string, init: RequestInit): Promise<unknown> {
    const token = this.ports.token();
    if (token === null) throw new LoginError("log in first");
    const headers = { ...init.headers, Authorization: `Bearer ${token}` };
    const response = await this.ports.fetch(`/api/calibration/${what}`, { ...init, headers, cache: "no-store" });
    if (response.status === 401) {
      this.ports.expired();
      throw new LoginError("the login has expired");
    }
    if (response.ok) return response.json();
    if (response.status === 404) throw new CalibrationError("No camera is configured.");
    const body = (await response.json().catch(() => ({}))) as { error?: unknown };
    throw new CalibrationError(typeof body.error === "string" ? body.error : `the daemon answered ${response.status}`);
  }
}

function post(wish: Wish): RequestInit {
  return { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(wish) };
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
