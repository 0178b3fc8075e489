import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import type { BodyPiece } from "../../../core/ports.ts";
import { checkRunLedger, RunLedger } from "./run-ledger.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const toPiece = (text: string): BodyPiece => ({
  sha256: sha256(`${text}\n`),
  size: text.length,
  bytes: () => new TextEncoder().encode(text),
});
const tree = toPiece('{"a":"1"}');
const other = toPiece('{"a":"2"}');
const BEGINNING = ['{"POST":', tree, ',"PRE":', tree];

/** The ledger of a run with one closing entry, which may have been foreseen. */
function write(foreseen: readonly (string | BodyPiece)[] | null, parts: readonly (string | BodyPiece)[]) {
  const ledger = new RunLedger(nodeCrypto, { now: () => 0 }, "r-1", "cli");
  const first = ledger.add("DECLARED", { a: 1 });
  if (foreseen !== null) ledger.foresee(foreseen);
  const line = Buffer.concat(ledger.addParted("RUN", parts));
  return { text: `${first}${line.toString()}`, entry: ledger.entries[1]! };
}

describe("a closing entry in parts", () => {
  it.each([
    ["nothing was foreseen", null, [...BEGINNING, "}"]],
    ["its beginning was foreseen", BEGINNING, [...BEGINNING, "}"]],
    ["another piece was foreseen", BEGINNING, ['{"POST":', other, ',"PRE":', tree, "}"]],
    ["another text was foreseen", BEGINNING, ['{"P0ST":', tree, ',"PRE":', tree, "}"]],
    ["more was foreseen than came", [...BEGINNING, ',"MORE":1'], ['{"POST":', tree, "}"]],
  ])("has the hash of its body when %s", (_, foreseen, parts) => {
    const { text, entry } = write(foreseen, parts);
    const body = parts.map((part) => (typeof part === "string" ? part : Buffer.from(part.bytes()).toString())).join("");
    expect([entry.body, entry.body_hash]).toEqual([body, sha256(body)]);
    expect(checkRunLedger(nodeCrypto, "r-1", text)).toMatchObject({ ok: true, head: entry.hash });
  });
});
