import type { ReactNode } from "react";
import styles from "./TakeBox.module.css";

export type Taken = "all" | "some" | "none";

/** Takes or leaves a hunk or a file. */
export function TakeBox(props: {
  readonly label: string;
  readonly taken: Taken;
  readonly toggle: () => void;
}): ReactNode {
  const { label, taken, toggle } = props;
  return (
    <input
      type="checkbox"
      className={styles["take"]}
      aria-label={label}
      checked={taken === "all"}
      ref={(box) => {
        if (box !== null) box.indeterminate = taken === "some";
      }}
      onChange={toggle}
    />
  );
}
