// Guards: what others do to the repository while an agent works is told as what it is, and a verification that breaks off
// ends the run at once, with its reason.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { makeAgentRepo } from "../support/agent-repo.ts";

it("a commit of somebody else is one line of the report; a verification that breaks off leaves no run at work", async () => {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  const first = repo.git("rev-parse", "HEAD").trim();
  const go = join(repo.base, "go");
  const script = `echo on > lamp.txt; echo ready; until [ -e ${go} ]; do sleep 0.1; done; printf 'no line feed'`;
  const running = repo.verbatim("agent", "--goal", "x", "--verify", "grep -q on lamp.txt", "--", "sh", "-c", script);
  await vi.waitFor(async () => expect((await repo.verbatim("agent", "logs", "@")).stdout).toBe("ready\n"), {
    timeout: 200_000,
    interval: 200,
  });
  repo.write("theirs.txt", "by somebody else\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "second");
  const second = repo.git("rev-parse", "HEAD").trim();
  writeFileSync(go, "");
  const { exit, stdout } = await running;
  expect(exit).toBe(0);
  expect(stdout).toContain("no line feed\nagent run");
  expect(stdout).toContain(`HEAD moved from ${first.slice(0, 7)} to ${second.slice(0, 7)} while the agent worked`);
  expect(stdout).toMatch(/checked [\d,]+ files and/);

  const show = async (...flags: string[]) => {
    const { exit: code, stdout: text } = await repo.verbatim("agent", "show", "@", "--json", ...flags);
    return code === 0 ? (JSON.parse(text) as { summary: Shown }).summary : { exit: code };
  };
  const shown = await show();
  expect(shown).toMatchObject({ proof: { concurrent_changes: ["theirs.txt"] } });
  expect(await show("--attempt", "1")).toEqual(shown);
  expect(await show("--attempt", "2")).toEqual({ exit: 2 });

  // The bytes of the change are gone, so it cannot be verified any more.
  rmSync(join(repo.root, ".verbatim/state/blobs"), { recursive: true });
  const broken = await repo.verbatim("agent", "verify", "@");
  expect(broken.exit).not.toBe(0);
  const { state, reason } = JSON.parse(readFileSync(join((shown as Shown).run_dir, "agent/run.json"), "utf8")) as {
    state: string;
    reason: string;
  };
  expect([state, reason]).toEqual(["interrupted", expect.stringContaining("Verbatim stopped while it verified")]);
});

interface Shown {
  readonly run_dir: string;
  readonly proof: { readonly concurrent_changes: readonly string[] };
}
