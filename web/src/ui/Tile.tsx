import type { VNode } from "preact";
import { isWild, questionFor } from "../derive";
import { faceUrl } from "../faces";
import type { TileView } from "../messages";
import { tileLabel } from "../tiles";
import { useView } from "./context";

interface FaceProps {
  readonly tile: string;
  readonly class?: string;
  readonly label?: string;
}

/** A tile's picture without any state of the table. */
export function Face({ tile, class: extra = "", label }: FaceProps): VNode {
  const text = label ?? tileLabel(tile);
  return (
    <span class={`tile ${tile === "back" ? "back" : ""} ${extra}`} role="img" aria-label={text} title={text} data-tile={tile}>
      <img src={faceUrl(tile)} alt="" draggable={false} />
    </span>
  );
}

interface TileProps {
  readonly view: TileView;
  readonly newest?: boolean;
  readonly turned?: boolean;
  readonly class?: string;
}

/** A tile on the table: wild and unsure ones marked, and a tap by the operator corrects it. */
export function Tile({ view, newest = false, turned = false, class: extra = "" }: TileProps): VNode {
  const { model, actions } = useView();
  const wild = isWild(view.tile, model.state);
  const asked = questionFor(view.ref, model.questions.open) !== null;
  const unsure = !view.certain || view.tile === "?" || asked;
  const marks = [
    view.tile === "back" ? "back" : "",
    wild ? "wild" : "",
    unsure ? "unsure" : "",
    asked ? "asked" : "",
    newest ? "newest" : "",
    turned ? "turned" : "",
    extra,
  ].filter(Boolean);
  const label = [
    tileLabel(view.tile),
    wild ? "wild 百搭" : "",
    unsure ? "not sure 未確認" : "",
    newest ? "newest discard" : "",
  ].filter(Boolean);
  const content = (
    <>
      <img src={faceUrl(view.tile)} alt="" draggable={false} />
      {wild && <i class="mark star" aria-hidden="true">★</i>}
      {unsure && <i class="mark doubt" aria-hidden="true">?</i>}
    </>
  );
  const common = {
    class: `tile ${marks.join(" ")}`,
    title: label.join(", "),
    "aria-label": label.join(", "),
    "data-tile": view.tile,
    ...(view.ref === "" ? {} : { "data-ref": view.ref }),
  };
  if (view.ref === "") {
    return <span {...common} role="img">{content}</span>;
  }
  return (
    <button
      type="button"
      tabIndex={unsure ? 0 : -1}
      {...common}
      data-testid={`tile-${view.ref}`}
      onClick={() => actions.open({ kind: "correct", ref: view.ref, tile: view.tile })}
    >
      {content}
    </button>
  );
}
