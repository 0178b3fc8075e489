import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Foreign } from "../../parts/Foreign.tsx";
import { Mark } from "../../parts/Mark.tsx";
import { words } from "../../words/words.ts";
import styles from "./KnownSentences.module.css";
import type { Report } from "./use-run.ts";

/** Parts that the rest of the screen already says. */
const SAID = ["goal", "end"];
const BRIEF_LINES = 4;

/** The report in the sentences of the server, each with the way to what it rests on. */
export function KnownSentences({
  report,
  brief = false,
}: {
  readonly report: Report;
  readonly brief?: boolean;
}): ReactNode {
  const parts = report.explain.filter(({ part }) => !SAID.includes(part));
  return (
    <section className={styles["known"]} aria-label={words.run.sentences}>
      <h2>{words.run.sentences}</h2>
      <ul>
        {parts.map(({ part, mark, says, lines }) => (
          <li key={part} className={styles["part"]}>
            <Mark mark={mark} />
            <div>
              <h3 className={styles["name"]}>{words.run.parts[part]}</h3>
              <p className={part === "agent" ? undefined : styles["says"]}>
                <Foreign text={says} />
              </p>
              {lines.slice(0, brief ? BRIEF_LINES : undefined).map((line, at) => (
                <p key={`${at} ${line.says}`} className={styles["line"]}>
                  <Foreign text={line.says} />
                </p>
              ))}
              {brief ? (
                <Link
                  to="/runs/$run/proof"
                  params={{ run: report.summary.run_id }}
                  hash={part}
                  className={styles["how"]!}
                >
                  {words.run.evidence}
                </Link>
              ) : null}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
