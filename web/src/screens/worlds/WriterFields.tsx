import { type ReactNode, useState } from "react";
import type { Input, Output } from "../../api/client.ts";
import { worldsApi } from "../../api/worlds.ts";
import { Button } from "../../parts/Button.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Mark } from "../../parts/Mark.tsx";
import { words } from "../../words/words.ts";
import styles from "./Forms.module.css";

const said = words.worlds.form;

export interface WriterDraft {
  readonly kind: "scripted" | "ollama" | "openai-compatible";
  readonly model: string;
  readonly base_url: string;
  readonly api_key_env: string;
}

export const NEW_WRITER: WriterDraft = { kind: "scripted", model: "", base_url: "", api_key_env: "" };

const orNull = (text: string) => (text.trim() === "" ? null : text.trim());

/** As settings of a world. */
export function toWriterSettings({ kind, model, base_url, api_key_env }: WriterDraft) {
  if (kind === "scripted") return { kind };
  return { kind, model: orNull(model), base_url: orNull(base_url), api_key_env: orNull(api_key_env) };
}

export function toWriterInput(
  draft: WriterDraft,
): Pick<Input<"world.new">, "writer" | "model" | "base_url" | "api_key_env"> {
  const { kind, model, base_url, api_key_env } = {
    model: null,
    base_url: null,
    api_key_env: null,
    ...toWriterSettings(draft),
  };
  return {
    writer: kind,
    ...(model === null ? {} : { model }),
    ...(base_url === null ? {} : { base_url }),
    ...(api_key_env === null ? {} : { api_key_env }),
  };
}

type Tested = Output<"world.writer-test">;
type Models = Output<"world.writer-models">;

/** Who writes, tried out before anything is made. */
export function WriterFields(props: {
  readonly draft: WriterDraft;
  readonly change: (change: Partial<WriterDraft>) => void;
}): ReactNode {
  const { draft, change } = props;
  const [tested, setTested] = useState<Tested | null>(null);
  const [models, setModels] = useState<Models | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const isModel = draft.kind !== "scripted";
  const attempt = async (work: () => Promise<void>) => {
    setProblem(null);
    setTested(null);
    setBusy(true);
    await work().catch(setProblem);
    setBusy(false);
  };
  const test = () => attempt(async () => setTested(await worldsApi.testWriter(toWriterSettings(draft))));
  const list = () =>
    attempt(async () => {
      const { kind, base_url, api_key_env } = draft;
      if (kind === "scripted") return;
      setModels(await worldsApi.models({ kind, base_url: orNull(base_url), api_key_env: orNull(api_key_env) }));
    });
  return (
    <fieldset className={styles["field"]}>
      <legend>{said.writer}</legend>
      {(Object.keys(said.kinds) as WriterDraft["kind"][]).map((kind) => (
        <label key={kind} className={styles["choice"]}>
          <input type="radio" name="writer" checked={draft.kind === kind} onChange={() => change({ kind })} />
          {said.kinds[kind]}
        </label>
      ))}
      {isModel ? (
        <>
          <label className={styles["field"]}>
            <span>{said.model}</span>
            <input
              list="writer-models"
              value={draft.model}
              maxLength={200}
              onChange={({ target }) => change({ model: target.value })}
            />
            <datalist id="writer-models">
              {models?.models.map(({ name }) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          </label>
          <div className={styles["pair"]}>
            <label className={styles["field"]}>
              <span>{said.base}</span>
              <input
                inputMode="url"
                value={draft.base_url}
                maxLength={500}
                placeholder={draft.kind === "ollama" ? "http://127.0.0.1:11434" : ""}
                onChange={({ target }) => change({ base_url: target.value })}
              />
            </label>
            <label className={styles["field"]}>
              <span>{said.key}</span>
              <input
                value={draft.api_key_env}
                maxLength={64}
                onChange={({ target }) => change({ api_key_env: target.value })}
              />
            </label>
          </div>
          <p className={styles["acts"]}>
            <Button isDisabled={isBusy || draft.model.trim() === ""} onPress={() => void test()}>
              {isBusy ? said.testing : said.test}
            </Button>
            <Button kind="quiet" isDisabled={isBusy} onPress={() => void list()}>
              {said.models}
            </Button>
          </p>
        </>
      ) : null}
      <div role="status">
        {models === null || models.models.length > 0 ? null : (
          <p>{models.words === null ? said.noModels : <Foreign text={models.words} />}</p>
        )}
        {models === null || models.models.length === 0 ? null : (
          <p className={styles["models"]}>
            {models.models.slice(0, 40).map(({ name }) => (
              <Button key={name} kind="quiet" onPress={() => change({ model: name })}>
                <Foreign text={name} />
              </Button>
            ))}
          </p>
        )}
        {tested === null ? null : (
          <>
            <p>{tested.ok ? said.testOk : said.testBad}</p>
            <ul className={styles["steps"]}>
              {tested.steps.map(({ step, ok, words: says }) => (
                <li key={step}>
                  <Mark mark={ok ? "good" : "bad"} />
                  <Foreign text={says} />
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
      {problem === null ? null : <Failure thrown={problem} />}
    </fieldset>
  );
}
