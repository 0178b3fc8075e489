import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { call, newKey, type Output, Refused } from "../../api/client.ts";
import { queries } from "../../api/queries.ts";
import { Cancelled, runTask } from "../../api/tasks.ts";
import { useDialog } from "../../app/dialogs.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Waiting } from "../../parts/Shown.tsx";
import { words } from "../../words/words.ts";
import { type Selection, useChoice } from "./choice.ts";
import styles from "./RunDialogs.module.css";
import type { Summary } from "./use-run.ts";
import { actsOf, canChoose } from "./Verdict.tsx";

/** The question that the address asks for, if the run as it stands allows it. */
export function RunDialogs({ run }: { readonly run: Summary }): ReactNode {
  const { shown, close } = useDialog();
  // While an act is under way, and while what it was refused is not read, its question stays: the run moves on meanwhile.
  const [held, hold] = useState<string | null>(null);
  const { dropped, verified } = useChoice(run.run_id);
  const isPart = dropped.size > 0 && canChoose(run);
  // A choice that nobody verified is never asked about: there is nothing of it that could be applied.
  const part = isPart && verified !== null && APPLICABLE.includes(verified.result) ? verified : null;
  const allowed = (name: (typeof ASKED)[number]) =>
    name === "apply" && isPart ? part !== null : actsOf(run).includes(name);
  const act = ASKED.find((name) => name === shown && (name === held || allowed(name)));
  const props = { run, close: () => close(), hold };
  if (act === undefined) return null;
  return act === "apply" ? <ApplyDialog {...props} part={part} /> : <ActDialog key={act} {...props} act={act} />;
}

const APPLICABLE: readonly Selection["result"][] = ["passed", "unverified"];
const ASKED = ["apply", "undo", "discard", "verify"] as const;

interface Question {
  readonly run: Summary;
  readonly close: () => void;
  /** Says which question has to stay; null: none. */
  readonly hold: (act: string | null) => void;
}

/** Keeps a question on the screen as long as something is going on in it. */
function useHold(act: string, isHeld: boolean, hold: Question["hold"]): void {
  useEffect(() => {
    if (isHeld) hold(act);
    return () => hold(null);
  }, [act, isHeld, hold]);
}

/** One act under way: begun once under one key, shown until it ended, and what it refused. */
function useAct(
  work: (key: string, signal: AbortSignal, say: (text: string) => void) => Promise<unknown>,
  done: () => void,
) {
  const key = useRef(newKey());
  const stop = useRef<AbortController | null>(null);
  const [progress, setProgress] = useState<string | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const run = async () => {
    stop.current = new AbortController();
    setProblem(null);
    setProgress("");
    try {
      await work(key.current, stop.current.signal, setProgress);
      // The verdict first; what else is on the screen is read anew without anybody waiting for it.
      await queries.invalidateQueries({ queryKey: ["agent.show"] });
      done();
      void queries.invalidateQueries();
    } catch (thrown) {
      if (!(thrown instanceof Cancelled)) setProblem(thrown);
      // What was refused was not done; another try is another wish.
      key.current = newKey();
    } finally {
      setProgress(null);
    }
  };
  return { run, progress, problem, cancel: () => stop.current?.abort() };
}

const OPERATIONS = { undo: "agent.undo", discard: "agent.discard", verify: "agent.verify" } as const;

function ActDialog(props: Question & { readonly act: "undo" | "discard" | "verify" }): ReactNode {
  const { run, close, hold, act } = props;
  const {
    run: start,
    progress,
    problem,
    cancel,
  } = useAct(
    (key, signal, onProgress) => runTask(OPERATIONS[act], { run: run.run_id }, { key, signal, onProgress }),
    close,
  );
  useHold(act, progress !== null || problem !== null, hold);
  const files = run.landing?.files.length ?? run.changes.files.length;
  const says =
    act === "undo"
      ? { title: words.undo.title, consequence: words.undo.consequence(files) }
      : { title: words[act].title, consequence: words[act].consequence };
  return (
    <Dialog
      title={says.title}
      close={progress === null ? close : cancel}
      busy={progress !== null}
      act={{ label: words.acts[act], kind: act === "discard" ? "danger" : "primary", run: () => void start() }}
    >
      <p>{says.consequence}</p>
      <Progress text={progress} fallback={act === "verify" ? words.verify.running : ""} />
      {problem === null ? null : <Failure thrown={problem} />}
    </Dialog>
  );
}

function Progress({ text, fallback }: { readonly text: string | null; readonly fallback: string }): ReactNode {
  if (text === null) return null;
  return (
    <p className={styles["progress"]} role="status">
      <Foreign text={text === "" ? fallback : text} />
    </p>
  );
}

type Plan = Output<"agent.apply">;

/** What would happen to each file, looked up when the question is asked and not before. */
function ApplyDialog({ run, close, hold, part }: Question & { readonly part: Selection | null }): ReactNode {
  // The choice as it was when somebody asked: afterwards it is the candidate of that number, whatever is dropped.
  const [chosen] = useState(part);
  const { clear } = useChoice(run.run_id);
  const what = { run: run.run_id, ...(chosen === null ? {} : { candidate: chosen.candidate }) };
  const plan = useQuery({
    queryKey: ["agent.apply", { ...what, dry_run: true }],
    queryFn: ({ signal }) => call("agent.apply", { ...what, dry_run: true }, signal),
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
  const [except, setExcept] = useState<readonly string[]>([]);
  const {
    run: start,
    progress,
    problem,
    cancel,
  } = useAct(
    (key, signal, onProgress) =>
      runTask(
        "agent.apply",
        { ...what, ...(except.length === 0 ? {} : { except: [...except] }) },
        { key, signal, onProgress },
      ),
    () => {
      close();
      clear();
    },
  );
  useHold("apply", progress !== null || problem !== null, hold);
  const landing = plan.data === undefined ? null : landingOf(plan.data);
  const conflicts = landing?.files.filter(({ how }) => how === "conflict") ?? [];
  const all = chosen?.files ?? run.changes.files.length;
  const count = (landing?.files.length ?? all) - conflicts.length;
  const canApply = landing !== null && (conflicts.length === 0 || except.length > 0) && count > 0;
  const label =
    except.length > 0 ? words.apply.others(count) : landing?.moved ? words.apply.verifyAgain : words.acts.apply(count);
  return (
    <Dialog
      title={words.apply.title(all)}
      close={progress === null ? close : cancel}
      busy={progress !== null}
      act={canApply ? { label, run: () => void start() } : undefined}
      more={
        chosen === null && conflicts.length > 0 && except.length === 0 && count > 0 ? (
          <Button onPress={() => setExcept(conflicts.map(({ path }) => path))}>{words.apply.others(count)}</Button>
        ) : null
      }
    >
      {plan.isPending ? <Waiting lines={2} /> : null}
      {plan.error === null ? null : <Failure thrown={plan.error} again={() => void plan.refetch()} />}
      {landing === null ? null : (
        <>
          <p>{words.apply.consequence(count)}</p>
          {landing.moved ? (
            <p className={styles["sentence"]}>
              {landing.since === null ? words.apply.moved : <Foreign text={landing.since} />}
            </p>
          ) : null}
          <ul className={styles["plan"]} aria-label={words.apply.plan}>
            {landing.files.map(({ path, how, says }) => (
              <li key={path} data-how={how} data-left={except.includes(path)}>
                <code>
                  <Foreign text={path} />
                </code>
                <span>{how === "as_is" && run.outcome !== "verified" ? words.apply.left : words.apply.how[how]}</span>
                {how === "conflict" ? (
                  <p>
                    <Foreign text={says} />
                  </p>
                ) : null}
              </li>
            ))}
          </ul>
          <p>{words.apply.undo}</p>
        </>
      )}
      <Progress text={progress} fallback={words.apply.applying} />
      {problem === null ? null : <Failure thrown={problem} />}
    </Dialog>
  );
}

/** A plan is the landing of the answer; a run without one has nothing that could land. */
function landingOf(plan: Plan): NonNullable<Summary["landing"]> {
  if (plan.landing !== null) return plan.landing;
  throw new Refused(500, {
    code: "INTERNAL",
    message: words.failure.broken,
    where: null,
    fix: words.failure.brokenFix,
  });
}
