// How a command is started in a view, and what is made of a look at the real tree, without starting anything.
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import type { GuardName } from "../../../core/contracts/guards.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { ViewRun } from "./view-run.ts";

interface Parts {
  readonly guard?: GuardName;
  readonly home?: string | null;
  readonly view?: object;
  readonly there?: (place: string) => boolean;
  readonly trusted?: boolean;
  readonly ports?: object;
  readonly jobspec?: object;
}

const POLICY = {
  forbidden_roots: [".git", "law"],
  runs_root: ".verbatim/runs",
  durable_roots: [],
  catalytic_roots: [],
};

function view({ guard = "ns-overlay", home = "/home/ada", view: given, ...more }: Parts = {}): ViewRun {
  const ports = {
    crypto: nodeCrypto,
    host: { home },
    disk: {
      stat: (place: string) => ((more.there ?? (() => true))(place) ? { kind: "dir" } : null),
      isStatTrusted: () => more.trusted ?? true,
    },
    ...more.ports,
  };
  const declared = {
    policy: POLICY,
    settings: { limits: { max_entries: 10 }, tripwire: { max_entries: 20 } },
    jobspec: { cwd: ".", strict_mtime: false, ...more.jobspec },
  };
  const places = { root: "/r", work: "/w", record: "/r/.verbatim/runs/v", record_path: null, state: "/s" };
  return new ViewRun(ports as never, { view: given } as never, declared as never, places as never, guard);
}

describe("a command in a view is started", () => {
  it("over the tree and the home folder as layers, with what is forbidden as it is", () => {
    expect(view({ jobspec: { cwd: "src" } }).launch()).toEqual({
      layers: [
        { index: 0, kind: "overlay", path: "/r" },
        { index: 1, kind: "home", path: "/home/ada" },
      ],
      writable: [],
      holes: [
        { from: "lo0/.verbatim", to: "/r/.verbatim" },
        { from: "lo0/law", to: "/r/law" },
      ],
      keeps: [],
      visible: [],
      cwd: "/r/src",
    });
  });

  it.each<[string, Parts]>([
    ["there is none", { home: null }],
    ["it is everything", { home: "/" }],
    ["it is in the tree", { home: "/r/home" }],
    ["it is the tree", { home: "/r" }],
    ["it is not there", { there: (place) => place !== "/home/ada" }],
    ["the guard copies", { guard: "ns-bind" }],
  ])("without a layer for the home folder where %s", (_, parts) => {
    const kind = parts.guard === "ns-bind" ? "copy" : "overlay";
    expect(view(parts).launch().layers).toEqual([{ index: 0, kind, path: "/r" }]);
  });

  it("with what is to be kept, from below the layer of the home folder where it lies there", () => {
    const keep = ["/home/ada/.cache", "/var/x", "/gone"];
    const there = (place: string) => place !== "/gone";
    expect(view({ view: { keep, visible: ["/back"] }, there }).launch()).toMatchObject({
      keeps: [
        { from: "lo1/.cache", to: "/home/ada/.cache" },
        { from: "/var/x", to: "/var/x" },
      ],
      visible: ["/back"],
    });
    expect(view({ view: { keep }, home: null, there }).launch().keeps[0]).toEqual({
      from: "/home/ada/.cache",
      to: "/home/ada/.cache",
    });
  });

  it("with folders hidden, the layers themselves too, and what it needs shown", () => {
    const given = { hidden: ["/home"], shown: ["/home/ada/bin"], visible: ["/back"], keep: ["/home/ada/.cache"] };
    expect(view({ view: given }).launch()).toMatchObject({
      hidden: ["/home", "/w"],
      shown: ["/r", "/w/tmp", "/home/ada/.cache", "/back", "/home/ada/bin"],
    });
    expect(view({ view: { hidden: ["/home"] } }).launch().shown).toEqual(["/r", "/w/tmp"]);
    for (const hidden of [[], undefined]) {
      const launch = view({ view: { hidden, shown: ["/x"] } }).launch();
      expect([Object.hasOwn(launch, "hidden"), Object.hasOwn(launch, "shown")]).toEqual([false, false]);
    }
  });

  it("in a copy where there are no layers", async () => {
    expect(view({ guard: "audit", jobspec: { cwd: "src" }, view: { keep: ["/var/x"] } }).launch()).toEqual({
      layers: [],
      writable: ["/w/cp0", "/var/x"],
      holes: [],
      keeps: [],
      cwd: "/w/cp0/src",
    });
    const made: string[] = [];
    const disk = { createFolder: (place: string) => made.push(place), list: () => [], isStatTrusted: () => true };
    await view({ ports: { disk } }).prepare();
    expect(made).toEqual([]);
    await view({ guard: "ns-bind", ports: { disk: { ...disk, scan: async () => null } } }).prepare();
    expect(made).toEqual(["/w/cp0"]);
    expect([view().launcherOf("unshare"), view({ guard: "audit" }).launcherOf("unshare")]).toEqual([
      "unshare",
      "copy-view",
    ]);
  });
});

describe("of a tree", () => {
  it("only the stat is known where the kernel keeps the command from it and a stat can be trusted", () => {
    expect(view().statOnlyRoots()).toEqual(["."]);
    for (const parts of [{ guard: "audit" }, { trusted: false }, { view: { hash_all: true } }] as const) {
      expect(view(parts).statOnlyRoots()).toEqual([]);
    }
  });

  it("a look is taken with the limits of the configuration, or the given one is used, or closed where all is read", async () => {
    const asked: unknown[] = [];
    const found = { close: () => asked.push("closed"), busy: ["b", "a"] };
    const trees = { look: async (...args: unknown[]) => (asked.push(args), found) };
    const one = view({ ports: { trees } });
    expect([await one.look(), one.busy]).toEqual([found, ["a", "b"]]);
    expect(asked).toEqual([["/r", { onProgress: expect.any(Function), hidden: [".verbatim"], max_entries: 20 }]]);
    one.close();
    expect(asked.splice(0)).toHaveLength(2);
    const given = { close: () => asked.push("given closed"), busy: [] };
    expect(await view({ ports: { trees }, view: { look: given } }).look()).toBe(given);
    expect(asked).toEqual([]);
    for (const parts of [{ trusted: false }, { jobspec: { strict_mtime: true } }]) {
      expect(await view({ ports: { trees }, view: { look: given }, ...parts }).look()).toBeNull();
    }
    expect(asked).toEqual(["given closed", "given closed"]);
  });
});

describe("what a look at the real tree finds", () => {
  const violations = [
    { code: "OUTSIDE_CHANGED", path: "src/b", fields: ["size"] },
    { code: "OUTSIDE_ADDED", path: "src/a", fields: [] },
    { code: "OUTSIDE_CHANGED", path: ".verbatim/runs/old/PROOF.json", fields: ["nlink"] },
  ];
  const watched = (guard: GuardName) => {
    const one = view({ guard });
    one.watchWith({ end: async () => ({ violations, noise: ["n"] }) } as never);
    return one;
  };

  it("is somebody else's where the kernel keeps the command from it, and a violation where nothing does", async () => {
    const [held, open] = [watched("ns-overlay"), watched("audit")];
    expect(await held.lookOutside()).toEqual({ violations: [], noise: ["n"] });
    expect(await open.lookOutside()).toEqual({ violations, noise: ["n"] });
    const record = { write: () => undefined } as never;
    for (const one of [held, open]) one.writeChanges(record);
    expect([held.changes.concurrent, open.changes.concurrent]).toEqual([["src/a", "src/b"], []]);
  });
});

describe("a tree that is read again", () => {
  it("is what it was where somebody else changed it, and what it is everywhere else", async () => {
    const file = (sha256: string) => ({ type: "file", mode: "0644", size: 1, sha256 }) as const;
    const pre = new Map([
      ["a", file("a1")],
      ["b", file("b1")],
      ["gone", file("g1")],
    ] as const);
    const now = new Map([
      ["new", file("n2")],
      ["b", file("b2")],
      ["a", file("a2")],
      ["pipe", { type: "other" }],
    ] as never);
    const disk = { isStatTrusted: () => true, snapshot: async () => ({ entries: now }) };
    const one = view({ view: { hash_all: true }, ports: { disk, progress: { report: () => undefined } } });
    one.recall(pre, [], []);
    const changed = ["b", "gone", "new"].map((path) => ({ code: "OUTSIDE_CHANGED", path, fields: ["size"] }));
    one.watchWith({ end: async () => ({ violations: changed, noise: [] }) } as never);
    const { post } = await one.lookAgain(new Map([[".", pre]]));
    expect([...post.get(".")!]).toEqual([
      ["a", file("a2")],
      ["b", file("b1")],
      ["gone", file("g1")],
    ]);
    const trusted = new Map([[".", pre]]);
    expect((await view().lookAgain(trusted)).post).toBe(trusted);
  });
});

describe("what a command left", () => {
  const collected = async (thrown: unknown, given: object = {}) => {
    const notes: string[] = [];
    const written: string[] = [];
    const clock = { now: () => 0 };
    const disk = { isStatTrusted: () => true, scan: () => Promise.reject(thrown) };
    const one = view({
      guard: "audit",
      view: given,
      ports: { clock, disk, git: {}, notify: (text: string) => notes.push(text) },
    });
    const found = await one.collect({} as never).catch((error: unknown) => error);
    one.writeChanges({ write: (name: string) => written.push(name) } as never);
    return { found, notes, written };
  };

  it("is a violation and nothing else where it is more than is read", async () => {
    const { found, notes, written } = await collected(new VerbatimError("TRIPWIRE_TOO_LARGE", {}));
    expect(found).toEqual([{ code: "VIEW_TOO_LARGE", path: "." }]);
    expect(notes).toEqual([expect.stringMatching(/^VIEW_TOO_LARGE: /)]);
    expect(written).toEqual(["VIEW_CHANGES.json"]);
  });

  it("is not called too large because of another error", async () => {
    for (const thrown of [new Error("gone"), new VerbatimError("FILE_NOT_FOUND", {})]) {
      expect((await collected(thrown)).found).toBe(thrown);
    }
  });

  it.each([
    ["ns-overlay", "overlay"],
    ["ns-bind", "copy"],
  ] as const)("is read under %s where the guard shows its %s", async (guard, kind) => {
    const layers: unknown[] = [];
    const gone = new Error("gone");
    const merged = (layer: unknown) => {
      layers.push(layer);
      throw gone;
    };
    await expect(view({ guard }).collect({ merged } as never)).rejects.toBe(gone);
    expect(layers).toEqual([{ index: 0, kind, path: "/r" }]);
  });

  it("is not looked at where nobody wants it", async () => {
    expect(await collected(new Error("never asked"), { collect: false })).toEqual({
      found: [],
      notes: [],
      written: [],
    });
  });
});
