// The guide of the context room, typed as it stands: every command, and every line it is said to print.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openContext, sectionsOf } from "../../src/context.ts";
import { runGuide } from "../support/guide.ts";

const page = readFileSync(new URL("../../docs/rooms/context.md", import.meta.url), "utf8");
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-guide-"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("docs/rooms/context.md", () => {
  it("is a session that works as it is printed", () => {
    expect(runGuide(page, folder, "harbour")).toBe(24);
  });

  it("shows a program that works", async () => {
    const [, program] = /```ts\n([\s\S]*?)```/.exec(page)!;
    const root = join(folder, "library");
    mkdirSync(root);
    writeFileSync(join(root, "verbatim.config.json"), '{"context": {"sources": ["*.md"]}}');
    writeFileSync(join(root, "a.md"), "# A\nAt most four boats.\n");
    const said: unknown[] = [];
    const body = program!.replace(/^import .*\n/, "").replace("await using context", "const context");
    expect(body).toContain('openContext("harbour")');
    const AsyncFunction = (async () => undefined).constructor as new (
      ...args: string[]
    ) => (...args: unknown[]) => Promise<void>;
    const run = new AsyncFunction("openContext", "console", `${body}\nawait context.close();`);
    await using context = openContext(root, { env: {} });
    await context.buildIndex({});
    await context.addSymbol({ symbol_id: "@HARBOUR/LIMITS", file: "a.md", slice: "tail(1)" });
    await run(() => openContext(root, { env: {} }), { log: (...words: unknown[]) => said.push(...words) });
    expect(said).toEqual(["At most four boats."]);
    const [whole] = sectionsOf("a.md", readFileSync(join(root, "a.md")));
    expect((await context.listSections({}))[0]).toMatchObject({ ...whole });
  });
});
