import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { diskFolder } from "../../../../test/support/memory-folder.ts";
import { resolveWorkflow } from "../../../core/contracts/config/index.ts";
import { buildPack } from "../../../rooms/workflow/librarian/librarian.ts";
import { createRepoReader } from "./repo-reader.ts";

const base = mkdtempSync(join(diskFolder(), "verbatim-reader-"));
const root = join(base, "repo");
mkdirSync(join(root, "src"), { recursive: true });
mkdirSync(join(root, ".git"));
mkdirSync(join(base, "outside"));
writeFileSync(join(root, ".git", "config"), "secret\n");
writeFileSync(join(root, "src", "a.txt"), "a\n");
writeFileSync(join(root, "src", "bad.bin"), Buffer.from([0x61, 0xff, 0xe2, 0x82, 0x62, 0xf0, 0x9f, 0x98]));
writeFileSync(join(root, ".env"), "KEY=1\n");
writeFileSync(join(base, "outside", "o.txt"), "outside\n");
symlinkSync("src/a.txt", join(root, "alias.txt"));
symlinkSync("../outside", join(root, "out"));
symlinkSync("../outside/o.txt", join(root, "o.txt"));
symlinkSync(".git/config", join(root, "conf"));
symlinkSync(".env", join(root, "settings.txt"));
symlinkSync("nowhere", join(root, "dangling"));
symlinkSync("loop", join(root, "loop"));
symlinkSync(root, join(base, "outside", "home"));
execFileSync("mkfifo", [join(root, "pipe")]);
afterAll(() => rmSync(base, { recursive: true }));

const pack = (paths: readonly string[], budget = { max_files: 50, max_total_bytes: 1000 }, needs?: never[]) => {
  const config = resolveWorkflow({ mandatory_docs: [] });
  const request = { goal: "g", reason: "r", budget, needs: needs ?? paths.map((path) => ({ path, mode: "full" })) };
  const rules = { mandatory_docs: [], deny_prefixes: [], secrets: config.secrets, max_snippet_file_bytes: 100 };
  return buildPack(request, "repo", rules, createRepoReader(root));
};

describe("the librarian on a real disk", () => {
  it.each([
    ["out/o.txt", "denied", "outside_repo"],
    ["o.txt", "denied", "outside_repo"],
    ["out/missing.txt", "not_found", "missing"],
    ["conf", "denied", "denied_prefix"],
    ["settings.txt", "denied", "secret_pattern"],
    ["dangling", "not_found", "missing"],
    ["loop", "not_found", "missing"],
    ["pipe", "not_found", "not_regular_file"],
    ["src", "not_found", "not_regular_file"],
    ["src/a.txt/x", "not_found", "missing"],
    [".GIT/config", "denied", "denied_prefix"],
  ])("leaves %s out: %s, %s", (path, reason, detail) => {
    expect(pack([path])).toMatchObject({ files: [], omitted: [{ path, reason, detail }] });
    // The same answer when there is no room left to read anything.
    expect(pack([path], { max_files: 0, max_total_bytes: 9 })).toMatchObject({ omitted: [{ path, reason, detail }] });
  });

  it("takes no text from a pipe that somebody writes to", () => {
    const writer = openSync(join(root, "pipe"), constants.O_RDWR | constants.O_NONBLOCK);
    try {
      writeSync(writer, "not a file\n");
      expect(pack(["pipe"])).toMatchObject({ files: [], omitted: [{ path: "pipe", detail: "not_regular_file" }] });
    } finally {
      closeSync(writer);
    }
  });

  it("reads a file of any size whole, and cuts one that does not fit", () => {
    const sizes = [0, 1, 262_143, 262_144, 262_145, 600_000];
    for (const size of sizes) writeFileSync(join(root, `${size}.txt`), "x".repeat(size));
    const budget = { max_files: 50, max_total_bytes: sizes.reduce((sum, size) => sum + size, 0) };
    const paths = sizes.map((size) => `${size}.txt`);
    expect(pack(paths, budget).files.map(({ content }) => content.length)).toEqual(sizes);
    const less = pack(paths, { ...budget, max_total_bytes: budget.max_total_bytes - 1 });
    expect(less.files.at(-1)).toMatchObject({ truncated: true, content: "x".repeat(599_999) });
  });

  it("follows links that stay inside, also from the outside back in", () => {
    expect(pack(["alias.txt", "out/home/src/a.txt"]).files.map(({ content }) => content)).toEqual(["a\n", "a\n"]);
  });

  it("replaces ill-formed bytes as WHATWG does and bills what it emits", () => {
    const { files, summary } = pack(["src/bad.bin"]);
    expect(files[0]?.content).toBe(
      new TextDecoder("utf-8", { ignoreBOM: true }).decode(
        Buffer.from([0x61, 0xff, 0xe2, 0x82, 0x62, 0xf0, 0x9f, 0x98]),
      ),
    );
    expect(summary).toContain("used_bytes=11/1000");
  });

  it("cuts between characters when invalid bytes no longer fit", () => {
    expect(pack(["src/bad.bin"], { max_files: 1, max_total_bytes: 5 }).files[0]).toMatchObject({
      content: "a\ufffd",
      truncated: true,
    });
  });

  it("never reads a snippet file that is too large, and never a part of one", () => {
    writeFileSync(join(root, "src", "long.txt"), "x".repeat(101));
    const need = { path: "src/long.txt", mode: "snippets", line_ranges: [[1, 1]] };
    expect(pack([], undefined, [need] as never[])).toMatchObject({
      omitted: [{ reason: "too_large", detail: "max_file_bytes" }],
    });
  });
});
