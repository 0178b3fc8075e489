import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useId, useState } from "react";
import { Refused } from "../../../api/client.ts";
import { reading } from "../../../api/queries.ts";
import { runTask } from "../../../api/tasks.ts";
import { Dialog } from "../../../parts/Dialog.tsx";
import { Failure } from "../../../parts/Failure.tsx";
import { Foreign, plainText } from "../../../parts/Foreign.tsx";
import { Waiting } from "../../../parts/Shown.tsx";
import { formatBytes, formatCommand } from "../../../words/formats.ts";
import { words } from "../../../words/words.ts";
import { Progress, type Question, useAct, useHold } from "../act-parts.tsx";
import { useRun } from "../use-run.ts";
import styles from "./ContinueDialog.module.css";
import { type ContinueDraft, useContinueDraft } from "./continue-draft.ts";
import { type Comment, unsentOf } from "./place.ts";

const said = words.comments;
const MOST_NOTE = 20_000;
/** Whoever types is not asked about every letter. */
const WAIT_MS = 150;

/** What the agent will be told, byte for byte, before anybody presses Send; its hash goes with the wish. */
export function ContinueDialog({ run, close, hold }: Question): ReactNode {
  const { draft, change, clear } = useContinueDraft(run.run_id);
  const navigate = useNavigate();
  const report = useRun().data;
  const unsent = unsentOf(report?.comments ?? []);
  const commands = useQuery(reading("agent.commands", {}));
  const chosen = unsent.filter(({ id }) => !draft.without.includes(id)).map(({ id }) => id);
  const asked = { run: run.run_id, comments: chosen, note: draft.note, from: draft.from };
  const rested = useRested(asked);
  const text = useQuery({ ...reading("agent.feedback", rested), staleTime: 0, gcTime: 0, retry: false });
  const isCurrent = JSON.stringify(rested) === JSON.stringify(asked) && !text.isFetching;
  const shown = isCurrent ? (text.data ?? null) : null;
  const {
    run: send,
    progress,
    problem,
    cancel,
  } = useAct(
    (key, signal, onProgress) =>
      runTask(
        "agent.continue",
        {
          ...asked,
          feedback_sha256: shown?.sha256 ?? undefined,
          ...(draft.command === null ? {} : { command: draft.command }),
        },
        { key, signal, onProgress },
      ),
    () => {
      clear();
      // Not one step back and then forward: the address of the question becomes that of the output.
      void navigate({ to: "/runs/$run/live", params: { run: run.run_id }, replace: true });
    },
  );
  useHold("continue", progress !== null || problem !== null, hold);
  const { refetch } = text;
  useEffect(() => {
    if (problem instanceof Refused && problem.code === "FEEDBACK_CHANGED") void refetch();
  }, [problem, refetch]);
  const isOff = commands.data?.starting === "off";
  const maySend = shown !== null && shown.text !== null && !isOff;
  return (
    <Dialog
      title={said.title}
      close={progress === null ? close : cancel}
      busy={progress !== null}
      act={maySend ? { label: said.act, run: () => void send() } : undefined}
    >
      <p>{said.consequence}</p>
      {isOff ? <p className={styles["bad"]}>{said.off}</p> : null}
      <Which comments={unsent} draft={draft} change={change} />
      <label className={styles["field"]}>
        <span>{said.note}</span>
        <textarea
          rows={2}
          maxLength={MOST_NOTE}
          placeholder={said.noteHint}
          value={draft.note}
          onChange={({ target }) => change({ note: target.value })}
        />
      </label>
      <Choices
        draft={draft}
        change={change}
        argv={run.agent.argv}
        names={(commands.data?.commands ?? []).filter(({ allowed }) => allowed).map(({ name }) => name)}
      />
      <section className={styles["exact"]} aria-label={said.exact}>
        <h3>{said.exact}</h3>
        {text.error === null ? null : <Failure thrown={text.error} again={() => void refetch()} />}
        {text.data === undefined && text.error === null ? <Waiting lines={3} /> : null}
        {text.data === undefined ? null : text.data.text === null ? (
          <p className={styles["plain"]}>{said.nothing}</p>
        ) : (
          <>
            {draft.from === "candidate" && text.data.from === "base" ? <p>{said.noCandidate}</p> : null}
            <pre tabIndex={0} data-testid="told" data-current={shown !== null}>
              <Foreign text={text.data.text} />
            </pre>
            <p className={styles["plain"]}>
              {said.bytes(formatBytes(new TextEncoder().encode(text.data.text).length))}
            </p>
          </>
        )}
      </section>
      <Progress text={progress} fallback={said.sending} />
      {problem === null ? null : <Failure thrown={problem} />}
    </Dialog>
  );
}

/** The value as it is once it has stayed the same for a moment. */
function useRested<T>(value: T): T {
  const [rested, setRested] = useState(value);
  const name = JSON.stringify(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(JSON.parse(name) as T), WAIT_MS);
    return () => clearTimeout(timer);
  }, [name]);
  return rested;
}

function Which(props: {
  readonly comments: readonly Comment[];
  readonly draft: ContinueDraft;
  readonly change: (change: Partial<ContinueDraft>) => void;
}): ReactNode {
  const { comments, draft, change } = props;
  if (comments.length === 0) return null;
  const toggle = (id: string) =>
    change({
      without: draft.without.includes(id) ? draft.without.filter((one) => one !== id) : [...draft.without, id],
    });
  return (
    <fieldset className={styles["field"]}>
      <legend>{said.which}</legend>
      {comments.map(({ id, at, text }) => (
        <label key={id} className={styles["tick"]}>
          <input type="checkbox" checked={!draft.without.includes(id)} onChange={() => toggle(id)} />
          <span>
            <code>
              <Foreign text={at.from === null ? at.path : `${at.path}:${at.from}`} />
            </code>{" "}
            <Foreign text={plainText(text, 120)} />
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function Choices(props: {
  readonly draft: ContinueDraft;
  readonly change: (change: Partial<ContinueDraft>) => void;
  readonly argv: readonly string[];
  readonly names: readonly string[];
}): ReactNode {
  const { draft, change, argv, names } = props;
  const id = useId();
  return (
    <>
      <fieldset className={styles["field"]}>
        <legend>{said.from}</legend>
        {(["candidate", "base", "tree"] as const).map((from) => (
          <label key={from} className={styles["tick"]}>
            <input type="radio" name={`${id}-from`} checked={draft.from === from} onChange={() => change({ from })} />
            <span>{said.froms[from]}</span>
          </label>
        ))}
      </fieldset>
      <fieldset className={styles["field"]}>
        <legend>{said.by}</legend>
        <label className={styles["tick"]}>
          <input
            type="radio"
            name={`${id}-by`}
            checked={draft.command === null}
            onChange={() => change({ command: null })}
          />
          <span>
            {said.same}{" "}
            <code>
              <Foreign text={plainText(formatCommand(argv), 160)} />
            </code>
          </span>
        </label>
        {names.map((name) => (
          <label key={name} className={styles["tick"]}>
            <input
              type="radio"
              name={`${id}-by`}
              checked={draft.command === name}
              onChange={() => change({ command: name })}
            />
            <span>
              <Foreign text={said.named(name)} />
            </span>
          </label>
        ))}
      </fieldset>
    </>
  );
}
