import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildChild, type ChildProgram } from "../support/child.ts";
import { makeDocument, seededNumbers } from "../support/markdown-fuzz.ts";

// Guards: the same files give the same SECTION_INDEX, byte for byte: in another process, locale and time zone, under
// another umask, in another folder, with other times, made and listed in another order.

const NAMES = [
  "a-b.md",
  "a/b.md",
  "a.md",
  "B.md",
  "\u00e4.md",
  "z\u0308.md",
  "\ue000.md",
  "\u{1f600}.md",
  "I.md",
  "\u0131.md",
];

let program: ChildProgram;
let folder: string;

beforeAll(async () => {
  program = await buildChild("test/support/context-export-child.ts");
  folder = mkdtempSync(join(tmpdir(), "verbatim-same-"));
});

afterAll(() => {
  program.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** The same tree, written in the order that `next` decides. */
function writeTree(name: string, next: (bound: number) => number): string {
  const root = join(folder, name);
  const contents = seededNumbers(5);
  const files = Array.from({ length: 60 }, (_, i) => ({
    path: `${i % 3 === 0 ? `dir-${i % 5}/` : ""}${i}-${NAMES[i % NAMES.length]}`,
    text: `${makeDocument(contents)}\n${makeDocument(contents)}`,
  }));
  for (let left = files.length; left > 0; left--) {
    const [{ path, text }] = files.splice(next(left), 1) as [{ path: string; text: string }];
    const place = join(root, path);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, text);
    utimesSync(place, next(1_000_000_000), next(1_000_000_000));
  }
  return root;
}

async function exportIndex(root: string, env: Record<string, string>, umask: number, ...seed: string[]) {
  const before = process.umask(umask);
  try {
    const child = program.start([root, `${root}-state${seed.join("")}`, ...seed], {
      env: { PATH: process.env["PATH"], ...env },
    });
    const { code, errors } = await child.ended;
    expect(errors).toBe("");
    expect(code).toBe(0);
    return child.lines.join("\n");
  } finally {
    process.umask(before);
  }
}

describe("SECTION_INDEX", () => {
  it("is the same in two processes that share nothing but the files", async () => {
    const one = await exportIndex(writeTree("one", seededNumbers(1)), { LC_ALL: "C", TZ: "UTC" }, 0o022);
    const turkish = { LC_ALL: "tr_TR.UTF-8", LANG: "tr_TR.UTF-8", TZ: "Pacific/Kiritimati" };
    const two = await exportIndex(writeTree("elsewhere/two", seededNumbers(2)), turkish, 0o077);
    const shuffled = await exportIndex(join(folder, "one"), {}, 0o022, "3");
    expect(one.split("\n")).toHaveLength(93);
    expect(shuffled).toBe(one);
    expect(two).toBe(one);
    const paths = [...new Set(one.split("\n").map((line) => (JSON.parse(line) as { file_path: string }).file_path))];
    expect(paths).toEqual(paths.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
    expect(one).not.toMatch(/verbatim-same|2025|state/);
  });
});
