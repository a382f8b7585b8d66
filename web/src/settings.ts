/** What this screen remembers about itself. */

export type Language = "both" | "en" | "zh";

export interface Settings {
  /** The seat drawn at the bottom. */
  readonly mySeat: number;
  readonly language: Language;
}

const KEY = "tablectl.settings";
const DEFAULTS: Settings = { mySeat: 0, language: "both" };

export function loadSettings(storage: Pick<Storage, "getItem">): Settings {
  try {
    const stored = JSON.parse(storage.getItem(KEY) ?? "{}") as Partial<Settings>;
    const mySeat = [0, 1, 2, 3].find((seat) => seat === stored.mySeat) ?? DEFAULTS.mySeat;
    const language = (["both", "en", "zh"] as const).find((l) => l === stored.language) ?? DEFAULTS.language;
    return { mySeat, language };
  } catch {
    return DEFAULTS;
  }
}

export function saveSettings(storage: Pick<Storage, "setItem">, settings: Settings): void {
  try {
    storage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // A private window without storage still works; it only forgets.
  }
}
