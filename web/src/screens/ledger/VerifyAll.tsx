import { type ReactNode, useRef, useState } from "react";
import type { Output } from "../../api/client.ts";
import { queries } from "../../api/queries.ts";
import { Cancelled, runTask } from "../../api/tasks.ts";
import { announce } from "../../app/announce.ts";
import { useIsLost } from "../../app/use-connection.ts";
import { Button } from "../../parts/Button.tsx";
import { CopyButton } from "../../parts/Copy.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Mark } from "../../parts/Mark.tsx";
import { words } from "../../words/words.ts";
import styles from "./VerifyAll.module.css";

type Verdict = Output<"ledger.verify">;

/** The whole ledger, verified by the server as a task; what that proves and what it does not. */
export function VerifyAll(): ReactNode {
  const isLost = useIsLost();
  const stop = useRef<AbortController | null>(null);
  const [progress, setProgress] = useState<string | null>(null);
  const [found, setFound] = useState<Verdict | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const start = async () => {
    stop.current = new AbortController();
    setProblem(null);
    setFound(null);
    setProgress(words.ledger.verifying);
    try {
      const verdict = await runTask("ledger.verify", {}, { signal: stop.current.signal, onProgress: setProgress });
      setFound(verdict);
      announce(say(verdict));
      void queries.invalidateQueries({ queryKey: ["studio.home"] });
    } catch (thrown) {
      if (!(thrown instanceof Cancelled)) setProblem(thrown);
    } finally {
      setProgress(null);
    }
  };
  return (
    <section className={styles["verify"]} aria-label={words.ledger.verify}>
      <p className={styles["line"]}>
        <Button isDisabled={progress !== null || isLost} onPress={() => void start()}>
          {progress === null ? words.ledger.verify : words.ledger.verifying}
        </Button>
        {progress === null ? null : (
          <>
            <span role="status">
              <Foreign text={progress} />
            </span>
            <Button kind="quiet" onPress={() => stop.current?.abort()}>
              {words.acts.cancel}
            </Button>
          </>
        )}
        {found === null ? null : (
          <span className={styles["found"]} data-testid="ledger-verdict">
            <Mark mark={found.ok ? "good" : "bad"} />
            {say(found)}
          </span>
        )}
      </p>
      {problem === null ? null : <Failure thrown={problem} again={() => void start()} />}
      {found === null ? null : <Found verdict={found} />}
    </section>
  );
}

function say({ ok, entries, streams, problems }: Verdict): string {
  return ok ? words.ledger.verified(entries, streams) : words.ledger.broken(problems.length);
}

function Found({ verdict }: { readonly verdict: Verdict }): ReactNode {
  return (
    <div className={styles["details"]}>
      {verdict.problems.map(({ code, stream, position, expected, actual }) => (
        <p key={`${code} ${stream} ${position}`} className={styles["broken"]}>
          <code>{code}</code>
          <strong>
            <Foreign text={words.ledger.problem(stream, position)} />
          </strong>
          <span>{words.ledger.expected(expected)}</span>
          <span>
            <Foreign text={words.ledger.found(actual)} />
          </span>
        </p>
      ))}
      {verdict.root_hash === null ? null : (
        <p className={styles["root"]}>
          <span>{words.ledger.root}</span>
          <code>{verdict.root_hash}</code>
          <CopyButton text={verdict.root_hash} label={words.copy.hash(words.ledger.root)} />
        </p>
      )}
      <List title={words.ledger.proves} items={verdict.proves} />
      <List title={words.ledger.doesNotProve} items={verdict.does_not_prove} />
    </div>
  );
}

function List({ title, items }: { readonly title: string; readonly items: readonly string[] }): ReactNode {
  if (items.length === 0) return null;
  return (
    <div>
      <h2>{title}</h2>
      <ul>
        {items.map((item) => (
          <li key={item}>
            <Foreign text={item} />
          </li>
        ))}
      </ul>
    </div>
  );
}
