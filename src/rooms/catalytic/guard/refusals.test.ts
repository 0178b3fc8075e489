import { describe, expect, it } from "vitest";
import { encodeUtf8 } from "../../../core/canonical/index.ts";
import { readRefusals } from "./refusals.ts";

const STDERR = encodeUtf8(
  [
    "sh: 1: cannot create outside: Read-only file system",
    "note: 3 files, EROFSX",
    "Error: EROFS: read-only file system, open 'x' EROFS",
    "cp: cannot open 'y': Permission denied",
    "tail without an end: Read-only file system",
  ].join("\n"),
);

describe("what a command says about refused writes", () => {
  it("is counted by line, in the words of the guard", () => {
    expect(readRefusals("namespace", STDERR)).toEqual({
      lines: 3,
      shown: [
        "sh: 1: cannot create outside: Read-only file system",
        "Error: EROFS: read-only file system, open 'x' EROFS",
        "tail without an end: Read-only file system",
      ],
    });
    expect(readRefusals("landlock", STDERR)).toEqual({ lines: 1, shown: ["cp: cannot open 'y': Permission denied"] });
  });

  it("is nothing under a guard that refuses nothing", () => {
    expect(readRefusals("audit", STDERR)).toEqual({ lines: 0, shown: [] });
  });

  it("shows five lines, cut where they are long, and counts all", () => {
    const line = `${"x".repeat(300)} EROFS\n`;
    const { lines, shown } = readRefusals("namespace", encodeUtf8(line.repeat(7)));
    expect([lines, shown]).toEqual([7, new Array(5).fill(`${"x".repeat(200)}...`)]);
  });

  it("reads one line of megabytes once", () => {
    const { lines } = readRefusals("namespace", encodeUtf8("EROFS ".repeat(500_000)));
    expect(lines).toBe(1);
  });
});
