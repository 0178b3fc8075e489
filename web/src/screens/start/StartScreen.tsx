import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { newKey } from "../../api/client.ts";
import { queries, reading } from "../../api/queries.ts";
import { runTask } from "../../api/tasks.ts";
import { Page } from "../../app/Page.tsx";
import { useIsLost } from "../../app/use-connection.ts";
import { Button } from "../../parts/Button.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { words } from "../../words/words.ts";
import { AgentField } from "./AgentField.tsx";
import { clearDraft, type Draft, type Known, linesOf, minutesOf, readDraft, toStart, useDraft } from "./draft.ts";
import { FilesField } from "./FilesField.tsx";
import { MoreFields } from "./MoreFields.tsx";
import { PathList } from "./PathList.tsx";
import styles from "./StartScreen.module.css";
import { WillRun } from "./WillRun.tsx";

const said = words.start;
const route = getRouteApi("/runs/new");
const MOST_GOAL = 20_000;

/** Everything that decides what an agent does, and what that will be, before it is started. An address prefills; it never starts. */
export function StartScreen(): ReactNode {
  const query = useQuery({ ...reading("agent.commands", {}), staleTime: 0 });
  return (
    <Page title={said.title}>
      <Shown query={query} lines={8}>
        {(known) => (known.starting === "off" ? <Off /> : <Form known={known} />)}
      </Shown>
    </Page>
  );
}

function Off(): ReactNode {
  return (
    <div className={styles["field"]}>
      <p>{said.off}</p>
      <p className={styles["plain"]}>{said.offWhy}</p>
    </div>
  );
}

/** What the address says is taken over once; from then on the form is what somebody makes of it. */
function usePrefill(known: Known, change: (change: Partial<Draft>) => void): void {
  const { goal, command } = route.useSearch();
  const isRead = useRef(false);
  useEffect(() => {
    if (isRead.current) return;
    isRead.current = true;
    const named = known.commands.find((one) => one.name === command && one.allowed);
    change({ ...(goal === undefined ? {} : { goal }), ...(named === undefined ? {} : { command: named.name }) });
  });
}

function Form({ known }: { readonly known: Known }): ReactNode {
  const [draft, change] = useDraft();
  const navigate = useNavigate();
  const isLost = useIsLost();
  const key = useRef(newKey());
  const [progress, setProgress] = useState<string | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [missing, setMissing] = useState<string | null>(null);
  usePrefill(known, change);
  /** Whoever chose to type a command is not led back to another. */
  const hasTyped = useRef(false);
  const allowed = known.commands.filter((one) => one.allowed);
  // Where nothing may be typed and one is allowed, there is nothing to choose. What the address said has been taken over by now.
  useEffect(() => {
    const now = readDraft();
    const isGone = now.command !== null && allowed.every(({ name }) => name !== now.command);
    const isStuck = now.command === null && (known.starting !== "typed" || now.typed === "");
    const first = allowed[0]?.name ?? null;
    if ((isGone || isStuck) && now.command !== first && !hasTyped.current) change({ command: first });
  });
  const command = known.commands.find(({ name }) => name === draft.command) ?? null;
  const isBusy = progress !== null;
  const begin = async () => {
    const lacks = lacksOf(draft, known);
    setMissing(lacks);
    setProblem(null);
    if (lacks !== null) return;
    setProgress(said.starting);
    try {
      const { run_id, run_ids } = await runTask("agent.start", toStart(draft), {
        key: key.current,
        onProgress: setProgress,
        onWaiting: () => setProgress(said.waiting(known.parallel)),
      });
      clearDraft();
      void queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => /^(?:agent|studio)\./.test(String(name)) });
      if (run_ids.length > 1) await navigate({ to: "/runs/compare", search: { ids: run_ids.join(",") } });
      else await navigate({ to: "/runs/$run/live", params: { run: run_id } });
    } catch (thrown) {
      setProblem(thrown);
      // What was refused did not happen; the next press is another wish.
      key.current = newKey();
      setProgress(null);
    }
  };
  return (
    <form
      className={styles["form"]}
      onSubmit={(event) => {
        event.preventDefault();
        void begin();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || isBusy || isLost) return;
        event.preventDefault();
        void begin();
      }}
    >
      <div className={styles["field"]}>
        <label htmlFor="goal">{said.goal}</label>
        <textarea
          id="goal"
          rows={4}
          maxLength={MOST_GOAL}
          placeholder={said.goalHint}
          value={draft.goal}
          aria-invalid={missing === said.needGoal}
          aria-describedby={missing === null ? undefined : "start-missing"}
          onChange={({ target }) => change({ goal: target.value })}
        />
      </div>
      <AgentField
        draft={draft}
        known={known}
        change={(next) => {
          hasTyped.current = next.command === null || hasTyped.current;
          change(next);
        }}
      />
      <VerifyField draft={draft} known={known} change={change} />
      <fieldset className={styles["field"]}>
        <legend>{said.scope}</legend>
        <PathList label={said.allowPaths} paths={draft.allow} change={(allow) => change({ allow })} />
        <PathList label={said.denyPaths} paths={draft.deny} change={(deny) => change({ deny })} />
      </fieldset>
      <FilesField paths={draft.files} change={(files) => change({ files })} />
      <MoreFields draft={draft} known={known} command={command} change={change} />
      <WillRun draft={draft} command={command} known={known} />
      {missing === null ? null : (
        <p id="start-missing" className={styles["bad"]} role="alert">
          {missing}
        </p>
      )}
      {problem === null ? null : <Failure thrown={problem} />}
      <div className={styles["acts"]}>
        <Button kind="primary" type="submit" isDisabled={isBusy || isLost}>
          {draft.count === 1 ? said.start : said.startRace(draft.count)}
        </Button>
        <span role="status">
          {isLost ? words.connection.lostAct : progress === null ? null : <Foreign text={progress} />}
        </span>
      </div>
    </form>
  );
}

/** What has to be said before anything can start; null: nothing. */
function lacksOf(draft: Draft, known: Known): string | null {
  if (draft.goal.trim() === "") return said.needGoal;
  const words = draft.command === null ? linesOf(draft.typed) : [draft.command];
  if (words.length === 0) return said.needAgent;
  if (minutesOf(draft.minutes) === null) return said.timeoutWrong;
  const command = known.commands.find(({ name }) => name === draft.command);
  const checks = (command?.verify ?? known.verify).length + linesOf(draft.verify).length;
  // Whoever may not say that there is none is told by the server what to do.
  return checks === 0 && !draft.without && known.starting === "typed" ? said.needVerify : null;
}

function VerifyField(props: {
  readonly draft: Draft;
  readonly known: Known;
  readonly change: (change: Partial<Draft>) => void;
}): ReactNode {
  const { draft, known, change } = props;
  const command = known.commands.find(({ name }) => name === draft.command);
  const checks = command?.verify ?? known.verify;
  const mayWiden = known.starting === "typed";
  const isOver = draft.without || linesOf(draft.verify).length > 0;
  return (
    <fieldset className={styles["field"]}>
      <legend>{said.verify}</legend>
      {checks.length === 0 ? (
        <p className={styles["plain"]}>{said.verifyNone}</p>
      ) : (
        <ul className={styles["checks"]} data-over={isOver}>
          {checks.map((check) => (
            <li key={check}>
              <code>
                <Foreign text={check} />
              </code>
            </li>
          ))}
        </ul>
      )}
      {mayWiden ? (
        <>
          {draft.without ? null : (
            <label className={styles["under"]}>
              <span>{said.verifyOwn}</span>
              <textarea
                className={styles["code"]}
                rows={2}
                spellCheck={false}
                value={draft.verify}
                onChange={({ target }) => change({ verify: target.value })}
              />
            </label>
          )}
          <label className={styles["tick"]}>
            <input
              type="checkbox"
              checked={draft.without}
              onChange={({ target }) => change({ without: target.checked })}
            />
            <span>{said.without}</span>
          </label>
          {draft.without ? <p className={styles["warn"]}>{said.withoutWhy}</p> : null}
        </>
      ) : null}
    </fieldset>
  );
}
