import { expect, it } from "vitest";
import { z } from "zod";
import { parseJson } from "../canonical/index.ts";
import { defineRecords } from "./records.ts";

// Guards: what a room reads from the ledger is a record of one of its kinds, exactly as it was written.

const RECORDS = defineRecords({
  LIT: z.object({ lamp: z.string(), hours: z.int().default(1) }),
  PUT_OUT: z.strictObject({ lamp: z.string() }),
});

it("makes entries that carry kind, actor and body", () => {
  expect(RECORDS.make("PUT_OUT", "keeper", { lamp: "north" })).toEqual({
    kind: "PUT_OUT",
    actor: "keeper",
    body: { lamp: "north" },
  });
  expect(RECORDS.draft("PUT_OUT", { lamp: "north" })).toEqual({ kind: "PUT_OUT", body: { lamp: "north" } });
});

it("reads a body as it is, without defaults and with what no schema names", () => {
  const entry = { kind: "LIT", body: '{"lamp":"north","seen_by":"ship"}', stream: "lamps", position: 3 };
  expect(RECORDS.read(entry)).toEqual({ kind: "LIT", body: { lamp: "north", seen_by: "ship" } });
});

it.each([
  ["BROKEN", "{}", "there is no record of kind BROKEN"],
  ["constructor", "{}", "there is no record of kind constructor"],
  ["LIT", '{"lamp":7}', "/lamp: "],
  ["LIT", '{"lamp":"north","hours":1.5}', "/hours: "],
  ["PUT_OUT", '{"lamp":"north","by":"wind"}', "/: "],
])("refuses what is not a record: %s %s", (kind, body, problem) => {
  expect(RECORDS.check(kind, parseJson(body))).toMatch(new RegExp(`^${problem}`));
  expect(() => RECORDS.read({ kind, body, stream: "lamps", position: 3 })).toThrowError(
    expect.objectContaining({ code: "INTERNAL", where: "lamps@3" }),
  );
});
