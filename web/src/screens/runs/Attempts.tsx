import type { ReactNode } from "react";
import { Foreign, plainText } from "../../parts/Foreign.tsx";
import { formatCommand, formatDuration } from "../../words/formats.ts";
import { words } from "../../words/words.ts";
import styles from "./Attempts.module.css";
import type { Report } from "./use-run.ts";

const said = words.comments;

/** The attempts of a run as one thread: what each began with, what it was told, and what came of it. */
export function Attempts({ report }: { readonly report: Report }): ReactNode {
  const { attempts, candidates } = report;
  if (attempts.length < 2) return null;
  return (
    <details className={styles["attempts"]}>
      <summary>
        {said.attempts} <span className={styles["plain"]}>{words.number(attempts.length)}</span>
      </summary>
      <ol>
        {attempts.map(({ n, argv, ended_at, duration_ms, from, feedback }) => {
          const made = candidates.findLast(({ kind, attempt }) => kind === "capture" && attempt === n);
          return (
            <li key={n}>
              <p>
                <strong>{said.attempt(n)}</strong>{" "}
                <code className={styles["plain"]}>
                  <Foreign text={plainText(formatCommand(argv), 120)} />
                </code>
              </p>
              <p className={styles["plain"]}>
                {said.began[from]}
                {", "}
                {ended_at === null ? said.atWork : formatDuration(duration_ms)}
                {ended_at === null ? null : (
                  <>
                    {", "}
                    {made === undefined
                      ? said.noChange
                      : said.change(words.files(made.files), words.plusMinus(made.added, made.deleted))}
                  </>
                )}
              </p>
              {feedback === null ? (
                <p className={styles["plain"]}>{said.toldNothing}</p>
              ) : (
                <details>
                  <summary>{said.told}</summary>
                  <pre tabIndex={0} data-testid={`told-${n}`}>
                    <Foreign text={feedback.text} />
                  </pre>
                </details>
              )}
            </li>
          );
        })}
      </ol>
    </details>
  );
}
