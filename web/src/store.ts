/** What the page knows, and how each message or moment changes it. Pure; the clock comes in. */

import {
  decodeEvent,
  decodeHealth,
  decodeQuestions,
  decodeSettlement,
  decodeState,
  PayloadError,
} from "./decode";
import type { CallView, Health, IssueView, Questions, SettlementView, TableState } from "./messages";
import { notAllowed, QUIET_CALLS } from "./text";

export interface Link {
  readonly status: "connecting" | "up" | "down";
  /** Wall clock (ms) of the next try while down. */
  readonly retryAt: number | null;
  readonly reason: string;
}

export interface Banner {
  readonly call: CallView;
  /** Wall clock (ms) when it was first shown. */
  readonly since: number;
}

export interface Toast {
  readonly key: string;
  readonly kind: "issue" | "error" | "done";
  readonly en: string;
  readonly zh: string;
  readonly until: number;
}

export interface Model {
  readonly table: string;
  readonly link: Link;
  /** The daemon's own word since this connection began; null until it arrives. */
  readonly availability: "online" | "offline" | null;
  /** Whether `state` has arrived since this connection began. */
  readonly fresh: boolean;
  /** Wall clock (ms) since when what is shown may be out of date; null while live. */
  readonly staleSince: number | null;
  readonly state: TableState | null;
  readonly settlement: SettlementView | null;
  readonly questions: Questions;
  readonly health: Health | null;
  readonly banner: Banner | null;
  readonly calls: readonly CallView[];
  readonly toasts: readonly Toast[];
  /** A payload that this page could not read: which topic and why. */
  readonly unreadable: string | null;
}

export type Action =
  | { readonly type: "connecting"; readonly table: string }
  | { readonly type: "connected" }
  | { readonly type: "disconnected"; readonly reason: string; readonly retryAt: number | null }
  | {
      readonly type: "message";
      readonly topic: string;
      readonly payload: string;
      /** The broker's memory from before this page subscribed, not news. */
      readonly retained?: boolean;
    }
  | { readonly type: "toast"; readonly kind: Toast["kind"]; readonly en: string; readonly zh: string }
  | { readonly type: "dismiss"; readonly key: string }
  | { readonly type: "tick" };

export const BANNER_MS = 5_000;
export const TOAST_MS = 10_000;
const CALLS_KEPT = 8;

/** Between the button and the tiles of a call; nobody calls twice in that time. */
const LAID_WITHIN_S = 20;
const NO_QUESTIONS: Questions = { schema_version: 1, open: [] };

export const EMPTY: Model = {
  table: "",
  link: { status: "connecting", retryAt: null, reason: "" },
  availability: null,
  fresh: false,
  staleSince: null,
  state: null,
  settlement: null,
  questions: NO_QUESTIONS,
  health: null,
  banner: null,
  calls: [],
  toasts: [],
  unreadable: null,
};

/** Live means: connected, the daemon says that it is there, and this state came from it now. */
export function isLive(model: Model): boolean {
  return model.link.status === "up" && model.availability === "online" && model.fresh;
}

export function reduce(model: Model, action: Action, now: number): Model {
  const next = apply(model, action, now);
  if (next === model) return model;
  return markStale(model, next, now);
}

function apply(model: Model, action: Action, now: number): Model {
  switch (action.type) {
    case "connecting":
      if (action.table !== model.table && model.table !== "") {
        return { ...EMPTY, table: action.table };
      }
      return {
        ...model,
        table: action.table,
        link: { ...model.link, status: model.link.status === "up" ? "down" : model.link.status },
      };
    case "connected":
      return {
        ...model,
        link: { status: "up", retryAt: null, reason: "" },
        availability: null,
        fresh: false,
      };
    case "disconnected":
      return {
        ...model,
        link: { status: "down", retryAt: action.retryAt, reason: action.reason },
        availability: null,
        fresh: false,
        banner: null,
      };
    case "message":
      return receive(model, action.topic, action.payload, action.retained ?? false, now);
    case "toast":
      return addToast(model, { ...action, key: `${action.kind}:${action.en}` }, now);
    case "dismiss":
      return { ...model, toasts: model.toasts.filter((toast) => toast.key !== action.key) };
    case "tick":
      return expire(model, now);
  }
}

function markStale(before: Model, after: Model, now: number): Model {
  if (isLive(after)) return after.staleSince === null ? after : { ...after, staleSince: null };
  if (isLive(before) && after.staleSince === null) return { ...after, staleSince: now };
  return after;
}

function expire(model: Model, now: number): Model {
  const banner = model.banner && now - model.banner.since >= BANNER_MS ? null : model.banner;
  const toasts = model.toasts.some((toast) => toast.until <= now)
    ? model.toasts.filter((toast) => toast.until > now)
    : model.toasts;
  return banner === model.banner && toasts === model.toasts ? model : { ...model, banner, toasts };
}

function receive(model: Model, topic: string, payload: string, retained: boolean, now: number): Model {
  try {
    const after = understand(model, topic, payload, now);
    return topic === "state" && stillFromBefore(model, retained) ? { ...after, fresh: model.fresh } : after;
  } catch (error) {
    if (!(error instanceof PayloadError || error instanceof SyntaxError)) throw error;
    return { ...model, unreadable: `${topic}: ${error.message}` };
  }
}

/**
 * What a broker remembers of a daemon that has gone is not live, not even once a new daemon comes
 * on line: that one has yet to speak.
 */
function stillFromBefore(model: Model, retained: boolean): boolean {
  return retained && model.availability !== "online";
}

function understand(model: Model, topic: string, payload: string, now: number): Model {
  if (topic === "availability") {
    const availability = payload === "online" ? "online" : "offline";
    return availability === "online" ? { ...model, availability } : { ...model, availability, fresh: false, banner: null };
  }
  // An empty retained payload means that the topic was cleared.
  const value: unknown = payload === "" ? null : JSON.parse(payload);
  switch (topic) {
    case "state":
      return value === null
        ? { ...model, state: null, fresh: true, banner: null }
        : takeState(model, decodeState(value), now);
    case "settlement":
      return { ...model, settlement: value === null ? null : decodeSettlement(value) };
    case "questions":
      return { ...model, questions: value === null ? NO_QUESTIONS : decodeQuestions(value) };
    case "health":
      return { ...model, health: value === null ? null : decodeHealth(value) };
    case "event":
      return decodeEvent(value).issues.reduce((m, issue) => issueToast(m, issue, now), model);
    default:
      return model;
  }
}

function takeState(model: Model, state: TableState, now: number): Model {
  const before = model.state?.session === state.session ? model.state : null;
  const known = new Set((before?.issues ?? []).map(issueKey));
  const announced = announce(model, state, now);
  const taken: Model = { ...announced, state, fresh: true, unreadable: null };
  const news = state.issues.filter((issue) => !known.has(issueKey(issue)));
  return news.reduce((m, issue) => issueToast(m, issue, now), taken);
}

/**
 * A call is one moment: a corrected tile in it changes the text but never announces it again. A
 * button announces a call before its tiles are known; laying them down is the same call.
 */
function sameCall(a: CallView, b: CallView): boolean {
  if (a.seat !== b.seat || a.call !== b.call) return false;
  return a.t === b.t || (a.tile === null && b.t > a.t && b.t - a.t < LAID_WITHIN_S);
}

function announce(model: Model, state: TableState, now: number): Model {
  const call = state.last_call;
  const calls =
    model.state !== null && (model.state.session !== state.session || model.state.hand !== state.hand)
      ? []
      : model.calls;
  if (call === null) return { ...model, calls, banner: null };
  if (model.banner && sameCall(model.banner.call, call)) {
    return { ...model, calls: replaceLast(calls, call), banner: { ...model.banner, call } };
  }
  const last = calls.at(-1);
  if (last && sameCall(last, call)) return { ...model, calls: replaceLast(calls, call) };
  const history = [...calls, call].slice(-CALLS_KEPT);
  // A retained state is as old as its last change; the health report tells the time now.
  const told = Math.max(state.t, model.health?.t ?? 0);
  const old = told - call.t > BANNER_MS / 1000;
  if (old || QUIET_CALLS.has(call.call)) return { ...model, calls: history, banner: null };
  return { ...model, calls: history, banner: { call, since: now } };
}

function replaceLast(calls: readonly CallView[], call: CallView): readonly CallView[] {
  return calls.map((known) => (sameCall(known, call) ? call : known));
}

function issueKey(issue: IssueView): string {
  return `issue:${issue.id}:${issue.seat ?? ""}:${issue.text_en}`;
}

function issueToast(model: Model, issue: IssueView, now: number): Model {
  const name = issue.seat === null ? "" : (model.state?.seats[issue.seat]?.name ?? "");
  const who = name === "" ? "" : `${name}: `;
  const fallback = issue.id.replaceAll("_", " ");
  const text = notAllowed({ en: issue.text_en || fallback, zh: issue.text_zh || fallback });
  return addToast(
    model,
    {
      key: issueKey(issue),
      kind: "issue",
      en: who + text.en,
      zh: who + text.zh,
    },
    now,
  );
}

function addToast(model: Model, toast: Omit<Toast, "until">, now: number): Model {
  const { key, kind, en, zh } = toast;
  const others = model.toasts.filter((known) => known.key !== key);
  return { ...model, toasts: [...others, { key, kind, en, zh, until: now + TOAST_MS }].slice(-4) };
}

export interface Store {
  readonly get: () => Model;
  readonly dispatch: (action: Action) => void;
  readonly subscribe: (listener: () => void) => () => void;
}

export function createStore(clock: () => number = Date.now): Store {
  let model = EMPTY;
  const listeners = new Set<() => void>();
  return {
    get: () => model,
    dispatch(action) {
      const next = reduce(model, action, clock());
      if (next === model) return;
      model = next;
      listeners.forEach((listener) => listener());
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
