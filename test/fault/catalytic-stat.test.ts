import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runDisk } from "../../src/adapters/disk/runs/run-disk.ts";
import { fileSystemOf } from "../../src/adapters/disk/stat/mounts.ts";
import { isStatTrusted } from "../../src/adapters/disk/stat/stat-trust.ts";
import { runInView } from "../../src/rooms/catalytic/view/view.ts";
import { openCatalytic } from "../support/catalytic-repo.ts";
import { MAPPED_WRITE } from "../support/mapped-write.ts";
import { diskFolder } from "../support/memory-folder.ts";

/** Folders on file systems of different kinds. */
const PLACES = [diskFolder(), "/dev/shm"].filter((place) => existsSync(place));

describe.each(PLACES)("the stat of files in %s", (place) => {
  let base: string;

  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(place, "verbatim-stat-")));
  });

  afterEach(() => runDisk.discard(base));

  it("is believed only where a write through a mapping shows in it", () => {
    if (fileSystemOf(base) === "tmpfs") expect(isStatTrusted(base)).toBe(false);
    if (fileSystemOf(base) === "ext4") expect(isStatTrusted(base)).toBe(true);
    expect(isStatTrusted(join(base, "nowhere"))).toBe(false);
  });

  it("does not let a view begin with what a file was before", async () => {
    const root = join(base, "repo");
    execFileSync("git", ["init", "-q", root]);
    writeFileSync(join(root, "a.txt"), "old\n");
    const room = openCatalytic(base, root);
    const view = async (run_id: string) => {
      await runInView(room.ports, { ...room.places, command: ["true"], intent: "Look", run_id });
      const text = readFileSync(join(root, ".verbatim/runs", run_id, "PRE_TREE.json"), "utf8");
      return (JSON.parse(text) as Record<string, Record<string, { sha256: string }>>)["."]?.["a.txt"]?.sha256;
    };
    const sum = (text: string) => createHash("sha256").update(text).digest("hex");
    // What is young is never kept, so the file has to be old before anybody looks.
    execFileSync("sleep", ["2.1"]);
    expect(await view("view-1")).toBe(sum("old\n"));
    execFileSync(MAPPED_WRITE[0]!, [...MAPPED_WRITE.slice(1), join(root, "a.txt")]);
    expect(await view("view-2")).toBe(sum("Xld\n"));
    await room.close();
  });
});
