import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { askBytes, call, type Output } from "../../api/client.ts";
import { queries, reading } from "../../api/queries.ts";
import { Cancelled, runTask } from "../../api/tasks.ts";
import { verifyHere } from "../../api/verifier.ts";
import { Page } from "../../app/Page.tsx";
import { useIsLost } from "../../app/use-connection.ts";
import { useMay } from "../../app/use-role.ts";
import { Button } from "../../parts/Button.tsx";
import { CopyButton } from "../../parts/Copy.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Mark } from "../../parts/Mark.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { words } from "../../words/words.ts";
import { JobState, StepState } from "./JobState.tsx";
import styles from "./Jobs.module.css";

type Job = Output<"jobs.status">;
const said = words.jobs.job;
const route = getRouteApi("/jobs/$job");

/** One job: its steps, what can be done with it, and its receipts, whose chain is verified here. */
export function JobScreen(): ReactNode {
  const { job } = route.useParams();
  const query = useQuery(reading("jobs.status", { job_id: job }));
  const title = query.data?.intent ?? words.jobs.title;
  return (
    <Page title={title} shown={<Foreign text={title} />} aside={<Link to="/jobs">{words.jobs.title}</Link>}>
      <Shown query={query} lines={8}>
        {(status: Job) => (
          <>
            <Head job={status} />
            <Acts job={status} />
            <Steps job={status} />
            <Chain job={status} />
          </>
        )}
      </Shown>
    </Page>
  );
}

function Head({ job }: { readonly job: Job }): ReactNode {
  return (
    <section className={styles["head"]}>
      <p>
        <JobState state={job.state} />
      </p>
      <dl className={styles["facts"]}>
        <Fact name={words.jobs.receipt.of} value={job.job_id} />
        <Fact name={said.run} value={job.run_id} />
        <Fact name={said.message} value={job.message_id} />
        <Fact name={said.plan} value={job.plan_hash} />
        {Object.entries(job.outputs).map(([name, value]) => (
          <Fact key={name} name={name} value={value} />
        ))}
      </dl>
      {job.outputs_missing.length === 0 ? null : (
        <p className={styles["bad"]}>
          {said.missing} <Foreign text={job.outputs_missing.join(", ")} />
        </p>
      )}
      {job.breach === null ? null : (
        <p className={styles["bad"]}>
          {said.breach(job.breach.ordinal)} <code>{job.breach.code}</code>
        </p>
      )}
      <p>
        <Link to="/ledger" search={{ stream: `job/${job.job_id}` }}>
          {said.entries}
        </Link>
      </p>
    </section>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }): ReactNode {
  return (
    <div>
      <dt>
        <Foreign text={name} />
      </dt>
      <dd>
        <code>
          <Foreign text={value} />
        </code>
        <CopyButton text={value} label={words.copy.hash(name)} />
      </dd>
    </div>
  );
}

/** What can be done now; an ended job can only be read. */
function Acts({ job }: { readonly job: Job }): ReactNode {
  const isLost = useIsLost();
  const [progress, setProgress] = useState<string | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [canRun, canCancel] = [useMay("owner"), useMay("reviewer")];
  if ((job.state !== "PENDING" && job.state !== "RUNNING") || !canCancel) return null;
  const act = async (work: () => Promise<unknown>) => {
    setProblem(null);
    setProgress(said.going);
    try {
      await work();
    } catch (thrown) {
      if (!(thrown instanceof Cancelled)) setProblem(thrown);
    } finally {
      setProgress(null);
      await queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => String(name).startsWith("jobs.") });
    }
  };
  return (
    <section className={styles["acts"]} aria-label={words.jobs.title}>
      {canRun ? (
        <Button
          kind="primary"
          isDisabled={isLost || progress !== null}
          onPress={() => void act(() => runTask("jobs.run", { job_id: job.job_id }, { onProgress: setProgress }))}
        >
          {progress === null ? said.go : said.going}
        </Button>
      ) : null}
      <Button
        kind="danger"
        isDisabled={isLost}
        onPress={() => void act(() => call("jobs.cancel", { job_id: job.job_id }))}
      >
        {said.cancel}
      </Button>
      <span className={styles["plain"]}>{progress === null ? said.cancelWhy : <Foreign text={progress} />}</span>
      {problem === null ? null : <Failure thrown={problem} />}
    </section>
  );
}

function Steps({ job }: { readonly job: Job }): ReactNode {
  return (
    <section className={styles["part"]} aria-label={said.steps}>
      <h2>{said.steps}</h2>
      <ol className={styles["list"]}>
        {job.steps.map((step) => (
          <li key={step.step_id} className={styles["step"]}>
            <span className={styles["plain"]}>{words.number(step.ordinal)}</span>
            <StepState status={step.status} />
            <code>{step.op}</code>
            <code className={styles["intent"]}>
              <Foreign text={step.slice === null ? step.target : `${step.target} ${step.slice}`} />
            </code>
            {step.code === null ? null : <code className={styles["bad"]}>{step.code}</code>}
            {step.receipt_hash === null ? null : (
              <Link to="/jobs/receipts/$hash" params={{ hash: step.receipt_hash }}>
                <code>{step.receipt_hash.slice(0, 12)}</code>
              </Link>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

type Found = {
  readonly ok: boolean;
  readonly entries: number;
  readonly receipts: number;
  readonly problem: { readonly code: string; readonly position: number } | null;
  /** A receipt that the job names and its chain does not have. */
  readonly foreign: number | null;
};

/** The whole stream of the job is fetched as it was written down, and its chain computed again in this page. */
function Chain({ job }: { readonly job: Job }): ReactNode {
  const [found, setFound] = useState<Found | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const check = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const stream = `job/${job.job_id}`;
      const text = await (await askBytes(`/ledger/export?stream=${encodeURIComponent(stream)}`)).text();
      const { ok, entries, receipts, problem: broken } = await verifyHere("chain", { stream, text });
      const known = new Set(receipts.map(({ receipt_hash }) => receipt_hash));
      const foreign = job.steps.find(({ receipt_hash }) => receipt_hash !== null && !known.has(receipt_hash));
      setFound({ ok, entries, receipts: receipts.length, problem: broken, foreign: foreign?.ordinal ?? null });
    } catch (thrown) {
      setProblem(thrown);
    } finally {
      setBusy(false);
    }
  };
  if (job.steps.every(({ receipt_hash }) => receipt_hash === null)) return null;
  const isSound = found !== null && found.ok && found.foreign === null;
  return (
    <section className={styles["part"]} aria-label={said.receipts}>
      <h2>{said.receipts}</h2>
      {globalThis.isSecureContext ? (
        <p className={styles["acts"]}>
          <Button isDisabled={isBusy} onPress={() => void check()}>
            {isBusy ? said.checking : said.chain}
          </Button>
          {found === null ? null : (
            <span className={styles["found"]} data-testid="chain-found">
              <Mark mark={isSound ? "good" : "bad"} />
              {isSound
                ? said.holds(found.entries, found.receipts)
                : found.problem !== null
                  ? said.breaks(found.problem.position)
                  : said.foreign(found.foreign ?? 0)}
              {found.problem === null ? null : <code>{found.problem.code}</code>}
            </span>
          )}
        </p>
      ) : (
        <p>{words.run.noHash}</p>
      )}
      {problem === null ? null : <Failure thrown={problem} again={() => void check()} />}
    </section>
  );
}
