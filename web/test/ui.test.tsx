import type { VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { describe, expect, it } from "vitest";
import { isLive, type Model } from "../src/store";
import { Banner } from "../src/ui/Banner";
import { ViewContext, type View } from "../src/ui/context";
import { StaleNotice } from "../src/ui/Notices";
import { QuestionCard } from "../src/ui/Question";
import { Settlement } from "../src/ui/Settlement";
import { Scoreboard, WildStrip } from "../src/ui/Side";
import { Table } from "../src/ui/Table";
import { live, message, play, settlement, state } from "./samples";

function draw(model: Model, node: VNode): string {
  const idle = (): void => undefined;
  const view: View = {
    model,
    settings: { mySeat: 0, language: "both" },
    live: isLive(model),
    operator: false,
    dialog: null,
    busy: new Set(),
    actions: {
      ask: () => Promise.resolve(true),
      login: () => Promise.resolve(),
      logout: idle,
      open: idle,
      set: idle,
      dismiss: idle,
    },
  };
  return renderToString(<ViewContext.Provider value={view}>{node}</ViewContext.Provider>);
}

const words = (html: string): string => html.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");

describe("the table", () => {
  const seats = state().seats.map((seat) => ({ ...seat }));

  it("shows rivers, concealed counts and marks unsure and wild tiles apart from colour", () => {
    const mine = {
      ...seats[0],
      river: [{ tile: "6p", ref: "r0.0" }, { tile: "9m", certain: false, ref: "r0.1" }],
    };
    const model = live({ seats: [mine, ...seats.slice(1)], last_discard: [0, 1] });
    const html = draw(model, <Table state={model.state!} />);
    expect(html).toMatch(/aria-label="6 Circles 六筒, wild 百搭"/);
    expect(html).toMatch(/aria-label="9 Characters 九萬, not sure 未確認, newest discard"/);
    expect(html).toContain('data-count="13"');
  });

  it("points to the turn only while live", () => {
    const model = live({ turn: 1 });
    expect(draw(model, <Table state={model.state!} />)).toContain("Jonas to play");
    const lost = play([{ type: "disconnected", reason: "", retryAt: null }], model);
    expect(draw(lost, <Table state={lost.state!} />)).not.toContain("to play");
  });
});

describe("wild tiles", () => {
  it("says what the indicator makes wild, and when nothing is", () => {
    const model = live();
    const text = words(draw(model, <WildStrip state={model.state!} />));
    expect(text).toContain("五筒 5 Circles");
    expect(text).toContain("六筒 6 Circles");
    expect(text).toContain("stands for any tile");
    const none = live({ indicator: null, wild: [] });
    expect(words(draw(none, <WildStrip state={none.state!} />))).toContain("No wild tiles");
  });
});

describe("the call", () => {
  it("names caller, tile and giver in both languages", () => {
    const model = live({ t: 110, last_call: { seat: 2, call: "pung", tile: "5p", from_seat: 1, t: 110 } });
    const text = words(draw(model, <Banner />));
    expect(text).toContain("碰 Pung 西 West Chen of 5 Circles, from Jonas 五筒，由 Jonas");
  });
});

describe("the settlement", () => {
  const won = {
    wins: [
      {
        seat: 2,
        by: "discard",
        from_seat: 1,
        tile: "5z",
        hand: [{ tile: "1m" }, { tile: "6p" }],
        patterns: [{ id: "wild_eye", en: "Wild eye", zh: "爆頭", value: 2 }],
        unit: "multiplier",
        wild_as: [["6p", "2m"]],
      },
    ],
    next_dealer: 3,
    next_streak: 2,
    next_round_wind: "S",
  };

  it("gives patterns, arithmetic, payments, totals and the next dealer", () => {
    const model = play([message("settlement", settlement(won))], live({ phase: "settled" }));
    const text = words(draw(model, <Settlement settlement={model.settlement!} state={model.state!} />));
    for (const part of ["爆頭 Wild eye ×2", "base 1 × wild eye 2 = 2", "on a discard of Jonas", "final", "−44", "Next dealer : Aiko ×2"]) {
      expect(text).toContain(part);
    }
    expect(text).toMatch(/Mei 8 ⟶ Chen/);
  });

  it("shows who pays whom where net changes alone do not tell, and an unsure winning tile", () => {
    const two = {
      ...settlement(),
      delta: [-12, 20, -20, 12],
      payments: [
        { payer: 0, receiver: 1, points: 12 },
        { payer: 2, receiver: 1, points: 8 },
        { payer: 2, receiver: 3, points: 12 },
      ],
    };
    const wins = [{ seat: 1, by: "discard", from_seat: 0, tile: "3p", tile_certain: false, hand: [] }];
    const model = play([message("settlement", { ...two, wins })], live({ phase: "settled", hand: 3 }));
    const html = draw(model, <Settlement settlement={model.settlement!} state={model.state!} />);
    expect(words(html)).toMatch(/Mei 12 ⟶ Jonas +Chen 8 ⟶ Jonas +Chen 12 ⟶ Aiko/);
    expect(html).toMatch(/data-testid="win-tile-1".*3 Circles 三筒, not sure 未確認/);
  });

  it("is plainly provisional while not final", () => {
    const model = play([message("settlement", settlement({ ...won, final: false }))], live({ phase: "settling" }));
    const html = draw(model, <Settlement settlement={model.settlement!} state={model.state!} />);
    expect(html).toContain('data-testid="provisional"');
    expect(html).not.toContain('data-testid="final"');
    expect(words(html)).toContain("Total if so");
  });

  it("gives the reason of a win that is none", () => {
    const bad = settlement({ error: "below_minimum", error_text: "2 faan, 3 are needed", delta: [], totals: [] });
    const model = live({ phase: "settled" });
    expect(words(draw(model, <Settlement settlement={bad} state={model.state!} />))).toContain("2 faan, 3 are needed");
  });
});

describe("the scoreboard", () => {
  it("flags a provisional change", () => {
    const model = play([message("settlement", settlement({ final: false }))], live());
    const text = words(draw(model, <Scoreboard state={model.state!} />));
    expect(text).toContain("provisional");
    expect(text).toContain("+32");
  });
});

describe("the question", () => {
  const open = [
    {
      id: "q1",
      kind: "tile",
      text_en: "What did Jonas discard?",
      text_zh: "Jonas 打的是？",
      free_tile: true,
      alternatives: [
        { id: "a", label_en: "7 Characters", label_zh: "七萬", tile: "7m", probability: 0.55 },
        { id: "b", label_en: "9 Characters", label_zh: "九萬", tile: "9m", probability: 0.41 },
      ],
    },
    { id: "q2", alternatives: [] },
  ];

  it("ranks the answers, and can't be answered while stale", () => {
    const model = play([message("questions", { open })], live());
    const html = draw(model, <QuestionCard />);
    expect(html.indexOf("answer-a")).toBeLessThan(html.indexOf("answer-b"));
    expect(words(html)).toMatch(/七萬 7 Characters.*55 %.*九萬 9 Characters.*41 %.*another tile/);
    expect(words(html)).toContain("+1 more");
    expect(html).not.toContain("disabled");
    const lost = play([{ type: "disconnected", reason: "", retryAt: null }], model);
    expect(draw(lost, <QuestionCard />)).toContain("disabled");
  });
});

describe("the stale notice", () => {
  it("says since when, why, and when it tries again", () => {
    const retryAt = Date.now() + 3_900;
    const lost = play([[{ type: "disconnected", reason: "gone", retryAt }, 1_000]], live());
    const text = words(draw(lost, <StaleNotice />));
    expect(text).toMatch(/Stale since \d\d:\d\d:\d\d/);
    expect(text).toContain("trying again in 4 s");
    expect(draw(live(), <StaleNotice />)).toBe("");
  });
});
