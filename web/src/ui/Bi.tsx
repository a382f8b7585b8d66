import type { VNode } from "preact";

interface Props {
  readonly en: string;
  readonly zh: string;
  /** Chinese first, as on a scoreboard. */
  readonly zhFirst?: boolean;
  readonly class?: string;
}

/** A text in both languages; which of them is seen is the page's language switch (CSS). */
export function Bi({ en, zh, zhFirst = false, class: extra = "" }: Props): VNode {
  const chinese = <span class="zh" lang="zh-Hant">{zh}</span>;
  const english = <span class="en" lang="en">{en}</span>;
  const same = en === zh;
  return (
    <span class={`bi ${extra}`}>
      {same ? <span>{en}</span> : zhFirst ? [chinese, " ", english] : [english, " ", chinese]}
    </span>
  );
}
