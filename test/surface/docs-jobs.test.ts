// The guide of the jobs room, typed as it stands: every command, and every line it is said to print.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runGuide } from "../support/guide.ts";

const page = readFileSync(new URL("../../docs/rooms/jobs.md", import.meta.url), "utf8");
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-guide-"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("docs/rooms/jobs.md", () => {
  it("is a session that works as it is printed", () => {
    expect(runGuide(page, folder, "harbour")).toBe(20);
  });
});
