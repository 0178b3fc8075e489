// SIGINT and SIGTERM during a verification: children ended, copy removed, lock released, and the run goes on.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { GOOD_PATCH, SampleRepository } from "../support/sample-repository.ts";

const ENTRY = fileURLToPath(new URL("../support/run-verbatim.ts", import.meta.url));
const repositories: SampleRepository[] = [];
afterAll(async () => {
  for (const repository of repositories) await repository.remove();
});

describe("an interrupted verification", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s leaves with %i, ends what it started and can be repeated", async (signal, exit) => {
    const argv = ["sh", "-c", 'if [ -f "$0" ]; then exit 0; fi; echo $$ > "$1"; sleep 60', "MARK", "PID"];
    const repository = new SampleRepository({ verify: { gates: { lite: [{ argv }] } } });
    repositories.push(repository);
    const [mark, pid] = [join(repository.folder, "mark"), join(repository.folder, "pid")];
    const lite = [{ argv: [...argv.slice(0, 3), mark, pid] }];
    repository.write(
      "verbatim.config.json",
      JSON.stringify({ workflow: { verify: { isolation: "worktree", gates: { lite } } } }),
    );
    repository.commit("slow gate");
    const dir = await repository.plan("slow");
    await repository.submit("diff.patch", GOOD_PATCH, "slow");
    const child = spawn(
      process.execPath,
      ["--import", import.meta.resolve("tsx"), ENTRY, "workflow", "advance", "slow"],
      {
        cwd: repository.root,
        env: repository.env,
        stdio: "ignore",
      },
    );
    const closed = new Promise<number | null>((done) => child.on("close", (code) => done(code)));
    await expect.poll(() => existsSync(pid), { timeout: 30_000 }).toBe(true);
    child.kill(signal);
    expect(await closed).toBe(exit);
    const worker = Number(readFileSync(pid, "utf8"));
    expect(() => process.kill(worker, 0)).toThrow();
    expect([existsSync(join(dir, "run.lock")), existsSync(join(dir, "worktree"))]).toEqual([false, false]);
    repository.file("mark", "");
    expect(await repository.call("advance", { run: "slow" })).toMatchObject({ status: "pass" });
    expect(await repository.call("status", { run: "slow" })).toMatchObject({ iterations: { used: 1, max: 3 } });
    expect(await repository.call("validate", { target: "slow" })).toMatchObject({ ok: true });
  });
});
