import type { VNode } from "preact";
import { placeOf, seatName } from "../derive";
import type { CallView, TableState } from "../messages";
import { callName, windName } from "../text";
import { tileName } from "../tiles";
import { Bi } from "./Bi";
import { useView } from "./context";
import { Face } from "./Tile";

/** "South, of 5 Circles, from East" in both languages, from the call's fields. */
export function callDetail(call: CallView, state: TableState | null): { en: string; zh: string } {
  const tile = call.tile === null ? null : tileName(call.tile);
  const from = call.from_seat === null || call.from_seat === call.seat ? null : seatName(state, call.from_seat);
  return {
    en: [tile && `of ${tile.en}`, from && `from ${from}`].filter(Boolean).join(", "),
    zh: [tile?.zh, from && `由 ${from}`].filter(Boolean).join("，"),
  };
}

/** The call just made, large over the table, coming from the side of its caller. */
export function Banner(): VNode {
  const { model, settings, live } = useView();
  const banner = live ? model.banner : null;
  const call = banner?.call ?? null;
  const name = call && callName(call.call);
  const detail = call && callDetail(call, model.state);
  const letter = model.state?.seats.find((seat) => seat.seat === call?.seat)?.wind;
  const wind = letter ? windName(letter) : null;
  return (
    <div class="banner-holder" aria-live="assertive" aria-atomic="true">
      {call && name && detail && (
        <div
          key={`${call.t}:${call.seat}:${call.call}`}
          class={`banner call-${call.call} from-${placeOf(call.seat, settings.mySeat)}`}
          data-testid="call-banner"
        >
          <span class="banner-glyph" lang="zh-Hant">{name.zh}</span>
          <span class="banner-text">
            <b>
              {name.en}
              {wind && <small><Bi en={wind.en} zh={wind.zh} zhFirst /></small>}
            </b>
            <span class="banner-who">{seatName(model.state, call.seat)}</span>
            <span class="banner-detail"><Bi en={detail.en} zh={detail.zh} /></span>
          </span>
          {call.tile && <Face tile={call.tile} class="banner-tile" />}
        </div>
      )}
    </div>
  );
}
