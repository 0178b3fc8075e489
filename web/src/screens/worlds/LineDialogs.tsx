import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useRef, useState } from "react";
import { newKey } from "../../api/client.ts";
import { queries } from "../../api/queries.ts";
import { worldsApi } from "../../api/worlds.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { words } from "../../words/words.ts";
import { sayEnd } from "./Composer.tsx";
import styles from "./Forms.module.css";
import type { LineAct } from "./LineRow.tsx";
import { nameIn } from "./names.ts";
import type { Told } from "./story-window.ts";
import { useWorld } from "./world-context.ts";

const said = words.worlds;

const FIELD = "line-words";

export interface Asked {
  readonly act: LineAct;
  readonly told: Told;
}

interface Props {
  readonly told: Told;
  readonly close: () => void;
}

/** What is asked about a line before anything is done with it. */
export function LineDialogs({ asked, close }: { readonly asked: Asked; readonly close: () => void }): ReactNode {
  const { act, told } = asked;
  if (act === "knows") return <Knows told={told} close={close} />;
  if (act === "versions") return <Versions told={told} close={close} />;
  if (act === "fork") return <Fork told={told} close={close} />;
  if (act === "edit" || act === "correct" || act === "pin") return <Rewrite act={act} told={told} close={close} />;
  return null;
}

/** Everybody who has the line, as it was written: nobody is added to it later. */
function Knows({ told, close }: Props): ReactNode {
  const { people } = useWorld();
  const { scope, visible_to } = told.meta;
  return (
    <Dialog title={said.knows.title} close={close}>
      {scope === "PUBLIC" ? (
        <p>{said.knows.everybody}</p>
      ) : (
        <>
          <p>{said.knows.only}</p>
          <ul className={styles["list"]}>
            {visible_to.map((id) => (
              <li key={id}>
                <Foreign
                  text={
                    id === people.operator.operator_id
                      ? said.knows.you(people.operator.name)
                      : nameIn(people, id, said.knows.world)
                  }
                />
              </li>
            ))}
          </ul>
        </>
      )}
    </Dialog>
  );
}

/** Other ways on from the same moment, side by side; one of them is kept. */
function Versions({ told, close }: Props): ReactNode {
  const { id } = useWorld();
  const navigate = useNavigate();
  const of = told.meta.request_id ?? "";
  const query = useQuery({
    queryKey: ["world.versions", { world: id, of }],
    queryFn: () => worldsApi.versions(id, of),
    staleTime: 0,
  });
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const attempt = async (work: () => Promise<unknown>) => {
    setBusy(true);
    setProblem(null);
    try {
      await work();
      await query.refetch();
    } catch (thrown) {
      setProblem(thrown);
    } finally {
      setBusy(false);
    }
  };
  const keep = (world: string) =>
    attempt(async () => {
      await worldsApi.keep(id, world);
      void queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => String(name).startsWith("world.") });
      close();
      await navigate({ to: "/worlds/$world", params: { world } });
    });
  return (
    <Dialog
      title={said.versions.title}
      close={close}
      busy={isBusy}
      act={{
        label: isBusy ? said.versions.making : said.versions.make,
        run: () => void attempt(() => worldsApi.makeVersion(id, of)),
      }}
    >
      <p className={styles["plain"]}>{said.versions.why}</p>
      <Shown query={query}>
        {({ versions }) => (
          <ul className={styles["list"]}>
            {versions.map(({ version_no, world_id, kept, goes_on, first, result, code }) => (
              <li key={world_id} data-testid="version">
                <span>
                  {said.versions.one(version_no)}{" "}
                  <span className={styles["plain"]}>
                    {[
                      ...(kept ? [said.versions.kept] : []),
                      ...(goes_on ? [said.versions.goesOn] : []),
                      ...(world_id === id ? [said.versions.here] : []),
                    ].join(", ")}
                  </span>
                </span>
                <span className={styles["acts"]}>
                  {world_id === id ? null : (
                    <Button
                      kind="quiet"
                      aria-label={said.versions.open(version_no)}
                      onPress={() => {
                        close();
                        void navigate({ to: "/worlds/$world", params: { world: world_id } });
                      }}
                    >
                      {said.find.open}
                    </Button>
                  )}
                  {kept ? null : (
                    <Button kind="quiet" isDisabled={isBusy} onPress={() => void keep(world_id)}>
                      {said.versions.keep(version_no)}
                    </Button>
                  )}
                </span>
                <p className={styles["quote"]}>
                  {first === null ? (
                    (result === null ? "" : sayEnd({ result, code })) || said.versions.silent
                  ) : (
                    <Foreign text={said.story.read(first.author_label, first.excerpt)} />
                  )}
                </p>
              </li>
            ))}
          </ul>
        )}
      </Shown>
      {problem === null ? null : <Failure thrown={problem} />}
    </Dialog>
  );
}

function Fork({ told, close }: Props): ReactNode {
  const { id, title } = useWorld();
  const navigate = useNavigate();
  const [name, setName] = useState(title);
  return (
    <Asking
      words={said.fork}
      close={close}
      field={<input id={FIELD} value={name} maxLength={120} onChange={({ target }) => setName(target.value)} />}
      canRun={name.trim() !== ""}
      run={async () => {
        const { world_id } = await worldsApi.fork(id, told.meta.cursor, name.trim());
        void queries.invalidateQueries({ queryKey: ["world.list"] });
        close();
        await navigate({ to: "/worlds/$world", params: { world: world_id } });
      }}
    />
  );
}

/** Words instead of others: as a version, as a line beside the old one, or as what the writer is always given. */
function Rewrite({ act, told, close }: Props & { readonly act: "edit" | "correct" | "pin" }): ReactNode {
  const { id, operator, isOwner, sending } = useWorld();
  const navigate = useNavigate();
  const { entry_id, text: before } = told.line;
  const [text, setText] = useState(before);
  const key = useRef(`studio-${newKey()}`);
  const run = async () => {
    if (act === "edit") {
      const { version } = await worldsApi.edit(id, entry_id, text, key.current);
      void queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => String(name).startsWith("world.") });
      close();
      await navigate({ to: "/worlds/$world", params: { world: version.world_id } });
    } else if (act === "pin") {
      await worldsApi.pin(id, entry_id, text);
      await queries.invalidateQueries({ queryKey: ["world.pins"] });
      close();
    } else {
      // The owner speaks as whoever said it; anybody else may only correct their own.
      const speaker = isOwner ? { speaker: told.meta.author_id } : {};
      sending.send(operator, text, { corrects: entry_id, ...speaker });
      close();
    }
  };
  return (
    <Asking
      words={said[act]}
      close={close}
      field={<textarea id={FIELD} rows={6} dir="auto" value={text} onChange={({ target }) => setText(target.value)} />}
      canRun={text.trim() !== "" && (act === "pin" || text !== before)}
      run={run}
    />
  );
}

function Asking(props: {
  readonly words: { readonly title: string; readonly why: string; readonly field: string; readonly act: string };
  readonly field: ReactNode;
  readonly canRun: boolean;
  readonly run: () => Promise<void>;
  readonly close: () => void;
}): ReactNode {
  const { words: says, field, canRun, run, close } = props;
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const act = () => {
    if (!canRun) return;
    setBusy(true);
    setProblem(null);
    run().catch((thrown: unknown) => {
      setProblem(thrown);
      setBusy(false);
    });
  };
  return (
    <Dialog title={says.title} close={close} busy={isBusy} act={canRun ? { label: says.act, run: act } : undefined}>
      <p className={styles["plain"]}>{says.why}</p>
      <div className={styles["field"]}>
        <label htmlFor={FIELD}>{says.field}</label>
        {field}
      </div>
      {problem === null ? null : <Failure thrown={problem} />}
    </Dialog>
  );
}
