import { describe, expect, it } from "vitest";
import { resolveWorkflow } from "../../../core/contracts/config/index.ts";
import { judgePatch, judgePatchPausing } from "./patch-gate.ts";
import { LINES_A_TURN } from "./turns.ts";

// Guards: a patch of any length leaves others their turns, and is judged as it is at once.

const policy = { ...resolveWorkflow().patch, max_files: 9, max_added_lines: Number.MAX_SAFE_INTEGER };
const encoder = new TextEncoder();

function makePatch(lines: number): Uint8Array {
  const header = "diff --git a/a.txt b/a.txt\nnew file mode 100644\n--- /dev/null\n+++ b/a.txt\n";
  return encoder.encode(`${header}@@ -0,0 +1,${lines} @@\n${"+x\n".repeat(lines)}`);
}

describe("a patch that is judged in turns", () => {
  const lines = 10 * LINES_A_TURN;
  const gate = (patch: Uint8Array) => ({ patch, policy, scope: null, planLimits: null });

  it("pauses again and again inside a single hunk, while lines are found and while they are read", async () => {
    let pauses = 0;
    const { result } = await judgePatchPausing(gate(makePatch(lines)), async () => {
      pauses++;
    });
    expect(result).toMatchObject({ verdict: "accept", added_lines: lines });
    expect(pauses).toBe(20);
    expect(judgePatch(gate(makePatch(lines))).result).toEqual(result);
  });

  it("is refused with the same line", async () => {
    const patch = makePatch(lines);
    patch[patch.length - 3] = "?".charCodeAt(0);
    const { result } = await judgePatchPausing(gate(patch), async () => undefined);
    expect(result).toMatchObject({ verdict: "reject", rule: "hunk_line", line: lines + 5 });
    expect(judgePatch(gate(patch)).result).toEqual(result);
  });

  it("asks for no pause when it is short", async () => {
    const never = async () => {
      throw new Error("paused");
    };
    expect((await judgePatchPausing(gate(makePatch(100)), never)).result.verdict).toBe("accept");
  });
});
