// Domains, outputs and settings that a run refuses, each with its code, as the room meets them on a real disk.
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runDisk } from "../../src/adapters/disk/runs/run-disk.ts";
import { snapshotTree } from "../../src/adapters/disk/tree/tree-snapshot.ts";
import type { CatalyticPorts } from "../../src/rooms/catalytic/ports.ts";
import { recoverRuns } from "../../src/rooms/catalytic/recover/recover.ts";
import { makeCatalyticRepo, openCatalytic, type TestRun, toJobSpec } from "../support/catalytic-repo.ts";

const D = ".verbatim/scratch/d";
const OUT = ".verbatim/out";
const IS_ROOT = process.getuid?.() === 0;
let base: string;
let root: string;
let room: TestRun;

beforeEach(() => {
  ({ base, root } = makeCatalyticRepo());
  room = openCatalytic(base, root);
});

afterEach(async () => {
  await room.close();
  await runDisk.discard(base);
});

const run = (more: object = {}, command: readonly string[] = ["true"]) => room.run(toJobSpec(command, more));

async function reopen(config: object, change?: (ports: CatalyticPorts) => CatalyticPorts): Promise<void> {
  await room.close();
  writeFileSync(join(root, "verbatim.config.json"), JSON.stringify({ catalytic: config }));
  room = openCatalytic(base, root, change);
}

describe("a domain that cannot be put back", () => {
  it("because a name in it is not UTF-8", async () => {
    writeFileSync(Buffer.concat([Buffer.from(`${join(root, D)}/bad`), Buffer.from([0xff])]), "x");
    await expect(run()).rejects.toMatchObject({ code: "NAME_NOT_UTF8", where: `${D}/bad\\xff` });
  });

  it("because a link in it leads to bytes that are not UTF-8", async () => {
    symlinkSync(Buffer.from([0x61, 0xff]), join(root, D, "odd"));
    await expect(run()).rejects.toMatchObject({ code: "LINK_TARGET_NOT_UTF8", where: `${D}/odd` });
  });

  it("because it holds more than may be read", async () => {
    await reopen({ limits: { max_entries: 5 } });
    await expect(run()).rejects.toMatchObject({ code: "DOMAIN_TOO_LARGE" });
  });

  it("because somebody changes it while it is read", async () => {
    const swap = (path: string): undefined => {
      if (path === "run.sh") symlinkSync("a.txt", join(root, D, "run.sh.new"));
      if (path === "run.sh") spawnSync("mv", ["-T", join(root, D, "run.sh.new"), join(root, D, "run.sh")]);
    };
    const options = { strict_mtime: false, max_entries: 99, knownHash: swap };
    await expect(snapshotTree(join(root, D), options)).rejects.toMatchObject({
      code: "DOMAIN_CHANGED_DURING_SNAPSHOT",
      where: "run.sh",
    });
  });

  it("because it belongs to somebody else and is closed", async ({ skip }) => {
    if (!IS_ROOT) skip("only root can give a file away");
    const place = join(root, D, "closed");
    mkdirSync(place);
    chownSync(place, 12_345, 12_345);
    chmodSync(place, 0o700);
    for (const open of [join(root, D, "empty"), base]) chmodSync(open, 0o755);
    const options = { strict_mtime: false, max_entries: 99, lenient: true };
    process.seteuid!(65_534);
    try {
      // First because the way to it is closed, then because a folder in it is.
      await expect(snapshotTree(join(root, D), options)).rejects.toMatchObject({
        code: "DOMAIN_UNREADABLE",
        where: ".",
      });
      process.seteuid!(0);
      chmodSync(join(root, ".verbatim"), 0o755);
      process.seteuid!(65_534);
      await expect(snapshotTree(join(root, D), options)).rejects.toMatchObject({
        code: "DOMAIN_UNREADABLE",
        where: "closed",
      });
    } finally {
      process.seteuid!(0);
    }
  });

  it("because an overlay without root could not copy what belongs to somebody else", async ({ skip }) => {
    if (!IS_ROOT) skip("only root can give a file away");
    chownSync(join(root, D, "sub/b.txt"), 12_345, 12_345);
    await reopen({}, (ports) => ({ ...ports, host: { ...ports.host, uid: 1000 } }));
    await expect(run({ guard: "ns-overlay" })).rejects.toMatchObject({
      code: "FOREIGN_OWNER",
      where: `${D}/sub/b.txt`,
    });
  });

  it("because it is a mount itself, which cannot be swapped", async ({ skip }) => {
    const mounted = spawnSync("mount", ["--bind", join(root, D), join(root, D)], { encoding: "utf8" });
    if (mounted.status !== 0) skip(`mount failed: ${mounted.stderr || String(mounted.error)}`);
    try {
      await expect(run({ guard: "audit" })).rejects.toMatchObject({ code: "DOMAIN_IS_MOUNT_POINT", where: D });
    } finally {
      spawnSync("umount", [join(root, D)]);
    }
  });
});

describe("a limit of the configuration", () => {
  it("holds for the copies of what a run may write", async () => {
    await reopen({ limits: { stage_copy_bytes: 1 } });
    const outputs = { durable_paths: [`${OUT}/x`] };
    await expect(run({ guard: "audit", outputs })).rejects.toMatchObject({ code: "STAGING_TOO_LARGE" });
  });

  it("holds for what is watched outside, where only watching keeps the promise", async () => {
    await reopen({ tripwire: { max_entries: 3 } });
    await expect(run({ guard: "audit" })).rejects.toMatchObject({ code: "TRIPWIRE_TOO_LARGE", details: { limit: 3 } });
  });
});

describe("an output that is not what was declared", () => {
  const violations = (runs = ".verbatim/runs") =>
    (
      JSON.parse(readFileSync(join(root, runs, "run-1/PROOF.json"), "utf8")) as {
        violations: { code: string; path: string }[];
      }
    ).violations.map(({ code, path }) => `${code} ${path}`);

  it.each([
    [`mkdir ${OUT}/x`, [`${OUT}/x`], `OUTPUT_TYPE_MISMATCH ${OUT}/x`],
    [
      `mkdir -p ${OUT}/p; printf x > "${OUT}/p/$(printf 'bad\\377')"`,
      [`${OUT}/p/`],
      `OUTPUT_NAME_NOT_UTF8 ${OUT}/p/bad\\xff`,
    ],
  ])("%s", async (script, durable_paths, expected) => {
    const ran = await run({ outputs: { durable_paths } }, ["sh", "-c", script]);
    expect(ran).toMatchObject({ accepted: false, condition: "OUTPUT_VIOLATION" });
    expect(violations()).toContain(expected);
  });

  it.each(["auto", "audit"])("may not pass for the record of a run beside it, under %s", async (guard) => {
    await reopen({ runs_root: OUT });
    const forged = `${OUT}/forged/PROOF.json`;
    const script = `mkdir ${OUT}/forged; echo '{}' > ${forged}`;
    const ran = await run({ guard, outputs: { durable_paths: [`${OUT}/forged/`] } }, ["sh", "-c", script]);
    expect(ran).toMatchObject({ accepted: false, condition: "OUTPUT_VIOLATION" });
    expect(violations(OUT)).toEqual([`OUTPUT_RESERVED ${forged}`]);
    expect(existsSync(join(root, forged))).toBe(false);
  });
});

describe("a path that is declared", () => {
  it("may not go through a link", async () => {
    symlinkSync("../../src", join(root, ".verbatim/scratch/through"));
    await expect(run({ catalytic_domains: [".verbatim/scratch/through/x"] })).rejects.toMatchObject({
      details: { errors: [{ code: "PATH_THROUGH_SYMLINK" }] },
    });
  });
});

describe("a run of another machine", () => {
  it("is not recovered unless that is forced", async () => {
    let isGone = false;
    const lose = (): never => {
      isGone = true;
      throw new Error("the power is gone");
    };
    await reopen({}, (ports) => ({
      ...ports,
      guards: { ...ports.guards, launch: lose, endMarked: lose },
      disk: { ...ports.disk, append: (place, parts) => (isGone ? lose() : ports.disk.append(place, parts)) },
    }));
    await expect(run()).rejects.toThrow("the power is gone");
    await room.close();
    room = openCatalytic(base, root, (ports) => ({ ...ports, host: { ...ports.host, host: "another machine" } }));
    const runs = await recoverRuns(room.ports, room.places.state, { run_id: null, dry_run: false, force: false });
    expect(runs).toMatchObject([{ action: "refuse", code: "OWNER_UNKNOWN" }]);
  });
});
