// SIGINT and SIGTERM during a verification: children ended, copy removed, lock released, and the run goes on.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { BIN } from "../support/cli.ts";
import { GOOD_PATCH, SampleRepository } from "../support/sample-repository.ts";

const repositories: SampleRepository[] = [];
afterAll(async () => {
  for (const repository of repositories) await repository.remove();
});

describe("an interrupted verification", () => {
  it.each([
    ["SIGINT", 130, "worktree"],
    ["SIGTERM", 143, "worktree"],
    ["SIGINT", 130, "catalytic"],
  ] as const)("%s leaves with %i, ends what it started and can be repeated (%s)", async (signal, exit, isolation) => {
    const name = `60.${exit}${Date.now()}`;
    const mark = { argv: ["sh", "-c", `test -f "$MARK" || sleep ${name}`] };
    const repository = new SampleRepository({ verify: { isolation, env_allow: ["MARK"], gates: { lite: [mark] } } });
    repositories.push(repository);
    repository.env["MARK"] = join(repository.root, "ignored/mark");
    const dir = await repository.plan("slow");
    await repository.submit("diff.patch", GOOD_PATCH, "slow");
    const child = spawn(process.execPath, [BIN, "workflow", "advance", "slow"], {
      cwd: repository.root,
      env: repository.env,
      stdio: "ignore",
    });
    const closed = new Promise<number | null>((done) => child.on("close", (code) => done(code)));
    await expect.poll(() => repository.processes(name).length, { timeout: 200_000 }).toBeGreaterThan(0);
    child.kill(signal);
    expect(await closed).toBe(exit);
    expect(repository.processes(name)).toEqual([]);
    expect([existsSync(join(dir, "run.lock")), existsSync(join(dir, "worktree"))]).toEqual([false, false]);
    repository.write("ignored/mark", "");
    expect(await repository.call("advance", { run: "slow" })).toMatchObject({ status: "pass" });
    expect(await repository.call("status", { run: "slow" })).toMatchObject({ iterations: { used: 1, max: 3 } });
    expect(await repository.call("validate", { target: "slow" })).toMatchObject({ ok: true });
  });
});
