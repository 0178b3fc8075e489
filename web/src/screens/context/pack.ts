import { useSyncExternalStore } from "react";

/** One part of a pack: what, and which slice of it; null leaves the slice to what is meant. */
export interface PackItem {
  readonly ref: string;
  readonly slice: string | null;
}

export const MOST_ITEMS = 200;

let items: readonly PackItem[] = [];
const listeners = new Set<() => void>();

/** The pack that somebody is putting together in this tab. */
export function usePack(): readonly PackItem[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => items,
  );
}

export function setPack(next: readonly PackItem[]): void {
  items = next.slice(0, MOST_ITEMS);
  for (const listener of listeners) listener();
}

export function addToPack(item: PackItem): void {
  if (!hasItem(items, item)) setPack([...items, item]);
}

export function hasItem(pack: readonly PackItem[], { ref, slice }: PackItem): boolean {
  return pack.some((one) => one.ref === ref && one.slice === slice);
}

/** The pack as the part of an address that is never sent. */
export function toFragment(pack: readonly PackItem[]): string {
  return pack
    .map(({ ref, slice }) => [ref, ...(slice === null ? [] : [slice])].map(encodeURIComponent).join("~"))
    .join("&");
}

/** The pack of an address. What cannot be read is left out: an address is never an error. */
export function fromFragment(fragment: string): PackItem[] {
  const pack: PackItem[] = [];
  for (const part of fragment.split("&").slice(0, MOST_ITEMS)) {
    const [ref, slice] = part.split("~").map(decode);
    if (ref !== undefined && ref !== null && ref !== "") pack.push({ ref, slice: slice ?? null });
  }
  return pack;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
