import { type ReactNode, useEffect, useState } from "react";
import { formatAge, formatClock } from "../words/formats.ts";

const listeners = new Set<() => void>();
let timer = 0;

function tellAll(): void {
  for (const tell of listeners) tell();
}

/** One clock for all ages on the screen, once in half a minute. */
function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const listener = () => setNow(Date.now());
    listeners.add(listener);
    if (timer === 0) timer = window.setInterval(() => tellAll(), 30_000);
    return () => void listeners.delete(listener);
  }, []);
  return now;
}

/** How long ago; the exact time is its title. */
export function Age({ at }: { readonly at: string }): ReactNode {
  const now = useNow();
  return (
    <time dateTime={at} title={at}>
      {formatAge(at, now)}
    </time>
  );
}

export function Clock({ at }: { readonly at: string }): ReactNode {
  return (
    <time dateTime={at} title={at}>
      {formatClock(at)}
    </time>
  );
}
