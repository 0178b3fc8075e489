import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Foreign } from "../../parts/Foreign.tsx";
import { Mark } from "../../parts/Mark.tsx";
import { formatDuration } from "../../words/formats.ts";
import { words } from "../../words/words.ts";
import styles from "./Parts.module.css";
import { Recorded } from "./Recorded.tsx";
import { sayFinding } from "./say-finding.ts";
import { isAtWork, type Summary } from "./use-run.ts";

/** What a reader wants first: which command failed, and with which words. */
export function Failures({ run }: { readonly run: Summary }): ReactNode {
  const failures = run.verify?.failures ?? [];
  if (failures.length === 0) return null;
  return (
    <section aria-label={words.run.failed} className={styles["section"]}>
      <h2>{words.run.failed}</h2>
      <ul className={styles["list"]}>
        {failures.map(({ kind, id, message }, at) => (
          <li key={`${at} ${id}`}>
            <Mark mark="bad" />
            <div>
              <p>
                <Foreign text={message} />
              </p>
              <p className={styles["plain"]}>
                <code>
                  <Foreign text={id} />
                </code>
              </p>
            </div>
            <code className={styles["plain"]}>
              <Foreign text={kind} />
            </code>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Findings(props: { readonly run: Summary; readonly title?: string }): ReactNode {
  const { run, title = words.run.findings } = props;
  if (run.gate === null) return null;
  return (
    <section aria-label={title} className={styles["section"]}>
      <h2>{title}</h2>
      {run.gate.findings.length === 0 ? <p className={styles["plain"]}>{words.run.noFindings}</p> : null}
      <ul className={styles["list"]}>
        {run.gate.findings.map((finding, at) => (
          <li key={`${at} ${finding.code}`}>
            <Mark mark="bad" />
            <div>
              <p>
                <Foreign text={sayFinding(finding)} />
              </p>
              {finding.path === null ? null : (
                <p className={styles["plain"]}>
                  <Link
                    to="/runs/$run/review"
                    params={{ run: run.run_id }}
                    search={{ file: finding.path, ...(finding.line === null ? {} : { line: finding.line }) }}
                  >
                    <code>
                      <Foreign text={finding.line === null ? finding.path : `${finding.path}:${finding.line}`} />
                    </code>
                  </Link>
                </p>
              )}
            </div>
            <code className={styles["plain"]}>{finding.code}</code>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Checks({ run }: { readonly run: Summary }): ReactNode {
  const { verify } = run;
  if (verify === null || verify.result === "NONE") return <p className={styles["plain"]}>{words.run.noVerify}</p>;
  return (
    <section aria-label={words.run.checks} className={styles["section"]}>
      <h2>{words.run.checks}</h2>
      {verify.on === null ? null : (
        <p className={styles["plain"]}>
          <Foreign text={words.run.on(verify.on)} />
        </p>
      )}
      <Commands commands={verify.setup} />
      <Commands commands={verify.commands} />
      {verify.also_fails ? <p>{words.run.also}</p> : null}
      {verify.notices.map((notice) => (
        <p key={notice} className={styles["plain"]}>
          <Foreign text={notice} />
        </p>
      ))}
    </section>
  );
}

interface Ended {
  readonly cmd: string;
  readonly exit_code: number;
  readonly duration_ms: number;
  readonly why?: string;
}

function Commands({ commands }: { readonly commands: readonly Ended[] }): ReactNode {
  if (commands.length === 0) return null;
  return (
    <ul className={styles["list"]}>
      {commands.map(({ cmd, exit_code, duration_ms, why }, at) => (
        <li key={`${at} ${cmd}`}>
          <Mark mark={exit_code === 0 ? "good" : "bad"} />
          <div>
            <p>
              <code>
                <Foreign text={cmd} />
              </code>
            </p>
            {why === undefined ? null : (
              <p className={styles["plain"]}>
                <Foreign text={why} />
              </p>
            )}
          </div>
          <span className={styles["plain"]}>
            {words.run.exit(exit_code)} {words.run.took(formatDuration(duration_ms))}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** What the commands printed; names in it that are in the change lead there. */
export function Printed({ run }: { readonly run: Summary }): ReactNode {
  if (run.verify === null || run.verify.commands.length === 0) return null;
  const paths = run.changes.files.map(({ path }) => path);
  return (["verify", "verify_errors"] as const).map((of) => (
    <Recorded
      key={of}
      run={run.run_id}
      of={of}
      label={of === "verify" ? words.run.output.verify : words.run.what.verify_errors}
      live={isAtWork(run)}
      paths={paths}
    />
  ));
}
