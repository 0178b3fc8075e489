import type { Output } from "../../../app/operations.ts";
import { showWritten } from "../../../core/text/index.ts";
import type { Io } from "../io.ts";
import { defineVerb, type Verb } from "../verb.ts";
import { printLines } from "./world-beats.ts";

const NOT_HERE = { role: { hidden: true }, person: { hidden: true } } as const;

function renderMade({ version, output }: Output<"world.version-make">, io: Io): void {
  if (output !== null) printLines(output.stream.entries, io);
  const { version_no, world_id, result, code, kept } = version;
  const why = code === null ? "" : ` (${code})`;
  io.note(`version ${version_no}${kept ? ", kept" : ""}: ${result ?? "not lived"}${why}; ${world_id}`);
}

/** Versions of beats: made, listed, kept, pruned; and edited lines, which are versions. */
export const VERSION_VERBS: readonly Verb[] = [
  defineVerb("world.versions", {
    path: ["versions", "list"],
    isDefault: true,
    flags: { ...NOT_HERE, of: { value: "REQUEST" } },
    examples: ["verbatim world versions", "verbatim world versions list --of cli-0123456789abcdef"],
    render({ versions }, io) {
      for (const { version_no, world_id, result, kept, goes_on, first } of versions) {
        const marks = [kept ? "kept" : "", goes_on ? "goes on" : ""].filter((mark) => mark !== "").join(", ");
        io.line(`${version_no}  ${world_id}  ${result ?? "not lived"}${marks === "" ? "" : `  ${marks}`}`);
        if (first !== null)
          io.line(
            `   ${first.author_label ?? ""}${first.author_label === null ? "" : ": "}${showWritten(first.excerpt)}`,
          );
      }
    },
  }),
  defineVerb("world.version-make", {
    path: ["versions", "make"],
    flags: { ...NOT_HERE, of: { value: "REQUEST" }, input_text: { name: "text" }, entries: { hidden: true } },
    examples: ["verbatim world versions make", 'verbatim world versions make --text "I stay silent."'],
    render: renderMade,
  }),
  defineVerb("world.keep", {
    path: ["versions", "keep"],
    args: [{ field: "world_id", label: "VERSION" }],
    flags: { key: { hidden: true } },
    examples: ["verbatim world versions keep w_gull-rock-v0123abcd"],
    render({ kept_world_id }, io) {
      io.line(`kept ${kept_world_id}`);
    },
  }),
  defineVerb("world.edit", {
    path: ["edit"],
    args: [
      { field: "entry_id", label: "ENTRY" },
      { field: "text", label: "TEXT" },
    ],
    flags: NOT_HERE,
    examples: ['verbatim world edit e_7k2wq4z5m3x6cjhq "I sit down by the window." --keep'],
    render: renderMade,
  }),
];
