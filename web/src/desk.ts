/** Requests of the operator to the daemon itself, with the token of the login; pictures are not for MQTT. */

import { LoginError } from "./operator";

/** Refused with a sentence for the person at the page. */
export class Refused extends Error {}

export interface DeskPorts {
  readonly fetch: (path: string, init: RequestInit) => Promise<Response>;
  readonly token: () => string | null;
  /** The login no longer holds. */
  readonly expired: () => void;
}

export class Desk {
  /** `name` is its folder under `/api`. */
  constructor(
    private readonly name: string,
    private readonly ports: DeskPorts,
  ) {}

  get(what: string): Promise<unknown> {
    return this.ask(what, { method: "GET" });
  }

  post(what: string, wish: unknown): Promise<unknown> {
    return this.ask(what, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(wish) });
  }

  private async ask(what: string, init: RequestInit): Promise<unknown> {
    const token = this.ports.token();
    if (token === null) throw new LoginError("log in first");
    const headers = { ...init.headers, Authorization: `Bearer ${token}` };
    const response = await this.ports.fetch(`/api/${this.name}/${what}`, { ...init, headers, cache: "no-store" });
    if (response.status === 401) {
      this.ports.expired();
      throw new LoginError("the login has expired");
    }
    if (response.ok) return response.json();
    if (response.status === 404) throw new Refused("No camera is configured.");
    const body = (await response.json().catch(() => ({}))) as { error?: unknown };
    throw new Refused(typeof body.error === "string" ? body.error : `the daemon answered ${response.status}`);
  }
}
