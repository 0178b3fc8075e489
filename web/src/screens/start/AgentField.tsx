import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { CopyButton } from "../../parts/Copy.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Mark } from "../../parts/Mark.tsx";
import { formatCommand } from "../../words/formats.ts";
import { words } from "../../words/words.ts";
import type { Draft, Known } from "./draft.ts";
import styles from "./StartScreen.module.css";

const said = words.start;
export const SAMPLE = `{
  "agent": {
    "commands": {
      "claude": { "argv": ["claude", "-p", "{goal}"], "feedback": ["claude", "-p", "{feedback}"] }
    }
  }
}`;

/** Who works: a command that the configuration names and its owner allowed, or one that is typed where that may be. */
export function AgentField(props: {
  readonly draft: Draft;
  readonly known: Known;
  readonly change: (change: Partial<Draft>) => void;
}): ReactNode {
  const { draft, known, change } = props;
  const mayType = known.starting === "typed";
  return (
    <fieldset className={styles["field"]}>
      <legend>{said.agent}</legend>
      {known.commands.length === 0 ? <NoCommands mayType={mayType} /> : null}
      <div className={styles["agents"]}>
        {known.commands.map(({ name, argv, allowed }) => (
          <div key={name} className={styles["agent"]} data-chosen={draft.command === name}>
            <label>
              <input
                type="radio"
                name="agent"
                checked={draft.command === name}
                disabled={!allowed}
                onChange={() => change({ command: name })}
              />
              <span>
                <strong>
                  <Foreign text={name} />
                </strong>
                <code>
                  <Foreign text={formatCommand(argv)} />
                </code>
              </span>
            </label>
            <p className={styles["allowed"]}>
              <Mark mark={allowed ? "good" : "notice"} />
              {allowed ? (
                said.allowed
              ) : mayType ? (
                <Link to="/settings/$part" params={{ part: "agents" }}>
                  {said.allow}
                </Link>
              ) : (
                <Foreign text={said.allowTerminal(name)} />
              )}
            </p>
          </div>
        ))}
        {mayType ? (
          <div className={styles["agent"]} data-chosen={draft.command === null}>
            <label>
              <input
                type="radio"
                name="agent"
                checked={draft.command === null}
                onChange={() => change({ command: null })}
              />
              <span>
                <strong>{said.typed}</strong>
                <span className={styles["plain"]}>{said.typedHint}</span>
              </span>
            </label>
            {draft.command === null ? (
              <textarea
                aria-label={said.typedLabel}
                className={styles["code"]}
                rows={4}
                spellCheck={false}
                value={draft.typed}
                onChange={({ target }) => change({ typed: target.value })}
              />
            ) : null}
          </div>
        ) : null}
      </div>
    </fieldset>
  );
}

export function NoCommands({ mayType }: { readonly mayType: boolean }): ReactNode {
  return (
    <div className={styles["none"]}>
      <p>{mayType ? said.noCommands : said.noCommandsClosed}</p>
      <pre>{SAMPLE}</pre>
      <CopyButton text={SAMPLE} label={words.copy.hash(said.sample)} />
    </div>
  );
}
