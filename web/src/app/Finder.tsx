import { useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { type KeyboardEvent, type ReactNode, useDeferredValue, useEffect, useRef, useState } from "react";
import { Modal, ModalOverlay, Dialog as Panel } from "react-aria-components";
import { reading } from "../api/queries.ts";
import { Failure } from "../parts/Failure.tsx";
import { Foreign } from "../parts/Foreign.tsx";
import { words } from "../words/words.ts";
import { useOfferedActs } from "./acts.ts";
import styles from "./Finder.module.css";
import { listPlaces } from "./places.ts";
import { useRole } from "./use-role.ts";

interface Choice {
  readonly id: string;
  readonly group: string;
  readonly label: string;
  readonly hint: string | null;
  readonly run: () => void;
}

/** What the server finds and the Studio has a page for. */
const WITH_PAGE: readonly string[] = ["run", "entry"];
const MOST_FILES = 20;
/** As long as a text to look for may be. */
const MOST_LETTERS = 200;

/** One field for going and doing: acts of the screen with their keys, places, and whatever the server finds. */
export function Finder({ close }: { readonly close: (after?: () => void) => void }): ReactNode {
  const router = useRouter();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const asked = useDeferredValue(text.trim());
  const isAsked = asked.length > 1 && asked.length <= MOST_LETTERS;
  const role = useRole();
  const found = useQuery({ ...reading("studio.find", { q: asked, limit: 12 }), enabled: isAsked && role === "owner" });
  const acts = useOfferedActs();
  const isPasted = useRef(false);
  const fits = (label: string) => label.toLowerCase().includes(text.trim().toLowerCase());
  const go = (to: string) => router.history.push(to);
  const objects = (isAsked ? (found.data?.items ?? []) : []).filter(({ kind }) => WITH_PAGE.includes(kind));
  const choices: Choice[] = [
    ...acts
      .filter(({ label, isFile = false }) => !isFile && fits(label))
      .map(({ label, key, run }, n) => ({ id: `act-${n}`, group: words.palette.acts, label, hint: key ?? null, run })),
    ...listPlaces()
      .filter(({ label }) => fits(label))
      .map(({ to, label }) => ({
        id: `place-${to}`,
        group: words.palette.places,
        label,
        hint: null,
        run: () => go(to),
      })),
    ...(text.trim() === "" ? [] : acts)
      .filter(({ label, isFile = false }) => isFile && fits(label))
      .slice(0, MOST_FILES)
      .map(({ label, run }) => ({ id: `file-${label}`, group: words.palette.files, label, hint: null, run })),
    ...objects.map(({ kind, id, title, route }) => ({
      id: `${kind}-${id}`,
      group: words.palette.found,
      label: title,
      hint: id,
      run: () => go(route),
    })),
  ];
  const chosen = Math.min(at, Math.max(choices.length - 1, 0));
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  });
  const choose = (choice: Choice | undefined) => {
    if (choice === undefined) return;
    // After the address has gone back, however long that takes: Back must not come here again.
    close(choice.run);
  };
  // A whole id that was pasted is not chosen among others: it is gone to.
  const exact = objects.find(({ id }) => id === asked);
  useEffect(() => {
    if (exact === undefined || !isPasted.current) return;
    isPasted.current = false;
    choose(choices.find(({ id }) => id === `${exact.kind}-${exact.id}`));
  });
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && choices.length > 0) {
      event.preventDefault();
      setAt((chosen + step + choices.length) % choices.length);
    }
    if (event.key === "Enter") {
      event.preventDefault();
      choose(choices[chosen]);
    }
  };
  return (
    <ModalOverlay className={styles["overlay"]!} isOpen isDismissable onOpenChange={(open) => !open && close()}>
      <Modal className={styles["modal"]!}>
        <Panel aria-label={words.palette.title} className={styles["panel"]!} data-dialog>
          <input
            className={styles["field"]}
            role="combobox"
            aria-expanded
            aria-controls="finder-list"
            aria-activedescendant={choices[chosen] === undefined ? undefined : `finder-${chosen}`}
            aria-label={words.palette.label}
            placeholder={words.palette.label}
            autoComplete="off"
            spellCheck={false}
            // biome-ignore lint/a11y/noAutofocus: somebody asked for this field
            autoFocus
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              setAt(0);
            }}
            onPaste={() => {
              isPasted.current = true;
            }}
            onKeyDown={onKey}
          />
          <div id="finder-list" ref={list} className={styles["list"]} role="listbox" aria-label={words.palette.title}>
            {choices.map((choice, n) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
              <div
                key={choice.id}
                id={`finder-${n}`}
                role="option"
                tabIndex={-1}
                aria-selected={n === chosen}
                className={styles["choice"]}
                onClick={() => choose(choice)}
              >
                <span className={styles["label"]}>
                  <Foreign text={choice.label} />
                </span>
                <span className={styles["hint"]}>{choice.hint}</span>
                <span className={styles["group"]}>{choice.group}</span>
              </div>
            ))}
          </div>
          {found.error !== null && asked.length > 1 ? (
            <div className={styles["none"]}>
              <Failure thrown={found.error} again={() => void found.refetch()} />
            </div>
          ) : choices.length > 0 ? null : asked.length > MOST_LETTERS ? (
            <p className={styles["none"]}>{words.palette.long(MOST_LETTERS)}</p>
          ) : found.isFetching || asked !== text.trim() ? null : (
            <p className={styles["none"]}>{words.palette.none}</p>
          )}
        </Panel>
      </Modal>
    </ModalOverlay>
  );
}
