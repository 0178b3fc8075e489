import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runDisk } from "../../../adapters/disk/runs/run-disk.ts";
import { Journal, readJournal } from "./journal.ts";

let folder: string;
let place: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-journal-"));
  place = join(folder, "journal.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const TEXT = '{"op":"BEGIN","run_id":"r"}\n{"op":"RESTORED"}\n';

describe("a journal", () => {
  it("is written line by line, and read as far as its lines are whole", () => {
    const journal = new Journal(runDisk, place);
    journal.record("BEGIN", { run_id: "r" });
    journal.record("RESTORED");
    expect(readFileSync(place, "utf8")).toBe(TEXT);
    expect(readJournal(runDisk, place)).toEqual([{ op: "BEGIN", run_id: "r" }, { op: "RESTORED" }]);
    appendFileSync(place, '{"op":"LEFT"}');
    expect(readJournal(runDisk, place)).toHaveLength(2);
    for (const bad of ["no JSON\n", "[]\n", '{"op":1}\n']) {
      writeFileSync(place, `{"op":"BEGIN"}\n${bad}{"op":"LEFT"}\n`);
      expect(readJournal(runDisk, place)).toEqual([{ op: "BEGIN" }]);
    }
    expect(readJournal(runDisk, join(folder, "gone"))).toEqual([]);
  });

  it.each<[string, () => void]>([
    ["added a line", () => appendFileSync(place, '{"op":"PUBLISHED"}\n')],
    ["took a line away", () => writeFileSync(place, TEXT.split("\n")[0]!)],
    ["removed it", () => rmSync(place)],
    [
      "put a link there",
      () => {
        writeFileSync(join(folder, "copy"), TEXT);
        rmSync(place);
        symlinkSync("copy", place);
      },
    ],
    [
      "put a folder there",
      () => {
        rmSync(place);
        mkdirSync(place);
      },
    ],
  ])("into which somebody else wrote is made what it was: %s", async (_, touch) => {
    const journal = new Journal(runDisk, place);
    journal.record("BEGIN", { run_id: "r" });
    journal.record("RESTORED");
    expect(await journal.mend()).toBe(false);
    touch();
    expect(await journal.mend()).toBe(true);
    expect([readFileSync(place, "utf8"), runDisk.stat(place)?.kind]).toEqual([TEXT, "file"]);
    expect(await journal.mend()).toBe(false);
  });
});
