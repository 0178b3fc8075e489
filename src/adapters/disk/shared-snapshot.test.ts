import { execFileSync } from "node:child_process";
import { chmodSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { beginSnapshot } from "./shared-snapshot.ts";
import { snapshotTree } from "./tree-snapshot.ts";

const base = mkdtempSync(join(tmpdir(), "verbatim-shared-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const OPTIONS = { strict_mtime: false, max_entries: 100_000 };

function makeTree(name: string): string {
  const root = join(base, name);
  for (let i = 0; i < 30; i++) {
    mkdirSync(join(root, `d${i}/é/x`), { recursive: true });
    for (let j = 0; j < 20; j++) writeFileSync(join(root, `d${i}/f${j}`), `${i} ${j}`);
    writeFileSync(join(root, `d${i}/f`), `${i}`);
    writeFileSync(join(root, `d${i}/é/g`), "");
    symlinkSync("../nowhere", join(root, `d${i}/l`));
  }
  writeFileSync(join(root, "d5/large"), Buffer.alloc(700_001, "large"));
  writeFileSync(join(root, "d5/even"), Buffer.alloc(512 * 1024, "even"));
  writeFileSync(join(root, "d5/one-piece"), Buffer.alloc(256 * 1024, "one"));
  chmodSync(join(root, "d3/f"), 0o4755);
  chmodSync(join(root, "d4"), 0o1777);
  return root;
}

describe("a snapshot on two threads", () => {
  it("equals the snapshot on one", async () => {
    const root = makeTree("plain");
    const taken = await beginSnapshot(root, OPTIONS)();
    expect(taken).toEqual((await snapshotTree(root, OPTIONS)).entries);
  });

  it("is the careful one where names share a file", async () => {
    const root = makeTree("links");
    linkSync(join(root, "d1/f"), join(root, "d2/twin"));
    const taken = await beginSnapshot(root, OPTIONS)();
    expect(taken.get("d2/twin")).toMatchObject({ link_group: "d1/f" });
  });

  it("is the careful one, with its refusal, where something special lies", async () => {
    const root = makeTree("special");
    execFileSync("mkfifo", [join(root, "d7/pipe")]);
    await expect(beginSnapshot(root, OPTIONS)()).rejects.toMatchObject({ code: "SPECIAL_FILE_IN_DOMAIN" });
  });

  it("is empty for a folder that is not there", async () => {
    expect((await beginSnapshot(join(base, "none"), OPTIONS)()).size).toBe(0);
  });
});
