import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeCrypto } from "./adapters/crypto/node-crypto.ts";
import { createLocalFiles } from "./adapters/disk/guarded/local-files.ts";
import { DiskKeys } from "./adapters/disk/keys.ts";
import { openSqliteStore } from "./adapters/sql/sqlite/store.ts";
import { ledgerCheckpoint } from "./core/ledger/checkpoint-operation.ts";
import { formatEntry, proveConsistency, proveInclusion } from "./core/ledger/index.ts";
import type { LedgerPorts } from "./core/ledger/operation-ports.ts";
import * as verify from "./verify.ts";

// Guards: what a page computes again is what the ledger says, and a change of one letter is found.

const folder = mkdtempSync(join(tmpdir(), "verbatim-verify-"));
const lines: string[] = [];
let hashes: string[] = [];
let ports: LedgerPorts;
let close: () => Promise<void>;

beforeAll(async () => {
  let uuid = 0;
  const store = await openSqliteStore({
    path: join(folder, "store.db"),
    crypto: nodeCrypto,
    clock: { now: () => Date.UTC(2026, 0, 1) },
    ids: { uuid: () => `00000000-0000-4000-8000-${String(++uuid).padStart(12, "0")}` },
  });
  const keys = new DiskKeys({ folder: join(folder, "keys"), base: folder }, nodeCrypto);
  await keys.create("ci");
  const files = createLocalFiles(folder, (async function* () {})());
  const loadKey = (key: string) => keys.load(key);
  ports = {
    store,
    crypto: nodeCrypto,
    files,
    progress: undefined as never,
    actor: "mira",
    loadKey,
    listKeys: () => keys.list(),
  };
  const kinds = ["PLAN", "RECEIPT", "NOTE", "RECEIPT", "NOTE", "RECEIPT", "NOTE"];
  const entries = await store.transact(({ ledger }) =>
    ledger.append(
      "job/1",
      "next",
      kinds.map((kind, n) => ({ kind, actor: "mira", body: { n, says: "lamp" } })),
    ),
  );
  lines.push(...entries.map(formatEntry));
  hashes = entries.map(({ hash }) => hash);
  close = () => store.close();
});

afterAll(async () => {
  await close();
  rmSync(folder, { recursive: true, force: true });
});

const source = async (from: number, limit: number) => hashes.slice(from, from + limit);

describe("an entry", () => {
  it("comes to the hashes that it claims, and to others when a letter of it is changed", async () => {
    const check = await verify.hashEntry(lines[1]!);
    expect(check).toMatchObject({ ok: true, stream: "job/1", position: 1, claimed: check.computed });
    const changed = await verify.hashEntry(lines[1]!.replace("lamp", "camp"));
    expect(changed.ok).toBe(false);
    expect(changed.claimed).toEqual(check.claimed);
    expect(changed.computed.hash).not.toBe(check.claimed.hash);
    // The same value in other bytes has the same hashes, and is still not the line of the ledger.
    expect((await verify.hashEntry(lines[1]!.replace('","', '", "'))).ok).toBe(false);
    expect(await verify.sha256("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  });
});

describe("the way to the root", () => {
  it.each([1, 2, 7])("is climbed row by row from the first, the middle and the last of %i entries", async (size) => {
    for (const index of new Set([0, Math.floor(size / 2), size - 1])) {
      const proof = await proveInclusion(nodeCrypto, source, index, size);
      const way = await verify.traceInclusion(proof);
      expect(way?.root).toBe(proof.root_hash);
      expect(way?.rungs.map(({ sibling }) => sibling)).toEqual(proof.path);
      for (const [n, { own }] of way!.rungs.entries())
        expect(own).toBe(n === 0 ? way!.leaf : way!.rungs[n - 1]!.result);
      expect(await verify.verifyInclusion(proof)).toBe(true);
      const other = { ...proof, entry_hash: "0".repeat(64) };
      expect(await verify.verifyInclusion(other)).toBe(false);
      if (size > 1) expect((await verify.traceInclusion(other))?.root).not.toBe(proof.root_hash);
      expect(await verify.traceInclusion({ ...proof, path: [...proof.path, proof.root_hash] })).toBeNull();
    }
  });

  it("of a smaller ledger goes on into the larger one", async () => {
    const proof = await proveConsistency(nodeCrypto, source, 3, 7);
    expect(await verify.verifyConsistency(proof)).toBe(true);
    expect(await verify.verifyConsistency({ ...proof, first_size: 4 })).toBe(false);
  });
});

describe("the chain of a job", () => {
  it("holds with every receipt in its place, and says where it breaks", async () => {
    const whole = await verify.verifyReceiptChain("job/1", lines);
    expect(whole).toMatchObject({ ok: true, entries: 7, problem: null });
    expect(whole.receipts.map(({ position }) => position)).toEqual([1, 3, 5]);
    const missing = await verify.verifyReceiptChain("job/1", lines.toSpliced(2, 1));
    expect(missing).toMatchObject({ ok: false, problem: { code: "LEDGER_POSITION_GAP", position: 2 } });
    const other = await verify.verifyReceiptChain("job/2", lines);
    expect(other.problem?.code).toBe("LEDGER_STREAM_MISMATCH");
  });
});

describe("a signed checkpoint", () => {
  it("opens with what it says, and without a policy nobody's signature is called good", async () => {
    const made = await ledgerCheckpoint.run(ports, { key: "ci", out: "today.dsse.json" });
    const bytes = readFileSync(join(folder, "today.dsse.json"));
    const { checkpoint, trust } = await verify.openCheckpoint(bytes);
    expect(checkpoint).toEqual({ ledger_id: made.ledger_id, root_hash: made.root_hash, tree_size: 7 });
    expect(trust).toEqual({ verdict: "UNCHECKED", code: null, valid_keys: [] });
  });
});
