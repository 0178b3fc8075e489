import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Foreign } from "../../parts/Foreign.tsx";
import type { Outcome as OutcomeName } from "../../words/en.ts";
import { formatDuration, formatSecond } from "../../words/formats.ts";
import { words } from "../../words/words.ts";
import styles from "./Parts.module.css";
import { type Report, useRun } from "./use-run.ts";

type Entry = Report["timeline"][number];

/** What happened, from the ledger: when, how long until the next, and the entry that says so. */
export function TimelinePart(): ReactNode {
  const report = useRun().data;
  if (report === undefined) return null;
  const { timeline } = report;
  const times = timeline.map(({ at }) => Date.parse(at));
  const spans = times.map((at, n) => Math.max(0, (times[n + 1] ?? at) - at));
  const longest = Math.max(1, ...spans);
  return (
    <section className={styles["part"]} aria-label={words.run.timeline}>
      <ol className={styles["list"]}>
        {timeline.map((entry, n) => (
          <li key={entry.index}>
            <time className={styles["time"]} dateTime={entry.at} title={entry.at}>
              {formatSecond(entry.at)}
            </time>
            <div>
              <p className={entry.state === null ? styles["plain"] : styles["strong"]}>
                <Foreign text={say(entry)} />
              </p>
              <p className={styles["plain"]}>
                <Foreign text={words.run.actor(entry.actor)} />,{" "}
                <Link to="/ledger/$index" params={{ index: String(entry.index) }} title={entry.hash}>
                  {words.run.entry(entry.index)}
                </Link>
              </p>
            </div>
            <span className={styles["bar"]} aria-hidden>
              <span style={{ width: `${(spans[n]! / longest) * 100}%` }} />
            </span>
            <span className={styles["took"]}>{spans[n] === 0 ? "" : formatDuration(spans[n]!)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** The state it led to in a word, else the kind of the entry as the ledger has it, in small letters. */
function say({ state, reason, event, kind, path }: Entry): string {
  if (state !== null)
    return reason === null
      ? words.outcomes[state as OutcomeName]
      : `${words.outcomes[state as OutcomeName]}: ${reason}`;
  const name = (event ?? kind).replaceAll("_", " ").toLowerCase();
  return path === null ? name : `${name}: ${path}`;
}
