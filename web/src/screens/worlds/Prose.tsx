import { memo, type ReactNode } from "react";
import { boxed, hidesCharacters } from "../../parts/Foreign.tsx";

/** Joiners that make one sign of several, as in a family of emoji or within a word of some languages. */
const JOINER =
  /(?<=\p{L}|\p{M}|\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)(?:\u200c|\u200d)(?=\p{L}|\p{Extended_Pictographic})/gu;

/**
 * Lines of a story: text nodes only, with their own direction. What would be read without being seen is drawn as a box; the
 * joiners that writing needs are left alone.
 */
export const Prose = memo(function Prose({ text }: { readonly text: string }): ReactNode {
  const lines = text.replaceAll("\r\n", "\n");
  if (!hidesCharacters(lines)) return lines;
  const parts: ReactNode[] = [];
  let at = 0;
  for (const { index, 0: joiner } of lines.matchAll(JOINER)) {
    parts.push(<span key={`t${at}`}>{boxed(lines.slice(at, index))}</span>, joiner);
    at = index + joiner.length;
  }
  return [...parts, <span key={`t${at}`}>{boxed(lines.slice(at))}</span>];
});
