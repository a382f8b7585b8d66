/** Everything that the page says, in both languages. */

import type { Phase, Verb } from "./messages";
import { tileName, type Bilingual } from "./tiles";

const WINDS: Readonly<Record<string, Bilingual>> = {
  E: { en: "East", zh: "東" },
  S: { en: "South", zh: "南" },
  W: { en: "West", zh: "西" },
  N: { en: "North", zh: "北" },
};

/** Wind by letter, tile or English name; unknown text is shown as it came. */
export function windName(wind: string): Bilingual {
  const key = wind.endsWith("z") ? ("ESWN"[Number(wind[0]) - 1] ?? wind) : wind.slice(0, 1).toUpperCase();
  return WINDS[key] ?? { en: wind, zh: wind };
}

const CALLS: Readonly<Record<string, Bilingual>> = {
  hu: { en: "Hu!", zh: "胡" },
  win: { en: "Wins!", zh: "胡" },
  kong: { en: "Kong", zh: "槓" },
  closed_kong: { en: "Closed kong", zh: "暗槓" },
  added_kong: { en: "Added kong", zh: "加槓" },
  lone_kong: { en: "Lone kong", zh: "單槓" },
  pung: { en: "Pung", zh: "碰" },
  chow: { en: "Chow", zh: "吃" },
  flower: { en: "Flower", zh: "花" },
  pass: { en: "Pass", zh: "過" },
  exhaust: { en: "Drawn hand", zh: "流局" },
  joy: { en: "Joy", zh: "喜" },
  disclose: { en: "Discloses", zh: "亮" },
  refuse: { en: "Refuses", zh: "棄" },
  ruling: { en: "Ruling", zh: "裁決" },
};

export function callName(call: string): Bilingual {
  return CALLS[call] ?? { en: call.replaceAll("_", " "), zh: call.replaceAll("_", " ") };
}

/** Too quiet for a banner: no call, or as frequent as flowers; the list beside the table has them. */
export const QUIET_CALLS: ReadonlySet<string> = new Set(["pass", "draw", "discard", "flower", ""]);

/** Units that multiply: their values are written as ×2. */
export function multiplies(unit: string): boolean {
  return unitName(unit).en === "×";
}

/** An issue as told to the table, with what it is said before it. */
export function notAllowed(text: Bilingual): Bilingual {
  return { en: `not allowed: ${text.en}`, zh: `違規：${text.zh}` };
}

export const PHASES: Readonly<Record<Phase, Bilingual>> = {
  idle: { en: "No session", zh: "未開局" },
  building: { en: "Building walls", zh: "洗牌砌牌" },
  dealing: { en: "Dealing", zh: "發牌" },
  playing: { en: "Playing", zh: "進行中" },
  settling: { en: "Reading the winning hand", zh: "讀取胡牌" },
  settled: { en: "Hand settled", zh: "已結算" },
  fault: { en: "Table fault", zh: "牌桌故障" },
};

const MELDS: Readonly<Record<string, Bilingual>> = {
  chow: { en: "Chow", zh: "吃" },
  pung: { en: "Pung", zh: "碰" },
  kong: { en: "Kong", zh: "明槓" },
  added_kong: { en: "Added kong", zh: "加槓" },
  closed_kong: { en: "Closed kong", zh: "暗槓" },
  lone_kong: { en: "Lone kong", zh: "單槓" },
  joy: { en: "Joy", zh: "喜" },
};

export function meldName(kind: string): Bilingual {
  return MELDS[kind] ?? { en: kind, zh: kind };
}

const WON_BY: Readonly<Record<string, Bilingual>> = {
  self_draw: { en: "by own draw", zh: "自摸" },
  discard: { en: "on a discard", zh: "點炮" },
  rob_kong: { en: "robbing a kong", zh: "搶槓" },
  deal: { en: "as dealt", zh: "天胡" },
  indicator: { en: "robbing the gold", zh: "搶金" },
  flowers: { en: "with eight flowers", zh: "八花" },
  ten_honours: { en: "with ten honours", zh: "十風" },
};

export function wonBy(by: string): Bilingual {
  return WON_BY[by] ?? { en: by.replaceAll("_", " "), zh: by.replaceAll("_", " ") };
}

const UNITS: Readonly<Record<string, Bilingual>> = {
  faan: { en: "faan", zh: "番" },
  fan: { en: "fan", zh: "番" },
  doubles: { en: "doubles", zh: "番" },
  multiplier: { en: "×", zh: "倍" },
  multipliers: { en: "×", zh: "倍" },
  times: { en: "×", zh: "倍" },
  points: { en: "points", zh: "分" },
};

export function unitName(unit: string): Bilingual {
  return UNITS[unit] ?? { en: unit, zh: unit };
}

/** What the wild tiles are called and may do, by rule set; the rest get the general sentence. */
const WILD: Readonly<Record<string, { name: Bilingual; meaning: Bilingual }>> = {
  hangzhou: {
    name: { en: "Fortune tile", zh: "財神" },
    meaning: {
      en: "stands for any tile; white dragons play as the indicator's face",
      zh: "可代任何牌；白板當指示牌用",
    },
  },
  beijing: {
    name: { en: "Wild tile", zh: "混兒" },
    meaning: { en: "stands for any tile; thrown away it costs the right to win", zh: "可代任何牌；打出即失胡牌權" },
  },
  xiamen: {
    name: { en: "Gold", zh: "金" },
    meaning: {
      en: "stands for any tile; white dragons play as the indicator's face",
      zh: "可代任何牌；白板當指示牌用",
    },
  },
  nanchang: {
    name: { en: "Fine tiles", zh: "精" },
    meaning: { en: "stand for any tile and pay on their own", zh: "可代任何牌，另計精分" },
  },
};

export function wildMeaning(rules: string): { name: Bilingual; meaning: Bilingual } {
  return (
    WILD[rules] ?? {
      name: { en: "Wild tile", zh: "百搭" },
      meaning: { en: "stands for any tile", zh: "可代任何牌" },
    }
  );
}

export const VERBS: Readonly<Record<Verb, Bilingual>> = {
  answer: { en: "Answer", zh: "回答" },
  correct: { en: "Correction", zh: "更正" },
  undo: { en: "Undo", zh: "撤銷" },
  table: { en: "Table command", zh: "牌桌指令" },
  seat: { en: "Seat", zh: "座位" },
  session_start: { en: "Start session", zh: "開始" },
  session_end: { en: "End session", zh: "結束" },
  next_hand: { en: "Next hand", zh: "下一局" },
  ruling: { en: "Ruling", zh: "裁決" },
};

/** What the host may rule, in hand-log ids. */
export const RULINGS: readonly { readonly kind: string; readonly label: Bilingual }[] = [
  { kind: "false_win", label: { en: "False win", zh: "詐胡" } },
  { kind: "wrong_count", label: { en: "Wrong tile count", zh: "相公" } },
  { kind: "wrong_call", label: { en: "Wrong call", zh: "錯叫" } },
];

export interface TableCommand {
  readonly command: string;
  readonly label: Bilingual;
  /** Moves motors: asks for a second tap. */
  readonly moves: boolean;
}

export const TABLE_COMMANDS: readonly TableCommand[] = [
  { command: "raise_walls", label: { en: "Raise walls", zh: "升牌" }, moves: true },
  { command: "lower_walls", label: { en: "Lower walls", zh: "降牌" }, moves: true },
  { command: "open_centre", label: { en: "Open centre", zh: "開中盤" }, moves: true },
  { command: "close_centre", label: { en: "Close centre", zh: "合中盤" }, moves: true },
  { command: "build_walls", label: { en: "Build walls", zh: "洗牌" }, moves: true },
  { command: "roll_dice", label: { en: "Roll dice", zh: "擲骰" }, moves: false },
  { command: "reset_fault", label: { en: "Reset after fault", zh: "故障復位" }, moves: false },
];

/** `3` as `+3`, a minus as a real minus sign, zero as `0`. */
export function signed(value: number): string {
  if (value === 0) return "0";
  return value > 0 ? `+${plain(value)}` : plain(value);
}

/** Style of a gain or a loss; the sign itself says it without colour. */
export function signClass(value: number): string {
  return value > 0 ? "plus" : value < 0 ? "minus" : "zero";
}

/** Numbers with a real minus sign and no needless decimals. */
export function plain(value: number): string {
  const text = String(Math.round(Math.abs(value) * 100) / 100);
  return value < 0 ? `−${text}` : text;
}

/** Local time of day `hh:mm:ss`. */
export function clock(ms: number): string {
  const d = new Date(ms);
  return [d.getHours(), d.getMinutes(), d.getSeconds()].map((n) => String(n).padStart(2, "0")).join(":");
}

interface CameraText {
  readonly state: Bilingual;
  /** The daemon gives the remedy in English. */
  readonly remedy: string;
}

const CAMERA: Readonly<Record<string, CameraText>> = {
  off: { state: { en: "not used", zh: "未使用" }, remedy: "" },
  starting: { state: { en: "starting", zh: "啟動中" }, remedy: "" },
  fine: { state: { en: "fine", zh: "正常" }, remedy: "" },
  stale: { state: { en: "frozen: the same picture again and again", zh: "畫面凍結" }, remedy: "請拔下攝影機再插回，或檢查影像來源。" },
  lost: { state: { en: "lost: no pictures", zh: "無影像" }, remedy: "請檢查插頭、線材與電源。" },
  wrong_size: { state: { en: "wrong picture size", zh: "影像尺寸不符" }, remedy: "請改回校準時的尺寸，或重新校準。" },
  moved: { state: { en: "moved", zh: "已移位" }, remedy: "請固定攝影機，並於 #calibrate 頁重新校準。" },
  dark: { state: { en: "dark", zh: "過暗" }, remedy: "請開燈，或打開鏡頭蓋。" },
  blocked: { state: { en: "view blocked", zh: "視線被遮" }, remedy: "有人或物擋住牌桌；離開後自動繼續辨識。" },
  dim: { state: { en: "the light has fallen", zh: "燈光變暗" }, remedy: "請重新開燈；辨識較不確定，可能多問幾次。" },
  bright: { state: { en: "overexposed", zh: "過曝" }, remedy: "請遮住直射鏡頭的燈，或降低曝光。" },
  tinted: { state: { en: "colours have shifted", zh: "偏色" }, remedy: "請固定攝影機白平衡，或恢復燈光。" },
  flicker: { state: { en: "the light flickers", zh: "閃爍" }, remedy: "請將攝影機設為當地電源頻率，或更換燈具。" },
};

/** A state of the camera; one of a newer daemon is shown as it came. */
export function cameraText(state: string): CameraText {
  const known = state.replaceAll("_", " ");
  return CAMERA[state] ?? { state: { en: known, zh: known }, remedy: "" };
}

/** A probability as shown on an alternative. */
export function percent(probability: number): string {
  const value = probability * 100;
  if (value > 0 && value < 1) return "<1 %";
  return `${Math.round(value)} %`;
}

/** "of 5 Circles" / 五筒, empty without a tile. */
export function ofTile(tile: string | null): Bilingual {
  if (!tile) return { en: "", zh: "" };
  const name = tileName(tile);
  return { en: `of ${name.en}`, zh: name.zh };
}
