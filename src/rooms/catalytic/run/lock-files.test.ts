// Locks on a real disk: who may have which path at the same time, and what happens when an owner is gone.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { runDisk } from "../../../adapters/disk/runs/run-disk.ts";
import type { Host } from "../ports.ts";
import { acquireLocks, haltLocks, listLocks, ownerOf, releaseLocks } from "./lock-files.ts";

let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "verbatim-locks-"));
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

/** This machine, on which one process lives. */
let pauses = 0;
const host = {
  host: "here",
  boot_id: "b",
  pid_ns: "n",
  pid: 7,
  pid_start: "s7",
  startOf: (pid: number) => (pid === 7 ? "s7" : null),
  pause: async () => void pauses++,
} as unknown as Host;
const ports = { disk: runDisk, host, crypto: nodeCrypto };
const take = (run_id: string, paths: readonly string[], more: { shared?: boolean; root?: string } = {}) =>
  acquireLocks(ports, state, { run_id, root: "/r", paths, shared: false, ...more });
const names = () => readdirSync(join(state, "locks"));

describe("a path that a run holds", () => {
  it.each<[string, string, string]>([
    ["itself", "a/b", "a/b"],
    ["what lies in it", "a", "a/b"],
    ["what it lies in", "a/b", "a"],
    ["the whole tree", "a", "."],
    ["anything, when it is the whole tree", ".", "a"],
  ])("keeps others from %s", async (_, held, wanted) => {
    await take("one", [held]);
    await expect(take("two", held === "." ? [wanted] : ["z", wanted])).rejects.toMatchObject({
      code: "DOMAIN_BUSY",
      where: wanted,
      message: `${wanted} overlaps ${held}, which run one holds (pid 7)`,
      details: { run_id: "one", path: held, pid: 7 },
    });
    expect(listLocks(runDisk, host, state).map(({ lock }) => lock.run_id)).toEqual(["one"]);
  });

  it("is free for the run itself, for its neighbours, in another tree, and when it was given back", async () => {
    await take("one", ["a/b"]);
    await take("one", ["a/b"]);
    await take("two", ["a/bc", "a/c"]);
    await take("three", ["a/b"], { root: "/other" });
    releaseLocks(ports, state, "one");
    await take("four", ["a/b"]);
    expect(
      listLocks(runDisk, host, state)
        .map(({ lock }) => `${lock.run_id} ${lock.path}`)
        .sort(),
    ).toEqual(["four a/b", "three a/b", "two a/bc", "two a/c"]);
  });

  it("waits for a person when its run was halted", async () => {
    await take("one", ["a"]);
    await take("two", ["b"]);
    haltLocks(ports, state, "one");
    await expect(take("three", ["a"])).rejects.toMatchObject({
      code: "DOMAIN_HALTED",
      message: "a overlaps a, which run one left halted",
      fix: expect.stringContaining("recover one --retry"),
    });
    await expect(take("three", ["b"])).rejects.toMatchObject({ code: "DOMAIN_BUSY" });
  });
});

describe("views", () => {
  const view = { shared: true };

  it("share the tree with each other and with nobody else", async () => {
    await take("one", ["."], view);
    await take("two", ["."], view);
    await expect(take("three", ["src"])).rejects.toMatchObject({ code: "DOMAIN_BUSY" });
    releaseLocks(ports, state, "one");
    releaseLocks(ports, state, "two");
    await take("three", ["src"]);
    await expect(take("four", ["."], view)).rejects.toMatchObject({ code: "DOMAIN_BUSY" });
  });

  it("do not hold the state folder, whoever comes first", async () => {
    await take("one", ["."], view);
    await take("two", [".verbatim/scratch/d"]);
    await expect(take("three", [".verbatimx"])).rejects.toMatchObject({ code: "DOMAIN_BUSY" });
    releaseLocks(ports, state, "one");
    await take("four", ["."], view);
    await expect(take("five", ["."])).rejects.toMatchObject({ code: "DOMAIN_BUSY" });
  });
});

describe("a lock file", () => {
  it("says whose it is and whether the owner lives", async () => {
    await take("one", ["a"]);
    const [seen] = listLocks(runDisk, host, state);
    expect(seen).toEqual({
      state: "held",
      lock: {
        ...{ run_id: "one", path: "a", root: "/r", shared: false },
        ...{ host: "here", boot_id: "b", pid_ns: "n", pid: 7, pid_start: "s7" },
      },
    });
    const later = { ...host, startOf: () => null } as unknown as Host;
    expect(listLocks(runDisk, later, state)[0]!.state).toBe("stale");
    expect(ownerOf(host)).toEqual({ host: "here", boot_id: "b", pid_ns: "n", pid: 7, pid_start: "s7" });
  });

  it("that is none is passed over", async () => {
    await take("one", ["a"]);
    for (const [name, text] of [
      ["x.json", "{"],
      ["y.json", "[]"],
      ["z.json", '{"run_id":"q"}'],
      ["w.json", '{"path":"a"}'],
      ["v.json", '{"run_id":1,"path":"a"}'],
      ["u.txt", '{"run_id":"q","path":"a"}'],
    ])
      writeFileSync(join(state, "locks", name!), text!);
    expect(listLocks(runDisk, host, state).map(({ lock }) => lock.run_id)).toEqual(["one"]);
    rmSync(join(state, "locks"), { recursive: true });
    expect(listLocks(runDisk, host, state)).toEqual([]);
  });
});

describe("the turn in which locks are taken", () => {
  const mutex = () => join(state, "locks/.mutex");
  const leave = (owner: object | string) => {
    mkdirSync(join(state, "locks"), { recursive: true });
    writeFileSync(mutex(), typeof owner === "string" ? owner : JSON.stringify(owner));
  };

  it("ends whatever happens", async () => {
    await take("one", ["a"]);
    await expect(take("two", ["a"])).rejects.toMatchObject({ code: "DOMAIN_BUSY" });
    expect([existsSync(mutex()), names().length]).toEqual([false, 1]);
  });

  it("is taken from somebody who died", async () => {
    leave({ ...ownerOf(host), pid: 8, pid_start: "s8" });
    await take("one", ["a"]);
    expect(listLocks(runDisk, host, state)).toHaveLength(1);
  });

  it("is not waited for without end", async () => {
    leave(ownerOf(host));
    pauses = 0;
    await expect(take("one", ["a"])).rejects.toMatchObject({
      code: "DOMAIN_BUSY",
      message: "another process is holding the locks",
      where: mutex(),
    });
    expect([existsSync(mutex()), listLocks(runDisk, host, state), pauses]).toEqual([true, [], 500]);
  });

  it.each([
    ["lives", ownerOf(host)],
    ["is on another machine", { ...ownerOf(host), host: "there" }],
    ["cannot be read", "{"],
    ["is no owner", "[]"],
  ])("is not taken from somebody who %s, but had once that one has gone", async (_, owner) => {
    leave(owner);
    let waited = 0;
    const pause = async () => {
      waited++;
      if (waited === 3) rmSync(mutex());
    };
    const patient = { ...ports, host: { ...host, pause } as Host };
    await acquireLocks(patient, state, { run_id: "one", root: "/r", paths: ["a"], shared: false });
    expect([waited, listLocks(runDisk, host, state).length]).toEqual([3, 1]);
  });
});
