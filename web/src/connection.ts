/**
 * The reading connection: asks the daemon who it is, joins the broker over WebSocket, and comes
 * back by itself for as long as the page is open. Each try asks for the session again, because a
 * restarted daemon has new passwords.
 */

import type { IClientOptions, MqttClient } from "mqtt";
import type { Action } from "./store";

export interface Session {
  readonly table: string;
  /** Null where the broker lets anybody read. */
  readonly username: string | null;
  readonly password: string | null;
}

export interface Ports {
  readonly fetchSession: () => Promise<Session>;
  readonly connect: (options: IClientOptions) => MqttClient;
  readonly dispatch: (action: Action) => void;
  readonly now: () => number;
  readonly random: () => number;
}

/**
 * Topics under `tablectl/<table>/` that the page reads. Retained ones come in this order: `state`
 * after what it is shown with, because the page counts as live from then on.
 */
export const READ_TOPICS = ["availability", "health", "settlement", "questions", "state", "event"] as const;

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 10_000;

/** Waiting time before try n (0-based): doubles to a ceiling, spread so that screens don't march. */
export function backoff(attempt: number, random: number): number {
  const base = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt, 10));
  return Math.round(base * (0.75 + random / 2));
}

export const MQTT_OPTIONS: IClientOptions = {
  protocolVersion: 4,
  clean: true,
  keepalive: 5,
  connectTimeout: 8_000,
  // The default is a worker from a blob: address, which the page's security policy forbids.
  timerVariant: "native",
  // The loop below reconnects; the library's own loop would keep old passwords.
  reconnectPeriod: 0,
};

export class Connection {
  private attempt = 0;
  private client: MqttClient | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private generation = 0;

  constructor(private readonly ports: Ports) {}

  start(): void {
    void this.tryOnce();
  }

  /** Drop what there is and connect anew at once, after a sleep or when the network returns. */
  restart(reason: string): void {
    this.attempt = 0;
    this.drop(reason, 0);
  }

  stop(): void {
    this.generation += 1;
    if (this.timer !== null) clearTimeout(this.timer);
    this.client?.end(true);
    this.client = null;
  }

  private async tryOnce(): Promise<void> {
    const generation = ++this.generation;
    const current = (): boolean => generation === this.generation;
    let session: Session;
    try {
      session = await this.ports.fetchSession();
    } catch (error) {
      if (current()) this.drop(error instanceof Error ? error.message : String(error));
      return;
    }
    if (!current()) return;
    this.ports.dispatch({ type: "connecting", table: session.table });
    const client = this.ports.connect({
      ...MQTT_OPTIONS,
      ...(session.username === null ? {} : { username: session.username }),
      ...(session.password === null ? {} : { password: session.password }),
    });
    this.client = client;
    const prefix = `tablectl/${session.table}/`;
    client.on("connect", () => {
      if (!current()) return;
      this.ports.dispatch({ type: "connected" });
      client.subscribe(
        READ_TOPICS.map((topic) => prefix + topic),
        { qos: 1 },
        (error) => {
          if (!current()) return;
          if (error) this.drop(error.message);
          else this.attempt = 0;
        },
      );
    });
    client.on("message", (topic, payload, packet) => {
      if (!current() || !topic.startsWith(prefix)) return;
      this.ports.dispatch({
        type: "message",
        topic: topic.slice(prefix.length),
        payload: new TextDecoder().decode(payload),
        retained: packet.retain,
      });
    });
    client.on("error", (error) => current() && this.drop(error.message));
    client.on("close", () => current() && this.drop("connection closed"));
  }

  private drop(reason: string, wait = backoff(this.attempt, this.ports.random())): void {
    this.generation += 1;
    this.attempt += 1;
    this.client?.end(true);
    this.client = null;
    if (this.timer !== null) clearTimeout(this.timer);
    this.ports.dispatch({ type: "disconnected", reason, retryAt: this.ports.now() + wait });
    this.timer = setTimeout(() => void this.tryOnce(), wait);
  }
}
