import type { Pauses } from "../../rooms/jobs/ports.ts";

/** Waiting in real time. A pause keeps the process alive; a repetition does not. */
export function createPauses(): Pauses {
  const waiting = new Set<() => void>();
  return {
    pause: (milliseconds, signal) =>
      new Promise<void>((resolve) => {
        if (signal?.aborted === true) {
          resolve();
          return;
        }
        const end = () => {
          clearTimeout(timer);
          waiting.delete(end);
          signal?.removeEventListener("abort", end);
          resolve();
        };
        const timer = setTimeout(end, milliseconds);
        waiting.add(end);
        signal?.addEventListener("abort", end);
      }),
    every(milliseconds, fn) {
      const timer = setInterval(fn, milliseconds);
      timer.unref();
      return () => clearInterval(timer);
    },
    wake() {
      for (const end of [...waiting]) end();
    },
  };
}
