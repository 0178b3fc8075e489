import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { worldsApi } from "../../api/worlds.ts";
import { Button } from "../../parts/Button.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Waiting } from "../../parts/Shown.tsx";
import { Age } from "../../parts/When.tsx";
import { words } from "../../words/words.ts";
import styles from "./Forms.module.css";
import { nameIn, worldClock } from "./names.ts";
import { useWorld } from "./world-context.ts";

const said = words.worlds.beats;

/** Every beat that passed, newest first, and how it ended. */
export function InspectorPart(): ReactNode {
  const { id, people } = useWorld();
  const query = useInfiniteQuery({
    queryKey: ["world.beats", { world: id }],
    queryFn: ({ pageParam }) => worldsApi.beats(id, { limit: 50, after: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    staleTime: 0,
  });
  const beats = query.data?.pages.flatMap((page) => page.beats) ?? [];
  return (
    <div className={styles["part"]}>
      <h2>{said.title}</h2>
      {query.error === null ? null : <Failure thrown={query.error} again={() => void query.refetch()} />}
      {query.isPending ? <Waiting lines={6} /> : null}
      {query.data !== undefined && beats.length === 0 ? <p className={styles["plain"]}>{said.none}</p> : null}
      {beats.length === 0 ? null : (
        <ol className={styles["list"]} aria-label={said.list}>
          {beats.map((beat) => (
            <li key={beat.request_id} data-testid="beat">
              <Link
                to="/worlds/$world/inspector/$request"
                params={{ world: id, request: beat.request_id }}
                search={(old) => old}
              >
                <Foreign text={said.spoke(nameIn(people, beat.speaker, words.worlds.knows.world))} />
              </Link>
              <span>
                {beat.result === null ? "" : (said.result[beat.result as keyof typeof said.result] ?? beat.result)}
              </span>
              <span className={styles["facts"]}>
                <span>{worldClock(beat.world_time)}</span>
                <span>{said.lines(beat.entry_ids.length)}</span>
                {beat.calls === undefined ? null : <span>{said.calls(beat.calls)}</span>}
                {beat.versions > 1 ? <span>{said.versions(beat.versions)}</span> : null}
                {beat.code === null ? null : <code>{beat.code}</code>}
              </span>
              <span className={styles["facts"]}>
                <Age at={beat.at} />
              </span>
            </li>
          ))}
        </ol>
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
