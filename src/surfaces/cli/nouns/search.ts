import { showLine } from "../plain-text.ts";
import { formatTable, shortId } from "../table.ts";
import { defineVerb, type Noun } from "../verb.ts";

export const noun: Noun = {
  verbs: [
    defineVerb("context.search", {
      path: [],
      args: [{ field: "query", label: "QUERY" }],
      examples: ["verbatim search 'restore proof'", "verbatim search '\"byte identical\" catal*' --limit 5"],
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
              io.line(io.paint.dim(`  | ${showLine(text)}`));
          }
        io.line(`${results.length} of ${total} ${total === 1 ? "section" : "sections"}`);
        const first = results[0];
        if (total === 0)
          io.line(`next: try fewer words; ${io.paint.bold("verbatim section list")} shows what is indexed`);
        if (first !== undefined)
          io.line(`next: ${io.paint.bold(`verbatim expand ${first.section_id} --slice '${first.slice}'`)}`);
      },
    }),
  ],
};
