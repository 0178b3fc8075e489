import { spawnSync } from "node:child_process";
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runDisk } from "../../src/adapters/disk/runs/run-disk.ts";
import { makeCatalyticRepo } from "../support/catalytic-repo.ts";

const child = new URL("../support/catalytic-memory-child.ts", import.meta.url).pathname;

describe("a file of two gigabytes", () => {
  it.each(["ns-overlay", "ns-bind"])(
    "is read, copied and staged under %s in less than 200 MiB of memory",
    async (guard) => {
      const { base, root } = makeCatalyticRepo();
      const huge = join(root, ".verbatim/scratch/d/huge");
      writeFileSync(huge, "start");
      truncateSync(huge, 2 * 1024 ** 3);
      const args = ["--import", import.meta.resolve("tsx"), child, base, root, guard];
      const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
      await runDisk.discard(base);
      expect(stderr).toBe("");
      const { accepted, mib } = JSON.parse(stdout) as { accepted: boolean; mib: number };
      console.log(`${guard}: ${mib} MiB`);
      expect(accepted).toBe(true);
      expect(mib).toBeLessThan(200);
    },
  );
});
