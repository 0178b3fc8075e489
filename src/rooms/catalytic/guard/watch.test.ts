import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { runDisk } from "../../../adapters/disk/run-disk.ts";
import type { GuardClass } from "../../../core/contracts/guards.ts";
import { effectivePolicy } from "../declare/policy.ts";
import type { CatalyticPorts } from "../ports.ts";
import { Watch } from "./watch.ts";

/** A watch over a tree of seven entries, of which at most some may be looked at. */
function watch(guard_class: GuardClass, max_entries: number, disk: Partial<CatalyticPorts["disk"]> = {}): Watch {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-watch-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of ["law", "src"]) mkdirSync(join(root, folder));
  for (const file of ["law/one.txt", "src/a.txt", "src/b.txt", "src/c.txt"]) writeFileSync(join(root, file), "x\n");
  const state = join(root, ".verbatim/state");
  const places = { root, state, record: join(root, "record"), record_path: "record", work: join(state, "w") };
  const ports = { disk: { ...runDisk, ...disk }, git: { outsideRoot: () => [] } } as never;
  const { policy } = effectivePolicy({ forbidden_roots: ["law"] });
  const settings = { max_entries, noise: [], on_hit: "fail" };
  return new Watch(ports, {
    places,
    policy,
    settings,
    jobspec: { catalytic_domains: [], inputs: [] },
    guard_class,
    skip: [],
  } as never);
}

it("a tree that is too large is watched less under a namespace guard, and refused under any other", async () => {
  const less = watch("namespace", 3);
  await less.begin();
  expect([less.scope, less.before, less.fingerprint(nodeCrypto, ["src"])]).toEqual(["forbidden", null, null]);
  expect(less.entries).toBeLessThan(4);
  for (const guard of ["landlock", "audit"] as const) {
    await expect(watch(guard, 3).begin()).rejects.toMatchObject({ code: "TRIPWIRE_TOO_LARGE" });
  }
});

it("a look that fails for another reason is not taken for one that is too large", async () => {
  const scan = () => Promise.reject(new Error("the disk is gone"));
  await expect(watch("namespace", 100, { scan }).begin()).rejects.toThrow("the disk is gone");
});

it("a look at everything is kept, and says of each path whether anything below it changed", async () => {
  const whole = watch("namespace", 100);
  await whole.begin();
  expect([whole.scope, whole.entries > 5]).toEqual(["full", true]);
  const texts = whole.fingerprint(nodeCrypto, ["src", "law", "nothing"])!;
  expect([...texts.keys()].sort()).toEqual(["law", "src"]);
  expect(texts.get("law")).not.toBe(texts.get("src"));
});
