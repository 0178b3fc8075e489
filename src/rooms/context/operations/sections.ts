import { z } from "zod";
import { compareCodePoints } from "../../../core/canonical/index.ts";
import { count, symbolId } from "../../../core/contracts/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, READER } from "../../../core/operation.ts";
import { isUnder } from "../../../core/paths/index.ts";
import { type Section, sectionSchema } from "../contracts/index.ts";
import type { IndexView } from "../index/index-view.ts";
import type { ContextReader, SymbolRow } from "../ports.ts";
import { parseAskedPath } from "../sources/asked-path.ts";
import { completeId, isShortId } from "../symbols/short-id.ts";
import { listSymbols, parseTarget } from "../symbols/symbol.ts";
import type { ContextPorts } from "./ports.ts";

const listedSection = sectionSchema.extend({ lines: count, bytes: count });

export const sectionList = defineOperation({
  name: "context.section-list",
  summary: "Lists the sections of all files, or of one, with their sizes.",
  effect: "read",
  who: READER,
  input: z.strictObject({
    path: z.string().optional().describe("Only this file, or the files below this folder."),
    heading: z.string().optional().describe("Only sections with this text in their heading."),
    from: z.string().optional().describe("Start at this file, or at the first one after it in the index."),
    skip: count.default(0).describe("Skip this many sections first."),
    limit: z.int().min(1).max(10_000).optional().describe("Maximum number of sections."),
  }),
  output: z.array(listedSection),
  run: async (ports: ContextPorts, { path, heading, from, skip, limit = Number.MAX_SAFE_INTEGER }) =>
    ports.store.read(async ({ context }) => {
      const view = await ports.views.open(context);
      const listed: z.output<typeof listedSection>[] = [];
      let left = skip;
      for (const file of choosePaths(ports, view, path)) {
        if (from !== undefined && compareCodePoints(file, from) < 0) continue;
        const { sections, sizes } = (await view.load(context, file))!;
        for (const [i, section] of sections.entries()) {
          if (heading !== undefined && section.heading_path.at(-1)?.includes(heading) !== true) continue;
          if (left-- > 0) continue;
          listed.push({ ...section, lines: section.line_end - section.line_start, bytes: sizes[i]! });
          if (listed.length === limit) return listed;
        }
      }
      return listed;
    }),
});

/** The file of that path, or all files below that folder. */
function choosePaths(ports: ContextPorts, view: IndexView, path: string | undefined): readonly string[] {
  if (path === undefined) return view.image.paths;
  // Shells complete the name of a folder with a slash.
  const asked = path.endsWith("/") && path !== "/" ? path.slice(0, -1) : path;
  // What is indexed may be asked for even where it looks like a drive: `a:1.md` is a lawful name of a source.
  const chosen = view.image.paths.filter((one) => isUnder(one, asked));
  if (chosen.length > 0) return chosen;
  const wanted = parseAskedPath(ports.tree, asked);
  throw new VerbatimError("FILE_NOT_INDEXED", {
    message: `no indexed file is ${wanted} or below it`,
    where: wanted,
    fix: `Find out why: verbatim index explain ${wanted}`,
    details: { file_path: wanted },
  });
}

export const sectionShow = defineOperation({
  name: "context.section-show",
  summary: "Shows where a section is, without its text.",
  effect: "read",
  who: READER,
  input: z.strictObject({
    section_id: z.string().describe("Id of the section: 64 hex digits, or an unambiguous prefix."),
  }),
  output: sectionSchema.extend({ symbols: z.array(symbolId) }),
  run: async (ports: ContextPorts, { section_id }) =>
    ports.store.read(async ({ context }) => {
      const view = await ports.views.open(context);
      const id = isShortId(section_id) ? await completeId(context, view, section_id) : section_id;
      const section = await view.findSection(context, id);
      if (section === undefined) {
        throw new VerbatimError("SECTION_NOT_FOUND", {
          message: `there is no section with the id ${JSON.stringify(section_id.slice(0, 80))}`,
          fix: "See the full ids: verbatim section list --full",
          details: { section_id },
        });
      }
      const symbols: string[] = [];
      for (const row of await listSymbols(context)) {
        if (await isMeant(context, view, row, section)) symbols.push(row.symbol.symbol_id);
      }
      return { ...section, symbols };
    }),
});

/** Whether a symbol means this section now. Only symbols about its file are looked into. */
async function isMeant(
  context: ContextReader,
  view: IndexView,
  { symbol }: SymbolRow,
  { section_id, file_path }: Section,
): Promise<boolean> {
  const target = parseTarget(symbol);
  if (target.type === "SECTION") return target.section_id === section_id;
  if (target.file_path !== file_path) return false;
  try {
    return (await view.resolve(context, target, symbol.symbol_id)).section_id === section_id;
  } catch (thrown) {
    // A heading that is gone or ambiguous means nothing, this section included.
    if (isVerbatimError(thrown) && thrown.exit === 1 && thrown.code.startsWith("HEADING_")) return false;
    throw thrown;
  }
}
