import type { ReactNode } from "react";
import { type ButtonProps, Button as Pressable } from "react-aria-components";
import styles from "./Button.module.css";

interface Props extends Omit<ButtonProps, "children" | "className"> {
  readonly kind?: "primary" | "plain" | "danger" | "quiet";
  readonly children: ReactNode;
}

/** A verb with its object. */
export function Button({ kind = "plain", children, ...rest }: Props): ReactNode {
  return (
    <Pressable {...rest} className={`${styles["button"]} ${styles[kind]}`}>
      {children}
    </Pressable>
  );
}
