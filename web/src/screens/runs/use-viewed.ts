import { useCallback, useState } from "react";

const PREFIX = "verbatim-viewed ";

/** Files of a run that somebody has read to the end, in this browser. */
export function useViewed(run: string): {
  readonly viewed: ReadonlySet<string>;
  readonly toggle: (path: string) => void;
} {
  const [viewed, setViewed] = useState<ReadonlySet<string>>(() => read(run));
  const toggle = useCallback(
    (path: string) =>
      setViewed((old) => {
        const next = new Set(old);
        if (!next.delete(path)) next.add(path);
        sessionStorage.setItem(PREFIX + run, JSON.stringify([...next]));
        return next;
      }),
    [run],
  );
  return { viewed, toggle };
}

function read(run: string): ReadonlySet<string> {
  const kept: unknown = JSON.parse(sessionStorage.getItem(PREFIX + run) ?? "[]");
  return new Set(Array.isArray(kept) ? kept.filter((one) => typeof one === "string") : []);
}
