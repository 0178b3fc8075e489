import { type ReactNode, useState } from "react";
import { Button } from "../../parts/Button.tsx";
import { CopyButton } from "../../parts/Copy.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Mark } from "../../parts/Mark.tsx";
import { formatBytes, formatDuration } from "../../words/formats.ts";
import { words } from "../../words/words.ts";
import type { Checked, ShownArtifact } from "../../workers/verify.ts";
import styles from "./BundleReport.module.css";

const said = words.bundles;
type Report = Extract<Checked, { readonly report: unknown }>["report"];
type Problem = Report["problems"][number];

/** Problems of one kind that are drawn; a broken bundle may have thousands. */
const MOST_OF_A_KIND = 20;
const MOST_ARTIFACTS = 200;

/** The first line: is it sound or not. */
export function sayVerdict(checked: Checked): string {
  if ("refused" in checked) return refusal(checked.refused);
  const { report } = checked;
  if (report.ok) return said.sound;
  if (report.exit_code === 2) return said.noBundle;
  return report.problems.length === 0 ? said.noTrust : said.notSound(report.problems.length);
}

function refusal(code: string): string {
  return code in said.refused ? said.refused[code as keyof typeof said.refused] : code;
}

export function BundleReport(props: {
  readonly name: string;
  readonly checked: Checked;
  readonly requests: number;
  readonly took: number;
  readonly again: () => void;
}): ReactNode {
  const { name, checked, requests, took, again } = props;
  const isSound = "report" in checked && checked.report.ok;
  return (
    <>
      <section className={styles["verdict"]} data-sound={isSound} aria-label={said.title}>
        <p className={styles["says"]} data-testid="bundle-verdict">
          <Mark mark={isSound ? "good" : "bad"} />
          <span>{sayVerdict(checked)}</span>
        </p>
        <p className={styles["plain"]}>
          <Foreign text={name} /> · {said.took(formatDuration(took))}{" "}
          <span data-testid="bundle-sent">{said.sent(requests)}</span>
        </p>
        {"refused" in checked ? <p>{said.refusedFix}</p> : null}
        <p className={styles["acts"]}>
          <Button onPress={again}>{said.again}</Button>
          {"report" in checked ? (
            <>
              <CopyButton text={`${JSON.stringify(checked.report)}\n`} label={said.report}>
                {said.report}
              </CopyButton>
              <Button kind="quiet" onPress={() => window.print()}>
                {said.print}
              </Button>
            </>
          ) : null}
        </p>
      </section>
      {"report" in checked ? <Details report={checked.report} artifacts={checked.artifacts} /> : null}
    </>
  );
}

function Details(props: { readonly report: Report; readonly artifacts: readonly ShownArtifact[] }): ReactNode {
  const { report, artifacts } = props;
  const { counts, trust } = report;
  return (
    <>
      <Problems problems={report.problems} />
      {report.bundle_id === null ? null : (
        <section className={styles["section"]} aria-label={said.ids}>
          <h2>{said.counts}</h2>
          <p>
            {said.steps(counts.steps)}, {said.artifacts(counts.artifacts)}, {formatBytes(counts.bytes)}
          </p>
          <dl className={styles["ids"]}>
            <Id name={said.bundleId} claimed={report.bundle_id} computed={report.computed.bundle_id} />
            <Id name={said.rootHash} claimed={report.root_hash} computed={report.computed.root_hash} />
            <Id name={said.planHash} claimed={report.computed.plan_hash} computed={report.computed.plan_hash} />
          </dl>
        </section>
      )}
      <section className={styles["section"]} aria-label={said.signers}>
        <h2>{said.signers}</h2>
        <p className={styles["trust"]}>
          <Mark mark={trust.verdict === "TRUSTED" ? "good" : trust.verdict === "UNTRUSTED" ? "bad" : "notice"} />
          {said.verdicts[trust.verdict]}
          {trust.code === null ? null : <code>{trust.code}</code>}
        </p>
        {trust.valid_keys.length === 0 ? null : (
          <>
            <p className={styles["plain"]}>{said.keys}</p>
            <ul>
              {trust.valid_keys.map((key) => (
                <li key={key}>
                  <code className={styles["hash"]}>{key}</code>
                </li>
              ))}
            </ul>
          </>
        )}
      </section>
      <Sentences title={said.proves} items={report.proves} />
      <Sentences title={said.doesNotProve} items={report.does_not_prove} />
      <Artifacts artifacts={artifacts} />
    </>
  );
}

function Id(props: {
  readonly name: string;
  readonly claimed: string | null;
  readonly computed: string | null;
}): ReactNode {
  const { name, claimed, computed } = props;
  if (claimed === null) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <code className={styles["hash"]}>{claimed}</code>
        <span className={claimed === computed ? styles["same"] : styles["other"]}>
          {claimed === computed || computed === null ? said.same : said.other(computed)}
        </span>
      </dd>
    </div>
  );
}

function Problems({ problems }: { readonly problems: readonly Problem[] }): ReactNode {
  if (problems.length === 0) return null;
  const kinds = new Map<string, Problem[]>();
  for (const problem of problems) kinds.set(problem.code, [...(kinds.get(problem.code) ?? []), problem]);
  return (
    <section className={styles["section"]} aria-label={said.problems}>
      <h2>{said.problems}</h2>
      <ul className={styles["kinds"]}>
        {[...kinds].map(([code, all]) => (
          <li key={code}>
            <p className={styles["kind"]}>
              <Mark mark="bad" />
              <code>{code}</code>
              <span>
                <Foreign text={all[0]!.message} />
              </span>
              {all.length === 1 ? null : <span className={styles["plain"]}>{said.problemCount(all.length)}</span>}
            </p>
            <ul className={styles["places"]}>
              {all.slice(0, MOST_OF_A_KIND).map((problem, n) => (
                <li key={`${n} ${problem.pointer}`}>
                  <Place problem={problem} />
                </li>
              ))}
            </ul>
            {all.length > MOST_OF_A_KIND ? <p>{said.more(all.length - MOST_OF_A_KIND)}</p> : null}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Place({ problem }: { readonly problem: Problem }): ReactNode {
  const { pointer, path, expected, actual } = problem;
  return (
    <>
      <code>
        <Foreign text={path ?? (pointer === "" ? "bundle.json" : pointer)} />
      </code>
      {expected === undefined ? null : (
        <span>
          <Foreign text={words.ledger.expected(expected)} />
        </span>
      )}
      {actual === undefined ? null : (
        <span>
          <Foreign text={words.ledger.found(actual)} />
        </span>
      )}
    </>
  );
}

function Sentences({ title, items }: { readonly title: string; readonly items: readonly string[] }): ReactNode {
  if (items.length === 0) return null;
  return (
    <section className={styles["section"]} aria-label={title}>
      <h2>{title}</h2>
      <ul className={styles["sentences"]}>
        {items.map((item) => (
          <li key={item}>
            <Foreign text={item} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Artifacts({ artifacts }: { readonly artifacts: readonly ShownArtifact[] }): ReactNode {
  const [most, setMost] = useState(MOST_ARTIFACTS);
  if (artifacts.length === 0) return null;
  return (
    <section className={styles["section"]} aria-label={said.text}>
      <h2>{said.text}</h2>
      <ul className={styles["artifacts"]}>
        {artifacts.slice(0, most).map((artifact) => (
          <li key={artifact.path}>
            <Artifact artifact={artifact} />
          </li>
        ))}
      </ul>
      {artifacts.length > most ? (
        <Button onPress={() => setMost(most + MOST_ARTIFACTS)}>
          {words.ledger.entry.more(Math.min(MOST_ARTIFACTS, artifacts.length - most))}
        </Button>
      ) : null}
    </section>
  );
}

function Artifact({ artifact }: { readonly artifact: ShownArtifact }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { path, bytes, sha256, text, cut } = artifact;
  return (
    <>
      <p className={styles["artifact"]}>
        <code>
          <Foreign text={path} />
        </code>
        <span className={styles["plain"]}>{formatBytes(bytes)}</span>
        <code className={styles["short"]} title={sha256}>
          {sha256}
        </code>
        {text === null ? (
          <span className={styles["plain"]}>{said.binary}</span>
        ) : (
          <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? said.hide : said.open}
          </button>
        )}
      </p>
      {isOpen && text !== null ? (
        <>
          {cut ? <p className={styles["plain"]}>{said.firstOf(text.length)}</p> : null}
          <pre tabIndex={0}>
            <Foreign text={text} />
          </pre>
        </>
      ) : null}
    </>
  );
}
