import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { type JsonObject, toCanonicalFile } from "../../src/core/canonical/index.ts";
import { toBundleId, toPlanHash, toRootHash } from "../../src/rooms/jobs/bundle/bundle-hash.ts";
import { runInProcess } from "../support/cli-in-process.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { DatabaseSync } from "../support/raw-sqlite.ts";

const postgres = await usePostgres();

/** Promises that a subtle mistake could break without anybody noticing, asked of the command line. */

let cwd = "";

const run = (...argv: string[]) => runInProcess(argv, cwd);

async function must(...argv: string[]): Promise<string> {
  const { exit, stdout, stderr } = await run(...argv);
  expect(exit, `${argv.join(" ")}: ${stderr}`).toBe(0);
  return stdout;
}

beforeAll(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-promises-")));
  writeFileSync(join(cwd, "verbatim.config.json"), '{"context":{"sources":["*.md"]}}');
});

afterAll(() => rmSync(cwd, { recursive: true, force: true }));

describe("bundle verify --strict", () => {
  it("finds a section ref that is not a hash, and a step id that is there twice", async () => {
    writeFileSync(join(cwd, "a.md"), "# A\none\ntwo\n");
    await must("index", "build");
    const [section] = JSON.parse(await must("section", "list", "a.md", "--json")) as { section_id: string }[];
    const ref = section!.section_id;
    const read = (slice: string) => ({ type: "READ", target: ref, params: { slice } });
    const message = {
      intent: "read",
      refs: [],
      ops: [read("lines[0:1]"), read("lines[1:2]")],
      budgets: { max_symbols: 9, max_sections: 9, max_bytes_expanded: 999, max_expands_per_step: 9 },
      required_outputs: [],
    };
    writeFileSync(join(cwd, "message.json"), JSON.stringify(message));
    const { job_id } = JSON.parse(await must("job", "submit", "message.json", "--json")) as { job_id: string };
    await must("bundle", "build", job_id, "--out", "bundle");
    await must("bundle", "verify", "bundle", "--strict");
    const file = join(cwd, "bundle", "bundle.json");
    const text = readFileSync(file, "utf8");
    type Loose = JsonObject & { run_id: string; steps: (JsonObject & { step_id: string })[]; artifacts: never[] };
    const codesAfter = async (change: (manifest: Loose) => void) => {
      const manifest = JSON.parse(text) as Loose;
      change(manifest);
      manifest["plan_hash"] = toPlanHash(nodeCrypto, manifest.run_id, manifest.steps);
      manifest["hashes"] = { root_hash: await toRootHash(nodeCrypto, manifest.artifacts) };
      manifest["bundle_id"] = await toBundleId(nodeCrypto, manifest);
      writeFileSync(file, toCanonicalFile(manifest));
      const { exit, stdout } = await run("bundle", "verify", "bundle", "--strict", "--json");
      expect(exit).toBe(1);
      return (JSON.parse(stdout) as { problems: { code: string }[] }).problems.map(({ code }) => code);
    };
    expect(await codesAfter((one) => (one.steps[1]!.step_id = one.steps[0]!.step_id))).toEqual(["STEP_DUPLICATE"]);
    const upper = await codesAfter((one) => {
      const changed = JSON.stringify({ steps: one.steps, artifacts: one.artifacts }).replaceAll(ref, ref.toUpperCase());
      Object.assign(one, JSON.parse(changed));
    });
    expect(upper.filter((code) => code === "ARTIFACT_KIND_MISMATCH")).toHaveLength(2);
    expect(readdirSync(join(cwd, "bundle")).sort()).toEqual(["artifacts", "bundle.json"]);
  });
});

describe("a world", () => {
  it("gives no person an id that means somebody else", async () => {
    await must("world", "new", "Harbour", "--id", "w_promises", "--timezone", "America/New_York");
    for (const id of ["WORLD", "GEORGE", "SYSTEM"]) {
      const { exit, stderr } = await run("world", "people", "add", id, "Somebody", "--world", "w_promises");
      expect([exit, /error\[(\w+)\]/.exec(stderr)?.[1]], id).toEqual([1, "PERSON_ID_RESERVED"]);
    }
  });
});

describe("the global order of the ledger", () => {
  const database = () => join(cwd, ".verbatim", "state", "store.db");

  /** Changes the file as somebody would who has it in their hands: the triggers are dropped first. */
  function tamper(sql: string): void {
    const raw = new DatabaseSync(database());
    try {
      const triggers = raw
        .prepare("select name from sqlite_master where type = 'trigger' and tbl_name = 'ledger_entry'")
        .all();
      for (const { name } of triggers) raw.exec(`drop trigger "${String(name)}"`);
      raw.exec(sql);
    } finally {
      raw.close();
    }
  }

  it("has no gap that verify does not name", async () => {
    const { entries } = JSON.parse(await must("ledger", "verify", "--json")) as { entries: number };
    expect(entries).toBeGreaterThan(3);
    tamper(`update ledger_entry set idx = idx + 5 where idx = ${entries - 1}`);
    const shifted = await run("ledger", "verify", "--json");
    expect(shifted.exit).toBe(1);
    expect(JSON.parse(shifted.stdout)).toMatchObject({
      ok: false,
      problems: [{ code: "LEDGER_GLOBAL_GAP", expected: String(entries - 1), actual: String(entries + 4) }],
    });
  });

  it("has none in PostgreSQL either, wherever a row of it went", needs(postgres.reason), async () => {
    const made = await postgres.createDatabase();
    const admin = new pg.Client({ connectionString: made.url });
    await admin.connect();
    const env = { VERBATIM_DATABASE_URL: made.url };
    const ask = async () => {
      const { exit, stdout } = await runInProcess(["ledger", "verify", "--json"], cwd, false, env);
      return { exit, problems: (JSON.parse(stdout) as { problems: Record<string, unknown>[] }).problems };
    };
    /** Changes the order as its owner can, without a trigger in the way, and puts it back. */
    const verdictAfter = async (sql: string) => {
      await admin.query("create table kept as table verbatim.ledger_order");
      await admin.query(sql);
      const answer = await ask();
      await admin.query("delete from verbatim.ledger_order");
      await admin.query("insert into verbatim.ledger_order table kept");
      await admin.query("drop table kept");
      return answer;
    };
    try {
      const titles = ["One", "Two", "Three"];
      for (const title of titles) await runInProcess(["world", "new", title, "--timezone", "UTC"], cwd, false, env);
      await admin.query("alter table verbatim.ledger_order disable trigger all");
      expect(await ask()).toEqual({ exit: 0, problems: [] });
      const gap = { code: "LEDGER_GLOBAL_GAP" };
      // The last row: no index is missing, but an entry has no place.
      expect(await verdictAfter("delete from verbatim.ledger_order where idx = 2")).toMatchObject({
        exit: 1,
        problems: [{ ...gap, stream: "world/w_three", expected: "1", actual: "0" }],
      });
      expect(await verdictAfter("delete from verbatim.ledger_order where idx = 1")).toMatchObject({
        exit: 1,
        problems: expect.arrayContaining([
          expect.objectContaining({ ...gap, stream: "world/w_three", expected: "1", actual: "2" }),
          expect.objectContaining({ ...gap, stream: "world/w_two", expected: "1", actual: "0" }),
        ]),
      });
      expect(await verdictAfter("update verbatim.ledger_order set idx = 7 where idx = 2")).toMatchObject({
        exit: 1,
        problems: expect.arrayContaining([
          expect.objectContaining({ ...gap, stream: "world/w_three", expected: "2", actual: "7" }),
        ]),
      });
      expect(await ask()).toEqual({ exit: 0, problems: [] });
    } finally {
      await admin.end();
      await made.drop();
    }
  });
});
