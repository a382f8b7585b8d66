import { describe, expect, it } from "vitest";
import { Calibrator } from "../src/calibration";
import { Desk, Refused, type DeskPorts } from "../src/desk";
import { LoginError } from "../src/operator";
import { Teacher } from "../src/teaching";

interface Asked {
  readonly path: string;
  readonly init: RequestInit;
}

/** A daemon that answers everything alike, and what it was asked. */
function daemon(status: number, body: unknown, token: string | null = "t0ken"): { ports: DeskPorts; asked: Asked[]; out: () => boolean } {
  const asked: Asked[] = [];
  let out = false;
  const ports: DeskPorts = {
    fetch: (path, init) => {
      asked.push({ path, init });
      const text = typeof body === "string" ? body : JSON.stringify(body);
      return Promise.resolve(new Response(text, { status }));
    },
    token: () => token,
    expired: () => {
      out = true;
    },
  };
  return { ports, asked, out: () => out };
}

describe("requests to the daemon", () => {
  it("carry the token and the wish as JSON", async () => {
    const { ports, asked } = daemon(200, { taught: null, note: "" });
    const teacher = new Teacher(new Desk("tile-set", ports));
    await teacher.attempt();
    await teacher.save({ trust_layout: true, add: false });
    expect(await teacher.forget()).toEqual({ taught: null, note: "" });
    await new Calibrator(new Desk("calibration", ports)).picture();
    expect(asked.map(({ path, init }) => `${init.method} ${path} ${init.body ?? ""}`)).toEqual([
      "POST /api/tile-set/trial {}",
      'POST /api/tile-set/save {"trust_layout":true,"add":false}',
      "POST /api/tile-set/forget {}",
      "GET /api/calibration/picture ",
    ]);
    for (const { init } of asked) {
      expect(init.headers).toMatchObject({ Authorization: "Bearer t0ken" });
      expect(init.cache).toBe("no-store");
    }
  });

  it("are not sent without a login, and end one that no longer holds", async () => {
    const none = daemon(200, {}, null);
    await expect(new Desk("tile-set", none.ports).post("trial", {})).rejects.toBeInstanceOf(LoginError);
    expect(none.asked).toEqual([]);
    const old = daemon(401, "log in as the operator");
    await expect(new Desk("tile-set", old.ports).post("trial", {})).rejects.toBeInstanceOf(LoginError);
    expect(old.out()).toBe(true);
  });

  it.each([
    [422, { error: "row 4: a tile is missing" }, "row 4: a tile is missing"],
    [404, "no such thing", "No camera is configured."],
    [500, "<html>", "the daemon answered 500"],
    [409, { error: 7 }, "the daemon answered 409"],
  ])("say why they were refused (%i)", async (status, body, said) => {
    const { ports, out } = daemon(status, body);
    const refusal = new Desk("tile-set", ports).post("save", {});
    await expect(refusal).rejects.toBeInstanceOf(Refused);
    await expect(refusal).rejects.toThrow(said);
    expect(out()).toBe(false);
  });
});
