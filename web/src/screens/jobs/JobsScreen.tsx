import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { call } from "../../api/client.ts";
import { Page } from "../../app/Page.tsx";
import { useMay } from "../../app/use-role.ts";
import { Button } from "../../parts/Button.tsx";
import { CopyButton } from "../../parts/Copy.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Waiting } from "../../parts/Shown.tsx";
import { words } from "../../words/words.ts";
import { JobState } from "./JobState.tsx";
import styles from "./Jobs.module.css";
import { SubmitPart } from "./SubmitPart.tsx";

const said = words.jobs;
const route = getRouteApi("/jobs");

/** Jobs in the order in which they were posted. */
export function JobsScreen(): ReactNode {
  const { open } = route.useSearch();
  const navigate = route.useNavigate();
  const canPost = useMay("reviewer");
  const query = useInfiniteQuery({
    queryKey: ["jobs.list", { open: open === true }],
    queryFn: ({ pageParam, signal }) =>
      call(
        "jobs.list",
        { open: open === true, limit: 200, ...(pageParam === null ? {} : { after: pageParam }) },
        signal,
      ),
    initialPageParam: null as number | null,
    getNextPageParam: ({ jobs, more }) => (more ? (jobs.at(-1)?.number ?? null) : null),
  });
  const jobs = query.data?.pages.flatMap((page) => page.jobs) ?? [];
  return (
    <Page
      title={said.title}
      aside={
        <label className={styles["check"]}>
          <input
            type="checkbox"
            checked={open === true}
            onChange={({ target }) => void navigate({ search: target.checked ? { open: true } : {}, replace: true })}
          />
          {said.onlyOpen}
        </label>
      }
    >
      {query.error === null ? null : <Failure thrown={query.error} again={() => void query.refetch()} />}
      {query.isPending ? <Waiting lines={5} /> : null}
      {query.data !== undefined && jobs.length === 0 ? (
        <>
          <p>{said.none}</p>
          <p className={styles["command"]}>
            <code>{said.command}</code>
            <CopyButton text={said.command} label={words.copy.hash(words.run.command)} />
          </p>
        </>
      ) : null}
      {jobs.length === 0 ? null : (
        <ul className={styles["list"]} aria-label={said.list}>
          {jobs.map((job) => (
            <li key={job.job_id}>
              <Link to="/jobs/$job" params={{ job: job.job_id }} className={styles["row"]!}>
                <JobState state={job.state} />
                <span className={styles["intent"]}>
                  <Foreign text={job.intent} />
                </span>
                <span className={styles["plain"]}>{said.committed(job.committed, job.steps)}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      {canPost ? <SubmitPart /> : null}
      {query.hasNextPage ? <Button onPress={() => void query.fetchNextPage()}>{said.more}</Button> : null}
    </Page>
  );
}
