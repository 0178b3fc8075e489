// What memory gives back is hashed again, and whatever is not exactly what was remembered is no hit.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { createContentStore } from "../../../adapters/disk/durable/content-store.ts";
import { runDisk } from "../../../adapters/disk/runs/run-disk.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { findMemo, rememberRun } from "./memo-store.ts";

const sha = (text: string) => nodeCrypto.sha256(text);
const OUTPUTS = [
  { path: "out", type: "dir", mode: "0750" },
  { path: "out/a", type: "file", mode: "0640", size: 5, sha256: sha("hello") },
  { path: "out/link", type: "symlink", target: "a" },
] as const;

let root: string;
let notes: string[];
let failing: Error | null;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "verbatim-memo-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "out"));
  writeFileSync(join(root, "out/a"), "hello");
  writeFileSync(join(root, "program"), "#!/bin/sh\n", { mode: 0o755 });
  notes = [];
  failing = null;
});

const open = () => {
  const content = createContentStore({
    folder: join(root, "blobs"),
    crypto: nodeCrypto,
    clock: { now: () => Date.now() },
  });
  return {
    places: { root, record: `${root}/r`, record_path: "r", work: root, state: `${root}/state` },
    ports: {
      disk: runDisk,
      crypto: nodeCrypto,
      content: async () => (failing === null ? content : { get: () => Promise.reject(failing!) }),
      host: { platform: "linux", arch: "x64" },
      validator: { validator_semver: "1.0.0", validator_build_id: "b" },
      notify: (text: string) => notes.push(text),
    } as never,
  };
};

const find = (jobspec: object = {}, executable = "program", guard = "namespace") => {
  const { ports, places } = open();
  const declared = {
    jobspec: { memo: true, view: false, network: "none", command: ["x"], ...jobspec },
    policy: {},
    env: {},
    executable: join(root, executable),
  };
  const pre = new Map([["out", new Map([[".", { type: "dir", mode: "0755" } as const]])]]);
  return findMemo(ports, places, declared as never, pre, new Map(), guard as never);
};
const remember = async (key: string) => {
  const { ports, places } = open();
  const proof = { run_id: "run-1", proof_hash: "f".repeat(64) };
  await rememberRun(ports, places, key, proof as never, OUTPUTS as never, 0);
};
const entryOf = (key: string) => join(root, "state/memo", key.slice(0, 2), key, "ENTRY.json");

/** A run that was remembered, and its key. */
async function remembered(): Promise<string> {
  const { key } = await find();
  await remember(key!);
  return key!;
}

describe("a run that was remembered", () => {
  it("is found under its key and written out as it was", async () => {
    const key = await remembered();
    const found = await find();
    expect(found.key).toBe(key);
    expect(found.note).toEqual({ key, source_run_id: "run-1", source_proof_hash: "f".repeat(64) });
    expect(found.toRecord()).toEqual({ hit: true, key, source_run_id: "run-1", source_proof_hash: "f".repeat(64) });
    const stage = join(root, "stage");
    const entries = await found.stage(stage);
    expect([...entries.keys()]).toEqual(["out", "out/a", "out/link"]);
    expect(readFileSync(join(stage, "out/a"), "utf8")).toBe("hello");
    expect(statSync(join(stage, "out/a")).mode & 0o7777).toBe(0o640);
    expect(statSync(join(stage, "out")).mode & 0o7777).toBe(0o750);
    expect(readlinkSync(join(stage, "out/link"))).toBe("a");
    expect(readdirSync(join(root, "state/memo"))).toEqual([key.slice(0, 2)]);
  });

  it("is remembered once", async () => {
    const key = await remembered();
    const before = statSync(entryOf(key)).ino;
    await remember(key);
    expect(statSync(entryOf(key)).ino).toBe(before);
    expect(readdirSync(join(root, "state/memo"))).toEqual([key.slice(0, 2)]);
  });

  it("is another one with another command, program or guard", async () => {
    await remembered();
    expect((await find({ command: ["y"] })).note).toMatchObject({ reason: "ABSENT" });
    expect((await find({}, "program", "audit")).note).toMatchObject({ reason: "ABSENT" });
    writeFileSync(join(root, "program"), "#!/bin/sh\ntrue\n");
    const other = await find();
    expect([other.hit, other.note]).toEqual([null, { key: other.key, reason: "ABSENT" }]);
  });

  it.each([
    ["a changed exit code", (text: string) => text.replace('"exit_code":0', '"exit_code":1')],
    ["a changed path", (text: string) => text.replace('"path":"out/a"', '"path":"out/b"')],
    ["a changed source", (text: string) => text.replace('"source_run_id":"run-1"', '"source_run_id":"run-2"')],
  ])("with %s is damaged, no hit, and forgotten", async (_, change) => {
    const key = await remembered();
    const text = readFileSync(entryOf(key), "utf8");
    expect(change(text)).not.toBe(text);
    writeFileSync(entryOf(key), change(text));
    const found = await find();
    expect([found.hit, found.note]).toEqual([null, { key, reason: "DAMAGED" }]);
    expect(existsSync(entryOf(key))).toBe(false);
  });

  it("with a content that is another one now is damaged", async () => {
    const key = await remembered();
    const blobs = readdirSync(join(root, "blobs"), { recursive: true, withFileTypes: true }).filter((one) =>
      one.isFile(),
    );
    expect(blobs).toHaveLength(1);
    const blob = join(blobs[0]!.parentPath, blobs[0]!.name);
    rmSync(blob);
    writeFileSync(blob, "HELLO");
    expect((await find()).note).toEqual({ key, reason: "DAMAGED" });
  });

  it("stays where the store of contents cannot be read at all", async () => {
    const key = await remembered();
    failing = new VerbatimError("DISK_FULL");
    await expect(find()).rejects.toMatchObject({ code: "DISK_FULL" });
    expect(existsSync(entryOf(key))).toBe(true);
  });

  it.each([
    ["not JSON", "{"],
    ["not an object", "[]"],
    ["of another key", '{"key":"x","outputs":[]}'],
    ["without outputs", null],
  ])("whose entry is %s is absent", async (_, text) => {
    const key = await remembered();
    writeFileSync(entryOf(key), text ?? `{"key":"${key}"}`);
    expect((await find()).note).toEqual({ key, reason: "ABSENT" });
  });
});

describe("nothing is remembered", () => {
  it.each([
    ["for a job that does not want it", { memo: false }],
    ["for a view", { view: true }],
  ])("%s", async (_, jobspec) => {
    await remembered();
    const found = await find(jobspec);
    expect([found.key, found.hit, found.note]).toEqual([null, null, {}]);
    expect((await found.stage("nowhere")).size).toBe(0);
    expect(() => found.toRecord()).toThrow(expect.objectContaining({ code: "INTERNAL" }) as Error);
  });

  it("for a program that cannot be read", async () => {
    expect((await find({}, "gone")).note).toEqual({ reason: "EXECUTABLE_UNREADABLE" });
  });

  it("of outputs that are not what the run hashed", async () => {
    const { key } = await find();
    writeFileSync(join(root, "out/a"), "HELLO");
    await remember(key!);
    expect(existsSync(entryOf(key!))).toBe(false);
    rmSync(join(root, "out/a"));
    await remember(key!);
    expect(existsSync(entryOf(key!))).toBe(false);
  });
});

it("a network that is part of no key is said", async () => {
  await find();
  expect(notes).toEqual([]);
  await find({ network: "inherit" });
  expect(notes).toEqual(["memo: the network is not part of the key"]);
});
