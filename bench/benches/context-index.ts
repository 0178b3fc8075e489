import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildIndex } from "../../src/rooms/context/index/index-build.ts";
import { type ContextRoom, openRoom } from "../../test/support/context-room.ts";
import type { Bench } from "../harness.ts";
import { makePages, openCorpus } from "../markdown-corpus.ts";
import { ROOT } from "../places.ts";

const CORPUS = "seeded Markdown files of 4.1 kB, ten sections each, 41 MB at 10,000 files";
const SOURCES = { sources: ["docs/**/*.md"] };
const PACKER = join(ROOT, "bench/node_modules/repomix/bin/repomix.cjs");

/** Stores without an index, opened beforehand: opening one is not part of a build. */
async function openRooms(root: string, count: number) {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-bench-"));
  const open = (i: number) => openRoom({ root, state: join(folder, `state-${i}`), config: SOURCES });
  const fresh: ContextRoom[] = [];
  for (let i = 0; i < count; i++) fresh.push(await open(i));
  const used: ContextRoom[] = [];
  return {
    folder,
    async next(): Promise<ContextRoom> {
      const room = fresh.pop() ?? (await open(count + used.length));
      used.push(room);
      return room;
    },
    async close() {
      for (const room of [...fresh, ...used]) await room.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The first index of a corpus, on disk at the end. */
export const contextCold: Bench = {
  name: "context-cold",
  what: "first index of N Markdown files: walk, read, sections, hashes, store",
  baseline: "sha256sum over the same files, and reading them once in Node",
  corpus: CORPUS,
  sizes: [2_500, 10_000],
  maxGrowth: 1.1,
  goal: { kind: "time", atMost: 2.5 },
  async prepare(size) {
    const root = await openCorpus(size);
    const rooms = await openRooms(root, 8);
    const files = Array.from(makePages(size), ({ path }) => join(root, path));
    const list = join(rooms.folder, "files");
    writeFileSync(list, files.join("\0"));
    return {
      ours: async () => buildIndex(await rooms.next(), { full: false }),
      baseline() {
        const { status } = spawnSync("xargs", ["-0", "-a", list, "sha256sum"], {
          stdio: ["ignore", "ignore", "inherit"],
        });
        if (status !== 0) throw new Error("sha256sum failed");
        for (const file of files) readFileSync(file);
      },
      close: () => rooms.close(),
    };
  },
};

/** What a build costs when nothing changed. */
export const contextUnchanged: Bench = {
  name: "context-unchanged",
  what: "index of N Markdown files again, nothing changed",
  baseline: "git status on the same tree",
  corpus: CORPUS,
  sizes: [2_500, 10_000],
  maxGrowth: 1.1,
  goal: { kind: "time", atMost: 1.5 },
  async prepare(size) {
    const root = await openCorpus(size);
    const rooms = await openRooms(root, 1);
    const room = await rooms.next();
    await buildIndex(room, { full: false });
    return {
      ours: () => buildIndex(room, { full: false }),
      baseline() {
        const { status } = spawnSync("git", ["status", "--porcelain"], { cwd: root });
        if (status !== 0) throw new Error("git status failed");
      },
      close: () => rooms.close(),
    };
  },
};

/** The same first index against a tool that packs a repository for a model. */
export const contextPacker: Bench = {
  name: "context-packer",
  onAsking: true,
  what: "first index of N Markdown files",
  baseline: "repomix 1.14.0 on the same tree, without its security check",
  corpus: CORPUS,
  sizes: [10_000],
  goal: { kind: "rate", atLeast: 4 },
  maxRounds: 5,
  unavailable: () => (existsSync(PACKER) ? null : "repomix is not installed; npm ci --prefix bench installs it"),
  async prepare(size) {
    const root = await openCorpus(size);
    const rooms = await openRooms(root, 4);
    const args = [PACKER, "--quiet", "--no-security-check", "-o", join(rooms.folder, "packed.xml")];
    return {
      ours: async () => buildIndex(await rooms.next(), { full: false }),
      baseline() {
        const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
        if (status !== 0) throw new Error(`repomix failed: ${stderr}`);
      },
      close: () => rooms.close(),
    };
  },
};
