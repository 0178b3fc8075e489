import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { reading } from "../../api/queries.ts";
import { Foreign } from "../../parts/Foreign.tsx";
import { formatBytes } from "../../words/formats.ts";
import { words } from "../../words/words.ts";
import { PathList } from "./PathList.tsx";
import styles from "./StartScreen.module.css";

const said = words.start;

/** Files that are put before the agent as they are, and what they use of the budget. */
export function FilesField(props: {
  readonly paths: readonly string[];
  readonly change: (paths: readonly string[]) => void;
}): ReactNode {
  const { paths, change } = props;
  const query = useQuery({
    ...reading("context.budget", { items: paths.map((ref) => ({ ref })) }),
    enabled: paths.length > 0,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const priced = paths.length === 0 ? undefined : query.data;
  const [used, limit] = [priced?.used.max_bytes_expanded ?? 0, priced?.limits.max_bytes_expanded ?? 0];
  const isOver = used > limit;
  const problems = (priced?.items ?? []).flatMap(({ ref, problem }) => (problem === null ? [] : [{ ref, problem }]));
  return (
    <fieldset className={styles["field"]}>
      <legend>{said.files}</legend>
      <PathList label={said.filesWhy} paths={paths} change={change} />
      {priced === undefined ? null : (
        <div className={styles["budget"]} data-over={isOver}>
          <p>{said.budget(formatBytes(used), formatBytes(limit))}</p>
          <span className={styles["bar"]} aria-hidden>
            <span style={{ width: `${Math.min(100, limit === 0 ? 100 : (used / limit) * 100)}%` }} />
          </span>
          {isOver ? <p className={styles["bad"]}>{said.over}</p> : null}
        </div>
      )}
      {problems.map(({ ref, problem }) => (
        <p key={ref} className={styles["bad"]}>
          <Foreign text={problem.message} />
        </p>
      ))}
    </fieldset>
  );
}
