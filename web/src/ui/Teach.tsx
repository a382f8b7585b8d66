import type { VNode } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import {
  LAYOUT, closeUp, contradictionText, laidText, misread, taughtText, teachable, unsurelyMisread,
  type LaidTile, type Look, type Teacher,
} from "../teaching";
import { tileName } from "../tiles";
import { Bi } from "./Bi";
import { DeskPage, NoPicture, useLooking, useTrouble } from "./Desk";
import { Face } from "./Tile";

const PAUSE_MS = 2_000;
const ARMED_MS = 5_000;

interface Props {
  readonly teacher: Teacher;
}

/** Lay one of each tile in rows, see how they are read, teach them. */
export function Teach({ teacher }: Props): VNode {
  return (
    <DeskPage id="teach" title={<Bi en="Teach the tiles" zh="教認牌" />}>
      <Desk teacher={teacher} />
    </DeskPage>
  );
}

function Desk({ teacher }: Props): VNode {
  const { seen: look, setSeen: setLook, blind } = useLooking(useCallback(() => teacher.attempt(), [teacher]), PAUSE_MS);
  const [trouble, guarded] = useTrouble();
  const [trusted, setTrusted] = useState(false);
  const [adding, setAdding] = useState(false);
  const [busy, setBusy] = useState(false);
  const [saved, setSaved] = useState(false);
  const [note, setNote] = useState("");
  const contradictions = (look?.contradictions ?? []).map(({ row, tile, seen }) => `${row}.${tile}.${seen}`).join();
  const contradicts = contradictions !== "";
  useEffect(() => {
    // Trust is for this layout, not for the next one.
    setTrusted(false);
  }, [contradictions]);

  const deed = (work: () => Promise<void>): Promise<void> =>
    guarded(async () => {
      setBusy(true);
      setSaved(false);
      setNote("");
      try {
        await work();
      } finally {
        setBusy(false);
      }
    });
  const save = (): Promise<void> =>
    deed(async () => {
      setLook(await teacher.save({ trust_layout: trusted, add: adding }));
      setSaved(true);
      setAdding(false);
    });
  const forget = (): Promise<void> =>
    deed(async () => {
      const forgotten = await teacher.forget();
      if (look !== null) setLook({ ...look, taught: forgotten.taught });
      setNote(forgotten.note);
      setAdding(false);
    });

  return (
    <div class="desk">
      <div class="where-picture">
        {look === null ? <NoPicture /> : <Picture look={look} />}
      </div>
      <aside class="desk-side">
        {look !== null && <TaughtNow look={look} />}
        {(trouble || blind) !== "" && <p class="error" role="alert" data-testid="teach-error">{trouble || blind}</p>}
        {look !== null && <Verdict look={look} />}
        {contradicts && (
          <label class="desk-check">
            <input type="checkbox" checked={trusted} data-testid="trust-layout"
              onChange={(event) => setTrusted((event.currentTarget as HTMLInputElement).checked)} />
            <span><Bi en="The layout is right, the recogniser is wrong." zh="擺放無誤，是辨識有誤。" /></span>
          </label>
        )}
        {look?.taught && (
          <label class="desk-check">
            <input type="checkbox" checked={adding} data-testid="add-tiles"
              onChange={(event) => setAdding((event.currentTarget as HTMLInputElement).checked)} />
            <span><Bi en="Add to what was taught: the same tiles before another seat, in its light." zh="加入已教內容：同一副牌擺在另一家前、另一種光線。" /></span>
          </label>
        )}
        <button type="button" class="primary" data-testid="save-tiles" disabled={!teachable(look, trusted) || busy} onClick={() => void save()}>
          <Bi en="Teach these tiles" zh="教認這副牌" />
        </button>
        {saved && look?.taught && (
          <p class="all-well" role="status" data-testid="tiles-saved">
            ✓ <Bi en={`Saved to ${look.taught.file}; read by it from now on.`} zh={`已存至 ${look.taught.file}，立即生效。`} />
          </p>
        )}
        <Forget disabled={busy || !look?.taught} onForget={() => void forget()} />
        {note !== "" && <p role="status" data-testid="forgotten-note">{note}</p>}
        {look !== null && <Misread look={look} />}
        <RowsToLay />
      </aside>
    </div>
  );
}

/** A second tap forgets: the set would have to be laid out again. */
function Forget({ disabled, onForget }: { readonly disabled: boolean; readonly onForget: () => void }): VNode {
  const [armed, setArmed] = useState(false);
  useEffect(() => {
    if (!armed) return undefined;
    const timer = setTimeout(() => setArmed(false), ARMED_MS);
    return () => clearTimeout(timer);
  }, [armed]);
  const tap = (): void => {
    setArmed(!armed);
    if (armed) onForget();
  };
  return (
    <button type="button" class={armed ? "armed" : ""} data-testid="forget-tiles" disabled={disabled} onClick={tap}>
      {armed ? <Bi en="Tap again to forget" zh="再點一次即忘記" /> : <Bi en="Forget what was taught" zh="忘記所教" />}
    </button>
  );
}

/** How the tiles should lie, in words and faces. */
export function RowsToLay(): VNode {
  return (
    <section data-testid="rows-to-lay">
      <p class="desk-hint">
        <Bi
          en="Lay one of each on the bare felt, upright as one seat sees them, a finger apart, nothing beside them:"
          zh="空桌面上每種一張，朝同一方向，間隔一指，旁邊勿放他物："
        />
      </p>
      <ol class="rows-to-lay">
        {LAYOUT.map(({ en, zh, tiles }) => (
          <li key={en}>
            <Bi en={en} zh={zh} />
            <span class="faces" aria-hidden="true">{tiles.map((tile) => <Face key={tile} tile={tile} />)}</span>
          </li>
        ))}
      </ol>
      <p><small>
        <Bi en="A set without flowers has four rows; one with four of them teaches the first four." zh="無花則擺四排；僅四花則教前四種。" />
      </small></p>
    </section>
  );
}

/** The picture with every tile's box and name. */
export function Picture({ look }: { readonly look: Look }): VNode {
  const differing = misread(look).length;
  return (
    <div class="canvas">
      <svg viewBox={closeUp(look).join(" ")} role="img" data-testid="teach-picture"
        aria-label={`${look.tiles.length} tiles, ${differing} read as others 共 ${look.tiles.length} 張，${differing} 張讀成他牌`}>
        <image href={`data:image/jpeg;base64,${look.jpeg}`} width={look.width} height={look.height} />
        {look.tiles.map((tile) => <Laid key={tile.box.join()} tile={tile} />)}
      </svg>
    </div>
  );
}

function Laid({ tile }: { readonly tile: LaidTile }): VNode {
  const [left, top, right, bottom] = tile.box;
  const size = 0.36 * Math.min(right - left, bottom - top);
  const name = tile.wanted ?? tile.seen;
  const { en, zh } = laidText(tile);
  const kind = tile.wanted === null ? "" : tile.agrees ? "agrees" : "differs";
  return (
    <g class={`laid ${kind}`} data-testid="laid" data-tile={name}>
      <title>{`${en} ${zh}`}</title>
      <rect x={left} y={top} width={right - left} height={bottom - top} />
      <text x={(left + right) / 2} y={bottom + 0.95 * size} font-size={size}>
        <tspan class="zh">{tileName(name).zh}</tspan>
        <tspan class="en">{name}</tspan>
      </text>
    </g>
  );
}

/** Whether it is a layout, and what contradicts it. */
export function Verdict({ look }: { readonly look: Look }): VNode {
  if (look.problem !== "") {
    return <p class="error" role="alert" data-testid="layout-problem">{look.problem}</p>;
  }
  return (
    <section class="verdict" role="status" data-testid="layout-found">
      <p>✓ <Bi en={`${look.tiles.length} tiles found, ${look.tile_px} px wide.`} zh={`找到 ${look.tiles.length} 張，牌寬 ${look.tile_px} 像素。`} /></p>
      {look.contradictions.length > 0 && (
        <ul class="notes" data-testid="contradictions">
          {look.contradictions.map((wrong) => <li key={`${wrong.row}.${wrong.tile}`}><Bi {...contradictionText(wrong)} /></li>)}
        </ul>
      )}
    </section>
  );
}

/** What teaching would put right. */
export function Misread({ look }: { readonly look: Look }): VNode | null {
  const tiles = unsurelyMisread(look);
  if (tiles.length === 0) return null;
  return (
    <section data-testid="misread">
      <p><Bi en="Misread, but not surely, as the recogniser comes; teaching puts that right:" zh="原有辨識不確定而讀錯者，教認後改正：" /></p>
      <ul class="desk-list">{tiles.map((tile) => <li key={tile.box.join()}><Bi {...laidText(tile)} /></li>)}</ul>
    </section>
  );
}

export function TaughtNow({ look }: { readonly look: Look }): VNode {
  return <p data-testid="taught" data-taught={look.taught !== null}><Bi {...taughtText(look.taught)} /></p>;
}
