import type { VNode } from "preact";
import { seatName } from "../derive";
import type { Alternative, Question } from "../messages";
import { percent } from "../text";
import { Bi } from "./Bi";
import { useView } from "./context";
import { Face } from "./Tile";

/** The referee's oldest open question, with its answers ranked; one tap answers. */
export function QuestionCard(): VNode | null {
  const { model, actions, busy, live } = useView();
  const [question, ...more] = model.questions.open;
  if (!question) return null;
  const waiting = busy.has("answer");
  const disabled = waiting || !live;
  return (
    <section
      class={`question ${question.blocks_settlement ? "blocks" : ""}`}
      data-testid="question"
      data-question={question.id}
      aria-live="polite"
      aria-label="Question to the table 請確認"
    >
      <header>
        <span class="q-mark" aria-hidden="true">?</span>
        <h2>
          <Bi en={question.text_en} zh={question.text_zh} />
        </h2>
        {more.length > 0 && (
          <span class="tag" data-testid="more-questions"><Bi en={`+${more.length} more`} zh={`另有 ${more.length} 題`} /></span>
        )}
      </header>
      <p class="q-about">
        {question.seat !== null && <span>{seatName(model.state, question.seat)}</span>}
        {question.blocks_settlement && (
          <span class="tag warn"><Bi en="the settlement waits for this" zh="結算待此確認" /></span>
        )}
      </p>
      <div class="alternatives">
        {question.alternatives.map((alternative, i) => (
          <AlternativeButton
            key={alternative.id}
            question={question}
            alternative={alternative}
            first={i === 0}
            disabled={disabled}
          />
        ))}
        {question.free_tile && (
          <button
            type="button"
            class="alternative other"
            disabled={disabled}
            data-testid="other-tile"
            onClick={() => actions.open({ kind: "free_tile", question: question.id })}
          >
            <span class="more-tiles" aria-hidden="true">⋯</span>
            <Bi en="another tile" zh="其他牌" zhFirst />
          </button>
        )}
      </div>
      {waiting && <p class="sending" role="status"><Bi en="sending…" zh="傳送中…" /></p>}
    </section>
  );
}

interface ButtonProps {
  readonly question: Question;
  readonly alternative: Alternative;
  readonly first: boolean;
  readonly disabled: boolean;
}

function AlternativeButton({ question, alternative, first, disabled }: ButtonProps): VNode {
  const { actions } = useView();
  return (
    <button
      type="button"
      class={`alternative ${first ? "likeliest" : ""}`}
      disabled={disabled}
      data-testid={`answer-${alternative.id}`}
      onClick={() => void actions.ask("answer", { question: question.id, answer: alternative.id })}
    >
      {alternative.tile !== null && <Face tile={alternative.tile} class="choice" />}
      <span class="alternative-label"><Bi en={alternative.label_en} zh={alternative.label_zh} zhFirst /></span>
      {alternative.probability !== null && (
        <span class="probability">
          <i style={`width:${Math.round(alternative.probability * 100)}%`} aria-hidden="true" />
          <b>{percent(alternative.probability)}</b>
        </span>
      )}
    </button>
  );
}
