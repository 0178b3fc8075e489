import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Reporter, TestModule, TestRunEndReason, Vitest } from "vitest/node";
import { compareRaised, type Exceptions } from "./raised-table.ts";
import { ROOT } from "./stages.ts";

// Which codes of the table the tests really raised, by what tools/code-recorder.ts put around them.

/** Names the folder where each worker writes down what it raised (test/support/record-raised.ts). */
const RAISED_FOLDER = "VERBATIM_RAISED_FOLDER";
const EXCEPTIONS = join(ROOT, "test/pins/codes-not-raised.json");
/** After a run of the whole suite: names each code of the table that no test raised, and fails the run. */
export class RaisedCodesReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunEnd(modules: readonly TestModule[], _: unknown, reason: TestRunEndReason): Promise<void> {
    const vitest = this.#vitest;
    const folder = process.env[RAISED_FOLDER];
    if (vitest === undefined || folder === undefined || reason !== "passed") return;
    const all = await vitest.globTestSpecifications();
    const isWhole = vitest.config.testNamePattern === undefined && vitest.config.shard === undefined;
    if (!isWhole || modules.length < all.length) return;
    const problems = compareRaised(readRaised(folder), readExceptions());
    for (const problem of problems) console.log(`codes: ${problem}`);
    if (problems.length > 0) process.exitCode = 1;
  }
}

/** Everything that was raised so far. */
export function readRaised(folder: string): Set<string> {
  if (!existsSync(folder)) return new Set();
  return new Set(readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").trim().split("\n")));
}

/** The list of codes that a run need not raise. */
export function readExceptions(): Exceptions {
  return JSON.parse(readFileSync(EXCEPTIONS, "utf8")) as Exceptions;
}
