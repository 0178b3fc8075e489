import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { runDisk } from "../../../adapters/disk/runs/run-disk.ts";
import { formatCanonical } from "../../../core/canonical/index.ts";
import type { GuardName } from "../../../core/contracts/guards.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { effectivePolicy } from "../declare/policy.ts";
import type { CatalyticPorts } from "../ports.ts";
import { type Entry, formatTrees } from "../tree/tree.ts";
import type { ViewChanges } from "../view/view-changes.ts";
import { keepLeftView, readLeftChanges } from "./left-view.ts";

let base: string;
let notes: string[];
let launched: { readonly command: readonly string[]; readonly layers: readonly object[] }[];
let released: number;
/** What git was asked about, and what it says it ignores. */
let asked: readonly string[];
let ignores: readonly string[];
const at = (...parts: string[]) => join(base, ...parts);
const put = (path: string, text: string) => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
};
const hash = (text: string) => createHash("sha256").update(text).digest("hex");
const JOURNAL = [{ op: "SNAPSHOT_DONE", collects: true, ignored: [] }, { op: "EXEC_STARTED" }];

/** A tree with two files, its record as a run writes it before its command begins, and the command's side of it. */
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-left-view-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  [notes, launched, released, asked, ignores] = [[], [], 0, [], []];
  const files = { "src/a.txt": "one\n", "harbour/b.txt": "two\n" };
  const entries: [string, Entry][] = [
    [".", { type: "dir", mode: "0755" }],
    ["harbour", { type: "dir", mode: "0755" }],
    ["src", { type: "dir", mode: "0755" }],
  ];
  for (const [path, text] of Object.entries(files)) {
    for (const side of ["root", "work/cp0", "merged"]) put(`${side}/${path}`, text);
    entries.push([path, { type: "file", mode: "0644", size: text.length, sha256: hash(text) }]);
  }
  mkdirSync(at("work/up0"));
  put("record/JOBSPEC.json", '{"cwd":".","strict_mtime":false,"view":true}\n');
  put("record/POLICY.json", `${formatCanonical(effectivePolicy({}).policy as never)}\n`);
  put(
    "record/PRE_TREE.json",
    `${formatTrees(new Map([[".", new Map(entries.sort(([a], [b]) => (a < b ? -1 : 1)))]]))}\n`,
  );
});

async function keep(
  guard: GuardName,
  journal: readonly object[] = JOURNAL,
  more: Partial<CatalyticPorts["disk"]> = {},
  ended: Promise<unknown> = Promise.resolve(),
): Promise<ViewChanges | null> {
  const disk = { ...runDisk, ...more };
  const running = {
    ended,
    merged: () => at("merged"),
    upper: () => at("work/up0"),
    release: async () => void released++,
  };
  const content = {
    putStream: async (chunks: AsyncIterable<Uint8Array>) => {
      const sum = createHash("sha256");
      for await (const chunk of chunks) sum.update(chunk);
      return sum.digest("hex");
    },
  };
  const ports = {
    disk,
    crypto: nodeCrypto,
    clock: { now: () => 0 },
    host: { home: null },
    git: {
      ignoredAmong: async (_: string, among: readonly string[]) => {
        asked = among;
        return ignores;
      },
      countCommits: () => 0,
    },
    content: async () => content,
    notify: (text: string) => void notes.push(text),
    guards: { launch: async (request: never) => (launched.push(request), running) },
  };
  const places = { root: at("root"), record: at("record"), work: at("work"), record_path: null, state: at("state") };
  await keepLeftView(ports as never, { run_id: "run-1", places, begin: { guard }, journal, owner: "dead" } as never);
  return readLeftChanges({ disk }, at("record"));
}
const paths = (changes: ViewChanges | null) =>
  changes === null ? null : [[...changes.added.keys()], [...changes.changed.keys()], [...changes.removed.keys()]];

describe("what the command of a view had done when its tool died", () => {
  it("is kept, by the copy as it lies there", async () => {
    put("work/cp0/src/a.txt", "changed\n");
    put("work/cp0/new.txt", "new\n");
    rmSync(at("work/cp0/harbour"), { recursive: true });
    expect(paths(await keep("ns-bind"))).toEqual([["new.txt"], ["src/a.txt"], ["harbour", "harbour/b.txt"]]);
    expect([notes, launched]).toEqual([[], []]);
  });

  it("is kept, by the overlay, which is mounted around a program that does nothing", async () => {
    for (const side of ["merged", "work/up0"]) put(`${side}/src/a.txt`, "changed\n");
    expect(paths(await keep("ns-overlay"))).toEqual([[], ["src/a.txt"], []]);
    expect(launched).toMatchObject([{ command: ["true"], layers: [{ index: 0, kind: "overlay", path: at("root") }] }]);
    expect([notes, released]).toEqual([[], 1]);
  });

  it("is only counted where git ignores it and it cannot travel", async () => {
    put("work/cp0/modules/x", "ignored\n");
    execFileSync("mkfifo", [at("work/cp0/pipe")]);
    const journal = [{ ...JOURNAL[0], ignored: ["modules/"] }, JOURNAL[1]!];
    expect(await keep("ns-bind", journal)).toMatchObject({ ignored: 2, refused: ["pipe"] });
    expect(asked).toEqual(["pipe"]);
    rmSync(at("record/VIEW_CHANGES.json"));
    ignores = ["pipe"];
    expect(await keep("ns-bind", journal)).toMatchObject({ ignored: 3, refused: [] });
  });

  it.each<[string, () => void, (readonly object[])?, GuardName?]>([
    ["nobody wanted it", () => undefined, [{ ...JOURNAL[0], collects: false }, JOURNAL[1]!]],
    ["nobody knows what was ignored", () => undefined, [{ op: "SNAPSHOT_DONE", collects: true }, JOURNAL[1]!]],
    ["it had not been started", () => undefined, [JOURNAL[0]!]],
    ["nothing held it back", () => undefined, JOURNAL, "audit"],
    ["its declaration is gone", () => rmSync(at("record/JOBSPEC.json"))],
    ["its policy is gone", () => rmSync(at("record/POLICY.json"))],
    ["the tree it began with is not known", () => rmSync(at("record/PRE_TREE.json"))],
  ])("is not kept where %s", async (_, change, journal, guard = "ns-bind") => {
    put("work/cp0/new.txt", "new\n");
    change();
    expect([await keep(guard, journal), notes]).toEqual([null, []]);
  });

  it("is not read again where the tool had written it down itself", async () => {
    put("work/cp0/new.txt", "new\n");
    await keep("ns-bind");
    const first = readFileSync(at("record/VIEW_CHANGES.json"), "utf8");
    put("work/cp0/later.txt", "later\n");
    await keep("ns-bind");
    expect(readFileSync(at("record/VIEW_CHANGES.json"), "utf8")).toBe(first);
  });

  it("is not kept where it is too much to be read, and somebody is told", async () => {
    const scan = () => Promise.reject(new VerbatimError("TRIPWIRE_TOO_LARGE", {}));
    expect(await keep("ns-bind", JOURNAL, { scan })).toBeNull();
    expect(notes.at(-1)).toBe("what the command of run run-1 had done was not kept: VIEW_TOO_LARGE");
  });

  it("is what a folder it renamed held when it began, whatever somebody did there since", async () => {
    mkdirSync(at("work/up0/port"));
    rmSync(at("merged/harbour"), { recursive: true });
    writeFileSync(at("work/up0/harbour"), "a whiteout");
    const marks = { gone: new Set(["harbour"]), opaque: new Set<string>(), redirects: new Map([["port", "harbour"]]) };
    const overlay = { layerMarks: () => marks };
    for (const today of ["two\n", "edited since\n", null]) {
      if (today === null) for (const place of ["merged/port/b.txt", "root/harbour/b.txt"]) rmSync(at(place));
      else put("merged/port/b.txt", today);
      put("merged/port/theirs.txt", "made since\n");
      const changes = await keep("ns-overlay", JOURNAL, overlay);
      expect(paths(changes)).toEqual([["port", "port/b.txt"], [], ["harbour", "harbour/b.txt"]]);
      expect(changes!.added.get("port/b.txt")).toMatchObject({ sha256: hash("two\n") });
      rmSync(at("record/VIEW_CHANGES.json"));
    }
    // In a copy everything is the command's own.
    put("work/cp0/port/b.txt", "edited by it\n");
    expect(paths(await keep("ns-bind"))).toEqual([["port", "port/b.txt"], [], []]);
  });

  it("is not kept where its layer is gone or cannot be mounted, and nothing stays mounted", async () => {
    expect(await keep("ns-overlay", JOURNAL, {}, Promise.reject(new Error("no room")))).toBeNull();
    expect([notes.at(-1), released]).toEqual(["what the command of run run-1 had done was not kept: no room", 1]);
    rmSync(at("work/up0"), { recursive: true });
    expect(await keep("ns-overlay")).toBeNull();
    expect([notes.at(-1), launched.length]).toEqual([
      "what the command of run run-1 had done was not kept: its layer is gone",
      1,
    ]);
  });
});
