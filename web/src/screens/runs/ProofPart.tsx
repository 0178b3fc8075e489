import { Link, useLocation } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { CopyButton } from "../../parts/Copy.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Mark } from "../../parts/Mark.tsx";
import { words } from "../../words/words.ts";
import { Bytes } from "./Bytes.tsx";
import { ProofActs } from "./ProofActs.tsx";
import styles from "./ProofPart.module.css";
import { type Report, useRun } from "./use-run.ts";

type Evidence = Report["evidence"][number];

/** Why this may be believed: every sentence with what it rests on, and every file with its bytes. */
export function ProofPart(): ReactNode {
  const report = useRun().data;
  const { hash } = useLocation();
  useEffect(() => {
    if (hash !== "") document.getElementById(`part-${hash}`)?.scrollIntoView({ block: "start" });
  }, [hash]);
  if (report === undefined) return null;
  return (
    <div className={styles["proof"]}>
      {report.summary.proof === null ? <p>{words.run.noProof}</p> : null}
      <ProofActs run={report.summary} />
      <ul className={styles["parts"]}>
        {report.explain
          .filter(({ part }) => part !== "goal" && part !== "end")
          .map(({ part, mark, says, lines }) => (
            <li key={part} id={`part-${part}`} className={styles["part"]}>
              <Mark mark={mark} />
              <div className={styles["inside"]}>
                <h2 className={styles["name"]}>{words.run.parts[part]}</h2>
                <p className={`${styles["says"]} ${part === "agent" ? "" : styles["sentence"]}`}>
                  <Foreign text={says} />
                </p>
                {lines.map((line, at) => (
                  <p key={`${at} ${line.says}`} className={styles["line"]}>
                    <Foreign text={line.says} />
                  </p>
                ))}
                <Rests run={report.summary.run_id} items={report.evidence.filter((item) => item.part === part)} />
              </div>
            </li>
          ))}
      </ul>
    </div>
  );
}

function Rests({ run, items }: { readonly run: string; readonly items: readonly Evidence[] }): ReactNode {
  if (items.length === 0) return null;
  return (
    <details className={styles["evidence"]} open>
      <summary>{words.run.evidence}</summary>
      <ul>
        {items.map((item) => (
          <li key={`${item.what} ${item.file ?? item.value ?? ""}`}>
            <Item run={run} item={item} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function Item({ run, item }: { readonly run: string; readonly item: Evidence }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const hash = item.sha256 ?? item.value;
  const name = words.run.what[item.what];
  return (
    <>
      <p className={styles["item"]}>
        <span className={styles["what"]}>{name}</span>
        {hash === null ? null : (
          <code className={styles["hash"]} title={hash}>
            <Foreign text={hash} />
          </code>
        )}
        {hash === null ? null : <CopyButton text={hash} label={words.copy.hash(name)} />}
        {item.entry === null ? null : (
          <Link to="/ledger/$index" params={{ index: String(item.entry) }} className={styles["entry"]!}>
            {words.run.recorded(item.entry)}
          </Link>
        )}
        {item.file === null ? null : (
          <Link to="/runs/$run/files/$" params={{ run, _splat: item.file }} className={styles["entry"]!}>
            <code>
              <Foreign text={item.file} />
            </code>
          </Link>
        )}
        {item.file === null ? null : (
          <button type="button" className={styles["open"]} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? words.run.hideBytes : words.run.bytes}
          </button>
        )}
      </p>
      {isOpen && item.file !== null ? <Bytes run={run} file={item.file} expected={item.sha256} /> : null}
    </>
  );
}
