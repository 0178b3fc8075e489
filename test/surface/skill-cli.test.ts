import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { runInProcess } from "../support/cli-in-process.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-skill-")));
const DOMAIN = ".verbatim/scratch/d";
const run = (...argv: string[]) => runInProcess(["catalytic", "run", ...argv], root);

function declare(mode: string): void {
  writeFileSync(join(root, "skill/SKILL.md"), `---\n${mode}: true\n---\n`);
}

function writeJobSpec(skill: object): string {
  const spec = {
    schema_version: "cmp01-jobspec-1",
    run_id: "skill-1",
    job_id: "skill",
    intent: "Speak for a skill",
    determinism: "deterministic",
    catalytic_domains: [DOMAIN],
    durable_output_roots: [],
    outputs: { durable_paths: [] },
    command: ["true"],
    skill,
  };
  writeFileSync(join(root, "job.json"), JSON.stringify(spec));
  return "job.json";
}

beforeEach(() => {
  mkdirSync(join(root, "skill"), { recursive: true });
  writeFileSync(join(root, "verbatim.config.json"), "{}");
  rmSync(join(root, "made"), { force: true });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("the command of a skill without a run of its own", () => {
  it.each(["writer", "read_only"])("of mode %s is only judged with --check", async (mode) => {
    declare(mode);
    const said = await run("--skill", "skill", "--check", "--", "touch", "made");
    expect([said.exit, said.stderr]).toEqual([0, expect.stringContaining("may run")]);
    expect(existsSync(join(root, "made"))).toBe(false);
  });

  it("of a writer ends well without anybody calling it proved or accepted", async () => {
    declare("writer");
    const said = await run("--skill", "skill", "--", "touch", "made");
    expect([said.exit, existsSync(join(root, "made"))]).toEqual([0, true]);
    expect(said.stderr).toContain("nothing is proved");
    expect(said.stderr).not.toMatch(/proved run|unchanged/);
    const { accepted, status, proof_hash } = JSON.parse(
      (await run("--skill", "skill", "--json", "--", "true")).stdout,
    ) as Record<string, unknown>;
    expect({ accepted, status, proof_hash }).toEqual({ accepted: false, status: "succeeded", proof_hash: null });
  });

  it("that declares nothing is refused", async () => {
    declare("nothing");
    const said = await run("--skill", "skill", "--", "touch", "made");
    expect([said.exit, said.stderr]).toEqual([2, expect.stringContaining("error[SKILL_REFUSED]")]);
    expect(existsSync(join(root, "made"))).toBe(false);
  });

  it("that calls itself read-only and writes all the same is told on", async () => {
    declare("read_only");
    const said = await run("--skill", "skill", "--guard", "audit", "--", "touch", "made");
    expect([said.exit, said.stderr]).toEqual([1, expect.stringContaining("error[SKILL_READ_ONLY_VIOLATED]")]);
    expect(said.stderr).toContain("made");
  });

  it("says how it failed", async () => {
    declare("writer");
    const said = await run("--skill", "skill", "--json", "--timeout", "1s", "--", "sleep", "9");
    expect([said.exit, JSON.parse(said.stdout)]).toMatchObject([1, { condition: "COMMAND_TIMED_OUT", exit_code: 124 }]);
  });

  it("is judged like the command of every run", async () => {
    declare("writer");
    const said = await run("--skill", "skill", "--input", "none", "--", "no-such-command");
    expect([said.exit, said.stderr]).toEqual([2, expect.stringMatching(/INPUT_MISSING[\s\S]*COMMAND_NOT_FOUND/)]);
    const cut = await run("--skill", "skill", "--network", "none", "--", "touch", "made");
    expect([cut.exit, cut.stderr]).toEqual([1, expect.stringContaining("error[NETWORK_NOT_ENFORCEABLE]")]);
    expect(existsSync(join(root, "made"))).toBe(false);
  });
});

describe("a JobSpec that speaks for a skill", () => {
  it.each([
    ["writer", { path: "skill", declaration: "catalytic" }, "SKILL_DECLARATION_CONFLICT"],
    ["read_only", { path: "skill", declaration: "read_only" }, "SKILL_READ_ONLY_HAS_DOMAINS"],
    ["catalytic", { declaration: "read_only" }, "SKILL_READ_ONLY_HAS_DOMAINS"],
  ])("of mode %s is refused when they do not fit: %j", async (mode, skill, code) => {
    declare(mode);
    const said = await run("--jobspec", writeJobSpec(skill), "--check");
    expect([said.exit, said.stderr]).toEqual([2, expect.stringContaining(code)]);
  });

  it("may run when they fit", async () => {
    declare("catalytic");
    const file = writeJobSpec({ path: "skill", declaration: "catalytic" });
    expect((await run("--jobspec", file, "--check")).exit).toBe(0);
  });
});
