import {
  Ban,
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CircleDot,
  CircleSlash,
  CircleX,
  type LucideIcon,
  Undo2,
} from "lucide-react";
import type { ReactNode } from "react";
import type { Outcome as Name } from "../words/en.ts";
import { words } from "../words/words.ts";
import styles from "./Outcome.module.css";

type Tone = "ok" | "bad" | "warn" | "plain" | "work";

const LOOKS: Record<Name, readonly [LucideIcon, Tone]> = {
  preparing: [CircleDot, "work"],
  working: [CircleDot, "work"],
  capturing: [CircleDot, "work"],
  judging: [CircleDot, "work"],
  verifying: [CircleDot, "work"],
  landing: [CircleDot, "work"],
  verified: [CircleCheck, "ok"],
  applied: [CircleCheck, "ok"],
  unverified: [CircleAlert, "warn"],
  unchanged: [CircleSlash, "plain"],
  undone: [Undo2, "plain"],
  discarded: [Ban, "plain"],
  rejected: [CircleX, "bad"],
  verify_failed: [CircleX, "bad"],
  agent_failed: [CircleX, "bad"],
  timed_out: [CircleX, "bad"],
  over_limit: [CircleX, "bad"],
  interrupted: [CircleAlert, "warn"],
  not_started: [CircleDashed, "bad"],
};

export function toneOf(outcome: Name): Tone {
  return LOOKS[outcome][1];
}

export function OutcomeIcon({ outcome, size = 20 }: { readonly outcome: Name; readonly size?: number }): ReactNode {
  const [Icon, tone] = LOOKS[outcome];
  return <Icon className={styles[tone]} size={size} strokeWidth={1.75} aria-hidden />;
}

/** Where a run stands: an icon and a word, never a colour alone. */
export function Outcome({ outcome }: { readonly outcome: Name }): ReactNode {
  return (
    <span className={`${styles["outcome"]} ${styles[toneOf(outcome)]}`}>
      <OutcomeIcon outcome={outcome} />
      <span>{words.outcomes[outcome]}</span>
    </span>
  );
}
