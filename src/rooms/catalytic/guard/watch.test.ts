import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { runDisk } from "../../../adapters/disk/run-disk.ts";
import type { GuardClass } from "../../../core/contracts/guards.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { effectivePolicy } from "../declare/policy.ts";
import type { CatalyticPorts } from "../ports.ts";
import { Watch, type WatchResult } from "./watch.ts";

interface Parts {
  readonly max_entries?: number;
  readonly disk?: Partial<CatalyticPorts["disk"]>;
  readonly outside?: readonly string[];
  readonly skip?: readonly string[];
}

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-watch-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of ["law", "src", "out"]) mkdirSync(join(root, folder));
  for (const file of ["law/one.txt", "src/a.txt", "src/b.txt", "src/c.txt"]) writeFileSync(join(root, file), "x\n");
});

/** A watch over that tree, of which at most some entries may be looked at. */
function watch(guard_class: GuardClass, { max_entries = 100, disk = {}, outside = [], skip = [] }: Parts = {}): Watch {
  const state = join(root, ".verbatim/state");
  const places = { root, state, record: join(root, "record"), record_path: "record", work: join(state, "w") };
  const ports = { disk: { ...runDisk, ...disk }, git: { outsideRoot: () => outside } } as never;
  const { policy } = effectivePolicy({ forbidden_roots: ["law"], durable_roots: ["out"] });
  const settings = { max_entries, noise: [], on_hit: "fail" };
  const jobspec = { run_id: "run-1", catalytic_domains: [], inputs: [] };
  return new Watch(ports, { places, policy, settings, jobspec, guard_class, skip } as never);
}

const paths = ({ violations }: WatchResult) => violations.map(({ path }) => path);

it("a tree that is too large is watched less under a namespace guard, and refused under any other", async () => {
  const less = watch("namespace", { max_entries: 3 });
  await less.begin();
  expect([less.scope, less.before, less.fingerprint(nodeCrypto, ["src"])]).toEqual(["forbidden", null, null]);
  expect(less.entries).toBeLessThan(4);
  for (const guard of ["landlock", "audit"] as const) {
    await expect(watch(guard, { max_entries: 3 }).begin()).rejects.toMatchObject({ code: "TRIPWIRE_TOO_LARGE" });
  }
});

it("a look that fails for another reason is not taken for one that is too large", async () => {
  for (const thrown of [new Error("the disk is gone"), new VerbatimError("FILE_NOT_FOUND", {})]) {
    let looks = 0;
    const scan: typeof runDisk.scan = async (place, options) => {
      looks += 1;
      if (looks === 1) throw thrown;
      return runDisk.scan(place, options);
    };
    await expect(watch("namespace", { disk: { scan } }).begin()).rejects.toBe(thrown);
  }
});

it("a look at everything is kept, and says of each path whether anything below it changed", async () => {
  const whole = watch("namespace");
  await whole.begin();
  expect([whole.scope, whole.entries > 5]).toEqual(["full", true]);
  const texts = whole.fingerprint(nodeCrypto, ["src", "law", "nothing"])!;
  expect([...texts.keys()].sort()).toEqual(["law", "src"]);
  expect(texts.get("law")).not.toBe(texts.get("src"));
});

it("what changed, came or went outside is told", async () => {
  const all = watch("audit", { disk: { isStatTrusted: () => true } });
  await all.begin();
  expect(paths(await all.end())).toEqual([]);
  writeFileSync(join(root, "src/a.txt"), "longer\n");
  writeFileSync(join(root, "src/d.txt"), "new\n");
  rmSync(join(root, "src/b.txt"));
  expect(paths(await all.end())).toEqual(expect.arrayContaining(["src/a.txt", "src/b.txt", "src/d.txt"]));
  expect(paths(await all.end())).not.toContain("src/c.txt");
});

it("where a stat proves nothing and nothing was prevented, contents are compared", async () => {
  const seen = await runDisk.scan(root, { from: [""], skip: () => false, max_entries: 100 });
  const blind = { scan: async () => seen };
  const untrusted = watch("audit", { disk: { ...blind, isStatTrusted: () => false } });
  const trusted = watch("audit", { disk: { ...blind, isStatTrusted: () => true } });
  const prevented = watch("landlock", { disk: { ...blind, isStatTrusted: () => false } });
  for (const one of [untrusted, trusted, prevented]) await one.begin();
  expect(paths(await untrusted.end())).toEqual([]);
  writeFileSync(join(root, "src/a.txt"), "y\n");
  expect(paths(await untrusted.end())).toEqual(["src/a.txt"]);
  rmSync(join(root, "src/a.txt"));
  expect(paths(await untrusted.end())).toEqual(["src/a.txt"]);
  for (const one of [trusted, prevented]) expect(paths(await one.end())).toEqual([]);
});

it("a repository that is kept outside the root is watched, unless the kernel keeps the command from it", async () => {
  const outside = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-watch-git-")));
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
  for (const name of ["config", "HEAD"]) writeFileSync(join(outside, name), "x\n");
  const disk = { isStatTrusted: () => true };
  const [open, held] = [watch("audit", { outside: [outside], disk }), watch("namespace", { outside: [outside], disk })];
  for (const one of [open, held]) await one.begin();
  expect(open.entries - held.entries).toBeGreaterThanOrEqual(2);
  writeFileSync(join(outside, "config"), "changed\n");
  writeFileSync(join(outside, "new"), "x\n");
  rmSync(join(outside, "HEAD"));
  const told = ["HEAD", "config", "new"].map((name) => join(outside, name));
  expect(paths(await open.end())).toEqual(expect.arrayContaining(told));
  expect(paths(await held.end())).toEqual([]);
});

it("what another run claims is its own where it may write, and nowhere else", async () => {
  const index = join(root, ".verbatim/state/catalytic/_index");
  const all = watch("audit", { disk: { isStatTrusted: () => true } });
  await all.begin();
  for (const path of ["out/theirs.txt", "src/theirs.txt"]) writeFileSync(join(root, path), "x\n");
  expect(paths(await all.end())).toEqual(expect.arrayContaining(["out/theirs.txt", "src/theirs.txt"]));
  mkdirSync(index, { recursive: true });
  const claim = { run_id: "run-2", ended: false, paths: ["out/theirs.txt", "src/theirs.txt"] };
  writeFileSync(join(index, "run-2.json"), JSON.stringify(claim));
  const told = paths(await all.end());
  expect([told.includes("src/theirs.txt"), told.includes("out/theirs.txt")]).toEqual([true, false]);
});
