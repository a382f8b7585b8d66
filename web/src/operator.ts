/** The operator's side: login, and requests that wait for their response. */

import type { IClientOptions, MqttClient } from "mqtt";
import { MQTT_OPTIONS } from "./connection";
import { decodeResponse } from "./decode";
import type { Request as TableRequest, Verb } from "./messages";

export class LoginError extends Error {}
export class RequestError extends Error {}

export interface Credentials {
  readonly username: string;
  readonly password: string;
  /** For the daemon's own requests, which are not MQTT. */
  readonly token?: string;
}

export interface OperatorPorts {
  readonly post: (password: string) => Promise<Credentials>;
  readonly connect: (options: IClientOptions) => MqttClient;
  readonly storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  readonly newId: () => string;
}

const KEY = "tablectl.operator";
const RESPONSE_MS = 8_000;

interface Pending {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

export class Operator {
  private client: Promise<MqttClient> | null = null;
  private readonly pending = new Map<string, Pending>();
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly ports: OperatorPorts,
    private readonly table: () => string,
  ) {}

  get loggedIn(): boolean {
    return this.credentials() !== null;
  }

  get token(): string | null {
    return this.credentials()?.token ?? null;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async login(password: string): Promise<void> {
    const credentials = await this.ports.post(password);
    this.ports.storage.setItem(KEY, JSON.stringify(credentials));
    this.changed();
  }

  logout(): void {
    this.ports.storage.removeItem(KEY);
    this.close();
    this.changed();
  }

  /** Publishes the request and resolves when the daemon has said yes. */
  async request(verb: Verb, args: Readonly<Record<string, unknown>>): Promise<void> {
    const client = await this.connected();
    const id = this.ports.newId();
    const request: TableRequest = { id, verb, args };
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.pending.delete(id);
        reject(new RequestError("no answer from the table's computer; nothing is known to have changed"));
      }, RESPONSE_MS);
      this.pending.set(id, { resolve, reject, timer });
      client.publish(`tablectl/${this.table()}/request/${verb}`, JSON.stringify(request), { qos: 1 }, (error) => {
        if (error) this.settle(id, (entry) => entry.reject(new RequestError(error.message)));
      });
    });
  }

  private credentials(): Credentials | null {
    const stored = this.ports.storage.getItem(KEY);
    if (stored === null) return null;
    try {
      const { username, password, token } = JSON.parse(stored) as Partial<Credentials>;
      if (typeof username !== "string" || typeof password !== "string") return null;
      return { username, password, ...(typeof token === "string" ? { token } : {}) };
    } catch {
      return null;
    }
  }

  private connected(): Promise<MqttClient> {
    const credentials = this.credentials();
    if (credentials === null) return Promise.reject(new LoginError("log in first"));
    this.client ??= this.open(credentials);
    return this.client;
  }

  private open(credentials: Credentials): Promise<MqttClient> {
    return new Promise((resolve, reject) => {
      const { username, password } = credentials;
      const client = this.ports.connect({ ...MQTT_OPTIONS, username, password });
      const fail = (error: Error): void => {
        client.end(true);
        this.client = null;
        reject(error);
        this.failAll(error);
      };
      client.on("connect", () => {
        client.subscribe(`tablectl/${this.table()}/response/+`, { qos: 1 }, (error) => {
          if (error) fail(new RequestError(error.message));
          else resolve(client);
        });
      });
      client.on("message", (_topic, payload) => this.answered(new TextDecoder().decode(payload)));
      client.on("error", (error) => {
        const code = (error as { code?: unknown }).code;
        if (code === 4 || code === 5) {
          // The daemon was restarted and has new passwords.
          this.logout();
          fail(new LoginError("the login has expired"));
        } else fail(new RequestError(error.message));
      });
      client.on("close", () => fail(new RequestError("the connection to the table was lost")));
    });
  }

  private answered(payload: string): void {
    const response = decodeResponse(JSON.parse(payload));
    this.settle(response.id, (entry) => {
      if (response.ok) entry.resolve();
      else entry.reject(new RequestError(response.error || "refused without a reason"));
    });
  }

  private settle(id: string, finish: (entry: Pending) => void): void {
    const entry = this.pending.get(id);
    if (!entry) return;
    this.pending.delete(id);
    clearTimeout(entry.timer);
    finish(entry);
  }

  private failAll(error: Error): void {
    for (const id of [...this.pending.keys()]) this.settle(id, (entry) => entry.reject(error));
  }

  private close(): void {
    void this.client?.then((client) => client.end(true)).catch(() => undefined);
    this.client = null;
  }

  private changed(): void {
    this.listeners.forEach((listener) => listener());
  }
}
