import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { words } from "../../../words/words.ts";
import { Checks, Failures, Findings, Printed } from "../Checked.tsx";
import { KnownSentences } from "../KnownSentences.tsx";
import type { Report } from "../use-run.ts";
import styles from "./ChecksPanel.module.css";
import { HooksTab, NetworkTab, ShownTab } from "./facts.tsx";

const said = words.panel;

export const PANELS = ["proof", "gates", "verify", "network", "shown", "hooks"] as const;
export type PanelName = (typeof PANELS)[number];

/** What a reader wants beside the change: why it cannot land where it cannot, and otherwise why it may be believed. */
function usualPanel({ summary: { outcome } }: Report): PanelName {
  return outcome === "rejected" ? "gates" : outcome === "verify_failed" ? "verify" : "proof";
}

/** What is known about the change, a kind at a time, beside it; which one is in the address. */
export function ChecksPanel({
  report,
  asked,
}: {
  readonly report: Report;
  readonly asked: PanelName | undefined;
}): ReactNode {
  const shown = asked ?? usualPanel(report);
  return (
    <div className={styles["panel"]}>
      <nav className={styles["tabs"]} aria-label={said.tabsLabel}>
        {PANELS.map((name) => (
          <Link
            key={name}
            to="/runs/$run/review"
            params={(old) => ({ ...old, run: old.run! })}
            search={(old) => ({ ...old, panel: name })}
            replace
            resetScroll={false}
            className={styles["tab"]!}
            activeProps={{}}
            data-chosen={name === shown}
            aria-current={name === shown ? "true" : undefined}
          >
            {said.tabs[name]}
          </Link>
        ))}
      </nav>
      <Shown report={report} name={shown} />
    </div>
  );
}

function Shown({ report, name }: { readonly report: Report; readonly name: PanelName }): ReactNode {
  const run = report.summary;
  switch (name) {
    case "proof":
      return <KnownSentences report={report} brief />;
    case "gates":
      return run.gate === null ? <p className={styles["plain"]}>{said.noGate}</p> : <Findings run={run} />;
    case "verify":
      return (
        <>
          <Failures run={run} />
          <Checks run={run} />
          <Printed run={run} />
        </>
      );
    case "network":
      return <NetworkTab run={run} />;
    case "shown":
      return <ShownTab run={run} />;
    case "hooks":
      return <HooksTab run={run} />;
  }
}
