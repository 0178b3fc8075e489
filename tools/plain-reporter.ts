import { writeFileSync } from "node:fs";
import type { SerializedError } from "vitest";
import type { Reporter, TestCase, TestModule, TestRunEndReason, TestSuite, Vitest } from "vitest/node";
import type {} from "../test/support/needs.ts";
import { type Counts, formatCounts } from "./counts.ts";

/**
 * Closes a run with `N passed, N failed, N skipped` as its last line, after the names and reasons of what was skipped.
 * A module that does not load and an unhandled error are failures.
 */
export class PlainReporter implements Reporter {
  #vitest: Vitest | undefined;
  #closing: ((code: number) => void) | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[], reason: TestRunEndReason): void {
    // A name filter skips everything else on purpose; listing that would say nothing.
    const tally = new Tally({ listsSkipped: this.#vitest?.config.testNamePattern === undefined });
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
  readonly #listsSkipped: boolean;

  constructor(options: { readonly listsSkipped: boolean }) {
    this.#listsSkipped = options.listsSkipped;
  }

  fail(note: string): void {
    this.counts.failed += 1;
    this.notes.push(`failed: ${note}`);
  }

  addModule(module: TestModule): void {
    this.#addGroup(module, module.relativeModuleId, undefined);
  }

  #addGroup(group: TestModule | TestSuite, name: string, outer: string | undefined): void {
    const broken = group.errors().length > 0;
    if (broken) this.fail(`${name} (it did not load, or its setup or cleanup threw)`);
    const reason = broken ? "its setup failed" : outer;
    if (group.type === "suite" && group.options.mode === "skip") {
      // A group is skipped as a whole also when each of its tests is.
      const tests = [...group.children.allTests()];
      const own = new Set(tests.map((test) => test.meta().skipReason));
      this.#addSkipped(`${name} > all ${tests.length}`, tests.length, [...own].join("; ") || reason);
      return;
    }
    for (const child of group.children) {
      const childName = `${name} > ${child.name}`;
      if (child.type === "suite") this.#addGroup(child, childName, reason);
      else this.#addTest(child, childName, reason);
    }
  }

  #addTest(test: TestCase, name: string, outer: string | undefined): void {
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
        this.#addSkipped(name, 1, result.note ?? test.meta().skipReason ?? outer);
    }
  }

  #addSkipped(name: string, count: number, reason: string | undefined): void {
    this.counts.skipped += count;
    if (this.#listsSkipped) this.notes.push(`skipped: ${name} (${reason ?? "no reason given"})`);
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
