import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { buildIndex } from "../../src/rooms/context/index/index-build.ts";
import { verifyIndex } from "../../src/rooms/context/index/index-verify.ts";
import { formatSectionLines } from "../../src/rooms/context/sections/section-index.ts";
import { sectionsOf } from "../../src/rooms/context/sections/sections.ts";
import { decodeSource } from "../../src/rooms/context/sources/source.ts";
import { openRoom } from "./context-room.ts";
import { EditScript, passTick } from "./edit-scripts.ts";
import { seededNumbers } from "./markdown-fuzz.ts";

const HOUR = 3_600_000;
const TICK = 2000;

/** With "racy" edits come within one tick of a slow clock; with "settled" an hour seems to pass before every build. */
export type Pace = "racy" | "settled";

/** Runs random edit scripts with builds in between; each index must have the bytes of a full build. */
export async function checkScripts(pace: Pace, seeds: readonly number[]): Promise<{ builds: number; reads: number }> {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-edits-"));
  let builds = 0;
  let reads = 0;
  try {
    for (const seed of seeds) {
      const root = join(folder, `tree-${seed}`);
      mkdirSync(root);
      const next = seededNumbers(seed);
      const time = pace === "settled" ? { later: HOUR } : { tick: TICK };
      const room = await openRoom({ root, state: join(folder, `state-${seed}`), ...time });
      const script = new EditScript(root, next);
      const done: string[] = [];
      for (let step = 0; step < 6; step++) {
        if (pace === "settled") passTick(join(folder, "probe"));
        for (let i = 1 + next(3); i > 0; i--) done.push(script.edit());
        script.dropDangling();
        done.push("BUILD");
        await buildIndex(room, { full: false });
        const label = `seed ${seed} (${pace}): ${done.join(", ")}`;
        expect(await room.exported(), label).toBe(listSections(root));
        builds++;
      }
      expect((await verifyIndex(room)).ok).toBe(true);
      reads += room.watched.reads.length;
      await room.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { builds, reads };
}

/** SECTION_INDEX of the Markdown files below a folder, from nothing but the files; links to folders are not followed. */
function listSections(root: string): string {
  const paths: string[] = [];
  const visit = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) visit(path);
      else if (path.endsWith(".md") && statSync(join(root, path)).isFile()) paths.push(path);
    }
  };
  visit("");
  paths.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return paths
    .map((path) => formatSectionLines(sectionsOf(nodeCrypto, path, decodeSource(readFileSync(join(root, path)), path))))
    .join("");
}
