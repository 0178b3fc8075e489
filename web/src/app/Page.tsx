import { type ReactNode, useEffect, useRef } from "react";
import { plainText } from "../parts/Foreign.tsx";
import { words } from "../words/words.ts";
import styles from "./Page.module.css";

interface Props {
  /** The heading; it takes the focus when somebody comes here. */
  readonly title: string;
  readonly shown?: ReactNode;
  readonly aside?: ReactNode;
  readonly wide?: boolean;
  readonly children: ReactNode;
}

let isFirst = true;

/** One screen: its heading, and what is below it. */
export function Page({ title, shown, aside, wide = false, children }: Props): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${plainText(title, 60)} - ${words.product}`;
  }, [title]);
  useEffect(() => {
    // The browser itself puts the focus where it belongs when the page is loaded.
    if (!isFirst) heading.current?.focus({ preventScroll: true });
    isFirst = false;
  }, []);
  return (
    <div className={wide ? `${styles["page"]} ${styles["wide"]}` : styles["page"]}>
      <header className={styles["header"]}>
        <h1 ref={heading} tabIndex={-1} title={plainText(title, 1000)}>
          {shown ?? title}
        </h1>
        {aside}
      </header>
      {children}
    </div>
  );
}
