// What is read before a run and put right after one, on a real disk; only what a test cannot have is played.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { runDisk } from "../../../adapters/disk/runs/run-disk.ts";
import type { GuardName } from "../../../core/contracts/guards.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { RunDisk } from "../ports.ts";
import { hashInputs, repairDomains, snapshotDomains } from "./snapshots.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "verbatim-snapshots-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of ["out", "out/empty", "more", "anchor"]) mkdirSync(join(root, folder), { mode: 0o755 });
  writeFileSync(join(root, "out/a"), "12345", { mode: 0o644 });
  writeFileSync(join(root, "more/b"), "1234567890", { mode: 0o644 });
  writeFileSync(join(root, "anchor/c"), "0".repeat(100));
  symlinkSync("a", join(root, "out/link"));
});

interface Parts {
  readonly guard?: GuardName;
  readonly first?: boolean;
  readonly uid?: number;
  readonly disk?: Partial<RunDisk>;
  readonly limits?: object;
  readonly domains?: readonly string[];
}

async function take({
  guard = "audit",
  first = true,
  uid = 0,
  disk = {},
  limits = {},
  domains = ["out", "more"],
}: Parts) {
  const places = { root, record: `${root}/r`, record_path: "r", work: root, state: root };
  const declared = {
    jobspec: { catalytic_domains: domains, strict_mtime: false },
    settings: { limits: { max_entries: 100, stage_copy_bytes: 1000, ...limits } },
  };
  const told: string[] = [];
  const progress = { report: ({ label }: { label: string }) => told.push(label.split(":")[0]!) };
  const ports = { disk: { ...runDisk, ...disk }, progress, host: { uid } };
  const layers = first ? { anchors: ["anchor"] } : null;
  try {
    const trees = await snapshotDomains(ports as never, places, declared as never, guard, layers as never, {} as never);
    return { trees, told };
  } catch (thrown) {
    return { thrown };
  }
}

const code = (found: { readonly thrown?: unknown }) => (found.thrown as { code?: string } | undefined)?.code ?? null;

describe("the domains of a run", () => {
  it("are read whole, each under its name", async () => {
    const { trees } = await take({});
    expect([...trees!].map(([domain, tree]) => [domain, [...tree.keys()]])).toEqual([
      ["out", [".", "a", "empty", "link"]],
      ["more", [".", "b"]],
    ]);
    expect(trees!.get("out")!.get("a")).toMatchObject({ type: "file", mode: "0644", size: 5 });
  });

  it("together have at most as many entries as the limit", async () => {
    expect(code(await take({ limits: { max_entries: 6 } }))).toBeNull();
    const { thrown } = await take({ limits: { max_entries: 5 } });
    expect(thrown).toMatchObject({
      code: "DOMAIN_TOO_LARGE",
      message: expect.stringContaining("more: ") as string,
      details: expect.objectContaining({ domain: "more" }) as object,
    });
  });

  it("that are mount points cannot be swapped back, before a run; afterwards nobody asks", async () => {
    const disk = { isMountPoint: (place: string) => place === join(root, "more") };
    const { thrown } = await take({ disk });
    expect(thrown).toMatchObject({
      code: "DOMAIN_IS_MOUNT_POINT",
      where: "more",
      details: { domain: "more", path: "." },
    });
    expect(code(await take({ disk, first: false }))).toBeNull();
    expect(code(await take({ disk, guard: "ns-overlay" }))).toBeNull();
  });

  it.each([
    ["an ordinary user", "ns-overlay", 1000, true, "FOREIGN_OWNER"],
    ["root", "ns-overlay", 0, true, null],
    ["another guard", "audit", 1000, true, null],
    ["a second reading", "ns-overlay", 1000, false, null],
  ] as const)("with a file of someone else: %s", async (_, guard, uid, first, expected) => {
    const disk: Partial<RunDisk> = {
      snapshot: async (place, options) => ({ ...(await runDisk.snapshot(place, options)), foreign: "a" }),
    };
    const found = await take({ disk, guard, uid, first, domains: ["out"] });
    expect(code(found)).toBe(expected);
    if (expected !== null)
      expect(found.thrown).toMatchObject({ where: "out/a", details: { domain: "out", path: "a" } });
  });

  it("with only our own files are read by an ordinary user too", async () => {
    const disk: Partial<RunDisk> = {
      snapshot: async (place, options) => ({ ...(await runDisk.snapshot(place, options)), foreign: null }),
    };
    expect(code(await take({ disk, guard: "ns-overlay", uid: 1000 }))).toBeNull();
  });

  it("say what is wrong with the path and the domain it is in; an error of the program stays one", async () => {
    const failing = (thrown: Error): Partial<RunDisk> => ({ snapshot: () => Promise.reject(thrown) });
    const refused = new VerbatimError("DOMAIN_TOO_LARGE", { message: "why", fix: "do", details: { path: "x/y" } });
    expect((await take({ disk: failing(refused) })).thrown).toMatchObject({
      code: "DOMAIN_TOO_LARGE",
      message: "out: why",
      where: "out/x/y",
      fix: "do",
      details: { domain: "out", path: "x/y" },
    });
    expect((await take({ disk: failing(new TypeError("broken")) })).thrown).toBeInstanceOf(TypeError);
  });
});

describe("the space a run needs", () => {
  // 15 bytes in the domains and 100 in the anchor, and a tenth more: 126.5.
  it.each([
    ["as much as there is", 127, null],
    ["one byte more than there is", 126, "DISK_SPACE_LOW"],
  ] as const)("%s", async (_, free, expected) => {
    const found = await take({ disk: { freeBytes: () => free, scan: onlyFiles } });
    expect(code(found)).toBe(expected);
    if (expected !== null)
      expect(found.thrown).toMatchObject({
        message: "127 bytes needed, 126 available",
        details: { needed: 127, available: 126 },
      });
  });

  it("is not asked for where nothing is copied, nor after the run", async () => {
    const disk = { freeBytes: () => 0 };
    expect(code(await take({ disk, guard: "ns-overlay" }))).toBeNull();
    expect(code(await take({ disk, first: false }))).toBeNull();
  });

  it("has a limit for what is staged", async () => {
    const disk = { freeBytes: () => 1_000_000, scan: onlyFiles };
    expect(code(await take({ disk, limits: { stage_copy_bytes: 100 } }))).toBeNull();
    expect((await take({ disk, limits: { stage_copy_bytes: 99 } })).thrown).toMatchObject({
      code: "STAGING_TOO_LARGE",
      details: { path: "", needed: 100, available: 99 },
    });
  });

  /** Folders have sizes too, other ones on every file system. */
  const onlyFiles: RunDisk["scan"] = async (place, options) => {
    const scan = await runDisk.scan(place, options);
    const packed = new Map([...scan.packed].filter(([, one]) => runDisk.unpack(one).type === "file"));
    return { ...scan, packed };
  };
});

describe("the inputs of a run", () => {
  const read = (inputs: readonly string[]) => {
    const policy = { runs_root: "runs", durable_roots: [], catalytic_roots: [] };
    const places = { root, record: `${root}/more/record`, record_path: "more/record", work: root, state: root };
    const declared = { jobspec: { inputs }, policy, settings: { limits: { max_entries: 100 } } };
    return hashInputs({ disk: runDisk, crypto: nodeCrypto }, places, declared as never);
  };

  it("have a hash for every file and link, and a root that changes with any of them", async () => {
    const before = await read(["out", "more/b"]);
    expect(before.hashes.get("out/a")).toBe(nodeCrypto.sha256("12345"));
    expect([...before.hashes.keys()].filter((path) => !path.endsWith("empty")).sort()).toEqual(
      expect.arrayContaining(["more/b", "out/a", "out/link"]),
    );
    writeFileSync(join(root, "out/a"), "54321");
    const after = await read(["out", "more/b"]);
    expect(after.roots.get("out")).not.toBe(before.roots.get("out"));
    expect(after.roots.get("more/b")).toBe(before.roots.get("more/b"));
  });

  it("do not hold our own state or the record of this run", async () => {
    const before = await read(["."]);
    for (const folder of [".verbatim/state", "more/record"]) mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, ".verbatim/state/x"), "x");
    writeFileSync(join(root, "more/record/x"), "x");
    const after = await read(["."]);
    expect(after.hashes).toEqual(before.hashes);
    expect([...after.hashes.keys()]).toContain("out/a");
  });
});

describe("a second attempt to restore", () => {
  it("brings modes, links and folders back, and never content", async () => {
    const before = (await take({ domains: ["out"] })).trees!;
    chmodSync(join(root, "out/a"), 0o600);
    rmSync(join(root, "out/empty"), { recursive: true });
    rmSync(join(root, "out/link"));
    const after = (await take({ domains: ["out"], first: false })).trees!;
    repairDomains(runDisk, root, before, after);
    expect(lstatSync(join(root, "out/a")).mode & 0o7777).toBe(0o644);
    expect(lstatSync(join(root, "out/empty")).mode & 0o7777).toBe(0o755);
    expect(readlinkSync(join(root, "out/link"))).toBe("a");
  });

  it("leaves what someone else put in the way, what has changed, and what has no folder any more", async () => {
    mkdirSync(join(root, "out/deep"));
    symlinkSync("a", join(root, "out/deep/link"));
    const before = (await take({ domains: ["out"] })).trees!;
    rmSync(join(root, "out/a"));
    rmSync(join(root, "out/link"));
    rmSync(join(root, "out/deep"), { recursive: true });
    const after = (await take({ domains: ["out"], first: false })).trees!;
    // Between the reading and the repair.
    writeFileSync(join(root, "out/link"), "mine");
    writeFileSync(join(root, "out/deep"), "mine");
    repairDomains(runDisk, root, before, after);
    expect([readFileSync(join(root, "out/link"), "utf8"), readFileSync(join(root, "out/deep"), "utf8")]).toEqual([
      "mine",
      "mine",
    ]);
    expect(runDisk.stat(join(root, "out/a"))).toBeNull();
  });

  it("writes nothing through a link that someone put in the place of a folder", async () => {
    mkdirSync(join(root, "out/deep"));
    mkdirSync(join(root, "out/deep/inner"));
    symlinkSync("a", join(root, "out/deep/link"));
    const before = (await take({ domains: ["out"] })).trees!;
    rmSync(join(root, "out/deep"), { recursive: true });
    symlinkSync(join(root, "anchor"), join(root, "out/deep"));
    const after = (await take({ domains: ["out"], first: false })).trees!;
    repairDomains(runDisk, root, before, after);
    expect(runDisk.list(join(root, "anchor"))).toEqual(["c"]);
  });

  it("brings back an empty domain that is gone", async () => {
    const before = (await take({ domains: ["out/empty"] })).trees!;
    rmSync(join(root, "out/empty"), { recursive: true });
    repairDomains(runDisk, root, before, new Map());
    expect(lstatSync(join(root, "out/empty")).isDirectory()).toBe(true);
  });
});
