import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { runDisk } from "../../../adapters/disk/runs/run-disk.ts";
import { listStrays, readArtifact } from "./record-files.ts";
import { listRuns, readRun, toRecordPlace } from "./records.ts";

let base: string;
let root: string;
const ports = (folder: string | null = root) =>
  ({ disk: runDisk, folder, places: () => ({ root, state: join(root, ".verbatim/state"), config: {} }) }) as never;
const write = (path: string, value: unknown) => {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), typeof value === "string" ? value : JSON.stringify(value));
};

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-records-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  root = join(base, "root");
  mkdirSync(root);
});

describe("the place of a record", () => {
  const RUN = "other/.verbatim/runs/run-2";

  it("is found by the id of a run, and by a path from the folder of the caller", () => {
    write("root/.verbatim/runs/run-1/STATUS.json", {});
    const record = join(root, ".verbatim/runs/run-1");
    expect(toRecordPlace(ports(null), "run-1")).toEqual({ name: "run-1", record, root });
    write(`${RUN}/STATUS.json`, {});
    write(`${RUN}/POLICY.json`, { runs_root: ".verbatim/runs" });
    const elsewhere = { name: "run-2", record: join(base, RUN), root: join(base, "other") };
    expect(toRecordPlace(ports(), `../other/./x/..//.verbatim/runs/run-2/`)).toEqual(elsewhere);
    expect(toRecordPlace(ports(), join(base, RUN))).toEqual(elsewhere);
  });

  it("has no root where the policy of the run does not say that it is there", () => {
    write(`${RUN}/STATUS.json`, {});
    expect(toRecordPlace(ports(), join(base, RUN)).root).toBeNull();
    for (const runs_root of ["runs-2", "erbatim/runs", 7]) {
      write(`${RUN}/POLICY.json`, { runs_root });
      expect(toRecordPlace(ports(), join(base, RUN)).root).toBeNull();
    }
  });

  it("is refused for what is not a run, and for a path from a caller elsewhere", () => {
    write(`${RUN}/STATUS.json`, {});
    write("root/empty/notes.txt", "x");
    const unknown = expect.objectContaining({ code: "RUN_NOT_FOUND" });
    for (const run of ["run-9", "empty", "empty/notes.txt", "/nowhere"]) {
      expect(() => toRecordPlace(ports(), run)).toThrow(unknown);
    }
    expect(() => toRecordPlace(ports(null), join(base, RUN))).toThrow(unknown);
  });
});

describe("a record", () => {
  it("is shown as far as it can be read", () => {
    write("r/STATUS.json", { status: "failed" });
    write("r/PROOF.json", "{");
    write("r/OUTPUTS.json", [{ path: "a" }]);
    const place = { name: "r", record: join(base, "r"), root: null };
    const nothing = { jobspec: null, proof: null, quarantined: [] };
    expect(readRun(ports(), place)).toEqual({
      ...nothing,
      run_id: "r",
      status: { status: "failed" },
      outputs: [{ path: "a" }],
    });
    write("r/OUTPUTS.json", { path: "a" });
    expect(readRun(ports(), place).outputs).toEqual([]);
  });

  it("has artifacts that are objects, or none", () => {
    write("r/A.json", { a: 1 });
    write("r/B.json", "[]");
    write("r/C.json", "{");
    writeFileSync(join(base, "r/D.json"), Uint8Array.of(0xff));
    const names = ["A.json", "B.json", "C.json", "D.json", "E.json"];
    const found = names.map((name) => readArtifact(runDisk, join(base, "r"), name));
    expect(found.map((one) => one?.["a"] ?? null)).toEqual([1, null, null, null, null]);
  });

  it("has strays: links, folders and files that were never renamed into place", () => {
    for (const name of ["STATUS.json", ".tmp-1", "folder/x", "quarantine/x"]) write(`r/${name}`, "x");
    symlinkSync("STATUS.json", join(base, "r/link"));
    expect(listStrays(runDisk, join(base, "r")).sort()).toEqual([".tmp-1", "folder", "link"]);
    expect(listStrays(runDisk, join(base, "nowhere"))).toEqual([]);
  });
});

it("runs are listed newest first, by status, and success needs a proof", () => {
  const runs = "root/.verbatim/runs";
  const add = (id: string, status: string, timestamp: string) => {
    write(`${runs}/${id}/STATUS.json`, { status, condition: "C" });
    write(`${runs}/${id}/RUN_INFO.json`, { timestamp, guard: "audit" });
    write(`${runs}/${id}/OUTPUTS.json`, [1, 2]);
  };
  add("old", "failed", "2025-01-01");
  add("new", "succeeded", "2025-01-02");
  add("done", "succeeded", "2025-01-02");
  write(`${runs}/done/PROOF.json`, { catalytic_domains: [], proof_hash: "ab" });
  const shown = (status: string | null, limit: number) =>
    listRuns(ports(), status, limit).map((run) => [run.run_id, run.status, run.outputs, run.proof_hash]);
  expect(shown(null, 9)).toEqual([
    ["done", "succeeded", 2, "ab"],
    ["new", "unfinished", 0, null],
    ["old", "failed", 0, null],
  ]);
  expect(shown(null, 1)).toEqual([["done", "succeeded", 2, "ab"]]);
  expect(shown("failed", 9)).toEqual([["old", "failed", 0, null]]);
  expect(listRuns(ports(), "failed", 9)[0]).toMatchObject({ condition: "C", started: "2025-01-01", guard: "audit" });
});
