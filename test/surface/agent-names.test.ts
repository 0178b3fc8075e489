import { describe, expect, it } from "vitest";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";

// Guards: every verb that takes a RUN understands the same names, and refuses the others with what to do next.

function makeLamp(): AgentRepo {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

async function light(repo: AgentRepo, word: string): Promise<string> {
  const { summary } = await repo.agent(["--no-verify"], ["sh", "-c", `echo ${word} > lamp.txt`]);
  return summary.run_id;
}

describe("the name of a run", () => {
  it("is an id, a beginning, the last six digits, or how many runs ago it was, in every verb", async () => {
    const repo = makeLamp();
    const shown = async (name: string) => {
      const { stdout } = await repo.verbatim("agent", "show", name, "--json");
      return (JSON.parse(stdout) as { summary: { run_id: string } }).summary.run_id;
    };
    const [older, newer] = [await light(repo, "dim"), await light(repo, "bright")];
    // A run of the other room, newer than both, is no agent run and does not count.
    await repo.verbatim("workflow", "new", "--goal", "plan it", "--run-id", "20991231-000000-abcdef");
    expect(await shown(older)).toBe(older);
    expect(await shown(older.slice(-6))).toBe(older);
    expect(await shown(newer.slice(0, -2))).toBe(newer);
    expect(await shown("@")).toBe(newer);
    expect(await shown("@2")).toBe(older);
    const status = await repo.verbatim("workflow", "status", "@", "--json");
    expect(JSON.parse(status.stdout)).toMatchObject({ run_id: "20991231-000000-abcdef" });

    const refused = async (...args: string[]) => {
      const { exit, stderr } = await repo.verbatim("agent", ...args);
      return { exit, lines: stderr.trimEnd().split("\n") };
    };
    expect(await refused("show", "@3")).toEqual({
      exit: 2,
      lines: [
        `error[RUN_NOT_FOUND] this repository has only 2 agent runs; the newest are ${newer}, ${older}`,
        "  fix: List them: verbatim agent list",
      ],
    });
    const both = (await refused("apply", "20")).lines;
    expect(both[0]).toBe(`error[RUN_AMBIGUOUS] "20" could be more than one run: ${newer}, ${older}`);
    expect((await refused("discard", "zebra")).lines[0]).toContain(
      'error[RUN_NOT_FOUND] this repository has no agent run "zebra"',
    );
    expect((await refused("show", "20991231-000000-abcdef")).lines[0]).toContain("is a workflow run, not an agent run");

    expect((await repo.verbatim("agent", "discard", "@2")).stdout).toContain(older);
    expect((await repo.verbatim("agent", "apply", "@")).exit).toBe(0);
    expect(repo.git("diff", "--name-only").trim()).toBe("lamp.txt");
  });
});
