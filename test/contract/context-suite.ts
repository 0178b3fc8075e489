import { afterEach } from "vitest";
import { ContextWorkspace } from "../support/context-workspace.ts";
import { describeExpanding } from "./context-expand-suite.ts";
import { describeIndex } from "./context-index-suite.ts";
import { describeOutlines } from "./context-outline-suite.ts";
import { describeRefusals } from "./context-refusal-suite.ts";
import { describeSearching } from "./context-search-suite.ts";
import { describeSources } from "./context-sources-suite.ts";
import { describeSymbols } from "./context-symbols-suite.ts";

/** What the context room promises on every database, through its public operations. */
export function describeContext(databaseEnv: () => NodeJS.ProcessEnv): void {
  const opened: ContextWorkspace[] = [];
  const open = (config?: unknown): ContextWorkspace => {
    const workspace = new ContextWorkspace(databaseEnv(), config);
    opened.push(workspace);
    return workspace;
  };
  afterEach(async () => {
    for (const workspace of opened.splice(0)) await workspace.close();
  });
  for (const describePart of [
    describeIndex,
    describeSources,
    describeOutlines,
    describeSymbols,
    describeExpanding,
    describeRefusals,
    describeSearching,
  ]) {
    describePart(open);
  }
}
