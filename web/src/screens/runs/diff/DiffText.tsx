import { memo, type ReactNode, useState } from "react";
import { boxed } from "../../../parts/Foreign.tsx";
import { words } from "../../../words/words.ts";
import type { Colour, Range } from "../../../workers/highlight.ts";
import styles from "./Diff.module.css";
import type { PlacedLine } from "./model.ts";

const WIDEST = 2000;
/** Names in the style sheet; `number` there is the number of a line. */
const COLOURS: Record<Colour, string> = {
  keyword: "keyword",
  string: "string",
  comment: "comment",
  number: "digits",
  name: "name",
};

/** The bytes of one line as text, from left to right whatever it begins with: its colours, the words that differ, and boxes for what could not be seen. */
export const DiffText = memo(function DiffText(props: {
  readonly line: PlacedLine;
  readonly colours: readonly Range[] | undefined;
}): ReactNode {
  const { line, colours } = props;
  const [isWhole, setWhole] = useState(false);
  const text = isWhole ? line.text : line.text.slice(0, WIDEST);
  return (
    <>
      <bdi dir="ltr" className={styles["text"]}>
        {paint(text, colours ?? [], line.differs)}
      </bdi>
      {text.length < line.text.length ? (
        <button type="button" className={styles["rest"]} onClick={() => setWhole(true)}>
          {words.run.cut(line.text.length - text.length)}
        </button>
      ) : null}
      {line.noEol ? <span className={styles["noEol"]} data-says={words.run.noEol} /> : null}
    </>
  );
});

function paint(text: string, colours: readonly Range[], differs: readonly [number, number] | null): ReactNode {
  const cuts = new Set([0, text.length]);
  for (const [from, to] of colours) {
    if (from < text.length) cuts.add(from);
    if (to < text.length) cuts.add(to);
  }
  for (const at of differs ?? []) if (at < text.length) cuts.add(at);
  const places = [...cuts].sort((a, b) => a - b);
  const parts: ReactNode[] = [];
  let next = 0;
  for (let n = 0; n + 1 < places.length; n++) {
    const [from, to] = [places[n]!, places[n + 1]!];
    while (next < colours.length && colours[next]![1] <= from) next++;
    const found = colours[next];
    const colour: Colour | null = found !== undefined && found[0] <= from ? found[2] : null;
    const isDifferent = differs !== null && from >= differs[0] && from < differs[1];
    const shown = boxed(text.slice(from, to));
    const name = isDifferent ? styles["differs"] : colour === null ? undefined : styles[COLOURS[colour]];
    parts.push(
      name === undefined ? (
        <span key={from}>{shown}</span>
      ) : (
        <span key={from} className={name}>
          {shown}
        </span>
      ),
    );
  }
  return parts;
}
