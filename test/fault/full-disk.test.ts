import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createContentStore } from "../../src/adapters/disk/durable/content-store.ts";
import { openSqliteStore } from "../../src/adapters/sql/sqlite/store.ts";
import { expectUnbrokenChain } from "../support/chain.ts";
import { fixedPorts } from "../support/fixed-ports.ts";
import { needs } from "../support/needs.ts";

/** A small file system of its own, or why there cannot be one. */
function mountSmallDisk(): { readonly folder: string } | { readonly reason: string } {
  if (process.platform !== "linux" || process.getuid?.() !== 0)
    return { reason: "only root on Linux can mount a disk" };
  const folder = mkdtempSync(join(tmpdir(), "verbatim-small-disk-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=3m", "tmpfs", folder], { encoding: "utf8" });
  if (mounted.status === 0) return { folder };
  rmSync(folder, { recursive: true });
  return { reason: `mount failed: ${(mounted.stderr || String(mounted.error)).trim()}` };
}

/** Lazily, because SQLite's files stay open until the driver's statements are collected. */
function unmount(folder: string): void {
  spawnSync("umount", ["-l", folder]);
  rmSync(folder, { recursive: true });
}

const first = mountSmallDisk();
if ("folder" in first) unmount(first.folder);

describe("a full disk", needs("reason" in first ? first.reason : null), () => {
  let folder = "";
  let filler = "";

  // Each has a disk of its own: what the test before has removed takes space until it is collected, and is free then.
  beforeEach(() => {
    const disk = mountSmallDisk();
    if ("reason" in disk) throw new Error(disk.reason);
    folder = disk.folder;
    filler = join(folder, "filler");
    expect(statfsSync(folder).blocks).toBeGreaterThan(0);
  });

  afterEach(() => unmount(folder));

  function fill(leaveBytes: number): void {
    const { bavail, bsize } = statfsSync(folder);
    writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - leaveBytes)));
  }

  it("is DISK_FULL for an append, which leaves nothing, and the store goes on when there is space again", async () => {
    const path = join(folder, "store.db");
    const store = await openSqliteStore({ ...fixedPorts(), path });
    const append = (size: number) =>
      store.transact((tx) =>
        tx.ledger.append("context", "next", [{ kind: "NOTE_ADDED", actor: "cli", body: { text: "x".repeat(size) } }]),
      );
    await append(10);
    fill(200_000);
    let kept = 1;
    let thrown: unknown;
    while (thrown === undefined) {
      await append(20_000).then(
        () => kept++,
        (error: unknown) => {
          thrown = error;
        },
      );
    }
    expect(thrown).toMatchObject({ code: "DISK_FULL", where: path, fix: "Free some space and run the command again." });
    expect(await store.read((tx) => tx.ledger.size())).toBe(kept);
    rmSync(filler);
    await append(20_000);
    await store.close();

    const again = await openSqliteStore({ ...fixedPorts(), path });
    const entries = await again.read((tx) => tx.ledger.readStream("context", 0, 1000));
    expect(entries.length).toBe(kept + 1);
    expectUnbrokenChain(entries);
    await again.close();
  });

  it("is DISK_FULL for a store that is still to be made", async () => {
    fill(0);
    const path = join(folder, "fresh.db");
    await expect(openSqliteStore({ ...fixedPorts(), path })).rejects.toMatchObject({ code: "DISK_FULL", where: path });
    rmSync(filler);
    const store = await openSqliteStore({ ...fixedPorts(), path });
    expect(await store.read((tx) => tx.ledger.size())).toBe(0);
    await store.close();
  });

  it("is DISK_FULL for a payload, which leaves no unfinished file", async () => {
    const blobs = join(folder, "blobs");
    const content = createContentStore({ ...fixedPorts(), folder: blobs });
    const hash = await content.put(new Uint8Array(1000).fill(1));
    fill(40_000);
    await expect(content.put(new Uint8Array(500_000).fill(2))).rejects.toMatchObject({ code: "DISK_FULL" });
    expect(readdirSync(join(blobs, "tmp"))).toEqual([]);
    rmSync(filler);
    await content.put(new Uint8Array(500_000).fill(2));
    expect((await content.get(hash)).length).toBe(1000);
  });
});
