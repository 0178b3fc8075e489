import type { Output } from "../../../app/operations.ts";
import { showLine } from "../../../core/text/index.ts";
import type { Io } from "../io.ts";
import { formatTable, shortId } from "../table.ts";
import { defineVerb, type Noun } from "../verb.ts";

type SymbolRecord = Output<"context.symbol-list">[number];

const ID = [{ field: "symbol_id", label: "@ID" }] as const;
const TARGET_FLAGS = {
  file: { value: "PATH" },
  heading: { value: "REF" },
  section: { value: "ID" },
  slice: { value: "S" },
};

function describe({ symbol_id, target_type, target_ref, default_slice_policy }: SymbolRecord): string {
  return showLine(`${symbol_id} ${target_type} ${target_ref} ${default_slice_policy}`);
}

function renderDefined(symbol: Output<"context.symbol-add">, io: Io): void {
  io.line(`${symbol.existing === true ? "unchanged" : io.paint.good("defined")} ${describe(symbol)}`);
  io.line(`next: ${io.paint.bold(`verbatim expand ${symbol.symbol_id}`)}`);
}

export const noun: Noun = {
  verbs: [
    defineVerb("context.symbol-add", {
      path: ["add"],
      args: ID,
      flags: TARGET_FLAGS,
      examples: [
        "verbatim symbol add @CANON/RULES --file LAW/CANON/RULES.md --slice 'lines[0:20]'",
        "verbatim symbol add @CANON/LIMITS --heading 'LAW/CANON/RULES.md#Rules/Limits' --slice 'head(5)'",
      ],
      render: renderDefined,
    }),
    defineVerb("context.symbol-replace", {
      path: ["replace"],
      args: ID,
      flags: TARGET_FLAGS,
      examples: ["verbatim symbol replace @CANON/RULES --file LAW/CANON/RULES.md --slice 'head(10)'"],
      render: renderDefined,
    }),
    defineVerb("context.symbol-remove", {
      path: ["remove"],
      args: ID,
      examples: ["verbatim symbol remove @CANON/RULES"],
      render: (symbol, io) => io.line(`removed ${describe(symbol)}`),
    }),
    defineVerb("context.symbol-show", {
      path: ["show"],
      args: ID,
      examples: ["verbatim symbol show @CANON/RULES"],
      render(shown, io) {
        io.line(describe(shown));
        const { section, problem } = shown;
        if (section !== null) {
          io.line(`means    ${showLine(section.file_path)}, lines ${section.line_start}..${section.line_end}`);
          io.line(`section  ${section.section_id}`);
        }
        if (problem !== null) io.line(`${io.paint.bad(problem.code)} ${showLine(problem.message)}`);
      },
    }),
    defineVerb("context.symbol-list", {
      path: ["list"],
      examples: ["verbatim symbol list"],
      render(symbols, io) {
        const { full } = io.flags;
        const rows = symbols.map((one) => [
          one.symbol_id,
          one.target_type,
          one.target_type === "SECTION" ? shortId(one.target_ref, full) : one.target_ref,
          one.default_slice_policy,
        ]);
        const columns = [
          { title: "symbol", shrink: true },
          { title: "type" },
          { title: "target", shrink: true },
          { title: "slice" },
        ];
        if (rows.length === 0) io.line("no symbols yet: verbatim symbol add --help");
        else for (const line of formatTable(columns, rows, full ? Number.POSITIVE_INFINITY : io.width)) io.line(line);
      },
    }),
    defineVerb("context.symbol-check", {
      path: ["check"],
      examples: ["verbatim symbol check"],
      render({ ok, problems }, io) {
        for (const { symbol_id, code, message } of problems)
          io.line(`${symbol_id} ${io.paint.bad(code)} ${showLine(message)}`);
        if (ok) io.line(io.paint.good("every symbol resolves"));
      },
      exit: ({ ok }) => (ok ? 0 : 1),
    }),
    defineVerb("context.symbol-repin", {
      path: ["repin"],
      args: ID,
      flags: { to: { value: "ID" } },
      examples: ["verbatim symbol repin @CANON/RULES", "verbatim symbol repin @CANON/RULES --to SECTION_ID"],
      render: renderDefined,
    }),
    defineVerb("context.symbol-export", {
      path: ["export"],
      lines: "always",
      examples: ["verbatim symbol export > symbols.jsonl"],
      render: () => undefined,
    }),
    defineVerb("context.symbol-import", {
      path: ["import"],
      args: [{ field: "file", label: "FILE" }],
      examples: ["verbatim symbol import symbols.jsonl"],
      render: ({ added, existing }, io) =>
        io.line(
          `${io.paint.good("imported")} ${added} ${added === 1 ? "symbol" : "symbols"}, ${existing} already existed`,
        ),
    }),
  ],
};
