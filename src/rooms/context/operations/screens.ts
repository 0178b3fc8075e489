import { z } from "zod";
import { budgets, count, hashHex, slice as sliceText } from "../../../core/contracts/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, READER, type Surface } from "../../../core/operation.ts";
import { BUDGETS, BudgetMeter, mapBudgetFields, mapBudgets } from "../../../core/text/index.ts";
import { sectionSchema } from "../contracts/index.ts";
import { lookAt } from "../expansion/expansion.ts";
import { sizeOf } from "../index/index-image.ts";
import type { ContextPorts } from "./ports.ts";

const MOST_ITEMS = 200;
const MOST_PREVIEWED = 64 * 1024;
/** A person looks. Nobody is quoted anything, so an agent has no way here: it would read without a receipt. */
const FOR_PEOPLE: readonly Surface[] = ["cli", "library", "http"];

const ref = z
  .string()
  .min(1)
  .max(5000)
  .describe("A path, a section of a file, a symbol (@NAMESPACE/NAME) or a section id.");
const slice = z.string().max(500).optional().describe("Slice of it (default: a symbol's own, a path's first lines).");

const contextTree = defineOperation({
  name: "context.tree",
  summary: "Lists what is directly in a folder of the index, with its files, sections and bytes.",
  effect: "read",
  who: READER,
  input: z.strictObject({
    prefix: z
      .string()
      .max(4096)
      .default("")
      .describe("Path of the folder, without a slash at its end; empty: the top."),
    after: z.string().max(4096).optional().describe("Only what comes after this name."),
    limit: z.int().min(1).max(2000).default(200).describe("Maximum number of names."),
  }),
  output: z.strictObject({
    items: z.array(
      z.strictObject({
        name: z.string(),
        path: z.string(),
        kind: z.enum(["folder", "file"]),
        files: count,
        sections: count,
        bytes: count.describe("Bytes of its files as the index saw them."),
      }),
    ),
    next: z.string().nullable().describe("Where the next page goes on; null: this is the last one."),
    total: z.strictObject({ files: count, sections: count, bytes: count }),
  }),
  run: ({ store, views }: ContextPorts, { prefix, after, limit }) =>
    store.read(async ({ context }) => {
      const view = await views.open(context);
      const starts = await view.sectionStarts(context);
      const below = prefix === "" ? "" : `${prefix}/`;
      const found = new Map<string, { isFolder: boolean; files: number; sections: number; bytes: number }>();
      const total = { files: 0, sections: 0, bytes: 0 };
      for (const [n, path] of view.image.paths.entries()) {
        if (!path.startsWith(below)) continue;
        const rest = path.slice(below.length);
        const cut = rest.indexOf("/");
        const name = cut === -1 ? rest : rest.slice(0, cut);
        const one = found.get(name) ?? { isFolder: cut !== -1, files: 0, sections: 0, bytes: 0 };
        for (const sum of [one, total]) {
          sum.files += 1;
          sum.sections += starts[n + 1]! - starts[n]!;
          sum.bytes += sizeOf(view.image, n);
        }
        found.set(name, one);
      }
      // The index is in the order of paths, and so are the names that are met first.
      const names = [...found.keys()];
      const from = after === undefined ? 0 : names.indexOf(after) + 1;
      const page = names.slice(from, from + limit);
      const items = page.map((name) => {
        const { isFolder, ...sums } = found.get(name)!;
        return { name, path: `${below}${name}`, kind: isFolder ? ("folder" as const) : ("file" as const), ...sums };
      });
      return { items, next: from + limit < names.length ? page.at(-1)! : null, total };
    }),
});

const contextPreview = defineOperation({
  name: "context.preview",
  summary: "Shows the exact bytes of a slice to a person. Nothing is quoted, charged or recorded.",
  effect: "read",
  who: READER,
  surfaces: FOR_PEOPLE,
  input: z.strictObject({ section: ref, slice }),
  output: z.strictObject({
    section: sectionSchema,
    slice: sliceText,
    text: z.string(),
    bytes: count,
    sha256: hashHex,
    preview: z.literal(true),
  }),
  async run(ports: ContextPorts, input) {
    const cut = await lookAt(ports, input.section, input.slice);
    if (cut.bytes.length > MOST_PREVIEWED) {
      throw new VerbatimError("BUDGET_BYTES", {
        message: `the slice has ${cut.bytes.length} bytes, and a preview has at most ${MOST_PREVIEWED}`,
        where: cut.ref,
        fix: "Choose a smaller slice.",
        details: { bytes: cut.bytes.length, limit: MOST_PREVIEWED },
      });
    }
    const { section, content: text, content_hash: sha256 } = cut;
    return { section, slice: cut.slice, text, bytes: cut.bytes.length, sha256, preview: true as const };
  },
});

const contextBudget = defineOperation({
  name: "context.budget",
  summary: "Counts what a list of slices would use of each budget. No text is given and nothing is recorded.",
  effect: "read",
  who: READER,
  surfaces: FOR_PEOPLE,
  input: z.strictObject({
    items: z.array(z.strictObject({ ref, slice })).max(MOST_ITEMS).describe("What would be expanded, in this order."),
    ...mapBudgetFields((name) => z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional().describe(BUDGETS[name].says)),
  }),
  output: z.strictObject({
    used: budgets.describe("Of every budget, also beyond its limit."),
    limits: budgets,
    items: z.array(
      z.strictObject({
        ref: z.string(),
        slice: z.string().nullable(),
        section_id: hashHex.nullable(),
        bytes: count,
        problem: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
      }),
    ),
    breach: z.string().nullable().describe("Code of the first budget that is broken."),
  }),
  async run(ports: ContextPorts, input) {
    const { budgets: own } = ports.config;
    const limits = mapBudgets((name) => input[BUDGETS[name].field] ?? own[name]);
    const looked = [];
    for (const item of input.items) looked.push(await price(ports, item));
    const refs = looked.map(({ symbol, ref: name }) => symbol ?? name);
    const meter = new BudgetMeter(refs, limits);
    let breach: string | null = null;
    for (const { section_id, bytes } of looked) {
      const broken = section_id === null ? null : meter.charge({ section_id, bytes });
      breach ??= broken?.code ?? null;
    }
    const { totals } = meter;
    const items = looked.map(({ symbol: _, ...item }) => item);
    return { used: mapBudgets((name) => Number(totals[name])), limits, items, breach };
  },
});

/** What one item costs. One that cannot be cut says why and costs nothing: the others are still counted. */
async function price(ports: ContextPorts, item: { readonly ref: string; readonly slice?: string | undefined }) {
  try {
    const cut = await lookAt(ports, item.ref, item.slice);
    return {
      ref: item.ref,
      symbol: cut.ref.startsWith("@") ? cut.ref : null,
      slice: cut.slice,
      section_id: cut.section.section_id,
      bytes: cut.bytes.length,
      problem: null,
    };
  } catch (thrown) {
    if (!isVerbatimError(thrown) || thrown.code === "INDEX_MISSING") throw thrown;
    const problem = { code: thrown.code, message: thrown.message };
    return { ref: item.ref, symbol: null, slice: item.slice ?? null, section_id: null, bytes: 0, problem };
  }
}

/** What the screens of a person ask of the index. */
export const SCREEN_OPERATIONS = [contextTree, contextPreview, contextBudget] as const;
