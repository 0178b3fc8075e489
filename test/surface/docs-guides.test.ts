// The pages for people who come to do something: every command in them is typed, in order, and what a page says is
// printed must be printed. Most verbs are asked in this process; a shell is started only where a page needs one.
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeAgentRepo } from "../support/agent-repo.ts";
import { makeFolder } from "../support/cli.ts";
import { findCommandProblem, splitLine } from "../support/command-lines.ts";
import { type Desk, readBlocks, typeGuide } from "../support/guide-here.ts";

const DOCS = new URL("../../docs/", import.meta.url);

function makeDesk(): Desk {
  const { base, env } = makeAgentRepo();
  const desk = join(base, "desk");
  mkdirSync(desk);
  return { base: desk, env };
}

/** Outside of any repository: a world belongs to the folder it was made in. */
function makeDeskElsewhere(): Desk {
  const base = makeFolder();
  return { base, env: { PATH: process.env["PATH"] ?? "", HOME: base, NO_COLOR: "1", GIT_CONFIG_GLOBAL: "/dev/null" } };
}

describe("the guides", () => {
  it.each([
    ["start.md", 13, 4],
    ["guides/review-and-land.md", 13, 0],
    ["guides/several-agents.md", 7, 0],
    ["guides/secrets.md", 7, 0],
    ["guides/verify-a-run.md", 16, 0],
    ["guides/ci.md", 10, 2],
    ["guides/quote-exactly.md", 10, 0],
    ["guides/play-a-world.md", 15, 5],
  ])("%s is a session that works as it is printed", async (file, run, parsed) => {
    const page = readFileSync(new URL(file, DOCS), "utf8");
    const counts = await typeGuide(page, page.includes("verbatim agent") ? makeDesk() : makeDeskElsewhere());
    expect(counts).toEqual({ run: expect.any(Number), parsed });
    expect(counts.run).toBeGreaterThanOrEqual(run);
  });
});

describe("the commands of the documents", () => {
  /** Pages whose commands are typed, here or in a test of their own. */
  const TYPED = new Set(["agent.md", "team.md", "verify-without-verbatim.md", "write-a-client.md"]);

  it("are known to the command line wherever a page shows them", async () => {
    const folder = makeFolder();
    const inside = readdirSync(DOCS, { recursive: true, encoding: "utf8" });
    const pages = ["../README.md", ...inside.filter((file) => file.endsWith(".md") && !file.startsWith("adr/"))];
    const problems: string[] = [];
    let count = 0;
    for (const file of pages.filter((one) => one !== "cli.md" && one !== "errors.md")) {
      const lines = readBlocks(readFileSync(new URL(file, DOCS), "utf8")).flatMap(({ text }) => text.split("\n"));
      const commands = lines.flatMap(
        (line) => /^(?:\$ )?((?:npx (?:-y )?verbatim-agent|verbatim) [^\\]*)$/.exec(line)?.[1] ?? [],
      );
      for (const command of commands) {
        // Up to what the shell does with it; what stands in quotes is for the verb.
        const [own] = /^(?:"[^"]*"|'[^']*'|(?! (?:[|;<&]|[0-9]?>))[^"'])*/.exec(
          command.replace(/\s+#.*$/, "").replace(/^npx (?:-y )?verbatim-agent/, "verbatim"),
        )!;
        if (own!.includes("[") && !own!.includes("--slice")) continue;
        count += 1;
        const problem = await findCommandProblem(splitLine(own!), folder);
        if (problem !== null) problems.push(`${file}: ${own}: ${problem}`);
      }
    }
    expect(count).toBeGreaterThan(150);
    expect(problems).toEqual([]);
  });

  it("are typed by a test in every guide that has a session", () => {
    const here = readFileSync(new URL(import.meta.url), "utf8");
    const guides = ["start.md", ...readdirSync(new URL("guides/", DOCS)).map((name) => `guides/${name}`)];
    const untyped = guides.filter((file) => {
      const hasSession = readBlocks(readFileSync(new URL(file, DOCS), "utf8")).some(
        ({ kind, text }) => kind === "sh" || kind === "console" || text.startsWith("$ "),
      );
      return hasSession && !here.includes(`["${file}",`) && !TYPED.has(file.slice("guides/".length));
    });
    expect(untyped).toEqual([]);
  });
});
