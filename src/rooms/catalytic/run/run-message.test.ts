// What a person is told about the end of a run.
import { expect, it } from "vitest";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { Entry, Trees } from "../tree/tree.ts";
import { explainEnding } from "./run-message.ts";

type Facts = Parameters<typeof explainEnding>[0];

type Verdict = Facts["verdict"];
const verified = { verified: true, domains_identical: true, condition: "RESTORED_IDENTICAL" } as Verdict;
const failed: Verdict = { ...verified, verified: false, condition: "COMMAND_FAILED" };
const halted: Verdict = { ...failed, domains_identical: false, condition: "RESTORATION_FAILED_HASH_MISMATCH" };

function explain(more: Partial<Facts>) {
  return explainEnding({
    run_id: "run-1",
    verdict: failed,
    command: { exit_code: 1 } as Facts["command"],
    violations: [],
    mismatches: [],
    pre: new Map(),
    post: new Map(),
    domains: 1,
    quarantined: [],
    record: "runs/run-1",
    failure: null,
    ...more,
  });
}

it("a run that succeeded has nothing to explain", () => {
  expect(explain({ verdict: verified })).toEqual({
    status: "succeeded",
    message: "",
    next_step: "verbatim catalytic verify run-1",
  });
});

it("a run that failed says how its command ended, what was put back, what was wrong and where the outputs are", () => {
  expect(explain({})).toEqual({
    status: "failed",
    message: "COMMAND_FAILED, exit 1. 1 domain restored and identical.",
    next_step: "verbatim catalytic show run-1",
  });
  const signal = { exit_code: null } as Facts["command"];
  expect(explain({ command: signal, domains: 0 }).message).toBe("COMMAND_FAILED. 0 domains restored and identical.");
  const failure = new VerbatimError("GUARD_UNAVAILABLE", { message: "the guard did not start" });
  expect(explain({ failure, domains: 2 }).message).toBe(
    "COMMAND_FAILED, exit 1. the guard did not start 2 domains restored and identical.",
  );
  const violations = [{ code: "OUTSIDE_ADDED", path: "a" }] as unknown as Facts["violations"];
  expect(explain({ violations, quarantined: ["out/x", "out/y"] }).message).toBe(
    "COMMAND_FAILED, exit 1. 1 domain restored and identical. 1 violation: OUTSIDE_ADDED a. " +
      "2 outputs in quarantine: runs/run-1/quarantine/out/x.",
  );
});

it("lists ten violations and says when there are more", () => {
  const some = (length: number) =>
    Array.from({ length }, (_, i) => ({ code: "OUTSIDE_ADDED", path: `p${i}` })) as unknown as Facts["violations"];
  const listed = (violations: Facts["violations"]) => explain({ violations }).message.split("violations: ")[1]!;
  expect(listed(some(10)).split(", ")).toHaveLength(10);
  expect(listed(some(10))).toMatch(/OUTSIDE_ADDED p9\.$/);
  expect(listed(some(11))).toMatch(/OUTSIDE_ADDED p9, and more\.$/);
});

it("a run whose domains are not as they were says what differs, in terms that can be checked", () => {
  const file = (sha256: string, mode = "0644"): Entry => ({ type: "file", mode, size: 1, sha256 });
  const tree = (entries: Record<string, Entry>): Trees => new Map([["d", new Map(Object.entries(entries))]]);
  const pre = tree({
    ".": { type: "dir", mode: "0755" },
    a: file("aa"),
    b: file("bb"),
    l: { type: "symlink", target: "x" },
  });
  const post = tree({ ".": { type: "dir", mode: "0700" }, a: file("cc", "0600"), l: { type: "symlink", target: "y" } });
  const one = (mismatch: object) => explain({ verdict: halted, mismatches: [mismatch as never], pre, post });
  expect(one({ domain: "d", path: "a", fields: ["mode", "sha256", "size", "type"] })).toEqual({
    status: "halted",
    message:
      "RESTORATION_FAILED_HASH_MISMATCH: 1 path differs. d/a: expected a file mode 0644 sha256 aa, actual a file mode 0600 sha256 cc",
    next_step: "verbatim catalytic recover run-1 --retry | --accept-current --by NAME --reason TEXT",
  });
  expect(one({ domain: "d", path: ".", fields: ["mode"] }).message).toContain(
    "d: expected a folder mode 0755, actual a folder mode 0700",
  );
  expect(one({ domain: "d", path: "b" }).message).toContain("d/b: expected a file sha256 bb, actual nothing");
  expect(one({ domain: "d", path: "l" }).message).toContain("expected a link target x, actual a link target y");
  const many = Array.from({ length: 11 }, () => ({ domain: "d", path: "b" }) as never);
  const { message } = explain({ verdict: halted, mismatches: many, pre, post });
  expect(message).toMatch(/^RESTORATION_FAILED_HASH_MISMATCH: 11 paths differ\. /);
  expect(message.split("; ")).toHaveLength(10);
});
