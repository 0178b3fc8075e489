import { type ReactNode, useState } from "react";
import { askBytes, type Output } from "../../api/client.ts";
import { runTask } from "../../api/tasks.ts";
import { announce } from "../../app/announce.ts";
import { useIsLost } from "../../app/use-connection.ts";
import { Button } from "../../parts/Button.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Mark } from "../../parts/Mark.tsx";
import { saveBytes } from "../../parts/save-bytes.ts";
import { words } from "../../words/words.ts";
import styles from "./ProofActs.module.css";
import type { Report } from "./use-run.ts";

type Proved = Output<"catalytic.verify">;

/** Computes again what the proof claims, on the server, and gives the whole record to take along. */
export function ProofActs({ run }: { readonly run: Report["summary"] }): ReactNode {
  const [busy, setBusy] = useState<"prove" | "archive" | null>(null);
  const [proved, setProved] = useState<Proved | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const isLost = useIsLost();
  const doing = async (what: "prove" | "archive", work: () => Promise<void>) => {
    setBusy(what);
    setProblem(null);
    try {
      await work();
    } catch (thrown) {
      setProblem(thrown);
    } finally {
      setBusy(null);
    }
  };
  const prove = (id: string) =>
    doing("prove", async () => {
      setProved(null);
      const found = await runTask("catalytic.verify", { run: id });
      setProved(found);
      announce(found.accepted ? words.run.prove.accepted : words.run.prove.refused);
    });
  const save = () =>
    doing("archive", async () => {
      const response = await askBytes(`/runs/${encodeURIComponent(run.run_id)}/archive`);
      saveBytes(await response.arrayBuffer(), `${run.run_id}.zip`);
    });
  const { proof } = run;
  return (
    <section className={styles["acts"]} aria-label={words.run.sentences}>
      <div className={styles["buttons"]}>
        {proof === null ? null : (
          <Button isDisabled={busy !== null || isLost} onPress={() => void prove(proof.catalytic_run)}>
            {busy === "prove" ? words.run.prove.running : words.run.prove.act}
          </Button>
        )}
        <Button isDisabled={busy !== null || isLost} onPress={() => void save()}>
          {words.run.archive}
        </Button>
      </div>
      {problem === null ? null : <Failure thrown={problem} />}
      {proved === null ? null : <Found proved={proved} />}
    </section>
  );
}

function Found({ proved }: { readonly proved: Proved }): ReactNode {
  const { accepted, tree, signature, errors, warnings } = proved;
  const { prove } = words.run;
  return (
    <div className={styles["found"]} role="status">
      <Mark mark={accepted ? "good" : "bad"} />
      <div>
        <p className={styles["says"]}>{accepted ? prove.accepted : prove.refused}</p>
        <p>{prove.tree[tree]}</p>
        <p>{prove.signature[signature.state]}</p>
        {[...errors, ...warnings].map(({ code, message, fix, file, path }) => (
          <p key={`${code} ${file ?? ""} ${path ?? ""} ${message}`} className={styles["problem"]}>
            <code>{code}</code> <Foreign text={message} /> <Foreign text={fix} />
          </p>
        ))}
      </div>
    </div>
  );
}
