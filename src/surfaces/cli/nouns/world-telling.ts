import type { Output } from "../../../app/operations.ts";
import { showWritten } from "../../../core/text/index.ts";
import type { Io } from "../io.ts";
import { defineVerb, type Verb } from "../verb.ts";

const HIDDEN_KEY = { key: { hidden: true } } as const;
const AS = { viewer: { name: "as", value: "VIEWER" } } as const;

function renderNotes({ notes }: Output<"world.notes">, io: Io): void {
  for (const { note_id, text, visible_to } of notes)
    io.line(`${note_id}  ${visible_to.join(" ")}  ${showWritten(text)}`);
  if (notes.length === 0) io.note("no notes");
}

function renderLoreSet({ lore_id, entry_id }: Output<"world.lore-off">, io: Io): void {
  io.line(`${showWritten(lore_id)} ${entry_id}`);
}

/** What writers are told besides what was lived. */
export const TELLING_VERBS: readonly Verb[] = [
  defineVerb("world.pins", {
    path: ["pin", "list"],
    flags: AS,
    examples: ["verbatim world pin list"],
    render({ pins }, io) {
      for (const { pin_id, entry_id, quote } of pins) io.line(`${pin_id}  ${entry_id}  ${showWritten(quote)}`);
      if (pins.length === 0) io.note("no pins");
    },
  }),
  defineVerb("world.pin", {
    path: ["pin", "add"],
    isDefault: true,
    args: [
      { field: "entry_id", label: "ENTRY" },
      { field: "quote", label: "QUOTE" },
    ],
    flags: { ...HIDDEN_KEY, ...AS },
    examples: ['verbatim world pin add e_7k2wq4z5m3x6cjhq "the key is under the blue pot"'],
    render({ pin_id }, io) {
      io.line(pin_id);
    },
  }),
  defineVerb("world.unpin", {
    path: ["pin", "remove"],
    args: [{ field: "pin_id", label: "PIN" }],
    flags: { ...HIDDEN_KEY, ...AS },
    examples: ["verbatim world pin remove p_5d2c7a9e-0b1f-4c3d-8e2a-1f6b7c8d9e0f"],
    render({ pin_id }, io) {
      io.line(`${pin_id} removed`);
    },
  }),
  defineVerb("world.lore", {
    path: ["lore", "list"],
    isDefault: true,
    examples: ["verbatim world lore", "verbatim world lore list --json"],
    render({ lore }, io) {
      for (const { lore_id, visible_to, keys, always, enabled, text } of lore) {
        const when = enabled ? (always ? "always" : keys.map((key) => JSON.stringify(key)).join(" ")) : "off";
        io.line(io.paint.dim(`${showWritten(lore_id)}  ${visible_to}  ${showWritten(when)}`));
        io.line(showWritten(text));
      }
      if (lore.length === 0) io.note("no lore");
    },
  }),
  defineVerb("world.lore-show", {
    path: ["lore", "show"],
    args: [{ field: "lore_id", label: "ID" }],
    examples: ["verbatim world lore show lighthouse"],
    render({ lore_id, visible_to, keys, text }, io) {
      io.line(io.paint.dim(`${showWritten(lore_id)}  ${visible_to}  ${showWritten(JSON.stringify(keys))}`));
      io.line(showWritten(text));
    },
  }),
  defineVerb("world.lore-file", {
    path: ["lore", "set"],
    args: [{ field: "file", label: "FILE" }],
    flags: HIDDEN_KEY,
    examples: ["verbatim world lore set lore.json"],
    render({ lore }, io) {
      for (const one of lore) renderLoreSet(one, io);
    },
  }),
  defineVerb("world.lore-off", {
    path: ["lore", "off"],
    args: [{ field: "lore_id", label: "ID" }],
    flags: HIDDEN_KEY,
    examples: ["verbatim world lore off lighthouse"],
    render: renderLoreSet,
  }),
  defineVerb("world.persona", {
    path: ["persona"],
    args: [{ field: "name", label: "NAME" }],
    flags: { ...HIDDEN_KEY, about: { hidden: true }, about_file: { name: "about", value: "FILE" } },
    examples: ["verbatim world persona George --about george.txt"],
    render({ name }, io) {
      io.line(`you are ${showWritten(name)}`);
    },
  }),
  defineVerb("world.notes", {
    path: ["note", "list"],
    isDefault: true,
    examples: ["verbatim world note"],
    render: renderNotes,
  }),
  defineVerb("world.note-set", {
    path: ["note", "set"],
    args: [
      { field: "note_id", label: "ID" },
      { field: "text", label: "TEXT" },
    ],
    flags: { ...HIDDEN_KEY, visible_to: { name: "to" } },
    examples: ['verbatim world note set tone "Keep it quiet and short." --to WORLD'],
    render: renderNotes,
  }),
  defineVerb("world.note-remove", {
    path: ["note", "remove"],
    args: [{ field: "note_id", label: "ID" }],
    flags: HIDDEN_KEY,
    examples: ["verbatim world note remove tone"],
    render: renderNotes,
  }),
];
