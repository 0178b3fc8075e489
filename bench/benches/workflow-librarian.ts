import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createRepoReader } from "../../src/adapters/disk/source/repo-reader.ts";
import { formatArtifact } from "../../src/rooms/workflow/artifacts/json.ts";
import { buildPack } from "../../src/rooms/workflow/librarian/librarian.ts";
import type { Bench } from "../harness.ts";
import { seededIntegers, seededWords } from "../seed.ts";

const FILE_BYTES = 2_200;
const RULES = {
  mandatory_docs: [],
  deny_prefixes: [],
  secrets: { allow: [], deny_extra: [] },
  max_snippet_file_bytes: 268_435_456,
};

/** The same files on disk for ours and for the floor. */
function makeRepository(files: number): { readonly root: string; readonly paths: readonly string[]; close(): void } {
  const root = mkdtempSync(join(tmpdir(), "verbatim-bench-"));
  const text = seededWords(seededIntegers(1), FILE_BYTES).slice(0, FILE_BYTES);
  const paths = Array.from({ length: files }, (_, i) => `src/m${i % 100}/f${i}.ts`);
  for (const [i, path] of paths.entries()) {
    if (i < 100) mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `${i}\n${text}`);
  }
  return { root, paths, close: () => rmSync(root, { recursive: true }) };
}

function pack(root: string, paths: readonly string[], max_files = paths.length) {
  const request = {
    goal: "g",
    reason: "r",
    needs: paths.map((path) => ({ path, mode: "full" })),
    budget: { max_files, max_total_bytes: 1_000_000_000 },
  };
  return buildPack(request, "bench", RULES, createRepoReader(root));
}

export const workflowLibrarian: Bench = {
  name: "workflow-librarian",
  what: "a context pack of N full files of 2.2 kB, in memory",
  baseline: "readFileSync(path, utf8) of the same files",
  corpus: "seeded words in 100 folders, 11 MB at 5,000 files",
  sizes: [1_250, 5_000],
  goal: { kind: "time", atMost: 1.5 },
  async prepare(size) {
    const { root, paths, close } = makeRepository(size);
    return {
      ours: () => pack(root, paths).files.length,
      baseline: () => paths.map((path) => readFileSync(join(root, path), "utf8")).length,
      close,
    };
  },
};

export const workflowPackFile: Bench = {
  name: "workflow-pack-file",
  onAsking: true,
  what: "the same pack as JSON, hashed and written",
  baseline: "read, JSON.stringify, SHA-256 and write of the same data",
  corpus: "seeded words in 100 folders, 11 MB at 5,000 files",
  // Texts of more than about 8 MB cost Node and the system twice as much a byte, on both sides; before and after that
  // step the cost is linear.
  sizes: [500, 5_000],
  goal: { kind: "time", atMost: 1.5 },
  async prepare(size) {
    const { root, paths, close } = makeRepository(size);
    const keep = (text: string) => {
      writeFileSync(join(root, "pack.json"), text);
      return createHash("sha256").update(text).digest("hex");
    };
    return {
      ours: () => keep(formatArtifact(pack(root, paths))),
      baseline: () => {
        const files = paths.map((path) => ({
          path,
          why: "requested:r",
          content: readFileSync(join(root, path), "utf8"),
        }));
        return keep(JSON.stringify({ files }, null, 2));
      },
      close,
    };
  },
};

export const workflowSmallRequest: Bench = {
  name: "workflow-small-request",
  onAsking: true,
  what: "a request of 10 files in a repository of N files",
  baseline: "the same request in a repository of 100 files",
  corpus: "seeded words in 100 folders",
  sizes: [10_000, 100_000],
  goal: { kind: "time", atMost: 1.2 },
  async prepare(size) {
    const large = makeRepository(size);
    const small = makeRepository(100);
    const repeat = (root: string, paths: readonly string[]) => {
      for (let i = 0; i < 50; i++) pack(root, paths.slice(0, 10));
    };
    return {
      ours: () => repeat(large.root, large.paths),
      baseline: () => repeat(small.root, small.paths),
      close: () => {
        large.close();
        small.close();
      },
    };
  },
};

export const workflowOmitted: Bench = {
  name: "workflow-omitted",
  onAsking: true,
  what: "N needs under a budget of 100 files",
  baseline: "twice the 100-file case, and 10 ms for every 1,000 omitted needs",
  corpus: "seeded words in 100 folders",
  sizes: [1_250, 5_000],
  goal: { kind: "time", atMost: 1 },
  async prepare(size) {
    const { root, paths, close } = makeRepository(size);
    return {
      ours: () => pack(root, paths, 100).omitted.length,
      baseline: () => {
        pack(root, paths.slice(0, 100));
        pack(root, paths.slice(0, 100));
      },
      allowed_ms: (size - 100) / 100,
      close,
    };
  },
};
