import { words } from "../../words/words.ts";
import type { Summary } from "./use-run.ts";

type Finding = NonNullable<Summary["gate"]>["findings"][number];

/** What a gate found, for somebody who sees a page and not a command line. */
export function sayFinding({ rule, path, says }: Finding): string {
  if (path !== null && rule in words.rules) return words.rules[rule as keyof typeof words.rules](path);
  return says === "" ? rule : says;
}
