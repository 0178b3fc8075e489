import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { words } from "../words/words.ts";
import { Failure } from "./Failure.tsx";
import styles from "./Shown.module.css";

const QUIET_MS = 150;
const LONG_MS = 4000;

/** What a query brought; while it is on its way the shape of the region, and what went wrong when nothing came. */
export function Shown<T>(props: {
  readonly query: UseQueryResult<T>;
  readonly lines?: number;
  readonly children: (data: T) => ReactNode;
}): ReactNode {
  const { query, lines = 3, children } = props;
  if (query.data !== undefined) return children(query.data);
  if (query.error !== null) return <Failure thrown={query.error} again={() => void query.refetch()} />;
  return <Waiting lines={lines} />;
}

/** Nothing for a moment, then the lines that will be there, then words. Nothing moves. */
export function Waiting({ lines }: { readonly lines: number }): ReactNode {
  const [phase, setPhase] = useState<"quiet" | "shape" | "long">("quiet");
  useEffect(() => {
    const shape = setTimeout(() => setPhase("shape"), QUIET_MS);
    const long = setTimeout(() => setPhase("long"), LONG_MS);
    return () => {
      clearTimeout(shape);
      clearTimeout(long);
    };
  }, []);
  return (
    <div className={styles["waiting"]} role="status" aria-label={words.waiting.label}>
      {phase === "quiet"
        ? null
        : Array.from({ length: lines }, (_, at) => <span key={String(at)} className={styles["line"]} aria-hidden />)}
      {phase === "long" ? <p>{words.waiting.still}</p> : null}
    </div>
  );
}
