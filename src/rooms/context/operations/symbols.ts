import { z } from "zod";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, LOCAL_SURFACES, READER, REVIEWER } from "../../../core/operation.ts";
import { SLICE_FORM_LIST } from "../../../core/text/index.ts";
import { sectionSchema, symbolSchema } from "../contracts/index.ts";
import { recordRefusal } from "../expansion/refusals.ts";
import {
  addSymbol,
  addSymbols,
  type Defined,
  findSymbolProblems,
  removeSymbol,
  replaceSymbol,
} from "../symbols/registry.ts";
import { repinSymbol } from "../symbols/repin.ts";
import { completeId, isShortId } from "../symbols/short-id.ts";
import { listSymbols, parseTarget, requireSymbol, resolvePin } from "../symbols/symbol.ts";
import { formatSymbolLine, parseSymbolLines } from "../symbols/symbol-lines.ts";
import type { ContextPorts } from "./ports.ts";

const MAX_FILE = 64 * 1024 * 1024;
const id = z.string().describe("Id of the symbol: @NAMESPACE/NAME.");

const definition = z.strictObject({
  symbol_id: id,
  file: z.string().optional().describe("Point to a whole file, by its path."),
  heading: z.string().optional().describe("Point to a heading: path#Part/Part."),
  section: z.string().optional().describe("Pin one section, by its id or an unambiguous prefix of it."),
  slice: z.string().describe(`What is read when no slice is given: ${SLICE_FORM_LIST}.`),
});

/** The Symbol; `existing` when it was already there, exactly so. */
const defined = symbolSchema.extend({ existing: z.literal(true).optional() });

async function toOutput(done: Promise<Defined>): Promise<z.input<typeof defined>> {
  const { symbol, existing } = await done;
  return existing ? { ...symbol, existing } : symbol;
}

function toSymbol({ symbol_id, file, heading, section, slice }: z.output<typeof definition>): unknown {
  const targets = [
    ["FILE", file],
    ["HEADING", heading],
    ["SECTION", section],
  ].filter(([, ref]) => ref !== undefined);
  const [only] = targets;
  if (only === undefined || targets.length > 1) {
    throw new VerbatimError("USAGE", {
      message: {
        cli: "give exactly one of --file, --heading, --section",
        others: "give exactly one of file, heading, section",
      },
    });
  }
  return { symbol_id, target_type: only[0], target_ref: only[1], default_slice_policy: slice };
}

/** The same with a section id in full, because a pin must say by itself what it means. */
async function completeSection(ports: ContextPorts, input: z.output<typeof definition>): Promise<unknown> {
  const { section } = input;
  if (section === undefined || !isShortId(section)) return toSymbol(input);
  const full = await ports.store.read(async ({ context }) =>
    completeId(context, await ports.views.open(context), section),
  );
  return toSymbol({ ...input, section: full });
}

const symbolAdd = defineOperation({
  name: "context.symbol-add",
  summary: "Gives a name to a section, a file or a heading.",
  effect: "append",
  who: REVIEWER,
  input: definition,
  output: defined,
  run: (ports: ContextPorts, input) =>
    completeSection(ports, input)
      .then((symbol) => toOutput(addSymbol(ports, symbol)))
      .catch((thrown) => recordRefusal(ports, "context.symbol-add", input, thrown)),
});

const symbolReplace = defineOperation({
  name: "context.symbol-replace",
  summary: "Changes what a symbol points to; the old target stays in the ledger.",
  effect: "append",
  who: REVIEWER,
  input: definition,
  output: defined,
  run: (ports: ContextPorts, input) =>
    completeSection(ports, input)
      .then((symbol) => toOutput(replaceSymbol(ports, symbol)))
      .catch((thrown) => recordRefusal(ports, "context.symbol-replace", input, thrown)),
});

const symbolRemove = defineOperation({
  name: "context.symbol-remove",
  summary: "Removes a symbol.",
  effect: "append",
  who: REVIEWER,
  input: z.strictObject({ symbol_id: id }),
  output: symbolSchema,
  run: (ports: ContextPorts, input) =>
    removeSymbol(ports, input.symbol_id).catch((thrown) =>
      recordRefusal(ports, "context.symbol-remove", input, thrown),
    ),
});

const symbolShow = defineOperation({
  name: "context.symbol-show",
  summary: "Shows a symbol and the section it currently resolves to, or why it does not resolve.",
  effect: "read",
  who: READER,
  input: z.strictObject({ symbol_id: id }),
  output: symbolSchema.extend({
    section: sectionSchema.nullable(),
    problem: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
  }),
  run: async (ports: ContextPorts, { symbol_id }) =>
    ports.store.read(async ({ context }) => {
      const row = await requireSymbol(context, symbol_id);
      try {
        const view = await ports.views.open(context);
        const section = await resolvePin(context, view, parseTarget(row.symbol), row);
        return { ...row.symbol, section, problem: null };
      } catch (thrown) {
        if (!isVerbatimError(thrown) || thrown.exit !== 1 || thrown.code === "STORE_CORRUPT") throw thrown;
        return { ...row.symbol, section: null, problem: { code: thrown.code, message: thrown.message } };
      }
    }),
});

const symbolList = defineOperation({
  name: "context.symbol-list",
  summary: "Lists all symbols.",
  effect: "read",
  who: READER,
  input: z.strictObject({}),
  output: z.array(symbolSchema),
  run: async ({ store }: ContextPorts) =>
    store.read(async ({ context }) => (await listSymbols(context)).map(({ symbol }) => symbol)),
});

const symbolCheck = defineOperation({
  name: "context.symbol-check",
  summary: "Lists every symbol that would fail if it were used now.",
  effect: "read",
  who: READER,
  input: z.strictObject({}),
  output: z.strictObject({
    ok: z.boolean(),
    problems: z.array(z.strictObject({ symbol_id: z.string(), code: z.string(), message: z.string() })),
  }),
  async run(ports: ContextPorts) {
    const problems = await findSymbolProblems(ports);
    return { ok: problems.length === 0, problems };
  },
});

const symbolRepin = defineOperation({
  name: "context.symbol-repin",
  summary: "Pins the section that is now where a symbol last pointed.",
  effect: "append",
  who: REVIEWER,
  input: z.strictObject({ symbol_id: id, to: z.string().optional().describe("Section to pin instead.") }),
  output: defined,
  run: (ports: ContextPorts, input) =>
    toOutput(repinSymbol(ports, input.symbol_id, input.to)).catch((thrown) =>
      recordRefusal(ports, "context.symbol-repin", input, thrown),
    ),
});

const symbolExport = defineOperation({
  name: "context.symbol-export",
  summary: "Writes all symbols as canonical JSON Lines.",
  effect: "read",
  who: READER,
  input: z.strictObject({}),
  output: z.strictObject({ symbols: z.int() }),
  run: async ({ store }: ContextPorts) =>
    store.read(async ({ context }) => ({ symbols: (await listSymbols(context)).length })),
  async *lines({ store }: ContextPorts) {
    for (const { symbol } of await store.read(({ context }) => listSymbols(context))) yield formatSymbolLine(symbol);
  },
});

const symbolImport = defineOperation({
  name: "context.symbol-import",
  summary: "Adds the symbols from a JSON Lines file: all of them or none.",
  effect: "append",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({ file: z.string().describe("File with symbols; - reads standard input.") }),
  output: z.strictObject({ added: z.int(), existing: z.int() }),
  run: (ports: ContextPorts, input) =>
    ports.files
      .read(input.file, MAX_FILE)
      .then((bytes) => addSymbols(ports, parseSymbolLines(bytes, input.file)))
      .catch((thrown) => recordRefusal(ports, "context.symbol-import", input, thrown)),
});

/** The operations on symbols. */
export const SYMBOL_OPERATIONS = [
  symbolAdd,
  symbolReplace,
  symbolRemove,
  symbolShow,
  symbolList,
  symbolCheck,
  symbolRepin,
  symbolExport,
  symbolImport,
] as const;
