import type { VNode } from "preact";
import type { Calibrator } from "../calibration";
import { shownSettlement } from "../derive";
import type { Teacher } from "../teaching";
import { Calibrate } from "./Calibrate";
import { useView } from "./context";
import { Dialogs } from "./Dialogs";
import { Fit } from "./Fit";
import { ProblemBar, StaleNotice, Toasts } from "./Notices";
import { QuestionCard } from "./Question";
import { Service } from "./Service";
import { Settlement } from "./Settlement";
import { Header, Log, Newest, Scoreboard, WildStrip } from "./Side";
import { Table } from "./Table";
import { Teach } from "./Teach";
import { Toolbar } from "./Toolbar";
import { Bi } from "./Bi";

/** The pages that an address can name after `#`, and the table. */
export const PAGES = ["service", "calibrate", "teach"] as const;
export type Page = "table" | (typeof PAGES)[number];

interface Props {
  readonly page: Page;
  readonly calibrator: Calibrator;
  readonly teacher: Teacher;
}

export function App({ page, calibrator, teacher }: Props): VNode {
  return (
    <>
      {page === "service" && <Service />}
      {page === "calibrate" && <Calibrate calibrator={calibrator} />}
      {page === "teach" && <Teach teacher={teacher} />}
      {page === "table" && <TablePage />}
      <Dialogs />
    </>
  );
}

function TablePage(): VNode {
  const { model, live } = useView();
  const { state } = model;
  const settlement = shownSettlement(model);
  const asking = model.questions.open.length > 0;
  return (
    <main class={`page ${live ? "live" : "not-live"} ${settlement ? "settles" : ""} ${asking ? "asking" : ""}`} data-testid="page">
      <div class="where-table">
        {state && state.seats.length > 0 ? (
          <Table state={state} />
        ) : (
          <section class="table empty" data-testid="empty-table">
            <div class="felt">
              {live && <p><Bi en="No session is running" zh="尚未開局" zhFirst /></p>}
            </div>
          </section>
        )}
        <StaleNotice />
        <Toasts />
      </div>
      <aside class="side">
        <Header state={state} />
        <ProblemBar />
        {state && <WildStrip state={state} />}
        <QuestionCard />
        {state && !asking && <Newest state={state} />}
        {state && state.seats.length > 0 && <Scoreboard state={state} />}
        <Fit class="rest">
          {settlement && state ? <Settlement settlement={settlement} state={state} /> : state && <Log state={state} />}
        </Fit>
      </aside>
      <Toolbar />
    </main>
  );
}
