import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import type * as api from "../../src/api.ts";
import { listOperationNames, openApp } from "../../src/app/call.ts";
import { createRoomMethods } from "../../src/app/library.ts";
import type { Input, OperationName, Output } from "../../src/app/operations.ts";
import { defineVerb } from "../../src/surfaces/cli/verb.ts";
import { defineToolVerb } from "../../src/surfaces/mcp/tool-table.ts";

// Guards: the table of operations as a type. Each line below `@ts-expect-error` has one letter wrong; when it compiles,
// that comment is an error of its own, and the type check fails.

const folder = mkdtempSync(join(tmpdir(), "verbatim-typed-"));
const app = openApp({ surface: "library", start: folder, env: {}, platform: process.platform });
const rooms = createRoomMethods(app);

// A name that is not known is compared with all others, so every room is loaded once before anything is timed.
beforeAll(() => listOperationNames(), 180_000);
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("a call", () => {
  it("has the types of its operation's schemas", async () => {
    expectTypeOf<Input<"context.search">["query"]>().toEqualTypeOf<string>();
    expectTypeOf<Output<"hall.doctor">["checks"][number]["status"]>().toEqualTypeOf<"ok" | "warn" | "fail">();
    expectTypeOf<"hook.pre-tool">().toExtend<OperationName>();
    const { schema } = await app.call("contract.show", { object: "jobs/message" });
    expectTypeOf(schema).toEqualTypeOf<Record<string, unknown>>();
    expect(schema["title"]).toBe("Message");
  });

  it("of an operation that does not exist is neither compiled nor run", async () => {
    // @ts-expect-error: contract.shwo
    await expect(app.call("contract.shwo", { object: "jobs/message" })).rejects.toMatchObject({
      code: "OPERATION_UNKNOWN",
    });
    // @ts-expect-error: contract.shwo
    await expect(app.lines("contract.shwo", {}).next()).rejects.toMatchObject({ code: "OPERATION_UNKNOWN" });
    // @ts-expect-error: contract.shwo
    await expect(app.describe("contract.shwo")).rejects.toMatchObject({ code: "OPERATION_UNKNOWN" });
  });

  it("with a field that does not exist is neither compiled nor run", async () => {
    // @ts-expect-error: objetc
    await expect(app.call("contract.show", { objetc: "jobs/message" })).rejects.toMatchObject({
      code: "INPUT_INVALID",
    });
  });

  it("answers with no other fields than its schema has", async () => {
    const shown = await app.call("contract.show", { object: "jobs/message" });
    // @ts-expect-error: shcema
    expect(shown.shcema).toBeUndefined();
  });
});

describe("what a client in a browser is written against", () => {
  it("knows every operation by its name, and no other", () => {
    expectTypeOf<string extends api.OperationName ? "any name" : "these names">().toEqualTypeOf<"these names">();
    expectTypeOf<keyof api.Operations>().toEqualTypeOf<OperationName>();
    expectTypeOf<api.Operations["agent.list"]["input"]>().toEqualTypeOf<Input<"agent.list">>();
    expectTypeOf<api.Operations["agent.list"]["output"]>().toEqualTypeOf<Output<"agent.list">>();
  });

  it("knows what every event says", () => {
    expectTypeOf<api.Events["session"]>().toEqualTypeOf<{ ended: true }>();
    expectTypeOf<string extends keyof api.Events ? "any event" : "these events">().toEqualTypeOf<"these events">();
    expectTypeOf<api.Events["run"]["run_id"]>().toEqualTypeOf<string>();
  });
});

describe("a verb of the command line", () => {
  it("names operations and fields that exist", () => {
    const words = { path: [], examples: [], render: () => undefined };
    // @ts-expect-error: contract.shwo
    expect(defineVerb("contract.shwo", words)).toMatchObject(words);
    // @ts-expect-error: objetc
    expect(defineVerb("contract.show", { ...words, args: [{ field: "objetc", label: "OBJECT" }] })).toBeDefined();
    // @ts-expect-error: objetc
    expect(defineVerb("contract.show", { ...words, flags: { objetc: { hidden: true } } })).toBeDefined();
  });

  it("renders what its operation answers, and knows what it was given", () => {
    const verb = defineVerb("contract.check", {
      path: [],
      examples: [],
      render: ({ problems }, _, given) => {
        expectTypeOf(problems[0]!.code).toEqualTypeOf<string>();
        expectTypeOf(given.object).toEqualTypeOf<string | undefined>();
      },
      // @ts-expect-error: okay
      exit: ({ okay }) => (okay === undefined ? 7 : 0),
    });
    expect(verb.exit?.({ ok: true }, {})).toBe(7);
  });
});

describe("a tool", () => {
  it("names operations, fields and parts that exist", () => {
    // @ts-expect-error: contract.shwo
    expect(defineToolVerb("contract.shwo", { action: "show", fields: [] })).toBeDefined();
    // @ts-expect-error: objetc
    expect(defineToolVerb("contract.show", { action: "show", fields: ["objetc"] })).toBeDefined();
    const of = { action: "show", fields: ["of"] } as const;
    // @ts-expect-error: objetc
    expect(defineToolVerb("contract.show", { ...of, renamed: { of: "objetc" } })).toBeDefined();
    // @ts-expect-error: shcema
    expect(defineToolVerb("contract.show", { action: "show", fields: ["object"], part: "shcema" })).toBeDefined();
    const renamed = defineToolVerb("contract.show", { ...of, renamed: { of: "object" } });
    expect(renamed.operation).toBe("contract.show");
  });
});

describe("the methods of a room", () => {
  it("are its operations", async () => {
    const { schema } = await rooms.contract.show({ object: "jobs/message" });
    expectTypeOf(schema).toEqualTypeOf<Record<string, unknown>>();
    expect(schema).toEqual((await app.call("contract.show", { object: "jobs/message" })).schema);
    // @ts-expect-error: objetc
    await expect(rooms.contract.show({ objetc: "jobs/message" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    // @ts-expect-error: shwo
    const misspelt: unknown = rooms.contract.shwo;
    const shwo = misspelt as typeof rooms.contract.show;
    await expect(shwo({ object: "jobs/message" })).rejects.toMatchObject({ code: "OPERATION_UNKNOWN" });
  });

  it("pass on what belongs to the call alone", async () => {
    const seen: unknown[] = [];
    const { context } = createRoomMethods({ ...app, callUnknown: async (...all) => seen.push(all) });
    const { signal } = new AbortController();
    await context.indexBuild({ full: true }, { signal });
    expect(seen).toEqual([["context.index-build", { full: true }, { signal }]]);
  });

  it("are there for every operation, by its name in camel case", async () => {
    const asked: string[] = [];
    const all = createRoomMethods({ ...app, callUnknown: async (name) => asked.push(name) });
    const names = await listOperationNames();
    for (const name of names) {
      const [room, verb] = name.split(".") as [keyof typeof all, string];
      const [first, ...rest] = verb.split("-");
      const method = [first, ...rest.map((word) => word[0]!.toUpperCase() + word.slice(1))].join("");
      const methods: object = all[room];
      await (methods as Record<string, (input: unknown) => Promise<unknown>>)[method]!({});
    }
    expect(asked).toEqual(names);
    expect(names.length).toBeGreaterThan(100);
  });

  it("are no promise and no JSON value of their own", async () => {
    expect(await Promise.resolve(rooms.world)).toBe(rooms.world);
    expect(JSON.stringify(rooms)).toMatch(/"world":\{\}/);
  });
});
