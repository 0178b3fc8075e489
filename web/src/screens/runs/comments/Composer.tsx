import { type ReactNode, useEffect, useRef, useState } from "react";
import { useIsLost } from "../../../app/use-connection.ts";
import { Button } from "../../../parts/Button.tsx";
import { Failure } from "../../../parts/Failure.tsx";
import { words } from "../../../words/words.ts";
import { sayPlace } from "./CommentRow.tsx";
import styles from "./Comments.module.css";
import type { Place } from "./place.ts";

const said = words.comments;
const MOST = 20_000;

/** Where somebody writes about a place; it stands right below it. */
export function Composer(props: {
  readonly place: Place;
  readonly text: string;
  readonly typed: (text: string) => void;
  readonly save: (text: string) => Promise<void>;
  readonly close: () => void;
}): ReactNode {
  const { place, text, typed, save, close } = props;
  const isLost = useIsLost();
  const field = useRef<HTMLTextAreaElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  // It was asked for just now, or was being written before a reload.
  useEffect(() => field.current?.focus({ preventScroll: true }), []);
  const isLong = text.length > MOST;
  const keep = async () => {
    if (text.trim() === "" || isLong || isBusy || isLost) return;
    setBusy(true);
    setProblem(null);
    try {
      await save(text);
    } catch (thrown) {
      setProblem(thrown);
      setBusy(false);
    }
  };
  return (
    <form
      className={styles["composer"]}
      aria-label={sayPlace(place)}
      onSubmit={(event) => {
        event.preventDefault();
        void keep();
      }}
    >
      <label>
        <span>{sayPlace(place)}</span>
        <textarea
          ref={field}
          rows={3}
          value={text}
          placeholder={said.field}
          aria-invalid={isLong}
          onChange={({ target }) => typed(target.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") {
              event.preventDefault();
              close();
            }
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
              event.preventDefault();
              void keep();
            }
          }}
        />
      </label>
      {isLong ? (
        <p role="alert" className={styles["bad"]}>
          {said.long(MOST)}
        </p>
      ) : null}
      {problem === null ? null : <Failure thrown={problem} />}
      <div className={styles["acts"]}>
        <Button kind="primary" type="submit" isDisabled={text.trim() === "" || isLong || isBusy || isLost}>
          {said.save}
        </Button>
        <Button kind="quiet" onPress={close}>
          {said.cancel}
        </Button>
      </div>
    </form>
  );
}
