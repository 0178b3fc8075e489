import { writeFileSync } from "node:fs";
import type { SerializedError } from "vitest";
import type { Reporter, TestCase, TestModule, TestRunEndReason, TestSuite, Vitest } from "vitest/node";
import { type Counts, formatCounts } from "./counts.ts";

/**
 * Closes a run with `N passed, N failed, N skipped` as its last line. A module that does not load and an
 * unhandled error are failures, and so is a test skipped without a reason.
 */
export class PlainReporter implements Reporter {
  #vitest: Vitest | undefined;
  #closing: ((code: number) => void) | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[], reason: TestRunEndReason): void {
    // A name filter skips everything else on purpose, and vitest gives those tests no reason.
    const filtered = this.#vitest?.config.testNamePattern !== undefined;
    const tally = new Tally(filtered);
    for (const module of modules) tally.addModule(module);
    tally.counts.failed += unhandled.length;
    if (reason === "interrupted") tally.fail("the run was interrupted");
    if (tally.counts.failed > 0) process.exitCode = 1;

    // Coverage prints after this hook, so the count waits for the end of the process.
    if (this.#closing) process.off("exit", this.#closing);
    this.#closing = (code) => close(tally, code);
    process.once("exit", this.#closing);
  }
}

class Tally {
  readonly counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  readonly notes: string[] = [];
  readonly #filtered: boolean;

  constructor(filtered: boolean) {
    this.#filtered = filtered;
  }

  fail(note: string): void {
    this.counts.failed += 1;
    this.notes.push(`failed: ${note}`);
  }

  addModule(module: TestModule): void {
    this.#addGroup(module, module.relativeModuleId, false);
  }

  #addGroup(group: TestModule | TestSuite, name: string, setupFailed: boolean): void {
    const broken = group.errors().length > 0;
    if (broken) this.fail(`${name} (it did not load, or its setup or cleanup threw)`);
    for (const child of group.children) {
      const childName = `${name} > ${child.name}`;
      if (child.type === "suite") this.#addGroup(child, childName, setupFailed || broken);
      else this.#addTest(child, childName, setupFailed || broken);
    }
  }

  #addTest(test: TestCase, name: string, setupFailed: boolean): void {
    const result = test.result();
    switch (result.state) {
      case "passed":
        this.counts.passed += 1;
        return;
      case "failed":
        this.counts.failed += 1;
        return;
      case "pending":
        this.fail(`${name} (it never ran)`);
        return;
      case "skipped":
        this.#addSkipped(name, result.note ?? (setupFailed ? "its setup failed" : undefined));
    }
  }

  #addSkipped(name: string, reason: string | undefined): void {
    if (reason === undefined && !this.#filtered) {
      this.fail(`${name} (skipped without a reason: say it with context.skip("why"))`);
      return;
    }
    this.counts.skipped += 1;
    if (reason !== undefined) this.notes.push(`skipped: ${name} (${reason})`);
  }
}

function close(tally: Tally, code: number): void {
  // Some failures belong to no test: a global setup that threw, a filter that matched nothing.
  if (code !== 0 && tally.counts.failed === 0) tally.fail("the run itself (see above)");
  const file = process.env["VERBATIM_COUNTS_FILE"];
  const lines = [...tally.notes];
  if (file === undefined) lines.push(formatCounts(tally.counts));
  else writeFileSync(file, JSON.stringify(tally.counts));
  if (lines.length > 0) process.stdout.write(`${lines.join("\n")}\n`);
}
