import type { Output } from "../../../app/operations.ts";
import { showWritten } from "../../../core/text/index.ts";
import type { Io } from "../io.ts";
import { defineVerb, type Verb } from "../verb.ts";

const HIDDEN_KEY = { key: { hidden: true } } as const;

function renderImport(
  { number, format, entries, source_sha256, people, not_imported, lost }: Output<"world.import-show">,
  io: Io,
): void {
  const names = people.map(({ person_id }) => person_id).join(", ");
  io.line(`${number}  ${format}  ${entries} entries${names === "" ? "" : `  ${names}`}`);
  io.line(io.paint.dim(`   sha256 ${source_sha256}`));
  for (const where of not_imported) io.line(`   left out ${showWritten(where)}`);
  for (const { what, count, where } of lost) io.line(`   lost ${what} x${count}, first at ${showWritten(where)}`);
}

/** Files that were imported, what of them is nowhere else, and pictures. */
export const IMPORT_VERBS: readonly Verb[] = [
  defineVerb("world.import-profile", {
    path: ["import-profile"],
    args: [{ field: "path", label: "PATH" }],
    flags: { base64: { hidden: true }, report: { value: "FILE" } },
    examples: [
      "verbatim world import-profile ~/SillyTavern/data/default-user --preview",
      "verbatim world import-profile default-user.zip --report profile.json",
    ],
    render({ files, totals }, io, { preview }) {
      for (const { path, outcome, code, where, lost } of files) {
        if (outcome === "FAILED")
          io.line(`${io.paint.bad(outcome)} ${showWritten(path)}: ${code} ${showWritten(where ?? "")}`.trimEnd());
        for (const { what, count } of lost) io.line(`lost ${what} x${count} ${showWritten(path)}`);
      }
      const { carried, kept, left, failed, worlds, lines, entries, hidden, blank, header } = totals;
      io.line(`${totals.files} files: ${carried} carried, ${kept} kept, ${left} left, ${failed} failed`);
      io.line(`${lines} lines of chats: ${entries} written, ${hidden} hidden, ${blank} blank, ${header} headers`);
      io.line(preview === true ? `${worlds} worlds would be made; nothing was written` : `${worlds} worlds`);
    },
    exit: ({ totals }) => (totals.failed === 0 ? 0 : 1),
  }),
  defineVerb("world.imports", {
    path: ["imports", "list"],
    isDefault: true,
    examples: ["verbatim world imports"],
    render({ imports }, io) {
      for (const one of imports) renderImport(one, io);
      if (imports.length === 0) io.note("nothing was imported");
    },
  }),
  defineVerb("world.import-show", {
    path: ["imports", "show"],
    args: [{ field: "number", label: "N" }],
    examples: ["verbatim world imports show 1"],
    render: renderImport,
  }),
  defineVerb("world.import-original", {
    path: ["imports", "original"],
    args: [{ field: "number", label: "N" }],
    flags: { out: { value: "FILE" } },
    examples: ["verbatim world imports original 1 --out mira.png"],
    render({ sha256, bytes, file }, io) {
      io.line(`${bytes} bytes${file === null ? "; use --out FILE or --json" : ` in ${file}`}`);
      io.line(`sha256 ${sha256}`);
    },
  }),
  defineVerb("world.swipes", {
    path: ["swipes"],
    args: [{ field: "entry_id", label: "ENTRY" }],
    examples: ["verbatim world swipes e_7k2wq4z5m3x6cjhq"],
    render({ swipes, chosen }, io) {
      for (const [i, text] of swipes.entries()) io.line(`${i === chosen ? "*" : " "} ${i}  ${showWritten(text)}`);
      if (swipes.length === 0) io.note("this line was written once");
    },
  }),
  defineVerb("world.avatar", {
    path: ["avatar", "show"],
    args: [{ field: "person_id", label: "ID" }],
    flags: { out: { value: "FILE" } },
    examples: ["verbatim world avatar show MIRA --out mira-alone.png"],
    render({ media_type, bytes, sha256, file }, io) {
      io.line(`${media_type}, ${bytes} bytes${file === null ? "; use --out FILE or --json" : ` in ${file}`}`);
      io.line(`sha256 ${sha256}`);
    },
  }),
  defineVerb("world.avatar-set", {
    path: ["avatar", "set"],
    args: [
      { field: "person_id", label: "ID" },
      { field: "file", label: "FILE" },
    ],
    flags: { ...HIDDEN_KEY, base64: { hidden: true } },
    examples: ["verbatim world avatar set ANA ana.jpg"],
    render({ person_id, media_type, sha256 }, io) {
      io.line(`${person_id}  ${media_type}  sha256 ${sha256}`);
    },
  }),
  defineVerb("world.avatar-remove", {
    path: ["avatar", "remove"],
    args: [{ field: "person_id", label: "ID" }],
    flags: HIDDEN_KEY,
    examples: ["verbatim world avatar remove ANA"],
    render({ person_id }, io) {
      io.line(`${person_id} has no picture`);
    },
  }),
];
