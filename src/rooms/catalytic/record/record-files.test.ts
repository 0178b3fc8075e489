import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { runDisk } from "../../../adapters/disk/runs/run-disk.ts";
import { listStrays, readArtifact, readRecord } from "./record-files.ts";

let record: string;
beforeEach(() => {
  record = mkdtempSync(join(tmpdir(), "verbatim-record-files-"));
  onTestFinished(() => rmSync(record, { recursive: true, force: true }));
});

it("an artifact is an object, and anything else is none", () => {
  const read = (bytes: string | Uint8Array) => {
    writeFileSync(join(record, "STATUS.json"), bytes);
    return readArtifact(runDisk, record, "STATUS.json");
  };
  expect(readArtifact(runDisk, record, "STATUS.json")).toBeNull();
  expect(read('{"status":"failed"}')).toEqual({ status: "failed" });
  for (const bytes of ["", "[]", "null", '"x"', "{", '{"a":1}x', Uint8Array.of(0x7b, 0x22, 0xff, 0x22)]) {
    expect(read(bytes)).toBeNull();
  }
});

it("a record has its regular files, and everything else in its folder is a stray", () => {
  expect([readRecord(runDisk, join(record, "gone")), listStrays(runDisk, join(record, "gone"))]).toEqual([
    new Map(),
    [],
  ]);
  for (const name of ["PROOF.json", ".tmp-1", "notes.tmp-1"]) writeFileSync(join(record, name), name);
  for (const name of ["quarantine", "extra"]) mkdirSync(join(record, name));
  symlinkSync("PROOF.json", join(record, "STATUS.json"));
  const files = readRecord(runDisk, record);
  expect([...files.keys()].sort()).toEqual(["PROOF.json", "notes.tmp-1"]);
  expect(Buffer.from(files.get("PROOF.json")!).toString()).toBe("PROOF.json");
  expect(listStrays(runDisk, record).sort()).toEqual([".tmp-1", "STATUS.json", "extra"]);
  rmSync(join(record, "quarantine"), { recursive: true });
  writeFileSync(join(record, "quarantine"), "a file of that name belongs to nobody");
  expect([listStrays(runDisk, record).sort(), readRecord(runDisk, record).size]).toEqual([
    [".tmp-1", "STATUS.json", "extra"],
    3,
  ]);
});

it("a file that goes away while the record is read is not part of it", () => {
  for (const name of ["PROOF.json", "STATUS.json"]) writeFileSync(join(record, name), "{}");
  const read = (place: string) => (place.endsWith("STATUS.json") ? null : runDisk.read(place));
  expect([...readRecord({ ...runDisk, read }, record).keys()]).toEqual(["PROOF.json"]);
});

it("bytes that cannot be read are an error, and not an artifact that is not there", () => {
  const broken = {
    get length() {
      throw new RangeError("broken");
    },
  };
  expect(() => readArtifact({ ...runDisk, read: () => broken as never }, record, "STATUS.json")).toThrow(RangeError);
});
