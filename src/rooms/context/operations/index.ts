import { z } from "zod";
import { budgets, count, uuid } from "../../../core/contracts/index.ts";
import { defineOperation, REVIEWER } from "../../../core/operation.ts";
import { BUDGETS, mapBudgetFields, mapBudgets, SLICE_FORMS } from "../../../core/text/index.ts";
import { expansionSchema, sectionSchema } from "../contracts/index.ts";
import { expandRefs } from "../expansion/expansion.ts";
import { recordRefusal } from "../expansion/refusals.ts";
import { buildIndex } from "../index/index-build.ts";
import { hasIndex } from "../index/index-view.ts";
import { findClosest } from "../search/closest-query.ts";
import { searchSections } from "../search/search.ts";
import { parseSearchQuery } from "../search/search-query.ts";
import { indexBuild, indexExplain, indexExport, indexStatus, indexVerify } from "./indexes.ts";
import type { ContextPorts } from "./ports.ts";
import { SCREEN_OPERATIONS } from "./screens.ts";
import { sectionList, sectionShow } from "./sections.ts";
import { SYMBOL_OPERATIONS } from "./symbols.ts";

const limit = z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional();

const freshness = {
  refresh: z.boolean().default(false).describe("Update the index first."),
  build: z.boolean().default(false).describe("Build the index first if there is none."),
};

/** What the caller asked to be done about the index before it is read; nothing unless it was asked. */
async function freshen(
  ports: ContextPorts,
  { refresh, build }: { readonly refresh: boolean; readonly build: boolean },
) {
  const isWanted = refresh || (build && !(await hasIndex(ports.store)));
  if (isWanted) await buildIndex(ports, { full: false });
}

const expand = defineOperation({
  name: "context.expand",
  summary: "Prints exact slices of sections and symbols, charged against a budget and recorded.",
  effect: "append",
  who: REVIEWER,
  input: z.strictObject({
    refs: z
      .array(z.string())
      .min(1)
      .describe(
        "Paths (docs/a.md), sections of files (src/a.ts#Parser/parse), symbols (@NAMESPACE/NAME) or section ids or an " +
          "unambiguous start of one; each may have a slice of its own after a space.",
      ),
    slice: z
      .string()
      .optional()
      .describe(`${SLICE_FORMS}, for refs without one; default: a symbol's own, a path's first lines.`),
    run_id: uuid.optional().describe("Run that these expansions belong to (default: a new one)."),
    ...mapBudgetFields((name) => limit.describe(BUDGETS[name].says)),
    ...freshness,
  }),
  output: z.strictObject({
    run_id: uuid,
    expansions: z.array(
      z.strictObject({ expansion: expansionSchema, section: sectionSchema, content: z.string(), bytes: count }),
    ),
    budget: z.strictObject({ used: budgets, limits: budgets }),
  }),
  async run(ports: ContextPorts, input) {
    const { budgets: limits } = ports.config;
    const allowed = mapBudgets((name) => input[BUDGETS[name].field] ?? limits[name]);
    const { refs, slice, run_id } = input;
    const asked = { refs, slice, run_id, budgets: allowed };
    try {
      await freshen(ports, input);
      return await expandRefs(ports, asked);
    } catch (thrown) {
      return recordRefusal(ports, "context.expand", asked, thrown);
    }
  },
});

const search = defineOperation({
  name: "context.search",
  summary: "Finds sections by words; results are addresses to expand, with a glance at the line that matches.",
  effect: "append",
  who: REVIEWER,
  input: z.strictObject({
    query: z.string().describe('Words that must all occur; "..." is a phrase, word* a prefix.'),
    limit: z.int().min(1).max(100).default(20).describe("Maximum number of results."),
    ...freshness,
  }),
  output: z.strictObject({
    query: z.string(),
    ignored: z.array(z.string()),
    total: count,
    closest: z
      .string()
      .nullable()
      .describe("Without results: as much of the query as has some; null if none of it has."),
    results: z.array(
      sectionSchema.omit({ content_hash: true }).extend({
        ref: z.string().describe("Address of the section: its path, path#Heading/Heading, or its id."),
        slice: z.string().describe("Lines around the match, to be expanded."),
        score: z.number(),
        preview: z
          .strictObject({ slice: z.string(), text: z.string() })
          .nullable()
          .describe("Not an expansion: at most 200 bytes, exactly those of its slice of the section; not recorded."),
      }),
    ),
  }),
  async run(ports: ContextPorts, input) {
    await freshen(ports, input);
    const found = await searchSections(ports, input.query, input.limit);
    const count = async (query: string) => (await searchSections(ports, query, 1)).total;
    const closest = found.total > 0 ? null : await findClosest(parseSearchQuery(input.query), count);
    return {
      ...found,
      closest,
      results: found.results.map((one) => ({ ...one, heading_path: [...one.heading_path] })),
    };
  },
});

/** All operations of the context room. */
export const CONTEXT_OPERATIONS = [
  indexBuild,
  indexVerify,
  indexStatus,
  indexExplain,
  indexExport,
  sectionList,
  sectionShow,
  ...SYMBOL_OPERATIONS,
  expand,
  search,
  ...SCREEN_OPERATIONS,
] as const;
