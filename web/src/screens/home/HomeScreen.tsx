import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { ChevronRight, Lightbulb, ShieldCheck } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { Output } from "../../api/client.ts";
import { queries, reading } from "../../api/queries.ts";
import { runTask } from "../../api/tasks.ts";
import { useActs } from "../../app/acts.ts";
import { Page } from "../../app/Page.tsx";
import { useIsLost } from "../../app/use-connection.ts";
import { Button } from "../../parts/Button.tsx";
import { CopyButton } from "../../parts/Copy.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Mark } from "../../parts/Mark.tsx";
import { Outcome } from "../../parts/Outcome.tsx";
import { PlainHttp } from "../../parts/PlainHttp.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { Age } from "../../parts/When.tsx";
import { words } from "../../words/words.ts";
import { Fleet } from "../runs/Fleet.tsx";
import { Days } from "./Days.tsx";
import styles from "./HomeScreen.module.css";

type Home = Output<"studio.home">;

/** Of these the size is what somebody wants to know; of the others the reason. */
const READY: readonly string[] = ["verified", "unverified"];

/** What needs somebody, what is at work, and whether the record is sound: one call, one column. */
export function HomeScreen(): ReactNode {
  const query = useQuery(reading("studio.home", {}));
  const navigate = useNavigate();
  const start = () => void navigate({ to: "/runs/new" });
  useActs([{ key: "s", label: words.keys.start, run: start }]);
  return (
    <Page title={words.home.title} aside={<Button onPress={start}>{words.start.open}</Button>}>
      <Shown query={query} lines={8}>
        {(home) => (
          <>
            <Needs home={home} />
            {home.at_work.length === 0 ? null : <Fleet runs={home.at_work} />}
            {home.next === null || home.next.code === "NO_RUNS" ? null : <Next next={home.next} />}
            <Worlds worlds={home.worlds} />
            <Health health={home.health} />
          </>
        )}
      </Shown>
    </Page>
  );
}

function Needs({ home }: { readonly home: Home }): ReactNode {
  const { runs, total } = home.needs_you;
  const isNew = home.runs === 0;
  return (
    <section className={styles["section"]} aria-label={words.home.needs}>
      <h2>{words.home.needs}</h2>
      {runs.length > 0 ? null : isNew ? <First /> : <p className={styles["plain"]}>{words.home.needsNothing}</p>}
      {runs.length === 0 ? null : (
        <ul className={styles["list"]}>
          {runs.map((run) => (
            <li key={run.run_id}>
              <Link to="/runs/$run/review" params={{ run: run.run_id }} className={styles["row"]!}>
                <Outcome outcome={run.outcome} />
                <span className={styles["goal"]}>
                  <Foreign text={run.goal} />
                </span>
                <span className={styles["facts"]}>
                  {run.reason === null || READY.includes(run.outcome) ? (
                    `${words.files(run.files)} ${words.plusMinus(run.added_lines, run.deleted_lines)}`
                  ) : (
                    <Foreign text={run.reason} />
                  )}
                </span>
                <span className={styles["age"]}>
                  <Age at={run.created_at} />
                </span>
                <ChevronRight size={16} aria-hidden />
              </Link>
            </li>
          ))}
        </ul>
      )}
      {total > runs.length ? <Link to="/runs">{words.home.all(total)}</Link> : null}
    </section>
  );
}

function First(): ReactNode {
  return (
    <div className={styles["first"]}>
      <p>{words.home.none}</p>
      <p className={styles["command"]}>
        <code>{words.home.sampleCommand}</code>
        <CopyButton text={words.home.sampleCommand} label={words.copy.hash(words.run.command)} />
      </p>
    </div>
  );
}

function Next({ next }: { readonly next: NonNullable<Home["next"]> }): ReactNode {
  return (
    <section className={styles["section"]} aria-label={words.home.next}>
      <h2>{words.home.next}</h2>
      <p className={styles["next"]}>
        <Lightbulb size={20} strokeWidth={1.75} aria-hidden />
        <span>
          <Foreign text={next.says} />
          {next.found === null ? null : (
            <>
              {" "}
              {words.home.found}{" "}
              <code>
                <Foreign text={next.found} />
              </code>
            </>
          )}
        </span>
      </p>
      {next.write === null ? null : (
        <div className={styles["write"]}>
          <p>{words.home.write}</p>
          <pre>
            <Foreign text={next.write} />
          </pre>
          <CopyButton text={next.write} label={words.copy.hash(words.home.lines)} />
        </div>
      )}
    </section>
  );
}

function Worlds({ worlds }: { readonly worlds: Home["worlds"] }): ReactNode {
  if (worlds.length === 0) return null;
  return (
    <section className={styles["section"]} aria-label={words.home.worlds}>
      <h2>{words.home.worlds}</h2>
      <ul className={styles["list"]}>
        {worlds.map((world) => (
          <li key={world.world_id}>
            <Link to="/worlds/$world" params={{ world: world.world_id }} className={styles["world"]!}>
              <span className={styles["title"]}>
                <Foreign text={world.title} />
              </span>
              <span className={styles["said"]}>
                {world.last_line === null ? null : <Foreign text={world.last_line.text} />}
              </span>
              <span className={styles["age"]}>{world.last_line === null ? null : <Age at={world.last_line.at} />}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Health({ health }: { readonly health: Home["health"] }): ReactNode {
  const { entries, verified } = health.ledger;
  const [problem, setProblem] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const isLost = useIsLost();
  const verify = async () => {
    setBusy(true);
    setProblem(null);
    try {
      await runTask("ledger.verify", {});
      await queries.invalidateQueries({ queryKey: ["studio.home"] });
    } catch (thrown) {
      setProblem(thrown);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section className={styles["section"]} aria-label={words.home.health}>
      <h2>{words.home.health}</h2>
      <div className={styles["health"]}>
        <p className={styles["next"]}>
          {verified === null ? (
            <ShieldCheck size={20} strokeWidth={1.75} aria-hidden />
          ) : (
            <Mark mark={verified.ok ? "good" : "bad"} />
          )}
          <span>
            {words.home.entries(entries)}
            {", "}
            {verified === null ? (
              words.home.neverVerified
            ) : verified.ok ? (
              <>
                {words.home.verifiedAt} <Age at={verified.at} />
              </>
            ) : (
              words.home.problems(verified.problems)
            )}
          </span>
          <Button isDisabled={isBusy || isLost} onPress={() => void verify()}>
            {isBusy ? words.home.verifying : words.home.verifyNow}
          </Button>
        </p>
        {problem === null ? null : <Failure thrown={problem} />}
        <PlainHttp />
        {entries === 0 ? null : <Days days={health.ledger.days} />}
        {health.doctor.lines.map((line) => (
          <p key={line.name} className={styles["next"]}>
            <Mark mark={line.status === "fail" ? "bad" : "notice"} />
            <span>
              <Foreign text={line.message} />
            </span>
          </p>
        ))}
        <p>
          <Link to="/settings/$part" params={{ part: "doctor" }}>
            {words.settings.tabs.doctor}
          </Link>
        </p>
      </div>
    </section>
  );
}
