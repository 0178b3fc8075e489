import { Link } from "@tanstack/react-router";
import { SendHorizontal, Square } from "lucide-react";
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useImperativeHandle,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import type { Output } from "../../api/client.ts";
import { worldsApi } from "../../api/worlds.ts";
import { Button } from "../../parts/Button.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { words } from "../../words/words.ts";
import { nameIn } from "./names.ts";
import styles from "./Story.module.css";
import type { Ending, Sent } from "./sending.ts";
import { type OpenWorld, useWorld } from "./world-context.ts";

const said = words.worlds.composer;
const status = words.worlds.status;
const MOST_BYTES = 65_536;

export interface ComposerHandle {
  readonly focus: () => void;
  readonly quote: (text: string) => void;
  readonly pass: () => void;
}

/** Where somebody speaks, and what became of it. The field is never closed: what is sent waits for its turn. */
export function Composer(props: {
  readonly handle: RefObject<ComposerHandle | null>;
  readonly showSide: () => void;
}): ReactNode {
  const { handle, showSide } = props;
  const open = useWorld();
  const { id, people, self, operator, speaks, isOwner, sending } = open;
  const desk = useSyncExternalStore(sending.listen, sending.read);
  const [text, setText] = useDraft(`verbatim-draft ${id} ${self}`);
  const [speaker, setSpeaker] = useState("");
  const [counted, setCounted] = useState<Output<"world.count"> | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const wishes = speaker === "" ? {} : { speaker };
  const isLong = new TextEncoder().encode(text).length > MOST_BYTES;
  const send = () => {
    if (!speaks || text.trim() === "" || isLong) return;
    sending.send(operator, text, wishes);
    setText("");
    setCounted(null);
    setProblem(null);
  };
  const pass = () => {
    if (speaks) sending.send(operator, "");
  };
  useImperativeHandle(handle, () => ({
    focus: () => field.current?.focus(),
    quote: (quoted) => {
      setText(`${text === "" ? "" : `${text}\n`}"${quoted}"\n`);
      field.current?.focus();
    },
    pass,
  }));
  const onKey = (event: KeyboardEvent) => {
    // Whoever is choosing a sign by keys has not ended the line.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const measure = () => {
    setProblem(null);
    worldsApi.count(id, text).then(setCounted, setProblem);
  };
  return (
    <section className={styles["desk"]} aria-label={said.label} data-region tabIndex={-1}>
      <Status open={open} />
      {desk.sent.map((one) => (
        <OnTheWay
          key={one.request_id}
          sent={one}
          back={() => {
            sending.take(one.request_id);
            setText(text === "" ? one.text : `${one.text}\n${text}`);
            field.current?.focus();
          }}
        />
      ))}
      {speaks ? (
        <>
          <div className={styles["field"]}>
            <textarea
              ref={field}
              rows={1}
              dir="auto"
              aria-label={said.label}
              placeholder={said.placeholder}
              value={text}
              aria-invalid={isLong}
              enterKeyHint="send"
              onChange={({ target }) => {
                setText(target.value);
                setCounted(null);
              }}
              onKeyDown={onKey}
            />
            <Button kind="primary" aria-label={said.send} isDisabled={text.trim() === "" || isLong} onPress={send}>
              <SendHorizontal size={18} strokeWidth={1.75} aria-hidden />
            </Button>
          </div>
          <div className={styles["tools"]}>
            {isOwner ? (
              <Speakers open={open} speaker={speaker} choose={setSpeaker} />
            ) : (
              <span>
                <Foreign text={said.as(nameIn(people, self, words.worlds.knows.world))} />
              </span>
            )}
            <Button kind="quiet" onPress={pass}>
              {said.pass}
            </Button>
            {text === "" ? null : (
              <Button kind="quiet" onPress={measure}>
                {said.length}
              </Button>
            )}
            <span className={styles["sideButton"]}>
              <Button kind="quiet" onPress={showSide}>
                {words.worlds.side.show}
              </Button>
            </span>
            {counted === null ? null : (
              <span role="status">{said.counted(counted.bytes, counted.tokens, counted.fits)}</span>
            )}
            {isLong ? <span role="alert">{said.long}</span> : null}
          </div>
        </>
      ) : (
        <div className={styles["tools"]}>
          <span>{open.viewer === undefined ? said.cannot : ""}</span>
          <span className={styles["sideButton"]}>
            <Button kind="quiet" onPress={showSide}>
              {words.worlds.side.show}
            </Button>
          </span>
        </div>
      )}
      {problem === null ? null : <Failure thrown={problem} />}
    </section>
  );
}

/** Whose words are sent; the owner may lend a voice to anybody. */
function Speakers(props: {
  readonly open: OpenWorld;
  readonly speaker: string;
  readonly choose: (speaker: string) => void;
}): ReactNode {
  const { open, speaker, choose } = props;
  const { operator, people } = open.people;
  return (
    <label>
      {said.speaker}
      <select value={speaker} onChange={({ target }) => choose(target.value)}>
        <option value="">{`${operator.name} (${words.worlds.cast.you})`}</option>
        {people
          .filter(({ present }) => present)
          .map(({ person_id, display_name }) => (
            <option key={person_id} value={person_id}>
              {display_name}
            </option>
          ))}
        <option value="WORLD">{words.worlds.knows.world}</option>
      </select>
    </label>
  );
}

/** One line outside of the story: who is at work, or how the last beat ended. */
function Status({ open }: { readonly open: OpenWorld }): ReactNode {
  const { id, sending, world, isOwner, isOperator, speaks } = open;
  const desk = useSyncExternalStore(sending.listen, sending.read);
  const working = [...desk.statuses.values()].at(-1);
  const mine = desk.sent.find(({ state }) => state === "sending");
  const request = working?.request_id ?? mine?.request_id;
  const stop = () => {
    // Where it is over already there is nothing to stop, and the end is told anyway.
    if (request !== undefined) worldsApi.stop(id, request).catch(() => undefined);
  };
  return (
    <div className={styles["status"]} role="status" data-testid="status">
      {working !== undefined && working.phase !== "DONE" ? (
        <span>{status[working.phase]}</span>
      ) : mine !== undefined ? (
        <span>{said.onTheWay}</span>
      ) : desk.ended !== null && sayEnd(desk.ended) !== "" ? (
        <>
          <span>{sayEnd(desk.ended)}</span>
          {isOperator ? (
            <Link to="/worlds/$world/inspector/$request" params={{ world: id, request: desk.ended.request_id }}>
              {words.worlds.inspect}
            </Link>
          ) : null}
        </>
      ) : !speaks ? (
        <span>{status.reads}</span>
      ) : (
        <span>
          <Foreign text={isOwner || isOperator ? world.writer : ""} />
        </span>
      )}
      {working !== undefined && speaks ? (
        <Button kind="quiet" onPress={stop}>
          <Square size={14} strokeWidth={2} aria-hidden />
          {said.stop}
        </Button>
      ) : null}
    </div>
  );
}

/** How a beat ended, in words; nothing where everything is on the screen. */
export function sayEnd({ result, code }: Pick<Ending, "result" | "code">): string {
  const { results, reasons } = words.worlds;
  const says = results[result as keyof typeof results] ?? "";
  const reason = code === null ? undefined : reasons[code as keyof typeof reasons];
  return reason === undefined || says === "" || code === result ? says : `${says} ${reason}`;
}

function OnTheWay({ sent, back }: { readonly sent: Sent; readonly back: () => void }): ReactNode {
  if (sent.state === "sending") return null;
  return (
    <div className={styles["sent"]} data-testid="unsent">
      <p className={styles["text"]}>{sent.text === "" ? said.silence : <Foreign text={sent.text} />}</p>
      {sent.state === "unanswered" ? (
        <p role="status">{said.unanswered}</p>
      ) : (
        <>
          <Failure thrown={sent.problem} />
          <p>
            <Button onPress={back}>{said.back}</Button>
          </p>
        </>
      )}
    </div>
  );
}

/** What somebody is writing stays in this browser until it is sent. */
function useDraft(key: string): readonly [string, (text: string) => void] {
  const [text, setText] = useState(() => localStorage.getItem(key) ?? "");
  const set = (next: string) => {
    setText(next);
    if (next === "") localStorage.removeItem(key);
    else localStorage.setItem(key, next);
  };
  return [text, set];
}
