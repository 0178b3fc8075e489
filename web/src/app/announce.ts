import { useSyncExternalStore } from "react";

let said = { polite: "", urgent: "" };
const listeners = new Set<() => void>();

/** Tells a screen reader. Urgent only for what must not wait, such as a lost connection while somebody types. */
export function announce(text: string, how: "polite" | "urgent" = "polite"): void {
  if (said[how] === text) return;
  said = { ...said, [how]: text };
  for (const listener of listeners) listener();
}

export function useAnnounced(): typeof said {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => said,
  );
}
