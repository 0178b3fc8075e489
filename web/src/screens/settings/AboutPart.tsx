import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ask } from "../../api/client.ts";
import { Shown } from "../../parts/Shown.tsx";
import { words } from "../../words/words.ts";
import styles from "./SettingsScreen.module.css";

interface Document {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, unknown>>;
}

export function AboutPart(): ReactNode {
  const query = useQuery({
    queryKey: ["openapi"],
    queryFn: ({ signal }) => ask<Document>("GET", "/openapi.json", undefined, signal),
  });
  return (
    <Shown query={query}>
      {({ info, paths }) => (
        <dl className={styles["about"]}>
          <dt>{words.settings.version}</dt>
          <dd>{info.version}</dd>
          <dt>{words.settings.api}</dt>
          <dd>
            <code>/api/openapi.json</code> ({words.number(Object.keys(paths).length)})
          </dd>
        </dl>
      )}
    </Shown>
  );
}
