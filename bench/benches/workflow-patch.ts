import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { requireGit, runGit } from "../../src/adapters/git/git-process.ts";
import { createPatchChecker } from "../../src/adapters/git/patch-check.ts";
import { judgePatchWithGit } from "../../src/rooms/workflow/patch/git-stage.ts";
import { judgePatch } from "../../src/rooms/workflow/patch/patch-gate.ts";
import { DEFAULT_POLICY } from "../../src/rooms/workflow/patch/patch-policy.ts";
import { GOOD_PATCH, SampleRepository } from "../../test/support/sample-repository.ts";
import type { Bench } from "../harness.ts";
import { seededIntegers, seededWords } from "../seed.ts";

const OPEN = { ...DEFAULT_POLICY, max_added_lines: Number.MAX_SAFE_INTEGER };

/** A patch that adds so many lines to a new file. */
function makePatch(lines: number): Buffer {
  const body = seededWords(seededIntegers(1), 40).slice(0, 40);
  const added = Array.from({ length: lines }, (_, i) => `+${i} ${body}\n`).join("");
  return Buffer.from(
    `diff --git a/src/n.txt b/src/n.txt\nnew file mode 100644\n--- /dev/null\n+++ b/src/n.txt\n@@ -0,0 +1,${lines} @@\n${added}`,
  );
}

export const workflowGate: Bench = {
  name: "workflow-gate",
  what: "the patch gate without git over N added lines (1 MB at 22,000)",
  baseline: "30 ms",
  corpus: "one new file of seeded words",
  sizes: [5_500, 22_000],
  goal: { kind: "time", atMost: 1 },
  async prepare(size) {
    const gate = { patch: makePatch(size), policy: OPEN, scope: null, planLimits: null };
    return { ours: () => judgePatch(gate).result.verdict, baseline: 30 };
  },
};

export const workflowGateGit: Bench = {
  name: "workflow-gate-git",
  onAsking: true,
  what: "the whole patch gate, N added lines",
  baseline: "one git apply --check child of the same process",
  corpus: "one new file of seeded words in a small repository",
  sizes: [100, 400],
  goal: { kind: "time", atMost: 2 },
  async prepare(size) {
    const root = mkdtempSync(join(tmpdir(), "verbatim-bench-"));
    await requireGit({ cwd: root, args: ["init", "-q"] });
    writeFileSync(join(root, "a.txt"), "a\n");
    await requireGit({ cwd: root, args: ["add", "-A"] });
    await requireGit({
      cwd: root,
      args: ["-c", "user.name=b", "-c", "user.email=b@example.invalid", "commit", "-q", "-m", "b"],
    });
    const patch = makePatch(size);
    const checker = createPatchChecker(root);
    return {
      ours: () => judgePatchWithGit({ patch, policy: OPEN, scope: null, planLimits: null }, checker, null),
      baseline: () => runGit({ cwd: root, args: ["apply", "--check", "-"], stdin: patch }),
      close: () => rmSync(root, { recursive: true }),
    };
  },
};

export const workflowStatus: Bench = {
  name: "workflow-status",
  onAsking: true,
  what: "the status of a complete run, after start-up",
  baseline: "50 ms",
  corpus: "a run that passed",
  sizes: [1],
  goal: { kind: "time", atMost: 1 },
  async prepare() {
    const repository = new SampleRepository();
    await repository.plan("bench");
    await repository.submit("diff.patch", GOOD_PATCH, "bench");
    await repository.call("advance", { run: "bench" });
    return {
      ours: () => repository.call("status", { run: "bench" }),
      baseline: 50,
      close: () => repository.remove(),
    };
  },
};
