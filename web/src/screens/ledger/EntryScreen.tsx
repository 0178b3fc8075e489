import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Output } from "../../api/client.ts";
import { reading } from "../../api/queries.ts";
import { verifyHere } from "../../api/verifier.ts";
import { Page } from "../../app/Page.tsx";
import { CopyButton } from "../../parts/Copy.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Mark } from "../../parts/Mark.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { Tree } from "../../parts/Tree.tsx";
import { Clock } from "../../parts/When.tsx";
import { words } from "../../words/words.ts";
import styles from "./EntryScreen.module.css";

type Entry = Output<"ledger.entry">;

/** One entry: every field, its body, and its hashes computed again in this page. */
export function EntryScreen(): ReactNode {
  const { index, hash } = useParams({ strict: false, select: (params: { index?: string; hash?: string }) => params });
  const query = useQuery(reading("ledger.entry", hash === undefined ? { index: Number(index) } : { hash }));
  const title = query.data === undefined ? words.ledger.title : words.ledger.entry.title(query.data.index);
  return (
    <Page title={title} aside={<Link to="/ledger">{words.ledger.title}</Link>}>
      <Shown query={query} lines={8}>
        {(entry) => <Whole key={entry.hash} entry={entry} />}
      </Shown>
    </Page>
  );
}

function Whole({ entry }: { readonly entry: Entry }): ReactNode {
  return (
    <>
      <section className={styles["section"]} aria-label={words.ledger.entry.fields}>
        <Checked entry={entry} />
        <dl className={styles["fields"]}>
          <Field name={words.ledger.entry.index}>{words.number(entry.index)}</Field>
          <Field name={words.ledger.stream}>
            <Link to="/ledger" search={{ stream: entry.stream }}>
              <Foreign text={entry.stream} />
            </Link>
          </Field>
          <Field name={words.ledger.entry.position}>{words.number(entry.position)}</Field>
          <Field name={words.ledger.kind}>
            <Link to="/ledger" search={{ kind: entry.kind }}>
              <Foreign text={entry.kind} />
            </Link>
          </Field>
          <Field name={words.ledger.time}>
            <Clock at={entry.time} /> <span className={styles["plain"]}>{entry.time}</span>
          </Field>
          <Field name={words.ledger.actor}>
            <Foreign text={entry.actor} />
          </Field>
          <Hash name={words.ledger.entry.previous} hash={entry.previous} />
          <Hash name={words.ledger.entry.bodyHash} hash={entry.body_hash} />
          <Hash name={words.ledger.entry.hash} hash={entry.hash} />
        </dl>
        <Neighbours entry={entry} />
      </section>
      <Body entry={entry} />
    </>
  );
}

/** The hashes as this page computes them from the bytes, beside those that the entry claims. */
function Checked({ entry }: { readonly entry: Entry }): ReactNode {
  const isSecure = globalThis.isSecureContext;
  const query = useQuery({
    queryKey: ["checked entry", entry.line],
    queryFn: () => verifyHere("entry", { line: entry.line }),
    enabled: isSecure,
  });
  if (!isSecure) return <p className={styles["plain"]}>{words.run.noHash}</p>;
  if (query.error !== null) return <Shown query={query}>{() => null}</Shown>;
  if (query.data === undefined) return <p className={styles["plain"]}>{words.ledger.entry.checking}</p>;
  const { computed } = query.data;
  // What is shown above the bytes must be what is in them.
  const isSame = query.data.ok && computed.hash === entry.hash && computed.body_hash === entry.body_hash;
  return (
    <div className={styles["checked"]} data-testid="entry-checked">
      <Mark mark={isSame ? "good" : "bad"} />
      <div>
        <p>{isSame ? words.ledger.entry.same : words.ledger.entry.other}</p>
        <code className={styles["hash"]}>{words.ledger.entry.computed(computed.hash)}</code>
      </div>
    </div>
  );
}

function Field({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Hash({ name, hash }: { readonly name: string; readonly hash: string }): ReactNode {
  return (
    <Field name={name}>
      <code className={styles["hash"]}>{hash}</code>
      <CopyButton text={hash} label={words.copy.hash(name)} />
    </Field>
  );
}

function Neighbours({ entry }: { readonly entry: Entry }): ReactNode {
  return (
    <nav className={styles["neighbours"]} aria-label={words.ledger.links}>
      {entry.before === null ? (
        <span className={styles["plain"]}>{words.ledger.entry.first}</span>
      ) : (
        <Link to="/ledger/$index" params={{ index: String(entry.before) }}>
          {words.ledger.entry.before}
        </Link>
      )}
      {entry.after === null ? (
        <span className={styles["plain"]}>{words.ledger.entry.last}</span>
      ) : (
        <Link to="/ledger/$index" params={{ index: String(entry.after) }}>
          {words.ledger.entry.after}
        </Link>
      )}
      <Link to="/ledger/proof/$hash" params={{ hash: entry.hash }}>
        {words.ledger.entry.proof}
      </Link>
    </nav>
  );
}

function Body({ entry }: { readonly entry: Entry }): ReactNode {
  const [form, setForm] = useState<"tree" | "bytes">("tree");
  return (
    <section className={styles["section"]} aria-label={words.ledger.entry.body}>
      <div className={styles["head"]}>
        <h2>{words.ledger.entry.body}</h2>
        <div className={styles["forms"]}>
          {(["tree", "bytes"] as const).map((one) => (
            <button key={one} type="button" aria-pressed={form === one} onClick={() => setForm(one)}>
              {words.ledger.entry[one]}
            </button>
          ))}
          <CopyButton text={entry.body_text} label={words.copy.hash(words.ledger.entry.body)} />
        </div>
      </div>
      <div className={styles["body"]}>
        {form === "tree" ? (
          <Tree value={entry.body} />
        ) : (
          <pre tabIndex={0}>
            <Foreign text={entry.body_text} />
          </pre>
        )}
      </div>
    </section>
  );
}
