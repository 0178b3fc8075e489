import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runDisk } from "../../../adapters/disk/run-disk.ts";
import { asideOf, isLookedAfter } from "./layers.ts";

it("an original waits in the work directory, or beside its domain where it cannot be moved", () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-layers-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of ["work", "open", "closed"]) mkdirSync(join(root, folder));
  chmodSync(join(root, "closed"), 0o555);
  const places = { root, work: join(root, "work") } as never;
  const aside = (path: string, disk = runDisk) => asideOf(disk, places, "run-1", path, 2);
  expect(aside("open")).toBe(join(root, "work/orig2"));
  // A domain that is not there yet will be on the device of the nearest folder.
  expect(aside("open/new/deep")).toBe(join(root, "work/orig2"));
  expect(aside("closed")).toBe(join(root, ".verbatim-run-1-2"));
  const elsewhere = (place: string) => {
    const facts = runDisk.stat(place);
    return facts === null || !place.includes("/open") ? facts : { ...facts, dev: "another" };
  };
  for (const path of ["open", "open/new"]) {
    expect(aside(path, { ...runDisk, stat: elsewhere } as never)).toBe(
      join(root, path === "open" ? ".verbatim-run-1-2" : "open/.verbatim-run-1-2"),
    );
  }
});

it("domains and records are looked after, and what only begins like them is not", () => {
  const cared = (path: string) => isLookedAfter(path, ["a"], ["runs/r"]);
  expect(["a", "a/b", "runs/r/x", "ab", "runs/r2", "runs", ""].map(cared)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});
