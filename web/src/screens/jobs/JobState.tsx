import { CircleCheck, CircleDashed, CircleDot, CircleX } from "lucide-react";
import type { ReactNode } from "react";
import type { Output } from "../../api/client.ts";
import { words } from "../../words/words.ts";
import styles from "./Jobs.module.css";

type State = Output<"jobs.list">["jobs"][number]["state"];
type StepStatus = Output<"jobs.status">["steps"][number]["status"];

const LOOKS = {
  PENDING: [CircleDashed, "plain"],
  RUNNING: [CircleDot, "work"],
  LEASED: [CircleDot, "work"],
  SUCCEEDED: [CircleCheck, "ok"],
  COMMITTED: [CircleCheck, "ok"],
  FAILED: [CircleX, "bad"],
} as const satisfies Record<State | StepStatus, readonly [typeof CircleX, string]>;

/** Where a job stands: an icon and a word, never a colour alone. */
export function JobState({ state }: { readonly state: State }): ReactNode {
  return <Look name={state} word={words.jobs.states[state]} />;
}

export function StepState({ status }: { readonly status: StepStatus }): ReactNode {
  return <Look name={status} word={words.jobs.stepStates[status]} />;
}

function Look({ name, word }: { readonly name: keyof typeof LOOKS; readonly word: string }): ReactNode {
  const [Icon, tone] = LOOKS[name];
  return (
    <span className={`${styles["state"]} ${styles[tone]}`}>
      <Icon size={20} strokeWidth={1.75} aria-hidden />
      {word}
    </span>
  );
}
