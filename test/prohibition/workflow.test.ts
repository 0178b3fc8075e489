// What the workflow room must never do, whatever a goal, a path, a branch or a file name says.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createRepoReader } from "../../src/adapters/disk/source/repo-reader.ts";
import { openApp } from "../../src/app/call.ts";
import { buildPack } from "../../src/rooms/workflow/librarian/librarian.ts";
import { judgePatch } from "../../src/rooms/workflow/patch/patch-gate.ts";
import { DEFAULT_POLICY } from "../../src/rooms/workflow/patch/patch-policy.ts";
import { PATH_ATTACKS } from "../support/path-attacks.ts";
import { SampleRepository } from "../support/sample-repository.ts";

const base = mkdtempSync(join(tmpdir(), "verbatim-never-"));
const root = join(base, "repo");
mkdirSync(root);
writeFileSync(join(base, "outside.txt"), "outside\n");
writeFileSync(join(root, "inside.txt"), "inside\n");
const repositories: SampleRepository[] = [];
afterAll(async () => {
  rmSync(base, { recursive: true });
  for (const repository of repositories) await repository.remove();
});

const RULES = {
  mandatory_docs: [],
  deny_prefixes: [],
  secrets: { allow: [], deny_extra: [] },
  max_snippet_file_bytes: 1000,
};

describe("a hostile path", () => {
  it.each(PATH_ATTACKS.map((attack) => [JSON.stringify(attack.path).slice(0, 60), attack.path] as const))(
    "%s reads nothing and changes nothing",
    (_, path) => {
      const request = {
        goal: "g",
        reason: "r",
        needs: [{ path, mode: "full" }],
        budget: { max_files: 9, max_total_bytes: 999 },
      };
      const pack = buildPack(request, "repo", RULES, createRepoReader(root));
      expect(pack.files.map(({ content }) => content)).not.toContain("outside\n");
      expect(pack.files.length + pack.omitted.length).toBe(1);
      const patch = Buffer.from(
        `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-outside\n+pwned\n`,
      );
      const { result } = judgePatch({
        patch,
        policy: DEFAULT_POLICY,
        scope: { allow: ["src"], deny: [] },
        planLimits: null,
      });
      expect(result.verdict).toBe("reject");
    },
  );
});

describe("a secret that the configuration allows", () => {
  it("is read at that very path and nowhere else", () => {
    mkdirSync(join(root, "sub"));
    for (const path of [".env", "sub/.env", "x.env", "sub/id_rsa"]) writeFileSync(join(root, path), `${path}\n`);
    const asked = [".env", "sub/.env", "SUB/.env", "sub/id_rsa", "x.env/../.env"];
    const request = {
      goal: "g",
      reason: "r",
      needs: asked.map((path) => ({ path, mode: "full" })),
      budget: { max_files: 9, max_total_bytes: 999 },
    };
    const rules = { ...RULES, secrets: { allow: [".env"], deny_extra: [] } };
    const pack = buildPack(request, "repo", rules, createRepoReader(root));
    expect(pack.files.map(({ path }) => path)).toEqual([".env"]);
    expect(pack.omitted.find(({ path }) => path === "sub/.env")).toMatchObject({ detail: "secret_pattern" });
  });
});

describe("a command in a name", () => {
  it("is never executed: goals, branches, file names and run ids are plain text", async () => {
    const name = "src/$(touch pwned);`touch pwned`&touch pwned.js";
    const repository = new SampleRepository({ verify: { gates: { lite: [{ argv: ["true"] }] } } }, { [name]: "a\n" });
    repositories.push(repository);
    repository.git("checkout", "-q", "-b", "b$(touch-pwned)");
    await repository.call("new", {
      goal: "$(touch pwned)\n; touch pwned",
      direct: true,
      run_id: "n",
      allow: ["src"],
      files: [name],
    });
    const patch = `diff --git a/${name} b/${name}\n--- a/${name}\t\n+++ b/${name}\t\n@@ -1 +1 @@\n-a\n+b\n`;
    await repository.submit("diff.patch", patch, "n");
    expect(await repository.call("advance", { run: "n" })).toMatchObject({ status: "pass" });
    expect(repository.read(name)).toBe("b\n");
    const everywhere = [repository.root, repository.folder, process.cwd()].flatMap((folder) => readdirSync(folder));
    expect(everywhere.filter((entry) => entry.startsWith("pwned") || entry.startsWith("touch-pwned"))).toEqual([]);
  });
});

describe("looking", () => {
  it("writes nothing: status, next, list, show and validate leave every byte as it was", async () => {
    const repository = new SampleRepository();
    repositories.push(repository);
    await repository.call("new", { goal: "g", run_id: "look" });
    const before = readdirSync(repository.runs, { recursive: true, encoding: "utf8" }).sort();
    const tree = repository.manifest();
    for (const [verb, input] of [
      ["status", {}],
      ["next", {}],
      ["list", {}],
      ["show", { run: "look" }],
      ["validate", { target: "look" }],
    ] as const) {
      await repository.call(verb, input);
    }
    expect(readdirSync(repository.runs, { recursive: true, encoding: "utf8" }).sort()).toEqual(before);
    expect(repository.manifest()).toEqual(tree);
  });
});

describe("init", () => {
  it("writes the mandatory documents that are missing and never touches one that is there", async () => {
    const folder = join(base, "fresh");
    mkdirSync(folder);
    writeFileSync(join(folder, "AGENTS.md"), "mine\n");
    await using app = openApp({ surface: "library", start: folder, env: { HOME: base }, platform: process.platform });
    const outcome = await app.call("hall.init", { write: true, docs: true });
    expect(outcome).toMatchObject({
      written: true,
      docs: ["ai_context/00_AI_CONTRACT.md", "ai_context/CTCP_FAST_RULES.md"],
    });
    expect(existsSync(join(folder, "ai_context/CTCP_FAST_RULES.md"))).toBe(true);
  });
});
