import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import type { BodyPiece } from "../../../core/ports.ts";
import { checkRunLedger, RunLedger, readWholeEntries } from "./run-ledger.ts";

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

describe("the ledger of a run", () => {
  const closing = '{"a":1}';
  const ledger = (...kinds: string[]) => {
    const writer = new RunLedger(nodeCrypto, { now: () => 0 }, "r-1", "cli");
    return kinds.map((kind) => writer.add(kind, { a: 1 }));
  };
  const good = ledger("DECLARED", "SNAPSHOT", "RUN");
  const check = (text: string, id = "r-1", body?: string) => {
    const { ok, first_bad, head, closed_as_known } = checkRunLedger(nodeCrypto, id, text, body);
    return ok ? [head?.length, closed_as_known] : first_bad;
  };
  const second = (from: string | RegExp, to: string) => [good[0], good[1]!.replace(from, to), good[2]].join("");

  it("is good as it was written, and known to close as it should", () => {
    expect(check(good.join(""))).toEqual([64, false]);
    expect(check(good.join(""), "r-1", closing)).toEqual([64, true]);
    expect(check(good.join(""), "r-1", '{"a":2}')).toEqual([64, false]);
    expect(checkRunLedger(nodeCrypto, "r-1", good.join("")).bodies).toEqual([{ a: 1 }, { a: 1 }, { a: 1 }]);
  });

  it.each<[string, string, number]>([
    ["nothing", "", 0],
    ["no last line feed", good.join("").trimEnd(), 2],
    ["no end", good.slice(0, 2).join(""), 1],
    ["an end in the middle", ledger("DECLARED", "RUN", "RUN").join(""), 1],
    ["a line more", good.join("") + good[2], 2],
    ["a line left out", [good[0], good[2]].join(""), 1],
    ["two lines exchanged", [good[1], good[0], good[2]].join(""), 0],
    ["a line that is no JSON", second("{", "("), 1],
    ["a line that is a list", [good[0], "[]\n", good[2]].join(""), 1],
    ["a line with a space", second("{", "{ "), 1],
    ["another body", second('{"a":1}', '{"a":2}'), 1],
    ["another hash of the body", second(/"body_hash":"./, '"body_hash":"_'), 1],
    ["another hash of the body that is one", second(/("body_hash":")[0-9a-f]{64}/, `$1${"0".repeat(64)}`), 1],
    ["another hash", second(/(,"hash":")[0-9a-f]{64}/, `$1${"0".repeat(64)}`), 1],
    ["another hash before it", second(/("previous":")[0-9a-f]{64}/, `$1${"0".repeat(64)}`), 1],
    ["another place", second('"position":1', '"position":2'), 1],
    ["another stream", second("catalytic/r-1", "catalytic/r-2"), 1],
    ["another time", second("1970-01-01", "1970-01-02"), 1],
    ["another actor", second('"cli"', '"clx"'), 1],
  ])("is refused at its first bad line: %s", (_, text, bad) => {
    expect(check(text)).toBe(bad);
    expect(check(text, "r-1", closing)).toBe(bad);
  });

  it("of another run is refused", () => {
    expect(check(good.join(""), "r-2")).toBe(0);
  });

  it("with another hash of the body it should close with is refused", () => {
    const forged = [good[0], good[1], good[2]!.replace(/("body_hash":")[0-9a-f]{64}/, `$1${"0".repeat(64)}`)].join("");
    expect(check(forged, "r-1", closing)).toBe(2);
  });

  it("that a crash cut short has the entries before the first bad one", () => {
    const count = (text: string) => readWholeEntries(nodeCrypto, "r-1", text).length;
    expect([count(good.join("")), count(good.join("").slice(0, -5)), count(second("{", "(")), count("")]).toEqual([
      3, 2, 1, 0,
    ]);
    expect(count(second('"position":1', '"position":2'))).toBe(1);
    const more = new RunLedger(
      nodeCrypto,
      { now: () => 0 },
      "r-1",
      "cli",
      readWholeEntries(nodeCrypto, "r-1", good.slice(0, 2).join("")),
    );
    expect(good.slice(0, 2).join("") + more.add("RUN", { a: 1 })).toBe(good.join(""));
  });
});
