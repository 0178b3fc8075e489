import { LockOpen } from "lucide-react";
import type { ReactNode } from "react";
import { words } from "../words/words.ts";
import styles from "./PlainHttp.module.css";

/** Says what is missing where the page came in the clear from another machine; elsewhere nothing. */
export function PlainHttp(): ReactNode {
  if (globalThis.isSecureContext) return null;
  return (
    <p className={styles["plain"]}>
      <LockOpen size={20} strokeWidth={1.75} aria-hidden />
      <span>{words.plainHttp}</span>
    </p>
  );
}
