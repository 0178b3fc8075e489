import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { createLocalFiles } from "../../adapters/disk/guarded/local-files.ts";
import { DiskKeys } from "../../adapters/disk/keys.ts";
import { openSqliteStore } from "../../adapters/sql/sqlite/store.ts";
import { formatTime } from "../time.ts";
import { ledgerBrowse, ledgerCheckpoints, ledgerEntry, ledgerGrowth, ledgerStreams } from "./browse-operations.ts";
import { ledgerCheckpoint } from "./checkpoint-operation.ts";
import type { LedgerPorts } from "./operation-ports.ts";
import { ledgerCheckProof, ledgerExport, ledgerProve, ledgerProveConsistency, ledgerShow } from "./operations.ts";
import { appendRefusal, boundText, boundValue } from "./refusals.ts";
import { ledgerVerify } from "./verify-operation.ts";

async function* nothing(): AsyncIterable<Uint8Array> {
  yield new Uint8Array();
}

let uuid = 0;

/** A real ledger, real files and real keys in a folder of their own. */
async function openLedger() {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-ledger-ops-"));
  const time = { now: Date.UTC(2026, 0, 1) };
  const store = await openSqliteStore({
    path: join(folder, "store.db"),
    crypto: nodeCrypto,
    clock: { now: () => time.now },
    ids: { uuid: () => `00000000-0000-4000-8000-${String(++uuid).padStart(12, "0")}` },
  });
  const keys = new DiskKeys({ folder: join(folder, "keys"), base: folder }, nodeCrypto);
  const ports: LedgerPorts = {
    store,
    crypto: nodeCrypto,
    files: createLocalFiles(folder, nothing()),
    progress: { report: () => undefined } as never,
    actor: "mira",
    loadKey: (key) => keys.load(key),
    listKeys: () => keys.list(),
  };
  const add = (stream: string, ...kinds: string[]) =>
    store.transact(({ ledger }) =>
      ledger.append(
        stream,
        "next",
        kinds.map((kind) => ({ kind: `K${kind}`, actor: "mira", body: { kind } })),
      ),
    );
  return {
    folder,
    ports,
    keys,
    time,
    add,
    write: (name: string, value: unknown) => writeFileSync(join(folder, name), JSON.stringify(value)),
    async [Symbol.asyncDispose]() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const kindsOf = (entries: readonly { readonly kind: string }[]) => entries.map(({ kind }) => kind.slice(1)).join("");

describe("showing", () => {
  it("gives entries of all streams by index, of one by position", async () => {
    await using it = await openLedger();
    await it.add("a", "1", "2");
    await it.add("b", "3");
    await it.add("a", "4");
    const all = await ledgerShow.run(it.ports, { from: 0, limit: 50 });
    expect([all.total, kindsOf(all.entries), all.entries.map(({ index }) => index)]).toEqual([4, "1234", [0, 1, 2, 3]]);
    expect(all.entries[2]).toMatchObject({ stream: "b", position: 0, body: { kind: "3" }, actor: "mira" });
    expect(kindsOf((await ledgerShow.run(it.ports, { from: 1, limit: 2 })).entries)).toBe("23");
    const one = await ledgerShow.run(it.ports, { stream: "a", from: 1, limit: 50 });
    expect([one.total, kindsOf(one.entries), one.entries.map(({ index }) => index)]).toEqual([4, "24", [1, 3]]);
    expect((await ledgerShow.run(it.ports, { stream: "c", from: 0, limit: 5 })).entries).toEqual([]);
  });

  it("takes 1 to 1000 entries at a time, 50 unless told otherwise", () => {
    expect(ledgerShow.input.parse({})).toEqual({ from: 0, limit: 50 });
    for (const limit of [1, 1000]) expect(ledgerShow.input.safeParse({ limit }).success).toBe(true);
    for (const input of [{ limit: 0 }, { limit: 1001 }, { from: -1 }, { stream: "" }, { limit: 1.5 }]) {
      expect(ledgerShow.input.safeParse(input).success).toBe(false);
    }
  });
});

describe("exporting", () => {
  it("writes every entry once, also over several pages, and counts them", async () => {
    await using it = await openLedger();
    const kinds = Array.from({ length: 513 }, (_, i) => `${i}`);
    await it.add("a", ...kinds);
    await it.add("b", "X");
    const read = async (input: { stream?: string }) => {
      const lines: string[] = [];
      for await (const line of ledgerExport.lines!(it.ports, input)) lines.push(String(line));
      return lines.map((line) => (JSON.parse(line) as { kind: string }).kind.slice(1));
    };
    expect(await read({})).toEqual([...kinds, "X"]);
    expect(await read({ stream: "a" })).toEqual(kinds);
    expect(await read({ stream: "c" })).toEqual([]);
    expect(await ledgerExport.run(it.ports, {})).toEqual({ entries: 514 });
    expect(await ledgerExport.run(it.ports, { stream: "a" })).toEqual({ entries: 513 });
    expect(await ledgerExport.run(it.ports, { stream: "b" })).toEqual({ entries: 1 });
    expect(await ledgerExport.run(it.ports, { stream: "c" })).toEqual({ entries: 0 });
  });
});

describe("proofs", () => {
  async function openProved() {
    const it = await openLedger();
    await it.add("a", "1", "2", "3", "4", "5");
    const { entries } = await ledgerShow.run(it.ports, { from: 0, limit: 9 });
    return { ...it, hashes: entries.map(({ hash }) => hash), [Symbol.asyncDispose]: it[Symbol.asyncDispose] };
  }
  const check = async (it: Awaited<ReturnType<typeof openProved>>, proof: object, root?: string) => {
    it.write("proof.json", proof);
    return ledgerCheckProof.run(it.ports, { file: "proof.json", ...(root === undefined ? {} : { root }) });
  };

  it("of an entry hold against the whole ledger and against a size, and are checked offline", async () => {
    await using it = await openProved();
    const whole = await ledgerProve.run(it.ports, { entry: it.hashes[2]! });
    expect(whole).toMatchObject({ entry_hash: it.hashes[2], index: 2, tree_size: 5 });
    expect(await check(it, whole)).toEqual({ ok: true, kind: "inclusion", root_hash: whole.root_hash, tree_size: 5 });
    expect((await check(it, whole, whole.root_hash)).ok).toBe(true);
    expect((await check(it, whole, "0".repeat(64))).ok).toBe(false);
    expect((await check(it, { ...whole, entry_hash: it.hashes[1] }, whole.root_hash)).ok).toBe(false);
    expect(await ledgerProve.run(it.ports, { entry: it.hashes[2]!, size: 3 })).toMatchObject({
      index: 2,
      tree_size: 3,
    });
    const sizes = ledgerProve.input.shape.size;
    expect([0, 1].map((size) => sizes.safeParse(size).success)).toEqual([false, true]);
  });

  it("of growth hold between two sizes, and are checked offline", async () => {
    await using it = await openProved();
    const grown = await ledgerProveConsistency.run(it.ports, { from: 2 });
    expect(grown).toMatchObject({ first_size: 2, second_size: 5 });
    const root_hash = grown.second_root;
    expect(await check(it, grown)).toEqual({ ok: true, kind: "consistency", root_hash, tree_size: 5 });
    expect((await check(it, grown, root_hash)).ok).toBe(true);
    expect((await check(it, grown, grown.first_root)).ok).toBe(false);
    expect((await check(it, { ...grown, first_root: root_hash })).ok).toBe(false);
    expect(await ledgerProveConsistency.run(it.ports, { from: 4, to: 4 })).toMatchObject({
      first_size: 4,
      second_size: 4,
    });
  });

  it("are refused for an entry that is not there and sizes beyond the ledger", async () => {
    await using it = await openProved();
    const entry = "0".repeat(64);
    await expect(ledgerProve.run(it.ports, { entry })).rejects.toMatchObject({
      code: "LEDGER_ENTRY_UNKNOWN",
      details: { entry },
    });
    const beyond = (size: number, most: number) => ({ code: "LEDGER_RANGE_INVALID", details: { size, most } });
    const [first] = it.hashes as [string];
    await expect(ledgerProve.run(it.ports, { entry: first, size: 6 })).rejects.toMatchObject(beyond(6, 5));
    await expect(ledgerProveConsistency.run(it.ports, { from: 0, to: 6 })).rejects.toMatchObject(beyond(6, 5));
    await expect(ledgerProveConsistency.run(it.ports, { from: 4, to: 3 })).rejects.toMatchObject(beyond(4, 3));
    await expect(ledgerProve.run(it.ports, { entry: it.hashes[4]!, size: 4 })).rejects.toMatchObject({
      code: "LEDGER_RANGE_INVALID",
    });
  });
});

describe("a checkpoint", () => {
  async function openSigned() {
    const it = await openLedger();
    const { key_id, public_key } = await it.keys.create("mira");
    await it.add("a", "1", "2");
    const key = { key_id, public_key, name: "mira", scopes: ["CHECKPOINT"], enabled: true };
    it.write("policy.json", { policy_version: "1.0.0", threshold: 1, keys: [key] });
    it.write("others.json", { policy_version: "1.0.0", threshold: 1, keys: [{ ...key, scopes: ["BUNDLE"] }] });
    const made = await ledgerCheckpoint.run(it.ports, { key: "mira", out: "c.json" });
    return { ...it, key_id, made, [Symbol.asyncDispose]: it[Symbol.asyncDispose] };
  }
  const UNTOUCHED = "no entry was changed, reordered or removed from the middle of a stream";
  const VOUCHED = "everything up to the checkpoint is what the holders of the trusted keys vouched for";

  it("is signed, written where it was asked for, and recorded", async () => {
    await using it = await openSigned();
    expect(it.made).toMatchObject({ tree_size: 2, key_id: it.key_id, path: "c.json" });
    expect(JSON.parse(readFileSync(join(it.folder, "c.json"), "utf8"))).toEqual(it.made.envelope);
    const { entries } = await ledgerShow.run(it.ports, { stream: "trust", from: 0, limit: 5 });
    const { ledger_id, root_hash } = it.made;
    expect(entries).toMatchObject([
      { kind: "CHECKPOINT", actor: "mira", body: { ledger_id, root_hash, tree_size: 2, key_id: it.key_id } },
    ]);
    expect(await ledgerCheckpoint.run(it.ports, { key: "mira" })).toMatchObject({ tree_size: 3, path: null });
    await expect(ledgerCheckpoint.run(it.ports, { key: "mira", out: "c.json" })).rejects.toMatchObject({
      code: "FILE_EXISTS",
    });
    expect((await ledgerShow.run(it.ports, { stream: "trust", from: 0, limit: 5 })).entries).toHaveLength(2);
  });

  it("is compared with the ledger, and with the keys that a policy names", async () => {
    await using it = await openSigned();
    const { ledger_id, root_hash } = it.made;
    expect(await ledgerVerify.run(it.ports, {})).toMatchObject({
      ok: true,
      entries: 3,
      streams: 2,
      problems: [],
      checkpoint: null,
      trust: null,
      proves: [UNTOUCHED],
      does_not_prove: [expect.stringContaining("that nothing is missing at the end")],
    });
    expect(await ledgerVerify.run(it.ports, { checkpoint: "c.json" })).toMatchObject({
      ok: true,
      checkpoint: { ledger_id, root_hash, tree_size: 2 },
      trust: { verdict: "UNCHECKED", code: null, valid_keys: [], threshold: null },
      proves: [UNTOUCHED],
      does_not_prove: [expect.stringContaining("who made the checkpoint")],
    });
    expect(await ledgerVerify.run(it.ports, { checkpoint: "c.json", trust: "policy.json" })).toMatchObject({
      ok: true,
      trust: { verdict: "TRUSTED", code: null, valid_keys: [it.key_id], threshold: 1 },
      proves: [UNTOUCHED, VOUCHED],
      does_not_prove: [],
    });
    expect(await ledgerVerify.run(it.ports, { checkpoint: "c.json", trust: "others.json" })).toMatchObject({
      ok: false,
      problems: [],
      trust: { verdict: "UNTRUSTED", code: "TRUST_NO_KEYS" },
      proves: [],
    });
    await expect(ledgerVerify.run(it.ports, { trust: "policy.json" })).rejects.toMatchObject({ code: "USAGE" });
  });

  it("of another ledger does not fit, and proves nothing", async () => {
    await using it = await openSigned();
    await using other = await openLedger();
    await other.add("a", "1", "2", "3");
    other.write("c.json", it.made.envelope);
    writeFileSync(join(other.folder, "policy.json"), readFileSync(join(it.folder, "policy.json")));
    const verdict = await ledgerVerify.run(other.ports, { checkpoint: "c.json", trust: "policy.json" });
    expect(verdict).toMatchObject({ ok: false, trust: { verdict: "TRUSTED" }, proves: [], does_not_prove: [] });
    expect(verdict.problems).toMatchObject([{ stream: "", position: 2 }]);
  });
});

describe("refusals", () => {
  type Opened = Awaited<ReturnType<typeof openLedger>>;
  /** As many refusals as it says, in one transaction. */
  const refuse = (
    it: Opened,
    count: number,
    toParts: (i: number) => object = () => ({}),
    among: "stream" | "ledger" = "stream",
  ) =>
    it.ports.store.transact(async ({ ledger }) => {
      for (let i = 0; i < count; i++) {
        const refusal = { stream: "s", kind: "REFUSED", actor: "mira", body: { a: 1 }, ...toParts(i) };
        await appendRefusal(ledger, { now: () => it.time.now }, refusal, among);
      }
    });
  const bodies = async (it: Opened) =>
    (await ledgerShow.run(it.ports, { from: 0, limit: 1000 })).entries.map(({ body }) => body);

  it("are recorded 64 times in ten minutes for each kind; the last one says so", async () => {
    await using it = await openLedger();
    await refuse(it, 66);
    const found = await bodies(it);
    expect(found).toHaveLength(64);
    expect(found.slice(62)).toEqual([{ a: 1 }, { a: 1, more_unrecorded: true }]);
    await refuse(it, 1, () => ({ kind: "OTHER" }));
    await refuse(it, 1, () => ({ stream: "t" }));
    expect(await bodies(it)).toHaveLength(66);
    it.time.now += 600_000;
    await refuse(it, 1);
    expect(await bodies(it)).toHaveLength(66);
    it.time.now += 1;
    await refuse(it, 1);
    expect((await bodies(it)).at(-1)).toEqual({ a: 1 });
  });

  it("are counted in the whole ledger where each has a stream of its own", async () => {
    await using it = await openLedger();
    await refuse(it, 66, (i) => ({ stream: `s${i}` }), "ledger");
    const found = await bodies(it);
    expect([found.length, found.at(-1)]).toEqual([64, { a: 1, more_unrecorded: true }]);
  });

  it.each(["stream", "ledger"] as const)("are counted among the newest 256 entries of the %s", async (among) => {
    await using it = await openLedger();
    await refuse(it, 64, undefined, among);
    await it.add("s", ...Array.from({ length: 192 }, () => "X"));
    await refuse(it, 1, undefined, among);
    expect(await bodies(it)).toHaveLength(256);
    await it.add("s", "X");
    await refuse(it, 1, undefined, among);
    expect((await bodies(it)).at(-1)).toEqual({ a: 1, more_unrecorded: true });
  });

  it("hold long values by their hash and beginning, and long texts by their beginning", () => {
    const value = (length: number) => "v".repeat(length - 2);
    expect(boundValue(nodeCrypto, value(2048))).toBe(value(2048));
    expect(boundValue(nodeCrypto, value(2049))).toEqual({
      sha256: nodeCrypto.sha256(`"${value(2049)}"`),
      bytes: 2049,
      beginning: `"${"v".repeat(511)}`,
    });
    expect(boundText("t".repeat(500))).toBe("t".repeat(500));
    expect(boundText("t".repeat(501))).toBe(`${"t".repeat(500)}...`);
    expect(boundText("\ud800")).toBe("\ufffd");
  });
});

describe("looking around", () => {
  it("gives pages newest first, each going on where the one before it ended, with a filter or without", async () => {
    await using it = await openLedger();
    await it.add("a/1", "1", "2", "3");
    await it.add("b", "4");
    await it.add("a/1", "5");
    const first = await ledgerBrowse.run(it.ports, { limit: 2 });
    expect([first.total, kindsOf(first.items), first.next]).toEqual([5, "54", 3]);
    const rest = await ledgerBrowse.run(it.ports, { limit: 3, before: first.next! });
    expect([kindsOf(rest.items), rest.next]).toEqual(["321", null]);
    expect(rest.items[0]).toMatchObject({ stream: "a/1", position: 2, excerpt: '{"kind":"3"}' });
    const some = await ledgerBrowse.run(it.ports, { streams: ["a/1"], kinds: ["K1", "K4", "K5"], limit: 10 });
    expect(kindsOf(some.items)).toBe("51");
    expect(ledgerBrowse.input.safeParse({ from: "yesterday" }).success).toBe(false);
  });

  it("shows one entry whole, by its number or its hash, with its neighbours in its stream", async () => {
    await using it = await openLedger();
    await it.add("a", "1");
    await it.add("b", "2");
    await it.add("a", "3");
    const entry = await ledgerEntry.run(it.ports, { index: 2 });
    expect(entry).toMatchObject({ before: 0, after: null, size: 3, body: { kind: "3" }, body_text: '{"kind":"3"}' });
    expect(JSON.parse(entry.line)).toMatchObject({ hash: entry.hash, body: { kind: "3" } });
    expect((await ledgerEntry.run(it.ports, { hash: entry.previous })).after).toBe(2);
    const unknown = ledgerEntry.run(it.ports, { index: 3 });
    await expect(unknown).rejects.toMatchObject({ code: "LEDGER_ENTRY_UNKNOWN" });
    await expect(ledgerEntry.run(it.ports, {})).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("lists streams by the beginning of their names, in pages", async () => {
    await using it = await openLedger();
    for (const name of ["job/2", "job/1", "context"]) await it.add(name, "1");
    const first = await ledgerStreams.run(it.ports, { prefix: "job/", limit: 1 });
    expect(first).toEqual({ items: [{ stream: "job/1", length: 1 }], next: "job/1" });
    const rest = await ledgerStreams.run(it.ports, { prefix: "job/", limit: 1, after: first.next! });
    expect(rest).toEqual({ items: [{ stream: "job/2", length: 1 }], next: null });
  });

  it("counts what each room wrote in each part of a time", async () => {
    await using it = await openLedger();
    const start = it.time.now;
    await it.add("job/1", "1", "2");
    it.time.now = start + 10_000;
    await it.add("context", "3");
    const growth = await ledgerGrowth.run(it.ports, {
      from: formatTime(start),
      to: formatTime(start + 20_000),
      buckets: 4,
    });
    expect(growth.rooms).toEqual(["context", "job"]);
    expect(growth.buckets.map(({ entries }) => entries)).toEqual([
      [0, 2],
      [0, 0],
      [1, 0],
      [0, 0],
    ]);
    const whole = await ledgerGrowth.run(it.ports, { buckets: 10 });
    expect(whole.buckets.flatMap(({ entries }) => entries).reduce((a, b) => a + b, 0)).toBe(3);
  });

  it("lists checkpoints with the name of whoever signed, and none where nobody did", async () => {
    await using it = await openLedger();
    await it.add("a", "1");
    expect(await ledgerCheckpoints.run(it.ports, { limit: 5 })).toEqual({ items: [], next: null });
    const { key_id } = await it.keys.create("ci");
    const made = await ledgerCheckpoint.run(it.ports, { key: "ci" });
    const { items } = await ledgerCheckpoints.run(it.ports, { limit: 5 });
    expect(items).toMatchObject([{ index: 1, tree_size: 1, root_hash: made.root_hash, key_id, signer: "ci" }]);
  });
});
