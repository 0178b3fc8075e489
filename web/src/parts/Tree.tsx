import { type ReactNode, useState } from "react";
import { words } from "../words/words.ts";
import { Foreign } from "./Foreign.tsx";
import styles from "./Tree.module.css";

/** More members than these are drawn when somebody asks for them. */
const MOST = 100;
/** Deeper values are closed until somebody opens them. */
const OPEN_TO = 2;

/** A JSON value as a tree that opens and closes. Everything in it is text and nothing else. */
export function Tree({ value, depth = 0 }: { readonly value: unknown; readonly depth?: number }): ReactNode {
  if (typeof value !== "object" || value === null) return <Leaf value={value} />;
  const members = Object.entries(value);
  if (members.length === 0) return <code>{Array.isArray(value) ? "[]" : "{}"}</code>;
  return <Members members={members} isList={Array.isArray(value)} depth={depth} />;
}

function Leaf({ value }: { readonly value: unknown }): ReactNode {
  return (
    <code className={typeof value === "string" ? styles["text"] : styles["other"]}>
      <Foreign text={typeof value === "string" ? value : String(value)} />
    </code>
  );
}

function Members(props: {
  readonly members: readonly (readonly [string, unknown])[];
  readonly isList: boolean;
  readonly depth: number;
}): ReactNode {
  const { members, isList, depth } = props;
  const [most, setMost] = useState(MOST);
  return (
    <ul className={styles["members"]}>
      {members.slice(0, most).map(([name, member]) => (
        <li key={name}>
          <Member name={isList ? null : name} at={name} value={member} depth={depth} />
        </li>
      ))}
      {members.length > most ? (
        <li>
          <button type="button" className={styles["more"]} onClick={() => setMost(most + MOST)}>
            {words.ledger.entry.more(Math.min(MOST, members.length - most))}
          </button>
        </li>
      ) : null}
    </ul>
  );
}

function Member(props: {
  readonly name: string | null;
  readonly at: string;
  readonly value: unknown;
  readonly depth: number;
}): ReactNode {
  const { name, at, value, depth } = props;
  const [isOpen, setOpen] = useState(depth < OPEN_TO);
  const label = (
    <span className={styles["name"]}>
      <Foreign text={name ?? at} />
    </span>
  );
  const isInner = typeof value === "object" && value !== null && Object.keys(value).length > 0;
  if (!isInner)
    return (
      <>
        {label} <Tree value={value} />
      </>
    );
  return (
    <>
      <button type="button" className={styles["open"]} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {label} <span className={styles["size"]}>{words.ledger.entry.items(Object.keys(value).length)}</span>
      </button>
      {isOpen ? <Tree value={value} depth={depth + 1} /> : null}
    </>
  );
}
