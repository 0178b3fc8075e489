import { type ReactNode, useRef, useState } from "react";
import { newKey } from "../../api/client.ts";
import { queries } from "../../api/queries.ts";
import { Cancelled, runTask } from "../../api/tasks.ts";
import { useActs } from "../../app/acts.ts";
import { announce } from "../../app/announce.ts";
import { useDialog } from "../../app/dialogs.ts";
import { useIsLost } from "../../app/use-connection.ts";
import { Button } from "../../parts/Button.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Mark } from "../../parts/Mark.tsx";
import { words } from "../../words/words.ts";
import { type Selection, useChoice } from "./choice.ts";
import { sayFinding } from "./say-finding.ts";
import type { Summary } from "./use-run.ts";
import styles from "./Verdict.module.css";

/** What the choice came to, in one sentence. */
export function saySelection({ result, reason, files, added, deleted, gate }: Selection): string {
  const size = words.choice.size(files, added, deleted);
  if (result === "passed") return words.choice.passed(size);
  if (result === "unverified") return words.choice.unverified(size);
  const finding = result === "rejected" ? gate?.findings[0] : undefined;
  return words.choice[result](finding === undefined ? reason : sayFinding(finding));
}

/** A part of a change is verified as what it is, and only then can it be applied. */
export function ChoiceBar({ run }: { readonly run: Summary }): ReactNode {
  const { dropped, parts, verified, clear, setVerified } = useChoice(run.run_id);
  const { open } = useDialog();
  const isLost = useIsLost();
  const stop = useRef<AbortController | null>(null);
  const [progress, setProgress] = useState<string | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const taken = parts - dropped.size;
  const verify = async () => {
    stop.current = new AbortController();
    setProblem(null);
    setProgress(words.verify.running);
    try {
      const selection = await runTask(
        "agent.select",
        { run: run.run_id, except: [...dropped] },
        { key: newKey(), signal: stop.current.signal, onProgress: setProgress },
      );
      setVerified(dropped, selection);
      announce(saySelection(selection));
      void queries.invalidateQueries({ queryKey: ["agent.show"] });
    } catch (thrown) {
      if (!(thrown instanceof Cancelled)) setProblem(thrown);
    } finally {
      setProgress(null);
    }
  };
  const canApply = verified !== null && (verified.result === "passed" || verified.result === "unverified");
  const label = canApply ? words.choice.apply : words.choice.verify(taken, parts);
  const act = canApply ? () => open("apply") : () => void verify();
  const isBusy = progress !== null;
  useActs([{ key: "a", label, run: () => !isBusy && taken > 0 && act() }]);
  return (
    <>
      {verified === null ? null : (
        <p className={styles["says"]} data-testid="choice-verdict" data-result={verified.result}>
          <Mark mark={verified.result === "passed" ? "good" : verified.result === "unverified" ? "notice" : "bad"} />
          <span>
            <Foreign text={saySelection(verified)} />
          </span>
        </p>
      )}
      <div className={styles["acts"]}>
        <Button kind="primary" isDisabled={isLost || isBusy || taken === 0} onPress={act}>
          {label}
        </Button>
        {isBusy ? (
          <>
            <span role="status">
              <Foreign text={progress} />
            </span>
            <Button kind="quiet" onPress={() => stop.current?.abort()}>
              {words.acts.cancel}
            </Button>
          </>
        ) : (
          <Button kind="quiet" onPress={clear}>
            {words.choice.all}
          </Button>
        )}
      </div>
      {taken === 0 ? <p className={styles["why"]}>{words.choice.nothing}</p> : null}
      {problem === null ? null : <Failure thrown={problem} again={() => void verify()} />}
    </>
  );
}
