import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writePages } from "../../bench/markdown-corpus.ts";
import { buildChild, type ChildProgram } from "../support/child.ts";

// Guards: paths and hashes are held in memory, contents are not: a corpus of 1 GB is indexed within 300 MB.

const FILES = 250_000;
const LIMIT_MB = 300;

let program: ChildProgram;
let folder: string;

beforeAll(async () => {
  program = await buildChild("test/support/context-memory-child.ts");
  folder = mkdtempSync(join(tmpdir(), "verbatim-memory-"));
  mkdirSync(join(folder, "tree"));
  writePages(join(folder, "tree"), FILES);
}, 1_200_000);

afterAll(() => {
  program.remove();
  rmSync(folder, { recursive: true, force: true });
}, 600_000);

describe("the index of a corpus of 1 GB", () => {
  it(`is built within ${LIMIT_MB} MB`, { timeout: 1_200_000 }, async () => {
    const child = program.start([join(folder, "tree"), join(folder, "state")]);
    const { code, errors } = await child.ended;
    expect(errors).toBe("");
    expect(code).toBe(0);
    const { files, megabytes } = JSON.parse(child.lines[0]!) as { files: number; megabytes: number };
    expect(files).toBe(FILES);
    expect(megabytes).toBeLessThan(LIMIT_MB);
  });
});
