import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { reading } from "../../api/queries.ts";
import { runTask } from "../../api/tasks.ts";
import { words } from "../../words/words.ts";
import { ApplyDialog } from "../runs/RunDialogs.tsx";
import { canDiscard } from "../runs/Verdict.tsx";
import styles from "./CompareScreen.module.css";
import type { Compared } from "./CompareScreen.tsx";

const said = words.compare;

/** Applies one of several, and afterwards throws the others away where somebody says so. */
export function TakeDialog(props: {
  readonly run: string;
  readonly compared: Compared;
  readonly close: () => void;
}): ReactNode {
  const { run, compared, close } = props;
  const report = useQuery(reading("agent.show", { run })).data;
  const [discards, setDiscards] = useState(false);
  const others = compared.runs.filter(({ run_id, outcome }) => run_id !== run && canDiscard(outcome));
  if (report === undefined) return null;
  return (
    <ApplyDialog
      run={report.summary}
      part={null}
      close={close}
      hold={() => undefined}
      more={
        others.length === 0 ? null : (
          <label className={styles["tick"]}>
            <input type="checkbox" checked={discards} onChange={({ target }) => setDiscards(target.checked)} />
            <span>
              {said.discardOthers(others.length)}
              <small>{said.discardWhy}</small>
            </span>
          </label>
        )
      }
      then={async () => {
        if (discards) for (const { run_id } of others) await runTask("agent.discard", { run: run_id });
      }}
    />
  );
}
