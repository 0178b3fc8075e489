import { useNavigate } from "@tanstack/react-router";
import { FileUp } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { queries } from "../../api/queries.ts";
import { type Imported, worldsApi } from "../../api/worlds.ts";
import { useIsLost } from "../../app/use-connection.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { words } from "../../words/words.ts";
import styles from "./WorldsScreen.module.css";

const said = words.worlds.drop;
/** More lines than these are counted. */
const MOST_LINES = 40;

interface Taken {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly preview: Imported;
}

/** Where a file is dropped or chosen. It is shown first, and becomes a world only when somebody says so. */
export function DropPart({ into }: { readonly into: string | null }): ReactNode {
  const [isOver, setOver] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const [taken, setTaken] = useState<Taken | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const isLost = useIsLost();
  const navigate = useNavigate();
  const look = async (file: File | undefined) => {
    if (file === undefined) return;
    setProblem(null);
    setBusy(true);
    try {
      const bytes = new Uint8Array(await file.arrayBuffer());
      const preview =
        into === null ? await worldsApi.import(bytes, true) : await worldsApi.importInto(into, bytes, true);
      setTaken({ name: file.name, bytes, preview });
    } catch (thrown) {
      setProblem(thrown);
    } finally {
      setBusy(false);
      if (field.current !== null) field.current.value = "";
    }
  };
  const make = async () => {
    if (taken === null) return;
    setBusy(true);
    try {
      const { world_id } =
        into === null
          ? await worldsApi.import(taken.bytes, false)
          : await worldsApi.importInto(into, taken.bytes, false);
      setTaken(null);
      void queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => String(name).startsWith("world.") });
      await navigate({ to: "/worlds/$world", params: { world: world_id } });
    } catch (thrown) {
      setTaken(null);
      setProblem(thrown);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <section
        className={styles["zone"]}
        aria-label={said.title}
        data-over={isOver}
        data-testid="world-drop"
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          void look(event.dataTransfer.files[0]);
        }}
      >
        <h2>{said.title}</h2>
        <p>{isBusy ? said.reading : said.why}</p>
        <Button isDisabled={isBusy || isLost} onPress={() => field.current?.click()}>
          <FileUp size={18} strokeWidth={1.75} aria-hidden />
          {said.choose}
        </Button>
        <input
          ref={field}
          type="file"
          hidden
          aria-label={said.choose}
          data-testid="world-file"
          onChange={({ currentTarget }) => void look(currentTarget.files?.[0])}
        />
      </section>
      {problem === null ? null : <Failure thrown={problem} />}
      {taken === null ? null : (
        <Dialog
          title={said.preview(taken.name)}
          close={() => setTaken(null)}
          busy={isBusy}
          act={{ label: isBusy ? said.making : said.make, run: () => void make() }}
        >
          <Preview preview={taken.preview} />
        </Dialog>
      )}
    </>
  );
}

/** Exactly what would be written. */
function Preview({ preview }: { readonly preview: Imported }): ReactNode {
  const { lines, people, not_imported, lost, format } = preview;
  if (format === "WORLD") return <p>{said.whole}</p>;
  return (
    <>
      <p>
        {said.lines(lines.length)}, {said.people(people.length)}
      </p>
      <div className={styles["preview"]} tabIndex={0} role="group" aria-label={said.lines(lines.length)}>
        {lines.slice(0, MOST_LINES).map((line, at) => (
          <p key={String(at)} className={styles["line"]}>
            <span className={styles["by"]}>
              <Foreign text={people.find(({ person_id }) => person_id === line.author)?.display_name ?? line.author} />
            </span>
            <Foreign text={line.text} />
          </p>
        ))}
        {lines.length > MOST_LINES ? <p>{said.more(lines.length - MOST_LINES)}</p> : null}
      </div>
      {not_imported.length + lost.length === 0 ? null : (
        <p className={styles["plain"]}>
          {said.notCarried}: <Foreign text={[...not_imported, ...lost.map(({ what }) => what)].join(", ")} />
        </p>
      )}
    </>
  );
}
