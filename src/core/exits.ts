/** The exit of a catalytic run by its condition: 0 for an accepted run, 130 or 143 after an interruption, else 1. */
export function exitOfCondition(condition: string, signal: string | null = null): number {
  if (condition === "RESTORED_IDENTICAL") return 0;
  return condition === "INTERRUPTED" ? (signal === "SIGTERM" ? 143 : 130) : 1;
}
