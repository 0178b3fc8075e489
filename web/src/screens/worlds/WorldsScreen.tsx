import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { type ListedWorld, worldsApi } from "../../api/worlds.ts";
import { useActs } from "../../app/acts.ts";
import { Page } from "../../app/Page.tsx";
import { Button } from "../../parts/Button.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Waiting } from "../../parts/Shown.tsx";
import { Age } from "../../parts/When.tsx";
import { words } from "../../words/words.ts";
import { DropPart } from "./DropPart.tsx";
import { worldClock } from "./names.ts";
import styles from "./WorldsScreen.module.css";

const said = words.worlds;
const route = getRouteApi("/worlds");

/** Every story with its newest line, and the ways to another one. */
export function WorldsScreen(): ReactNode {
  const { q, order } = route.useSearch();
  const navigate = route.useNavigate();
  const field = useRef<HTMLInputElement>(null);
  const query = useInfiniteQuery({
    queryKey: ["world.list", { q: q ?? "", order: order ?? "activity" }],
    queryFn: ({ pageParam }) => worldsApi.list({ q: q ?? "", order: order ?? "activity", limit: 50, after: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  });
  const worlds = query.data?.pages.flatMap((page) => page.worlds) ?? [];
  const isEmpty = query.data !== undefined && worlds.length === 0;
  const isFiltered = q !== undefined && q !== "";
  useActs([{ key: "/", label: words.keys.search, run: () => field.current?.focus() }]);
  return (
    <Page
      title={said.title}
      aside={
        <Link to="/worlds/new" className={styles["make"]!}>
          <Plus size={18} strokeWidth={1.75} aria-hidden />
          {said.make}
        </Link>
      }
    >
      {isEmpty && !isFiltered ? null : (
        <search className={styles["filters"]}>
          <label>
            {said.search}
            <input
              ref={field}
              type="search"
              maxLength={200}
              value={q ?? ""}
              onChange={({ target }) =>
                void navigate({
                  search: (old) => ({ ...old, q: target.value === "" ? undefined : target.value }),
                  replace: true,
                })
              }
            />
          </label>
          <label>
            {said.order}
            <select
              value={order ?? "activity"}
              onChange={({ target }) =>
                void navigate({
                  search: (old) => ({ ...old, order: target.value === "title" ? ("title" as const) : undefined }),
                  replace: true,
                })
              }
            >
              <option value="activity">{said.orders.activity}</option>
              <option value="title">{said.orders.title}</option>
            </select>
          </label>
        </search>
      )}
      {query.error === null ? null : <Failure thrown={query.error} again={() => void query.refetch()} />}
      {query.isPending ? <Waiting lines={6} /> : null}
      {isEmpty ? (
        <div className={styles["nothing"]}>
          <p>{isFiltered ? said.noMatch : said.none}</p>
          {isFiltered ? <Button onPress={() => void navigate({ search: {} })}>{said.clear}</Button> : null}
        </div>
      ) : null}
      {worlds.length === 0 ? null : (
        <ul className={styles["list"]} aria-label={said.list}>
          {worlds.map((world) => (
            <World key={world.world_id} world={world} all={worlds} />
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
      <DropPart into={null} />
    </Page>
  );
}

function World({ world, all }: { readonly world: ListedWorld; readonly all: readonly ListedWorld[] }): ReactNode {
  const { last, parent } = world;
  const from = parent === null ? undefined : all.find(({ world_id }) => world_id === parent.world_id);
  return (
    <li>
      <Link to="/worlds/$world" params={{ world: world.world_id }} className={styles["world"]!}>
        <span className={styles["title"]}>
          <Foreign text={world.title} />
        </span>
        <span className={styles["age"]}>{world.last_activity === null ? null : <Age at={world.last_activity} />}</span>
        <span className={styles["last"]}>
          {last === null ? (
            <span className={styles["plain"]}>{said.silent}</span>
          ) : (
            <>
              {last.author_label === null ? null : (
                <span className={styles["who"]}>
                  <Foreign text={last.author_label} />{" "}
                </span>
              )}
              <Foreign text={last.excerpt.replace(/\s+/g, " ")} />
            </>
          )}
        </span>
        <span className={styles["facts"]}>
          {world.world_time === null ? null : <span>{worldClock(world.world_time)}</span>}
          <span>{said.people(world.people)}</span>
          <span>
            <Foreign text={world.writer.words} />
          </span>
          {from === undefined ? null : (
            <span>
              <Foreign text={said.forkOf(from.title)} />
            </span>
          )}
        </span>
      </Link>
    </li>
  );
}
