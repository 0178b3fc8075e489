import type { ReactNode } from "react";
import { words } from "../../words/words.ts";
import styles from "./HomeScreen.module.css";

const BAR = 8;
const GAP = 2;
const HIGH = 32;

/** How much was written, day by day: bars for eyes, the same numbers as a table for everybody else. */
export function Days({ days }: { readonly days: readonly number[] }): ReactNode {
  const most = Math.max(1, ...days);
  const width = days.length * (BAR + GAP) - GAP;
  return (
    <figure className={styles["days"]}>
      <svg viewBox={`0 0 ${width} ${HIGH}`} width={width} height={HIGH} aria-hidden>
        {days.map((number, n) => {
          const height = number === 0 ? 1 : Math.max(3, (number / most) * HIGH);
          const x = n * (BAR + GAP);
          return (
            <rect
              key={`${n}`}
              x={x}
              y={HIGH - height}
              width={BAR}
              height={height}
              className={number === 0 ? styles["none"] : undefined}
            />
          );
        })}
      </svg>
      <figcaption>{words.home.days}</figcaption>
      <table className="unseen">
        <thead>
          <tr>
            <th>{words.home.daysAgo}</th>
            <th>{words.home.number}</th>
          </tr>
        </thead>
        <tbody>
          {days.map((number, n) => (
            <tr key={`${n}`}>
              <td>{days.length - 1 - n}</td>
              <td>{words.number(number)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
