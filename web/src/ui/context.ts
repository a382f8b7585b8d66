import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Verb } from "../messages";
import type { Settings } from "../settings";
import type { Model } from "../store";

export type Dialog =
  | { readonly kind: "login"; readonly then: (() => void) | null }
  | { readonly kind: "correct"; readonly ref: string; readonly tile: string }
  | { readonly kind: "free_tile"; readonly question: string }
  | { readonly kind: "host" };

/** What the user can do; each is the whole of one gesture. */
export interface Actions {
  readonly ask: (verb: Verb, args: Readonly<Record<string, unknown>>) => Promise<boolean>;
  readonly login: (password: string) => Promise<void>;
  readonly logout: () => void;
  readonly open: (dialog: Dialog | null) => void;
  readonly set: (settings: Partial<Settings>) => void;
  readonly dismiss: (toast: string) => void;
}

export interface View {
  readonly model: Model;
  readonly settings: Settings;
  readonly live: boolean;
  readonly operator: boolean;
  readonly dialog: Dialog | null;
  /** Names of requests on their way, so that a second tap does nothing. */
  readonly busy: ReadonlySet<string>;
  readonly actions: Actions;
}

export const ViewContext = createContext<View | null>(null);

export function useView(): View {
  const view = useContext(ViewContext);
  if (view === null) throw new Error("a component was drawn outside the page");
  return view;
}
