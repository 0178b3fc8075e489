import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { ROOT } from "../../tools/stages.ts";
import { makeFolder, runCli } from "../support/cli.ts";

// Guards: the compiled form of the command line is used where it fits, and makes no difference but time where it does not.

const FORM = `-${process.version}-${process.arch}.bin`;
const ANSWERED = { exit: 0, stdout: expect.stringContaining("no agent runs yet"), stderr: "" };

/** Loads every file as the program does and prints which of them V8 compiled itself. */
const LOOK = `
  const vm = require("node:vm"), refused = [], { Script } = vm;
  vm.Script = class extends Script {
    constructor(source, options) {
      super(source, options);
      if (options.cachedData === undefined || this.cachedDataRejected) refused.push(options.filename);
    }
  };
  const { load } = require(process.argv[1] + "/bin/compiled.js");
  const out = process.stdout.write;
  process.stdout.write = (_text, done) => (done?.(), true);
  load(process.argv[1] + "/dist/main.cjs").main(["agent", "list"]).then(() => {
    process.stdout.write = out;
    console.log(JSON.stringify(refused));
  });
`;

function listFiles(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

describe("the compiled form of the command line", () => {
  let copy: string;
  let cwd: string;
  const ask = (node: readonly string[] = []) =>
    runCli(["agent", "list"], { cwd, node, bin: join(copy, "bin/verbatim.js") });

  beforeEach(() => {
    const base = makeFolder();
    [copy, cwd] = [join(base, "copy"), join(base, "work")];
    mkdirSync(join(copy, "dist"), { recursive: true });
    for (const part of ["bin", "dist/cli", "dist/main.cjs", `dist/main${FORM}`, "package.json"]) {
      cpSync(join(ROOT, part), join(copy, part), { recursive: true });
    }
    symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
    execFileSync("git", ["init", "-q", cwd]);
  });

  it("is taken by a Node of this version without options, wherever the package lies", () => {
    const env = { PATH: process.env["PATH"], HOME: join(copy, "home") };
    const look = (options: readonly string[]) =>
      JSON.parse(spawnSync(process.execPath, [...options, "-e", LOOK, copy], { cwd, env, encoding: "utf8" }).stdout);
    expect(look([])).toEqual([]);
    // The check can fail: compiled code is of no use to a V8 that was started in another way.
    expect(look(["--no-lazy"])).toContain("run.cjs");
  });

  it("is not needed by another Node, and V8 may refuse it", async () => {
    expect(await ask(["--no-lazy"])).toEqual(ANSWERED);
    for (const file of listFiles(join(copy, "dist")).filter((name) => name.endsWith(FORM))) rmSync(file);
    expect(await ask()).toEqual(ANSWERED);
  });

  it("is believed only when it is whole and of exactly this source", async () => {
    const kept = join(copy, `dist/cli/run${FORM}`);
    const whole = readFileSync(kept);
    for (const part of [0, 0.01, 0.5, 0.99]) {
      const damaged = Buffer.from(whole);
      damaged[Math.floor(whole.length * part)]! ^= 0x5a;
      writeFileSync(kept, damaged);
      expect(await ask(), `damaged at ${part}`).toEqual(ANSWERED);
    }
    writeFileSync(kept, "");
    expect(await ask()).toEqual(ANSWERED);
    const sources = listFiles(join(copy, "dist/cli")).filter((file) => file.endsWith(".cjs"));
    const source = sources.find((file) => readFileSync(file, "utf8").includes("no agent runs yet"))!;
    // As long as it was: V8 would not notice.
    writeFileSync(source, readFileSync(source, "utf8").replaceAll("no agent runs yet", "NO AGENT runs yet"));
    expect((await ask()).stdout).toContain("NO AGENT runs yet");
  });

  it("is never written by a command", async () => {
    const look = () => listFiles(copy).map((file) => `${file} ${statSync(file).mtimeMs} ${statSync(file).ino}`);
    rmSync(join(copy, `dist/cli/run${FORM}`));
    const before = look();
    expect(await ask()).toEqual(ANSWERED);
    expect(look()).toEqual(before);
  });
});
