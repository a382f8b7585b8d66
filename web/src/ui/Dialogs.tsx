import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { questionFor, seatName } from "../derive";
import { LoginError } from "../operator";
import { percent, RULINGS, TABLE_COMMANDS, type TableCommand } from "../text";
import { FACE_ROWS, lookalikes, tileName } from "../tiles";
import { Bi } from "./Bi";
import { useView } from "./context";
import { Face } from "./Tile";

interface ModalProps {
  readonly title: VNode;
  readonly id: string;
  readonly children: ComponentChildren;
}

/** A native dialog: focus stays inside, Escape closes. */
function Modal({ title, id, children }: ModalProps): VNode {
  const { actions } = useView();
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      class="modal"
      data-testid={id}
      onCancel={() => actions.open(null)}
      onClick={(event) => event.target === ref.current && actions.open(null)}
    >
      <div class="modal-body">
        <header>
          <h2>{title}</h2>
          <button type="button" class="close" aria-label="Close 關閉" onClick={() => actions.open(null)}>✕</button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

export function Dialogs(): VNode | null {
  const { dialog } = useView();
  switch (dialog?.kind) {
    case "login":
      return <Login then={dialog.then} />;
    case "correct":
      return <Correct reference={dialog.ref} tile={dialog.tile} />;
    case "free_tile":
      return <FreeTile question={dialog.question} />;
    case "host":
      return <Host />;
    case undefined:
      return null;
  }
}

function Login({ then }: { readonly then: (() => void) | null }): VNode {
  const { actions } = useView();
  const [error, setError] = useState("");
  const [waiting, setWaiting] = useState(false);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const password = String(new FormData(form).get("password") ?? "");
    setWaiting(true);
    setError("");
    try {
      await actions.login(password);
      actions.open(null);
      then?.();
    } catch (problem) {
      setWaiting(false);
      setError(problem instanceof LoginError ? problem.message : `could not log in: ${String(problem)}`);
    }
  };
  return (
    <Modal id="login-dialog" title={<Bi en="Operator login" zh="操作員登入" />}>
      <form class="login" onSubmit={(event) => void submit(event as SubmitEvent)}>
        <p><Bi en="Answers and corrections change the game; they need the operator's password." zh="回答與更正會改變牌局，需要操作員密碼。" /></p>
        <input type="text" name="username" value="operator" autocomplete="username" hidden readOnly />
        <label>
          <Bi en="Password" zh="密碼" />
          <input type="password" name="password" autocomplete="current-password" required autofocus data-testid="login-password" />
        </label>
        {error !== "" && <p class="error" role="alert" data-testid="login-error">{error}</p>}
        <button type="submit" class="primary" disabled={waiting} data-testid="login-submit"><Bi en="Log in" zh="登入" /></button>
      </form>
    </Modal>
  );
}

interface PickerProps {
  /** Whether the ranking is the referee's; otherwise it only knows what looks alike. */
  readonly judged: boolean;
  readonly ranked: readonly { readonly tile: string; readonly probability: number | null }[];
  readonly current?: string;
  readonly onPick: (tile: string) => void;
}

function Picker({ ranked, judged, current, onPick }: PickerProps): VNode {
  return (
    <div class="picker">
      {ranked.length > 0 && (
        <div class="ranked" data-testid="picker-ranked">
          <h3>
            {judged ? <Bi en="Most likely" zh="最有可能" zhFirst /> : <Bi en="Looks alike" zh="相似" zhFirst />}
          </h3>
          {ranked.map(({ tile, probability }) => (
            <button type="button" key={tile} onClick={() => onPick(tile)} data-testid={`ranked-${tile}`}>
              <Face tile={tile} class="choice" />
              <Bi {...tileName(tile)} zhFirst />
              {probability !== null && <b>{percent(probability)}</b>}
            </button>
          ))}
        </div>
      )}
      <h3><Bi en="Any tile" zh="所有牌" zhFirst /></h3>
      {FACE_ROWS.map((row) => (
        <div class="picker-row" key={row[0]}>
          {row.map((tile) => (
            <button type="button" key={tile} class={tile === current ? "current" : ""} data-testid={`pick-${tile}`} onClick={() => onPick(tile)}>
              <Face tile={tile} />
            </button>
          ))}
        </div>
      ))}
    </div>
  );
}

/** Two taps: the wrong tile on the table, then the right face here. */
function Correct({ reference, tile }: { readonly reference: string; readonly tile: string }): VNode {
  const { model, actions } = useView();
  const question = questionFor(reference, model.questions.open);
  const asked = (question?.alternatives ?? []).filter((alternative) => alternative.tile !== null);
  const ranked =
    asked.length > 0
      ? asked.map((alternative) => ({ tile: alternative.tile ?? "?", probability: alternative.probability }))
      : lookalikes(tile).map((candidate) => ({ tile: candidate, probability: null }));
  const pick = (face: string): void => {
    actions.open(null);
    const answer = asked.find((alternative) => alternative.tile === face);
    if (question && answer) void actions.ask("answer", { question: question.id, answer: answer.id });
    else void actions.ask("correct", { ref: reference, tile: face });
  };
  return (
    <Modal
      id="correct-dialog"
      title={
        <span class="correct-title">
          <Face tile={tile} class="choice" />
          <Bi en={`Read as ${tileName(tile).en}. What is it?`} zh={`讀作${tileName(tile).zh}，實際是？`} />
        </span>
      }
    >
      <Picker ranked={ranked} judged={asked.length > 0} current={tile} onPick={pick} />
    </Modal>
  );
}

function FreeTile({ question }: { readonly question: string }): VNode {
  const { model, actions } = useView();
  const asked = model.questions.open.find((open) => open.id === question);
  const ranked = (asked?.alternatives ?? [])
    .filter((alternative) => alternative.tile !== null)
    .map((alternative) => ({ tile: alternative.tile ?? "?", probability: alternative.probability, id: alternative.id }));
  const pick = (face: string): void => {
    actions.open(null);
    const known = ranked.find((candidate) => candidate.tile === face);
    void actions.ask("answer", { question, answer: known?.id ?? `tile:${face}` });
  };
  return (
    <Modal id="free-tile-dialog" title={asked ? <Bi en={asked.text_en} zh={asked.text_zh} /> : <Bi en="Answered already" zh="已回答" />}>
      {asked ? <Picker ranked={ranked} judged onPick={pick} /> : <p><Bi en="This question is no longer open." zh="此題已關閉。" /></p>}
    </Modal>
  );
}

/** The host's few buttons; what moves motors wants a second tap. */
function Host(): VNode {
  const { actions, busy, operator, model } = useView();
  const [armed, setArmed] = useState<string | null>(null);
  const table = ({ command, moves }: TableCommand): void => {
    if (moves && armed !== command) {
      setArmed(command);
      return;
    }
    setArmed(null);
    void actions.ask("table", { command });
  };
  return (
    <Modal id="host-dialog" title={<Bi en="Host" zh="主持" />}>
      <div class="host">
        <div class="host-game">
          <button type="button" class="primary" data-testid="next-hand" disabled={busy.has("next_hand")} onClick={() => void actions.ask("next_hand", {})}>
            <Bi en="Next hand" zh="下一局" />
          </button>
          <button type="button" data-testid="undo" disabled={busy.has("undo")} onClick={() => void actions.ask("undo", {})}>
            ↶ <Bi en="Undo" zh="撤銷" />
          </button>
        </div>
        <h3><Bi en="Table" zh="牌桌" /> <small>{model.health?.link.table_state}</small></h3>
        <button type="button" class="danger" data-testid="table-stop" onClick={() => void actions.ask("table", { command: "stop" })}>
          ■ <Bi en="Stop every motor" zh="全部停止" />
        </button>
        <div class="host-table">
          {TABLE_COMMANDS.map((item) => (
            <button
              type="button"
              key={item.command}
              class={armed === item.command ? "armed" : ""}
              disabled={busy.has("table")}
              data-testid={`table-${item.command}`}
              onClick={() => table(item)}
            >
              {armed === item.command ? <Bi en="Hands clear? Tap again" zh="手已離開？再按一次" /> : <Bi {...item.label} />}
            </button>
          ))}
        </div>
        <Ruling />
        {operator && (
          <button type="button" class="quiet" data-testid="logout" onClick={() => { actions.logout(); actions.open(null); }}>
            <Bi en="Log out" zh="登出" />
          </button>
        )}
      </div>
    </Modal>
  );
}

/** A ruling of the host against one seat: the seat first, then what it did. */
function Ruling(): VNode | null {
  const { model, actions, busy } = useView();
  const [seat, setSeat] = useState<number | null>(null);
  const seats = model.state?.seats ?? [];
  if (seats.length === 0) return null;
  const rule = (kind: string): void => {
    void actions.ask("ruling", { seat, kind });
    setSeat(null);
  };
  return (
    <section class="ruling">
      <h3><Bi en="Ruling against" zh="判罰" /></h3>
      <div class="ruling-row">
        {seats.map((s) => (
          <button
            type="button"
            key={s.seat}
            class={seat === s.seat ? "armed" : ""}
            aria-pressed={seat === s.seat}
            data-testid={`ruling-seat-${s.seat}`}
            onClick={() => setSeat(seat === s.seat ? null : s.seat)}
          >
            {seatName(model.state, s.seat)}
          </button>
        ))}
      </div>
      {seat !== null && (
        <div class="ruling-row">
          {RULINGS.map(({ kind, label }) => (
            <button type="button" key={kind} disabled={busy.has("ruling")} data-testid={`ruling-${kind}`} onClick={() => rule(kind)}>
              <Bi {...label} />
            </button>
          ))}
        </div>
      )}
    </section>
  );
}
