/** Wiring: the browser's clock, storage, network and screen to the modules that know no browser. */

import mqtt, { type IClientOptions, type MqttClient } from "mqtt";
import { render } from "preact";
import "@fontsource/noto-sans-tc/700.css";
import { Calibrator } from "./calibration";
import { Connection, type Session } from "./connection";
import { Desk } from "./desk";
import { LoginError, Operator, type Credentials } from "./operator";
import { loadSettings } from "./settings";
import { createStore } from "./store";
import { Teacher } from "./teaching";
import { Root } from "./ui/Root";
import "./style/page.css";

const HIDDEN_TOO_LONG_MS = 15_000;
const CONTROLS_MS = 8_000;

function brokerUrl(): string {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/mqtt`;
}

/** Random enough for ids; `crypto.randomUUID` is missing on plain http. */
function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((b) => b.toString(16).padStart(2, "0")).join("");
}

function connect(options: IClientOptions): MqttClient {
  return mqtt.connect(brokerUrl(), { ...options, clientId: `display-${newId()}` });
}

async function fetchSession(): Promise<Session> {
  const response = await fetch("/api/session", { cache: "no-store", signal: AbortSignal.timeout(8_000) });
  if (!response.ok) throw new Error(`the daemon answered ${response.status}`);
  const { table, username, password } = (await response.json()) as Partial<Session>;
  if (!table) throw new Error("the daemon's answer names no table");
  return { table, username: username ?? null, password: password ?? null };
}

async function post(password: string): Promise<Credentials> {
  const response = await fetch("/api/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ password }),
    signal: AbortSignal.timeout(8_000),
  });
  if (response.status === 401) throw new LoginError("wrong password 密碼錯誤");
  if (response.status === 403) throw new LoginError("the operator's login is switched off 操作員登入已停用");
  if (response.status === 429) throw new LoginError("too many tries, wait a little 嘗試過多，請稍候");
  if (!response.ok) throw new LoginError(`the daemon answered ${response.status}`);
  return (await response.json()) as Credentials;
}

const store = createStore();
const operator = new Operator({ post, connect, storage: sessionStorage, newId }, () => store.get().table);
function desk(name: string, patienceMs: number): Desk {
  return new Desk(name, {
    fetch: (path, init) => fetch(path, { ...init, signal: AbortSignal.timeout(patienceMs) }),
    token: () => operator.token,
    expired: () => operator.logout(),
  });
}
const calibrator = new Calibrator(desk("calibration", 15_000));
const teacher = new Teacher(desk("tile-set", 60_000));
const connection = new Connection({
  fetchSession,
  connect,
  dispatch: store.dispatch,
  now: Date.now,
  random: Math.random,
});

setInterval(() => store.dispatch({ type: "tick" }), 500);

// A phone that slept has missed messages without noticing: begin anew.
let hiddenAt: number | null = null;
document.addEventListener("visibilitychange", () => {
  if (document.hidden) hiddenAt = Date.now();
  else if (hiddenAt !== null && Date.now() - hiddenAt > HIDDEN_TOO_LONG_MS) connection.restart("was asleep");
});
window.addEventListener("online", () => connection.restart("network is back"));
window.addEventListener("offline", () => connection.restart("no network"));

// On a big screen the controls come with the pointer and go again.
let controls: ReturnType<typeof setTimeout> | undefined;
function showControls(): void {
  document.documentElement.classList.add("controls");
  clearTimeout(controls);
  controls = setTimeout(() => document.documentElement.classList.remove("controls"), CONTROLS_MS);
}
for (const gesture of ["pointermove", "pointerdown", "keydown"] as const) {
  window.addEventListener(gesture, showControls, { passive: true });
}

const root = document.getElementById("app");
if (root === null) throw new Error("index.html has no #app");
render(<Root store={store} operator={operator} calibrator={calibrator} teacher={teacher} initial={loadSettings(localStorage)} />, root);
connection.start();
