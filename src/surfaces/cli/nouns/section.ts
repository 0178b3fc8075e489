import { showLine } from "../../../core/text/index.ts";
import { formatTable, shortId } from "../table.ts";
import { defineVerb, type Noun } from "../verb.ts";

/** A name below its parent, or the whole path where the line before does not show the parent: methods in Go. */
function showInTree(
  { file_path, heading_path }: { readonly file_path: string; readonly heading_path: readonly string[] },
  before: readonly string[],
): string {
  const outer = heading_path.slice(0, -1);
  if (outer.every((name, i) => name === before[i]))
    return `${"  ".repeat(heading_path.length)}${heading_path.at(-1) ?? file_path}`;
  return `  ${heading_path.join(" / ")}`;
}

export const noun: Noun = {
  verbs: [
    defineVerb("context.section-list", {
      path: ["list"],
      args: [{ field: "path", label: "PATH", optional: true }],
      flags: { heading: { value: "TEXT" } },
      examples: [
        "verbatim section list",
        "verbatim section list docs/guide.md",
        "verbatim section list --heading Limits",
      ],
      render(sections, io) {
        // Without the files themselves, which a filter leaves out, there is no tree to draw.
        const isTree = sections[0]?.heading_path.length === 0;
        const rows = sections.map((one, i) => [
          isTree || one.heading_path.length === 0
            ? showInTree(one, sections[i - 1]?.heading_path ?? [])
            : `${one.file_path} # ${one.heading_path.join(" / ")}`,
          `${one.line_start}..${one.line_end}`,
          String(one.bytes),
          shortId(one.section_id, io.flags.full),
        ]);
        const columns = [
          { title: "section", shrink: true },
          { title: "lines", align: "right" },
          { title: "bytes", align: "right" },
          { title: "id" },
        ] as const;
        if (rows.length > 0)
          for (const line of formatTable(columns, rows, io.flags.full ? Number.POSITIVE_INFINITY : io.width))
            io.line(line);
        // Two records may share an id (Catalytic Chat Contract, Section); counting sections counts ids.
        const count = new Set(sections.map(({ section_id }) => section_id)).size;
        io.line(`${count} ${count === 1 ? "section" : "sections"}`);
        const last = sections.at(-1);
        const lines = last === undefined ? 0 : last.line_end - last.line_start;
        if (last !== undefined && lines > 0) {
          const id = shortId(last.section_id, io.flags.full);
          io.line(`next: ${io.paint.bold(`verbatim expand ${id} --slice 'lines[0:${lines}]'`)}`);
        }
      },
    }),
    defineVerb("context.section-show", {
      path: ["show"],
      args: [{ field: "section_id", label: "ID" }],
      examples: ["verbatim section show SECTION_ID"],
      render(section, io) {
        io.line(`section  ${section.section_id}`);
        io.line(`file     ${showLine(section.file_path)}, lines ${section.line_start}..${section.line_end}`);
        io.line(
          `heading  ${section.heading_path.length === 0 ? "(the whole file)" : showLine(section.heading_path.join(" / "))}`,
        );
        io.line(`content  ${section.content_hash}`);
        for (const symbol of section.symbols) io.line(`symbol   ${symbol}`);
        const lines = section.line_end - section.line_start;
        if (lines > 0)
          io.line(`next: ${io.paint.bold(`verbatim expand ${section.section_id} --slice 'lines[0:${lines}]'`)}`);
      },
    }),
    defineVerb("context.tree", {
      path: ["tree"],
      args: [{ field: "prefix", label: "FOLDER", optional: true }],
      examples: ["verbatim section tree", "verbatim section tree docs"],
      render({ items, next, total }, io) {
        const columns = [
          { title: "name", shrink: true },
          { title: "files", align: "right" },
          { title: "sections", align: "right" },
          { title: "bytes", align: "right" },
        ] as const;
        const rows = items.map(({ name, kind, files, sections, bytes }) => [
          kind === "folder" ? `${showLine(name)}/` : showLine(name),
          String(files),
          String(sections),
          String(bytes),
        ]);
        if (rows.length > 0) for (const line of formatTable(columns, rows, io.width)) io.line(line);
        io.line(`${total.files} files, ${total.sections} sections, ${total.bytes} bytes`);
        if (next !== null) io.line(`next: ${io.paint.bold(`--after ${next}`)}`);
      },
    }),
    defineVerb("context.preview", {
      path: ["preview"],
      args: [{ field: "section", label: "REF" }],
      flags: { slice: { value: "SLICE" } },
      examples: ["verbatim section preview docs/guide.md --slice 'lines[0:10]'"],
      render({ text, bytes, sha256, slice }, io) {
        for (const line of text.split("\n")) io.line(showLine(line));
        io.note(`${slice}: ${bytes} bytes, sha256 ${sha256}; nothing was quoted or recorded`);
      },
    }),
  ],
};
