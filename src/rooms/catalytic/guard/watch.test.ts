import { mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { runDisk } from "../../../adapters/disk/runs/run-disk.ts";
import type { GuardClass } from "../../../core/contracts/guards.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { effectivePolicy } from "../declare/policy.ts";
import type { CatalyticPorts } from "../ports.ts";
import { Watch, type WatchResult, writeIndex } from "./watch.ts";

interface Parts {
  readonly max_entries?: number;
  readonly disk?: Partial<CatalyticPorts["disk"]>;
  readonly outside?: readonly string[];
  readonly skip?: readonly string[];
  readonly domains?: readonly string[];
  readonly inputs?: readonly string[];
  readonly view?: boolean;
}

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-watch-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of ["law", "src", "out"]) mkdirSync(join(root, folder));
  for (const file of ["law/one.txt", "src/a.txt", "src/b.txt", "src/c.txt"]) writeFileSync(join(root, file), "x\n");
});

/** A watch over that tree, of which at most some entries may be looked at. */
function watch(guard_class: GuardClass, parts: Parts = {}): Watch {
  const { max_entries = 100, disk = {}, outside = [], skip = [], domains = [], inputs = [], view = false } = parts;
  const state = join(root, ".verbatim/state");
  const places = { root, state, record: join(root, "record"), record_path: "record", work: join(state, "w") };
  const ports = { disk: { ...runDisk, ...disk }, git: { outsideRoot: () => outside } } as never;
  const { policy } = effectivePolicy({ forbidden_roots: ["law"], durable_roots: ["out"] });
  const settings = { max_entries, noise: [], on_hit: "fail" };
  const jobspec = { run_id: "run-1", catalytic_domains: domains, inputs, view };
  return new Watch(ports, { places, policy, settings, jobspec, guard_class, skip } as never);
}

const paths = ({ violations }: WatchResult) => violations.map(({ path }) => path);

it("a tree that is too large is watched less under a namespace guard, and refused under any other", async () => {
  const less = watch("namespace", { max_entries: 3 });
  await less.begin();
  expect([less.scope, less.before, less.fingerprint(nodeCrypto, ["src"])]).toEqual(["forbidden", null, null]);
  expect(less.entries).toBeLessThan(4);
  // The folder above a domain is looked at, but not what else lies in it.
  const around = watch("namespace", { max_entries: 3, domains: ["src/d"] });
  await around.begin();
  expect(around.entries).toBe(4);
  const read = watch("namespace", { max_entries: 3, inputs: ["src"] });
  await read.begin();
  expect(read.entries).toBe(6);
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
  expect(whole.entries).toBe(0);
  await whole.begin();
  expect([whole.scope, whole.entries]).toEqual(["full", 8]);
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
  const changed = [{ code: "OUTSIDE_CHANGED", path: "src/a.txt", fields: ["sha256"] }];
  expect((await untrusted.end()).violations).toEqual(changed);
  rmSync(join(root, "src/a.txt"));
  expect((await untrusted.end()).violations).toEqual(changed);
  const gone = watch("audit", { disk: { ...blind, isStatTrusted: () => false } });
  await gone.begin();
  expect((await gone.end()).violations).toEqual([]);
  writeFileSync(join(root, "src/a.txt"), "y\n");
  expect((await gone.end()).violations).toEqual(changed);
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

it("a look at the whole tree that was taken before is kept, and only what it hides is read", async () => {
  const facts = (path: string) => seen.packed.get(path)!;
  const seen = await runDisk.scan(root, { from: [""], skip: () => false, max_entries: 100 });
  const moved = { was: new Map([["src/a.txt", facts("src/a.txt")]]), is: new Map([["src/d.txt", facts("src/b.txt")]]) };
  const one = watch("namespace");
  await one.begin({ entries: 20, again: async () => moved } as never);
  expect([one.entries, one.before, one.fingerprint(nodeCrypto, ["src"])]).toEqual([20, null, null]);
  writeFileSync(join(root, "src/c.txt"), "of this the look would tell\n");
  expect((await one.end()).violations).toEqual([
    { code: "OUTSIDE_REMOVED", path: "src/a.txt", fields: [] },
    { code: "OUTSIDE_ADDED", path: "src/d.txt", fields: [] },
  ]);
});

it("the folder around a domain may show that the domain is another folder now, and nothing else", async () => {
  const all = watch("audit", { disk: { isStatTrusted: () => true }, skip: ["src"] });
  await all.begin();
  writeFileSync(join(root, "passing"), "x\n");
  rmSync(join(root, "passing"));
  expect(paths(await all.end())).toEqual(["."]);
  renameSync(join(root, "src"), join(root, "out/src"));
  mkdirSync(join(root, "src"));
  expect(paths(await all.end())).not.toContain(".");
});

it("the entry of a run that had ended is read once, and gives nothing to another run", async () => {
  const index = join(root, ".verbatim/state/catalytic/_index");
  mkdirSync(index, { recursive: true });
  const claim = (name: string, run_id: string, ended: boolean) =>
    writeFileSync(join(index, `${name}.json`), JSON.stringify({ run_id, ended, paths: [`out/${name}.txt`] }));
  claim("run-2", "run-2", true);
  claim("run-3", "run-3", false);
  const read: string[] = [];
  const disk = {
    read: (place: string) => {
      if (place.startsWith(index)) read.push(place.slice(index.length + 1));
      return runDisk.read(place);
    },
  };
  const one = watch("audit", { disk });
  await one.begin();
  expect(read.splice(0).sort()).toEqual(["run-2.json", "run-3.json"]);
  // Under the name of a run that is over somebody speaks for one that is not.
  claim("run-2", "run-4", false);
  claim("run-5", "run-5", false);
  for (const name of ["run-2", "run-3", "run-5"]) writeFileSync(join(root, `out/${name}.txt`), "x\n");
  const { violations, noise } = await one.end();
  expect(read.sort()).toEqual(["run-3.json", "run-5.json"]);
  expect(violations.map(({ path }) => path)).toContain("out/run-2.txt");
  expect(noise).toEqual(["out/run-3.txt", "out/run-5.txt"]);
});

it("what a run that had ended before claims is not its own any more", async () => {
  const index = join(root, ".verbatim/state/catalytic/_index");
  mkdirSync(index, { recursive: true });
  const claim = (run_id: string, ended: boolean, path: string) =>
    writeFileSync(join(index, `${run_id}.json`), JSON.stringify({ run_id, ended, paths: [path] }));
  claim("run-1", false, "out/own.txt");
  claim("run-2", true, "out/ended.txt");
  claim("run-3", false, "out/running.txt");
  writeFileSync(join(index, "broken.json"), "{");
  writeFileSync(join(index, "other.json"), "[]");
  writeFileSync(join(index, "empty.json"), "{}");
  const all = watch("audit", { disk: { isStatTrusted: () => true } });
  await all.begin();
  claim("run-3", true, "out/running.txt");
  for (const name of ["own", "ended", "running"]) writeFileSync(join(root, `out/${name}.txt`), "x\n");
  const { violations, noise } = await all.end();
  expect(violations.map(({ path }) => path)).toEqual(["out/ended.txt", "out/own.txt"]);
  expect(noise).toEqual(["out/running.txt"]);
});

it("a run claims its domains, its outputs and its record where that is in the tree, and of a view only the last", () => {
  const state = join(root, ".verbatim/state");
  const outputs = { durable_paths: ["out/x", "out/pack/"] };
  const claim = (record_path: string | null, view: boolean, ended: boolean): unknown => {
    const jobspec = { run_id: "run-1", catalytic_domains: ["src"], outputs, view };
    writeIndex(runDisk, { root, state, record: "/r", record_path, work: "/w" }, jobspec as never, ended);
    return JSON.parse(readFileSync(join(state, "catalytic/_index/run-1.json"), "utf8"));
  };
  const paths = ["out", "out/pack", "out/x", "record", "src"];
  expect(claim("record", false, false)).toEqual({ run_id: "run-1", ended: false, paths });
  expect(claim(null, false, true)).toEqual({
    run_id: "run-1",
    ended: true,
    paths: ["out", "out/pack", "out/x", "src"],
  });
  expect(claim("record", true, false)).toMatchObject({ paths: ["out/pack", "out/x", "record"] });
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

it("a view in a namespace does not walk the records of other runs, which it cannot reach; any other run does", async () => {
  const { policy } = effectivePolicy({});
  const record = join(root, policy!.runs_root, "run-0");
  mkdirSync(record, { recursive: true });
  for (const name of ["one.json", "two.json", "three.json"]) writeFileSync(join(record, name), "{}\n");
  const count = async (guard: GuardClass, view: boolean) => {
    const looked = watch(guard, { view });
    await looked.begin();
    return looked.entries;
  };
  const closed = await count("namespace", true);
  expect([await count("namespace", false), await count("landlock", true), await count("audit", true)]).toEqual([
    closed + 4,
    closed + 4,
    closed + 4,
  ]);
});
