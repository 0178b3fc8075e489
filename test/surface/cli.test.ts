import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder, runCli } from "../support/cli.ts";
import { runHere } from "../support/cli-in-process.ts";

/**
 * The command line as people meet it: help, mistakes, exit codes, JSON, files. Each kind of answer is also asked of the
 * program as it was built.
 */

function makeWorkspace(): string {
  const folder = join(makeFolder(), "work");
  mkdirSync(folder);
  return folder;
}

describe("help", () => {
  it("fits one screen of 80 columns and names every noun", async () => {
    const { exit, stdout } = await runCli(["--help"], { cwd: makeWorkspace() });
    expect(exit).toBe(0);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(36);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    for (const noun of ["demo", "init", "doctor", "index", "ledger", "keys", "contract", "conformance", "completion"]) {
      expect(stdout).toMatch(new RegExp(`^.{11}${noun} `, "m"));
    }
  });

  it.each(["ledger show", "ledger verify", "keys new", "keys policy init", "contract check", "conformance", "init"])(
    "%s --help has a description and examples that begin with verbatim",
    async (verb) => {
      const { exit, stdout } = await runHere([...verb.split(" "), "--help"], { cwd: makeWorkspace() });
      expect(exit).toBe(0);
      expect(stdout).toMatch(/Examples:\n {2}.*verbatim /);
    },
  );

  it("says the version without loading anything", async () => {
    const { stdout } = await runCli(["--version"], { cwd: makeWorkspace() });
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
      version: string;
    };
    expect(stdout).toBe(`${version}\n`);
  });
});

describe("mistakes", () => {
  it.each([
    [["ledgr", "show"], "VERB_UNKNOWN", "verbatim ledger"],
    [["ledger", "shwo"], "USAGE", "show"],
    [["ledger", "show", "--limit", "1.5"], "USAGE", "whole number"],
    [["ledger", "show", "--limit", "0"], "INPUT_INVALID", "/limit"],
    [["ledger", "show", "extra"], "USAGE", "too many arguments"],
    [["contract", "show", "mesage"], "CONTRACT_UNKNOWN", "message"],
    [["keys", "show", "nobody"], "KEY_UNKNOWN", "nobody"],
    [["ledger", "check-proof", "missing.json"], "FILE_NOT_FOUND", "missing.json"],
    [["-C", "missing", "ledger", "show"], "FILE_NOT_FOUND", "missing"],
  ])("%j is refused with %s, a hint, exit 2 and nothing on stdout", async (args, code, hint) => {
    const cwd = makeWorkspace();
    const { exit, stdout, stderr } = await (args[0] === "-C" ? runCli : runHere)(args, { cwd });
    expect(stderr).toContain(`error[${code}]`);
    expect(stderr).toContain(hint);
    expect(stderr).toMatch(/\n {2}fix: ./);
    expect([exit, stdout, readdirSync(cwd)]).toEqual([2, "", []]);
  });

  it("prints the same error as one JSON value with --json", async () => {
    const { exit, stdout } = await runCli(["contract", "show", "nothing", "--json"], { cwd: makeWorkspace() });
    expect(exit).toBe(2);
    const { error } = JSON.parse(stdout) as { error: Record<string, unknown> };
    expect(Object.keys(error).sort()).toEqual(["code", "details", "fix", "message", "where"]);
    expect(error["code"]).toBe("CONTRACT_UNKNOWN");
  });

  it("tells an old Node what is missing", async () => {
    const old = "data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.18.1'})";
    const { exit, stderr } = await runCli(["ledger", "show"], { cwd: makeWorkspace(), node: ["--import", old] });
    expect([exit, stderr]).toEqual([2, expect.stringContaining("error[NODE_TOO_OLD]")]);
  });
});

describe("a configuration that is not one", () => {
  it.each([
    ["{", "CONFIG_INVALID", "verbatim.config.json:1:2"],
    ['{"context":{"sources":[]}}', "CONFIG_INVALID", "/context/sources"],
    ['{\n "context": {\n  "source": ["*.md"]\n }\n}', "CONFIG_INVALID", "verbatim.config.json:3:3"],
    ['{"a":1,"a":2}', "CONFIG_INVALID", "verbatim.config.json:1:8"],
    ['{"catalytic":{"memo":"yes"}}', "CONFIG_INVALID", "/catalytic/memo"],
  ])("%j is refused with its place and nothing is made", async (text, code, where) => {
    const cwd = makeWorkspace();
    writeFileSync(join(cwd, "verbatim.config.json"), text);
    const { exit, stderr } = await runHere(["index", "build"], { cwd });
    expect([exit, stderr]).toEqual([2, expect.stringContaining(`error[${code}]`)]);
    expect(stderr).toContain(where);
    expect(existsSync(join(cwd, ".verbatim", "state", "clock"))).toBe(false);
  });
});

describe("places on disk", () => {
  it("reading verbs create nothing; the first writing verb creates .verbatim and says so", async () => {
    const cwd = makeWorkspace();
    for (const verb of [["ledger", "show"], ["ledger", "verify"], ["doctor"], ["symbol", "list"]]) {
      expect((await runHere(verb, { cwd })).exit).toBe(0);
    }
    expect(readdirSync(cwd)).toEqual([]);
    const { exit, stderr } = await runHere(["index", "build"], { cwd });
    expect([exit, stderr]).toEqual([0, `created ${cwd}/.verbatim\n`]);
    expect(readFileSync(join(cwd, ".verbatim", ".gitignore"), "utf8")).toBe("*\n");
    expect((await runHere(["index", "build"], { cwd })).stderr).toBe("");
  });

  it("finds the workspace from a folder below, and with -C from outside", async () => {
    const cwd = makeWorkspace();
    mkdirSync(join(cwd, "a", "b"), { recursive: true });
    writeFileSync(join(cwd, "verbatim.config.json"), '{"context":{"sources":["*.md"]}}');
    writeFileSync(join(cwd, "one.md"), "# One\n");
    const below = await runHere(["index", "build", "--json"], { cwd: join(cwd, "a", "b") });
    expect(JSON.parse(below.stdout)).toMatchObject({ files: 1, sections: 1 });
    const outside = await runCli(["-C", cwd, "index", "verify", "--json"], { cwd: makeFolder() });
    expect(JSON.parse(outside.stdout)).toMatchObject({ ok: true });
  });

  it("refuses a state folder that is a link somewhere else", async () => {
    const cwd = makeWorkspace();
    const elsewhere = makeFolder();
    symlinkSync(elsewhere, join(cwd, ".verbatim"));
    const { exit, stderr } = await runHere(["index", "build"], { cwd });
    expect([exit, stderr]).toEqual([2, expect.stringContaining("error[PATH_REFUSED]")]);
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  it("keeps a newer store as it is", async () => {
    const cwd = makeWorkspace();
    await runHere(["index", "build"], { cwd });
    const { DatabaseSync } = await import("../support/raw-sqlite.ts");
    const place = join(cwd, ".verbatim", "state", "store.db");
    const database = new DatabaseSync(place);
    database.exec("pragma user_version = 9999");
    database.close();
    const { exit, stderr } = await runHere(["index", "build"], { cwd });
    expect([exit, stderr]).toEqual([2, expect.stringContaining("error[STORE_FROM_FUTURE]")]);
  });
});

describe("init", () => {
  it("proposes without writing, writes with --yes, and never overwrites", async () => {
    const cwd = makeWorkspace();
    mkdirSync(join(cwd, "docs", "deep"), { recursive: true });
    writeFileSync(join(cwd, "docs", "deep", "lamp.md"), "# Lamp\n");
    writeFileSync(join(cwd, "package.json"), '{"scripts":{"test":"node --test"}}');
    const proposal = await runHere(["init", "--json"], { cwd });
    expect(JSON.parse(proposal.stdout)).toMatchObject({
      written: false,
      config: {
        context: { sources: ["docs/**/*.md"] },
        workflow: { verify: { gates: { lite: [{ argv: ["npm", "test"] }] } } },
      },
    });
    expect(existsSync(join(cwd, "verbatim.config.json"))).toBe(false);
    expect((await runHere(["init", "--yes"], { cwd })).exit).toBe(0);
    const written = readFileSync(join(cwd, "verbatim.config.json"), "utf8");
    const again = await runHere(["init", "--yes"], { cwd });
    expect([again.exit, again.stderr]).toEqual([2, expect.stringContaining("error[FILE_EXISTS]")]);
    expect(readFileSync(join(cwd, "verbatim.config.json"), "utf8")).toBe(written);
    expect((await runHere(["doctor"], { cwd })).exit).toBe(0);
  });
});

describe("keys, checkpoints and proofs", () => {
  it("go from a new key to a trusted checkpoint and an offline proof", async () => {
    const cwd = makeWorkspace();
    const made = JSON.parse((await runHere(["keys", "new", "mira", "--json"], { cwd })).stdout) as Record<
      string,
      string
    >;
    expect(statSync(made["private_file"]!).mode & 0o777).toBe(0o600);
    expect((await runHere(["keys", "new", "mira"], { cwd })).stderr).toContain("error[KEY_EXISTS]");
    await runHere(["keys", "policy", "init", "trust.json", "--key", "mira", "--scope", "CHECKPOINT"], { cwd });
    await runHere(["ledger", "checkpoint", "--key", "mira"], { cwd });
    const signed = await runHere(["ledger", "checkpoint", "--key", "mira", "--out", "c.dsse.json"], { cwd });
    expect(signed.exit).toBe(0);
    const verified = await runHere(
      ["ledger", "verify", "--checkpoint", "c.dsse.json", "--trust", "trust.json", "--json"],
      { cwd },
    );
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, entries: 2, trust: { verdict: "TRUSTED" } });
    const entries = (await runHere(["ledger", "export"], { cwd })).stdout.trimEnd().split("\n");
    const { hash } = JSON.parse(entries[0]!) as { hash: string };
    const proof = (await runHere(["ledger", "prove", "--entry", hash, "--json"], { cwd })).stdout;
    const elsewhere = makeFolder();
    const checked = await runHere(["ledger", "check-proof", "-"], { cwd: elsewhere, stdin: proof });
    expect([checked.exit, checked.stdout]).toEqual([0, expect.stringContaining("holds")]);
    const forged = proof.replace('"index":0', '"index":1');
    expect((await runHere(["ledger", "check-proof", "-"], { cwd: elsewhere, stdin: forged })).exit).toBe(1);
  });

  it("an unknown signer is not trusted, whatever the checkpoint says", async () => {
    const cwd = makeWorkspace();
    for (const name of ["mira", "tomas"]) await runHere(["keys", "new", name], { cwd });
    await runHere(["keys", "policy", "init", "trust.json", "--key", "tomas"], { cwd });
    await runHere(["ledger", "checkpoint", "--key", "mira", "--out", "c.dsse.json"], { cwd });
    const verified = await runHere(
      ["ledger", "verify", "--checkpoint", "c.dsse.json", "--trust", "trust.json", "--json"],
      { cwd },
    );
    expect(verified.exit).toBe(1);
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: false, trust: { code: "TRUST_THRESHOLD_NOT_MET" } });
  });
});

describe("contract check", () => {
  it("judges a file with every code, pointer and line; exit 0, 1 or 2", async () => {
    const cwd = makeWorkspace();
    const budgets = '{"max_symbols":1,"max_sections":1,"max_bytes_expanded":1,"max_expands_per_step":1}';
    writeFileSync(join(cwd, "good.json"), budgets);
    writeFileSync(join(cwd, "bad.json"), '{\n "max_symbols": -1,\n "max_sections": 1.0,\n "more": 1\n}');
    writeFileSync(join(cwd, "broken.json"), "{");
    expect((await runHere(["contract", "check", "budgets", "good.json"], { cwd })).exit).toBe(0);
    const bad = await runHere(["contract", "check", "context/budgets", "bad.json", "--json"], { cwd });
    expect(bad.exit).toBe(1);
    const { problems } = JSON.parse(bad.stdout) as { problems: { code: string; pointer: string; where: string }[] };
    expect(problems.map(({ code, pointer, where }) => [code, pointer, where])).toEqual([
      ["FIELD_MISSING", "/max_bytes_expanded", "bad.json:1:1"],
      ["FIELD_MISSING", "/max_expands_per_step", "bad.json:1:1"],
      ["FIELD_TYPE", "/max_sections", "bad.json:3:2"],
      ["FIELD_VALUE", "/max_symbols", "bad.json:2:2"],
      ["FIELD_UNKNOWN", "/more", "bad.json:4:2"],
    ]);
    expect((await runHere(["contract", "check", "budgets", "broken.json"], { cwd })).exit).toBe(2);
  });
});

describe("conformance", () => {
  it("passes the hall's vectors, fails with exit 1 on one wrong expectation, with 2 on an unknown area", async () => {
    const cwd = makeWorkspace();
    const file = new URL("../vectors/canonical-json.json", import.meta.url).pathname;
    const good = await runHere(["conformance", file], { cwd });
    expect([good.exit, good.stdout]).toEqual([0, "41 passed, 0 failed, 0 skipped\n"]);
    const wrong = readFileSync(file, "utf8").replace('\\"u\\":false', '\\"u\\":true');
    const bad = await runCli(["conformance", "-"], { cwd, stdin: wrong });
    expect(bad.exit).toBe(1);
    expect(bad.stdout).toMatch(/^mismatch cj-001 .*\n40 passed, 1 failed, 0 skipped\n$/);
    const unknown = '[{"id":"x","area":"nobody","name":"n","input":{},"expected":{},"why":""}]';
    expect((await runHere(["conformance", "-"], { cwd, stdin: unknown })).exit).toBe(2);
  });
});

describe("completion", () => {
  it("offers the verbs of a noun in a real bash", async () => {
    const cwd = makeWorkspace();
    const { stdout } = await runCli(["completion", "bash"], { cwd });
    const { execFileSync } = await import("node:child_process");
    const script = `${stdout}\nCOMP_WORDS=(verbatim ledger pro); COMP_CWORD=2; _verbatim; echo "\${COMPREPLY[*]}"`;
    expect(execFileSync("bash", ["-c", script], { encoding: "utf8" }).trim()).toBe("prove prove-consistency");
  });

  it.each(["zsh", "fish"])("prints a script for %s", async (shell) => {
    const { exit, stdout } = await runHere(["completion", shell], { cwd: makeWorkspace() });
    expect([exit, stdout]).toEqual([0, expect.stringContaining("ledger")]);
  });
});

describe("demo", () => {
  it("shows every step as good, in 80 columns, without a terminal", async () => {
    const { exit, stdout } = await runCli(["demo"], { cwd: makeWorkspace() });
    expect(exit).toBe(0);
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    expect(stdout).not.toContain("✗");
  });
});
