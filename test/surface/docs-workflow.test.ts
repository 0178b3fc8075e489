// The guide of the workflow room, typed as it stands: every command, and every line it is said to print.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runGuide } from "../support/guide.ts";

const page = readFileSync(new URL("../../docs/rooms/workflow.md", import.meta.url), "utf8");
const folder = mkdtempSync(join(tmpdir(), "verbatim-guide-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("docs/rooms/workflow.md", () => {
  it("is a session that works as it is printed", () => {
    const env = { VERBATIM_RUNS_ROOT: join(folder, "runs") };
    expect(runGuide(page, folder, "greet", { env, notes: /^created .*\n/ })).toBeGreaterThan(15);
  });
});
