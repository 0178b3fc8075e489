// git as the oracle of the grammar: whatever git itself writes is read, name for name, or refused by a rule about names.
import { describe, expect, it } from "vitest";
import { decodeUtf8 } from "../../src/core/canonical/index.ts";
import { fromByteText } from "../../src/rooms/workflow/patch/patch-lines.ts";
import { parsePatch } from "../../src/rooms/workflow/patch/patch-parser.ts";
import { PatchRefused, type PatchRejection } from "../../src/rooms/workflow/patch/rejection.ts";
import { type RawRow, writeNastyHistory } from "../support/nasty-history.ts";

const STATUS = { modify: "M", create: "A", delete: "D", rename: "R", copy: "C" } as const;

const breaks: Readonly<Record<string, (name: string) => boolean>> = {
  not_utf8: (name) => decodeUtf8(fromByteText(name)) === null,
  control_char: (name) => /[\x00-\x1f\x7f]/.test(name),
  drive_letter: (name) => /^[A-Za-z]:/.test(name),
  backslash: (name) => name.includes("\\"),
};

function isDeserved({ stage, rule }: PatchRejection, rows: readonly RawRow[]): boolean {
  const names = rows.flatMap((row) => [row.old, row.new]);
  if (stage === "path") return names.some(breaks[rule]!);
  const changed = rows.flatMap(({ status, old, new: next }) => (status === "R" ? [old, next] : [next]));
  const folded = changed.map((name) => (decodeUtf8(fromByteText(name)) ?? name).normalize("NFC").toLowerCase());
  return rule === "duplicate_path" && new Set(folded).size < folded.length;
}

describe("patches that git wrote", () => {
  it("are read name for name, whatever git quotes and wherever it puts a TAB", () => {
    const written = writeNastyHistory(260, 20_261_116);
    const wrong: unknown[] = [];
    let [read, tabs] = [0, 0];
    for (const { raw, patch } of written) {
      const text = Buffer.from(patch).toString("utf8");
      try {
        const sections = parsePatch(patch).map(({ operation, old_path, new_path }) => ({
          status: STATUS[operation],
          old: Buffer.from(old_path).toString("latin1"),
          new: Buffer.from(new_path).toString("latin1"),
        }));
        read++;
        if (text.includes('"\t\n')) tabs++;
        if (JSON.stringify(sections) !== JSON.stringify(raw)) wrong.push({ sections, raw });
      } catch (thrown) {
        if (!(thrown instanceof PatchRefused)) throw thrown;
        if (!isDeserved(thrown.rejection, raw)) wrong.push({ ...thrown.rejection, text });
      }
    }
    expect(wrong).toEqual([]);
    expect(read).toBeGreaterThan(400);
    expect(tabs).toBeGreaterThan(10);
  });
});
