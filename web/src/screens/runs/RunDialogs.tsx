import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { call, type Output, Refused } from "../../api/client.ts";
import { runTask } from "../../api/tasks.ts";
import { useDialog } from "../../app/dialogs.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Waiting } from "../../parts/Shown.tsx";
import { words } from "../../words/words.ts";
import { Progress, type Question, useAct, useHold } from "./act-parts.tsx";
import { type Selection, useChoice } from "./choice.ts";
import { ContinueDialog } from "./comments/ContinueDialog.tsx";
import { askToRebase } from "./comments/continue-draft.ts";
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
  if (act === "apply") return <ApplyDialog {...props} part={part} />;
  return act === "continue" ? <ContinueDialog {...props} /> : <ActDialog key={act} {...props} act={act} />;
}

const APPLICABLE: readonly Selection["result"][] = ["passed", "unverified"];
const ASKED = ["apply", "undo", "discard", "verify", "continue"] as const;

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

type Plan = Output<"agent.apply">;

/** What would happen to each file, looked up when the question is asked and not before. */
export function ApplyDialog(
  props: Question & {
    readonly part: Selection | null;
    /** What else is asked. */
    readonly more?: ReactNode;
    /** What comes after it, as a part of the same act. */
    readonly then?: () => Promise<void>;
  },
): ReactNode {
  const { run, close, hold, part, more = null, then } = props;
  // The choice as it was when somebody asked: afterwards it is the candidate of that number, whatever is dropped.
  const [chosen] = useState(part);
  const { clear } = useChoice(run.run_id);
  const navigate = useNavigate();
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
    async (key, signal, onProgress) => {
      const given = { ...what, ...(except.length === 0 ? {} : { except: [...except] }) };
      await runTask("agent.apply", given, { key, signal, onProgress });
      await then?.();
    },
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
        conflicts.length === 0 || except.length > 0 ? null : (
          <>
            <Button
              onPress={() => {
                askToRebase(run.run_id);
                void navigate({
                  to: "/runs/$run/review",
                  params: { run: run.run_id },
                  search: { do: "continue" },
                  replace: true,
                });
              }}
            >
              {words.comments.rebase}
            </Button>
            {chosen === null && count > 0 ? (
              <Button onPress={() => setExcept(conflicts.map(({ path }) => path))}>{words.apply.others(count)}</Button>
            ) : null}
          </>
        )
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
          {more}
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
