import { readActs } from "./acts.ts";
import { readAppearance } from "./appearance.ts";

/** What keys do everywhere. */
export interface KeyActs {
  readonly go: (letter: string) => boolean;
  readonly palette: () => void;
  readonly list: () => void;
  readonly copyLink: () => void;
}

const GO_MS = 1500;

/**
 * Keys of the whole page. Single letters act only while no field has the focus and no dialog is open, and somebody can
 * switch them off; keys with Control or Command always act.
 */
export function listenForKeys(acts: KeyActs): () => void {
  let goes = 0;
  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.altKey) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      return acts.palette();
    }
    if (event.ctrlKey || event.metaKey) return;
    if (event.key === "F6") {
      event.preventDefault();
      return focusNextRegion(event.shiftKey ? -1 : 1);
    }
    if (event.key === "Escape" && isField(event.target)) return (event.target as HTMLElement).blur();
    if (!readAppearance().letters || isField(event.target) || document.querySelector("[data-dialog]") !== null) return;
    // The moment of the press counts, not the one when a busy page gets to it.
    if (event.timeStamp < goes) {
      goes = 0;
      if (acts.go(event.key)) event.preventDefault();
      return;
    }
    if (event.key === "g") {
      goes = event.timeStamp + GO_MS;
      return;
    }
    const run = event.key === "?" ? acts.list : event.key === "y" ? acts.copyLink : findAct(event.key);
    if (run === undefined) return;
    event.preventDefault();
    run();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}

function findAct(key: string): (() => void) | undefined {
  return readActs().find((act) => act.key === key)?.run;
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches("input, textarea, select") || target.isContentEditable);
}

/** The regions of the page in their order, around and around. */
function focusNextRegion(step: number): void {
  const regions = [...document.querySelectorAll<HTMLElement>("[data-region]")].filter(
    (region) => region.offsetParent !== null,
  );
  if (regions.length === 0) return;
  // The innermost: some regions are inside the content.
  const at = regions.findLastIndex((region) => region.contains(document.activeElement));
  regions[(at + step + regions.length) % regions.length]!.focus();
}
