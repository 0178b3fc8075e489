import { VerbatimError } from "../../../core/errors/index.ts";
import type { Section } from "../contracts/index.ts";
import type { LastTarget } from "../ports.ts";
import { type Defined, type RegistryPorts, replaceSymbol } from "./registry.ts";
import { requireSymbol } from "./symbol.ts";

const MOST_SHOWN = 10;

/**
 * Pins the section that now stands where the symbol last pointed, or the given one. Alone only when exactly one section
 * of the remembered file has the remembered heading path; else the candidates are listed and nothing changes.
 */
export async function repinSymbol(ports: RegistryPorts, id: string, to: string | undefined): Promise<Defined> {
  const { symbol, sections, last } = await ports.store.read(async ({ context }) => {
    const row = await requireSymbol(context, id);
    if (row.symbol.target_type !== "SECTION") {
      throw new VerbatimError("SYMBOL_INVALID", {
        message: `${id} does not pin a section: its target is a ${row.symbol.target_type}`,
        fix: {
          cli: `See its target: verbatim symbol show ${id}`,
          others: "Choose a symbol whose target is a section.",
        },
      });
    }
    if (to !== undefined || row.last === null) return { symbol: row.symbol, sections: null, last: row.last };
    const view = await ports.views.open(context);
    const file = await view.load(context, row.last.file_path);
    return { symbol: row.symbol, sections: file?.sections ?? null, last: row.last };
  });
  const target_ref = to ?? chooseSection(id, last, sections);
  return replaceSymbol(ports, { ...symbol, target_ref });
}

function chooseSection(id: string, last: LastTarget | null, sections: readonly Section[] | null): string {
  if (last === null || sections === null) {
    throw new VerbatimError("FILE_NOT_INDEXED", {
      message: `${id} last pointed to ${last?.file_path ?? "an unknown file"}, which is not in the index`,
      fix: {
        cli: `Choose another section: verbatim symbol repin ${id} --to SECTION_ID`,
        others: "Choose another section for the symbol.",
      },
    });
  }
  const same = sections.filter(({ heading_path }) => isSamePath(heading_path, last.heading_path));
  const [only] = same;
  if (only !== undefined && same.length === 1) return only.section_id;
  const candidates = only === undefined ? sections : same;
  const where = `${last.file_path} (${last.heading_path.join("/") || "the whole file"})`;
  throw new VerbatimError(only === undefined ? "HEADING_NOT_FOUND" : "HEADING_AMBIGUOUS", {
    message: `${id} last pointed to ${where}, where there are now ${same.length} sections; candidates: ${show(candidates)}`,
    where: last.file_path,
    fix: { cli: `Choose one: verbatim symbol repin ${id} --to SECTION_ID`, others: "Choose one of the candidates." },
    details: { file_path: last.file_path, candidates: candidates.map(({ section_id }) => section_id) },
  });
}

function show(candidates: readonly Section[]): string {
  const shown = candidates
    .slice(0, MOST_SHOWN)
    .map((one) => `${one.section_id} (${one.heading_path.join("/")}, lines ${one.line_start}..${one.line_end})`);
  const rest = candidates.length - shown.length;
  return shown.join(", ") + (rest > 0 ? `, and ${rest} more` : "");
}

function isSamePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i]);
}
