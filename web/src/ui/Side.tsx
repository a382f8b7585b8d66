import type { VNode } from "preact";
import { lastDelta, ranks, seatName, sinceStart } from "../derive";
import type { TableState } from "../messages";
import { callName, notAllowed, plain, signClass, signed, wildMeaning, windName } from "../text";
import { tileName } from "../tiles";
import { Bi } from "./Bi";
import { useView } from "./context";
import { Face, Tile } from "./Tile";

/** Rule set, hand number and what kind of session this is. */
export function Header({ state }: { readonly state: TableState | null }): VNode {
  const { live } = useView();
  return (
    <header class="head">
      <span class={`dot ${live ? "live" : "off"}`} data-testid="live" data-live={live} title={live ? "Live 即時" : "Not live 非即時"}>
        {live ? "●" : "○"} <Bi en={live ? "live" : "not live"} zh={live ? "即時" : "非即時"} />
      </span>
      <h1 data-testid="rules">
        {state ? <Bi en={state.rules_en || state.rules || "tablectl"} zh={state.rules_zh || state.rules_en || "tablectl"} zhFirst /> : "tablectl"}
      </h1>
      {state && state.hand > 0 && (
        <span class="hand-no" data-testid="hand-number"><Bi en={`Hand ${state.hand}`} zh={`第 ${state.hand} 局`} zhFirst /></span>
      )}
      {state?.simulated && (
        <span class="badge" data-testid="simulated" title="A simulated session, not a real table"><Bi en="simulated" zh="模擬" /></span>
      )}
    </header>
  );
}

/** Indicator and wild tiles, large, with what they mean. */
export function WildStrip({ state }: { readonly state: TableState }): VNode | null {
  if (state.indicator === null && state.wild.length === 0) {
    return state.phase === "playing" || state.phase === "settling" || state.phase === "settled" ? (
      <section class="wild-strip none" data-testid="no-wild"><Bi en="No wild tiles" zh="無百搭" zhFirst /></section>
    ) : null;
  }
  const { name, meaning } = wildMeaning(state.rules);
  return (
    <section class="wild-strip" data-testid="wild-strip" aria-label="Indicator and wild tiles 指示牌與百搭">
      {state.indicator && (
        <div class="wild-item" data-testid="indicator">
          <Tile view={state.indicator} class="large" />
          <div>
            <h2><Bi en="Indicator" zh="指示牌" zhFirst /></h2>
            <p><Bi {...tileName(state.indicator.tile)} zhFirst /></p>
          </div>
        </div>
      )}
      {state.indicator && state.wild.length > 0 && <span class="leads-to" aria-hidden="true">➜</span>}
      {state.wild.length > 0 && (
        <div class="wild-item" data-testid="wild">
          <span class="wild-tiles">
            {state.wild.map((tile) => (
              <span class="wild-face" key={tile}>
                <Face tile={tile} class="large wild" />
                <i class="mark star" aria-hidden="true">★</i>
              </span>
            ))}
          </span>
          <div>
            <h2><Bi en={name.en} zh={name.zh} zhFirst /></h2>
            <p>
              {state.wild.map((tile) => <Bi key={tile} {...tileName(tile)} zhFirst class="listed" />)}
            </p>
            <p class="meaning"><Bi en={meaning.en} zh={meaning.zh} zhFirst /></p>
          </div>
        </div>
      )}
    </section>
  );
}

/** Whose turn it is and what lies newest, in words and large. */
export function Newest({ state }: { readonly state: TableState }): VNode | null {
  const { live } = useView();
  if (!live || state.phase !== "playing") return null;
  const [seat, index] = state.last_discard ?? [null, null];
  const tile = seat === null ? undefined : state.seats.find((s) => s.seat === seat)?.river[index];
  return (
    <section class="newest-strip" data-testid="newest-strip">
      {state.turn !== null && (
        <div class="to-play-now">
          <span class="tag to-play">▶ <Bi en="to play" zh="輪到" zhFirst /></span>
          <b>{seatName(state, state.turn)}</b>
        </div>
      )}
      {tile && seat !== null && (
        <div class="newest-discard" data-testid="last-discard">
          <Tile view={tile} class="large" />
          <p>
            <small>{seatName(state, seat)} <Bi en="discarded" zh="打出" zhFirst /></small>
            <Bi {...tileName(tile.tile)} zhFirst />
          </p>
        </div>
      )}
    </section>
  );
}

/** Scores, change since the session began and of the last hand. */
export function Scoreboard({ state }: { readonly state: TableState }): VNode {
  const { model, settings, live } = useView();
  const delta = lastDelta(model);
  const start = sinceStart(state);
  const places = ranks(state);
  const showStart = start !== null && state.seats.some((seat, i) => seat.score !== start[i]);
  return (
    <section class="scores" data-testid="scoreboard" aria-label="Scores 分數">
      <table>
        <thead>
          <tr>
            <th scope="col" colSpan={2}><Bi en="Player" zh="玩家" zhFirst /></th>
            <th scope="col"><Bi en="Score" zh="分" zhFirst /></th>
            {showStart && <th scope="col"><Bi en="± start" zh="輸贏" zhFirst /></th>}
            <th scope="col">
              <Bi en="Last hand" zh="上局" zhFirst />
              {delta && !delta.final && <span class="tag warn"><Bi en="provisional" zh="暫定" /></span>}
            </th>
          </tr>
        </thead>
        <tbody>
          {state.seats.map((seat, i) => {
            const turn = live && state.turn === seat.seat;
            const change = delta?.values[seat.seat];
            const won = start?.[i] ?? 0;
            return (
              <tr key={seat.seat} class={`${turn ? "turn" : ""} ${settings.mySeat === seat.seat ? "mine" : ""}`} data-testid={`score-row-${seat.seat}`}>
                <td class="wind-cell">
                  <span class="wind" data-wind={seat.wind} lang="zh-Hant">{windName(seat.wind).zh}</span>
                </td>
                <th scope="row">
                  <span class="who">{seatName(state, seat.seat)}</span>
                  {seat.dealer && <span class="tag dealer" title="Dealer 莊">莊{state.streak > 1 ? `×${state.streak}` : ""}</span>}
                  {turn && <span class="tag to-play" aria-label="to play 輪到">▶</span>}
                  {places[i] === 1 && state.seats.some((other) => other.score !== seat.score) && <span class="crown" title="Leading 領先" aria-label="leading">♛</span>}
                </th>
                <td class="num total" data-testid={`score-${seat.seat}`}>{plain(seat.score)}</td>
                {showStart && <td class={`num ${signClass(won)}`}>{signed(won)}</td>}
                <td class={`num delta ${signClass(change ?? 0)}`} data-testid={`delta-${seat.seat}`}>{change === undefined ? "·" : signed(change)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

/** What has been called in this hand, newest first, and what was not allowed. */
export function Log({ state }: { readonly state: TableState }): VNode {
  const { model } = useView();
  const calls = [...model.calls].reverse().filter((call) => call.call !== "discard" && call.call !== "draw");
  return (
    <section class="log" data-testid="log" aria-label="This hand 本局">
      {state.issues.length > 0 && (
        <ul class="issues" data-testid="issues">
          {state.issues.slice(-3).map((issue) => (
            <li key={`${issue.id}${issue.seat}${issue.text_en}`} data-issue={issue.id}>
              <b aria-hidden="true">⚠</b> {issue.seat !== null && <strong>{seatName(state, issue.seat)}</strong>}{" "}
              <Bi {...notAllowed({ en: issue.text_en || issue.id.replaceAll("_", " "), zh: issue.text_zh || issue.id })} />
            </li>
          ))}
        </ul>
      )}
      {calls.length > 0 && (
        <ol class="calls" data-testid="calls">
          {calls.map((call, i) => {
            const name = callName(call.call);
            const from = call.from_seat === null || call.from_seat === call.seat ? "" : ` ← ${seatName(state, call.from_seat)}`;
            return (
              <li key={`${call.t}:${call.seat}:${call.call}`} class={i === 0 ? "latest" : ""}>
                {call.tile && <Face tile={call.tile} class="small" />}
                <b class={`call-name call-${call.call}`} lang="zh-Hant">{name.zh}</b>
                <span>
                  <span class="who">{seatName(state, call.seat)}</span> <span class="en">{name.en}</span>
                  {call.tile && <small> <Bi {...tileName(call.tile)} zhFirst /></small>}
                  <small>{from}</small>
                </span>
              </li>
            );
          })}
        </ol>
      )}
    </section>
  );
}
