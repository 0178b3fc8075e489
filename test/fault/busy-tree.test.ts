import { spawn } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { runDisk } from "../../src/adapters/disk/runs/run-disk.ts";
import { createTreeMemory } from "../../src/adapters/disk/source/tree-memory.ts";
import { snapshotTree } from "../../src/adapters/disk/tree/tree-snapshot.ts";
import { createCatalyticPorts, toCatalyticPlaces } from "../../src/app/compose/catalytic-ports.ts";
import { runInView } from "../../src/rooms/catalytic/view/view.ts";
import { diskFolder } from "../support/memory-folder.ts";
import { makeNodeRepo, needGuard, openComposition } from "../support/verification-repo.ts";

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(diskFolder(), "verbatim-busy-")));
  mkdirSync(join(root, "b"));
  writeFileSync(join(root, "a.txt"), "a\n");
  writeFileSync(join(root, "b/c.txt"), "c\n");
  writeFileSync(join(root, "z.log"), "one\n");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

const options = { strict_mtime: false, max_entries: 99 };
/** SHA-256 of "one\ntwo\n". */
const TWO_LINES = nodeCrypto.sha256("one\ntwo\n");

/** A look at the tree; what happens between the look and the reading is done by the test. */
async function look(between: () => void) {
  const trees = createTreeMemory({
    place: () => null,
    context: async () => "",
    now: () => Date.now(),
    crypto: nodeCrypto,
    isTrusted: () => true,
  });
  const scan = (await trees.look(root, { hidden: [], max_entries: 99 }))!;
  between();
  try {
    const entries = await scan.read(
      () => true,
      () => undefined,
    );
    return { entries, busy: scan.busy };
  } finally {
    scan.close();
  }
}

describe("a look at a tree that does not stand still", () => {
  it("takes a file as it is when it is read, though it was another when it was looked at", async () => {
    const { entries, busy } = await look(() => appendFileSync(join(root, "z.log"), "two\n"));
    expect(entries.get("z.log")).toMatchObject({ type: "file", size: 8, sha256: TWO_LINES });
    expect(busy).toEqual([]);
  });

  it("lists what went away, or became something else, and goes on", async () => {
    const { entries, busy } = await look(() => {
      unlinkSync(join(root, "z.log"));
      unlinkSync(join(root, "a.txt"));
      mkdirSync(join(root, "a.txt"));
    });
    expect([...entries.keys()]).toEqual([".", "b", "b/c.txt"]);
    expect(busy).toEqual(["a.txt", "z.log"]);
  });
});

describe("a careful reading", () => {
  /** Changes the tree when a path is about to be read. */
  const meddle = (at: string, work: () => void) => (path: string) => {
    if (path === at) work();
    return undefined;
  };

  it("of a view lists what goes away while it is read", async () => {
    const busy: string[] = [];
    const gone = meddle("a.txt", () => {
      unlinkSync(join(root, "z.log"));
      unlinkSync(join(root, "b/c.txt"));
      rmdirSync(join(root, "b"));
    });
    const { entries } = await snapshotTree(root, { ...options, lenient: true, busy, knownHash: gone });
    const files = [...entries].filter(([, entry]) => entry.type === "file").map(([path]) => path);
    expect(files).toEqual(["a.txt"]);
    expect(busy.toSorted()).toEqual(["b", "z.log"]);
  });

  it("of a domain refuses: DOMAIN_CHANGED_DURING_SNAPSHOT", async () => {
    const gone = meddle("a.txt", () => unlinkSync(join(root, "z.log")));
    await expect(snapshotTree(root, { ...options, knownHash: gone })).rejects.toMatchObject({
      code: "DOMAIN_CHANGED_DURING_SNAPSHOT",
    });
  });
});

describe("a server that writes into the repository all the time", () => {
  it.for([
    ["ns-overlay", "on the disk"],
    ["ns-bind", "on the disk"],
    ["landlock", "on the disk"],
    ["ns-overlay", "in memory"],
    ["ns-bind", "in memory"],
  ] as const)(
    "does not keep an agent from its view under %s %s, and what it writes is not the agent's",
    async ([guard, place], { skip }) => {
      const repo = place === "on the disk" ? makeNodeRepo(diskFolder()) : makeNodeRepo();
      const composition = openComposition(repo);
      await needGuard(composition, guard, skip);
      const log = join(repo.root, "server.txt");
      writeFileSync(log, "");
      const server = spawn(process.execPath, [
        "-e",
        `const fs = require("fs"); const f = fs.openSync(${JSON.stringify(log)}, "a"); for (;;) { fs.writeSync(f, "x".repeat(4096)); if (fs.fstatSync(f).size > 2 ** 24) fs.ftruncateSync(f, 0); }`,
      ]);
      try {
        await expect.poll(() => readFileSync(log).length).toBeGreaterThan(0);
        const { run, busy, changes } = await runInView(createCatalyticPorts(composition), {
          ...toCatalyticPlaces(composition),
          command: ["sh", "-c", "echo mended > src/date.js; rm test.js; mkdir new; echo made > new/file.txt"],
          intent: "Work beside a server",
          guard,
        });
        const { added, removed, changed, refused } = changes;
        const all = [added, removed, changed].map((paths) => [...paths.keys()]);
        expect([...all, refused]).toEqual([["new", "new/file.txt"], ["test.js"], ["src/date.js"], []]);
        // On a busy machine the server may rest just while its file is read.
        expect(busy.filter((path) => path !== "server.txt")).toEqual([]);
        // Where the kernel vouches for the real tree, others may change it; elsewhere it may have been the command.
        if (guard !== "landlock") expect([run.accepted, changes.concurrent]).toEqual([true, ["server.txt"]]);
      } finally {
        server.kill("SIGKILL");
        await composition.close();
        await runDisk.discard(repo.base);
      }
    },
  );
});
