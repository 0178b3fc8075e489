import type { ReactNode } from "react";
import { Checks, Failures, Findings, Printed } from "./Checked.tsx";
import styles from "./Parts.module.css";
import { useRun } from "./use-run.ts";

/** What was checked: the gates, the commands with how they ended, and what they printed. */
export function VerifyPart(): ReactNode {
  const report = useRun().data;
  if (report === undefined) return null;
  const run = report.summary;
  return (
    <div className={styles["part"]}>
      <Failures run={run} />
      <Findings run={run} />
      <Checks run={run} />
      <Printed run={run} />
    </div>
  );
}
