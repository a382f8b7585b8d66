import type { VNode } from "preact";
import { layMeld, payments, seatName } from "../derive";
import type { SettlementView, TableState, WinView } from "../messages";
import { multiplies, plain, signClass, signed, unitName, windName, wonBy } from "../text";
import { tileLabel, tileName } from "../tiles";
import { Bi } from "./Bi";
import { useView } from "./context";
import { Meld } from "./Table";
import { Face, Tile } from "./Tile";

interface Props {
  readonly settlement: SettlementView;
  readonly state: TableState;
}

/** The hand as settled: who won with what, what it scores line by line, who pays whom. */
export function Settlement({ settlement, state }: Props): VNode {
  const { model } = useView();
  const blocking = model.questions.open.some((question) => question.blocks_settlement);
  return (
    <section
      class={`settlement ${settlement.final ? "final" : "provisional"}`}
      data-testid="settlement"
      data-final={settlement.final}
      aria-live="polite"
      aria-label="Settlement 結算"
    >
      <header>
        <h2><Bi en={`Settlement of hand ${settlement.hand}`} zh={`第 ${settlement.hand} 局結算`} zhFirst /></h2>
        {settlement.final ? (
          <span class="tag good" data-testid="final">✓ <Bi en="final" zh="已確定" /></span>
        ) : (
          <span class="tag warn" data-testid="provisional">
            ◌ <Bi en={blocking ? "provisional: a question is open" : "provisional"} zh={blocking ? "暫定：有待確認" : "暫定"} />
          </span>
        )}
      </header>
      {settlement.drawn && settlement.wins.length === 0 && (
        <p class="drawn" data-testid="drawn"><Bi en="Drawn hand" zh="流局" zhFirst /></p>
      )}
      {settlement.wins.map((win) => <Win key={win.seat} win={win} state={state} />)}
      {settlement.error !== null && (
        <p class="no-win" data-testid="settlement-error">
          <b aria-hidden="true">✕</b> <Bi en="No valid win:" zh="不成立：" />{" "}
          <Bi
            en={settlement.error_text || settlement.error.replaceAll("_", " ")}
            zh={settlement.error_text_zh || settlement.error_text || settlement.error.replaceAll("_", " ")}
          />
        </p>
      )}
      {settlement.lines.length > 0 && (
        <ol class="lines" data-testid="settlement-lines">
          {settlement.lines.map((line, i) => <li key={i}>{line}</li>)}
        </ol>
      )}
      {settlement.delta.length > 0 && <Payments settlement={settlement} state={state} />}
      <Next settlement={settlement} state={state} />
    </section>
  );
}

/** Width of the hand as shown, in tiles: concealed, melds with their turned tile, winning tile. */
function handUnits(win: WinView): number {
  const melds = win.melds.reduce((sum, meld) => {
    const { row } = layMeld(meld, win.seat);
    return sum + row.length + (meld.from_seat === null ? 0 : 0.36) + 0.2;
  }, 0);
  return win.hand.length + melds + (win.tile === null ? 0 : 2.1) + 0.6;
}

function Win({ win, state }: { readonly win: WinView; readonly state: TableState }): VNode {
  const by = wonBy(win.by);
  const from = win.from_seat === null ? null : seatName(state, win.from_seat);
  const unit = unitName(win.unit);
  const wind = state.seats.find((seat) => seat.seat === win.seat)?.wind ?? "";
  const winningRef = `w${win.seat}`;
  return (
    <article class="win" data-testid={`win-${win.seat}`}>
      <h3>
        <span class="wind" lang="zh-Hant">{windName(wind).zh}</span>
        <span class="winner">{seatName(state, win.seat)}</span>
        <span class="hu" lang="zh-Hant">胡</span>
        <span class="by"><Bi en={by.en + (from ? ` of ${from}` : "")} zh={by.zh + (from ? `（${from}）` : "")} /></span>
      </h3>
      <div class="win-hand" data-testid={`win-hand-${win.seat}`} style={`--units:${handUnits(win).toFixed(2)}`}>
        <span class="win-tiles">{win.hand.map((tile, i) => <Tile key={i} view={tile} />)}</span>
        {win.melds.length > 0 && (
          <span class="win-melds">{win.melds.map((meld, i) => <Meld key={i} meld={meld} owner={win.seat} />)}</span>
        )}
        {win.tile !== null && (
          <span class="win-tile" data-testid={`win-tile-${win.seat}`}>
            <Tile view={{ tile: win.tile, certain: win.tile_certain, called: false, ref: winningRef }} />
            <small><Bi en="winning" zh="胡牌" zhFirst /></small>
          </span>
        )}
      </div>
      {win.wild_as.length > 0 && (
        <p class="wild-as" data-testid="wild-as">
          <Bi en="Wild tiles stand for" zh="百搭代" />
          {win.wild_as.map(([wild, as], i) => (
            <span key={i} class="stands" title={`${tileLabel(wild)} → ${tileLabel(as)}`}>
              <Face tile={wild} class="small wild" />➜<Face tile={as} class="small" />
              <Bi {...tileName(as)} zhFirst />
            </span>
          ))}
        </p>
      )}
      {win.patterns.length > 0 && (
        <ul class="patterns" data-testid={`patterns-${win.seat}`}>
          {win.patterns.map((pattern) => (
            <li key={pattern.id} data-pattern={pattern.id}>
              <Bi en={pattern.en || pattern.id.replaceAll("_", " ")} zh={pattern.zh} zhFirst />
              <b>
                {multiplies(win.unit) ? `×${plain(pattern.value)}` : plain(pattern.value)}
                {!multiplies(win.unit) && unit.en !== "" && <small> <Bi en={unit.en} zh={unit.zh} zhFirst /></small>}
              </b>
            </li>
          ))}
        </ul>
      )}
    </article>
  );
}

function Payments({ settlement, state }: Props): VNode {
  const flows = payments(settlement);
  return (
    <div class="payments">
      {flows !== null && flows.length > 0 && (
        <ul class="flows" data-testid="payments">
          {flows.map((flow) => (
            <li key={`${flow.from}-${flow.to}`}>
              <span>{seatName(state, flow.from)}</span>
              <span class="pays" aria-label={`pays 付 ${flow.amount} to`}><b>{plain(flow.amount)}</b><i aria-hidden="true">⟶</i></span>
              <span>{seatName(state, flow.to)}</span>
            </li>
          ))}
        </ul>
      )}
      <table class="totals" data-testid="totals">
        <thead>
          <tr>
            <th scope="col" />
            {settlement.delta.map((_, seat) => <th scope="col" key={seat}>{seatName(state, seat)}</th>)}
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row"><Bi en="This hand" zh="本局" zhFirst /></th>
            {settlement.delta.map((amount, seat) => (
              <td key={seat} class={`num ${signClass(amount)}`} data-testid={`settled-delta-${seat}`}>{signed(amount)}</td>
            ))}
          </tr>
          {settlement.totals.length > 0 && (
            <tr class="sum">
              <th scope="row"><Bi en={settlement.final ? "New total" : "Total if so"} zh={settlement.final ? "總分" : "暫計"} zhFirst /></th>
              {settlement.totals.map((total, seat) => (
                <td key={seat} class="num" data-testid={`settled-total-${seat}`}>{plain(total)}</td>
              ))}
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

function Next({ settlement, state }: Props): VNode | null {
  if (settlement.next_dealer === null) return null;
  const streak = settlement.next_streak ?? 1;
  const round = settlement.next_round_wind === null ? null : windName(settlement.next_round_wind);
  return (
    <p class="next" data-testid="next-dealer">
      <Bi en="Next dealer" zh="下局莊家" zhFirst />: <b>{seatName(state, settlement.next_dealer)}</b>
      {streak > 1 && <span class="streak"> ×{streak}</span>}
      {round && <span> · <Bi en={`${round.en} round`} zh={`${round.zh}風圈`} zhFirst /></span>}
    </p>
  );
}
