import { Link } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { boxed } from "../../parts/Foreign.tsx";

/** Beyond this a change is too large for its names to be looked for in what was printed. */
const MOST_FILES = 200;

/** What was printed as text, where `path:line` leads to the change if the path is in it. Everything else stays as it is. */
export function Linked(props: {
  readonly text: string;
  readonly run: string;
  readonly paths: readonly string[];
}): ReactNode {
  const { text, run, paths } = props;
  return useMemo(() => {
    if (paths.length === 0 || paths.length > MOST_FILES) return boxed(text);
    const names = paths.map((path) => path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    // The longest first, and only a whole name: a.ts is not in data.ts.
    names.sort((a, b) => b.length - a.length);
    const place = new RegExp(`(?<![\\w.-])(${names.join("|")}):(\\d{1,7})`, "g");
    const parts: ReactNode[] = [];
    let last = 0;
    for (const { index, 0: found, 1: path, 2: line } of text.matchAll(place)) {
      if (index > last) parts.push(<span key={last}>{boxed(text.slice(last, index))}</span>);
      parts.push(
        <Link key={index} to="/runs/$run/review" params={{ run }} search={{ file: path, line: Number(line) }}>
          {boxed(found)}
        </Link>,
      );
      last = index + found.length;
    }
    parts.push(<span key={last}>{boxed(text.slice(last))}</span>);
    return parts;
  }, [text, run, paths]);
}
