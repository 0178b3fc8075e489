import { Link, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Missing } from "../../app/Missing.tsx";
import { Page } from "../../app/Page.tsx";
import { useMay } from "../../app/use-role.ts";
import { words } from "../../words/words.ts";
import { AboutPart } from "./AboutPart.tsx";
import { AccessPart } from "./AccessPart.tsx";
import { AgentsPart } from "./AgentsPart.tsx";
import { AppearancePart } from "./AppearancePart.tsx";
import { DoctorPart } from "./DoctorPart.tsx";
import { NoticesPart } from "./NoticesPart.tsx";
import styles from "./SettingsScreen.module.css";

const PARTS = {
  appearance: AppearancePart,
  notices: NoticesPart,
  access: AccessPart,
  agents: AgentsPart,
  doctor: DoctorPart,
  about: AboutPart,
} as const;
const NAMES = Object.keys(PARTS) as (keyof typeof PARTS)[];
const FOR_READERS: readonly (keyof typeof PARTS)[] = ["appearance", "doctor", "about"];

export function SettingsScreen(): ReactNode {
  const part = useParams({ strict: false, select: (params: { part?: string }) => params.part ?? "" });
  const isOwner = useMay("owner");
  const names = isOwner ? NAMES : FOR_READERS;
  const name = names.find((one) => one === part);
  if (name === undefined) return <Missing />;
  const Part = PARTS[name];
  return (
    <Page title={words.settings.title}>
      <nav className={styles["parts"]} aria-label={words.settings.title}>
        {names.map((one) => (
          <Link
            key={one}
            to="/settings/$part"
            params={{ part: one }}
            className={styles["part"]!}
            activeProps={{ className: `${styles["part"]} ${styles["here"]}`, "aria-current": "page" }}
          >
            {words.settings.tabs[one]}
          </Link>
        ))}
      </nav>
      <Part />
    </Page>
  );
}
