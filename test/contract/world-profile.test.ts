import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zipSync } from "fflate";
import { describe, expect, it, onTestFinished } from "vitest";
import { verifyWorld } from "../../src/rooms/world/history/verify.ts";
import { readEntrySwipes } from "../../src/rooms/world/import/originals.ts";
import { readMarks } from "../../src/rooms/world/knowledge/marks.ts";
import { readAvatar } from "../../src/rooms/world/people/avatars.ts";
import { importProfile } from "../../src/rooms/world/profile/profile.ts";
import { openArchive, openFolder } from "../../src/rooms/world/profile/source.ts";
import { loadWorld } from "../../src/rooms/world/projection/reading.ts";
import { readPage } from "../../src/rooms/world/projection/views.ts";
import { runHere } from "../support/cli-in-process.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { chatOf, profileFiles, writeProfile } from "../support/profile.ts";
import { openWorlds, type TestWorlds } from "../support/world.ts";

const postgres = await usePostgres();

function makeFolder(files: ReadonlyMap<string, string | Buffer>): string {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-profile-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeProfile(folder, files);
  return folder;
}

async function open(database: string) {
  const made = database === "SQLite" ? null : await postgres.createDatabase();
  const worlds = await openWorlds(made === null ? {} : { url: made.url });
  return {
    worlds,
    async [Symbol.asyncDispose]() {
      await worlds[Symbol.asyncDispose]();
      await made?.drop();
    },
  };
}

const carry = async ({ ports }: TestWorlds, folder: string, preview = false) =>
  importProfile(ports, await openFolder(ports.folders, folder), "folder", preview);

const sizeOf = ({ ports }: TestWorlds) => ports.store.read((tx) => tx.ledger.size());

describe.each([
  { database: "SQLite", reason: null, chats: 200 },
  { database: "PostgreSQL", reason: postgres.reason, chats: 8 },
])("a whole profile on $database", ({ database, reason, chats }) => {
  it(
    "loses no chat: each is a world or a row that says why not, and a second run writes nothing",
    needs(reason),
    async () => {
      await using at = await open(database);
      const { worlds } = at;
      const { ports } = worlds;
      const files = profileFiles(chats, 3);
      const folder = makeFolder(files);
      const planned = await carry(worlds, folder, true);
      expect(await sizeOf(worlds)).toBe(0);
      const report = await carry(worlds, folder);
      expect(report.files.map(({ path }) => path)).toEqual([...files.keys(), "chats/Mira/linked.jsonl"].sort());
      const broken = report.files.filter(({ outcome }) => outcome === "FAILED");
      expect(broken.map(({ path, code, where }) => [path, code, where])).toEqual([
        ["chats/Mira/chat 000.jsonl", "IMPORT_FORMAT_UNKNOWN", "line 8"],
        ["chats/Mira/chat 001.jsonl", "IMPORT_FORMAT_UNKNOWN", "line 8"],
        ["chats/Mira/chat 002.jsonl", "IMPORT_FORMAT_UNKNOWN", "the file is not UTF-8 text"],
      ]);
      const carried = chats - 3 + 1;
      expect(report.totals).toMatchObject({
        failed: 3,
        worlds: carried,
        lines: carried * 7,
        entries: carried * 4,
        hidden: carried,
        blank: carried,
        header: carried,
      });
      expect(planned.totals).toEqual(report.totals);
      const outcomes = new Map(report.files.map(({ path, outcome }) => [path, outcome]));
      expect(Object.fromEntries([...outcomes].filter(([path]) => !path.startsWith("chats/")))).toEqual({
        "OpenAI Settings/Calm.json": "CARRIED",
        "TextGen Settings/Wild.json": "CARRIED",
        "User Avatars/captain.png": "CARRIED",
        "backups/chat_old.jsonl": "LEFT",
        "characters/Alone.json": "KEPT",
        "characters/Broken.png": "KEPT",
        "characters/Mira.png": "CARRIED",
        "group chats/evening.jsonl": "CARRIED",
        "groups/1.json": "CARRIED",
        "secrets.json": "LEFT",
        "settings.json": "CARRIED",
        "thumbnails/a.png": "LEFT",
        "worlds/Gull Rock.json": "CARRIED",
        "worlds/Unused.json": "KEPT",
      });
      expect(report.files.find(({ path }) => path === "secrets.json")).toMatchObject({ sha256: null });
      expect(report.files.find(({ path }) => path.startsWith("OpenAI"))!.lost).toEqual([
        { what: "sampling", count: 1, where: "/top_p" },
      ]);
      const size = await sizeOf(worlds);
      expect(await carry(worlds, folder)).toEqual(report);
      expect(await sizeOf(worlds)).toBe(size);
      const [last] = await ports.store.read((tx) => tx.ledger.readStream("world/_profile", 0, 2));
      expect(JSON.parse(last!.body)).toMatchObject({ totals: report.totals, kept: expect.any(Array) });
      // Only what is new comes when something is new.
      writeFileSync(join(folder, "chats/Mira/chat 000.jsonl"), chatOf(2, 77));
      const third = await carry(worlds, folder);
      expect(third.totals).toMatchObject({ failed: 2, worlds: carried + 1 });
      const streams = await ports.store.read((tx) => tx.ledger.streams());
      expect(streams.filter(({ stream }) => stream.startsWith("world/w_"))).toHaveLength(carried + 1);
    },
  );

  it(
    "a world has what its chat had: who it was played as, the card, the lore and the lines",
    needs(reason),
    async () => {
      await using at = await open(database);
      const { ports } = at.worlds;
      const report = await carry(at.worlds, makeFolder(profileFiles(1, 0)));
      const id = report.files.find(({ path }) => path === "chats/Mira/chat 000.jsonl")!.world_id!;
      expect(id).toMatch(/^w_mira-chat-000-[0-9a-f]{8}$/);
      const page = await readPage(ports, id, { viewer: null, after: null, before: null, limit: 20 });
      const lived = page.entries.filter(({ channel }) => channel !== "VOICE");
      expect(lived.map(({ author_label, text }) => [author_label, text])).toEqual([
        [null, "Line 0 of 0."],
        ["Mira", "I heard line 1 of 0, Captain George."],
        [null, "Line 2 of 0."],
        ["Mira", "I heard line 3 of 0, Captain George."],
      ]);
      const { state, marks } = await ports.store.read(async (tx) => {
        const world = await loadWorld(tx.world, id);
        return { state: world.state, marks: await readMarks(tx.world, world) };
      });
      expect(state.settings.title).toBe("Mira - chat 000");
      expect(state.settings.operator_name).toBe("Captain George");
      expect(state.present).toEqual(["GEORGE", "MIRA"]);
      expect(state.settings.presets).toMatchObject({
        Calm: { temperature: 0.4 },
        Wild: { temperature: 1.5, repeat_penalty: 1.1, seed: null },
      });
      // The book inside the card is left to the file that the card names.
      expect(marks.lore.map(({ keys }) => keys)).toEqual([["lamp"]]);
      expect(marks.persona).toMatchObject({ name: "Captain George", entry_id: expect.any(String) });
      expect(marks.pictures.size).toBe(2);
      expect((await readAvatar(ports, id, "MIRA")).media_type).toBe("image/png");
      expect((await readEntrySwipes(ports, id, lived[1]!.entry_id)).swipes).toEqual(["a", "b"]);
      expect((await verifyWorld(ports, id)).findings).toEqual([]);
    },
  );
});

it("no key of a profile is kept, wherever it stands", async () => {
  await using at = await open("SQLite");
  const { ports } = at.worlds;
  await carry(at.worlds, makeFolder(profileFiles(3, 0)));
  const kept: string[] = [];
  for await (const hash of ports.content.list())
    kept.push(Buffer.from(await ports.content.get(hash)).toString("latin1"));
  const entries = await ports.store.read((tx) => tx.ledger.readAll(0, 1000));
  expect(kept.length).toBeGreaterThan(5);
  expect([...kept, ...entries.map(({ entry }) => entry.body)].filter((text) => text.includes("sk-never"))).toEqual([]);
});

it("an archive is read like a folder, also when the profile lies deeper in it; a name outside it is refused", async () => {
  await using at = await open("SQLite");
  const { ports } = at.worlds;
  const zip = (prefix: string, more: Record<string, Uint8Array> = {}) => {
    const files = [...profileFiles(2, 0)].map(([path, bytes]) => [`${prefix}${path}`, Buffer.from(bytes)] as const);
    return zipSync({ ...Object.fromEntries(files), ...more });
  };
  const report = await importProfile(ports, openArchive(ports.inflater, zip("data/default-user/")), "archive", false);
  expect(report.totals).toMatchObject({ worlds: 3, failed: 0 });
  expect(report.source).toEqual({ kind: "archive", root: "data/default-user/" });
  const EVIL = { "../evil.jsonl": Buffer.from("{}") };
  const BOMB = { "chats/bomb.jsonl": new Uint8Array(30_000_000) };
  for (const [bytes, refusal] of [
    [zip("", EVIL), { code: "IMPORT_FORMAT_UNKNOWN" }],
    [zip("", BOMB), { code: "IMPORT_TOO_LARGE" }],
    [Buffer.from("no archive"), { message: "a profile is a folder or a zip archive" }],
    [zipSync({ "readme.txt": Buffer.from("x") }), { message: expect.stringContaining("there is no profile here") }],
  ] as const) {
    expect(() => openArchive(ports.inflater, bytes)).toThrow(expect.objectContaining(refusal));
  }
});

it("a card that cannot be read fails by itself, and its chat is carried without it", async () => {
  await using at = await open("SQLite");
  const files = profileFiles(1, 0).set("chats/Broken/one.jsonl", chatOf(2, 5, "Bea"));
  const folder = makeFolder(files);
  const report = await carry(at.worlds, folder);
  const rowOf = (path: string) => report.files.find((file) => file.path === path);
  expect(rowOf("characters/Broken.png")).toMatchObject({ outcome: "FAILED", code: "IMPORT_FORMAT_UNKNOWN" });
  expect(rowOf("chats/Broken/one.jsonl")).toMatchObject({ outcome: "CARRIED", entries: 2 });
  expect(await carry(at.worlds, folder)).toEqual(report);
});

it("the command ends with 1 when a chat failed, writes the report, and follows no link", async () => {
  const files = profileFiles(4, 3);
  const folder = makeFolder(files);
  const home = mkdtempSync(join(tmpdir(), "verbatim-profile-home-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const cwd = join(home, "work");
  mkdirSync(cwd);
  const done = await runHere(["world", "import-profile", folder, "--report", "report.json"], { cwd });
  expect(done.exit).toBe(1);
  expect(done.stdout).toContain("FAILED chats/Mira/chat 000.jsonl: IMPORT_FORMAT_UNKNOWN line 8");
  expect(done.stdout).toContain("14 lines of chats: 8 written, 2 hidden, 2 blank, 2 headers\n2 worlds\n");
  expect(JSON.parse(readFileSync(join(cwd, "report.json"), "utf8"))).toMatchObject({
    format: "verbatim.profile-report",
    version: 1,
  });
  const report = JSON.parse(
    (await runHere(["world", "import-profile", folder, "--preview", "--json"], { cwd })).stdout,
  ) as { readonly files: readonly { readonly path: string }[] };
  expect(report.files.find(({ path }) => path.endsWith("linked.jsonl"))).toMatchObject({
    kind: "link",
    outcome: "LEFT",
    sha256: null,
  });
});
