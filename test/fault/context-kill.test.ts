import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { buildIndex } from "../../src/rooms/context/index/index-build.ts";
import { verifyIndex } from "../../src/rooms/context/index/index-verify.ts";
import { buildChild, type ChildProgram } from "../support/child.ts";
import { openRoom } from "../support/context-room.ts";
import { DatabaseSync } from "../support/raw-sqlite.ts";

// Guards: a build that is killed at any point leaves the old index whole, and the next build needs no repair.

const FILES = 24;

let program: ChildProgram;
let folder: string;
let root: string;
let state: string;

beforeAll(async () => {
  program = await buildChild("test/fault/children/index-build.ts");
});

afterAll(() => program.remove());

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-kill-"));
  root = join(folder, "tree");
  state = join(folder, "state");
  mkdirSync(root);
  writeFiles("first");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function writeFiles(word: string): void {
  for (let i = 0; i < FILES; i++) writeFileSync(join(root, `page-${i}.md`), `# Page ${i}\n${word}\n## More\n${word}\n`);
}

async function readIndex(): Promise<string> {
  const room = await openRoom({ root, state });
  try {
    return await room.exported();
  } finally {
    await room.close();
  }
}

/** Rows of sections that no index names. */
function countRows(): number {
  const database = new DatabaseSync(join(state, "store.db"));
  try {
    return Number((database.prepare("select count(*) as n from context_file").get() as { n: number }).n);
  } finally {
    database.close();
  }
}

async function run(point: string, count: number, mode = "incremental") {
  return program.start([root, state, point, String(count), mode]).ended;
}

const POINTS = [
  ["read", 1],
  ["read", 12],
  ["read", FILES],
  ["transaction", 1],
  ["transaction", 5],
  // With rows staged file by file the last transaction is the one that publishes.
  ["transaction", FILES + 1],
] as const;

describe("a build that is killed", () => {
  it.each(POINTS)("at %s %i keeps the old index, and the next build is right", async (point, count) => {
    expect((await run("end", 0)).code).toBe(0);
    const before = await readIndex();
    writeFiles("second");
    const killed = await run(point, count);
    expect(killed, killed.errors).toMatchObject({ signal: "SIGKILL" });
    expect(await readIndex()).toBe(before);

    const room = await openRoom({ root, state });
    const built = await buildIndex(room, { full: false });
    expect(built).toMatchObject({ files: FILES, changed: { added: 0, modified: FILES, removed: 0 } });
    expect((await verifyIndex(room)).ok).toBe(true);
    await room.close();
    expect(countRows()).toBe(FILES);
  });

  it("at its very first try leaves no index at all", async () => {
    expect(await run("transaction", 3)).toMatchObject({ signal: "SIGKILL" });
    await expect(readIndex()).rejects.toMatchObject({ code: "INDEX_MISSING" });
    expect(await run("end", 0)).toMatchObject({ code: 0 });
    expect(countRows()).toBe(FILES);
  });

  it("again and again leaves nothing behind that adds up", async () => {
    expect((await run("end", 0)).code).toBe(0);
    for (const word of ["second", "third", "fourth"]) {
      writeFiles(word);
      expect(await run("transaction", 10, "full")).toMatchObject({ signal: "SIGKILL" });
    }
    expect(await run("end", 0)).toMatchObject({ code: 0 });
    expect(countRows()).toBe(FILES);
  });
});

describe("two builds at once", () => {
  it("wait for each other, and both end with the same index", async () => {
    const children = Array.from({ length: 4 }, () => program.start([root, state, "end", "0", "full"]));
    const ends = await Promise.all(children.map(({ ended }) => ended));
    expect(ends.map(({ code, errors }) => `${code} ${errors}`)).toEqual(Array(4).fill("0 "));
    expect(new Set(children.map(({ lines }) => lines[1])).size).toBe(1);
    expect(countRows()).toBe(FILES);
  });
});
