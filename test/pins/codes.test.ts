import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CODES, type Code, codeFacts, fixAt } from "../../src/core/errors/index.ts";

// Guards: a code, its exit and its HTTP status are a promise to whoever scripts against them. The pin file is
// edited by hand: adding a code adds a line; changing or removing one is a breaking change and fails here.

type Pin = readonly [exit: number, http: number];

const pins = JSON.parse(readFileSync(new URL("codes.json", import.meta.url), "utf8")) as Record<string, Pin>;
const thrown = Object.keys(CODES) as Code[];

function line(code: Code): string {
  const { exit, http } = codeFacts(code);
  return `  ${JSON.stringify(code)}: [${exit}, ${http}],`;
}

describe("thrown codes", () => {
  it("keep their exit and HTTP status, and none disappears", () => {
    const now = Object.fromEntries(
      Object.keys(pins).map((code) => {
        const facts = code in CODES ? codeFacts(code as Code) : null;
        return [code, facts === null ? "removed" : [facts.exit, facts.http]];
      }),
    );
    expect(now).toEqual(pins);
  });

  it("are all pinned", () => {
    const unpinned = thrown.filter((code) => !(code in pins)).map(line);
    expect(unpinned, `add to test/pins/codes.json:\n${unpinned.join("\n")}`).toEqual([]);
  });

  it("use only the exits of the one table", () => {
    const strange = thrown.filter((code) => ![1, 2, 3, 4, 130, 143].includes(codeFacts(code).exit));
    expect(strange).toEqual([]);
  });

  it("use only HTTP statuses of errors", () => {
    const strange = thrown.filter((code) => codeFacts(code).http < 400 || codeFacts(code).http > 599);
    expect(strange).toEqual([]);
  });

  it("say what was wrong and what to do next, as sentences", () => {
    const silent = thrown.filter((code) => {
      const { says, fix } = codeFacts(code);
      const words = [fixAt("cli", fix), fixAt("mcp", fix), fixAt("http", fix)];
      return !/^\S.*[.:!]$/.test(says) || words.some((text) => text.trim() === "");
    });
    expect(silent).toEqual([]);
  });
});
