import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { words } from "../../words/words.ts";
import styles from "./ContextScreen.module.css";
import { toFragment, usePack } from "./pack.ts";

/** The parts of this room; the pack says how much is in it. */
export function ContextLinks(): ReactNode {
  const pack = usePack();
  return (
    <nav className={styles["links"]} aria-label={words.context.links}>
      <Link to="/context">{words.context.title}</Link>
      <Link to="/context/symbols">{words.context.symbols}</Link>
      <Link to="/context/pack" hash={toFragment(pack)}>
        {words.context.pack.title} ({words.context.pack.items(pack.length)})
      </Link>
    </nav>
  );
}
