import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import type { Output } from "../../api/client.ts";
import { Foreign } from "../../parts/Foreign.tsx";
import { Outcome } from "../../parts/Outcome.tsx";
import { words } from "../../words/words.ts";
import styles from "./Fleet.module.css";
import { StopAct } from "./StopAct.tsx";
import { type Live, useLive } from "./use-live.ts";

type Working = Output<"agent.list">["working"][number];

/** What is at work now: its phase, its clock, the last line it printed and the files it touched so far. */
export function Fleet({ runs }: { readonly runs: readonly Working[] }): ReactNode {
  const live = useLive(runs.length > 0);
  return (
    <section className={styles["fleet"]} aria-label={words.runs.work}>
      <h2>{words.runs.work}</h2>
      <ul>
        {runs.map((run) => (
          <Row key={run.run_id} run={run} now={live.get(run.run_id)} />
        ))}
      </ul>
    </section>
  );
}

function Row({ run, now }: { readonly run: Working; readonly now: Live | undefined }): ReactNode {
  const line = now?.last_line ?? run.last_line;
  const files = now?.files ?? null;
  return (
    <li className={styles["run"]}>
      <Link to="/runs/$run/live" params={{ run: run.run_id }} className={styles["row"]!}>
        <Outcome outcome={now?.phase ?? run.outcome} />
        <span className={styles["goal"]}>
          <Foreign text={run.goal} />
        </span>
        <span className={styles["agent"]}>
          <Foreign text={run.agent} />
        </span>
        <span className={styles["touched"]}>{files === null ? null : words.live.touched(files)}</span>
        <Ticking since={run.created_at} />
      </Link>
      <div className={styles["stop"]}>
        <StopAct run={run.run_id} goal={run.goal} brief />
      </div>
      {/* Always there, so that nothing moves when something is printed. */}
      <p className={styles["line"]}>
        <Foreign text={line} />
      </p>
    </li>
  );
}

/** 2:14, counted here: the server says when it began. */
export function Ticking({ since }: { readonly since: string }): ReactNode {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1000));
  return (
    <span className={styles["clock"]} role="timer">
      {Math.floor(seconds / 60)}:{String(seconds % 60).padStart(2, "0")}
    </span>
  );
}
