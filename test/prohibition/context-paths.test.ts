import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ContextWorkspace } from "../support/context-workspace.ts";
import { LAWFUL_PATHS, PATH_ATTACKS } from "../support/path-attacks.ts";

// Guards: no verb of the context room that takes a path accepts one that leads elsewhere, or repairs one.

let workspace: ContextWorkspace;
let before: string[];

beforeAll(async () => {
  workspace = new ContextWorkspace({}, { context: { sources: ["**/*"], exclude: ["*.json"] } });
  workspace.write("a", "one\n");
  workspace.write("b/c.md", "# C\n");
  await workspace.build();
  before = readdirSync(workspace.root).toSorted();
});

afterAll(() => workspace.close());

/** The same path with every character escaped that an escape can carry. */
const escaped = (path: string) =>
  [...Buffer.from(path)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");

describe("a path of an attacker", () => {
  it.each(PATH_ATTACKS)("is refused by index explain: $what", async ({ path, reason }) => {
    expect(await workspace.refusal("index-explain", { path })).toMatchObject({
      code: "PATH_REFUSED",
      details: { reason },
    });
  });

  it.each(PATH_ATTACKS)("is refused by section list: $what", async ({ path, reason }) => {
    // A slash at the end is how shells complete the name of a folder.
    if (path === "a/") {
      expect(await workspace.call("section-list", { path })).toHaveLength(1);
      return;
    }
    expect(await workspace.refusal("section-list", { path })).toMatchObject({
      code: "PATH_REFUSED",
      details: { reason },
    });
  });

  it.each(PATH_ATTACKS)("is the target of no symbol: $what", async ({ path }) => {
    const targets = [
      { file: path },
      { heading: `${path}#C` },
      ...(path.isWellFormed() ? [{ heading: `${escaped(path)}#C` }] : []),
    ];
    for (const target of targets) {
      const refused = await workspace.refusal("symbol-add", { symbol_id: "@N/A", slice: "head(1)", ...target });
      expect(["TARGET_SYNTAX", "FILE_NOT_INDEXED"], JSON.stringify(target).slice(0, 200)).toContain(refused.code);
    }
    expect(await workspace.call("symbol-list")).toEqual([]);
  });

  it("has left no trace", () => {
    expect(readdirSync(workspace.root).toSorted()).toEqual(before);
  });
});

describe("a path that is odd but lawful", () => {
  it.each(LAWFUL_PATHS)("is taken as it is: %j", async (path) => {
    expect(await workspace.call("index-explain", { path })).toMatchObject({ file_path: path });
  });
});

describe("a folder that is replaced by a link to the outside", () => {
  it("gives nothing from there", async () => {
    const outside = join(workspace.root, "..", `outside-${process.pid}`);
    mkdirSync(outside);
    try {
      writeFileSync(join(outside, "c.md"), "# secret\n");
      const section = await workspace.find("b/c.md");
      rmSync(join(workspace.root, "b"), { recursive: true });
      symlinkSync(outside, join(workspace.root, "b"));
      const refused = await workspace.refusal("expand", { refs: [section.section_id], slice: "head(1)" });
      expect(refused).toMatchObject({ code: "CONTENT_HASH_MISMATCH" });
      expect(JSON.stringify(refused.details)).not.toContain("secret");
      const built = await workspace.build();
      expect(built).toMatchObject({ files: 1, skipped_links: ["b"] });
      expect(await workspace.call("index-explain", { path: "b/c.md" })).toMatchObject({
        problem: "SOURCE_NOT_REGULAR",
      });
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  });
});
