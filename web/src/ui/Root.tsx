import type { VNode } from "preact";
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { Calibrator } from "../calibration";
import type { Verb } from "../messages";
import { LoginError, type Operator } from "../operator";
import { saveSettings, type Settings } from "../settings";
import { isLive, type Store } from "../store";
import type { Teacher } from "../teaching";
import { VERBS } from "../text";
import { App, PAGES, type Page } from "./App";
import { ViewContext, type Actions, type Dialog, type View } from "./context";

interface Props {
  readonly store: Store;
  readonly operator: Operator;
  readonly calibrator: Calibrator;
  readonly teacher: Teacher;
  readonly initial: Settings;
}

function useStore(store: Store): ReturnType<Store["get"]> {
  const [model, setModel] = useState(store.get());
  useEffect(() => {
    setModel(store.get());
    return store.subscribe(() => setModel(store.get()));
  }, [store]);
  return model;
}

function usePage(): Page {
  const read = (): Page => PAGES.find((name) => location.hash === `#${name}`) ?? "table";
  const [page, setPage] = useState(read);
  useEffect(() => {
    const changed = (): void => setPage(read());
    window.addEventListener("hashchange", changed);
    return () => window.removeEventListener("hashchange", changed);
  }, []);
  return page;
}

/** Holds what only this screen knows (settings, open dialog, requests under way) and draws. */
export function Root({ store, operator, calibrator, teacher, initial }: Props): VNode {
  const model = useStore(store);
  const page = usePage();
  const [settings, setSettings] = useState(initial);
  const [dialog, open] = useState<Dialog | null>(null);
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set());
  const [loggedIn, setLoggedIn] = useState(operator.loggedIn);
  useEffect(() => operator.subscribe(() => setLoggedIn(operator.loggedIn)), [operator]);
  useEffect(() => {
    document.documentElement.dataset["lang"] = settings.language;
    document.documentElement.lang = settings.language === "zh" ? "zh-Hant" : "en";
  }, [settings.language]);

  const ask = useCallback(
    async (verb: Verb, args: Readonly<Record<string, unknown>>): Promise<boolean> => {
      const login = (): void => open({ kind: "login", then: () => void ask(verb, args) });
      if (!operator.loggedIn) {
        login();
        return false;
      }
      setBusy((set) => new Set(set).add(verb));
      try {
        await operator.request(verb, args);
        store.dispatch({ type: "toast", kind: "done", en: `${VERBS[verb].en}: done`, zh: `${VERBS[verb].zh}：完成` });
        return true;
      } catch (error) {
        if (error instanceof LoginError) {
          login();
          return false;
        }
        const reason = error instanceof Error ? error.message : String(error);
        store.dispatch({ type: "toast", kind: "error", en: `${VERBS[verb].en}: ${reason}`, zh: `${VERBS[verb].zh}：${reason}` });
        return false;
      } finally {
        setBusy((set) => new Set([...set].filter((name) => name !== verb)));
      }
    },
    [operator, store],
  );

  const actions = useMemo<Actions>(
    () => ({
      ask,
      open,
      login: (password) => operator.login(password),
      logout: () => operator.logout(),
      set: (change) =>
        setSettings((current) => {
          const next = { ...current, ...change };
          saveSettings(localStorage, next);
          return next;
        }),
      dismiss: (key) => store.dispatch({ type: "dismiss", key }),
    }),
    [ask, operator, store],
  );

  // A seat chosen at a table of four may not exist at a table of three.
  const exists = settings.mySeat < (model.state?.seats.length || 4);
  const shown = exists ? settings : { ...settings, mySeat: 0 };
  const view: View = { model, settings: shown, live: isLive(model), operator: loggedIn, dialog, busy, actions };
  return (
    <ViewContext.Provider value={view}>
      <App page={page} calibrator={calibrator} teacher={teacher} />
    </ViewContext.Provider>
  );
}
