import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { Button } from "../../parts/Button.tsx";
import { words } from "../../words/words.ts";
import { type LineAct, LineRow } from "./LineRow.tsx";
import styles from "./Story.module.css";
import type { Loaded, StoryWindow, Told } from "./story-window.ts";

const said = words.worlds.story;
/** Pages are fetched while this many rows are still ahead. */
const AHEAD = 60;
/** Whoever is this near to the end goes on with it. */
const NEAR_PX = 96;
/** So many frames until the first position has settled: a page that came earlier would move what is read. */
const SETTLING = 4;
const ROW_PX = 27;

/** Where somebody was when they left: the line at the top, and how much of it was above the edge. */
export interface Place {
  readonly entry: string;
  readonly offset: number;
}

/** The lines on the screen and a few more; what is above and below is fetched as somebody gets near. */
export function StoryList(props: {
  readonly loaded: Loaded;
  readonly lines: StoryWindow;
  readonly place: Place | null;
  readonly left: (place: Place | null) => void;
  readonly actsFor: (told: Told) => readonly LineAct[];
  readonly run: (act: LineAct, told: Told) => void;
  readonly go: (entry: string) => void;
}): ReactNode {
  const { loaded, lines, place, left, actsFor, run, go } = props;
  const { lines: rows, hasBefore, hasAfter, target, unread, fresh } = loaded;
  const scroller = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(600);
  const [isAtEnd, setAtEnd] = useState(target === null && place === null);
  const [focused, setFocused] = useState<string | null>(target);
  const settled = useRef(0);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (at) => estimate(rows[at]!, width),
    getItemKey: useCallback((at: number) => rows[at]?.line.entry_id ?? at, [rows]),
    overscan: 8,
    anchorTo: "end",
    followOnAppend: !hasAfter,
    scrollEndThreshold: NEAR_PX,
    paddingStart: 32,
    paddingEnd: 24,
    rangeExtractor: ({ startIndex, endIndex, overscan, count }) => {
      const [first, last] = [Math.max(0, startIndex - overscan), Math.min(count - 1, endIndex + overscan)];
      const range = Array.from({ length: last - first + 1 }, (_, n) => first + n);
      const at = focused === null ? -1 : rows.findIndex(({ line }) => line.entry_id === focused);
      return at < 0 || (at >= first && at <= last) ? range : [...range, at].sort((a, b) => a - b);
    },
  });
  const items = virtual.getVirtualItems();
  // The first position: a line that was asked for, where somebody was, or the end.
  useLayoutEffect(() => {
    setWidth(scroller.current?.clientWidth ?? 600);
    const wanted = target ?? place?.entry ?? null;
    const at = wanted === null ? -1 : rows.findIndex(({ line }) => line.entry_id === wanted);
    let frames = 0;
    let frame = 0;
    const settle = () => {
      if (at < 0) virtual.scrollToEnd();
      else virtual.scrollToIndex(at, { align: target === null ? "start" : "center" });
      frames++;
      settled.current = frames;
      if (frames < SETTLING) frame = requestAnimationFrame(settle);
      else if (at >= 0 && target === null && place !== null) scroller.current?.scrollBy(0, place.offset);
    };
    settle();
    return () => cancelAnimationFrame(frame);
    // Once for each place: the list is mounted anew for another.
  }, []);
  // Whoever is asked to show a line shows which one it is.
  useEffect(() => {
    if (target === null) return;
    const timer = setTimeout(() => focusLine(scroller.current, target), 120);
    return () => clearTimeout(timer);
  }, [target]);
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  const look = () => {
    const atEnd = virtual.isAtEnd(NEAR_PX) && !hasAfter;
    setAtEnd(atEnd);
    if (atEnd) lines.caughtUp();
    if (settled.current < SETTLING) return;
    if (hasBefore && first < AHEAD) lines.older();
    if (hasAfter && last > rows.length - AHEAD) lines.newer();
    const top = virtual.scrollOffset ?? 0;
    const shown = items.find((item) => item.end > top);
    const entry = shown === undefined ? undefined : rows[shown.index]?.line.entry_id;
    left(atEnd || entry === undefined ? null : { entry, offset: top - shown!.start });
  };
  useEffect(look);
  const toEnd = () => {
    if (hasAfter) lines.open();
    else virtual.scrollToEnd();
    lines.caughtUp();
  };
  const step = (event: KeyboardEvent) => {
    if ((event.target as HTMLElement).closest("[data-menu], [role=menu]") !== null && event.key !== "m") return;
    const at = rows.findIndex(({ line }) => line.entry_id === focused);
    const next = nextRow(event.key, at, rows.length);
    if (event.key === "m" && focused !== null) openMenu(scroller.current, focused);
    if (next === null) return;
    event.preventDefault();
    if (event.key === "End") toEnd();
    const entry = rows[next]!.line.entry_id;
    setFocused(entry);
    virtual.scrollToIndex(next, { align: "auto" });
    requestAnimationFrame(() => focusLine(scroller.current, entry));
  };
  const current = rows.some(({ line }) => line.entry_id === focused) ? focused : rows.at(-1)?.line.entry_id;
  return (
    <div className={styles["stage"]}>
      <div ref={scroller} className={styles["scroller"]} data-testid="story" onScroll={look}>
        <div
          className={styles["column"]}
          role="log"
          aria-live="off"
          aria-label={said.label}
          style={{ height: `${virtual.getTotalSize()}px` }}
          onKeyDown={step}
        >
          {items.map((item) => {
            const told = rows[item.index];
            if (told === undefined) return null;
            const id = told.line.entry_id;
            return (
              <div
                key={id}
                ref={virtual.measureElement}
                data-index={item.index}
                data-row={id}
                className={styles["row"]}
                style={{ transform: `translateY(${item.start}px)` }}
                tabIndex={id === current ? 0 : -1}
                onFocus={() => setFocused(id)}
              >
                <LineRow
                  told={told}
                  isFresh={fresh.has(id)}
                  isTarget={target === id}
                  acts={actsFor(told)}
                  run={run}
                  go={go}
                />
              </div>
            );
          })}
        </div>
      </div>
      {isAtEnd ? null : (
        <div className={styles["jump"]}>
          <Button onPress={toEnd}>
            {said.jump(unread)}
            <ArrowDown size={16} strokeWidth={1.75} aria-hidden />
          </Button>
        </div>
      )}
    </div>
  );
}

function nextRow(key: string, at: number, count: number): number | null {
  if (key === "ArrowDown") return Math.min(count - 1, at + 1);
  if (key === "ArrowUp") return Math.max(0, at < 0 ? count - 1 : at - 1);
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : null;
}

/** About as high as it will be, so that little moves when it is measured. */
function estimate({ line }: Told, width: number): number {
  const columns = Math.max(20, Math.min(68, width / 8.5));
  const rows = line.text.split("\n").reduce((sum, part) => sum + Math.max(1, Math.ceil(part.length / columns)), 0);
  return rows * ROW_PX + (line.author_label === null ? 14 : 38);
}

function focusLine(scroller: HTMLElement | null, entry: string): void {
  scroller?.querySelector<HTMLElement>(`[data-row="${CSS.escape(entry)}"]`)?.focus({ preventScroll: true });
}

function openMenu(scroller: HTMLElement | null, entry: string): void {
  scroller?.querySelector<HTMLElement>(`[data-row="${CSS.escape(entry)}"] [data-menu]`)?.click();
}
