import { BUDGETS, mapBudgetFields, showLine } from "../../../core/text/index.ts";
import { defineVerb, type Noun } from "../verb.ts";

const TERMINAL_BUDGETS = mapBudgetFields((name): number => BUDGETS[name].terminal);

export const noun: Noun = {
  verbs: [
    defineVerb("context.expand", {
      path: [],
      args: [{ field: "refs", label: "REF", variadic: true }],
      flags: { slice: { value: "S" }, run_id: { value: "UUID" }, build: { hidden: true } },
      examples: ["verbatim expand @CANON/RULES", "verbatim expand SECTION_ID --slice 'lines[0:10]' > rules.txt"],
      prepare: async (input) => ({ build: true, ...TERMINAL_BUDGETS, ...input }),
      async render({ expansions }, io) {
        for (const { expansion, section, content, bytes } of expansions) {
          const place = `${showLine(section.file_path)}:${section.line_start}..${section.line_end}`;
          io.note(
            `${expansion.symbol_or_section_id} ${expansion.slice} ${place} ${bytes} bytes ${expansion.content_hash}`,
          );
          await io.out(content);
          // The bytes stay as they are; only a terminal needs a fresh line for what comes next.
          if (io.interactive && !content.endsWith("\n")) io.note("");
        }
      },
    }),
  ],
};
