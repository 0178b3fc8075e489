import { useWindowVirtualizer } from "@tanstack/react-virtual";
import {
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { onAppearance, readAppearance } from "../../../app/appearance.ts";
import { words } from "../../../words/words.ts";
import { takenOf } from "../choice.ts";
import type { Taken } from "../TakeBox.tsx";
import { Colours } from "./colours.ts";
import { copyLines } from "./copy-lines.ts";
import styles from "./Diff.module.css";
import { DiffRow, type RowActs, sayRow } from "./DiffRow.tsx";
import { type DiffFile, keysOf, type Row } from "./model.ts";

const HEIGHTS: Record<Row["type"], number> = {
  file: 44,
  finding: 32,
  whole: 44,
  large: 44,
  gap: 32,
  hunk: 32,
  line: 20,
  pair: 20,
  comment: 92,
  composer: 176,
};
/** What people write is as high as it is. */
const MEASURED: readonly Row["type"][] = ["comment", "composer"];
/** As wide as a column of the number and its sign. */
const GUTTER_PX = 132;
const COLUMN_PX = 7.55;
const WIDEST = 2000;
/** Room for what sticks to the top of the page. */
const TOP_PX = 120;

export interface DiffHandle {
  /** Brings a row to the top, and gives it the focus unless somebody is writing. */
  readonly show: (row: number) => void;
  /** Gives a row the focus where it is. */
  readonly focus: (row: number) => void;
}

/**
 * The whole change as rows of known heights, of which only those on the screen are in the page. On a narrow screen lines
 * wrap, and only there heights are measured.
 */
export function DiffList(props: {
  readonly rows: readonly Row[];
  readonly files: readonly DiffFile[];
  readonly viewed: ReadonlySet<string>;
  /** Parts of the change that were left out. */
  readonly dropped: ReadonlySet<string>;
  readonly chosen: number;
  readonly wraps: boolean;
  readonly acts: RowActs;
  readonly handle: RefObject<DiffHandle | null>;
  /** Somebody pressed the number of a line. */
  readonly pick: (row: number, isSpan: boolean) => void;
}): ReactNode {
  const { rows, files, viewed, dropped, chosen, wraps, acts, handle, pick } = props;
  // Heights grow with the text; everything stays known beforehand.
  const scale = useSyncExternalStore(onAppearance, readAppearance).size / 100;
  const heightOf = (type: Row["type"]) => Math.round(HEIGHTS[type] * Math.max(scale, 1));
  const box = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ top: 0, width: 0 });
  useLayoutEffect(() => {
    const look = () => {
      const { top = 0, width = 0 } = box.current?.getBoundingClientRect() ?? {};
      setPlace({ top: top + window.scrollY, width });
    };
    look();
    const watch = new ResizeObserver(look);
    watch.observe(box.current!);
    watch.observe(document.body);
    return () => watch.disconnect();
  }, []);
  const colours = useColours(files);
  const keys = useMemo(() => keysOf(rows), [rows]);
  // Both stay in the page wherever it is scrolled: one has the focus, in the other somebody writes.
  const held = useMemo(() => [chosen, rows.findIndex(({ type }) => type === "composer")], [chosen, rows]);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: (at) => heightOf(rows[at]!.type),
    overscan: 8,
    scrollMargin: place.top,
    scrollPaddingStart: TOP_PX,
    getItemKey: useCallback((at: number) => keys[at] ?? at, [keys]),
    rangeExtractor: ({ startIndex, endIndex, overscan, count }) => {
      const [first, last] = [Math.max(0, startIndex - overscan), Math.min(count - 1, endIndex + overscan)];
      const range = Array.from({ length: last - first + 1 }, (_, at) => first + at);
      const far = held.filter((at) => at >= 0 && at < count && (at < first || at > last));
      return far.length === 0 ? range : [...new Set([...range, ...far])].sort((a, b) => a - b);
    },
  });
  useEffect(() => virtual.measure(), [wraps, scale, virtual]);
  useImperativeHandle(handle, () => {
    const focus = (row: number) =>
      box.current?.querySelector<HTMLElement>(`[data-at="${row}"]`)?.focus({ preventScroll: true });
    return {
      focus,
      show: (row) => {
        virtual.scrollToIndex(row, { align: "start" });
        requestAnimationFrame(() => {
          if (!isWriting(document.activeElement)) focus(row);
        });
      },
    };
  });
  const width = useMemo(() => widthOf(rows) * scale, [rows, scale]);
  return (
    <div
      ref={box}
      className={wraps ? `${styles["diff"]} ${styles["wraps"]}` : styles["diff"]}
      style={{ ["--seen" as string]: `${Math.max(place.width - 2, 0)}px` }}
      tabIndex={0}
      onCopy={copyLines}
    >
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: keys go to hunks and files, whose addresses say the same */}
      <div
        className={styles["rows"]}
        role="grid"
        aria-label={words.run.tabs.review}
        aria-rowcount={rows.length}
        aria-readonly
        // A press on a number makes the address that of its line.
        onClick={(event) => {
          const number = (event.target as Element).closest("[data-n]:not([data-n=''])");
          const row = number?.closest<HTMLElement>("[data-at]");
          if (row != null) pick(Number(row.dataset["at"]), event.shiftKey);
        }}
        style={{ height: virtual.getTotalSize(), ...(wraps ? {} : { width: `max(100%, ${width}px)` }) }}
      >
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const row = rows[index]!;
          const right = row.type === "line" ? row.line : row.type === "pair" ? row.right : null;
          const left = row.type === "pair" ? row.left : null;
          return (
            <div
              key={String(key)}
              ref={wraps || MEASURED.includes(row.type) ? virtual.measureElement : undefined}
              role="row"
              tabIndex={-1}
              aria-rowindex={index + 1}
              aria-label={sayRow(row)}
              className={styles["row"]}
              data-index={index}
              data-at={index}
              data-type={row.type}
              data-chosen={index === chosen}
              data-left={takenIn(row, dropped) === "none"}
              style={{
                transform: `translateY(${start - place.top}px)`,
                width: "100%",
                ...(wraps || MEASURED.includes(row.type)
                  ? { minHeight: heightOf(row.type) }
                  : { height: heightOf(row.type) }),
              }}
            >
              <DiffRow
                row={row}
                acts={acts}
                isViewed={viewed.has(row.file.path)}
                taken={takenIn(row, dropped)}
                isChosen={index === chosen}
                leftColours={left === null ? undefined : colours.of(left.at)}
                rightColours={right === null ? undefined : colours.of(right.at)}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function isWriting(element: Element | null): boolean {
  return element?.tagName === "TEXTAREA";
}

/** How much of what a row stands for is taken. */
function takenIn(row: Row, dropped: ReadonlySet<string>): Taken {
  if (dropped.size === 0) return "all";
  if (row.type === "hunk") return dropped.has(row.hunk.id) ? "none" : "all";
  if (row.type === "file" || row.type === "whole") return takenOf(row.file, dropped);
  const line = row.type === "line" ? row.line : row.type === "pair" ? (row.right ?? row.left) : null;
  return line !== null && dropped.has(line.at.slice(0, line.at.lastIndexOf(" "))) ? "none" : "all";
}

/** How wide the widest line is; beyond two thousand columns a line is cut. */
function widthOf(rows: readonly Row[]): number {
  let widest = 0;
  let isSplit = false;
  for (const row of rows) {
    if (row.type === "line") widest = Math.max(widest, row.line.text.length);
    if (row.type !== "pair") continue;
    isSplit = true;
    widest = Math.max(widest, row.left?.text.length ?? 0, row.right?.text.length ?? 0);
  }
  const one = Math.min(widest, WIDEST) * COLUMN_PX + GUTTER_PX;
  return isSplit ? one * 2 : one;
}

function useColours(files: readonly DiffFile[]): Colours {
  const [, setVersion] = useState(0);
  const [colours] = useState(() => new Colours(() => setVersion((version) => version + 1)));
  useEffect(() => {
    for (const file of files) colours.ask(file);
  }, [files, colours]);
  useEffect(() => () => colours.close(), [colours]);
  return colours;
}
