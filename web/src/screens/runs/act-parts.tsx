import { type ReactNode, useEffect, useRef, useState } from "react";
import { newKey } from "../../api/client.ts";
import { queries } from "../../api/queries.ts";
import { Cancelled } from "../../api/tasks.ts";
import { Foreign } from "../../parts/Foreign.tsx";
import styles from "./RunDialogs.module.css";
import type { Summary } from "./use-run.ts";

/** What every question about a run is given. */
export interface Question {
  readonly run: Summary;
  readonly close: () => void;
  /** Says which question has to stay; null: none. */
  readonly hold: (act: string | null) => void;
}

/** Keeps a question on the screen as long as something is going on in it. */
export function useHold(act: string, isHeld: boolean, hold: Question["hold"]): void {
  useEffect(() => {
    if (isHeld) hold(act);
    return () => hold(null);
  }, [act, isHeld, hold]);
}

/** One act under way: begun once under one key, shown until it ended, and what it refused. */
export function useAct(
  work: (key: string, signal: AbortSignal, say: (text: string) => void) => Promise<unknown>,
  done: () => void,
) {
  const key = useRef(newKey());
  const stop = useRef<AbortController | null>(null);
  const [progress, setProgress] = useState<string | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const run = async () => {
    stop.current = new AbortController();
    setProblem(null);
    setProgress("");
    try {
      await work(key.current, stop.current.signal, setProgress);
      // The verdict first; what else is on the screen is read anew without anybody waiting for it.
      await queries.invalidateQueries({ queryKey: ["agent.show"] });
      done();
      void queries.invalidateQueries();
    } catch (thrown) {
      if (!(thrown instanceof Cancelled)) setProblem(thrown);
      // What was refused was not done; another try is another wish.
      key.current = newKey();
    } finally {
      setProgress(null);
    }
  };
  return { run, progress, problem, cancel: () => stop.current?.abort() };
}

export function Progress({ text, fallback }: { readonly text: string | null; readonly fallback: string }): ReactNode {
  if (text === null) return null;
  return (
    <p className={styles["progress"]} role="status">
      <Foreign text={text === "" ? fallback : text} />
    </p>
  );
}
