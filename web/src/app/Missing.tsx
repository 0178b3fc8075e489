import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { words } from "../words/words.ts";
import { Page } from "./Page.tsx";

export function Missing(): ReactNode {
  return (
    <Page title={words.missing.title}>
      <p>
        <Link to="/">{words.missing.back}</Link>
      </p>
    </Page>
  );
}
