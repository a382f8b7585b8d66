import { describe, expect, it } from "vitest";
import { BANNER_MS, EMPTY, isLive, TOAST_MS } from "../src/store";
import { CONNECT, live, message, play, state } from "./samples";

const LOST = { type: "disconnected", reason: "connection closed", retryAt: 9_000 } as const;
const pung = (t: number, tile = "5p") => ({ seat: 2, call: "pung", tile, from_seat: 1, t });

describe("live and stale", () => {
  it("is live only with a connection, an online daemon and a state from this connection", () => {
    expect(isLive(EMPTY)).toBe(false);
    expect(isLive(play(CONNECT))).toBe(false);
    expect(isLive(play([...CONNECT.slice(0, 2), message("state", state())]))).toBe(false);
    expect(isLive(live())).toBe(true);
  });

  it("remembers since when it is stale, across failed attempts to reconnect", () => {
    const lost = play([[LOST, 5_000], [{ type: "connecting", table: "t1" }, 6_000], [LOST, 7_000]], live());
    expect(isLive(lost)).toBe(false);
    expect(lost.staleSince).toBe(5_000);
    expect(lost.state?.wall).toBe(50);
  });

  it("stays stale after reconnecting until the daemon speaks and a new state comes", () => {
    const back = play([[LOST, 5_000], { type: "connecting", table: "t1" }, { type: "connected" }], live());
    expect(isLive(back)).toBe(false);
    const online = play([message("availability", "online")], back);
    expect(isLive(online)).toBe(false);
    expect(online.staleSince).toBe(5_000);
    const fresh = play([message("state", state({ wall: 49 }))], online);
    expect(isLive(fresh)).toBe(true);
    expect(fresh.staleSince).toBeNull();
  });

  it("is stale when the daemon's last will says offline, though the broker is there", () => {
    const gone = play([[message("availability", "offline"), 8_000]], live());
    expect(isLive(gone)).toBe(false);
    expect(gone.staleSince).toBe(8_000);
  });

  it("waits for the word of a new daemon, whatever the broker remembers of the old one", () => {
    const old = { ...message("state", state()), retained: true };
    const late = play([...CONNECT.slice(0, 2), message("availability", "offline"), old]);
    expect(late.state?.wall).toBe(50);
    const started = play([message("availability", "online")], late);
    expect(isLive(started)).toBe(false);
    expect(isLive(play([message("state", state({ wall: 70 }))], started))).toBe(true);

    const restarted = play([message("availability", "offline"), message("availability", "online")], live());
    expect(isLive(restarted)).toBe(false);
    const spoke = play([message("availability", "offline"), message("state", state()), message("availability", "online")], live());
    expect(isLive(spoke)).toBe(true);
  });

  it("forgets everything when the daemon turns out to be another table", () => {
    const other = play([LOST, { type: "connecting", table: "t2" }], live());
    expect(other.state).toBeNull();
    expect(other.table).toBe("t2");
  });
});

describe("messages", () => {
  it("reports an unreadable payload and keeps what it had", () => {
    const odd = play([message("state", "{ not json")], live());
    expect(odd.unreadable).toContain("state");
    expect(odd.state?.wall).toBe(50);
    expect(play([message("state", state())], odd).unreadable).toBeNull();
  });

  it("does not pretend to understand a newer schema", () => {
    const newer = play([message("state", { ...state({ wall: 1 }), schema_version: 2 })], live());
    expect(newer.unreadable).toContain("schema 2");
    expect(newer.state?.wall).toBe(50);
  });

  it("never takes a settlement for final that does not say so", () => {
    const model = play([message("settlement", { hand: 3, delta: [1, -1, 0, 0] })], live());
    expect(model.settlement?.final).toBe(false);
  });

  it("clears what a retained topic's empty payload clears", () => {
    const asked = play([message("questions", { open: [{ id: "q1", alternatives: [] }] })], live());
    expect(asked.questions.open).toHaveLength(1);
    expect(play([message("questions", "")], asked).questions.open).toHaveLength(0);
  });
});

describe("calls", () => {
  it("announces a call once, for a while", () => {
    const called = play([[message("state", state({ t: 110, last_call: pung(110) })), 2_000]], live());
    expect(called.banner?.call.call).toBe("pung");
    expect(play([[{ type: "tick" }, 2_000 + BANNER_MS - 1]], called).banner).not.toBeNull();
    const over = play([[{ type: "tick" }, 2_000 + BANNER_MS]], called);
    expect(over.banner).toBeNull();
    const again = play([message("state", state({ t: 118, last_call: pung(110), wall: 48 }))], over);
    expect(again.banner).toBeNull();
    expect(again.calls).toHaveLength(1);
  });

  it("corrects the tile of a call without announcing it again", () => {
    const called = play([message("state", state({ t: 110, last_call: pung(110) }))], live());
    const over = play([[{ type: "tick" }, 60_000]], called);
    const corrected = play([message("state", state({ t: 111, last_call: pung(110, "6p") }))], over);
    expect(corrected.banner).toBeNull();
    expect(corrected.calls.map((call) => call.tile)).toEqual(["6p"]);
  });

  it("is one call from the button to the tiles laid down", () => {
    const pressed = play([message("state", state({ t: 110, last_call: { ...pung(110), tile: null } }))], live());
    const laid = play([message("state", state({ t: 113, last_call: pung(113) }))], pressed);
    expect(laid.calls.map((call) => call.tile)).toEqual([pung(113).tile]);
    expect(laid.banner?.call.t).toBe(113);
    const later = play([message("state", state({ t: 150, last_call: { ...pung(150), tile: null } }))], laid);
    expect(later.calls).toHaveLength(2);
  });

  it("does not announce what happened long before the page was opened, nor passes", () => {
    expect(live({ t: 500, last_call: pung(110) }).banner).toBeNull();
    expect(live({ t: 110, last_call: { ...pung(110), call: "pass" } }).banner).toBeNull();
    expect(live({ t: 112, last_call: pung(110) }).banner).not.toBeNull();
    const late = [...CONNECT, message("health", { t: 500 }), message("state", state({ t: 110, last_call: pung(110) }))];
    expect(play(late).banner).toBeNull();
  });

  it("takes the banner away when the connection is lost, and does not repeat it after", () => {
    const called = play([message("state", state({ t: 110, last_call: pung(110) }))], live());
    const lost = play([LOST], called);
    expect(lost.banner).toBeNull();
    const back = play([...CONNECT, message("state", state({ t: 110, last_call: pung(110) }))], lost);
    expect(back.banner).toBeNull();
  });

  it("begins a new list with a new hand", () => {
    const called = play([message("state", state({ t: 110, last_call: pung(110) }))], live());
    expect(play([message("state", state({ hand: 4, t: 200 }))], called).calls).toEqual([]);
  });
});

describe("toasts", () => {
  const issue = { id: "swap_discard", seat: 1, text_en: "may not throw the tile just called", text_zh: "不可打出剛要的牌" };

  it("shows a new issue once and names the seat", () => {
    const broken = play([[message("state", state({ issues: [issue] })), 2_000]], live());
    expect(broken.toasts.map((toast) => toast.en)).toEqual(["Jonas: not allowed: may not throw the tile just called"]);
    const same = play([[message("state", state({ issues: [issue], wall: 40 })), 3_000]], broken);
    expect(same.toasts[0]?.until).toBe(2_000 + TOAST_MS);
    expect(play([[{ type: "tick" }, 2_000 + TOAST_MS]], same).toasts).toEqual([]);
  });

  it("shows an event's issue and the state's as one", () => {
    const model = play(
      [message("event", { n: 4, t: 1, event: {}, issues: [issue] }), message("state", state({ issues: [issue] }))],
      live(),
    );
    expect(model.toasts).toHaveLength(1);
  });
});
