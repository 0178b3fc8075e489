import type { Graphemes } from "../../rooms/world/ports.ts";

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Grapheme clusters as this Node knows them. */
export const intlGraphemes: Graphemes = {
  *split(text) {
    for (const { segment } of segmenter.segment(text)) yield segment;
  },
};
