import { useNavigate } from "@tanstack/react-router";
import { hierarchy, treemap } from "d3-hierarchy";
import type { ReactNode } from "react";
import { formatBytes } from "../../words/formats.ts";
import { words } from "../../words/words.ts";
import type { TreeItem } from "./ContextScreen.tsx";
import styles from "./Treemap.module.css";

const [WIDE, HIGH] = [480, 360];
const MOST_CELLS = 2000;
/** Narrower cells have no room for a word. */
const LETTER = 7;

interface Cell {
  readonly name: string;
  readonly path: string | null;
  readonly kind: "folder" | "file" | "rest";
  readonly bytes: number;
  readonly children?: readonly Cell[];
}

/** Bytes as areas. The list beside it says the same, so that it is for eyes only. */
export function Treemap({ items }: { readonly items: readonly TreeItem[] }): ReactNode {
  const navigate = useNavigate();
  if (items.length < 2) return null;
  const sorted = items.toSorted((a, b) => b.bytes - a.bytes);
  const rest = sorted.slice(MOST_CELLS - 1);
  const cells: Cell[] = sorted
    .slice(0, MOST_CELLS - 1)
    .map(({ name, path, kind, bytes }) => ({ name, path, kind, bytes }));
  if (rest.length > 0) {
    const bytes = rest.reduce((sum, one) => sum + one.bytes, 0);
    cells.push({ name: words.context.mapRest(rest.length), path: null, kind: "rest", bytes });
  }
  const top: Cell = { name: "", path: null, kind: "folder", bytes: 0, children: cells };
  const root = hierarchy<Cell>(top, ({ children }) => children as Cell[] | undefined).sum(({ bytes }) =>
    Math.max(bytes, 1),
  );
  const laid = treemap<Cell>().size([WIDE, HIGH]).paddingInner(2).round(true)(root);
  return (
    <figure className={styles["map"]}>
      <figcaption>{words.context.map}</figcaption>
      <svg viewBox={`0 0 ${WIDE} ${HIGH}`} aria-hidden>
        {laid.leaves().map(({ data, x0, x1, y0, y1 }) => {
          const fits = Math.floor((x1 - x0 - 8) / LETTER);
          return (
            <g
              key={data.path ?? "rest"}
              className={styles[data.kind]}
              transform={`translate(${x0},${y0})`}
              onClick={() => data.path !== null && void navigate({ to: "/context", search: { path: data.path } })}
            >
              <title>{`${data.name} ${formatBytes(data.bytes)}`}</title>
              <rect width={Math.max(x1 - x0, 1)} height={Math.max(y1 - y0, 1)} />
              {fits >= 3 && y1 - y0 >= 18 ? (
                <text x={5} y={14}>
                  {data.name.length > fits ? `${data.name.slice(0, fits - 1)}…` : data.name}
                </text>
              ) : null}
            </g>
          );
        })}
      </svg>
    </figure>
  );
}
