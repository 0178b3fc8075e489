import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openApp } from "../../src/app/call.ts";
import { runInProcess } from "../support/cli-in-process.ts";

// The verbs of the context room as somebody types them: what --json has, what people read, and how they end.

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-context-cli-")));
  mkdirSync(join(root, "docs"));
  write("docs/guide.md", "# Guide\nintro\n## Use\none\n## Care\ntwo\n");
  writeFileSync(join(root, "verbatim.config.json"), '{"context":{"sources":["docs/**/*.md"]}}');
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string | Uint8Array): void {
  writeFileSync(join(root, path), text);
}

const run = (line: readonly string[], tty = false) => runInProcess(line, root, tty);

async function json<T = Record<string, unknown>>(...line: string[]): Promise<T> {
  const { stdout, exit } = await run([...line, "--json"]);
  expect(exit, stdout).toBe(0);
  return JSON.parse(stdout) as T;
}

const keys = (value: object) => Object.keys(value).sort();

describe("without an index", () => {
  it("the first search builds it, and says what to type next", async () => {
    write("docs/guide.md", "# Guide\n## Use it\n\tone lamp\n");
    const { stdout, exit } = await run(["search", "lamp"]);
    expect(exit).toBe(0);
    // A tab is shown as spaces, not as a character that cannot be printed.
    expect(stdout).toContain("  |     one lamp\n");
    const next = "next: verbatim expand 'docs/guide.md#Guide/Use it' --slice 'lines[0:2]'\n";
    expect(stdout.endsWith(next), stdout).toBe(true);
    expect((await run(["expand", "docs/guide.md#Guide/Use it", "--slice", "lines[0:2]"])).stdout).toBe(
      "## Use it\n\tone lamp",
    );
  });

  it("an address that cannot stand in quotes is given as an id", async () => {
    write("docs/guide.md", "# Mira's lamp\n");
    expect((await run(["search", "lamp"])).stdout).toMatch(/next: verbatim expand '[0-9a-f]{64}' /);
  });

  it("the first quotation builds it; what exists is left as it is", async () => {
    expect((await run(["expand", "docs/guide.md"])).exit).toBe(0);
    write("docs/guide.md", "# Changed\n");
    const { exit, stderr } = await run(["expand", "docs/guide.md"]);
    expect([exit, stderr]).toEqual([1, expect.stringContaining("error[CONTENT_HASH_MISMATCH]")]);
  });

  it("a program that does not ask for it is told so", async () => {
    await using app = openApp({ surface: "library", start: root, env: {}, platform: process.platform });
    await expect(app.call("context.search", { query: "lamp" })).rejects.toMatchObject({ code: "INDEX_MISSING" });
    expect(await app.call("context.search", { query: "intro", build: true })).toMatchObject({ total: 1 });
  });
});

describe("where there is nothing to index", () => {
  it("says why, without the folders of a contract that nobody named, and what to do", async () => {
    rmSync(join(root, "verbatim.config.json"));
    const built = await run(["index", "build"]);
    const none = "none: the folder is not a git repository, and the configuration names no sources";
    expect(built.stdout).toContain(`\nsources ${none}\n`);
    expect(built.stdout).not.toContain("LAW");
    expect(built.stdout).toMatch(
      /\nnext: verbatim init proposes sources; in a git repository none need to be named\n$/,
    );
    expect((await run(["index", "status"])).stdout).toContain(`\nsources  ${none}\n`);
    expect((await run(["search", "lamp"])).stdout).toBe(
      "0 of 0 sections\nnext: try fewer words; verbatim index status says what is searched and left out\n",
    );
  });
});

describe("index", () => {
  it("build says in its answer how it was made; --full reads everything", async () => {
    const first = await json("index", "build");
    expect(keys(first)).toEqual([
      ...["changed", "empty_globs", "files", "index_hash", "mode", "outline", "sections", "skipped_links", "sources"],
    ]);
    // The file and its title are one section: counting sections counts ids.
    expect(first).toMatchObject({
      files: 1,
      sections: 3,
      mode: "full",
      changed: { added: 1, modified: 0, removed: 0 },
    });
    expect(await json("index", "build")).toMatchObject({ mode: "incremental" });
    for (const line of [
      ["index", "build", "--full"],
      ["index", "--full", "build"],
      ["--full", "index", "build"],
    ]) {
      expect(await json(...line), line.join(" ")).toMatchObject({ mode: "full", index_hash: first["index_hash"] });
    }
    expect((await run(["index", "build"])).stdout).toContain("indexed 1 file, 3 sections (incremental: 0 added");
  });

  it("build shows its progress at a terminal and takes it away before it says how it went", async () => {
    for (let i = 0; i < 300; i++) write(`docs/page-${i}.md`, "# Page\n");
    const { both, stdout } = await run(["index", "build"], true);
    expect(both).toContain("░░░░ indexing  256 of 301\r\u001b[K");
    // The last line of progress is gone before the first line of the answer.
    expect(both).toMatch(/\r\u001b\[Kindexed 301 files/);
    expect(stdout).not.toContain("indexing");
    expect((await run(["index", "build", "--full", "--no-progress"], true)).both).not.toContain("indexing");
    expect((await run(["index", "build", "--full"])).stderr).toBe("");
  });

  it("verify, status, explain and export answer as promised", async () => {
    const { index_hash } = await json<{ index_hash: string }>("index", "build");
    expect(await json("index", "verify")).toEqual({
      ok: true,
      index_hash,
      actual_hash: index_hash,
      added: [],
      removed: [],
      changed: [],
    });
    expect(await json("index", "explain", "docs/guide.md")).toEqual({
      file_path: "docs/guide.md",
      source: true,
      sources: ["docs/**/*.md"],
      exclude: [],
      problem: null,
      rule: "configuration",
      tracked: null,
      left_out: null,
    });
    expect(await json("index", "export", "--out", join(root, "index.jsonl"))).toEqual({
      path: join(root, "index.jsonl"),
      index_hash,
      sections: 3,
    });
    const lines = (await run(["index", "export"])).stdout;
    expect(lines).toBe(readFileSync(join(root, "index.jsonl"), "utf8"));
    expect(lines.trimEnd().split("\n")).toHaveLength(4);
    write("docs/guide.md", "# Guide\nchanged\n");
    const verified = await run(["index", "verify", "--json"]);
    expect(verified.exit).toBe(1);
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: false, changed: ["docs/guide.md"] });
    expect(await json("index", "status")).toMatchObject({ index_hash, stale: ["docs/guide.md"], symbol_problems: [] });
  });

  it("shows a name that could draw on the terminal escaped, so that it can be told apart", async () => {
    write("docs/tab\tname\u001b.md", "# x\n");
    const { stderr, exit } = await run(["index", "build"]);
    expect(exit).toBe(1);
    expect(stderr).toContain(String.raw`  - SOURCE_PATH_INVALID at "docs/tab\tname\u001b.md"`);
    expect(stderr).not.toContain("\u001b.md");
  });

  it("takes a source whose name looks like a drive in every verb, and refuses one that is not there", async () => {
    write("docs/a.md", "# A\n");
    writeFileSync(join(root, "verbatim.config.json"), '{"context":{"sources":["*.md","docs/**/*.md"]}}');
    write("a:1.md", "# Colon\n");
    await json("index", "build");
    expect(await json("section", "list", "a:1.md")).toHaveLength(2);
    const rules = { rule: "configuration", tracked: null, left_out: null };
    const explained = { file_path: "a:1.md", source: true, sources: ["*.md"], exclude: [], problem: null, ...rules };
    expect(await json("index", "explain", "a:1.md")).toEqual(explained);
    await json("symbol", "add", "@N/FILE", "--file", "a:1.md", "--slice", "head(1)");
    await json("symbol", "add", "@N/HEADING", "--heading", "a:1.md#Colon", "--slice", "head(1)");
    expect(await json("expand", "@N/FILE")).toMatchObject({ expansions: [{ content: "# Colon" }] });
    for (const verb of [
      ["section", "list"],
      ["index", "explain"],
    ]) {
      for (const path of ["b:1.md", "a:/1.md", "a:1.md/../docs/a.md"]) {
        const refused = await run([...verb, path, "--json"]);
        expect(refused.exit, path).toBe(2);
        expect(JSON.parse(refused.stdout), path).toMatchObject({
          error: { code: "PATH_REFUSED", details: { reason: "PATH_ABSOLUTE" } },
        });
      }
    }
  });

  it("explains a file that looks like a drive whether it is indexed, left out, broken or gone", async () => {
    writeFileSync(join(root, "verbatim.config.json"), '{"context":{"sources":["**/*.md"],"exclude":["x:*.md"]}}');
    mkdirSync(join(root, "d:"));
    for (const [path, content] of Object.entries({ "a:1.md": "# A\n", "x:1.md": "# X\n", "d:/e.md": "# E\n" })) {
      write(path, content);
    }
    await json("index", "build");
    write("b:1.md", Uint8Array.from([0x61, 0xff]));
    rmSync(join(root, "a:1.md"));
    expect(await json("index", "explain", "a:1.md")).toMatchObject({ problem: "SOURCE_UNREADABLE" });
    expect(await json("index", "explain", "b:1.md")).toMatchObject({ problem: "SOURCE_NOT_UTF8" });
    expect(await json("index", "explain", "x:1.md")).toMatchObject({ source: false, exclude: ["x:*.md"] });
    expect(await json("index", "explain", "d:/e.md")).toMatchObject({ source: true });
    const unlisted = await run(["section", "list", "x:1.md", "--json"]);
    expect(JSON.parse(unlisted.stdout)).toMatchObject({ error: { code: "FILE_NOT_INDEXED" } });
  });

  it("names every bad file and every way on", async () => {
    write("docs/bad.md", Uint8Array.from([0x61, 0xff]));
    write("docs/.env.md", "x\n");
    writeFileSync(join(root, "verbatim.config.json"), '{"context":{"sources":["docs/**/*.md"],"max_file_bytes":20}}');
    const { exit, stderr } = await run(["index", "build"]);
    expect(exit).toBe(1);
    expect(stderr).toContain("SOURCE_SECRET at docs/.env.md");
    expect(stderr).toContain("SOURCE_NOT_UTF8 at docs/bad.md (byte 1)");
    expect(stderr).toContain("SOURCE_TOO_LARGE at docs/guide.md (37 bytes, 20 allowed)");
    for (const way of ["context.exclude", "context.max_file_bytes", "context.secrets.allow"]) {
      expect(stderr).toContain(way);
    }
  });
});

describe("symbol", () => {
  it("add answers with the Symbol and nothing else, and says when it was there", async () => {
    await json("index", "build");
    const line = ["symbol", "add", "@D/GUIDE", "--file", "docs/guide.md", "--slice", "head(2)"];
    const symbol = {
      symbol_id: "@D/GUIDE",
      target_type: "FILE",
      target_ref: "docs/guide.md",
      default_slice_policy: "head(2)",
    };
    expect(await json(...line)).toEqual(symbol);
    expect(await json(...line)).toEqual({ ...symbol, existing: true });
    expect((await run(line)).stdout).toContain("unchanged @D/GUIDE");
    expect(await json("symbol", "list")).toEqual([symbol]);
    const two = await run([...line, "--heading", "docs/guide.md#Guide"]);
    expect(two.exit).toBe(2);
    expect(two.stderr).toContain("exactly one of --file, --heading, --section");
  });

  it("list keeps the names whole and shows the id of a pinned section short, in full with --full", async () => {
    await json("index", "build");
    const [whole] = await json<{ section_id: string }[]>("section", "list");
    const id = whole!.section_id;
    await json("symbol", "add", "@DOCS/GUIDE_OF_THE_HARBOUR", "--section", id, "--slice", "lines[0:2]");
    await json(
      "symbol",
      "add",
      "@DOCS/GUIDE_OF_THE_TOWN",
      "--heading",
      "docs/guide.md#Guide/Use",
      "--slice",
      "head(1)",
    );
    const { stdout } = await run(["symbol", "list"]);
    expect(stdout.split("\n").slice(1, 3)).toEqual([
      `@DOCS/GUIDE_OF_THE_HARBOUR  SECTION  ${id.slice(0, 12)}             lines[0:2]`,
      "@DOCS/GUIDE_OF_THE_TOWN     HEADING  docs/guide.md#Guide/Use  head(1)",
    ]);
    expect((await run(["symbol", "list", "--full"])).stdout).toContain(` ${id} `);
  });

  it("import counts what it took in, and a path with ./ is told what is wrong with it", async () => {
    await json("index", "build");
    const symbol = { default_slice_policy: "head(1)", symbol_id: "@DOCS/GUIDE", target_type: "FILE" };
    write("symbols.jsonl", `${JSON.stringify({ ...symbol, target_ref: "docs/guide.md" })}\n`);
    expect((await run(["symbol", "import", "symbols.jsonl"])).stdout).toBe("imported 1 symbol, 0 already existed\n");
    const { stderr, exit } = await run(["symbol", "add", "@DOCS/G", "--file", "./docs/guide.md", "--slice", "head(1)"]);
    expect(exit).toBe(2);
    expect(stderr).toContain(
      "is not a source path: it must be relative to the root, with / between names, no . or .. segments",
    );
  });

  it("check names each symbol that would fail, also where the reason is a file", async () => {
    await json("index", "build");
    await json("symbol", "add", "@D/GUIDE", "--file", "docs/guide.md", "--slice", "head(2)");
    expect((await run(["symbol", "check"])).exit).toBe(0);
    write("docs/guide.md", "# Guide\n");
    const { exit, stdout } = await run(["symbol", "check"]);
    expect(exit).toBe(1);
    expect(stdout).toContain('@D/GUIDE CONTENT_HASH_MISMATCH "docs/guide.md" has changed');
  });
});

describe("expand", () => {
  it("gives a pipe exactly the bytes, and a terminal a fresh line after them", async () => {
    await json("index", "build");
    await json("symbol", "add", "@D/GUIDE", "--file", "docs/guide.md", "--slice", "head(2)");
    const piped = await run(["expand", "@D/GUIDE", "@D/GUIDE"]);
    expect(piped.stdout).toBe("# Guide\nintro# Guide\nintro");
    expect(piped.stderr.split("\n")).toHaveLength(3);
    expect(piped.stderr).toMatch(/^@D\/GUIDE head\(2\) docs\/guide\.md:0\.\.6 13 bytes [0-9a-f]{64}\n/);
    const { both, stdout } = await run(["expand", "@D/GUIDE", "@D/GUIDE"], true);
    expect(stdout).toBe(piped.stdout);
    expect(both).toMatch(/\n# Guide\nintro\n@D\/GUIDE head/);
    expect(keys(await json("expand", "@D/GUIDE"))).toEqual(["budget", "expansions", "run_id"]);
  });

  it("gives a pipe what a terminal would obey as it is, and a terminal without it", async () => {
    write("docs/guide.md", "# Guide\nplain\t\u001b[2J\u001b]0;owned\u0007 text\n");
    await json("index", "build");
    await json("symbol", "add", "@D/GUIDE", "--file", "docs/guide.md", "--slice", "lines[1:2]");
    expect((await run(["expand", "@D/GUIDE"])).stdout).toBe("plain\t\u001b[2J\u001b]0;owned\u0007 text");
    expect((await run(["expand", "@D/GUIDE"], true)).stdout).toBe("plain\t\ufffd[2J\ufffd]0;owned\ufffd text");
  });

  it("says what a run id is instead of showing a pattern", async () => {
    const { stderr, exit } = await run(["expand", "@DOCS/GUIDE", "--run-id", "7D0B1C9E-52A4-4F3B-9C77-1E2F3A4B5C6D"]);
    expect(exit).toBe(2);
    expect(stderr).toContain("error[INPUT_INVALID] /run_id: expected a UUID in lower case\n");
  });

  it("is generous at the command line and strict when told to be", async () => {
    await json("index", "build");
    await json("symbol", "add", "@D/GUIDE", "--file", "docs/guide.md", "--slice", "head(2)");
    const refs = Array.from({ length: 100 }, () => "@D/GUIDE");
    expect((await run(["expand", ...refs, "--quiet"])).exit).toBe(0);
    const refused = await run(["expand", ...refs, "@D/GUIDE"]);
    expect(refused).toMatchObject({ exit: 1, stdout: "" });
    expect(refused.stderr).toContain("error[BUDGET_EXPANDS] max_expands_per_step: 101 used, 100 allowed");
    expect(refused.stderr).toContain("--max-expands 101");
    expect((await run(["expand", "@D/GUIDE", "--max-bytes", "12"])).stderr).toContain("BUDGET_BYTES");
  });
});

describe("refusals", () => {
  it("name an address as it was typed", async () => {
    const far = await run(["expand", "docs/guide.md#Guide/Use", "--slice", "lines[0:9]"]);
    expect(far.stderr).toContain(
      "error[SLICE_OUT_OF_BOUNDS] lines[0:9] asks for 9 lines, docs/guide.md#Guide/Use has 2. Use lines[0:2].",
    );
    const much = await run(["expand", "docs/guide.md", "--max-bytes", "3"]);
    expect(much.stderr).toContain("(at docs/guide.md, number 1); nothing was returned");
    const unknown = await run(["expand", "docs/none.md"]);
    expect(unknown.stderr).toContain('error[FILE_NOT_INDEXED] "docs/none.md" is not in the index\n');
    expect((await run(["expand", "docs/none.md#Lamp"])).stderr).toContain('] "docs/none.md" is not in the index\n');
  });

  it("are in the ledger whoever asked, and looking at nothing makes no workspace", async () => {
    const reads = await run(["symbol", "show", "@NONE/A"]);
    expect([reads.exit, existsSync(join(root, ".verbatim"))]).toEqual([1, false]);
    await run(["index", "build"]);
    expect((await run(["expand", "@NONE/A"])).stderr).toContain("SYMBOL_UNKNOWN");
    for (const surface of ["mcp", "http", "library"] as const) {
      await using app = openApp({ surface, start: root, env: {}, platform: process.platform });
      await expect(app.call("context.expand", { refs: ["@NONE/A"] })).rejects.toMatchObject({ code: "SYMBOL_UNKNOWN" });
    }
    const { entries } = await json<{ entries: { kind: string; actor: string; body: object }[] }>("ledger", "show");
    const refused = entries.filter(({ kind }) => kind === "REFUSED").map(({ actor, body }) => ({ actor, ...body }));
    const asked = { operation: "context.expand", code: "SYMBOL_UNKNOWN", input: { refs: ["@NONE/A"] } };
    expect(refused).toMatchObject(["cli", "mcp", "http", "library"].map((actor) => ({ actor, ...asked })));
  });
});
