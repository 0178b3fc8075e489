// What apply refuses at the last moment: the tree, the record of the gate or the isolation is not what it was.
import { readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { GOOD_PATCH, SampleRepository } from "../support/sample-repository.ts";

const repositories: SampleRepository[] = [];
afterEach(() => void vi.unstubAllEnvs());
afterAll(async () => {
  for (const repository of repositories) await repository.remove();
});

/** A run whose patch is verified and waits to be applied. */
async function verified(): Promise<{ repository: SampleRepository; dir: string }> {
  const repository = new SampleRepository();
  repositories.push(repository);
  const dir = await repository.plan("run");
  await repository.submit("diff.patch", GOOD_PATCH, "run");
  expect(await repository.call("advance", { run: "run", no_apply: true })).toMatchObject({ state: "ready" });
  return { repository, dir };
}

/** A git in front of the real one: when it is asked for `call` in the real tree, somebody else is at work there. */
function meddle(repository: SampleRepository, call: string, script: string): void {
  const real = join(repository.git("--exec-path").trim(), "git");
  repository.executable(
    "bin/git",
    [
      "#!/bin/sh",
      `real="${real}"`,
      `case "$PWD $*" in "${repository.root} "*" ${call}") { ${script}; } ;; esac`,
      'exec "$real" "$@"',
      "",
    ].join("\n"),
  );
  vi.stubEnv("PATH", [join(repository.folder, "bin"), process.env["PATH"]].join(delimiter));
}

const greet = 'export const greet = (name) => "Hello " + name;\n';

describe("applying a verified patch", () => {
  it("is taken back when another file changed meanwhile, and says which", async () => {
    const { repository } = await verified();
    const before = repository.manifest();
    meddle(repository, "apply --whitespace=nowarn -", "echo meanwhile > src/other.js");
    await expect(repository.call("advance", { run: "run" })).rejects.toMatchObject({
      code: "APPLY_MISMATCH",
      details: { paths: ["src/other.js"] },
    });
    expect(repository.read("src/other.js")).toBe("meanwhile\n");
    expect(repository.manifest((path) => path === "src/other.js")).toEqual(before);
  });

  it.each([
    [
      "something else was written than what was verified",
      '"$real" "$@"; echo more >> src/greet.js; exit 0',
      "src/greet.js",
    ],
    ["git says that it failed, whatever it wrote", '"$real" "$@"; exit 1', undefined],
  ])("is taken back when %s", async (_, script, path) => {
    const { repository } = await verified();
    const before = repository.manifest();
    meddle(repository, "apply --whitespace=nowarn -", script);
    await expect(repository.call("advance", { run: "run" })).rejects.toMatchObject({
      code: "APPLY_MISMATCH",
      details: { paths: path === undefined ? [] : [path] },
    });
    expect(repository.read("src/greet.js")).toBe(greet);
    expect(repository.manifest()).toEqual(before);
  });

  it("is not taken back over a folder that somebody put in the place of a file", async () => {
    const { repository } = await verified();
    const script = "rm src/greet.js; mkdir src/greet.js; echo mine > src/greet.js/note; exit 1";
    meddle(repository, "apply --whitespace=nowarn -", script);
    await expect(repository.call("advance", { run: "run" })).rejects.toMatchObject({
      code: "ROLLBACK_CONFLICT",
      details: { paths: ["src/greet.js/note"] },
    });
    expect(repository.read("src/greet.js/note")).toBe("mine\n");
  });

  it("is refused when a single file was edited since the run was asked to go on", async () => {
    const { repository } = await verified();
    // Writing a tree ends the look that finds the step; what is edited now, only apply itself can see.
    meddle(repository, "write-tree", "echo edited > src/list.js");
    await expect(repository.call("advance", { run: "run" })).rejects.toMatchObject({
      code: "REPO_DIRTY",
      details: { paths: ["src/list.js"] },
    });
    expect([repository.read("src/list.js"), repository.read("src/greet.js")]).toEqual(["edited\n", greet]);
  });

  it("is refused when an ignored file is where the patch creates one, and leaves that file alone", async () => {
    const repository = new SampleRepository();
    repositories.push(repository);
    await repository.plan("run");
    const made =
      "diff --git a/src/made.js b/src/made.js\nnew file mode 100644\n--- /dev/null\n+++ b/src/made.js\n@@ -0,0 +1 @@\n+export {};\n";
    await repository.submit("diff.patch", GOOD_PATCH + made, "run");
    expect(await repository.call("advance", { run: "run", no_apply: true })).toMatchObject({ state: "ready" });
    repository.write(".git/info/exclude", "made.js\n");
    repository.write("src/made.js", "mine\n");
    await expect(repository.call("advance", { run: "run" })).rejects.toMatchObject({
      code: "REPO_DIRTY",
      details: { paths: ["src/made.js"] },
    });
    expect([repository.read("src/made.js"), repository.read("src/greet.js")]).toEqual(["mine\n", greet]);
  });

  it("is refused when the record of the gate belongs to another patch", async () => {
    const { repository, dir } = await verified();
    const before = repository.manifest();
    const file = join(dir, "artifacts/patch_gate.json");
    const record = JSON.parse(readFileSync(file, "utf8")) as object;
    writeFileSync(file, JSON.stringify({ ...record, patch_sha256: "0".repeat(64) }));
    await expect(repository.call("advance", { run: "run" })).rejects.toMatchObject({ code: "APPLY_MISMATCH" });
    expect(repository.manifest()).toEqual(before);
  });
});
