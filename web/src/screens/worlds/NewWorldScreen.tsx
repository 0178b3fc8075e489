import { useNavigate } from "@tanstack/react-router";
import { Plus, X } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { queries } from "../../api/queries.ts";
import { type World, worldsApi } from "../../api/worlds.ts";
import { Page } from "../../app/Page.tsx";
import { useIsLost } from "../../app/use-connection.ts";
import { Button } from "../../parts/Button.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { languageOf, words } from "../../words/words.ts";
import styles from "./Forms.module.css";
import { toPersonId } from "./names.ts";
import { NEW_WRITER, toWriterInput, type WriterDraft, WriterFields } from "./WriterFields.tsx";

const said = words.worlds.form;

/** A world of one's own: who is in it, where and when it begins, and who writes. */
export function NewWorldScreen(): ReactNode {
  const [title, setTitle] = useState("");
  const [operator, setOperator] = useState("");
  const [people, setPeople] = useState<readonly string[]>([""]);
  const [zone, setZone] = useState(zoneHere);
  const [start, setStart] = useState("");
  const [writer, setWriter] = useState<WriterDraft>(NEW_WRITER);
  const [missing, setMissing] = useState<keyof typeof said.missing | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const isLost = useIsLost();
  const navigate = useNavigate();
  const create = async (event: FormEvent) => {
    event.preventDefault();
    const named = people.map((name) => name.trim()).filter((name) => name !== "");
    const lacks =
      title.trim() === "" ? "title" : writer.kind !== "scripted" && writer.model.trim() === "" ? "model" : null;
    setMissing(lacks);
    if (lacks !== null || isBusy) return;
    setProblem(null);
    setBusy(true);
    const me = operator.trim();
    const myId = toPersonId(me, [], "OPERATOR");
    const ids: string[] = [];
    for (const name of named) ids.push(toPersonId(name, [...ids, myId], "PERSON"));
    try {
      const made = await worldsApi.make({
        title: title.trim(),
        ...(me === "" ? {} : { operator: myId, operator_name: me }),
        person: named.map((name, at) => `${ids[at]}=${name}`),
        ...(zone.trim() === "" ? {} : { timezone: zone.trim() }),
        ...(start === "" ? {} : { start }),
        ...toWriterInput(writer),
      });
      // Whoever is named here is here when it begins; the story itself says who comes and goes.
      const { people, operator_id } = await worldsApi.show(made.world_id).then(whoIsIn);
      if (people.length > 0) await worldsApi.presence(made.world_id, [operator_id, ...people]);
      void queries.invalidateQueries({ queryKey: ["world.list"] });
      await navigate({ to: "/worlds/$world", params: { world: made.world_id } });
    } catch (thrown) {
      setProblem(thrown);
      setBusy(false);
    }
  };
  return (
    <Page title={said.title}>
      <form className={styles["form"]} onSubmit={(event) => void create(event)}>
        <label className={styles["field"]}>
          <span>{said.name}</span>
          <input
            value={title}
            maxLength={120}
            aria-invalid={missing === "title"}
            onChange={({ target }) => setTitle(target.value)}
          />
          <span className={styles["hint"]}>{said.nameHint}</span>
        </label>
        <label className={styles["field"]}>
          <span>{said.operator}</span>
          <input value={operator} maxLength={80} onChange={({ target }) => setOperator(target.value)} />
          <span className={styles["hint"]}>{said.operatorHint}</span>
        </label>
        <fieldset className={styles["field"]}>
          <legend>{said.people}</legend>
          {people.map((name, at) => (
            <div key={String(at)} className={styles["person"]}>
              <input
                aria-label={said.person(at + 1)}
                value={name}
                maxLength={80}
                onChange={({ target }) => setPeople(people.with(at, target.value))}
              />
              <Button
                kind="quiet"
                aria-label={said.remove(at + 1)}
                onPress={() => setPeople(people.filter((_, other) => other !== at))}
              >
                <X size={18} strokeWidth={1.75} aria-hidden />
              </Button>
            </div>
          ))}
          <p>
            <Button kind="quiet" onPress={() => setPeople([...people, ""])}>
              <Plus size={18} strokeWidth={1.75} aria-hidden />
              {said.add}
            </Button>
          </p>
        </fieldset>
        <div className={styles["pair"]}>
          <label className={styles["field"]}>
            <span>{said.zone}</span>
            <input value={zone} maxLength={64} onChange={({ target }) => setZone(target.value)} />
          </label>
          <label className={styles["field"]}>
            <span>{said.start}</span>
            <input type="datetime-local" value={start} onChange={({ target }) => setStart(target.value)} />
            <span className={styles["hint"]}>{said.startHint}</span>
          </label>
        </div>
        <WriterFields draft={writer} change={(change) => setWriter({ ...writer, ...change })} />
        {missing === null ? null : (
          <p role="alert" className={styles["bad"]}>
            {said.missing[missing]}
          </p>
        )}
        {problem === null ? null : <Failure thrown={problem} />}
        <p>
          <Button kind="primary" type="submit" isDisabled={isBusy || isLost}>
            {isBusy ? said.creating : said.create}
          </Button>
        </p>
      </form>
    </Page>
  );
}

function whoIsIn({ people, settings }: World): { readonly people: readonly string[]; readonly operator_id: string } {
  return { people: people.map(({ person_id }) => person_id), operator_id: settings!.operator_id };
}

/** Where the browser is; one that does not say is left to the server. */
function zoneHere(): string {
  return new Intl.DateTimeFormat(languageOf(navigator.language)).resolvedOptions().timeZone;
}
