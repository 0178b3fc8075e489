import { z } from "zod";
import { utf8Length } from "../../core/canonical/index.ts";
import { budgets, symbolId, uuid } from "../../core/contracts/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { defineOperation } from "../../core/operation.ts";
import { cutLines } from "../../core/text/index.ts";
import { expansionSchema, sectionSchema } from "./contracts.ts";
import { expandRefs } from "./expansion.ts";
import { buildIndex } from "./index-build.ts";
import { indexBuild, indexExplain, indexExport, indexStatus, indexVerify } from "./index-operations.ts";
import type { IndexView } from "./index-view.ts";
import type { ContextPorts } from "./operation-ports.ts";
import { listSymbols } from "./registry.ts";
import { searchSections } from "./search.ts";
import { SYMBOL_OPERATIONS } from "./symbol-operations.ts";

const count = z.int().min(0);
const limit = z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional();

export const expand = defineOperation({
  name: "context.expand",
  summary: "Reads out exact slices of sections and symbols, charged against a budget and recorded.",
  effect: "append",
  input: z.strictObject({
    refs: z.array(z.string()).min(1).describe("Symbol ids (@NAMESPACE/NAME) or section ids."),
    slice: z.string().optional().describe("lines[a:b], chars[a:b], head(n) or tail(n); a symbol has its own."),
    run_id: uuid.optional().describe("Run these expansions belong to; a new one otherwise."),
    max_symbols: limit.describe("Most distinct symbols."),
    max_sections: limit.describe("Most distinct sections."),
    max_bytes: limit.describe("Most bytes read out altogether."),
    max_expands: limit.describe("Most expansions."),
    refresh: z.boolean().default(false).describe("Bring the index up to date first."),
  }),
  output: z.strictObject({
    run_id: uuid,
    expansions: z.array(
      z.strictObject({ expansion: expansionSchema, section: sectionSchema, content: z.string(), bytes: count }),
    ),
    budget: z.strictObject({ used: budgets, limits: budgets }),
  }),
  async run(ports: ContextPorts, input) {
    if (input.refresh) await buildIndex(ports, { full: false });
    const { budgets: limits } = ports.config;
    const allowed = {
      max_symbols: input.max_symbols ?? limits.max_symbols,
      max_sections: input.max_sections ?? limits.max_sections,
      max_bytes_expanded: input.max_bytes ?? limits.max_bytes_expanded,
      max_expands_per_step: input.max_expands ?? limits.max_expands_per_step,
    };
    const { refs, slice, run_id } = input;
    const done = await expandRefs(ports, { refs, slice, run_id, budgets: allowed });
    const used = done.budget as typeof allowed;
    return { run_id: done.run_id, expansions: done.expansions, budget: { used, limits: allowed } };
  },
});

const listedSection = sectionSchema.extend({ lines: count, bytes: count });

export const sectionList = defineOperation({
  name: "context.section-list",
  summary: "Lists sections with their sizes, of all files or of one.",
  effect: "read",
  input: z.strictObject({
    path: z.string().optional().describe("Only this file, or the files below this folder."),
    heading: z.string().optional().describe("Only sections with this text in their heading."),
  }),
  output: z.strictObject({ sections: z.array(listedSection) }),
  run: async (ports: ContextPorts, { path, heading }) =>
    ports.store.read(async ({ context }) => {
      const view = await ports.views.open(context);
      const sections: z.output<typeof listedSection>[] = [];
      for (const file of choosePaths(view, path)) {
        for (const section of (await view.load(context, file))!) {
          if (heading !== undefined && section.heading_path.at(-1)?.includes(heading) !== true) continue;
          const lines = ports.contents.open(view, section);
          const text = cutLines(lines, section.line_start, section.line_end);
          sections.push({ ...section, lines: section.line_end - section.line_start, bytes: utf8Length(text) });
        }
      }
      return { sections };
    }),
});

function choosePaths(view: IndexView, path: string | undefined): readonly string[] {
  if (path === undefined) return view.image.paths;
  const wanted = path.replace(/\/+$/, "");
  const chosen = view.image.paths.filter((one) => one === wanted || one.startsWith(`${wanted}/`));
  if (chosen.length > 0) return chosen;
  throw new VerbatimError("FILE_NOT_INDEXED", {
    message: `no indexed file is ${wanted} or lies below it`,
    where: wanted,
    fix: `verbatim index explain ${wanted}`,
  });
}

export const sectionShow = defineOperation({
  name: "context.section-show",
  summary: "Shows where a section is, without its text.",
  effect: "read",
  input: z.strictObject({ section_id: z.string().describe("Id of the section.") }),
  output: sectionSchema.extend({ symbols: z.array(symbolId) }),
  run: async (ports: ContextPorts, { section_id }) =>
    ports.store.read(async ({ context }) => {
      const view = await ports.views.open(context);
      await view.prepare(context, { type: "SECTION", section_id });
      const section = view.findSection(section_id);
      if (section === undefined) {
        throw new VerbatimError("SECTION_NOT_FOUND", { details: { section_id }, fix: "verbatim section list" });
      }
      const symbols = (await listSymbols(context))
        .filter(({ symbol }) => symbol.target_type === "SECTION" && symbol.target_ref === section_id)
        .map(({ symbol }) => symbol.symbol_id);
      return { ...section, symbols };
    }),
});

export const search = defineOperation({
  name: "context.search",
  summary: "Finds sections by words; results are addresses to expand, never text.",
  effect: "append",
  input: z.strictObject({
    query: z.string().describe('Words that must all be there; "..." is a phrase, word* a beginning.'),
    limit: z.int().min(1).max(100).default(20).describe("How many results at most."),
  }),
  output: z.strictObject({
    query: z.string(),
    ignored: z.array(z.string()),
    total: count,
    results: z.array(sectionSchema.omit({ content_hash: true }).extend({ slice: z.string(), score: z.number() })),
  }),
  async run(ports: ContextPorts, input) {
    const found = await searchSections(ports, input.query, input.limit);
    return { ...found, results: found.results.map((one) => ({ ...one, heading_path: [...one.heading_path] })) };
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
] as const;
