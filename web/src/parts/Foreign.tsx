import { memo, type ReactNode } from "react";
import styles from "./Foreign.module.css";

/** What changes how text is read without being seen, or is not text at all. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/u;

export function hidesCharacters(text: string): boolean {
  return HIDDEN.test(text);
}

/** Text of agents, files and models: only ever a text node, set apart from what surrounds it, controls drawn as boxes. */
export const Foreign = memo(function Foreign({ text }: { readonly text: string }): ReactNode {
  return <bdi>{hidesCharacters(text) ? boxed(text) : text}</bdi>;
});

/** The same without isolation, for parts of a line that is isolated as a whole. */
export function boxed(text: string): ReactNode {
  const parts: ReactNode[] = [];
  let plain = "";
  for (const character of text) {
    if (!HIDDEN.test(character)) {
      plain += character;
      continue;
    }
    if (plain !== "") parts.push(plain);
    plain = "";
    parts.push(
      <span key={parts.length} className={styles["box"]} data-char={character.codePointAt(0)}>
        {nameOf(character)}
      </span>,
    );
  }
  return plain === "" ? parts : [...parts, plain];
}

function nameOf(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** For places that hold plain characters only, such as the title of the window. */
export function plainText(text: string, longest: number): string {
  const visible = [...text.replace(/\s+/g, " ")].filter((character) => !HIDDEN.test(character));
  return visible.length > longest ? `${visible.slice(0, longest - 1).join("")}…` : visible.join("");
}
