import type { ComponentChildren, VNode } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { LoginError } from "../operator";
import { Bi } from "./Bi";
import { useView } from "./context";
import { Toasts } from "./Notices";

interface PageProps {
  readonly id: string;
  readonly title: VNode;
  readonly children: ComponentChildren;
}

/** A page with the camera's pictures: asks for the operator's login, and shows nothing before. */
export function DeskPage({ id, title, children }: PageProps): VNode {
  const { operator, actions } = useView();
  const login = (): void => actions.open({ kind: "login", then: null });
  useEffect(() => {
    if (!operator) login();
  }, [operator]);
  return (
    <main class={`service with-desk ${id}`} data-testid={id}>
      <header>
        <a href="#" class="back-link">‹ <Bi en="Table" zh="牌桌" /></a>
        <h1>{title}</h1>
      </header>
      {operator ? children : (
        <p>
          <button type="button" class="primary" data-testid={`${id}-login`} onClick={login}><Bi en="Log in" zh="登入" /></button>{" "}
          <Bi en="The camera's pictures are for the operator only." zh="攝影機影像僅供操作員檢視。" />
        </p>
      )}
      <Toasts />
    </main>
  );
}

export function NoPicture(): VNode {
  return <p data-testid="no-picture"><Bi en="Waiting for a picture…" zh="等待影像…" /></p>;
}

/** Works that may be refused: the newest refusal, and a wrapper that notes it. */
export function useTrouble(): [string, (work: () => Promise<void>) => Promise<void>] {
  const [trouble, setTrouble] = useState("");
  const guarded = useCallback(async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
      setTrouble("");
    } catch (error) {
      // The page asks for a login by itself.
      if (error instanceof LoginError) return;
      setTrouble(sentence(error));
    }
  }, []);
  return [trouble, guarded];
}

/** The newest answer of a question asked again and again while the page is seen. */
export interface Looking<T> {
  readonly seen: T | null;
  /** For an answer that came another way. */
  readonly setSeen: (seen: T) => void;
  /** Why the last question had no answer. */
  readonly blind: string;
}

/** Ask, and ask again `pause` ms after each answer. */
export function useLooking<T>(look: () => Promise<T>, pause: number): Looking<T> {
  const [seen, setSeen] = useState<T | null>(null);
  const [blind, setBlind] = useState("");
  useEffect(() => {
    let stopped = false;
    const again = async (): Promise<void> => {
      if (!document.hidden) {
        try {
          const next = await look();
          if (stopped) return;
          setSeen(next);
          setBlind("");
        } catch (error) {
          if (!stopped && !(error instanceof LoginError)) setBlind(sentence(error));
        }
      }
      if (!stopped) timer = setTimeout(() => void again(), pause);
    };
    let timer = setTimeout(() => void again(), 0);
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [look, pause]);
  return { seen, setSeen, blind };
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
