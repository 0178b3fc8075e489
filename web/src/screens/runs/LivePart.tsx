import type { ReactNode } from "react";
import { words } from "../../words/words.ts";
import { Terminal } from "./live/Terminal.tsx";
import styles from "./Parts.module.css";
import { StopAct } from "./StopAct.tsx";
import { isAtWork, useRun } from "./use-run.ts";

/** A run while it works: what it prints, as it prints it. */
export function LivePart(): ReactNode {
  const report = useRun().data;
  if (report === undefined) return null;
  const { summary: run } = report;
  return (
    <div className={styles["part"]}>
      {isAtWork(run) ? <StopAct run={run.run_id} goal={run.goal} /> : <p>{words.live.ended}</p>}
      <Terminal key={run.run_id} run={run.run_id} />
    </div>
  );
}
