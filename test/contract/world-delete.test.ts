import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import type { App } from "../../src/app/call.ts";
import { openApp } from "../../src/app/call.ts";
import { StreamVerifier, sealEntry } from "../../src/core/ledger/index.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";

const SECRET = "quillmarsh-4411";
const postgres = await usePostgres();

interface Bed extends AsyncDisposable {
  readonly app: App;
  readonly folder: string;
  readonly url: string | null;
}

async function openBed(database: string): Promise<Bed> {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-delete-"));
  const made = database === "SQLite" ? null : await postgres.createDatabase();
  const env = { VERBATIM_DATABASE_URL: made?.url ?? "", HOME: folder, XDG_STATE_HOME: join(folder, "s") };
  const app = openApp({ surface: "library", start: folder, env, platform: process.platform });
  return {
    app,
    folder,
    url: made?.url ?? null,
    async [Symbol.asyncDispose]() {
      await app.close();
      await made?.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Two worlds, one of them with a secret in every place a world has. */
async function fill({ app, folder }: Bed): Promise<void> {
  const card = { name: "Mira", description: `Mira keeps ${SECRET}.`, first_mes: "Hello." };
  writeFileSync(join(folder, "card.json"), JSON.stringify(card));
  await app.call("world.new", { title: "Gull Rock", person: ["ANA=Ana"], timezone: "UTC" });
  await app.call("world.new", { title: "Other", timezone: "UTC" });
  await app.call("world.import", { file: "card.json", world: "w_gull-rock" });
  await app.call("world.say", { world: "w_gull-rock", text: `The word is ${SECRET}.` });
  await app.call("world.calendar-add", { world: "w_gull-rock", title: SECRET });
  await app.call("world.message-add", { world: "w_gull-rock", from: "ANA", text: SECRET, visible_to: ["GEORGE"] });
  await app.call("world.say", { world: "w_other", text: "All quiet." });
}

function findIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "card.json")
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(SECRET));
}

describe.each([
  { database: "SQLite", reason: null },
  { database: "PostgreSQL", reason: postgres.reason },
])("deleting a world on $database", ({ database, reason }) => {
  it("takes out every word of it and leaves a ledger that verifies", needs(reason), async () => {
    await using bed = await openBed(database);
    const { app } = bed;
    await fill(bed);
    const before = (await app.call("ledger.show", { limit: 1000 })) as { entries: { hash: string }[] };
    if (database === "SQLite") expect(findIn(bed.folder)).not.toEqual([]);
    const done = await app.call("world.delete", { world: "w_gull-rock", confirm: "Gull Rock" });
    expect(done).toEqual({ world_id: "w_gull-rock", records: 5, entries: 4, blobs: 1 });

    const verdict = await app.call("ledger.verify", {});
    expect(verdict).toMatchObject({ ok: true, problems: [] });
    const after = (await app.call("ledger.show", { limit: 1000 })) as {
      entries: { hash: string; kind: string; stream: string; body: unknown }[];
    };
    expect(after.entries.slice(0, before.entries.length).map(({ hash }) => hash)).toEqual(
      before.entries.map(({ hash }) => hash),
    );
    expect(after.entries.at(-1)).toMatchObject({ kind: "WORLD_DELETED", body: { erased_below: 5 } });
    expect(JSON.stringify(after)).not.toContain(SECRET);
    await app.close();
    if (bed.url === null) expect(findIn(bed.folder)).toEqual([]);

    await expect(app.call("world.show", { world: "w_gull-rock" })).rejects.toMatchObject({ code: "WORLD_NOT_FOUND" });
    await expect(app.call("world.new", { title: "Gull Rock" })).rejects.toMatchObject({ code: "WORLD_EXISTS" });
    expect(await app.call("world.verify", { world: "w_other" })).toMatchObject({ ok: true, findings: [] });
    expect(await app.call("world.say", { world: "w_other", text: "Still here." })).toMatchObject({ replayed: false });
  });

  it("is refused without the exact title, and while another world began in it", needs(reason), async () => {
    await using bed = await openBed(database);
    const { app } = bed;
    await fill(bed);
    await expect(app.call("world.delete", { world: "w_gull-rock", confirm: "gull rock" })).rejects.toMatchObject({
      code: "INPUT_INVALID",
    });
    const page = (await app.call("world.projection", { world: "w_gull-rock" })) as { cursor_after: string };
    await app.call("world.fork", {
      world: "w_gull-rock",
      cursor: page.cursor_after,
      world_id: "w_fork",
      title: "Fork",
    });
    await expect(app.call("world.delete", { world: "w_gull-rock", confirm: "Gull Rock" })).rejects.toMatchObject({
      code: "WORLD_HAS_FORKS",
    });
    await app.call("world.delete", { world: "w_fork", confirm: "Fork" });
    await app.call("world.delete", { world: "w_gull-rock", confirm: "Gull Rock" });
    expect(await app.call("ledger.verify", {})).toMatchObject({ ok: true });
  });
});

describe("an erased body", () => {
  const seal = (position: number, previous: string, kind: string, body: Record<string, unknown>) =>
    sealEntry(nodeCrypto, {
      stream: "world/w_x",
      position,
      previous,
      kind,
      time: "2026-01-01T00:00:00.000Z",
      actor: "library",
      body: body as never,
    });
  const first = seal(0, "0".repeat(64), "WORLD_CREATED", { world_id: "w_x" });

  it("is a finding until the record of its erasure comes", () => {
    const verifier = new StreamVerifier(nodeCrypto, "world/w_x");
    const gone = { ...first, body: "null" };
    expect(verifier.acceptRecords([gone])).toMatchObject({ code: "LEDGER_BODY_MISMATCH", position: 0 });
    expect(verifier.acceptRecords([seal(1, first.hash, "WORLD_DELETED", { erased_below: 1 })])).toBeNull();
  });

  it("is not excused by a record that vouches for less, or whose own body is gone", () => {
    for (const last of [
      seal(1, first.hash, "WORLD_DELETED", { erased_below: 0 }),
      seal(1, first.hash, "WORLD_BEAT", { erased_below: 1 }),
      { ...seal(1, first.hash, "WORLD_DELETED", { erased_below: 1 }), body: "null" },
    ]) {
      const verifier = new StreamVerifier(nodeCrypto, "world/w_x");
      expect(verifier.acceptRecords([{ ...first, body: "null" }, last])).toMatchObject({ position: 0 });
    }
  });

  it("is refused on a store that another process has open", async () => {
    await using bed = await openBed("SQLite");
    await fill(bed);
    await bed.app.close();
    const file = join(bed.folder, ".verbatim/state/store.db");
    // A process that sits in a transaction of its own while this one tries.
    const other = `const { DatabaseSync } = require("@photostructure/sqlite");
      const db = new DatabaseSync(${JSON.stringify(file)}); db.exec("pragma journal_mode = wal; begin; select 1 from world");
      require("node:fs").writeSync(1, "open"); setTimeout(() => {}, 20000);`;
    const child = spawn(process.execPath, ["-e", other], { cwd: process.cwd(), stdio: ["ignore", "pipe", "inherit"] });
    try {
      await new Promise((resolve) => child.stdout.once("data", resolve));
      await expect(bed.app.call("world.delete", { world: "w_other", confirm: "Other" })).rejects.toMatchObject({
        code: "STORE_BUSY",
      });
    } finally {
      child.kill("SIGKILL");
      await new Promise((resolve) => child.once("exit", resolve));
    }
    expect(await bed.app.call("world.show", { world: "w_other" })).toMatchObject({ world_id: "w_other" });
  });
});
