import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import type { Output } from "../../api/client.ts";
import { Foreign } from "../../parts/Foreign.tsx";
import { Outcome } from "../../parts/Outcome.tsx";
import { words } from "../../words/words.ts";
import styles from "./Fleet.module.css";
import { StopAct } from "./StopAct.tsx";

type Working = Output<"agent.list">["working"][number];

/** What is at work now: its phase, its clock and the last line it printed. */
export function Fleet({ runs }: { readonly runs: readonly Working[] }): ReactNode {
  return (
    <section className={styles["fleet"]} aria-label={words.runs.work}>
      <h2>{words.runs.work}</h2>
      <ul>
        {runs.map((run) => (
          <li key={run.run_id} className={styles["run"]}>
            <Link to="/runs/$run/live" params={{ run: run.run_id }} className={styles["row"]!}>
              <Outcome outcome={run.outcome} />
              <span className={styles["goal"]}>
                <Foreign text={run.goal} />
              </span>
              <span className={styles["agent"]}>
                <Foreign text={run.agent} />
              </span>
              <Ticking since={run.created_at} />
            </Link>
            <div className={styles["stop"]}>
              <StopAct run={run.run_id} goal={run.goal} brief />
            </div>
            {run.last_line === "" ? null : (
              <p className={styles["line"]}>
                <Foreign text={run.last_line} />
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
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
