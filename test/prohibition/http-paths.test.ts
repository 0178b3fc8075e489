// Guards: over HTTP nobody reads or writes a file outside the workspace, whatever operation and field names it. Every
// operation of the surface is listed from the table, so a new one that takes a path is tried without being added here.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { App } from "../../src/app/call.ts";
import { listOperations, openApp } from "../../src/app/call.ts";
import { isVerbatimError } from "../../src/core/errors/index.ts";

const SECRET = "the-lighthouse-key-hangs-by-the-stove";
const operations = (await listOperations()).filter(
  ({ surfaces }) => surfaces === undefined || surfaces.includes("http"),
);

interface Field {
  readonly name: string;
  readonly many: boolean;
}

/** The fields of an operation's input that take free text, alone or in a list. */
function textFields(schema: z.ZodType): Field[] {
  const { properties = {} } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return Object.entries(properties).flatMap(([name, field]): Field[] => {
    if (typeof field === "boolean") return [];
    const isText = (one: unknown) => (one as { type?: string } | undefined)?.type === "string";
    if (isText(field)) return [{ name, many: false }];
    return field.type === "array" && isText(field.items) ? [{ name, many: true }] : [];
  });
}

const PLAIN: Readonly<Record<string, unknown>> = { string: "x", boolean: true, integer: 1, array: [], object: {} };

/** Something for every field that must be there, so that the one in question is looked at. */
function required(schema: z.ZodType): Record<string, unknown> {
  const document = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  const values = (document.required ?? []).map((name) => {
    const field = document.properties?.[name] as { readonly type?: string; readonly enum?: readonly unknown[] };
    return [name, field.enum?.[0] ?? PLAIN[field.type ?? "object"]] as const;
  });
  return Object.fromEntries(values);
}

let base: string;
let outside: string;
let app: App;

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "verbatim-http-paths-"));
  outside = join(base, "outside");
  mkdirSync(join(outside, "folder"), { recursive: true });
  writeFileSync(join(outside, "secret.json"), JSON.stringify({ note: SECRET }));
  writeFileSync(join(outside, "folder", "bundle.json"), `${SECRET}\n`);
  const root = join(base, "root");
  mkdirSync(root);
  execFileSync("git", ["init", "-q", root]);
  symlinkSync("../outside/secret.json", join(root, "link.json"));
  app = openApp({ surface: "http", start: root, env: { HOME: base }, platform: process.platform });
});

afterAll(async () => {
  await app.close();
  rmSync(base, { recursive: true, force: true });
});

const look = () =>
  readdirSync(outside, { recursive: true, encoding: "utf8" })
    .toSorted()
    .map((name) => [name, name.includes(".") ? readFileSync(join(outside, name), "utf8") : ""]);

/** What the surface would answer, whatever it is, as one text. */
async function ask(name: string, input: object): Promise<string> {
  try {
    return JSON.stringify(await app.callUnknown(name, input)) ?? "";
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    const { code, message, where, details } = thrown;
    return JSON.stringify({ code, message, where, details });
  }
}

describe("over HTTP", () => {
  it("there are operations that take a text, and those that could do harm anywhere are not offered", () => {
    expect(operations.filter(({ input }) => textFields(input).length > 0).length).toBeGreaterThan(20);
    expect(operations.map(({ name }) => name)).not.toContain("agent.run");
  });

  it.each(operations.map((one) => [one.name, one] as const))(
    "%s neither shows nor changes anything outside",
    async (name, { input }) => {
      const before = look();
      const places = ["secret.json", "folder", "new.json"].flatMap((one) => [join(outside, one), `../outside/${one}`]);
      const others = required(input);
      for (const { name: field, many } of textFields(input)) {
        for (const place of [...places, "link.json"]) {
          const answer = await ask(name, { ...others, [field]: many ? [place] : place });
          expect(answer, `${field}: ${place}`).not.toContain(SECRET);
        }
      }
      expect(look()).toEqual(before);
    },
  );
});
