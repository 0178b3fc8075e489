// Refusals through the operations everybody uses, for which no other suite has a reason of its own.
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { App } from "../../src/app/call.ts";
import { openApp } from "../../src/app/call.ts";
import { startHttp } from "../../src/surfaces/http/server/server.ts";
import { DatabaseSync } from "../support/raw-sqlite.ts";
import { sampleBundle } from "../support/sample-bundle.ts";
import { GOOD_PATCH, SampleRepository } from "../support/sample-repository.ts";
import { asSomebody, findClosedFolder } from "../support/somebody.ts";

const ZEROS = "0".repeat(64);
let folder: string;
let app: App;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-refusals-")));
  const env = { HOME: folder, XDG_STATE_HOME: join(folder, "state"), XDG_CONFIG_HOME: join(folder, "config") };
  app = openApp({ surface: "library", start: folder, env, platform: process.platform });
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A file as large as is asked for, of which nothing is on the disk. */
function makeSparse(path: string, bytes: number): string {
  const place = join(folder, path);
  writeFileSync(place, "");
  truncateSync(place, bytes);
  return place;
}

describe("the hall", () => {
  it("proves no entry that it does not have", async () => {
    await app.call("world.new", { title: "Harbour", world_id: "w_harbour", timezone: "UTC", person: ["ANA=Ana"] });
    await expect(app.call("ledger.prove", { entry: ZEROS })).rejects.toMatchObject({ code: "LEDGER_ENTRY_UNKNOWN" });
  });

  it("reads no file that is larger than its contract may be", async () => {
    const file = makeSparse("huge.json", 300 * 1024 * 1024);
    await expect(app.call("contract.check", { object: "budgets", file })).rejects.toMatchObject({
      code: "FILE_TOO_LARGE",
      where: expect.stringContaining("huge.json"),
    });
  });
});

describe("a world", () => {
  it.each([
    ["world.entry", { world: "w_harbour", entry_id: "e_nowhere" }, "ENTRY_NOT_FOUND"],
    ["world.call", { world: "w_harbour", call_id: "c_nowhere" }, "CALL_NOT_FOUND"],
    ["world.people-add", { world: "w_harbour", person_id: "ANA", display_name: "Another" }, "PERSON_EXISTS"],
  ])("%s %j is refused", async (name, input, code) => {
    await expect(app.callUnknown(name, input)).rejects.toMatchObject({ code });
  });

  it("has no other routes", async () => {
    await using http = await startHttp({ app, version: "0.0.0", host: "127.0.0.1", port: 0, noToken: true } as never);
    const answer = await fetch(`${http.url.split("#")[0]}/nowhere`);
    expect([answer.status, await answer.json()]).toEqual([
      404,
      { error: expect.objectContaining({ code: "ROUTE_UNKNOWN" }) },
    ]);
  });

  it.each([
    ["update world_entry set wseq = wseq + 10 where wseq = 2", ["WORLD_SEQ_GAP", "WORLD_ENTRY_EXTRA"]],
    ["update world_entry set created_ms = 1 where wseq = 2", ["WORLD_TIME_BACKWARDS"]],
    ["delete from world_entry where wseq = 2", ["WORLD_ENTRY_MISSING"]],
    ["update world_person set display_name = 'Eve' where person_id = 'ANA'", ["WORLD_ROW_MISMATCH"]],
  ])("in whose tables somebody did %s is not verified", async (sql, codes) => {
    const place = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-refused-world-")));
    onTestFinished(() => rmSync(place, { recursive: true, force: true }));
    const env = { HOME: place };
    const own = openApp({ surface: "library", start: place, env, platform: process.platform });
    await own.call("world.new", { title: "Harbour", world_id: "w_h", timezone: "UTC", person: ["ANA=Ana"] });
    for (const text of ["One.", "Two.", "Three."]) await own.call("world.say", { world: "w_h", text });
    await own.close();
    const database = new DatabaseSync(join(place, ".verbatim/state/store.db"));
    for (const row of database.prepare("select name from sqlite_master where type = 'trigger'").all())
      database.exec(`drop trigger "${(row as { name: string }).name}"`);
    database.exec(sql);
    database.close();
    const again = openApp({ surface: "library", start: place, env, platform: process.platform });
    const report = (await again.call("world.verify", { world: "w_h" })) as {
      ok: boolean;
      findings: readonly { code: string }[];
    };
    await again.close();
    expect(report.ok).toBe(false);
    expect(report.findings.map(({ code }) => code)).toEqual(expect.arrayContaining(codes));
  });
});

describe("a bundle", () => {
  function make(name: string, change: (place: string) => void): string {
    const place = join(folder, name);
    for (const [path, bytes] of sampleBundle()) {
      mkdirSync(join(place, path, ".."), { recursive: true });
      writeFileSync(join(place, path), bytes);
    }
    change(place);
    return place;
  }
  const problems = async (path: string) => {
    const report = (await app.call("jobs.bundle-verify", { path, strict: true })) as {
      problems: readonly { code: string }[];
    };
    return report.problems.map(({ code }) => code);
  };

  it("with a manifest of more than 64 MiB is not read", async () => {
    const place = make("large", (at) => truncateSync(join(at, "bundle.json"), 64 * 1024 * 1024 + 1));
    expect(await problems(place)).toEqual(["MANIFEST_TOO_LARGE"]);
  });

  it("that may not be read is not judged, by its manifest or by an artifact", async ({ skip }) => {
    chmodSync(folder, 0o755);
    const closed = findClosedFolder(folder);
    if (closed !== null) skip(`somebody else may not enter ${closed}`);
    const [artifact] = [...sampleBundle()].map(([path]) => path).filter((path) => path.startsWith("artifacts/"));
    for (const [path, code] of [
      ["bundle.json", "MANIFEST_UNREADABLE"],
      [artifact!, "ARTIFACT_UNREADABLE"],
    ] as const) {
      const place = make(`closed-${code}`, (at) => chmodSync(join(at, path), 0));
      // Everything is loaded before root becomes somebody who may not read it.
      await problems(place);
      expect(await asSomebody(() => problems(place))).toContain(code);
    }
  });

  it("without steps is none", async () => {
    const place = make("empty", (at) => {
      const manifest = JSON.parse(readFileSync(join(at, "bundle.json"), "utf8")) as object;
      writeFileSync(join(at, "bundle.json"), JSON.stringify({ ...manifest, steps: [] }));
    });
    expect(await problems(place)).toContain("BUNDLE_EMPTY");
  });

  it("whose artifacts are no text, or are there twice, is refused", async () => {
    const [artifact] = [...sampleBundle()].map(([path]) => path).filter((path) => path.startsWith("artifacts/"));
    const bytes = make("bytes", (at) => writeFileSync(join(at, artifact!), Buffer.from([0xff, 0x0a])));
    expect(await problems(bytes)).toContain("ARTIFACT_NOT_UTF8");
    const twice = make("twice", (at) => {
      const manifest = JSON.parse(readFileSync(join(at, "bundle.json"), "utf8")) as { artifacts: object[] };
      manifest.artifacts.push(manifest.artifacts[0]!);
      writeFileSync(join(at, "bundle.json"), JSON.stringify(manifest));
    });
    expect(await problems(twice)).toContain("ARTIFACT_DUPLICATE");
  });

  it("that is none is neither shown nor signed", async () => {
    const place = make("broken", (at) => writeFileSync(join(at, "bundle.json"), "{}\n"));
    await expect(app.call("jobs.bundle-inspect", { path: place })).rejects.toMatchObject({ code: "BUNDLE_INVALID" });
    const [artifact] = [...sampleBundle()].map(([path]) => path).filter((path) => path.startsWith("artifacts/"));
    const edited = make("edited", (at) => writeFileSync(join(at, artifact!), "edited\n"));
    await app.call("keys.new", { name: "signer" });
    await expect(app.call("jobs.bundle-attest", { path: edited, key: "signer" })).rejects.toMatchObject({
      code: "BUNDLE_UNSIGNABLE",
    });
  });
});

describe("a workflow", () => {
  it("refuses what is too large, unreadable, missing or not yet passed", async () => {
    const repository = new SampleRepository();
    try {
      const dir = await repository.plan("run");
      await expect(repository.call("rollback", { run: "run" })).rejects.toMatchObject({ code: "RUN_NOT_PASSED" });
      const large = makeSparse("large.md", 16 * 1024 * 1024 + 1);
      await expect(
        repository.call("submit", { artifact: "guardrails.md", file: large, run: "run" }),
      ).rejects.toMatchObject({ code: "ARTIFACT_TOO_LARGE" });
      const patch = repository.file("fix.patch", GOOD_PATCH);
      const plan = repository.file("PLAN.md", "Status: maybe\n");
      await expect(repository.call("patch-check", { file: patch, plan })).rejects.toMatchObject({
        code: "PLAN_UNREADABLE",
      });
      await expect(
        repository.call("patch-check", { file: patch, repo: join(repository.root, "src") }),
      ).rejects.toMatchObject({ code: "PATCH_ENV_INVALID" });
      const zip = repository.file("failure_bundle.zip", zipSync({ "TRACE.md": new Uint8Array() }));
      expect(JSON.stringify(await repository.call("validate", { target: zip, kind: "failure_bundle" }))).toContain(
        "BUNDLE_ENTRY_MISSING",
      );
      const torn = repository.file("torn/failure_bundle.zip", "PK no zip");
      expect(JSON.stringify(await repository.call("validate", { target: torn, kind: "failure_bundle" }))).toContain(
        "BUNDLE_UNREADABLE",
      );
      const results = "R001: x\nAcceptance: y\nEvidence: src/nowhere.js\nRelated-Gates: lite\n";
      writeFileSync(join(dir, "artifacts/EXPECTED_RESULTS.md"), results);
      expect(JSON.stringify(await repository.call("validate", { target: "run", check_evidence: true }))).toContain(
        "EVIDENCE_MISSING",
      );
    } finally {
      await repository.remove();
    }
  });
});
