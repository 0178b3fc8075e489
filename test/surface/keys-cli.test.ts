import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runInProcess } from "../support/cli-in-process.ts";

const folder = mkdtempSync(join(tmpdir(), "verbatim-keys-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("checking a trust policy", () => {
  it("says for what nothing can pass", async () => {
    await runInProcess(["keys", "new", "mira"], folder);
    await runInProcess(["keys", "policy", "init", "all.json", "--key", "mira"], folder);
    await runInProcess(["keys", "policy", "init", "some.json", "--key", "mira", "--scope", "BUNDLE"], folder);
    writeFileSync(join(folder, "none.json"), '{"policy_version":"1.0.0","threshold":1,"keys":[]}');
    const check = async (file: string) => (await runInProcess(["keys", "policy", "check", file], folder)).stdout;
    expect(await check("all.json")).not.toContain("nothing can pass");
    expect(await check("some.json")).toContain("nothing can pass for CHECKPOINT, PROOF: ");
    expect(await check("none.json")).toContain("nothing can pass for BUNDLE, CHECKPOINT, PROOF: ");
  });
});

describe("a checkpoint without a file to write to", () => {
  it("is alone on standard output, ready to be verified", async () => {
    writeFileSync(join(folder, "verbatim.config.json"), "{}");
    await runInProcess(["keys", "new", "tomas"], folder);
    const made = await runInProcess(["ledger", "checkpoint", "--key", "tomas"], folder);
    expect([made.exit, made.stderr]).toEqual([0, expect.stringMatching(/signed \d+ entries/)]);
    writeFileSync(join(folder, "c.json"), made.stdout);
    expect((await runInProcess(["ledger", "verify", "--checkpoint", "c.json"], folder)).exit).toBe(0);
  });
});

describe("a JobSpec file", () => {
  it("takes no command beside it, and says so in the user's words", async () => {
    const argv = ["catalytic", "run", "--jobspec", "job.json", "--", "true"];
    const said = await runInProcess(argv, folder);
    expect([said.exit, said.stderr]).toEqual([
      2,
      expect.stringContaining("a command cannot be combined with a JobSpec"),
    ]);
  });
});
