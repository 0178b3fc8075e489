import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { call } from "../../api/client.ts";
import { useActs } from "../../app/acts.ts";
import { Button } from "../../parts/Button.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Mark } from "../../parts/Mark.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { formatBytes, formatCommand, formatDuration } from "../../words/formats.ts";
import { words } from "../../words/words.ts";
import type { DiffFile } from "./diff/model.ts";
import styles from "./ReportPart.module.css";
import { sayFinding } from "./say-finding.ts";
import { type Report, useRun } from "./use-run.ts";

const said = words.report;
const SIGNS = { context: " ", added: "+", deleted: "-" } as const;
const ANSWERED = ["goal", "end"];

/** Everything about a run on paper: the verdict is above it, then every sentence with its hashes, and the change itself. */
export function ReportPart(): ReactNode {
  const report = useRun().data;
  const print = () => window.print();
  useActs([{ label: said.print, run: print }]);
  if (report === undefined) return null;
  return (
    <article className={styles["report"]}>
      <p className={styles["acts"]}>
        <Button onPress={print}>{said.print}</Button>
      </p>
      <Facts report={report} />
      <Sentences report={report} />
      <Checks report={report} />
      <Files report={report} />
      {report.summary.changes.files.length === 0 ? null : <Change run={report.summary.run_id} />}
    </article>
  );
}

function Facts({ report }: { readonly report: Report }): ReactNode {
  const { run_id, created_at, agent, base, proof } = report.summary;
  const facts: readonly (readonly [string, string])[] = [
    [said.run, run_id],
    [said.began, created_at],
    [said.agent, formatCommand(agent.argv)],
    [said.base, base.commit],
    [said.proof, proof?.proof_hash ?? said.none],
  ];
  return (
    <dl className={styles["facts"]}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <code>
              <Foreign text={value} />
            </code>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Sentences({ report }: { readonly report: Report }): ReactNode {
  return (
    <section>
      <h2>{said.sentences}</h2>
      <ul className={styles["sentences"]}>
        {report.explain
          .filter(({ part }) => !ANSWERED.includes(part))
          .map(({ part, mark, says, lines }) => (
            <li key={part}>
              <Mark mark={mark} />
              <div>
                <p>
                  <strong>{words.run.parts[part]}</strong> <Foreign text={says} />
                </p>
                {lines.map((line, at) => (
                  <p key={`${at} ${line.says}`}>
                    <Foreign text={line.says} />
                  </p>
                ))}
                {report.evidence
                  .filter((item) => item.part === part)
                  .map(({ what, sha256, value, entry }) => (
                    <p key={`${what} ${sha256 ?? value ?? ""}`} className={styles["hash"]}>
                      {words.run.what[what]}{" "}
                      <code>
                        <Foreign text={sha256 ?? value ?? ""} />
                      </code>
                      {entry === null ? null : ` ${said.recorded(entry)}`}
                    </p>
                  ))}
              </div>
            </li>
          ))}
      </ul>
    </section>
  );
}

function Checks({ report }: { readonly report: Report }): ReactNode {
  const { verify, gate } = report.summary;
  return (
    <section>
      <h2>{said.checks}</h2>
      {(verify?.commands.length ?? 0) === 0 ? <p>{words.run.noVerify}</p> : null}
      <ul>
        {(verify?.commands ?? []).map(({ cmd, exit_code, duration_ms }, at) => (
          <li key={`${at} ${cmd}`}>
            <code>
              <Foreign text={cmd} />
            </code>{" "}
            {words.run.exit(exit_code)} {words.run.took(formatDuration(duration_ms))}
          </li>
        ))}
      </ul>
      <h2>{said.findings}</h2>
      {(gate?.findings.length ?? 0) === 0 ? <p>{words.run.noFindings}</p> : null}
      <ul>
        {(gate?.findings ?? []).map((finding, at) => (
          <li key={`${at} ${finding.code}`}>
            <code>{finding.code}</code> <Foreign text={sayFinding(finding)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Files({ report }: { readonly report: Report }): ReactNode {
  const { files } = report.summary.changes;
  return (
    <section>
      <h2>{said.files}</h2>
      {files.length === 0 ? <p>{words.run.nothing}</p> : null}
      <ul className={styles["files"]}>
        {files.map(({ path, operation, kind, added, deleted, bytes }) => (
          <li key={path}>
            <span>{words.run.operation[operation]}</span>{" "}
            <code>
              <Foreign text={path} />
            </code>{" "}
            <span>{kind === "text" ? words.plusMinus(added, deleted) : formatBytes(bytes)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The first page of the change, as lines with their signs; paper needs no colours. */
function Change({ run }: { readonly run: string }): ReactNode {
  // Not under the name of the review's pages, which have another shape.
  const query = useQuery({
    queryKey: ["agent.diff", { run, printed: true }],
    queryFn: ({ signal }) => call("agent.diff", { run }, signal),
  });
  const total = useRun().data?.summary.changes.files.length ?? 0;
  return (
    <section>
      <h2>{said.change}</h2>
      <Shown query={query}>
        {({ files, next }) => (
          <>
            {files.map((file) => (
              <OneFile key={file.path} file={file} />
            ))}
            {next === null ? null : <p>{said.rest(total - files.length)}</p>}
          </>
        )}
      </Shown>
    </section>
  );
}

const MOST_LINES = 500;

function OneFile({ file }: { readonly file: DiffFile }): ReactNode {
  const all = file.hunks.reduce((sum, { lines }) => sum + lines.length, 0);
  const [isWhole, setWhole] = useState(all <= MOST_LINES);
  if (file.hunks.length === 0) return null;
  return (
    <div className={styles["file"]}>
      <h3>
        <Foreign text={file.path} />
      </h3>
      {isWhole ? (
        file.hunks.map((hunk) => (
          <pre key={hunk.id}>
            <span className={styles["head"]}>
              {`@@ -${hunk.old_start},${hunk.old_lines} +${hunk.new_start},${hunk.new_lines} @@\n`}
            </span>
            <Foreign text={hunk.lines.map(({ kind, text }) => `${SIGNS[kind]}${text}`).join("\n")} />
          </pre>
        ))
      ) : (
        <p className={styles["acts"]}>
          <Button onPress={() => setWhole(true)}>{words.run.unfold(all)}</Button>
        </p>
      )}
    </div>
  );
}
