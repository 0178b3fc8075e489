import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { call } from "../../api/client.ts";
import { reading } from "../../api/queries.ts";
import { useActs } from "../../app/acts.ts";
import { onAppearance, readAppearance, setAppearance } from "../../app/appearance.ts";
import { useDialog } from "../../app/dialogs.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Waiting } from "../../parts/Shown.tsx";
import { words } from "../../words/words.ts";
import { partsOf, useChoice } from "./choice.ts";
import { CommentBox } from "./comments/CommentRow.tsx";
import comments from "./comments/Comments.module.css";
import { type Place, placeOf, spanOf } from "./comments/place.ts";
import { type DiffHandle, DiffList } from "./diff/DiffList.tsx";
import { type DiffFile, joinPages, type Row, toRows, type Unfolded } from "./diff/model.ts";
import { FileTree } from "./FileTree.tsx";
import { ChecksPanel, type PanelName } from "./panel/ChecksPanel.tsx";
import styles from "./ReviewPart.module.css";
import { isAtWork, type Report, useRun } from "./use-run.ts";
import { useTalk } from "./use-talk.ts";
import { useViewed } from "./use-viewed.ts";
import { canChoose } from "./Verdict.tsx";

const route = getRouteApi("/runs/$run/review");
const NARROW = matchMedia("(max-width: 639px)");
/** Room for a third column. */
const WIDE = matchMedia("(min-width: 1440px)");

/** The change as it would land: files, lines, and beside them what is known about it. */
export function ReviewPart(): ReactNode {
  const report = useRun().data;
  if (report === undefined) return null;
  if (report.summary.changes.files.length === 0) return <NothingChanged />;
  return <Review key={report.summary.run_id} report={report} />;
}

function NothingChanged(): ReactNode {
  return (
    <div className={styles["nothing"]}>
      <p>{words.run.nothing}</p>
      <p>{words.run.nothingStays}</p>
    </div>
  );
}

function Review({ report }: { readonly report: Report }): ReactNode {
  const run = report.summary.run_id;
  const query = useInfiniteQuery({
    queryKey: ["agent.diff", { run }],
    queryFn: ({ pageParam, signal }) =>
      call("agent.diff", { run, ...(pageParam === null ? {} : { after: pageParam }) }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const files = useMemo(() => joinPages(query.data?.pages ?? []), [query.data]);
  if (query.error !== null) return <Failure thrown={query.error} again={() => void query.refetch()} />;
  if (query.isPending) return <Waiting lines={12} />;
  return (
    <div className={styles["review"]}>
      <Change
        report={report}
        files={files}
        candidate={query.data?.pages[0]?.candidate ?? null}
        canChoose={canChoose(report.summary) && !hasNextPage}
      />
      <Side report={report} />
      {hasNextPage ? (
        <p className={styles["more"]} role="status">
          {words.run.loadingMore}
        </p>
      ) : null}
    </div>
  );
}

/** What is known about the change: beside it where there is room, and as a sheet elsewhere. */
function Side({ report }: { readonly report: Report }): ReactNode {
  const { panel } = route.useSearch();
  const { shown, close } = useDialog();
  const isWide = useIsWide();
  const panels = <ChecksPanel report={report} asked={panel} />;
  if (isWide)
    return (
      <aside id={SIDE} className={styles["side"]} aria-label={words.regions.side} data-region tabIndex={-1}>
        {panels}
      </aside>
    );
  return shown === "checks" ? (
    <Dialog title={words.panel.title} sheet close={() => close()}>
      {panels}
    </Dialog>
  ) : null;
}

function Change(props: {
  readonly report: Report;
  /** The number of the change that is shown; runs of earlier versions have none. */
  readonly candidate: number | null;
  readonly files: readonly DiffFile[];
  /** Whether a part of it could land by itself; known when all of it was read. */
  readonly canChoose: boolean;
}): ReactNode {
  const { report, candidate, files, canChoose: hasBoxes } = props;
  const run = report.summary.run_id;
  const { file: askedFile, hunk: askedHunk, line: askedLine, view: askedView, ws } = route.useSearch();
  const navigate = route.useNavigate();
  const isNarrow = useSyncExternalStore(onNarrow, () => NARROW.matches);
  const isWide = useIsWide();
  const { open } = useDialog();
  const openPanel = (panel?: PanelName) => {
    if (!isWide) return open("checks", panel === undefined ? {} : { panel });
    void navigate({ search: (old) => ({ ...old, panel }), replace: true, resetScroll: false });
    document.getElementById(SIDE)?.focus();
  };
  const appearance = useSyncExternalStore(onAppearance, readAppearance);
  const view = isNarrow ? "unified" : (askedView ?? appearance.view);
  const { viewed, toggle } = useViewed(run);
  const { dropped, toggle: choose, setParts } = useChoice(run);
  useEffect(() => {
    if (hasBoxes) setParts(files.flatMap(partsOf));
  }, [hasBoxes, files, setParts]);
  const [unfolded, unfold, unfoldProblem] = useUnfolded(run);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const { talk, composing, begin, here, elsewhere } = useTalk(
    report,
    isAtWork(report.summary) ? null : candidate,
    files,
  );
  const rows = useMemo(
    () =>
      toRows(files, {
        split: view === "split",
        folded: viewed,
        unfolded,
        foldsSpace: ws === "hide",
        opened,
        comments: here,
        composing,
      }),
    [files, view, viewed, unfolded, ws, opened, here, composing],
  );
  const chosen = rows.findIndex((row) => isAsked(row, askedFile, askedHunk, askedLine));
  const handle = useRef<DiffHandle | null>(null);
  const go = useCallback(
    (row: Row | undefined) => {
      if (row === undefined) return;
      const search = addressOf(row);
      void navigate({
        search: ({ file: _, hunk: __, line: ___, ...rest }) => ({ ...rest, ...search }),
        replace: true,
        resetScroll: false,
      });
      handle.current?.show(rows.indexOf(row));
    },
    [navigate, rows],
  );
  // Where the address points is brought into sight once, when the lines are there.
  const isFirst = useRef(true);
  const firstHunk = rows.findIndex(({ type }) => type === "hunk");
  useEffect(() => {
    if (isFirst.current && chosen >= 0) setTimeout(() => handle.current?.show(chosen), 60);
    // Whoever came from another screen begins at the first hunk; whoever loads the page begins at its beginning.
    if (isFirst.current && chosen < 0 && isHeading(document.activeElement)) handle.current?.focus(firstHunk);
    isFirst.current = false;
  }, [chosen, firstHunk]);
  const move = (type: "hunk" | "file", step: number) => go(nextOf(rows, chosen, type, step));
  const setView = (next: "unified" | "split") => {
    setAppearance({ view: next });
    void navigate({ search: (old) => ({ ...old, view: next }), replace: true, resetScroll: false });
  };
  const toggleSpace = () =>
    void navigate({
      search: ({ ws: _, ...rest }) => (ws === "hide" ? rest : { ...rest, ws: "hide" as const }),
      replace: true,
      resetScroll: false,
    });
  const openLarge = useCallback((path: string) => setOpened((old) => new Set(old).add(path)), []);
  const current = rows[chosen]?.file.path ?? files[0]?.path;
  useActs([
    { key: "j", label: words.keys.nextHunk, run: () => move("hunk", 1) },
    { key: "k", label: words.keys.previousHunk, run: () => move("hunk", -1) },
    { key: "n", label: words.keys.nextFile, run: () => move("file", 1) },
    { key: "p", label: words.keys.previousFile, run: () => move("file", -1) },
    { key: "u", label: words.keys.unifiedSplit, run: () => setView(view === "split" ? "unified" : "split") },
    { key: "w", label: words.keys.space, run: toggleSpace },
    ...(hasBoxes ? [{ key: "x", label: words.choice.hint, run: () => chooseAt(rows, chosen, choose) }] : []),
    ...(begin === null ? [] : [{ key: "c", label: words.comments.hint, run: () => sayAt(rows[chosen], begin) }]),
    { key: "o", label: words.keys.proof, run: () => openPanel("proof") },
    { key: "v", label: words.keys.viewed, run: () => current !== undefined && toggle(current) },
    ...files.map(({ path }) => ({ label: path, isFile: true, run: () => go(fileRow(rows, path)) })),
  ]);
  const acts = useMemo(
    () => ({ unfold, toggleViewed: toggle, openLarge, choose: hasBoxes ? choose : null, talk }),
    [unfold, toggle, openLarge, hasBoxes, choose, talk],
  );
  const pick = (at: number, isSpan: boolean) => {
    const [first, last] = [rows[chosen], rows[at]];
    const place = isSpan && last !== undefined ? placeOf(last) : null;
    if (place === null || begin === null) go(toAddressed(rows, at));
    else begin(spanOf(first === undefined ? null : placeOf(first), place));
  };
  return (
    <>
      <FileTree
        files={files}
        current={current}
        viewed={viewed}
        comments={here}
        dropped={hasBoxes ? dropped : null}
        choose={(path) => go(fileRow(rows, path))}
        take={choose}
      />
      <div className={styles["change"]}>
        <div className={styles["how"]}>
          {isWide ? null : (
            <Button kind="quiet" onPress={() => openPanel()}>
              {words.panel.open}
            </Button>
          )}
          <label className={styles["space"]}>
            <input type="checkbox" checked={ws === "hide"} onChange={toggleSpace} />
            {words.run.hideSpace}
          </label>
          {isNarrow ? null : (
            <fieldset className={styles["view"]}>
              <legend className="unseen">{words.run.view}</legend>
              {(["unified", "split"] as const).map((name) => (
                <label key={name} data-chosen={view === name}>
                  <input type="radio" name="view" checked={view === name} onChange={() => setView(name)} />
                  {words.run[name]}
                </label>
              ))}
            </fieldset>
          )}
        </div>
        {unfoldProblem === null ? null : <Failure thrown={unfoldProblem} />}
        <DiffList
          rows={rows}
          files={files}
          viewed={viewed}
          dropped={hasBoxes ? dropped : NOTHING_LEFT}
          chosen={chosen}
          wraps={isNarrow || view === "split"}
          acts={acts}
          handle={handle}
          pick={pick}
        />
        {elsewhere.length === 0 ? null : (
          <details className={comments["earlier"]}>
            <summary>
              {words.comments.elsewhere} ({words.number(elsewhere.length)})
            </summary>
            {elsewhere.map((comment) => (
              <CommentBox key={comment.id} comment={comment} withdraw={talk?.withdraw ?? null} apart />
            ))}
          </details>
        )}
      </div>
    </>
  );
}

const SIDE = "checks-beside";
const NOTHING_LEFT: ReadonlySet<string> = new Set();

/** The hunk that is chosen, or the whole file on its header; a line stands for its hunk. */
function chooseAt(rows: readonly Row[], chosen: number, choose: (parts: readonly string[]) => void): void {
  const row = rows[chosen];
  if (row === undefined) return;
  const hunk = row.type === "hunk" ? row : nextOf(rows, chosen, "hunk", -1);
  if (row.type === "file" || row.type === "whole") choose(partsOf(row.file));
  else if (hunk?.type === "hunk") choose([hunk.hunk.id]);
}

function onChange(media: MediaQueryList): (listener: () => void) => () => void {
  return (listener) => {
    media.addEventListener("change", listener);
    return () => media.removeEventListener("change", listener);
  };
}

const onNarrow = onChange(NARROW);
const onWide = onChange(WIDE);

function useIsWide(): boolean {
  return useSyncExternalStore(onWide, () => WIDE.matches);
}

function fileRow(rows: readonly Row[], path: string): Row | undefined {
  return rows.find((row) => row.type === "file" && row.file.path === path);
}

function isHeading(element: Element | null): boolean {
  return element?.tagName === "H1";
}

/** What the address says of a row. */
function addressOf(row: Row): { readonly file: string; readonly hunk?: string; readonly line?: number } {
  const file = row.file.path;
  if (row.type === "hunk") return { file, hunk: row.hunk.id };
  const line = lineOf(row);
  return line === null ? { file } : { file, line };
}

/** The number of a line as it would land; a removed line has none. */
function lineOf(row: Row): number | null {
  const line = row.type === "line" ? row.line : row.type === "pair" ? row.right : null;
  return line?.new ?? null;
}

/** Begins a comment on a row that has something to say something about. */
function sayAt(row: Row | undefined, begin: (place: Place) => void): void {
  const place = row === undefined ? null : placeOf(row);
  if (place !== null) begin(place);
}

/** What a press on a number leads to: the line, or for a removed one the hunk that removes it. */
function toAddressed(rows: readonly Row[], at: number): Row | undefined {
  return lineOf(rows[at]!) === null ? nextOf(rows, at, "hunk", -1) : rows[at];
}

function isAsked(row: Row, file: string | undefined, hunk: string | undefined, line: number | undefined): boolean {
  if (line !== undefined) return row.file.path === file && lineOf(row) === line;
  if (hunk !== undefined) return row.type === "hunk" && row.hunk.id === hunk;
  return file !== undefined && row.type === "file" && row.file.path === file;
}

/** The next row of a type, from the chosen one on; from outside, the first or the last. */
function nextOf(rows: readonly Row[], from: number, type: Row["type"], step: number): Row | undefined {
  const start = from < 0 && step < 0 ? rows.length : from;
  for (let at = start + step; at >= 0 && at < rows.length; at += step) if (rows[at]!.type === type) return rows[at];
  return undefined;
}

/** Lines between hunks, fetched when somebody wants to see them. */
function useUnfolded(run: string): [Unfolded, (file: DiffFile, from: number, to: number) => void, problem: unknown] {
  const [known, setKnown] = useState<Unfolded>(new Map());
  const [problem, setProblem] = useState<unknown>(null);
  const client = useQueryClient();
  const unfold = useCallback(
    (file: DiffFile, from: number, to: number) => {
      const asked = client.fetchQuery(reading("agent.file-lines", { run, path: file.path, side: "base", from, to }));
      void asked.then(({ lines }) => {
        setProblem(null);
        setKnown((old) => {
          const ofFile = new Map(old.get(file.path));
          for (const [at, { text }] of lines.entries()) ofFile.set(from + at, text);
          return new Map(old).set(file.path, ofFile);
        });
      }, setProblem);
    },
    [client, run],
  );
  return [known, unfold, problem];
}
