import type { VNode } from "preact";
import { seatName } from "../derive";
import type { Language } from "../settings";
import { Bi } from "./Bi";
import { useView } from "./context";

const NEXT: Readonly<Record<Language, Language>> = { both: "zh", zh: "en", en: "both" };
const SHOWN: Readonly<Record<Language, string>> = { both: "中/EN", zh: "中文", en: "English" };

/** Controls; on a big screen they come with the pointer and go again. */
export function Toolbar(): VNode {
  const { settings, actions, operator, model } = useView();
  const host = (): void => {
    if (operator) actions.open({ kind: "host" });
    else actions.open({ kind: "login", then: () => actions.open({ kind: "host" }) });
  };
  return (
    <nav class="toolbar" data-testid="toolbar" aria-label="Controls 控制">
      <button type="button" data-testid="language" onClick={() => actions.set({ language: NEXT[settings.language] })} title="Language 語言">
        {SHOWN[settings.language]}
      </button>
      <button
        type="button"
        data-testid="my-seat"
        onClick={() => actions.set({ mySeat: (settings.mySeat + 1) % Math.max(1, model.state?.seats.length ?? 4) })}
        title="Turn the table: whose seat is at the bottom 轉動視角"
      >
        ⟲ {seatName(model.state, settings.mySeat)}
      </button>
      <button type="button" data-testid="host" onClick={host} class={operator ? "operator" : ""}>
        {operator ? "●" : "○"} <Bi en="Host" zh="主持" />
      </button>
      <a href="#service" data-testid="to-service"><Bi en="Service" zh="維護" /></a>
      {document.fullscreenEnabled && (
        <button type="button" class="wide-only" onClick={() => void toggleFullscreen()} title="Full screen 全螢幕" aria-label="Full screen 全螢幕">
          <svg viewBox="0 0 20 20" width="1.1em" height="1.1em" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true">
            <path d="M2 7V2h5M13 2h5v5M18 13v5h-5M7 18H2v-5" />
          </svg>
        </button>
      )}
    </nav>
  );
}

async function toggleFullscreen(): Promise<void> {
  if (document.fullscreenElement) await document.exitFullscreen();
  else await document.documentElement.requestFullscreen();
}
