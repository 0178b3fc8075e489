import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { describe, expect, it, onTestFinished } from "vitest";
import { openApp } from "../../src/app/call.ts";
import { NOUNS } from "../../src/surfaces/cli/nouns.ts";
import { buildProgram } from "../../src/surfaces/cli/program.ts";
import { runServe } from "../../src/surfaces/http/server/serve.ts";
import { runStudio } from "../../src/surfaces/http/server/studio.ts";
import { runMcp } from "../../src/surfaces/mcp/mcp.ts";
import { compareFrozen, readFrozen, writeFrozen } from "../../tools/freeze/files.ts";
import { freezeHelp } from "../../tools/freeze/help.ts";
import { RUNS, TABLES } from "../../tools/freeze/parts.ts";
import { toSteady } from "../../tools/freeze/steady.ts";
import { runInProcess } from "../support/cli-in-process.ts";
import { expectFrozen } from "../support/frozen.ts";

// Guards: what others rely on does not change unseen. The tool prints help with the built program and runs everything;
// here each noun is built once, and the runs that start processes are in test/long.

describe("as it was frozen", () => {
  it.each(Object.entries(TABLES))("the table: %s", async (_, make) => {
    const now = await make();
    expectFrozen(now, (path) => now.has(path));
  });

  it("every help text", async () => {
    const folder = mkdtempSync(join(tmpdir(), "verbatim-help-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    expectFrozen(await freezeHelp(printerIn(folder)), (path) => path.startsWith("help/"));
  });

  it.each(Object.entries(RUNS).filter(([, { quick }]) => quick))("the bytes of a %s", async (_, { make }) => {
    const now = await make();
    expectFrozen(now, (path) => now.has(path));
  });
});

/** Prints help as the command line does, but asks for the verbs of a noun only once. */
function printerIn(cwd: string): (argv: readonly string[]) => Promise<string> {
  const nouns = new Map<string, Command>();
  const app = openApp({ surface: "cli", start: cwd, env: {}, platform: process.platform });
  return async ([noun = "", ...path]) => {
    const said: string[] = [];
    const stdout = { write: (text: string) => said.push(text) };
    const entry = NOUNS.find((one) => one.noun === noun);
    if (noun === "mcp") await runMcp({ argv: path, stdout } as never);
    else if (noun === "studio") await runStudio({ argv: path, stdout } as never);
    else if (noun === "serve") await runServe({ argv: path, stdout } as never);
    else if (entry === undefined) return (await runInProcess([noun, ...path], cwd)).stdout;
    else {
      const made = nouns.get(noun);
      const program =
        made ?? (await buildProgram(noun, entry.summary, (await entry.load()).noun, app, () => undefined));
      nouns.set(noun, program);
      const words = [noun, ...path.slice(0, -1)];
      const command = words.reduce((above, word) => above.commands.find((one) => one.name() === word)!, program);
      const output = { writeOut: stdout.write, getOutHelpWidth: () => 80, getOutHasColors: () => false };
      for (let one: Command | null = command; one !== null; one = one.parent) one.configureOutput(output);
      command.outputHelp();
    }
    return said.join("");
  };
}

describe("writing", () => {
  it("replaces the files of its part, removes those that are no more, and leaves the others", () => {
    const folder = mkdtempSync(join(tmpdir(), "verbatim-frozen-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const all = new Map(["help/job.txt", "help/old.txt", "errors.txt"].map((path) => [path, "before\n"]));
    writeFrozen(folder, all, () => true);
    writeFrozen(folder, new Map([["help/job.txt", "after\n"]]), (path) => path.startsWith("help/"));
    expect([...readFrozen(folder)]).toEqual([
      ["errors.txt", "before\n"],
      ["help/job.txt", "after\n"],
    ]);
  });
});

describe("a comparison", () => {
  it("names every file that is new, gone or different, and shows the lines that differ", () => {
    const before = new Map([
      ["help/job.txt", "Usage: job\n\nRuns a job.\n"],
      ["errors.txt", "A 1 400\n"],
      ["same.txt", "same\n"],
    ]);
    const now = new Map([
      ["help/job.txt", "Usage: job\n\nRuns one job.\n"],
      ["mcp.json", "{}\n"],
      ["same.txt", "same\n"],
    ]);
    const [gone, differs, fresh, ...more] = compareFrozen(before, now);
    expect([gone, fresh, more]).toEqual(["errors.txt: is gone", "mcp.json: is new", []]);
    expect(differs).toMatch(/^help\/job.txt: differs\n/);
    expect(differs?.split("\n").filter((line) => /^[-+][^-+]/.test(line))).toEqual(["-Runs a job.", "+Runs one job."]);
  });

  it("finds nothing to compare in a folder that is not there", () => {
    expect([...readFrozen(join(tmpdir(), "verbatim-was-never-here"))]).toEqual([]);
  });
});

describe("stable words", () => {
  const [A, B, C, D] = ["a", "b", "c", "d"].map((letter) => letter.repeat(64));
  const HASH_OF_ID = "d62535f25803f2c801bd747efd4eb6ab54e903350a4f1478496ba54fbe599f65";

  function steady(files: Readonly<Record<string, string>>): Record<string, string> {
    const bytes = Object.entries(files).map(([path, text]) => [path, Buffer.from(text)] as const);
    return Object.fromEntries(toSteady(new Map(bytes), [["node v20", "<runtime>"]]));
  }

  it("replace what differs, and leave what does not depend on it", () => {
    expect(steady({ "id.json": '{"runtime":"node v20"}', "tree.json": `{"root":"${A}"}` })).toEqual({
      "id.json": '{"runtime":"<runtime>"}',
      "tree.json": `{"root":"${A}"}`,
    });
  });

  it("follow a chain of hashes from the record that differs to the last one", () => {
    const entry = (body: string, body_hash: string, previous: string, hash: string) =>
      `{"body":${body},"body_hash":"${body_hash}","hash":"${hash}","previous":"${previous}"}`;
    const lines = [
      entry("{}", A!, "0".repeat(64), B!),
      entry('{"by":"node v20"}', C!, B!, D!),
      entry("{}", A!, D!, "e".repeat(64)),
    ];
    expect(steady({ "ledger.jsonl": lines.join("\n") })["ledger.jsonl"]?.split("\n")).toEqual([
      lines[0],
      `{"body":{"by":"<runtime>"},"body_hash":"<hash 1>","hash":"<hash 2>","previous":"${B}"}`,
      `{"body":{},"body_hash":"${A}","hash":"<hash 3>","previous":"<hash 2>"}`,
    ]);
  });

  it("follow the hash of a file that differs into the files that name it", () => {
    const files = {
      "id.json": "node v20\n",
      "proof.json": `{"id":"${HASH_OF_ID}","proof_hash":"${A}"}`,
      "last.txt": A!,
    };
    expect(steady(files)).toEqual({
      "id.json": "<runtime>\n",
      "proof.json": '{"id":"<hash 1>","proof_hash":"<hash 2>"}',
      "last.txt": "<hash 2>",
    });
  });
});
