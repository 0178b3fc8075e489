import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ContextRoom, openRoom, type RoomOptions } from "../../../../test/support/context-room.ts";
import { passTick } from "../../../../test/support/edit-scripts.ts";
import { DatabaseSync } from "../../../../test/support/raw-sqlite.ts";
import { createOutliner } from "../../../adapters/outline/outliner.ts";
import type { CodeOutliner } from "../ports.ts";
import { SECTION_RULES } from "../sections/sections.ts";
import { buildIndex } from "./index-build.ts";
import { findStale, verifyIndex } from "./index-verify.ts";
import { requireStored } from "./index-view.ts";

const HOUR = 3_600_000;

let folder: string;
let root: string;
const opened: ContextRoom[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-build-"));
  root = join(folder, "tree");
  mkdirSync(join(root, "sub"), { recursive: true });
  for (const name of ["a.md", "b.md", "sub/c.md"]) write(name, `# ${name}\ntext\n`);
});

afterEach(async () => {
  for (const room of opened.splice(0)) await room.close();
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, content: string): void {
  writeFileSync(join(root, name), content);
}

async function open(options: Partial<RoomOptions> = {}): Promise<ContextRoom> {
  const room = await openRoom({ root, state: join(folder, "state"), ...options });
  opened.push(room);
  return room;
}

/** Looks at the database past the store. */
function raw(...sql: string[]): unknown[] {
  const database = new DatabaseSync(join(folder, "state", "store.db"));
  try {
    return sql.map((statement) => database.prepare(statement).all()).at(-1)!;
  } finally {
    database.close();
  }
}

describe("an incremental build", () => {
  it("opens nothing and walks nothing when no file and no folder changed", async () => {
    const room = await open({ later: HOUR });
    const first = await buildIndex(room, { full: false });
    expect(room.watched.reads).toEqual(["a.md", "b.md", "sub/c.md"]);
    room.watched.reads.length = 0;
    room.watched.walks = 0;
    const second = await buildIndex(room, { full: false });
    expect(room.watched).toEqual({ reads: [], walks: 0 });
    expect(second).toEqual({ ...first, mode: "incremental", changed: { added: 0, modified: 0, removed: 0 } });
  });

  it("opens what changed and nothing else, and keeps the sections of the rest", async () => {
    const room = await open({ later: HOUR });
    await buildIndex(room, { full: false });
    room.watched.reads.length = 0;
    passTick(join(folder, "probe"));
    write("b.md", "# changed\n");
    expect(await buildIndex(room, { full: false })).toMatchObject({ files: 3, sections: 3, changed: { modified: 1 } });
    expect(room.watched.reads).toEqual(["b.md"]);
    expect((await room.exported()).split("\n").filter((line) => line.includes('"sub/c.md"'))).toHaveLength(2);
  });

  it("opens a file again that was fresh when it was indexed, and no more once it was old enough", async () => {
    const room = await open();
    await buildIndex(room, { full: false });
    room.watched.reads.length = 0;
    await buildIndex(room, { full: false });
    expect(room.watched.reads).toEqual(["a.md", "b.md", "sub/c.md"]);
    const later = await open({ later: HOUR });
    await buildIndex(later, { full: false });
    expect(later.watched.reads).toHaveLength(3);
    await buildIndex(later, { full: false });
    expect(later.watched.reads).toHaveLength(3);
  });

  it("reuses the sections of a file whose line ends changed", async () => {
    const room = await open({ later: HOUR });
    const { index_hash } = await buildIndex(room, { full: false });
    passTick(join(folder, "probe"));
    write("a.md", "# a.md\r\ntext\r\n");
    expect(await buildIndex(room, { full: false })).toMatchObject({ index_hash, changed: { modified: 0 } });
    const { facts } = await requireStored(room.store);
    expect(facts.revision).toBe(2);
  });

  it("notices a smaller limit, another exclusion and a name that is not allowed any more, with no file touched", async () => {
    await buildIndex(await open({ later: HOUR }), { full: false });
    const small = await open({ later: HOUR, config: { max_file_bytes: 5 } });
    await expect(buildIndex(small, { full: false })).rejects.toMatchObject({ code: "INDEX_SOURCES_INVALID" });
    const excluded = await open({ later: HOUR, config: { exclude: ["sub/**"] } });
    expect(await buildIndex(excluded, { full: false })).toMatchObject({ files: 2, changed: { removed: 1 } });
  });

  it("does not trust folders when links decide what is in them", async () => {
    symlinkSync("a.md", join(root, "link.md"));
    const room = await open({ later: HOUR });
    expect(await buildIndex(room, { full: false })).toMatchObject({ files: 4 });
    room.watched.walks = 0;
    await buildIndex(room, { full: false });
    expect(room.watched.walks).toBe(1);
    rmSync(join(root, "link.md"));
    symlinkSync("sub", join(root, "link.md"));
    expect(await buildIndex(room, { full: false })).toMatchObject({ files: 3, skipped_links: ["link.md"] });
  });
});

describe("a build that cannot finish", () => {
  it("because a file vanished between listing and reading keeps the old index", async () => {
    const room = await open();
    const before = await buildIndex(room, { full: false });
    write("a.md", "# new\n");
    const racing = await open({ onRead: (path) => path === "b.md" && rmSync(join(root, "b.md"), { force: true }) });
    await expect(buildIndex(racing, { full: false, stageSize: 1 })).rejects.toMatchObject({
      code: "INDEX_SOURCES_INVALID",
      details: { problems: [{ code: "SOURCE_UNREADABLE", file_path: "b.md" }] },
    });
    expect((await requireStored(room.store)).facts).toMatchObject({ index_hash: before.index_hash, revision: 1 });
    expect(raw("select count(*) as n from context_file")).toEqual([{ n: 3 }]);
  });

  it("because a file grew beyond the limit while it was read names size and limit", async () => {
    const room = await open({
      config: { max_file_bytes: 30 },
      onRead: (path) => path === "b.md" && write("b.md", "x".repeat(31)),
    });
    await expect(buildIndex(room, { full: false })).rejects.toMatchObject({
      details: { problems: [{ code: "SOURCE_TOO_LARGE", file_path: "b.md", bytes: 31, limit: 30 }] },
    });
  });

  it("takes back the rows it had written", async () => {
    write("z.md", "\u0000");
    writeFileSync(join(root, "z.md"), Uint8Array.from([0xff]));
    const room = await open();
    await expect(buildIndex(room, { full: false, stageSize: 1 })).rejects.toMatchObject({
      code: "INDEX_SOURCES_INVALID",
    });
    expect(raw("select count(*) as n from context_file")).toEqual([{ n: 0 }]);
    await expect(requireStored(room.store)).rejects.toMatchObject({ code: "INDEX_MISSING" });
  });

  it("because another machine built meanwhile changes nothing", async () => {
    const room = await open();
    await buildIndex(room, { full: false });
    write("a.md", "# mine\n");
    const other = await open();
    const { store } = await open();
    const racing = {
      ...room,
      // Machines with disks of their own do not share a lock on disk.
      lock: { hold: <T>(fn: () => Promise<T>) => fn() },
      store: {
        read: store.read.bind(store),
        close: store.close.bind(store),
        transact: async <T>(fn: Parameters<typeof store.transact<T>>[0]) => {
          await buildIndex(other, { full: true });
          return store.transact(fn);
        },
      },
    };
    await expect(buildIndex(racing, { full: false })).rejects.toMatchObject({ code: "INDEX_BUSY", exit: 4 });
    expect((await verifyIndex(room)).ok).toBe(true);
  });
});

describe("a damaged index", () => {
  it("is found by verify and by reading, and mended by a full build", async () => {
    const room = await open({ later: HOUR });
    const { index_hash } = await buildIndex(room, { full: false });
    raw(
      "update context_file set sections = cast(replace(cast(sections as text), 'b.md', 'x.md') as blob) where path = 'b.md'",
    );
    expect(await verifyIndex(room)).toMatchObject({ ok: false, changed: ["b.md"] });
    await expect(room.exported()).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    raw("update context_file set sections = x'6e6f' where path = 'b.md'");
    passTick(join(folder, "probe"));
    write("a.md", "# edited\n");
    await expect(buildIndex(room, { full: false })).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      fix: "Build the index again: verbatim index build --full",
    });
    write("a.md", "# a.md\ntext\n");
    expect(await buildIndex(room, { full: true })).toMatchObject({ index_hash, mode: "full" });
    expect((await verifyIndex(room)).ok).toBe(true);
  });

  it.each(["paths", "stats", "hashes", "folders", "folder_stats"])(
    "is refused when its %s do not fit, and mended by a full build",
    async (name) => {
      const room = await open({ later: HOUR });
      await buildIndex(room, { full: false });
      raw(`update context_image set bytes = x'000102' where name = '${name}'`);
      if (!name.startsWith("folder")) await expect(verifyIndex(room)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
      // A build that finds nothing changed has no use for hashes.
      if (name !== "hashes") {
        await expect(buildIndex(room, { full: false })).rejects.toMatchObject({ code: "STORE_CORRUPT" });
      }
      await buildIndex(room, { full: true });
      expect((await verifyIndex(room)).ok).toBe(true);
    },
  );

  it("of another number of rules is built anew, and its rows leave", async () => {
    const room = await open({ later: HOUR });
    const { index_hash } = await buildIndex(room, { full: false });
    raw(
      "update context_fact set rules = 0",
      `update context_file set version = replace(version, '.${SECTION_RULES}', '.0')`,
    );
    expect(await buildIndex(room, { full: false })).toMatchObject({ index_hash, mode: "full", changed: { added: 3 } });
    expect(raw("select distinct substr(version, -2) as rules from context_file")).toEqual([
      { rules: `.${SECTION_RULES}` },
    ]);
  });
});

describe("a build with code", () => {
  const config: NonNullable<RoomOptions["config"]> = { sources: ["**/*"], outline: "markdown+code" };

  /** A room whose outliner is watched. */
  async function openCode(outliner = createOutliner()) {
    const asked: string[] = [];
    const room = await open({ later: HOUR, config });
    const watched: CodeOutliner = {
      missing: () => outliner.missing(),
      outline(language, text) {
        asked.push(text);
        return outliner.outline(language, text);
      },
    };
    return { room: { ...room, outliner: watched }, asked };
  }

  it("parses changed files of code only, and none when nothing changed", async () => {
    write("x.ts", "const x = 1;\n");
    write("y.ts", "const y = 1;\n");
    const { room, asked } = await openCode();
    await buildIndex(room, { full: false });
    expect(asked).toEqual(["const x = 1;\n", "const y = 1;\n"]);
    asked.length = 0;
    await buildIndex(room, { full: false });
    write("y.ts", "const why = 1;\n");
    write("a.md", "# other\n");
    await buildIndex(room, { full: false });
    expect(asked).toEqual(["const why = 1;\n"]);
  });

  it("keeps file sections without the grammars, says so, and cuts when they come", async () => {
    write("x.ts", "const x = 1;\n");
    const { room, asked } = await openCode(createOutliner({ from: pathToFileURL(join(folder, "x.js")).href }));
    const without = await buildIndex(room, { full: false });
    expect(without).toMatchObject({ sections: 4, outline: { grammars: null, missing: "not installed" } });
    expect(asked).toEqual([]);
    const { room: able } = await openCode();
    expect(await buildIndex(able, { full: false })).toMatchObject({
      sections: 4,
      mode: "full",
      outline: { grammars: "@vscode/tree-sitter-wasm@0.3.1", missing: null },
    });
    expect(await able.exported()).toContain('"heading_path":["x"]');
    expect(await buildIndex(room, { full: false })).toEqual({ ...without, mode: "full" });
  });

  it("fails when the parser takes too long, and the previous index stays", async () => {
    const { room } = await openCode();
    const { index_hash } = await buildIndex(room, { full: false });
    write("x.ts", "const x = 1;\n");
    const { room: hasty } = await openCode(createOutliner({ longestMs: 1 }));
    await expect(buildIndex(hasty, { full: false })).rejects.toMatchObject({
      code: "INDEX_SOURCES_INVALID",
      details: { problems: [{ code: "OUTLINE_TIMEOUT", file_path: "x.ts" }] },
    });
    expect((await requireStored(room.store)).facts.index_hash).toBe(index_hash);
  });
});

describe("what is stale", () => {
  it("is told by facts, and by content only where facts prove nothing", async () => {
    const room = await open();
    await buildIndex(room, { full: false });
    room.watched.reads.length = 0;
    const { image } = await requireStored(room.store);
    expect(await findStale(room, image)).toEqual([]);
    expect(room.watched.reads).toHaveLength(3);
    const settled = await open({ later: HOUR });
    await buildIndex(settled, { full: false });
    settled.watched.reads.length = 0;
    const { image: old } = await requireStored(settled.store);
    utimesSync(join(root, "a.md"), 1, 1);
    expect(await findStale(settled, old)).toEqual(["a.md"]);
    expect(settled.watched.reads).toEqual([]);
    expect(readFileSync(join(root, "a.md"), "utf8")).toBe("# a.md\ntext\n");
  });
});
