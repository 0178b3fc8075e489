import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

// Guards: the package `verbatim` on npm is somebody else's. Nothing we publish or print may lead anybody to run or
// import it.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A command or an import that would reach for the stranger's package. */
const STRANGER = [
  /\bnpx (?:-\S+ )*verbatim(?![-\w])/,
  /\bnpm (?:i|install|add|exec|x|create)\b[^\n`]* verbatim(?![-\w./])/,
  /\b(?:from|import|require)\b ?\(?["']verbatim["'/]/,
  /["'`]verbatim\/(?:contracts|verify|context|jobs|catalytic|workflow|world)["'`]/,
  /"npx",\s*"args":\s*\[(?:"-[^"]*",\s*)*"verbatim"/,
];

/** Lines that speak of the stranger's package, or of a checkout, where npm finds the command in the package itself. */
const RIGHT = [
  /never call `npx verbatim`/,
  /Never `npx verbatim`/,
  /npm run build && npx verbatim --help/,
  /reads `npx verbatim` in our documents|`npx verbatim` stands only/,
];

function findStrangers(text: string): string[] {
  return text
    .split("\n")
    .filter((line) => STRANGER.some((form) => form.test(line)) && !RIGHT.some((form) => form.test(line)));
}

describe("the name of the package", () => {
  it("is verbatim-agent, in the lock too, and its one command is verbatim", () => {
    const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), "utf8")) as Record<string, unknown>;
    const { name, bin } = read("package.json");
    const lock = read("package-lock.json") as { name: string; packages: Record<string, { name?: string }> };
    expect([name, lock.name, lock.packages[""]?.name]).toEqual(["verbatim-agent", "verbatim-agent", "verbatim-agent"]);
    expect(bin).toEqual({ verbatim: "bin/verbatim.js" });
  });

  it("is the only one that documents and sources tell anybody to run, install or import", () => {
    const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    const files = execFileSync("git", args, { cwd: ROOT, encoding: "utf8" })
      .split("\0")
      .filter(
        (file) => /\.(?:md|ts|js|cjs|json|html|txt)$/.test(file) && file !== "test/prohibition/package-name.test.ts",
      );
    expect(files.length).toBeGreaterThan(500);
    const found = files.flatMap((file) =>
      findStrangers(readFileSync(join(ROOT, file), "utf8")).map((line) => `${file}: ${line.trim()}`),
    );
    expect(found).toEqual([]);
  });

  it.for([
    "npx verbatim agent --goal x",
    "npx -y verbatim mcp",
    "npm install --global verbatim",
    'import { openContext } from "verbatim/context";',
    'await import("verbatim")',
    '{"command":"npx","args":["-y","verbatim","mcp"]}',
    "see `verbatim/verify`",
  ])("the check sees %s", (line) => {
    expect(findStrangers(line)).toEqual([line]);
    expect(findStrangers(line.replace(/verbatim/g, "verbatim-agent"))).toEqual([]);
  });
});
