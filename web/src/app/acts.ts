import { useLayoutEffect, useRef, useSyncExternalStore } from "react";

/** Something that can be done on the screen that is shown, by its key, from the palette, or both. */
export interface Act {
  readonly key?: string;
  readonly label: string;
  readonly run: () => void;
  /** A file of what is shown: the palette lists it when somebody looks for it. */
  readonly isFile?: boolean;
}

const layers = new Map<symbol, { readonly current: readonly Act[] }>();
const listeners = new Set<() => void>();
let version = 0;

function changed(): void {
  version++;
  for (const listener of listeners) listener();
}

/** Offers acts while the caller is on the screen. */
export function useActs(acts: readonly Act[]): void {
  const held = useRef(acts);
  held.current = acts;
  // Together with what is drawn: whoever sees the screen can press its keys.
  useLayoutEffect(() => {
    const id = Symbol("acts");
    layers.set(id, held);
    changed();
    return () => {
      layers.delete(id);
      changed();
    };
  }, []);
}

/** All acts of the screen, the innermost first. */
export function readActs(): Act[] {
  return [...layers.values()].reverse().flatMap(({ current }) => current);
}

export function useOfferedActs(): readonly Act[] {
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => version,
  );
  return readActs();
}
