import { describe, expect, it } from "vitest";
import { planRecovery, type RecoveryFacts } from "./recovery.ts";

const facts: RecoveryFacts = {
  owner: "dead",
  force: false,
  method: "swap-back",
  journal: [{ op: "BEGIN" }],
  domains: [{ path: "d", original: "home" }],
  proof: "absent",
  staged: false,
  identical: true,
};
const plan = (more: Partial<RecoveryFacts>) => planRecovery({ ...facts, ...more });
const ops = (...names: string[]) => names.map((op) => ({ op }));

describe("a run that did not end", () => {
  it("is left alone while its owner lives, or may live", () => {
    const nothing = { steps: [], final_status: null, condition: null };
    expect(plan({ owner: "alive" })).toEqual({ action: "skip", code: "RUN_IN_PROGRESS", ...nothing });
    expect(plan({ owner: "alive", force: true })).toMatchObject({ action: "skip" });
    expect(plan({ owner: "unknown" })).toEqual({ action: "refuse", code: "OWNER_UNKNOWN", ...nothing });
    expect(plan({ owner: "unknown", force: true })).toMatchObject({ action: "recover" });
  });

  it("is finished when it was proved and its domains are home, and only then", () => {
    const finish = { action: "finish", code: null, final_status: "unchanged", condition: null };
    expect(plan({ proof: "genuine" })).toEqual({ ...finish, steps: ["DISCARD_WORK", "RELEASE_LOCKS"] });
    expect(plan({ proof: "genuine", journal: ops("PUBLISH_INTENT") })).toEqual({
      ...finish,
      steps: ["DELETE_BACKUPS", "DISCARD_WORK", "RELEASE_LOCKS"],
    });
    expect(plan({ proof: "forged" })).toMatchObject({ action: "recover" });
    const domains = [
      { path: "a", original: "home" },
      { path: "b", original: "aside" },
    ] as const;
    expect(plan({ proof: "genuine", domains })).toMatchObject({
      action: "recover",
      steps: expect.arrayContaining(["SWAP_BACK b"]),
    });
  });

  it("is halted when an original is nowhere, whatever else is there", () => {
    const domains = [
      { path: "a", original: "nowhere" },
      { path: "b", original: "home" },
    ] as const;
    const halt = {
      action: "halt",
      code: "DOMAIN_ORIGINAL_LOST",
      final_status: "halted",
      condition: "RESTORATION_FAILED_DOMAIN_UNREACHABLE",
    };
    expect(plan({ domains })).toEqual({ ...halt, steps: [] });
    expect(plan({ domains, proof: "genuine", journal: ops("EXEC_STARTED") })).toEqual({
      ...halt,
      steps: ["KILL_LEFTOVERS"],
    });
  });

  it("that had read nothing yet has a status and no proof", () => {
    expect(plan({})).toEqual({
      action: "recover",
      code: null,
      final_status: "failed",
      condition: "RECOVERED_AFTER_CRASH",
      steps: ["WRITE_STATUS", "DISCARD_WORK", "RELEASE_LOCKS"],
    });
  });

  it("is put back step by step, the newest first", () => {
    const journal = [
      ...ops("BEGIN", "SNAPSHOT_DONE", "EXEC_STARTED"),
      { op: "MKDIR", path: "m1" },
      { op: "MKDIR", path: "m1/m2" },
      ...ops("PUBLISH_INTENT"),
      { op: "PUBLISH_ITEM", path: "o1" },
      { op: "PUBLISH_ITEM", path: "o2" },
    ];
    const domains = [
      { path: "z", original: "aside" },
      { path: "a", original: "aside" },
      { path: "h", original: "home" },
    ] as const;
    expect(plan({ journal, domains, staged: true }).steps).toEqual([
      "KILL_LEFTOVERS",
      "SWAP_BACK a",
      "SWAP_BACK z",
      "ROLL_BACK_OUTPUT o2",
      "ROLL_BACK_OUTPUT o1",
      "QUARANTINE_STAGED",
      "REMOVE_DIR m1/m2",
      "REMOVE_DIR m1",
      "COMPARE",
      "WRITE_PROOF",
      "DISCARD_WORK",
      "RELEASE_LOCKS",
    ]);
    const items = journal.filter(({ op }) => op !== "PUBLISH_INTENT");
    expect(plan({ journal: items, domains }).steps.join()).not.toContain("ROLL_BACK_OUTPUT");
  });

  it("that is not as it was waits for a person", () => {
    expect(plan({ journal: ops("SNAPSHOT_DONE"), identical: false })).toEqual({
      action: "halt",
      code: "RESTORE_FAILED",
      final_status: "halted",
      condition: "RESTORATION_FAILED",
      steps: ["COMPARE", "WRITE_PROOF"],
    });
  });
});
