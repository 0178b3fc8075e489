import { type ReactNode, useState } from "react";
import { askBytes } from "../../api/client.ts";
import { Button } from "../../parts/Button.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Outcome } from "../../parts/Outcome.tsx";
import { saveBytes } from "../../parts/save-bytes.ts";
import { words } from "../../words/words.ts";
import { Ticking } from "./Fleet.tsx";
import styles from "./LivePart.module.css";
import { Terminal } from "./live/Terminal.tsx";
import { StopAct } from "./StopAct.tsx";
import { useLive } from "./use-live.ts";
import { isAtWork, type Report, useRun } from "./use-run.ts";

const said = words.live;

/** A run while it works: what it prints, as it prints it, and beside it what is known so far. */
export function LivePart(): ReactNode {
  const report = useRun().data;
  if (report === undefined) return null;
  const { summary: run } = report;
  const attempt = report.attempts.length;
  return (
    <div className={styles["live"]}>
      <aside className={styles["side"]} aria-label={said.facts} data-region tabIndex={-1}>
        {isAtWork(run) ? <Now report={report} /> : <p>{said.ended}</p>}
        {attempt === 0 ? null : <Save run={run.run_id} attempt={attempt} />}
      </aside>
      {/* Another attempt prints into a file of its own. */}
      <Terminal key={`${run.run_id} ${attempt}`} run={run.run_id} />
    </div>
  );
}

function Now({ report }: { readonly report: Report }): ReactNode {
  const { summary: run, attempts } = report;
  const now = useLive(true).get(run.run_id);
  const network = attempts.at(-1)?.network ?? null;
  const { reported, reported_blocked } = run.hooks;
  return (
    <>
      <dl className={styles["facts"]}>
        <div>
          <dt>{said.phase}</dt>
          <dd>
            <Outcome outcome={now?.phase ?? run.outcome} />
          </dd>
        </div>
        <div>
          <dt>{said.clock}</dt>
          <dd>
            <Ticking since={now?.since ?? run.created_at} />
          </dd>
        </div>
        <div>
          <dt>{said.files}</dt>
          <dd>{now?.files == null ? said.filesUnknown : words.files(now.files)}</dd>
        </div>
        <div>
          <dt>{said.hooks}</dt>
          <dd>{reported === 0 ? said.hooksNone : said.hooksSome(reported, reported_blocked)}</dd>
        </div>
        {network === null ? null : (
          <div>
            <dt>{said.network}</dt>
            <dd>{words.start.nets[network]}</dd>
          </div>
        )}
        {now?.cost == null ? null : (
          <div>
            <dt>{said.cost}</dt>
            <dd>{said.usd(now.cost.toFixed(2))}</dd>
          </div>
        )}
      </dl>
      <StopAct run={run.run_id} goal={run.goal} />
    </>
  );
}

/** Everything that is recorded so far, with every byte that the screen leaves out. */
function Save({ run, attempt }: { readonly run: string; readonly attempt: number }): ReactNode {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const save = async () => {
    setBusy(true);
    setProblem(null);
    try {
      saveBytes(await readAll(run, attempt), `${run}-output.log`);
    } catch (thrown) {
      setProblem(thrown);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <p>
        <Button isDisabled={isBusy} onPress={() => void save()}>
          {said.save}
        </Button>
      </p>
      {problem === null ? null : <Failure thrown={problem} />}
    </>
  );
}

/** What was printed, in order; where something is no longer kept, a line says how much. */
async function readAll(run: string, attempt: number): Promise<ArrayBuffer> {
  const parts: BlobPart[] = [];
  for (let from = 0; ; ) {
    const answer = await askBytes(`/runs/${encodeURIComponent(run)}/output?of=output&n=${attempt}&from=${from}`);
    const number = (name: string) => Number(answer.headers.get(name) ?? "0");
    const [first, next, size] = [number("verbatim-first"), number("verbatim-next"), number("verbatim-size")];
    if (first > from) parts.push(said.gap(first - from));
    parts.push(await answer.arrayBuffer());
    if (next <= from || next >= size) return await new Blob(parts).arrayBuffer();
    from = next;
  }
}
