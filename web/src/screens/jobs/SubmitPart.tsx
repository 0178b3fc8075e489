import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useRef, useState } from "react";
import { call, type Output } from "../../api/client.ts";
import { queries } from "../../api/queries.ts";
import { useIsLost } from "../../app/use-connection.ts";
import { Button } from "../../parts/Button.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { words } from "../../words/words.ts";
import styles from "./Jobs.module.css";

type Planned = Output<"jobs.plan">;
const said = words.jobs.submit;
const KEY = "verbatim-message";

/** A message is looked at before it is posted: the plan says what it would do, and posting it runs nothing yet. */
export function SubmitPart(): ReactNode {
  const navigate = useNavigate();
  const isLost = useIsLost();
  const file = useRef<HTMLInputElement>(null);
  // The same wish, sent twice, is the same job.
  const [runId, setRunId] = useState(newUuid);
  const [text, setText] = useState(() => sessionStorage.getItem(KEY) ?? "");
  const [planned, setPlanned] = useState<Planned | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [wrong, setWrong] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const take = (next: string) => {
    setText(next);
    sessionStorage.setItem(KEY, next);
    setPlanned(null);
    setWrong(null);
    setProblem(null);
    setRunId(newUuid());
  };
  const act = async (work: (message: unknown) => Promise<void>) => {
    setProblem(null);
    let message: unknown;
    try {
      message = JSON.parse(text) as unknown;
    } catch (thrown) {
      setWrong(thrown instanceof Error ? thrown.message : String(thrown));
      return;
    }
    setBusy(true);
    try {
      await work(message);
    } catch (thrown) {
      setProblem(thrown);
    } finally {
      setBusy(false);
    }
  };
  const look = () => act(async (message) => setPlanned(await call("jobs.plan", { message, run_id: runId })));
  const post = () =>
    act(async (message) => {
      const { job_id } = await call("jobs.post", { message, run_id: runId });
      sessionStorage.removeItem(KEY);
      await queries.invalidateQueries({ queryKey: ["jobs.list"] });
      await navigate({ to: "/jobs/$job", params: { job: job_id } });
    });
  return (
    <details className={styles["submit"]} open={text === "" ? undefined : true}>
      <summary>{said.title}</summary>
      <label>
        <span className={styles["plain"]}>{said.field}</span>
        <textarea
          rows={8}
          spellCheck={false}
          value={text}
          aria-invalid={wrong !== null}
          aria-describedby={wrong === null ? undefined : "message-wrong"}
          onChange={({ target }) => take(target.value)}
        />
      </label>
      {wrong === null ? null : (
        <p id="message-wrong" className={styles["bad"]} role="alert">
          <Foreign text={said.notJson(wrong)} />
        </p>
      )}
      {problem === null ? null : <Failure thrown={problem} />}
      {planned === null ? null : (
        <p role="status" data-testid="planned">
          {planned.breach === null ? said.plan(planned.steps.length) : said.breach(planned.breach.ordinal)}
        </p>
      )}
      <p className={styles["acts"]}>
        <Button isDisabled={isLost || isBusy || text.trim() === ""} onPress={() => void look()}>
          {said.look}
        </Button>
        {planned === null || planned.breach !== null ? null : (
          <Button kind="primary" isDisabled={isLost || isBusy} onPress={() => void post()}>
            {said.post}
          </Button>
        )}
        <Button kind="quiet" onPress={() => file.current?.click()}>
          {said.file}
        </Button>
      </p>
      <input
        ref={file}
        type="file"
        hidden
        accept=".json,application/json"
        aria-label={said.file}
        data-testid="choose-message"
        onChange={({ currentTarget }) => void currentTarget.files?.[0]?.text().then(take, setProblem)}
      />
    </details>
  );
}

/** Works without a secure context too. */
function newUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
