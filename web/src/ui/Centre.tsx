import type { VNode } from "preact";
import { placeOf, seatName } from "../derive";
import type { TableState } from "../messages";
import { PHASES, windName } from "../text";
import { Bi } from "./Bi";
import { useView } from "./context";

/** The centre panel: wall count, round wind, winds around the edge, and an arrow to the turn. */
export function Centre({ state }: { readonly state: TableState }): VNode {
  const { settings, live } = useView();
  const round = state.round_wind === null ? null : windName(state.round_wind);
  const phase = PHASES[state.phase];
  return (
    <div class="centre" data-testid="centre">
      {state.seats.map((seat) => {
        const place = placeOf(seat.seat, settings.mySeat);
        const turn = live && state.turn === seat.seat;
        return (
          <div key={seat.seat} class={`compass place-${place} ${turn ? "turn" : ""} ${seat.dealer ? "dealer" : ""}`}>
            <span class="compass-wind" lang="zh-Hant">{windName(seat.wind).zh}</span>
            <span class="arrow" aria-hidden="true">▼</span>
          </div>
        );
      })}
      <div class="centre-middle">
        {round && (
          <div class="round" data-testid="round-wind">
            <Bi en={`${round.en} round`} zh={`${round.zh}風圈`} zhFirst />
          </div>
        )}
        {state.phase === "playing" || state.phase === "dealing" ? (
          <div class="wall" data-testid="wall-count" aria-label={`${state.wall ?? "?"} tiles in the wall 牌牆`}>
            <b>{state.wall ?? "–"}</b>
            <small><Bi en="in the wall" zh="餘牌" zhFirst /></small>
          </div>
        ) : (
          <div class={`phase ${state.phase}`} data-testid="phase"><Bi en={phase.en} zh={phase.zh} zhFirst /></div>
        )}
        <div class="dealer-line" data-testid="dealer">
          <span class="tag dealer" lang="zh-Hant">莊</span>
          <span class="name">{seatName(state, state.dealer)}</span>
          <span class="streak" data-testid="streak" title="Hands in a row as dealer 連莊">×{state.streak}</span>
        </div>
      </div>
      <span class="visually-hidden" aria-live="polite" data-testid="turn">
        {live && state.turn !== null ? `${seatName(state, state.turn)} to play 輪到` : ""}
      </span>
    </div>
  );
}
