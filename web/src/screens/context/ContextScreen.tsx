import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { File, Folder } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { call, type Output, Refused } from "../../api/client.ts";
import { queries, reading } from "../../api/queries.ts";
import { Cancelled, runTask } from "../../api/tasks.ts";
import { useActs } from "../../app/acts.ts";
import { Page } from "../../app/Page.tsx";
import { useIsLost } from "../../app/use-connection.ts";
import { useMay } from "../../app/use-role.ts";
import { Button } from "../../parts/Button.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Shown, Waiting } from "../../parts/Shown.tsx";
import { formatBytes } from "../../words/formats.ts";
import { words } from "../../words/words.ts";
import { ContextLinks } from "./ContextLinks.tsx";
import styles from "./ContextScreen.module.css";
import { Treemap } from "./Treemap.tsx";

type Tree = Output<"context.tree">;
const said = words.context;
const route = getRouteApi("/context");
const MOST_LETTERS = 500;
const PAGE = 200;

/** What is indexed: folders and files with their sizes, and a search over all of it. */
export function ContextScreen(): ReactNode {
  const { q, path = "" } = route.useSearch();
  const canSearch = useMay("reviewer");
  return (
    <Page title={said.title} aside={<ContextLinks />}>
      <Status />
      {canSearch ? <SearchField /> : null}
      {q === undefined || !canSearch ? <FolderPart key={path} path={path} /> : <Results q={q} />}
    </Page>
  );
}

/** Whether the index is as the files are. */
function Status(): ReactNode {
  const query = useQuery({ ...reading("context.index-status", {}), retry: false });
  if (query.error instanceof Refused && query.error.code === "INDEX_MISSING")
    return <Build text={said.none} label={said.build} />;
  if (query.error !== null) return <Failure thrown={query.error} again={() => void query.refetch()} />;
  const stale = query.data?.stale.length ?? 0;
  return stale === 0 ? null : <Build text={said.stale(stale)} label={said.rebuild} />;
}

function Build({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const isLost = useIsLost();
  const canBuild = useMay("owner");
  const stop = useRef<AbortController | null>(null);
  const [progress, setProgress] = useState<string | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const start = async () => {
    stop.current = new AbortController();
    setProblem(null);
    setProgress(said.building);
    try {
      await runTask("context.index-build", {}, { signal: stop.current.signal, onProgress: setProgress });
      await queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => String(name).startsWith("context.") });
    } catch (thrown) {
      if (!(thrown instanceof Cancelled)) setProblem(thrown);
    } finally {
      setProgress(null);
    }
  };
  return (
    <div className={styles["build"]}>
      <span>{text}</span>
      {!canBuild ? null : progress === null ? (
        <Button kind="primary" isDisabled={isLost} onPress={() => void start()}>
          {label}
        </Button>
      ) : (
        <>
          <span role="status">
            <Foreign text={progress} />
          </span>
          <Button kind="quiet" onPress={() => stop.current?.abort()}>
            {words.acts.cancel}
          </Button>
        </>
      )}
      {problem === null ? null : <Failure thrown={problem} again={() => void start()} />}
    </div>
  );
}

function SearchField(): ReactNode {
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(q ?? "");
  useActs([{ key: "/", label: words.keys.search, run: () => field.current?.focus() }]);
  useEffect(() => setTyped(q ?? ""), [q]);
  const isLong = typed.length > MOST_LETTERS;
  const ask = () => {
    if (!isLong)
      void navigate({ search: ({ q: _, ...old }) => (typed.trim() === "" ? old : { ...old, q: typed.trim() }) });
  };
  return (
    <search className={styles["search"]}>
      <input
        ref={field}
        type="search"
        aria-label={said.search}
        placeholder={said.search}
        value={typed}
        aria-invalid={isLong}
        onChange={(event) => {
          setTyped(event.target.value);
          if (event.target.value === "") void navigate({ search: ({ q: _, ...old }) => old });
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") ask();
        }}
      />
      <Button onPress={ask}>{words.context.results}</Button>
      {isLong ? <p role="alert">{said.searchLong(MOST_LETTERS)}</p> : null}
    </search>
  );
}

function Results({ q }: { readonly q: string }): ReactNode {
  const query = useQuery({ ...reading("context.search", { query: q, limit: 50 }), retry: false });
  return (
    <Shown query={query} lines={6}>
      {({ results, total, closest }) => (
        <section className={styles["results"]} aria-label={said.results}>
          <h2>{said.found(total)}</h2>
          {total === 0 ? <p>{said.noResult}</p> : null}
          {closest === null ? null : (
            <p>
              <Link to="/context" search={{ q: closest }}>
                <Foreign text={said.closest(closest)} />
              </Link>
            </p>
          )}
          <ul>
            {results.map((one) => (
              <li key={`${one.section_id} ${one.slice}`}>
                <Link
                  to="/context/sections/$section"
                  params={{ section: one.section_id }}
                  search={{ slice: one.slice }}
                >
                  <Foreign text={one.ref} />
                </Link>
                <span className={styles["plain"]}>{said.section.lines(one.line_start + 1, one.line_end)}</span>
                {one.preview === null ? null : (
                  <code className={styles["glance"]}>
                    <Foreign text={one.preview.text.trimEnd()} />
                  </code>
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
    </Shown>
  );
}

function FolderPart({ path }: { readonly path: string }): ReactNode {
  const query = useInfiniteQuery({
    queryKey: ["context.tree", { prefix: path }],
    queryFn: ({ pageParam, signal }) =>
      call("context.tree", { prefix: path, limit: PAGE, ...(pageParam === null ? {} : { after: pageParam }) }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    retry: false,
  });
  if (query.error instanceof Refused && query.error.code === "INDEX_MISSING") return null;
  if (query.error !== null) return <Failure thrown={query.error} again={() => void query.refetch()} />;
  if (query.data === undefined) return <Waiting lines={8} />;
  const items = query.data.pages.flatMap((page) => page.items);
  const { total } = query.data.pages[0]!;
  const isFile = items.length === 0 && path !== "";
  return (
    <>
      <Crumbs path={path} />
      {isFile ? (
        <FileSections path={path} />
      ) : (
        <div className={styles["halves"]}>
          <section aria-label={said.tree}>
            <p className={styles["plain"]}>{said.sums(total.files, total.sections, formatBytes(total.bytes))}</p>
            <ul className={styles["tree"]}>
              {items.map((item) => (
                <li key={item.path}>
                  <Link to="/context" search={{ path: item.path }} className={styles["node"]!}>
                    {item.kind === "folder" ? (
                      <Folder size={18} strokeWidth={1.75} aria-hidden />
                    ) : (
                      <File size={18} strokeWidth={1.75} aria-hidden />
                    )}
                    <span className={styles["name"]}>
                      <Foreign text={item.name} />
                    </span>
                    <span className={styles["plain"]}>{said.sections(item.sections)}</span>
                    <span className={styles["bytes"]}>{formatBytes(item.bytes)}</span>
                  </Link>
                </li>
              ))}
            </ul>
            {query.hasNextPage ? <Button onPress={() => void query.fetchNextPage()}>{said.more}</Button> : null}
          </section>
          <Treemap items={items} />
        </div>
      )}
    </>
  );
}

function Crumbs({ path }: { readonly path: string }): ReactNode {
  const parts = path === "" ? [] : path.split("/");
  return (
    <nav className={styles["crumbs"]} aria-label={said.tree}>
      <Link to="/context" search={{}}>
        {said.top}
      </Link>
      {parts.map((part, n) => {
        const whole = parts.slice(0, n + 1).join("/");
        return (
          <span key={whole}>
            <span aria-hidden>/ </span>
            {n === parts.length - 1 ? (
              <Foreign text={part} />
            ) : (
              <Link to="/context" search={{ path: whole }}>
                <Foreign text={part} />
              </Link>
            )}
          </span>
        );
      })}
    </nav>
  );
}

function FileSections({ path }: { readonly path: string }): ReactNode {
  const query = useQuery({ ...reading("context.section-list", { path, limit: 2000 }), retry: false });
  return (
    <Shown query={query} lines={6}>
      {(sections: Output<"context.section-list">) => (
        <section aria-label={said.sectionsOf}>
          <ul className={styles["tree"]}>
            {sections.map((one) => (
              <li
                key={`${one.section_id} ${one.line_start}`}
                style={{ paddingLeft: `${Math.min(one.heading_path.length, 8) * 16}px` }}
              >
                <Link to="/context/sections/$section" params={{ section: one.section_id }} className={styles["node"]!}>
                  <span className={styles["name"]}>
                    <Foreign text={one.heading_path.at(-1) ?? said.section.whole} />
                  </span>
                  <span className={styles["plain"]}>{said.section.lines(one.line_start + 1, one.line_end)}</span>
                  <span className={styles["bytes"]}>{formatBytes(one.bytes)}</span>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
    </Shown>
  );
}

export type TreeItem = Tree["items"][number];
