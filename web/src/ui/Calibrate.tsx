import type { VNode } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import {
  CORNERS, inside, middle, outline, type Calibrator, type Outcome, type Picture, type Point, type Wish,
} from "../calibration";
import { seatName } from "../derive";
import { Bi } from "./Bi";
import { useView } from "./context";
import { DeskPage, NoPicture, useLooking, useTrouble } from "./Desk";

const PICTURE_MS = 1_000;
const TRIAL_MS = 200;
const NUDGE: Readonly<Record<string, Point>> = {
  ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
};

interface Props {
  readonly calibrator: Calibrator;
}

/** Click the felt's four corners on the live picture, see what follows, keep it. */
export function Calibrate({ calibrator }: Props): VNode {
  return (
    <DeskPage id="calibrate" title={<Bi en="Calibrate the camera" zh="校準攝影機" />}>
      <Desk calibrator={calibrator} />
    </DeskPage>
  );
}

function Desk({ calibrator }: Props): VNode {
  const { seen: picture, blind } = useLooking(useCallback(() => calibrator.picture(), [calibrator]), PICTURE_MS);
  const [method, setMethod] = useState<Wish["method"]>("corners");
  const [corners, setCorners] = useState<readonly Point[]>([]);
  const [height, setHeight] = useState("");
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [trouble, guarded] = useTrouble();
  const [busy, setBusy] = useState(false);
  const [saved, setSaved] = useState("");
  const [hidden, setHidden] = useState(0);
  const height_mm = Number(height) > 0 ? Number(height) : null;
  const wish: Wish = { method, corners: method === "corners" ? corners : [], snap: false, height_mm };
  const ready = method !== "corners" || corners.length === 4;

  const key = JSON.stringify(wish);
  const seen = picture !== null;
  useEffect(() => {
    if (picture?.kept) setMethod("kept");
  }, [seen]);
  useEffect(() => {
    setSaved("");
    if (!ready || !seen) {
      setOutcome(null);
      return undefined;
    }
    let stale = false;
    const timer = setTimeout(() => {
      void guarded(async () => {
        try {
          const result = await calibrator.attempt(JSON.parse(key) as Wish);
          if (!stale) setOutcome(result);
        } catch (error) {
          if (!stale) setOutcome(null);
          throw error;
        }
      });
    }, TRIAL_MS);
    return () => {
      stale = true;
      clearTimeout(timer);
    };
  }, [key, ready, seen]);

  const move = (index: number, to: Point): void => {
    if (picture === null) return;
    setHidden(0);
    setMethod("corners");
    setCorners((all) => {
      const from = method === "corners" ? all : (outcome?.corners ?? all);
      return from.map((corner, i) => (i === index ? inside(to, picture) : corner));
    });
  };
  const add = (at: Point): void => {
    if (picture === null || corners.length >= 4 || method !== "corners") return;
    setCorners([...corners, inside(at, picture)]);
  };
  const anew = (): void => {
    setMethod("corners");
    setCorners([]);
  };
  const snap = (): Promise<void> =>
    guarded(async () => {
      setBusy(true);
      try {
        const result = await calibrator.attempt({ ...wish, snap: true });
        setCorners(result.corners);
        setHidden(4 - (result.snapped ?? 4));
      } finally {
        setBusy(false);
      }
    });
  const save = (): Promise<void> =>
    guarded(async () => {
      setBusy(true);
      try {
        const result = await calibrator.save(wish);
        setOutcome(result);
        setSaved(result.file ?? "");
      } finally {
        setBusy(false);
      }
    });

  const handles = method === "corners" ? corners : (outcome?.corners ?? []);
  return (
    <div class="desk">
      <div class="where-picture">
        {picture === null ? (
          <NoPicture />
        ) : (
          <Canvas picture={picture} handles={handles} outcome={ready ? outcome : null} onAdd={add} onMove={move} />
        )}
      </div>
      <aside class="desk-side">
        <Hint method={method} count={corners.length} />
        <div class="desk-buttons">
          <button type="button" data-testid="click-anew" onClick={anew}><Bi en="Click the corners" zh="點選四角" /></button>
          <button type="button" data-testid="use-markers" aria-pressed={method === "markers"} onClick={() => setMethod("markers")}>
            <Bi en="Use printed markers" zh="使用標記" />
          </button>
          <button type="button" data-testid="snap" disabled={method !== "corners" || !ready || busy} onClick={() => void snap()}>
            <Bi en="Snap to the felt's edges" zh="貼齊桌布邊" />
          </button>
        </div>
        <label class="desk-height">
          <Bi en="Lens above the felt, mm (if measured)" zh="鏡頭離桌面 mm（若有量）" />
          <input type="number" min="200" max="5000" step="10" value={height} data-testid="height"
            onInput={(event) => setHeight((event.currentTarget as HTMLInputElement).value)} />
        </label>
        {(trouble || blind) !== "" && <p class="error" role="alert" data-testid="calibrate-error">{trouble || blind}</p>}
        {hidden > 0 && (
          <p class="error" role="status" data-testid="snap-note">
            <Bi
              en={`The felt's edges can't be followed at ${hidden} of its corners: clear them, or place those corners by hand.`}
              zh={`有 ${hidden} 角的桌布邊無法辨識：請清空桌邊，或手動放置。`}
            />
          </p>
        )}
        {outcome !== null && ready && <Verdict outcome={outcome} />}
        <button type="button" class="primary" data-testid="save-calibration" disabled={outcome === null || method === "kept" || busy} onClick={() => void save()}>
          <Bi en="Save and use" zh="儲存並使用" />
        </button>
        {saved !== "" && <p class="all-well" role="status" data-testid="saved">✓ <Bi en={`Saved to ${saved}; in use from now on.`} zh={`已存至 ${saved}，立即生效。`} /></p>}
      </aside>
    </div>
  );
}

function Hint({ method, count }: { readonly method: Wish["method"]; readonly count: number }): VNode {
  const next = CORNERS[count];
  if (method === "corners" && next) {
    return (
      <p class="desk-hint" data-testid="hint">
        <Bi en={`Click the felt's ${next.en} corner (seat 1 at the bottom).`} zh={`請點桌布${next.zh}角（座位 1 在下方）。`} />
      </p>
    );
  }
  if (method === "corners") return <p class="desk-hint" data-testid="hint"><Bi en="Drag a corner to adjust it; arrow keys move it by a pixel." zh="拖曳角點微調；方向鍵移動一像素。" /></p>;
  if (method === "markers") return <p class="desk-hint" data-testid="hint"><Bi en="The four printed markers lie flat in the felt's corners." zh="四張標記平放於桌布四角。" /></p>;
  return <p class="desk-hint" data-testid="hint"><Bi en="In use now. Do the zones lie on your rivers, walls and racks?" zh="目前使用中。各區是否對齊牌河、牌牆與手牌？" /></p>;
}

interface CanvasProps {
  readonly picture: Picture;
  readonly handles: readonly Point[];
  readonly outcome: Outcome | null;
  readonly onAdd: (at: Point) => void;
  readonly onMove: (index: number, to: Point) => void;
}

/** The picture with zones and handles, in the picture's own pixels. */
function Canvas({ picture, handles, outcome, onAdd, onMove }: CanvasProps): VNode {
  const { model } = useView();
  const svg = useRef<SVGSVGElement>(null);
  const [held, setHeld] = useState<number | null>(null);
  const source = `data:image/jpeg;base64,${picture.jpeg}`;
  const radius = picture.width / 90;
  const place = (event: PointerEvent | MouseEvent): Point => {
    const matrix = svg.current?.getScreenCTM()?.inverse();
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
    return [x, y];
  };
  const nudge = (event: KeyboardEvent, index: number): void => {
    const step = NUDGE[event.key];
    const at = handles[index];
    if (!step || !at) return;
    event.preventDefault();
    const by = event.shiftKey ? 0.2 : 1;
    onMove(index, [at[0] + by * step[0], at[1] + by * step[1]]);
  };
  const grabbed = held === null ? undefined : handles[held];
  return (
    <div class="canvas">
      <svg ref={svg} viewBox={`0 0 ${picture.width} ${picture.height}`} data-testid="picture" onClick={(event) => onAdd(place(event))}>
        <image href={source} width={picture.width} height={picture.height} />
        {outcome?.zones.map((zone) => (
          <polygon key={`${zone.zone}${zone.seat}`} points={outline(zone.points)} class={`zone seat-${zone.seat ?? "none"}`} data-testid={`zone-${zone.zone}-${zone.seat ?? "all"}`} />
        ))}
        {outcome?.zones.filter((zone) => zone.zone === "rack" || zone.zone === "river").map((zone) => {
          const [x, y] = middle(zone.points);
          const name = zone.zone === "rack" ? seatName(model.state, zone.seat) : "河 river";
          return <text key={`t${zone.zone}${zone.seat}`} x={x} y={y} class={`zone-name seat-${zone.seat ?? "none"}`} font-size={radius * 1.5}>{name}</text>;
        })}
        {outcome && <polygon points={outline(outcome.corners)} class="felt-outline" data-testid="felt-outline" />}
        {handles.map(([x, y], index) => (
          <g
            key={index}
            class={`handle ${held === index ? "held" : ""}`}
            data-testid={`corner-${index}`}
            role="button"
            tabIndex={0}
            aria-label={`${CORNERS[index]?.en ?? ""} ${CORNERS[index]?.zh ?? ""}`}
            onClick={(event) => event.stopPropagation()}
            onKeyDown={(event) => nudge(event, index)}
            onFocus={() => setHeld(index)}
            onBlur={() => setHeld(null)}
            onPointerDown={(event) => {
              (event.currentTarget as Element).setPointerCapture(event.pointerId);
              setHeld(index);
            }}
            onPointerMove={(event) => {
              if ((event.currentTarget as Element).hasPointerCapture(event.pointerId)) onMove(index, place(event));
            }}
          >
            <circle cx={x} cy={y} r={radius * 1.6} class="grip" />
            <circle cx={x} cy={y} r={radius} />
            <path d={`M${x - radius} ${y}H${x + radius}M${x} ${y - radius}V${y + radius}`} />
          </g>
        ))}
      </svg>
      {grabbed && (
        <svg class="loupe" data-testid="loupe" viewBox={`${grabbed[0] - 30} ${grabbed[1] - 30} 60 60`} aria-hidden="true">
          <image href={source} width={picture.width} height={picture.height} />
          <path d={`M${grabbed[0] - 30} ${grabbed[1]}h60M${grabbed[0]} ${grabbed[1] - 30}v60`} />
        </svg>
      )}
    </div>
  );
}

function Verdict({ outcome }: { readonly outcome: Outcome }): VNode {
  return (
    <section class="verdict" data-testid="verdict">
      <p>
        <b data-testid="score">{outcome.score}</b> / 100 · <Bi en={`tiles ${outcome.tile_px} px wide`} zh={`牌寬 ${outcome.tile_px} 像素`} />
      </p>
      <p><small>
        <Bi en={`points fit to ${outcome.reprojection_px} px · lens k1 ${outcome.k1}, k2 ${outcome.k2} · camera ${outcome.camera_height_mm} mm up`} zh={`誤差 ${outcome.reprojection_px} 像素 · k1 ${outcome.k1}, k2 ${outcome.k2} · 鏡頭高 ${outcome.camera_height_mm} mm`} />
      </small></p>
      {outcome.notes.length > 0 && <ul class="notes" data-testid="notes">{outcome.notes.map((note) => <li key={note}>{note}</li>)}</ul>}
      <figure>
        <img src={`data:image/jpeg;base64,${outcome.felt}`} alt="" data-testid="straight-felt" />
        <figcaption><Bi en="The felt seen straight: its edges must be the picture's." zh="拉正後的桌布：邊緣應與圖框重合。" /></figcaption>
      </figure>
    </section>
  );
}
