import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { makeAgentRepo } from "../support/agent-repo.ts";

const GUIDE = readFileSync(new URL("../../docs/guides/agent.md", import.meta.url), "utf8");

/** Words of a command line with double quotes. */
function splitLine(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}

describe("the guide of agents", () => {
  it("has only commands that work, in this order, on a small repository", async () => {
    const repo = makeAgentRepo();
    repo.write("lamp.txt", "off\n");
    repo.git("add", ".");
    repo.git("commit", "-qm", "first");
    const blocks = [...GUIDE.matchAll(/```\n([^`]+)```/g)].map(([, text]) => text!.trim());
    expect(blocks.length).toBe(3);
    for (const line of blocks.flatMap((block) => block.split("\n"))) {
      const [program, ...args] = splitLine(line);
      expect(program).toBe("verbatim");
      const { exit, stderr } = await repo.verbatim(...args);
      expect([line, exit, exit === 0 ? "" : stderr]).toEqual([line, 0, ""]);
    }
    expect((await repo.verbatim("agent", "list")).stdout).toContain("verified");
    expect(readFileSync(`${repo.root}/lamp.txt`, "utf8")).toBe("off\n");
  });

  it("names every flag of the verb that it speaks of as the help does", async () => {
    const repo = makeAgentRepo();
    const helps = [await repo.verbatim("agent", "--help"), await repo.verbatim("agent", "apply", "--help")];
    const stdout = helps.map((help) => help.stdout).join("\n");
    const flags = new Set([...GUIDE.matchAll(/`(?:agent )?(--[a-z-]+)/g)].map(([, flag]) => flag!));
    for (const flag of ["--yes"]) flags.delete(flag);
    for (const flag of flags) expect([flag, stdout.includes(flag)]).toEqual([flag, true]);
  });
});
