import type { Events } from "verbatim-agent/api";
import { queries, reading } from "../api/queries.ts";
import { plainText } from "../parts/Foreign.tsx";
import { words } from "../words/words.ts";
import { readAppearance } from "./appearance.ts";

/** Where a run stands when somebody has to decide. */
const NEEDS: readonly Events["run"]["state"][] = [
  "verified",
  "unverified",
  "rejected",
  "verify_failed",
  "agent_failed",
  "timed_out",
  "over_limit",
  "interrupted",
];
const LONGEST = 60;

/** What this browser says about notices; null where it has none for such a page. */
export function readPermission(): NotificationPermission | null {
  return "Notification" in globalThis && isSecureContext ? Notification.permission : null;
}

/** Asks the browser, which asks the person. */
export async function askPermission(): Promise<NotificationPermission | null> {
  return readPermission() === null ? null : await Notification.requestPermission();
}

/** A notice of the browser's own when a run needs somebody who looks elsewhere. Tabs give it the same name, so it comes once. */
export async function giveNotice(event: Events["run"], go: (run: string) => void): Promise<void> {
  if (readAppearance().notices !== "on" || !document.hidden || readPermission() !== "granted") return;
  if (!NEEDS.includes(event.state)) return;
  const { summary } = await queries.fetchQuery(reading("agent.show", { run: event.run_id }));
  const notice = new Notification(plainText(summary.goal, LONGEST), {
    body: words.outcomes[summary.outcome],
    tag: summary.run_id,
  });
  notice.onclick = () => {
    window.focus();
    go(summary.run_id);
  };
}
