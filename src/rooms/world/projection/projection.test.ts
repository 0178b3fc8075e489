import { expect, it } from "vitest";
import type { Cast } from "../people/cast.ts";
import { AFTER_LIMIT, REFRESH_LIMIT, toStreamEntry } from "./projection.ts";

const cast: Cast = {
  operator_id: "op",
  operator_name: "The operator",
  people: new Map([["anna", "Anna"]]),
  present: [],
  visibility_default: "presence",
  writer_lint: "off",
};
const entry = { entry_id: "e1", created_at_world: "2026-01-01T00:00:00+00:00", text: " exact\n" };
const by = (author_id: string) => ({ author_id, author_class: "PERSON" as const });

it("only lines of people carry a name; the text is the text", () => {
  const shown = (channel: "USER" | "VOICE" | "PEOPLE", id: string) =>
    toStreamEntry(cast, { ...entry, channel, author: by(id) });
  expect(shown("PEOPLE", "anna")).toEqual({ ...entry, channel: "PEOPLE", author_label: "Anna" });
  expect(shown("PEOPLE", "op").author_label).toBe("The operator");
  expect(shown("USER", "op").author_label).toBe(null);
  expect(shown("VOICE", "anna").author_label).toBe(null);
});

it("a page of the stream has 200 lines, a refresh 50", () => {
  expect([AFTER_LIMIT, REFRESH_LIMIT]).toEqual([200, 50]);
});
