import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { cameraSeverity } from "../derive";
import { cameraText, clock } from "../text";
import { Bi } from "./Bi";
import { useView } from "./context";

/** Wall clock (ms), redrawn each second while shown. */
function useClock(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** Says that what is shown is not live, since when, and what happens next. */
export function StaleNotice(): VNode | null {
  const { live } = useView();
  return live ? null : <Stale />;
}

function Stale(): VNode {
  const { model } = useView();
  const now = useClock();
  const since = model.staleSince;
  const first = model.state === null;
  const wait = model.link.retryAt === null ? null : Math.max(0, Math.ceil((model.link.retryAt - now) / 1000));
  const offline = model.link.status === "up" && model.availability === "offline";
  const reason = offline
    ? { en: "the table's computer is off line", zh: "牌桌主機離線" }
    : model.link.status === "up"
      ? { en: "waiting for the table", zh: "等待牌桌資料" }
      : { en: "no connection to the table", zh: "與牌桌連線中斷" };
  return (
    <div class={`stale ${first ? "first" : ""}`} role="alert" data-testid="stale">
      <b class="stale-title">
        {since !== null ? (
          <Bi en={`Stale since ${clock(since)}`} zh={`資料停於 ${clock(since)}`} />
        ) : (
          <Bi en="Not live yet" zh="尚未連線" />
        )}
      </b>
      <span><Bi en={reason.en} zh={reason.zh} /></span>
      {!offline && model.link.status !== "up" && (
        <small>
          {wait !== null && wait > 0 ? (
            <Bi en={`trying again in ${wait} s`} zh={`${wait} 秒後重試`} />
          ) : (
            <Bi en="connecting…" zh="連線中…" />
          )}
        </small>
      )}
    </div>
  );
}

/** Problems that rob the score of its ground: link, camera, a fault; short, with the remedy. */
export function ProblemBar(): VNode | null {
  const { model, live } = useView();
  const { health, unreadable } = model;
  const fault = live ? health?.link.fault : null;
  const faultZh = health?.link.fault_zh || fault || "";
  const remedy = health?.link.fault_remedy ?? "";
  const remedyZh = health?.link.fault_remedy_zh || remedy;
  // The fault has its own line with the remedy; a problem that repeats it says nothing new.
  const problems = (live ? (health?.problems ?? []) : []).filter(
    (problem) => !fault || !(problem.includes(fault) || problem === remedy),
  ).filter((problem) => problem !== health?.camera_remedy);
  // The camera's state has its own line, in both languages.
  const camera = live && health && cameraSeverity(health) !== "good" && health.camera_remedy !== "" ? health : null;
  if (unreadable) problems.push(`This page could not read a message (${unreadable}). Reload the page.`);
  if (!fault && !camera && problems.length === 0) return null;
  return (
    <div class="problems" data-testid="problems" role="status">
      {fault && (
        <p class="fault" data-testid="fault">
          <b>⚠ <Bi en="Table fault" zh="牌桌故障" zhFirst />:</b> <Bi en={fault} zh={faultZh} zhFirst />
          {remedy && <span class="remedy"> — <Bi en={remedy} zh={remedyZh} zhFirst /></span>}
        </p>
      )}
      {camera && (
        <p data-testid="camera-problem" data-state={camera.camera}>
          <b>⚠ <Bi en="Camera" zh="攝影機" zhFirst />: <Bi {...cameraText(camera.camera).state} zhFirst /></b>
          <span class="remedy"> — <Bi en={camera.camera_remedy} zh={cameraText(camera.camera).remedy || camera.camera_remedy} /></span>
        </p>
      )}
      {problems.slice(0, 2).map((problem) => <p key={problem}>⚠ {problem}</p>)}
      {problems.length > 2 && <p><a href="#service"><Bi en={`${problems.length - 2} more`} zh={`另有 ${problems.length - 2} 項`} /></a></p>}
    </div>
  );
}

export function Toasts(): VNode {
  const { model, actions } = useView();
  return (
    <div class="toasts" role="log" aria-live="assertive" data-testid="toasts">
      {model.toasts.map((toast) => (
        <button
          type="button"
          key={toast.key}
          class={`toast ${toast.kind}`}
          data-testid={`toast-${toast.kind}`}
          onClick={() => actions.dismiss(toast.key)}
        >
          <i aria-hidden="true">{toast.kind === "done" ? "✓" : toast.kind === "issue" ? "⚠" : "✕"}</i>
          <Bi en={toast.en} zh={toast.zh} />
        </button>
      ))}
    </div>
  );
}
