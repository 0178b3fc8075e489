import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CODES, type Code, codeFacts, fixAt, passFixOn, VerbatimError } from "../../src/core/errors/index.ts";
import { toErrorBody } from "../../src/surfaces/http/failure.ts";
import { Answers } from "../../src/surfaces/mcp/answer.ts";
import { toolsFor } from "../../src/surfaces/mcp/tool-table.ts";

// Guards: nobody who has no terminal is told to type something. Every code has words for every surface, so there is no
// list of codes that cannot happen somewhere and that would have to be kept.

const ALL = Object.keys(CODES) as Code[];
/** Commands and flags, written down here a second time: the product's own idea of them is what is tested. */
const TYPED = /verbatim |--|(?:^|\s)-[A-Za-z]\b|\bflags?\b|[Rr]un the command|command again|above/;
const answers = new Answers(100_000);

function overHttp(error: VerbatimError): { readonly message: string; readonly fix: string } {
  // The one code that is not an error over HTTP has words all the same.
  if (error.code === "REQUEST_PENDING") return { message: error.messageAt("http"), fix: error.fixAt("http") };
  return (toErrorBody(error).body as { readonly error: { readonly message: string; readonly fix: string } }).error;
}

function overMcp(error: VerbatimError): { readonly message: string; readonly fix: string } {
  const { error: said } = JSON.parse(answers.refuse(error).content[0]!.text) as { error: ReturnType<typeof overHttp> };
  return said;
}

describe("what to do next", () => {
  it.each(["http", "mcp"] as const)("is said over %s without a command or a flag, for every code", (surface) => {
    const say = surface === "http" ? overHttp : overMcp;
    const typed = ALL.flatMap((code) => {
      const { message, fix } = say(new VerbatimError(code));
      // The first bytes of a patch are no flag.
      const words = [message.replace("diff --git", ""), fix].filter((text) => TYPED.test(text) || text.trim() === "");
      return words.map((text) => `${code}: ${text}`);
    });
    expect(typed).toEqual([]);
  });

  it("is one or two short sentences", () => {
    const long = ALL.flatMap((code) =>
      (["http", "mcp"] as const).flatMap((surface) => {
        const fix = fixAt(surface, codeFacts(code).fix);
        return fix.length > 160 || fix.includes("\n") ? [`${code} ${surface}: ${fix}`] : [];
      }),
    );
    expect(long).toEqual([]);
  });

  it("names over MCP only tools and actions that there are", () => {
    const tools = new Map(toolsFor(false).map(({ name, verbs }) => [name, verbs.map(({ action }) => action)]));
    const wrong: string[] = [];
    const named = new Set<string>();
    for (const code of ALL) {
      const fix = fixAt("mcp", codeFacts(code).fix);
      for (const [, tool = "", action] of fix.matchAll(
        /\b((?:context|job|patch|bundle|world)_[a-z]+)(?:, action ([a-z]+))?/g,
      )) {
        named.add(tool);
        if (tools.get(tool)?.includes(action ?? tools.get(tool)![0]!) !== true) wrong.push(`${code}: ${fix}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(named).toContain("job_status");
  });

  it("names over HTTP only operations that are open there", () => {
    // The frozen table is compared with the real one elsewhere, and reading it loads no room.
    const table = readFileSync(new URL("../pins/frozen/operations.txt", import.meta.url), "utf8");
    const operations = [...table.matchAll(/^(\S+)\n(?: {2}.*\n)*? {2}doors: (.*)$/gm)].map(
      ([, name = "", doors = ""]) => [name, /\b(?:all|http)\b/.test(doors)] as const,
    );
    const isOpen = new Map(operations);
    expect(isOpen.get("keys.new")).toBe(false);
    const named: string[] = [];
    const wrong = ALL.flatMap((code) => {
      const words = fixAt("http", codeFacts(code).fix).match(/\b[a-z]+\.[a-z-]+\b/g) ?? [];
      const mentioned = words.filter((word) => isOpen.has(word));
      named.push(...mentioned);
      return mentioned.filter((word) => isOpen.get(word) === false).map((word) => `${code}: ${word}`);
    });
    expect(wrong).toEqual([]);
    expect(named).toContain("context.index-explain");
  });
});

describe("a case that says more than its code", () => {
  it("keeps a command to the command line: the others get the words of the table", () => {
    const error = new VerbatimError("JOB_UNKNOWN", { fix: "Look: verbatim job list --open" });
    expect(error.fix).toBe("Look: verbatim job list --open");
    expect(error.fixAt("cli")).toBe("Look: verbatim job list --open");
    expect(error.fixAt("library")).toBe("Look: verbatim job list --open");
    expect(overHttp(error).fix).toBe("Choose a job from the list.");
    expect(overMcp(error).fix).toBe("List the jobs: job_status, action list.");
  });

  it("says to everybody what nobody has to type", () => {
    const error = new VerbatimError("PATH_REFUSED", { fix: "Choose another path." });
    expect([error.fix, overHttp(error).fix, overMcp(error).fix]).toEqual(Array(3).fill("Choose another path."));
  });

  it("has other words for those without a terminal, and a command in them is not said either", () => {
    const words = { cli: "Judge it: verbatim agent verify r", others: "Verify it." };
    const error = new VerbatimError("LAND_UNVERIFIED", { message: { cli: "--a", others: "a" }, fix: words });
    expect([error.message, error.fix]).toEqual(["--a", words.cli]);
    expect(overHttp(error)).toMatchObject({ message: "a", fix: "Verify it." });
    expect(overMcp(error)).toMatchObject({ message: "a", fix: "Verify it." });
    const wrong = new VerbatimError("LAND_UNVERIFIED", { fix: { cli: "x", others: "verbatim agent verify r" } });
    expect(overHttp(wrong).fix).toBe("Verify it, then apply it.");
  });

  it("hands its words on to the error that takes its place", () => {
    const full = new VerbatimError("DISK_FULL");
    const error = new VerbatimError("STORE_UNAVAILABLE", { fix: passFixOn(full, "Then resend your text.") });
    expect(error.fix).toBe("Free some space and run the command again. Then resend your text.");
    expect(overHttp(error).fix).toBe(
      "Free some space on the machine where the server runs, then try again. Then resend your text.",
    );
  });
});
