import { Check, CircleMinus, Dot, TriangleAlert, X } from "lucide-react";
import type { ReactNode } from "react";
import styles from "./Outcome.module.css";

const LOOKS = {
  good: [Check, "ok"],
  bad: [X, "bad"],
  notice: [TriangleAlert, "warn"],
  none: [CircleMinus, "plain"],
} as const;

/** How a sentence of the report is meant. */
export function Mark({ mark }: { readonly mark: keyof typeof LOOKS | null }): ReactNode {
  const [Icon, tone] = mark === null ? ([Dot, "plain"] as const) : LOOKS[mark];
  return <Icon className={styles[tone]} size={18} strokeWidth={2} aria-hidden />;
}
