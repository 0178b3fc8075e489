import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { makeAgentRepo } from "../support/agent-repo.ts";

const GUIDE = readFileSync(new URL("../../docs/guides/agent.md", import.meta.url), "utf8");

/** Words of a command line with double quotes. */
function splitLine(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}

interface Step {
  readonly line: string;
  readonly screen: string;
}

/** The commands of the guide with what it says they print. A block without a dollar sign is a command alone. */
function readSteps(): Step[] {
  const blocks = [...GUIDE.matchAll(/^```\n([^`]+)```$/gm)].map(([, text]) => text!);
  return blocks.flatMap((block) => {
    if (!block.startsWith("$ ")) return [{ line: block.trim(), screen: "" }];
    return block
      .split(/^\$ /m)
      .filter((part) => part !== "")
      .map((part) => ({ line: part.slice(0, part.indexOf("\n")), screen: part.slice(part.indexOf("\n") + 1) }));
  });
}

/** What differs from run to run, and how lines are broken because of it. */
function toSame(text: string): string {
  return text
    .replace(/^created .*\n/m, "")
    .replace(/^ +\d+ variables? (?:was|were) kept from it.*\n/gm, "")
    .replace(/\d{8}-\d{6}-[0-9a-f]{6}/g, "RUN")
    .replace(/\b[0-9a-f]{12} and /g, "BASE and ")
    .replace(/(?<=where: |stays in )\S+/g, "DIRECTORY")
    .replace(/\b\d+(?:\.\d)? m?s\b/g, "TIME")
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, "DATE")
    .replace(/checked [\d,]+ files/g, "checked MANY files")
    .replace(/(?<=^|\s)[0-9a-f]{6}(?=\s)/g, "SHORT")
    .replace(/\s+/g, " ")
    .trim();
}

describe("the guide of agents", () => {
  it("has only commands that work, in this order, on a small repository, and prints what they print", async () => {
    const repo = makeAgentRepo();
    repo.write("lamp.txt", "off\n");
    repo.write("notes.txt", "Ring the bell.\n");
    repo.git("add", ".");
    repo.git("commit", "-qm", "first");
    for (const { line, screen } of readSteps()) {
      const [program, ...args] = splitLine(line);
      expect(program).toBe("verbatim");
      const { stdout, stderr } = await repo.verbatim(...args);
      if (screen === "") expect([line, stderr]).toEqual([line, expect.not.stringContaining("error[")]);
      else expect([line, toSame(stderr + stdout)]).toEqual([line, toSame(screen)]);
    }
    expect(readFileSync(`${repo.root}/lamp.txt`, "utf8")).toBe("red\n");
    expect(readFileSync(`${repo.root}/notes.txt`, "utf8")).toBe("Ring the bell.\n");
  });

  it("names every flag of the verb that it speaks of as the help does", async () => {
    const repo = makeAgentRepo();
    const verbs = [[], ["list"], ["show"], ["logs"], ["apply"]];
    const helps: string[] = [];
    for (const verb of verbs) helps.push((await repo.verbatim("agent", ...verb, "--help")).stdout);
    const stdout = helps.join("\n");
    const flags = new Set([...GUIDE.matchAll(/`(?:agent )?(--[a-z-]+)/g)].map(([, flag]) => flag!));
    for (const flag of ["--yes"]) flags.delete(flag);
    for (const flag of flags) expect([flag, stdout.includes(flag)]).toEqual([flag, true]);
  });
});
