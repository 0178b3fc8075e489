import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { worldsApi } from "../../api/worlds.ts";
import { Button } from "../../parts/Button.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { boxed, Foreign } from "../../parts/Foreign.tsx";
import { Waiting } from "../../parts/Shown.tsx";
import { words } from "../../words/words.ts";
import styles from "./Forms.module.css";
import { worldClock } from "./names.ts";
import { useWorld } from "./world-context.ts";

const said = words.worlds.find;
const route = getRouteApi("/worlds/$world/search");

/** Words in every line that the reader can read, and the way to the place. */
export function SearchPart(): ReactNode {
  const { id, viewer } = useWorld();
  const { q = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const [typed, setTyped] = useState(q);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const query = useInfiniteQuery({
    queryKey: ["world.find", { world: id, q, viewer }],
    queryFn: ({ pageParam, signal }) => worldsApi.find(id, { q, viewer, limit: 20, after: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    enabled: q !== "",
  });
  const results = query.data?.pages.flatMap((page) => page.results) ?? [];
  const search = (event: FormEvent) => {
    event.preventDefault();
    void navigate({ search: (old) => ({ ...old, q: typed.trim() === "" ? undefined : typed.trim() }) });
  };
  return (
    <div className={styles["part"]}>
      <h2 className="unseen">{said.title}</h2>
      <form className={styles["person"]} onSubmit={search}>
        <input
          ref={field}
          className={styles["search"]}
          type="search"
          aria-label={said.field}
          placeholder={said.field}
          value={typed}
          maxLength={2000}
          onChange={({ target }) => setTyped(target.value)}
        />
        <Button kind="primary" type="submit">
          {said.act}
        </Button>
      </form>
      {q === "" ? <p className={styles["plain"]}>{said.hint}</p> : null}
      {query.error === null ? null : <Failure thrown={query.error} again={() => void query.refetch()} />}
      {q !== "" && query.isPending ? <Waiting lines={5} /> : null}
      {query.data !== undefined && results.length === 0 ? <p>{said.none}</p> : null}
      {results.length === 0 ? null : (
        <ul className={styles["list"]}>
          {results.map(({ entry_id, author_label, created_at_world, verbatim_excerpt, matches }) => (
            <li key={entry_id} data-testid="found">
              <Link to="/worlds/$world" params={{ world: id }} search={(old) => ({ viewer: old.viewer, at: entry_id })}>
                <span className={styles["facts"]}>
                  <span>{worldClock(created_at_world)}</span>
                  {author_label === null ? null : (
                    <span>
                      <Foreign text={author_label} />
                    </span>
                  )}
                </span>
                <bdi className={styles["quote"]} dir="auto">
                  <Marked text={verbatim_excerpt} matches={matches} />
                </bdi>
              </Link>
            </li>
          ))}
        </ul>
      )}
      {query.hasNextPage ? (
        <p>
          <Button isDisabled={query.isFetching} onPress={() => void query.fetchNextPage()}>
            {said.more}
          </Button>
        </p>
      ) : null}
    </div>
  );
}

/** The excerpt with what was looked for marked; the ranges are those of the server. */
function Marked({
  text,
  matches,
}: {
  readonly text: string;
  readonly matches: readonly (readonly number[])[];
}): ReactNode {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const [start = 0, end = 0] of matches) {
    if (start < at) continue;
    parts.push(<span key={`t${at}`}>{boxed(text.slice(at, start))}</span>);
    parts.push(<mark key={`m${start}`}>{boxed(text.slice(start, end))}</mark>);
    at = end;
  }
  return [...parts, <span key={`t${at}`}>{boxed(text.slice(at))}</span>];
}
