import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { X } from "lucide-react";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { call, type Output } from "../../api/client.ts";
import { useActs } from "../../app/acts.ts";
import { Page } from "../../app/Page.tsx";
import { Button } from "../../parts/Button.tsx";
import { CopyButton } from "../../parts/Copy.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign, plainText } from "../../parts/Foreign.tsx";
import { Outcome } from "../../parts/Outcome.tsx";
import { Waiting } from "../../parts/Shown.tsx";
import { Age } from "../../parts/When.tsx";
import type { Outcome as OutcomeName } from "../../words/en.ts";
import { formatDuration } from "../../words/formats.ts";
import { words } from "../../words/words.ts";
import { Fleet } from "./Fleet.tsx";
import styles from "./RunsScreen.module.css";

type Row = Output<"agent.list">["runs"][number];

const PAGE = 100;
/** As long as a text to look for may be. */
const MOST_LETTERS = 200;
const NARROW = matchMedia("(max-width: 639px)");
const SINCE_DAYS = { day: 1, week: 7, month: 30 } as const;
const route = getRouteApi("/runs");

/** Runs of this repository, newest first; the filter is part of the address. */
export function RunsScreen(): ReactNode {
  const { q, outcome: asked, since, race } = route.useSearch();
  const navigate = useNavigate();
  const picked = usePicked();
  const outcome = asked !== undefined && asked in words.outcomes ? (asked as OutcomeName) : undefined;
  const query = useInfiniteQuery({
    queryKey: ["agent.list", { q, outcome, since, race }],
    queryFn: ({ pageParam, signal }) =>
      call(
        "agent.list",
        {
          limit: PAGE,
          ...(q === undefined ? {} : { q }),
          ...(outcome === undefined ? {} : { outcome }),
          ...(since === undefined ? {} : { since: daysAgo(SINCE_DAYS[since]) }),
          ...(race === undefined ? {} : { race }),
          ...(pageParam === null ? {} : { after: pageParam }),
        },
        signal,
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  });
  const rows = query.data?.pages.flatMap(({ runs }) => runs) ?? [];
  const working = query.data?.pages[0]?.working ?? [];
  const isFiltered = q !== undefined || outcome !== undefined || since !== undefined || race !== undefined;
  const start = () => void navigate({ to: "/runs/new" });
  useActs([{ key: "s", label: words.keys.start, run: start }]);
  return (
    <Page title={words.runs.title} aside={<Filters />}>
      <div className={styles["acts"]}>
        <Button kind="primary" onPress={start}>
          {words.start.open}
        </Button>
        <Compare picked={picked} />
        {race === undefined ? null : (
          <Button
            kind="quiet"
            onPress={() => void navigate({ to: "/runs", search: ({ race: _, ...rest }) => rest, replace: true })}
          >
            {words.compare.filter(race)} <X size={16} strokeWidth={1.75} aria-hidden />
          </Button>
        )}
      </div>
      {working.length === 0 ? null : <Fleet runs={working} />}
      {query.error === null ? null : <Failure thrown={query.error} again={() => void query.refetch()} />}
      {query.isPending ? <Waiting lines={6} /> : null}
      {query.data !== undefined && rows.length === 0 ? <Nothing filtered={isFiltered} /> : null}
      {rows.length === 0 ? null : (
        <Rows
          rows={rows}
          picked={picked}
          more={query.hasNextPage && !query.isFetching ? () => void query.fetchNextPage() : null}
        />
      )}
    </Page>
  );
}

/** Runs that somebody chose to compare; null: nobody is choosing. */
interface Picked {
  readonly ids: readonly string[] | null;
  readonly toggle: (id: string) => void;
  readonly set: (ids: readonly string[] | null) => void;
}

const MOST_COMPARED = 6;

function usePicked(): Picked {
  const [ids, set] = useState<readonly string[] | null>(null);
  const toggle = (id: string) =>
    set((old) => {
      const chosen = old ?? [];
      if (chosen.includes(id)) return chosen.filter((one) => one !== id);
      return chosen.length < MOST_COMPARED ? [...chosen, id] : chosen;
    });
  return { ids, toggle, set };
}

/** Two to six runs are chosen in the list, and go side by side. */
function Compare({ picked }: { readonly picked: Picked }): ReactNode {
  const navigate = useNavigate();
  const { ids, set } = picked;
  if (ids === null) return <Button onPress={() => set([])}>{words.compare.title}</Button>;
  return (
    <>
      <Button
        isDisabled={ids.length < 2}
        onPress={() => void navigate({ to: "/runs/compare", search: { ids: ids.join(",") } })}
      >
        {words.compare.act(ids.length)}
      </Button>
      <Button kind="quiet" onPress={() => set(null)}>
        {words.acts.cancel}
      </Button>
      {ids.length === MOST_COMPARED ? (
        <span className={styles["most"]}>{words.compare.most(MOST_COMPARED)}</span>
      ) : null}
    </>
  );
}

function daysAgo(days: number): string {
  // By the hour, so that the question stays the same while somebody scrolls.
  const hour = 3_600_000;
  return new Date(Math.floor(Date.now() / hour) * hour - days * 24 * hour).toISOString();
}

function Nothing({ filtered }: { readonly filtered: boolean }): ReactNode {
  const navigate = useNavigate();
  if (filtered) {
    return (
      <div className={styles["nothing"]}>
        <p>{words.runs.noMatch}</p>
        <Button onPress={() => void navigate({ to: "/runs" })}>{words.runs.clear}</Button>
      </div>
    );
  }
  return (
    <div className={styles["nothing"]}>
      <p>{words.runs.none}</p>
      <p className={styles["command"]}>
        <code>{words.home.startCommand}</code>
        <CopyButton text={words.home.startCommand} label={words.copy.hash(words.run.command)} />
      </p>
    </div>
  );
}

function Filters(): ReactNode {
  const { q, outcome, since } = route.useSearch();
  const navigate = route.useNavigate();
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(q ?? "");
  useActs([{ key: "/", label: words.keys.search, run: () => field.current?.focus() }]);
  // What is typed becomes the address when the typing rests.
  const isLong = typed.trim().length > MOST_LETTERS;
  useEffect(() => {
    if (isLong || typed.trim() === (q ?? "")) return;
    const timer = setTimeout(() => {
      void navigate({
        search: ({ q: _, ...rest }) => (typed.trim() === "" ? rest : { ...rest, q: typed.trim() }),
        replace: true,
      });
    }, 200);
    return () => clearTimeout(timer);
  }, [typed, q, navigate, isLong]);
  useEffect(() => {
    if (q === undefined) setTyped("");
  }, [q]);
  const choose = (name: "outcome" | "since") => (value: string) =>
    void navigate({
      search: (old) => {
        const { [name]: _, ...rest } = old;
        return value === "" ? rest : { ...rest, [name]: value };
      },
      replace: true,
    });
  return (
    <search className={styles["filters"]}>
      <input
        ref={field}
        type="search"
        aria-label={words.runs.search}
        placeholder={words.runs.search}
        value={typed}
        aria-invalid={isLong}
        aria-describedby={isLong ? "runs-long" : undefined}
        onChange={(event) => setTyped(event.target.value)}
      />
      {isLong ? (
        <p id="runs-long" className={styles["long"]} role="alert">
          {words.runs.long(MOST_LETTERS)}
        </p>
      ) : null}
      <select
        aria-label={words.runs.outcome}
        value={outcome ?? ""}
        onChange={(event) => choose("outcome")(event.target.value)}
      >
        <option value="">{words.runs.anyOutcome}</option>
        {Object.entries(words.outcomes).map(([name, word]) => (
          <option key={name} value={name}>
            {word}
          </option>
        ))}
      </select>
      <select
        aria-label={words.runs.since}
        value={since ?? ""}
        onChange={(event) => choose("since")(event.target.value)}
      >
        <option value="">{words.runs.sinceWords.any}</option>
        {(["day", "week", "month"] as const).map((name) => (
          <option key={name} value={name}>
            {words.runs.sinceWords[name]}
          </option>
        ))}
      </select>
    </search>
  );
}

/** Rows of one height, so that nothing is measured and nothing moves. Only what is seen is in the page. */
function Rows(props: {
  readonly rows: readonly Row[];
  readonly picked: Picked;
  readonly more: (() => void) | null;
}): ReactNode {
  const { rows, picked, more } = props;
  const list = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const height = useRowHeight();
  const navigate = useNavigate();
  const [focused, setFocused] = useState(0);
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0), []);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => height,
    overscan: 12,
    scrollMargin: top,
    // Whoever has the focus is never taken out of the page.
    rangeExtractor: ({ startIndex, endIndex, overscan, count }) => {
      const [first, last] = [Math.max(0, startIndex - overscan), Math.min(count - 1, endIndex + overscan)];
      const range = Array.from({ length: last - first + 1 }, (_, at) => first + at);
      return range.includes(focused) || focused >= count ? range : [focused, ...range].sort((a, b) => a - b);
    },
  });
  useEffect(() => virtual.measure(), [height, virtual]);
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last > rows.length - 30) more?.();
  }, [last, rows.length, more]);
  const move = (step: number) => {
    const next = Math.min(Math.max(focused + step, 0), rows.length - 1);
    setFocused(next);
    virtual.scrollToIndex(next, { align: "auto" });
    requestAnimationFrame(() =>
      list.current?.querySelector<HTMLElement>(`[data-at="${next}"]`)?.focus({ preventScroll: true }),
    );
  };
  useActs([
    { key: "j", label: words.keys.nextRun, run: () => move(1) },
    { key: "k", label: words.keys.previousRun, run: () => move(-1) },
    {
      key: "Enter",
      label: words.keys.openRun,
      run: () => void navigate({ to: "/runs/$run/review", params: { run: rows[focused]!.run_id } }),
    },
    { key: "x", label: words.keys.select, run: () => picked.toggle(rows[focused]!.run_id) },
  ]);
  return (
    <div
      ref={list}
      className={styles["rows"]}
      style={{ height: virtual.getTotalSize() }}
      role="list"
      aria-label={words.runs.title}
    >
      {items.map(({ index, start }) => {
        const run = rows[index]!;
        return (
          <div
            key={run.run_id}
            role="listitem"
            className={styles["item"]}
            data-picking={picked.ids !== null}
            style={{ height, transform: `translateY(${start - top}px)` }}
          >
            {picked.ids === null ? null : (
              <label className={styles["pick"]}>
                <input
                  type="checkbox"
                  aria-label={words.compare.select(plainText(run.goal, 60))}
                  checked={picked.ids.includes(run.run_id)}
                  disabled={picked.ids.length >= MOST_COMPARED && !picked.ids.includes(run.run_id)}
                  onChange={() => picked.toggle(run.run_id)}
                />
              </label>
            )}
            <Link
              to="/runs/$run/review"
              params={{ run: run.run_id }}
              className={styles["row"]!}
              data-at={index}
              onFocus={() => setFocused(index)}
            >
              <span className={styles["outcome"]}>
                <Outcome outcome={run.outcome} />
              </span>
              <span className={styles["goal"]}>
                <Foreign text={run.goal} />
                {run.race === null ? null : (
                  <span className={styles["race"]}>
                    <Foreign text={words.compare.race(run.race)} />
                  </span>
                )}
              </span>
              <span className={styles["agent"]}>
                <Foreign text={run.agent} />
              </span>
              <span className={styles["change"]}>
                {run.files === 0 ? null : (
                  <>
                    {words.files(run.files)} {words.plusMinus(run.added_lines, run.deleted_lines)}
                  </>
                )}
              </span>
              <span className={styles["took"]}>
                {run.duration_ms === null ? null : formatDuration(run.duration_ms)}
              </span>
              <span className={styles["age"]}>
                <Age at={run.created_at} />
              </span>
            </Link>
          </div>
        );
      })}
    </div>
  );
}

/** As high as the style sheet says; a phone has two lines. */
function useRowHeight(): number {
  const read = () =>
    NARROW.matches ? 72 : Number.parseInt(getComputedStyle(document.documentElement).getPropertyValue("--row"), 10);
  const [height, setHeight] = useState(read);
  useEffect(() => {
    const listener = () => setHeight(read());
    NARROW.addEventListener("change", listener);
    return () => NARROW.removeEventListener("change", listener);
  });
  return height;
}
