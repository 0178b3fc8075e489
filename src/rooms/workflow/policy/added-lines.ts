import type { FileHunks } from "../candidate/hunks.ts";
import type { AddedLine } from "./judge-change.ts";

const decoder = new TextDecoder("utf-8");

/** The lines that a patch adds, by path, with their numbers in the file after it. */
export function listAddedLines(hunks: ReadonlyMap<string, FileHunks>): ReadonlyMap<string, readonly AddedLine[]> {
  return new Map(
    [...hunks].map(([path, file]) => {
      let shift = 0;
      const lines = file.hunks
        .flatMap(({ edits }) => edits)
        .flatMap(({ at, remove, insert }) => {
          const first = at + shift + 1;
          shift += insert.length - remove.length;
          return insert.map((bytes, i) => ({ line: first + i, text: decoder.decode(bytes).replace(/\r?\n$/, "") }));
        });
      return [path, lines];
    }),
  );
}
