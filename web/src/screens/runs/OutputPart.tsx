import type { ReactNode } from "react";
import { words } from "../../words/words.ts";
import styles from "./Parts.module.css";
import { Recorded } from "./Recorded.tsx";
import { isAtWork, useRun } from "./use-run.ts";

export function OutputPart(): ReactNode {
  const report = useRun().data;
  if (report === undefined) return null;
  const { run_id: run } = report.summary;
  const live = isAtWork(report.summary);
  return (
    <div className={styles["part"]}>
      <Recorded run={run} of="output" label={words.run.output.output} live={live} />
      <Recorded run={run} of="errors" label={words.run.output.errors} live={live} />
    </div>
  );
}
