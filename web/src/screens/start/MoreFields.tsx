import type { ReactNode } from "react";
import { words } from "../../words/words.ts";
import { type Command, type Draft, type Known, minutesOf } from "./draft.ts";
import styles from "./StartScreen.module.css";

const said = words.start;
const NETWORKS = ["inherit", "allow", "none"] as const;
const MEMBERS = [1, 2, 3, 4, 5, 6];

/** What is as configured unless somebody says otherwise. Without the right to type, it can only become stricter. */
export function MoreFields(props: {
  readonly draft: Draft;
  readonly known: Known;
  readonly command: Command | null;
  readonly change: (change: Partial<Draft>) => void;
}): ReactNode {
  const { draft, known, command, change } = props;
  const given = command?.network ?? known.network;
  const mayWiden = known.starting === "typed";
  const networks = NETWORKS.filter((one) => mayWiden || NETWORKS.indexOf(one) >= NETWORKS.indexOf(given));
  const isWrong = minutesOf(draft.minutes) === null;
  return (
    <details className={styles["more"]} open={isWrong || undefined}>
      <summary>{said.more}</summary>
      <div className={styles["grid"]}>
        <label className={styles["under"]}>
          <span>{said.howMany}</span>
          <select value={draft.count} onChange={({ target }) => change({ count: Number(target.value) })}>
            {MEMBERS.map((n) => (
              <option key={n} value={n}>
                {words.number(n)}
              </option>
            ))}
          </select>
        </label>
        <label className={styles["under"]}>
          <span>{said.network}</span>
          <select
            value={draft.network}
            onChange={({ target }) => change({ network: target.value as Draft["network"] })}
          >
            <option value="">{said.networks.as(said.networks[given])}</option>
            {networks.map((one) => (
              <option key={one} value={one}>
                {said.networks[one]}
              </option>
            ))}
          </select>
        </label>
        <label className={styles["under"]}>
          <span>{said.timeout}</span>
          <input
            inputMode="numeric"
            value={draft.minutes}
            placeholder={
              command?.timeout_s == null ? said.timeoutNone : words.number(Math.ceil(command.timeout_s / 60))
            }
            aria-invalid={isWrong}
            aria-describedby={isWrong ? "minutes-wrong" : undefined}
            onChange={({ target }) => change({ minutes: target.value })}
          />
          {isWrong ? (
            <span id="minutes-wrong" className={styles["bad"]} role="alert">
              {said.timeoutWrong}
            </span>
          ) : null}
        </label>
        {mayWiden ? (
          <label className={styles["under"]}>
            <span>{said.guard}</span>
            <select value={draft.guard} onChange={({ target }) => change({ guard: target.value })}>
              <option value="">{said.guardAuto}</option>
              <option value="require">{said.guardRequire}</option>
            </select>
          </label>
        ) : null}
      </div>
      {draft.count > 1 ? <p className={styles["plain"]}>{said.howManyWhy}</p> : null}
    </details>
  );
}
