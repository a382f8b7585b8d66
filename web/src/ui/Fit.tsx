import type { ComponentChildren, VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/**
 * Shrinks the type of its content until it fits the height that the layout gives: a television
 * can't be scrolled. On a phone the page scrolls and nothing shrinks.
 */
export function Fit({ children, class: extra = "" }: { readonly children: ComponentChildren; readonly class?: string }): VNode {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const box = ref.current;
    if (!box) return undefined;
    const fit = (): void => {
      const scrolls = getComputedStyle(box).overflowY !== "hidden";
      for (let scale = 1; scale >= 0.45; scale -= 0.05) {
        box.style.setProperty("--fit", scale.toFixed(2));
        if (scrolls || box.scrollHeight <= box.clientHeight + 1) return;
      }
    };
    fit();
    window.addEventListener("resize", fit);
    return () => window.removeEventListener("resize", fit);
  });
  return <div ref={ref} class={`fit ${extra}`}>{children}</div>;
}
