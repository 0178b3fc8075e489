import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { lazy, type ReactNode, Suspense, useEffect, useLayoutEffect, useRef, useState } from "react";
import { askBytes, call, type Output } from "../../api/client.ts";
import { reading } from "../../api/queries.ts";
import { useActs } from "../../app/acts.ts";
import { Page } from "../../app/Page.tsx";
import { useMay } from "../../app/use-role.ts";
import { Button } from "../../parts/Button.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Waiting } from "../../parts/Shown.tsx";
import { saveBytes } from "../../parts/save-bytes.ts";
import { Clock } from "../../parts/When.tsx";
import { words } from "../../words/words.ts";
import styles from "./LedgerScreen.module.css";
import { VerifyAll } from "./VerifyAll.tsx";

type Entry = Output<"ledger.browse">["items"][number];

const PAGE = 200;
const NARROW = matchMedia("(max-width: 639px)");
const route = getRouteApi("/ledger");
/** The plot is drawn by a package of its own, which the list does not wait for. */
const Growth = lazy(() => import("./Growth.tsx").then(({ Growth: part }) => ({ default: part })));

/** Everything that was written down, newest first; what is looked for is part of the address. */
export function LedgerScreen(): ReactNode {
  const canVerify = useMay("owner");
  const { stream, kind, actor, from, to } = route.useSearch();
  const navigate = route.useNavigate();
  const asked = {
    ...(stream === undefined ? {} : { streams: [stream] }),
    ...(kind === undefined ? {} : { kinds: [kind] }),
    ...(actor === undefined ? {} : { actor }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
  const query = useInfiniteQuery({
    queryKey: ["ledger.browse", asked],
    queryFn: ({ pageParam, signal }) =>
      call("ledger.browse", { ...asked, limit: PAGE, ...(pageParam === null ? {} : { before: pageParam }) }, signal),
    initialPageParam: null as number | null,
    getNextPageParam: ({ next }) => next,
  });
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? [];
  const total = query.data?.pages[0]?.total ?? null;
  const isFiltered = Object.keys(asked).length > 0;
  const [problem, setProblem] = useState<unknown>(null);
  const download = () => {
    setProblem(null);
    void askBytes("/ledger/export")
      .then((answer) => answer.arrayBuffer())
      .then((bytes) => saveBytes(bytes, "ledger.jsonl"), setProblem);
  };
  return (
    <Page
      title={words.ledger.title}
      aside={
        <nav className={styles["links"]} aria-label={words.ledger.links}>
          {total === null ? null : <span className={styles["plain"]}>{words.ledger.of(total)}</span>}
          <Link to="/ledger/checkpoints">{words.ledger.checkpoints}</Link>
          <Button kind="quiet" onPress={download}>
            {words.ledger.download}
          </Button>
        </nav>
      }
    >
      {canVerify ? <VerifyAll /> : null}
      {problem === null ? null : <Failure thrown={problem} again={download} />}
      {total === 0 ? null : (
        <Suspense fallback={<div className={styles["plotSpace"]} />}>
          <Growth from={from} to={to} choose={(range) => void navigate({ search: (old) => ({ ...old, ...range }) })} />
        </Suspense>
      )}
      <Filters />
      {query.error === null ? null : <Failure thrown={query.error} again={() => void query.refetch()} />}
      {query.isPending ? <Waiting lines={8} /> : null}
      {query.data !== undefined && rows.length === 0 ? (
        <div className={styles["nothing"]}>
          <p>{isFiltered ? words.ledger.noMatch : words.ledger.none}</p>
          {isFiltered ? (
            <Button onPress={() => void navigate({ to: "/ledger", search: {} })}>{words.ledger.clear}</Button>
          ) : null}
        </div>
      ) : null}
      {rows.length === 0 ? null : (
        <Rows rows={rows} more={query.hasNextPage && !query.isFetching ? () => void query.fetchNextPage() : null} />
      )}
    </Page>
  );
}

type FilterName = "stream" | "kind" | "actor" | "from" | "to";

function Filters(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const first = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(search.stream ?? "");
  const known = useQuery({
    ...reading("ledger.streams", { prefix: typed, limit: 50 }),
    enabled: typed.length <= 500,
  });
  useActs([{ key: "/", label: words.keys.search, run: () => first.current?.focus() }]);
  useEffect(() => setTyped(search.stream ?? ""), [search.stream]);
  const set = (name: FilterName) => (value: string) =>
    void navigate({
      search: (old) => {
        const { [name]: _, ...rest } = old;
        return value === "" ? rest : { ...rest, [name]: value };
      },
      replace: true,
    });
  return (
    <search className={styles["filters"]}>
      <label>
        {words.ledger.stream}
        <input
          ref={first}
          type="search"
          list="ledger-streams"
          value={typed}
          maxLength={500}
          onChange={(event) => setTyped(event.target.value)}
          onBlur={() => set("stream")(typed)}
          onKeyDown={(event) => {
            if (event.key === "Enter") set("stream")(typed);
          }}
        />
        <datalist id="ledger-streams">
          {known.data?.items.map(({ stream }) => (
            <option key={stream} value={stream} />
          ))}
        </datalist>
      </label>
      <Field label={words.ledger.kind} value={search.kind} set={(value) => set("kind")(value.toUpperCase())} />
      <Field label={words.ledger.actor} value={search.actor} set={set("actor")} />
      <Moment label={words.ledger.from} value={search.from} set={set("from")} />
      <Moment label={words.ledger.to} value={search.to} set={set("to")} />
    </search>
  );
}

/** What is typed counts when the field is left or Enter is pressed. */
function Field(props: {
  readonly label: string;
  readonly value: string | undefined;
  readonly set: (value: string) => void;
}): ReactNode {
  const { label, value, set } = props;
  const [typed, setTyped] = useState(value ?? "");
  useEffect(() => setTyped(value ?? ""), [value]);
  return (
    <label>
      {label}
      <input
        type="search"
        value={typed}
        maxLength={500}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={() => typed !== (value ?? "") && set(typed)}
        onKeyDown={(event) => {
          if (event.key === "Enter") set(typed);
        }}
      />
    </label>
  );
}

function Moment(props: {
  readonly label: string;
  readonly value: string | undefined;
  readonly set: (value: string) => void;
}): ReactNode {
  const { label, value, set } = props;
  return (
    <label>
      {label}
      <input
        type="datetime-local"
        step={1}
        value={value === undefined ? "" : toLocal(value)}
        onChange={({ target }) => {
          const at = new Date(target.value);
          set(target.value === "" || Number.isNaN(at.getTime()) ? "" : at.toISOString());
        }}
      />
    </label>
  );
}

/** As the field of a browser wants it: local, without a zone. */
function toLocal(at: string): string {
  const then = new Date(at);
  return new Date(then.getTime() - then.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

function Rows({ rows, more }: { readonly rows: readonly Entry[]; readonly more: (() => void) | null }): ReactNode {
  const list = useRef<HTMLDivElement>(null);
  const navigate = route.useNavigate();
  const height = NARROW.matches ? 72 : 36;
  const [top, setTop] = useState(0);
  const [focused, setFocused] = useState(0);
  useLayoutEffect(() => setTop((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY), []);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => height,
    overscan: 12,
    scrollMargin: top,
    // The row with the focus stays, however far somebody scrolls.
    rangeExtractor: ({ startIndex, endIndex, overscan, count }) => {
      const from = Math.max(startIndex - overscan, 0);
      const to = Math.min(endIndex + overscan, count - 1);
      const range = Array.from({ length: to - from + 1 }, (_, n) => from + n);
      if (focused < from && focused < count) range.unshift(focused);
      else if (focused > to && focused < count) range.push(focused);
      return range;
    },
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last > rows.length - 60) more?.();
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
    { key: "j", label: words.keys.nextRow, run: () => move(1) },
    { key: "k", label: words.keys.previousRow, run: () => move(-1) },
    {
      key: "Enter",
      label: words.keys.openRow,
      run: () => void navigate({ to: "/ledger/$index", params: { index: String(rows[focused]!.index) } }),
    },
  ]);
  return (
    <div
      ref={list}
      className={styles["rows"]}
      style={{ height: virtual.getTotalSize() }}
      role="list"
      aria-label={words.ledger.list}
    >
      {items.map(({ index: at, start }) => {
        const row = rows[at]!;
        return (
          <div
            key={row.index}
            role="listitem"
            className={styles["item"]}
            style={{ height, transform: `translateY(${start - top}px)` }}
          >
            <Link
              to="/ledger/$index"
              params={{ index: String(row.index) }}
              className={styles["row"]!}
              data-at={at}
              onFocus={() => setFocused(at)}
            >
              <span className={styles["index"]}>{words.number(row.index)}</span>
              <span className={styles["time"]}>
                <Clock at={row.time} />
              </span>
              <span className={styles["stream"]}>
                <Foreign text={row.stream} />
              </span>
              <span className={styles["kind"]}>
                <Foreign text={row.kind} />
              </span>
              <span className={styles["actor"]}>
                <Foreign text={row.actor} />
              </span>
              <code className={styles["body"]}>
                <Foreign text={row.excerpt} />
              </code>
            </Link>
          </div>
        );
      })}
    </div>
  );
}
