import type { ReactNode } from "react";
import { Foreign } from "../../parts/Foreign.tsx";
import { words } from "../../words/words.ts";
import { type Command, type Draft, type Known, wordsOf } from "./draft.ts";
import styles from "./StartScreen.module.css";

const said = words.start;

/** What the press on Start does, before it is pressed: the command, an argument a line, and three sentences. */
export function WillRun(props: {
  readonly draft: Draft;
  readonly command: Command | null;
  readonly known: Known;
}): ReactNode {
  const { draft, command, known } = props;
  const argv = wordsOf(draft, command);
  const network = draft.network === "" ? (command?.network ?? known.network) : draft.network;
  const keep = command?.keep ?? [];
  return (
    <section className={styles["will"]} aria-label={said.will}>
      <h2>{said.will}</h2>
      {argv.length === 0 ? (
        <p className={styles["plain"]}>{said.willNothing}</p>
      ) : (
        <ol className={styles["argv"]} data-testid="will-run">
          {argv.map((word, at) => (
            <li key={`${at} ${word}`}>
              <code>
                <Foreign text={word} />
              </code>
            </li>
          ))}
        </ol>
      )}
      <ul className={styles["sentences"]}>
        <li>{said.changes}</li>
        <li>{said.nets[network]}</li>
        <li>{keep.length === 0 ? said.keepsNothing : <Foreign text={said.keeps(keep.join(", "))} />}</li>
      </ul>
    </section>
  );
}
