import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRunFolders } from "../../../../adapters/disk/runs/run-folders.ts";
import type { RunFolder } from "../../ports.ts";
import { BufferedRunFolder } from "./buffered-run-folder.ts";

let base: string;
let real: RunFolder;
let held: BufferedRunFolder;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "verbatim-held-"));
  mkdirSync(join(base, "repo"));
  const repoRoot = join(base, "repo");
  const identity = { repo_id: "0".repeat(32), root: repoRoot, common_dir: null };
  const port = { current: () => identity, settle: () => identity, livesAt: () => false };
  real = createRunFolders({ runsRoot: join(base, "runs"), slug: "repo", repoRoot, identity: port }).create("one");
  real.write("logs/old", "old\n");
  held = new BufferedRunFolder(real);
});

afterEach(() => rmSync(base, { recursive: true }));

const text = (bytes: Uint8Array | null) => (bytes === null ? null : Buffer.from(bytes).toString());

describe("a held folder", () => {
  it("shows what was written and leaves the disk as it was until the release", async () => {
    held.write("RUN.json", "{}");
    held.write("artifacts/a", "1");
    held.append("logs/old", "new\n");
    held.append("events", "first\n");
    expect(["RUN.json", "artifacts/a", "logs/old", "events"].map((path) => text(held.read(path)))).toEqual([
      "{}",
      "1",
      "old\nnew\n",
      "first\n",
    ]);
    expect([held.size("artifacts/a"), held.size("logs/old"), held.size("none")]).toEqual([1, 8, null]);
    expect(held.list().sort()).toEqual(["RUN.json", "artifacts/a", "events", "logs/old"]);
    expect(held.list("logs")).toEqual(["logs/old"]);
    expect([real.list(), text(real.read("logs/old"))]).toEqual([["logs/old"], "old\n"]);
    await held.release();
    expect(real.list().sort()).toEqual(["RUN.json", "artifacts/a", "events", "logs/old"]);
    expect(text(real.read("logs/old"))).toBe("old\nnew\n");
    expect(readdirSync(real.dir).filter((name) => name.startsWith(".tmp"))).toEqual([]);
  });

  it("writes RUN.json last, because it makes the folder a run", async () => {
    const written: string[] = [];
    const watched = new BufferedRunFolder({
      ...real,
      write: (path) => void written.push(path),
      writeAll: async (files) => void written.push(...files.map(([path]) => path)),
    });
    for (const path of ["RUN.json", "artifacts/a", "events"]) watched.write(path, "");
    await watched.release();
    expect(written).toEqual(["artifacts/a", "events", "RUN.json"]);
  });

  it("moves and removes what it holds", async () => {
    held.write("artifacts/a", "1");
    held.write("artifacts/b", "2");
    held.move("artifacts/a", "superseded/a");
    held.remove("artifacts");
    await held.release();
    expect(real.list().sort()).toEqual(["logs/old", "superseded/a"]);
  });

  it("writes at once when it has been released", async () => {
    await held.release();
    held.write("later", "1");
    held.append("later", "2");
    expect([held.isHeld, readFileSync(join(real.dir, "later"), "utf8")]).toEqual([false, "12"]);
  });
});
