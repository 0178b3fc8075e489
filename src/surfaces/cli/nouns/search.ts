import { showLine } from "../../../core/text/index.ts";
import { formatTable, shortId } from "../table.ts";
import { defineVerb, type Noun } from "../verb.ts";

// A preview is only looked at; the line itself keeps its tabs.
const TAB = "    ";

/** The address as it can stand in quotes of a shell. */
function toTyped({ ref, section_id }: { readonly ref: string; readonly section_id: string }): string {
  return showLine(ref) === ref && !ref.includes("'") ? ref : section_id;
}

export const noun: Noun = {
  verbs: [
    defineVerb("context.search", {
      path: [],
      args: [{ field: "query", label: "QUERY" }],
      flags: { build: { hidden: true } },
      examples: ["verbatim search 'restore proof'", "verbatim search '\"byte identical\" catal*' --limit 5"],
      prepare: async (input) => ({ build: true, ...input }),
      render({ ignored, total, results }, io) {
        for (const word of ignored) io.line(`${io.paint.warn("ignored")} ${showLine(word)}`);
        const rows = results.map((one) => [
          one.file_path,
          one.heading_path.join(" / "),
          one.slice,
          shortId(one.section_id, io.flags.full),
        ]);
        const columns = [
          { title: "file", shrink: true },
          { title: "heading", shrink: true },
          { title: "slice" },
          { title: "section" },
        ];
        if (rows.length > 0)
          for (const [i, line] of formatTable(
            columns,
            rows,
            io.flags.full ? Number.POSITIVE_INFINITY : io.width,
          ).entries()) {
            io.line(line);
            for (const text of results[i - 1]?.preview?.text.split("\n") ?? [])
              io.line(io.paint.dim(`  | ${showLine(text.replaceAll("\t", TAB))}`));
          }
        io.line(`${results.length} of ${total} ${total === 1 ? "section" : "sections"}`);
        const first = results[0];
        if (total === 0)
          io.line(
            `next: try fewer words; ${io.paint.bold("verbatim index status")} says what is searched and left out`,
          );
        if (first !== undefined)
          io.line(`next: ${io.paint.bold(`verbatim expand '${toTyped(first)}' --slice '${first.slice}'`)}`);
      },
    }),
  ],
};
