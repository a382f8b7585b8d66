import type { VNode } from "preact";
import { layMeld, placeOf, riverRows, ROW, rowWidth, seatName, shownSettlement, sinceStart, splitRiver } from "../derive";
import type { MeldView, SeatView, TableState } from "../messages";
import { meldName, plain, signClass, signed, windName } from "../text";
import { Banner } from "./Banner";
import { Bi } from "./Bi";
import { Centre } from "./Centre";
import { useView } from "./context";
import { Tile } from "./Tile";

/** Half the table's side in tile widths: centre, river, hand row and the gaps between. */
const HALF: Readonly<Record<3 | 4, number>> = { 3: 9.05, 4: 10.45 };

export function Table({ state }: { readonly state: TableState }): VNode {
  const { settings, live } = useView();
  const rows = riverRows(state);
  const style = `--half:${HALF[rows]}`;
  return (
    <section class={`table rows-${rows}`} style={style} data-testid="table" aria-label="Table from above 牌桌">
      <div class="felt">
        {state.seats.map((seat) => (
          <SeatArea key={seat.seat} seat={seat} state={state} half={HALF[rows]} />
        ))}
        {state.seats.map((seat) => (
          <Plate
            key={seat.seat}
            seat={seat}
            state={state}
            place={placeOf(seat.seat, settings.mySeat)}
            turn={live && state.turn === seat.seat}
          />
        ))}
        <Centre state={state} />
        <Banner />
      </div>
    </section>
  );
}

interface AreaProps {
  readonly seat: SeatView;
  readonly state: TableState;
  readonly half: number;
}

/** One player's side, drawn as for the bottom edge and turned to its place. */
function SeatArea({ seat, state, half }: AreaProps): VNode {
  const { settings, live } = useView();
  const place = placeOf(seat.seat, settings.mySeat);
  const turn = live && state.turn === seat.seat;
  const space = 2 * (half - 1.55);
  const shrink = Math.min(1, space / rowWidth(seat));
  const newest = state.last_discard;
  const name = seatName(state, seat.seat);
  return (
    <div class={`seat place-${place} ${turn ? "turn" : ""}`} data-testid={`seat-${seat.seat}`} data-place={place}>
      <div class="river" data-testid={`river-${seat.seat}`} aria-label={`River of ${name} 牌河`} role="group">
        {splitRiver(seat.river).map((row, r) => (
          <div class="river-row" key={r}>
            {row.map((tile, c) => {
              const index = r * 6 + c;
              const last = newest !== null && newest[0] === seat.seat && newest[1] === index;
              return <Tile key={index} view={tile} newest={last} />;
            })}
          </div>
        ))}
      </div>
      <div class="edge" style={`--shrink:${shrink.toFixed(3)}`}>
        {seat.flowers.length > 0 && (
          <div class="flowers" data-testid={`flowers-${seat.seat}`} role="group" aria-label={`Flowers of ${name} 花牌`}>
            {seat.flowers.map((tile, i) => <Tile key={i} view={tile} />)}
          </div>
        )}
        <Hand seat={seat} name={name} />
        {seat.melds.length > 0 && (
          <div class="melds" data-testid={`melds-${seat.seat}`}>
            {seat.melds.map((meld, i) => <Meld key={i} meld={meld} owner={seat.seat} />)}
          </div>
        )}
      </div>
    </div>
  );
}

function Hand({ seat, name }: { readonly seat: SeatView; readonly name: string }): VNode {
  if (seat.hand.length > 0) {
    return (
      <div class="hand open" data-testid={`hand-${seat.seat}`} role="group" aria-label={`Hand of ${name}, laid open 攤牌`}>
        {seat.hand.map((tile, i) => <Tile key={i} view={tile} />)}
      </div>
    );
  }
  const label = `${seat.hand_count} concealed tiles 暗牌 ${seat.hand_count} 張`;
  return (
    <div
      class="hand"
      data-testid={`hand-${seat.seat}`}
      data-count={seat.hand_count}
      role="img"
      aria-label={label}
      title={label}
      style={`--count:${seat.hand_count};width:calc(var(--u) * ${(seat.hand_count * ROW.hand).toFixed(2)} * var(--shrink))`}
    >
      {Array.from({ length: seat.hand_count }, (_, i) => <i class="concealed" key={i} />)}
    </div>
  );
}

export function Meld({ meld, owner }: { readonly meld: MeldView; readonly owner: number }): VNode {
  const { row, stacked } = layMeld(meld, owner);
  const name = meldName(meld.kind);
  return (
    <div class={`meld ${meld.kind}`} role="group" aria-label={`${name.en} ${name.zh}`} data-kind={meld.kind}>
      {row.map((tile, i) => {
        const turned = tile.called && meld.from_seat !== null;
        if (turned && stacked) {
          return (
            <span class="stack" key={i}>
              <Tile view={stacked} turned />
              <Tile view={tile} turned />
            </span>
          );
        }
        return <Tile key={i} view={tile} turned={turned} />;
      })}
    </div>
  );
}

interface PlateProps {
  readonly seat: SeatView;
  readonly state: TableState;
  readonly place: number;
  readonly turn: boolean;
}

/** Name, wind and score of a seat, upright whatever side it is on; a tap makes it "my seat". */
function Plate({ seat, state, place, turn }: PlateProps): VNode {
  const { actions, model, settings } = useView();
  const settlement = shownSettlement(model);
  const change = settlement?.delta[seat.seat];
  const won = settlement?.error === null && settlement.wins.some((win) => win.seat === seat.seat);
  const wind = windName(seat.wind);
  const diff = sinceStart(state)?.[seat.seat];
  const mine = settings.mySeat === seat.seat;
  return (
    <button
      type="button"
      class={`plate place-${place} ${turn ? "turn" : ""} ${seat.forfeited ? "forfeited" : ""} ${won ? "winner" : ""}`}
      data-testid={`plate-${seat.seat}`}
      aria-label={`${seatName(state, seat.seat)}, ${wind.en} ${wind.zh}, ${plain(seat.score)}${turn ? ", to play 輪到" : ""}${mine ? "" : ". Sit here 坐這裡"}`}
      onClick={() => actions.set({ mySeat: seat.seat })}
    >
      <span class="plate-top">
        <span class="wind" data-wind={seat.wind} lang="zh-Hant">{wind.zh}</span>
        <span class="plate-name">{seatName(state, seat.seat)}</span>
      </span>
      <span class="plate-score">
        {plain(seat.score)}
        {change !== undefined ? (
          <small class={`${signClass(change)} ${settlement?.final ? "" : "unsettled"}`}>{signed(change)}</small>
        ) : (
          diff !== undefined && diff !== seat.score && <small>{signed(diff)}</small>
        )}
      </span>
      <span class="plate-tags">
        {won && <span class="tag won"><Bi en="Hu" zh="胡" zhFirst /></span>}
        {seat.dealer && <span class="tag dealer"><Bi en="Dealer" zh="莊" zhFirst />{state.streak > 1 ? ` ×${state.streak}` : ""}</span>}
        {turn && <span class="tag to-play"><Bi en="to play" zh="輪到" zhFirst /></span>}
        {seat.forfeited && <span class="tag bad"><Bi en="may not win" zh="禁胡" zhFirst /></span>}
      </span>
    </button>
  );
}
