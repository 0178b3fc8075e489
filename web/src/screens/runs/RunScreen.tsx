import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useParams, useRouterState } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { reading } from "../../api/queries.ts";
import { useActs } from "../../app/acts.ts";
import { announce } from "../../app/announce.ts";
import { Page } from "../../app/Page.tsx";
import { CopyButton } from "../../parts/Copy.tsx";
import { Boundary } from "../../parts/Failure.tsx";
import { Foreign, plainText } from "../../parts/Foreign.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { Age } from "../../parts/When.tsx";
import { formatCommand } from "../../words/formats.ts";
import { words } from "../../words/words.ts";
import { Attempts } from "./Attempts.tsx";
import { RunDialogs } from "./RunDialogs.tsx";
import styles from "./RunScreen.module.css";
import { isAtWork, type Report, type Summary, useRun } from "./use-run.ts";
import { sayVerdict, Verdict } from "./Verdict.tsx";

const PARTS = ["review", "live", "output", "proof", "verify", "timeline", "files", "report"] as const;

/** One run: what is true about it, what can be done, and the parts that it rests on. */
export function RunScreen(): ReactNode {
  const query = useRun();
  return (
    <Shown query={query} lines={6}>
      {(report) => <Known report={report} />}
    </Shown>
  );
}

function Known({ report }: { readonly report: Report }): ReactNode {
  const run = report.summary;
  const goal = run.goal.replace(/\s+/g, " ");
  const verdict = sayVerdict(report);
  useEffect(() => announce(words.announced.verdict(verdict)), [verdict]);
  const link = new URL(`/runs/${encodeURIComponent(run.run_id)}`, location.href).href;
  return (
    <Page
      wide
      title={plainText(goal, 200)}
      shown={<Foreign text={goal} />}
      aside={
        <p className={styles["facts"]}>
          <code className={styles["command"]} title={plainText(formatCommand(run.agent.argv), 400)}>
            <Foreign text={formatCommand(run.agent.argv)} />
          </code>
          {isAtWork(run) ? <Process run={run} /> : null}
          <Age at={run.created_at} />
          {report.race === null ? null : (
            <Link to="/runs/compare" search={{ ids: report.race.run_ids.slice(0, 6).join(",") }}>
              {words.compare.ofRace(report.race.run_ids.length)}
            </Link>
          )}
          <CopyButton text={link} label={words.copy.link} />
        </p>
      }
    >
      <Verdict report={report} says={verdict} />
      <Attempts report={report} />
      <Parts working={isAtWork(run)} hasChange={run.changes.files.length > 0} />
      <Boundary>
        <Outlet />
      </Boundary>
      <RunDialogs run={run} />
    </Page>
  );
}

/** Which process works on it: the page only looks on. */
function Process({ run }: { readonly run: Summary }): ReactNode {
  const { data } = useQuery(reading("agent.list", { limit: 1 }));
  const pid = data?.working.find(({ run_id }) => run_id === run.run_id)?.pid ?? null;
  return pid === null ? null : <span>{words.run.atWork(pid)}</span>;
}

/** What is live is there while it is, and as long as somebody looks at it. */
function Parts(props: { readonly working: boolean; readonly hasChange: boolean }): ReactNode {
  const { working, hasChange } = props;
  // As the address has it: whoever came by a short name stays there.
  const run = useParams({ strict: false, select: (params: { run?: string }) => params.run ?? "" });
  const here = useRouterState({ select: ({ location }) => location.pathname.split("/")[3] ?? "" });
  const navigate = useNavigate();
  const parts = PARTS.filter((part) => part !== "live" || working || here === "live");
  const step = (by: number) => {
    const at = parts.indexOf(here as (typeof PARTS)[number]);
    const part = parts[(at + by + parts.length) % parts.length]!;
    void navigate({ to: `/runs/$run/${part}`, params: { run } });
  };
  const proof = {
    key: "o",
    label: words.keys.proof,
    run: () => void navigate({ to: "/runs/$run/proof", params: { run } }),
  };
  useActs([
    { key: "[", label: words.keys.tab, run: () => step(-1) },
    { key: "]", label: words.keys.tab, run: () => step(1) },
    // Beside a change it is a panel.
    ...(here === "review" && hasChange ? [] : [proof]),
  ]);
  return (
    <nav className={styles["parts"]} aria-label={words.run.tabsLabel}>
      {parts.map((part) => (
        <Link
          key={part}
          to={`/runs/$run/${part}`}
          params={{ run }}
          className={styles["part"]!}
          activeProps={{ className: `${styles["part"]} ${styles["here"]}`, "aria-current": "page" }}
          resetScroll={false}
        >
          {words.run.tabs[part]}
        </Link>
      ))}
    </nav>
  );
}
