import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Output } from "../../api/client.ts";
import { reading } from "../../api/queries.ts";
import { useActs } from "../../app/acts.ts";
import { useDialog } from "../../app/dialogs.ts";
import { Page } from "../../app/Page.tsx";
import { useIsLost } from "../../app/use-connection.ts";
import { Button } from "../../parts/Button.tsx";
import { Foreign, plainText } from "../../parts/Foreign.tsx";
import { Mark } from "../../parts/Mark.tsx";
import { Outcome } from "../../parts/Outcome.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { formatDuration } from "../../words/formats.ts";
import { words } from "../../words/words.ts";
import { AlignedFile } from "./AlignedFile.tsx";
import styles from "./CompareScreen.module.css";
import { TakeDialog } from "./TakeDialog.tsx";

export type Compared = Output<"agent.compare">;
export type ComparedRun = Compared["runs"][number];
const said = words.compare;
const route = getRouteApi("/runs/compare");
const MOST = 6;
const TAKEABLE: readonly ComparedRun["outcome"][] = ["verified", "unverified"];
const AT_WORK: readonly ComparedRun["outcome"][] = [
  "preparing",
  "working",
  "capturing",
  "judging",
  "verifying",
  "landing",
];

/** Two to six runs beside each other: how each ended, which files each touches, and one file line by line. */
export function CompareScreen(): ReactNode {
  const { ids = "" } = route.useSearch();
  const runs = [...new Set(ids.split(",").filter((id) => id !== ""))].slice(0, MOST);
  return (
    <Page title={said.title} wide aside={<Link to="/runs">{said.choose}</Link>}>
      {runs.length < 2 ? <p>{said.few}</p> : <Comparison key={runs.join(",")} runs={runs} />}
    </Page>
  );
}

function Comparison({ runs }: { readonly runs: readonly string[] }): ReactNode {
  const query = useQuery(reading("agent.compare", { runs: [...runs] }));
  return (
    <Shown query={query} lines={8}>
      {(compared) => <Known compared={compared} />}
    </Shown>
  );
}

function Known({ compared }: { readonly compared: Compared }): ReactNode {
  const { file, run } = route.useSearch();
  const { shown, close } = useDialog();
  const [first] = compared.runs;
  const isOneGoal = compared.runs.every(({ goal }) => goal === first?.goal);
  const taken = compared.runs.find(({ run_id }) => run_id === run);
  return (
    <>
      {isOneGoal ? (
        <p className={styles["goal"]}>
          <Foreign text={first?.goal ?? ""} />
        </p>
      ) : null}
      {compared.runs.some(({ outcome }) => AT_WORK.includes(outcome)) ? (
        <p className={styles["plain"]}>{said.running}</p>
      ) : null}
      <Runs compared={compared} withGoals={!isOneGoal} />
      <Files compared={compared} />
      {file === undefined || compared.files.every(({ path }) => path !== file) ? (
        compared.files.length === 0 ? null : (
          <p className={styles["plain"]}>{said.pick}</p>
        )
      ) : (
        <AlignedFile key={file} compared={compared} path={file} />
      )}
      {shown === "take" && taken !== undefined ? (
        <TakeDialog key={taken.run_id} run={taken.run_id} compared={compared} close={() => close()} />
      ) : null}
    </>
  );
}

/** A card for each run; side by side where there is room. */
function Runs({ compared, withGoals }: { readonly compared: Compared; readonly withGoals: boolean }): ReactNode {
  const { open } = useDialog();
  const navigate = route.useNavigate();
  const isLost = useIsLost();
  const take = async (run: string) => {
    await navigate({ search: (old) => ({ ...old, run }), replace: true, resetScroll: false });
    open("take");
  };
  useActs(
    compared.runs
      .filter(({ outcome }) => TAKEABLE.includes(outcome))
      .map(({ run_id, agent }) => ({
        label: `${said.take}: ${plainText(agent, 40)} ${run_id.slice(-6)}`,
        run: () => void take(run_id),
      })),
  );
  return (
    <ol className={styles["runs"]} aria-label={said.runs}>
      {compared.runs.map((run) => (
        <li key={run.run_id} data-testid="compared-run">
          <header>
            <Outcome outcome={run.outcome} />
            <Link
              to={AT_WORK.includes(run.outcome) ? "/runs/$run/live" : "/runs/$run/review"}
              params={{ run: run.run_id }}
            >
              <code>{run.run_id.slice(-6)}</code>
            </Link>
          </header>
          {withGoals ? (
            <p>
              <Foreign text={plainText(run.goal, 120)} />
            </p>
          ) : null}
          {run.reason === null ? null : (
            <p className={styles["reason"]}>
              <Foreign text={plainText(run.reason, 200)} />
            </p>
          )}
          <dl>
            <Fact name={said.agent}>
              <Foreign text={run.agent} />
            </Fact>
            <Fact name={said.size}>
              {words.files(run.files)} {words.plusMinus(run.added_lines, run.deleted_lines)}
            </Fact>
            <Fact name={said.checks}>
              {run.verify === null ? said.checkWords.NONE : <Checks result={run.verify} />}
            </Fact>
            <Fact name={said.findings}>{run.findings === 0 ? said.findingsNone : said.findingsSome(run.findings)}</Fact>
            <Fact name={said.took}>{formatDuration(run.duration_ms)}</Fact>
            <Fact name={said.cost}>{run.cost === null ? said.costUnknown : said.usd(run.cost.toFixed(2))}</Fact>
          </dl>
          {TAKEABLE.includes(run.outcome) ? (
            <Button isDisabled={isLost} onPress={() => void take(run.run_id)}>
              {said.take}
            </Button>
          ) : run.outcome === "applied" ? (
            <p className={styles["plain"]}>{said.taken}</p>
          ) : null}
        </li>
      ))}
    </ol>
  );
}

function Checks({ result }: { readonly result: string }): ReactNode {
  if (result !== "PASS" && result !== "FAIL") return said.checkWords.NONE;
  return (
    <span className={styles["checks"]}>
      <Mark mark={result === "PASS" ? "good" : "bad"} /> {said.checkWords[result]}
    </span>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Which run touches which file, and where they make the same of it. */
function Files({ compared }: { readonly compared: Compared }): ReactNode {
  const { file } = route.useSearch();
  if (compared.files.length === 0) return <p>{words.run.nothing}</p>;
  return (
    <div className={styles["scroll"]} tabIndex={0} role="region" aria-label={said.files}>
      <table className={styles["files"]}>
        <thead>
          <tr>
            <th scope="col">{said.file}</th>
            {compared.runs.map(({ run_id }) => (
              <th key={run_id} scope="col">
                <code>{run_id.slice(-6)}</code>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {compared.files.map(({ path, cells }) => (
            <tr key={path} data-chosen={path === file}>
              <th scope="row">
                <Link
                  to="/runs/compare"
                  search={(old) => ({ ...old, file: path })}
                  replace
                  resetScroll={false}
                  aria-current={path === file ? "true" : undefined}
                >
                  <Foreign text={path} />
                </Link>
              </th>
              {cells.map((cell, at) => (
                <td key={compared.runs[at]!.run_id}>
                  {cell === null ? (
                    <span className={styles["plain"]}>{said.untouched}</span>
                  ) : (
                    <>
                      {cell.kind === "text" ? words.plusMinus(cell.added, cell.deleted) : cell.kind}
                      {cell.same_in > 1 ? <span className={styles["same"]}>{said.same(cell.same_in)}</span> : null}
                    </>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
