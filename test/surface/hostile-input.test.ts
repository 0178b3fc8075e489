import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder, runCli } from "../support/cli.ts";
import { runHere } from "../support/cli-in-process.ts";
import { needs } from "../support/needs.ts";

// Guards: what a repository, a file or a key brings along cannot draw on the terminal, place files elsewhere,
// stop the program or be taken for an empty ledger.

const BIN = new URL("../../bin/verbatim.js", import.meta.url).pathname;
const ESCAPE = "\u001b[2J\u001b]0;owned\u0007\u009b31m\u202e";
// Everything a terminal obeys, except line feeds and tabs.
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

function makeWorkspace(): string {
  const folder = join(makeFolder(), "work");
  mkdirSync(folder);
  return folder;
}

/** The folder a process is in and its own folder for temporary files are asked of the process. */
const isOfProcess = (args: readonly string[], env: object): boolean => args[0] === "-C" || "TMPDIR" in env;

describe("control characters of foreign origin", () => {
  it("do not reach the terminal through a file name, a policy, a vector or a contract problem", async () => {
    const cwd = makeWorkspace();
    const vector = { id: ESCAPE, area: "canonical-json", name: ESCAPE, input: { text: `"\u007f"` }, expected: ESCAPE };
    writeFileSync(join(cwd, "vectors.json"), JSON.stringify([{ ...vector, why: "" }]));
    writeFileSync(join(cwd, "policy.json"), JSON.stringify({ [ESCAPE]: 1 }));
    const runs = [
      ["contract", "check", "budgets", `missing${ESCAPE}`],
      ["contract", "check", "budgets", "policy.json"],
      ["contract", "show", ESCAPE],
      ["keys", "policy", "check", "policy.json"],
      ["conformance", "vectors.json"],
      ["conformance", "vectors.json", "--area", ESCAPE],
      ["ledger", "show", `--${ESCAPE}`],
      [ESCAPE],
    ];
    for (const args of runs) {
      const { exit, stdout, stderr } = await runHere(args, { cwd });
      expect(exit).toBeGreaterThan(0);
      expect(`${stdout}${stderr}`).not.toBe("");
      expect(`${stdout}${stderr}`).not.toMatch(OBEYED);
    }
  });

  it("cannot borrow the colours either", async () => {
    const cwd = makeWorkspace();
    const env = { FORCE_COLOR: "1", NO_COLOR: "" };
    const { stderr } = await runCli(["contract", "show", "\u001b[32mgood\u001b[39m"], { cwd, env });
    expect(stderr).toContain("\u001b[31merror[CONTRACT_UNKNOWN]\u001b[39m");
    expect(stderr).not.toContain("\u001b[32m");
  });
});

describe("links inside .verbatim", () => {
  it.each([
    ["state", "elsewhere"],
    ["state/blobs", "elsewhere"],
    ["state/store.db", "elsewhere/foreign"],
    ["state/store.db-wal", "elsewhere/foreign"],
    ["state/store.db-shm", "elsewhere/foreign"],
  ])("%s is refused and what it leads to stays as it is", async (place, target) => {
    const cwd = makeWorkspace();
    const elsewhere = join(cwd, "..", "elsewhere");
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, "foreign"), "mine");
    mkdirSync(join(cwd, ".verbatim", place, ".."), { recursive: true });
    symlinkSync(join(cwd, "..", target), join(cwd, ".verbatim", place));
    const { exit, stderr } = await runHere(["index", "build"], { cwd });
    expect([exit, stderr]).toEqual([2, expect.stringContaining("error[PATH_REFUSED]")]);
    expect(stderr).toContain(place);
    expect([readdirSync(elsewhere), readFileSync(join(elsewhere, "foreign"), "utf8")]).toEqual([["foreign"], "mine"]);
  });

  it("a store that is a link to nowhere is not an empty ledger", async () => {
    const cwd = makeWorkspace();
    mkdirSync(join(cwd, ".verbatim", "state"), { recursive: true });
    symlinkSync("gone", join(cwd, ".verbatim", "state", "store.db"));
    const { exit, stdout } = await runHere(["ledger", "verify", "--json"], { cwd });
    expect([exit, JSON.parse(stdout)]).toMatchObject([2, { error: { code: "PATH_REFUSED" } }]);
  });

  it("a file of that name is refused as well", async () => {
    const cwd = makeWorkspace();
    writeFileSync(join(cwd, ".verbatim"), "");
    const { exit, stderr } = await runHere(["index", "build"], { cwd });
    expect([exit, stderr]).toEqual([2, expect.stringContaining("error[PATH_REFUSED]")]);
  });
});

describe("input without an end", () => {
  it(
    "a configuration that is a link to a device is refused",
    needs(process.platform === "linux" ? null : "the device is one of Linux"),
    async () => {
      const cwd = makeWorkspace();
      symlinkSync("/dev/zero", join(cwd, "verbatim.config.json"));
      const { exit, stderr } = await runHere(["index", "build"], { cwd });
      expect([exit, stderr]).toEqual([2, expect.stringContaining("is not a regular file")]);
    },
  );

  it("twenty thousand problems are placed in one pass", async () => {
    const cwd = makeWorkspace();
    const members = Array.from({ length: 20_000 }, (_, i) => `"k${i}": 1`);
    writeFileSync(join(cwd, "many.json"), `{\n${members.join(",\n")}\n}`);
    const { exit, stdout } = await runHere(["contract", "check", "budgets", "many.json", "--json"], { cwd });
    const { problems } = JSON.parse(stdout) as { problems: { pointer: string; where: string }[] };
    expect([exit, problems.length]).toEqual([1, 20_004]);
    expect(problems.find(({ pointer }) => pointer === "/k19999")?.where).toBe("many.json:20001:1");
  });
});

describe("what cannot be understood", () => {
  it.each([
    [["--nope"], "USAGE", {}],
    [["-C"], "USAGE", {}],
    [["-C", "file", "ledger", "show"], "FILE_NOT_FOUND", {}],
    [["conformance", "file", "--area", "nobody"], "VECTOR_AREA_UNKNOWN", {}],
    [["ledger", "show"], "USAGE", { VERBATIM_DATABASE_URL: "junk" }],
    [["ledger", "show"], "FOLDER_READ_ONLY", { TMPDIR: "/nowhere/at/all" }],
    [["contract", "check", "budgets", "file/below"], "FILE_UNREADABLE", {}],
  ])("%j is refused with %s, exit 2 and nothing made", async (args, code, env) => {
    const cwd = makeWorkspace();
    writeFileSync(join(cwd, "file"), "[]");
    const { exit, stdout, stderr } = await (isOfProcess(args, env) ? runCli : runHere)(args, { cwd, env });
    expect([exit, stdout, stderr]).toEqual([2, "", expect.stringContaining(`error[${code}]`)]);
    expect(readdirSync(cwd)).toEqual(["file"]);
  });

  it("an empty VERBATIM_DATABASE_URL is none, and reading makes nothing", async () => {
    const cwd = makeWorkspace();
    const { exit } = await runHere(["ledger", "show"], { cwd, env: { VERBATIM_DATABASE_URL: "" } });
    expect([exit, readdirSync(cwd)]).toEqual([0, []]);
  });

  it("a package.json that is not JSON does not keep init from proposing", async () => {
    const cwd = makeWorkspace();
    writeFileSync(join(cwd, "package.json"), "{");
    const { exit, stdout } = await runHere(["init", "--json"], { cwd });
    const { reasons } = JSON.parse(stdout) as { reasons: string[] };
    expect([exit, reasons.filter((reason) => reason.includes("JSON_SYNTAX")).length]).toEqual([0, 1]);
  });
});

describe("signals", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s while waiting for standard input ends with exit %i", async (signal, expected) => {
    const child = spawn(process.execPath, [BIN, "contract", "check", "budgets", "-", "--debug"], {
      cwd: makeWorkspace(),
      stdio: ["pipe", "pipe", "pipe"],
      env: { PATH: process.env["PATH"], NODE_DEBUG: "" },
    });
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    // The pipe takes what is written only while the program reads: afterwards it certainly listens.
    await new Promise<void>((resolve, reject) => {
      child.stdin.write(" ".repeat(1024 * 1024), (error) => (error ? reject(error) : resolve()));
    });
    child.kill(signal);
    expect(await ended).toBe(expected);
  });

  it("a reader that goes away ends an export quietly", async () => {
    const cwd = makeWorkspace();
    const child = spawn(process.execPath, [BIN, "contract", "list", "--json"], {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const said: Buffer[] = [];
    child.stderr.on("data", (chunk: Buffer) => said.push(chunk));
    child.stdout.destroy();
    expect(await new Promise((resolve) => child.on("close", resolve))).toBe(0);
    expect(Buffer.concat(said).toString()).toBe("");
  });
});
