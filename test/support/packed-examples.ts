import { spawn } from "node:child_process";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { findChromium } from "./browser.ts";
import { compile, lend, type PackedPackage, ROOT, runIn } from "./packed-package.ts";

/** The programs, and how many things each of them says to hold. */
const PROGRAMS: Readonly<Record<string, number>> = {
  "run-an-agent.mjs": 6,
  "custom-gate.mjs": 3,
  "quote-with-receipts.mjs": 5,
  "build-a-bundle.mjs": 3,
  "verify-in-a-page.mjs": 2,
  "mcp-client.mjs": 3,
  "world-over-http.mjs": 4,
  "ci-check.mjs": 3,
};
/** What they need beside the package. */
const LENT = ["@modelcontextprotocol/client", "playwright-core"];

/** Starts a program as a user does, from the installed package. */
async function start(packed: PackedPackage, program: string, args: readonly string[]) {
  const child = spawn(process.execPath, [join(packed.installed, "examples", program), ...args], { cwd: packed.user });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => void (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => void (stderr += chunk.toString()));
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { status, stdout, stderr };
}

/** The examples: they compile against the types of the package, run from it, and check themselves. */
export function describeExamples(find: () => PackedPackage): void {
  describe("the examples", () => {
    beforeAll(() => lend(find(), LENT));

    it("are the programs that are started here, and each has its line in their README", () => {
      const files = readdirSync(join(ROOT, "examples"));
      const programs = files.filter((file) => file.endsWith(".mjs") && file !== "sample.mjs");
      expect(programs.toSorted()).toEqual(Object.keys(PROGRAMS).toSorted());
      const page = readFileSync(join(ROOT, "examples/README.md"), "utf8");
      expect(programs.filter((program) => !page.includes(`| [${program}](${program}) |`))).toEqual([]);
    });

    it("compile against the types of the installed package", (context) => {
      const packed = find();
      packed.needsInstall(context);
      // Beside the package and not inside it, where the compiler takes everything for right.
      cpSync(join(packed.installed, "examples"), join(packed.user, "examples"), { recursive: true });
      const flags = ["--allowJs", "--checkJs", "--types", "node", "--lib", "es2023,dom,dom.iterable,esnext.disposable"];
      const programs = Object.keys(PROGRAMS).map((program) => `examples/${program}`);
      expect(compile(packed, [...flags, "--module", "nodenext"], programs)).toEqual([]);
    });

    it.concurrent.for(Object.entries(PROGRAMS))(
      "%s runs and finds what it expects",
      async ([program, holds], context) => {
        const packed = find();
        packed.needsInstall(context);
        const args = program === "verify-in-a-page.mjs" ? ["--browser", await findChromium()] : [];
        const { status, stdout, stderr } = await start(packed, program, args);
        const said = stdout.split("\n").filter((line) => line.startsWith("ok: "));
        expect([status, said.length], `${stdout}\n${stderr}`).toEqual([0, holds]);
      },
    );

    it("end with 1 where something is not as they say", (context) => {
      const packed = find();
      packed.needsInstall(context);
      const sample = join(packed.user, "examples/sample.mjs");
      writeFileSync(sample, readFileSync(sample, "utf8").replace("Low water is at noon.", "Low water is at one."));
      const { status, stderr } = runIn(packed.user, process.execPath, ["examples/quote-with-receipts.mjs"]);
      expect([status, stderr.includes("it does not hold that the slice is what the file says")]).toEqual([1, true]);
    });
  });
}
