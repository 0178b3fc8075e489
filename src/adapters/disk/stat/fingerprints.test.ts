import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { findShown, scanFingerprints, unpackFingerprint } from "./fingerprints.ts";

const EVERYTHING = { from: [""], skip: () => false, max_entries: 100 };

// Guards: names are read as text where they are text, and no two names are taken for one.
it("tells names apart that are not UTF-8, and what is below them", async (context) => {
  context.skip(process.platform !== "linux", "names of this platform are always text");
  const root = mkdtempSync(join(tmpdir(), "verbatim-scan-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const odd = [0xff, 0xfe].map((byte) => Buffer.concat([Buffer.from(`${root}/a`), Buffer.from([byte])]));
  for (const folder of [...odd, Buffer.from(`${root}/a\ufffd`), Buffer.from(`${root}/plain`)]) {
    mkdirSync(folder);
    writeFileSync(Buffer.concat([folder, Buffer.from("/ä.txt")]), "x");
  }
  const { packed, not_utf8 } = await scanFingerprints(root, EVERYTHING);
  const folders = ["a\\xfe", "a\\xff", "a\ufffd", "plain"];
  expect([...packed.keys()].toSorted()).toEqual(
    [".", ...folders, ...folders.map((folder) => `${folder}/ä.txt`)].toSorted(),
  );
  expect([...not_utf8].toSorted()).toEqual(["a\\xfe", "a\\xff"]);
  const files = folders.map((folder) => unpackFingerprint(packed.get(`${folder}/ä.txt`)!));
  expect(files.map(({ type, size }) => `${type} ${size}`)).toEqual(folders.map(() => "file 1"));
  expect(new Set(files.map(({ ino }) => ino)).size).toBe(4);
  expect(findShown(root, "a\\xff")).toEqual(odd[0]);
});
