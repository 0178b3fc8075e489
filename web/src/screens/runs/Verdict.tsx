import type { ReactNode } from "react";
import { useActs } from "../../app/acts.ts";
import { useDialog } from "../../app/dialogs.ts";
import { useIsLost } from "../../app/use-connection.ts";
import { Button } from "../../parts/Button.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { OutcomeIcon, toneOf } from "../../parts/Outcome.tsx";
import { formatClock } from "../../words/formats.ts";
import { words } from "../../words/words.ts";
import { ChoiceBar } from "./ChoiceBar.tsx";
import { useChoice } from "./choice.ts";
import { unsentOf } from "./comments/place.ts";
import { sayFinding } from "./say-finding.ts";
import type { Report, Summary } from "./use-run.ts";
import styles from "./Verdict.module.css";

/** What is true about the run, in one or two sentences. */
export function sayVerdict({ summary: run, timeline }: Report): string {
  const landed = timeline.findLast(({ state }) => state === "applied")?.at;
  const [finding, ...more] = run.outcome === "rejected" ? (run.gate?.findings ?? []) : [];
  return words.verdicts[run.outcome]({
    files: run.changes.files.length,
    added: run.changes.added_lines,
    deleted: run.changes.deleted_lines,
    checks: run.verify?.commands.length ?? 0,
    reason: finding === undefined ? run.reason : words.alsoFound(sayFinding(finding), more.length),
    untouched: run.proof?.accepted === true && run.proof.tree_root_before === run.proof.tree_root_after,
    landed: landed === undefined ? null : formatClock(landed),
  });
}

type ActName = "apply" | "continue" | "undo" | "verify" | "discard";

/** Why the change of a run cannot land as it stands; null: it can, or there is nothing to land. */
function whyNot({ outcome, changes }: Summary): string | null {
  if (changes.files.length === 0) return null;
  if (outcome === "rejected") return words.cannotApply.rejected;
  if (outcome === "verify_failed") return words.cannotApply.failed;
  return JUDGED.includes(outcome) ? words.cannotApply.unjudged : null;
}

/** What can be done with a run as it stands. What cannot be done now is not there; of Apply alone it is said why not. */
export function actsOf(run: Summary): readonly ActName[] {
  const hasChange = run.changes.files.length > 0;
  switch (run.outcome) {
    case "verified":
    case "unverified":
      return ["apply", "continue", "verify", "discard"];
    case "rejected":
    case "verify_failed":
      return ["continue", "verify", "discard"];
    case "agent_failed":
    case "timed_out":
    case "over_limit":
    case "interrupted":
      return hasChange ? ["continue", "verify", "discard"] : ["continue"];
    case "unchanged":
    case "not_started":
    case "undone":
      return ["continue"];
    case "applied":
      return ["undo"];
    default:
      return [];
  }
}

/** Whether a run that stands there can be thrown away. */
export function canDiscard(outcome: Summary["outcome"]): boolean {
  return DISCARDED.includes(outcome);
}

const DISCARDED: readonly Summary["outcome"][] = [
  "verified",
  "unverified",
  "rejected",
  "verify_failed",
  "agent_failed",
  "timed_out",
  "over_limit",
  "interrupted",
];

/** Whether a part of the change could land by itself. */
export function canChoose(run: Summary): boolean {
  return run.changes.files.length > 0 && (actsOf(run).includes("apply") || CHOOSABLE.includes(run.outcome));
}

/** The whole was refused; a part of it may still be good. */
const CHOOSABLE: readonly string[] = ["rejected", "verify_failed"];

const JUDGED = ["agent_failed", "timed_out", "over_limit", "interrupted"];

function labelOf(act: ActName, run: Summary, unsent: number): string {
  if (act === "continue") return unsent > 0 ? words.comments.send(unsent) : words.comments.goOn;
  if (act === "apply") return words.acts.apply(run.changes.files.length);
  if (act === "verify" && JUDGED.includes(run.outcome)) return words.acts.judge;
  return words.acts[act];
}

const KINDS = { apply: "primary", continue: "plain", undo: "plain", verify: "plain", discard: "danger" } as const;
const KEYS: Partial<Record<ActName, string>> = { apply: "a", continue: "s", discard: "d" };

/** The first line of the screen: the verdict, and the acts with their consequence one press away. */
export function Verdict({ report, says }: { readonly report: Report; readonly says: string }): ReactNode {
  const { summary: run, comments } = report;
  const unsent = unsentOf(comments).length;
  const { open } = useDialog();
  const isLost = useIsLost();
  const cannot = whyNot(run);
  const { dropped } = useChoice(run.run_id);
  const isPart = dropped.size > 0 && canChoose(run);
  // With a part left out, what is applied is the choice: the whole is not offered beside it.
  const acts = actsOf(run).filter((act) => !isPart || act === "discard" || act === "continue");
  useActs(
    acts.map((act) => {
      const key = KEYS[act];
      return { ...(key === undefined ? {} : { key }), label: labelOf(act, run, unsent), run: () => open(act) };
    }),
  );
  return (
    <section className={styles["verdict"]} data-tone={toneOf(run.outcome)} aria-label={words.outcomes[run.outcome]}>
      <p className={styles["says"]} data-testid="verdict">
        <OutcomeIcon outcome={run.outcome} size={26} />
        <span>
          <Foreign text={says} />
        </span>
      </p>
      {isPart ? <ChoiceBar run={run} /> : null}
      {acts.length === 0 ? null : (
        <div className={styles["acts"]}>
          {cannot === null || isPart ? null : (
            <Button kind="primary" isDisabled>
              {words.acts.apply(run.changes.files.length)}
            </Button>
          )}
          {acts.map((act) => (
            <Button key={act} kind={KINDS[act]} isDisabled={isLost} onPress={() => open(act)}>
              {labelOf(act, run, unsent)}
            </Button>
          ))}
        </div>
      )}
      {isLost && acts.length > 0 ? (
        <p className={styles["why"]}>{words.connection.lostAct}</p>
      ) : cannot === null || isPart ? null : (
        <p className={styles["why"]}>{cannot}</p>
      )}
    </section>
  );
}
