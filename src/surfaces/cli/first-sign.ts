import type { ProgressStep } from "../../core/ports.ts";
import type { Streams } from "./io.ts";

/** What a run of an agent does first, and so do the verbs that work on the tree again. */
export const FIRST_STEP: ProgressStep = { label: "looking at the tree", done: 0 };
/** The same as the progress line draws it. */
const FIRST_LINE = `\r\u001b[K${FIRST_STEP.label} ...`;

const SILENT = ["--quiet", "--no-progress", "--help", "-h"];
const SLOW_VERBS: readonly (string | undefined)[] = ["verify", "apply"];

/**
 * Says on a terminal that something is going on, before the program that does it is loaded: loading takes longer than somebody
 * waits without a sign. Says whether it did; the progress line then stands there and is to be taken over.
 */
export function showFirstSign(argv: readonly string[], stderr: () => Streams["stderr"]): boolean {
  const end = argv.indexOf("--");
  const own = end === -1 ? argv : argv.slice(0, end);
  const words = own.filter((word, i) => !word.startsWith("-") && own[i - 1] !== "-C");
  const isSlow = words[0] === "agent" && (end !== -1 || SLOW_VERBS.includes(words[1]));
  if (!isSlow || SILENT.some((flag) => own.includes(flag)) || stderr().isTTY !== true) return false;
  stderr().write(FIRST_LINE);
  return true;
}
