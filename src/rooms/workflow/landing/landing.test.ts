import { afterEach, describe, expect, it } from "vitest";
import { LandingRepo, type Written } from "../../../../test/support/landing-repo.ts";
import { planLanding } from "./plan-landing.ts";
import { recoverLanding, undoLanding } from "./recover-landing.ts";
import { describeConflict, describeMerge, requireNoConflict, requireVerified, toLanding } from "./refusals.ts";
import { closeLanding, writeLanding } from "./write-landing.ts";

type Files = Readonly<Record<string, Written>>;

const TEN = Array.from({ length: 10 }, (_, i) => `line ${i + 1}\n`);
const text = (changes: Readonly<Record<number, string>> = {}) => TEN.map((line, i) => changes[i + 1] ?? line).join("");

let repo: LandingRepo;
afterEach(() => repo?.remove());

const open = (files: Files) => {
  repo = new LandingRepo(files);
};
const plan = async (candidate: Files) => planLanding(repo.ports, repo.base, await repo.candidate(candidate));
const words = async (candidate: Files) =>
  (await plan(candidate)).files.map(({ path, how, why }) => `${path} ${how}${why === undefined ? "" : ` ${why}`}`);
const land = async (candidate: Files) => {
  const planned = await plan(candidate);
  await writeLanding(repo.ports, { folder: repo.run, l: 1 }, planned);
  return planned;
};
const undo = () => undoLanding(repo.ports, { folder: repo.run, l: 1 });

describe("the plan of a text", () => {
  it("is as_is where nobody touched it, already where it is there, merged where both are apart", async () => {
    open({ a: text(), b: text(), c: text() });
    repo.write({ b: text({ 2: "two\n" }), c: text({ 1: "mine\n", 2: "" }) });
    const made = await plan({ a: text({ 1: "x\n" }), b: text({ 2: "two\n" }), c: text({ 8: "8\n", 10: "10\n" }) });
    expect(made.files.map(({ path, how, ranges }) => ({ path, how, ranges }))).toEqual([
      { path: "a", how: "as_is", ranges: [] },
      { path: "b", how: "already", ranges: [] },
      {
        path: "c",
        how: "merged",
        ranges: [
          { whose: "yours", start: 1, end: 1 },
          { whose: "agent", start: 7, end: 7 },
          { whose: "agent", start: 9, end: 9 },
        ],
      },
    ]);
    expect(describeMerge(made.files[2]!)).toBe("merged: yours at line 1, the agent's at 7 and 9");
  });

  it("names the lines of a conflict as they are in the file now", async () => {
    open({ a: text() });
    repo.write({ a: `new first\n${text({ 7: "mine\n", 8: "mine too\n" })}` });
    const made = await plan({ a: text({ 2: "", 7: "other\n" }) });
    expect(made.files).toMatchObject([
      { how: "conflict", why: "lines", ranges: [{ whose: "both", start: 8, end: 9 }] },
    ]);
    expect(describeConflict(made.files[0]!)).toBe("lines 8-9");
    expect(() => requireNoConflict(made, "@")).toThrow(
      expect.objectContaining({
        code: "LAND_CONFLICT",
        exit: 1,
        message: "1 file was changed by you and by the agent in the same place",
        fix: "let the agent do it: verbatim agent continue @ --from tree\nthe agent's version: verbatim agent show @ --diff a\nafter you changed it: verbatim agent apply @",
      }),
    );
  });

  it("finds conflicts between lines that look like markers", async () => {
    const odd = `${"<".repeat(20)}\n=======\n>>>>>>> x\n||||||| y\n`;
    open({ a: odd + text() });
    repo.write({ a: odd + text({ 10: "mine\n" }) });
    expect((await plan({ a: odd + text({ 10: "other\n" }) })).files[0]!.ranges).toEqual([
      { whose: "both", start: 14, end: 14 },
    ]);
  });

  it("counts the files in English", () => {
    const share = (conflicts: number, others: number) => {
      const file = (how: "conflict" | "as_is", i: number) => ({ path: `${how}-${i}`, how, ranges: [] });
      const files = [
        ...Array.from({ length: conflicts }, (_, i) => file("conflict", i)),
        ...Array.from({ length: others }, (_, i) => file("as_is", i)),
      ];
      try {
        requireNoConflict({ files }, "@");
        return null;
      } catch (thrown) {
        return (thrown as Error).message.replace(/ changed by you.*/, "");
      }
    };
    expect([share(1, 0), share(1, 3), share(2, 3), share(3, 0), share(0, 2)]).toEqual([
      "1 file was",
      "1 of 4 files was",
      "2 of 5 files were",
      "all 3 files were",
      null,
    ]);
  });

  it("offers the rest where some files can land", async () => {
    open({ a: text(), "b c": text() });
    repo.write({ "b c": "mine\n" });
    const made = await plan({ a: "x\n", "b c": "other\n" });
    expect(() => requireNoConflict(made, "@")).toThrow(
      expect.objectContaining({
        message: "1 of 2 files was changed by you and by the agent in the same place",
        fix: "let the agent do it: verbatim agent continue @ --from tree\ntake the rest: verbatim agent apply @ --except 'b c'\nthe agent's version: verbatim agent show @ --diff 'b c'\nafter you changed it: verbatim agent apply @",
      }),
    );
    await expect(writeLanding(repo.ports, { folder: repo.run, l: 1 }, made)).rejects.toMatchObject({
      code: "LAND_CONFLICT",
    });
    const onto = { commit: "a".repeat(40), tree: repo.base.tree };
    expect(toLanding(made, { l: 1, candidate: 2, onto })).toMatchObject({
      schema_version: "verbatim-landing-v1",
      files: [
        { path: "a", how: "as_is", ranges: [] },
        { path: "b c", how: "conflict", why: "lines" },
      ],
    });
  });

  it("merges CRLF and files without a final newline byte for byte", async () => {
    const crlf = (t: string) => t.replaceAll("\n", "\r\n");
    open({ a: crlf(text()), b: text().slice(0, -1) });
    repo.write({ a: crlf(text({ 1: "mine\n" })), b: text({ 1: "mine\n" }).slice(0, -1) });
    await land({ a: crlf(text({ 9: "its\n" })), b: text({ 9: "its\n" }).slice(0, -1) });
    expect(repo.read("a")).toBe(crlf(text({ 1: "mine\n", 9: "its\n" })));
    expect(repo.read("b")).toBe(text({ 1: "mine\n", 9: "its\n" }).slice(0, -1));
  });
});

describe("the plan of everything else", () => {
  const bin = (n: number) => Buffer.from([0, n]);

  const ROWS: readonly (readonly [string, Files, Files, Files, string[]])[] = [
    ["a binary that nobody touched", { a: bin(1) }, {}, { a: bin(2) }, ["a as_is"]],
    ["a binary that both changed", { a: bin(1) }, { a: bin(3) }, { a: bin(2) }, ["a conflict binary"]],
    ["a text that became binary here", { a: "x\n" }, { a: bin(3) }, { a: "y\n" }, ["a conflict binary"]],
    ["a binary and its mode", { a: bin(1) }, { a: { mode: 0o755, text: "\0\x01" } }, { a: bin(2) }, ["a merged"]],
    ["a link that both changed", { a: { to: "x" } }, { a: { to: "y" } }, { a: { to: "z" } }, ["a conflict link"]],
    ["a link that is there", { a: { to: "x" } }, { a: { to: "z" } }, { a: { to: "z" } }, ["a already"]],
    ["a file that both made a link of", { a: "x" }, { a: { to: "y" } }, { a: { to: "z" } }, ["a conflict link"]],
    ["a file that both created", {}, { a: "mine\n" }, { a: "its\n" }, ["a conflict both_created"]],
    ["a file that both created alike", {}, { a: "same\n" }, { a: "same\n" }, ["a already"]],
    [
      "a file deleted here and edited there",
      { a: "x\n" },
      { a: null },
      { a: "y\n" },
      ["a conflict deleted_and_edited"],
    ],
    [
      "a file edited here and deleted there",
      { a: "x\n" },
      { a: "y\n" },
      { a: null },
      ["a conflict deleted_and_edited"],
    ],
    ["a file that both deleted", { a: "x\n" }, { a: null }, { a: null }, ["a already"]],
    [
      "a parent that is a link",
      { "d/a": "x\n" },
      { d: null, e: { to: "/" } },
      { "e/a": "y\n" },
      ["e/a conflict in_the_way"],
    ],
    ["a parent that is a file", { x: "" }, { e: "file" }, { "e/a": "y\n" }, ["e/a conflict in_the_way"]],
    ["a folder in its place", {}, { "a/mine": "x" }, { a: "its\n" }, ["a conflict in_the_way"]],
    ["a folder in place of a file", { a: "x\n" }, { a: null, "a/b": "" }, { a: "y\n" }, ["a conflict in_the_way"]],
    ["a twin of a new name", {}, { "Read.md": "x" }, { "READ.md": "y" }, ["READ.md conflict twin"]],
    ["a twin of a new folder", {}, { "Docs/x": "x" }, { "docs/y": "y" }, ["docs/y conflict twin"]],
    [
      "a name that changes its case",
      { "Read.md": "x\n" },
      {},
      { "Read.md": null, "READ.md": "x\n" },
      ["READ.md as_is", "Read.md as_is"],
    ],
    ["a file that becomes a folder", { a: "x\n" }, {}, { a: null, "a/b": "y\n" }, ["a as_is", "a/b as_is"]],
    ["a folder that becomes a file", { "a/b": "x\n" }, {}, { "a/b": null, a: "y\n" }, ["a as_is", "a/b as_is"]],
    [
      "a folder with more that becomes a file",
      { "a/b": "x\n" },
      { "a/own": "" },
      { "a/b": null, a: "y\n" },
      ["a conflict in_the_way", "a/b as_is"],
    ],
    [
      "a folder with an edited file that becomes a file",
      { "a/b": "x\n" },
      { "a/b": "mine" },
      { "a/b": null, a: "y\n" },
      ["a conflict in_the_way", "a/b conflict deleted_and_edited"],
    ],
    [
      "an edited file that becomes a folder",
      { a: "x\n" },
      { a: "mine" },
      { a: null, "a/b": "y\n" },
      ["a conflict deleted_and_edited", "a/b conflict in_the_way"],
    ],
  ];

  it.each(ROWS)("%s", async (what, _base, _now, _candidate, expected) => {
    // All rows in one repository, each in a folder of its own.
    rows ??= planRows();
    expect((await rows).get(what)).toEqual(expected);
  });

  let rows: Promise<ReadonlyMap<string, string[]>> | undefined;
  async function planRows(): Promise<ReadonlyMap<string, string[]>> {
    const below = (i: number, files: Files) =>
      Object.fromEntries(Object.entries(files).map(([path, file]) => [`row-${i}/${path}`, file]));
    const all = (of: 1 | 2 | 3) => Object.assign({}, ...ROWS.map((row, i) => below(i, row[of]))) as Files;
    const one = new LandingRepo(all(1));
    try {
      one.write(all(2));
      const { files } = await planLanding(one.ports, one.base, await one.candidate(all(3)));
      return new Map(
        ROWS.map(([what], i) => {
          const own = files.filter(({ path }) => path.startsWith(`row-${i}/`));
          return [
            what,
            own.map(({ path, how, why }) => [path.slice(`row-${i}/`.length), how, why ?? ""].join(" ").trim()),
          ];
        }),
      );
    } finally {
      one.remove();
    }
  }

  it("takes a new mode of one side and new bytes of the other", async () => {
    open({ a: "x\n", b: "x\n" });
    repo.write({ a: { mode: 0o755, text: "x\n" }, b: "mine\n" });
    await land({ a: "its\n", b: { mode: 0o755, text: "x\n" } });
    expect(repo.read("a")).toBe("its\n");
    expect(repo.read("b")).toBe("mine\n");
    const { a, b } = repo.manifest();
    expect([a?.slice(0, 3), b?.slice(0, 3)]).toEqual(["755", "755"]);
  });
});

describe("a tree that is not clean", () => {
  it("keeps dirty, staged, untracked and ignored files and the index byte for byte", async () => {
    open({ a: text(), staged: "x\n", dirty: "x\n", ".gitignore": "ignored\n" });
    repo.write({ staged: "staged\n" });
    repo.git("add", "staged");
    repo.write({
      staged: "staged and edited\n",
      dirty: "mine\n",
      untracked: "mine\n",
      ignored: "mine\n",
      a: text({ 1: "1\n" }),
    });
    const before = repo.manifest();
    await land({ a: text({ 9: "9\n" }), "new/file": "its\n" });
    const after = repo.manifest();
    expect(repo.read("a")).toBe(text({ 1: "1\n", 9: "9\n" }));
    const { a: _a, "new/": _n, "new/file": _f, ...rest } = after;
    const { a: _b, ...was } = before;
    expect(rest).toEqual(was);
    undo();
    expect(repo.manifest()).toEqual(before);
  });

  it("calls an ignored or untracked file with other bytes a conflict of that file only", async () => {
    open({ a: "x\n", ".gitignore": "ignored\n" });
    repo.write({ ignored: "mine\n", untracked: "mine\n" });
    expect(await words({ a: "y\n", ignored: "its\n", untracked: "its\n" })).toEqual([
      "a as_is",
      "ignored conflict both_created",
      "untracked conflict both_created",
    ]);
  });

  it("lands beside a sparse checkout, and not where it has cut a file away", async () => {
    open({ "in/a": "x\n", "out/b": "x\n" });
    repo.git("sparse-checkout", "set", "--no-cone", "/in/");
    expect(await words({ "in/a": "y\n", "out/b": "y\n" })).toEqual(["in/a as_is", "out/b conflict deleted_and_edited"]);
    const { "in/a": _, ...before } = repo.manifest();
    await land({ "in/a": "y\n" });
    const { "in/a": __, ...after } = repo.manifest();
    expect(after).toEqual(before);
  });

  it("lands beside a submodule and never in it", async () => {
    open({ a: "x\n" });
    const other = new LandingRepo({ inside: "x\n" });
    try {
      repo.git("submodule", "add", "-q", other.root, "sub");
      repo.commit();
      expect(await words({ a: "y\n", "sub/inside": "y\n" })).toEqual(["a as_is", "sub/inside conflict both_created"]);
      await land({ a: "y\n" });
      expect(repo.read("sub/inside")).toBe("x\n");
      expect(repo.git("submodule", "status").trim()).toMatch(/^[0-9a-f]{40} sub/);
    } finally {
      other.remove();
    }
  });

  it("lands two candidates one after the other on disjoint files and on one file", async () => {
    open({ a: text(), b: text(), c: text() });
    await land({ a: text({ 1: "first\n" }), b: "first\n" });
    const second = await plan({ a: text({ 9: "second\n" }), c: "second\n" });
    expect(second.files.map(({ how }) => how)).toEqual(["merged", "as_is"]);
    await writeLanding(repo.ports, { folder: repo.run, l: 2 }, second);
    expect(repo.read("a")).toBe(text({ 1: "first\n", 9: "second\n" }));
    // The first one cannot be undone past the second, and the second can.
    expect(() => undo()).toThrow(expect.objectContaining({ code: "ROLLBACK_CONFLICT", details: { paths: ["a"] } }));
    undoLanding(repo.ports, { folder: repo.run, l: 2 });
    expect(undo()).toEqual(["a", "b"]);
    expect(repo.read("a")).toBe(text());
  });
});

const EVERYTHING: readonly [Files, Files] = [
  {
    keep: { mode: 0o600, text: "x\n" },
    run: { mode: 0o755, text: "#!\n" },
    "deep/er/gone": "x\n",
    "file-to-folder": "x\n",
    "folder-to-file/a/b": "x\n",
    "file-to-link": "x\n",
    "link-to-file": { to: "keep" },
    binary: Buffer.from([0, 1]),
  },
  {
    keep: "y\n",
    run: { mode: 0o644, text: "#!\n" },
    "deep/er/gone": null,
    "file-to-folder": null,
    "file-to-folder/x/y": { mode: 0o755, text: "new\n" },
    "folder-to-file/a/b": null,
    "folder-to-file": "now a file\n",
    "file-to-link": { to: "keep" },
    "link-to-file": "a file\n",
    binary: Buffer.from([0, 2]),
    "new/link": { to: "../keep" },
    empty: "",
  },
];

describe("landing", () => {
  it("writes every kind of change and leaves nothing else behind, and undo takes all of it back", async () => {
    open(EVERYTHING[0]);
    repo.write({ keep: { mode: 0o600, text: "x\n" } });
    const before = repo.manifest();
    await land(EVERYTHING[1]);
    closeLanding({ folder: repo.run, l: 1 });
    const after = repo.manifest();
    expect(Object.keys(after)).toEqual([
      "binary",
      "empty",
      "file-to-folder/",
      "file-to-folder/x/",
      "file-to-folder/x/y",
      "file-to-link",
      "folder-to-file",
      "keep",
      "link-to-file",
      "new/",
      "new/link",
      "run",
      ".git/index",
    ]);
    expect(after["keep"]).toMatch(/^600 /);
    expect(after["run"]).toMatch(/^644 /);
    expect(after["new/link"]).toBe("-> ../keep");
    expect(await words(EVERYTHING[1])).toEqual(
      Object.keys(EVERYTHING[1])
        .sort()
        .map((path) => `${path} already`),
    );
    undo();
    expect(repo.manifest()).toEqual(before);
    expect(() => undo()).toThrow(expect.objectContaining({ code: "RUN_NOT_PASSED" }));
  });

  it("keeps the folders that were there, empty or private, when it is undone", async () => {
    open({ "private/a": "x\n" });
    repo.write({ "empty/x": "" });
    repo.ports.files.drop("empty/x", (repo.ports.files.look("empty/x") as { stamp: string }).stamp);
    repo.git("update-index", "--refresh");
    const { chmodSync } = await import("node:fs");
    chmodSync(`${repo.root}/private`, 0o700);
    const before = repo.manifest();
    await land({ "private/a": null, "empty/new": "x\n" });
    expect(Object.keys(repo.manifest())).toEqual(["empty/", "empty/new", ".git/index"]);
    undo();
    expect(repo.manifest()).toEqual(before);
  });

  it.each<[string, Files, string[]]>([
    ["a file that was edited", { keep: "mine\n" }, ["keep"]],
    ["a file that is gone", { empty: null }, ["empty"]],
    ["a file that is back", { "deep/er/gone": "mine\n" }, ["deep/er/gone"]],
    ["a folder where a file has to be again", { "file-to-folder/mine": "x" }, ["file-to-folder"]],
    ["a link where a folder has to be again", { deep: { to: "new" } }, ["deep/er/gone"]],
  ])("refuses to undo over %s, and changes nothing", async (_, edits, paths) => {
    open(EVERYTHING[0]);
    await land(EVERYTHING[1]);
    repo.write(edits);
    const before = repo.manifest();
    expect(() => undo()).toThrow(expect.objectContaining({ code: "ROLLBACK_CONFLICT", details: { paths } }));
    expect(repo.manifest()).toEqual(before);
  });

  it.each<[string, Files, string]>([
    ["edited", { keep: "mine\n" }, "keep"],
    ["created", { "new/link": "mine" }, "new/link"],
    ["deleted", { "deep/er/gone": null }, "deep/er/gone"],
    ["made executable", { keep: { mode: 0o755, text: "x\n" } }, "keep"],
  ])("does not begin where a file was %s after the plan", async (_, edits, path) => {
    open(EVERYTHING[0]);
    const planned = await plan(EVERYTHING[1]);
    repo.write(edits);
    const before = repo.manifest();
    await expect(writeLanding(repo.ports, { folder: repo.run, l: 1 }, planned)).rejects.toMatchObject({
      code: "LAND_RACED",
      exit: 4,
      where: path,
    });
    expect(repo.manifest()).toEqual(before);
  });

  it.each(["keep", "deep/er/gone", "run", "folder-to-file", "new/link", "file-to-folder/x/y"])(
    "puts everything back when somebody writes %s while it lands, and keeps what they wrote",
    async (path) => {
      open(EVERYTHING[0]);
      const planned = await plan(EVERYTHING[1]);
      const before = repo.manifest();
      let hit = false;
      const write = (at: string) => {
        if (hit || at !== path) return;
        hit = true;
        repo.write({ [path]: "theirs\n" });
      };
      const { files } = repo.ports;
      const racing = {
        ...repo.ports,
        files: {
          ...files,
          place: (at: string, temporary: string, stamp: string | null) => {
            write(at);
            return files.place(at, temporary, stamp);
          },
          drop: (at: string, stamp: string) => {
            write(at);
            return files.drop(at, stamp);
          },
        },
      };
      await expect(writeLanding(racing, { folder: repo.run, l: 1 }, planned)).rejects.toMatchObject({
        code: "LAND_RACED",
        message: `somebody changed ${path} while it was being applied; everything was put back`,
      });
      expect(repo.read(path)).toBe("theirs\n");
      const rest = (all: Record<string, string>) =>
        Object.fromEntries(Object.entries(all).filter(([name]) => name.split("/")[0] !== path.split("/")[0]));
      expect(rest(repo.manifest())).toEqual(rest(before));
      expect(recoverLanding(repo.ports, { folder: repo.run, l: 1 })).toEqual({ state: null, kept: [] });
    },
  );

  it.each(["keep", "deep/er/gone", "run"])(
    "puts everything back when somebody wrote %s after the snapshot was taken",
    async (path) => {
      open(EVERYTHING[0]);
      const planned = await plan(EVERYTHING[1]);
      const before = repo.manifest();
      const folder = repo.run;
      const late = {
        ...folder,
        read: (file: string) => folder.read(file),
        writeAll: (files: Parameters<typeof folder.writeAll>[0]) => folder.writeAll(files),
        write: (file: string, bytes: Uint8Array | string) => {
          folder.write(file, bytes);
          if (file.endsWith("journal.json") && String(bytes).includes("writing")) repo.write({ [path]: "theirs\n" });
        },
      };
      await expect(writeLanding(repo.ports, { folder: late, l: 1 }, planned)).rejects.toMatchObject({
        code: "LAND_RACED",
        where: path,
      });
      expect(repo.read(path)).toBe("theirs\n");
      const { [path]: _, ...rest } = repo.manifest();
      const { [path]: __, ...was } = before;
      expect(rest).toEqual(was);
    },
  );

  it("puts everything back when the disk refuses", async () => {
    open(EVERYTHING[0]);
    const planned = await plan(EVERYTHING[1]);
    const before = repo.manifest();
    const { files } = repo.ports;
    const refusing = {
      ...repo.ports,
      files: {
        ...files,
        stage: (at: string, temporary: string, file: Parameters<typeof files.stage>[2]) => {
          if (at === "run") throw new Error("no space");
          files.stage(at, temporary, file);
        },
      },
    };
    await expect(writeLanding(refusing, { folder: repo.run, l: 1 }, planned)).rejects.toThrow("no space");
    expect(repo.manifest()).toEqual(before);
  });
});

describe("what may land", () => {
  const facts = { run: "@", kind: "capture", verification: "missing", unverified: false } as const;

  it.each([
    [{ ...facts, verification: "passed" }, null],
    [{ ...facts, verification: "none" }, null],
    [{ ...facts, unverified: true }, null],
    [facts, "Verify it: verbatim agent verify @, or apply it with --unverified"],
    [{ ...facts, verification: "failed" }, "Verify it: verbatim agent verify @, or apply it with --unverified"],
    [{ ...facts, kind: "selection", unverified: true }, "Verify it: verbatim agent verify @"],
    [{ ...facts, kind: "selection", verification: "none" }, null],
  ] as const)("%j", (one, fix) => {
    if (fix === null) expect(() => requireVerified(one)).not.toThrow();
    else expect(() => requireVerified(one)).toThrow(expect.objectContaining({ code: "LAND_UNVERIFIED", fix }));
  });
});
