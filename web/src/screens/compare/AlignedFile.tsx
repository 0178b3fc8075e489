import { useQueries } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState, useSyncExternalStore } from "react";
import { reading } from "../../api/queries.ts";
import { Button } from "../../parts/Button.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { boxed, Foreign, plainText } from "../../parts/Foreign.tsx";
import { Waiting } from "../../parts/Shown.tsx";
import { useSwipe } from "../../parts/use-swipe.ts";
import { words } from "../../words/words.ts";
import { type AlignedRow, alignChanges, type Cell } from "./align.ts";
import styles from "./CompareScreen.module.css";
import type { Compared } from "./CompareScreen.tsx";

const said = words.compare;
const route = getRouteApi("/runs/compare");
const NARROW = matchMedia("(max-width: 639px)");
/** More rows than these are drawn when somebody asks for them. */
const MOST_ROWS = 1000;
const WIDEST = 2000;
const SIGNS = { context: " ", added: "+", deleted: "-" } as const;

function onNarrow(listener: () => void): () => void {
  NARROW.addEventListener("change", listener);
  return () => NARROW.removeEventListener("change", listener);
}

/** What each run makes of one file, on the lines that all of them began with. A phone shows one run at a time. */
export function AlignedFile({ compared, path }: { readonly compared: Compared; readonly path: string }): ReactNode {
  const { run } = route.useSearch();
  const navigate = route.useNavigate();
  const isNarrow = useSyncExternalStore(onNarrow, () => NARROW.matches);
  const [most, setMost] = useState(MOST_ROWS);
  const cells = compared.files.find((file) => file.path === path)?.cells ?? [];
  const diffs = useQueries({
    queries: compared.runs.map(({ run_id }, at) => ({
      ...reading("agent.diff", { run: run_id, file: path }),
      enabled: cells[at] !== null,
    })),
  });
  const chosen = Math.max(
    compared.runs.findIndex(({ run_id }) => run_id === run),
    0,
  );
  const choose = (run_id: string) =>
    void navigate({ search: (old) => ({ ...old, run: run_id }), replace: true, resetScroll: false });
  const swipe = useSwipe((by) => {
    const next = compared.runs[chosen + by];
    if (isNarrow && next !== undefined) choose(next.run_id);
  });
  const problem = diffs.find(({ error }) => error !== null)?.error ?? null;
  const isReady = diffs.every(({ data }, at) => cells[at] === null || data !== undefined);
  const files = isReady
    ? diffs.map(({ data }, at) =>
        cells[at] === null ? null : (data?.files.find((file) => file.path === path) ?? null),
      )
    : null;
  const name = diffs.map(({ dataUpdatedAt }) => dataUpdatedAt).join(" ");
  const rows = useMemo(() => (files === null ? null : alignChanges(files)), [name, isReady]);
  if (problem !== null) return <Failure thrown={problem} again={() => void diffs.map(({ refetch }) => refetch())} />;
  if (files === null) return <Waiting lines={8} />;
  const columns = isNarrow ? [chosen] : compared.runs.map((_, at) => at);
  const sameIn = (at: number, hunk: string) => cells[at]?.hunks.find(({ id }) => id === hunk)?.same_in ?? 1;
  const parts = rows === null ? columns.map((at) => [at]) : [columns];
  return (
    <section className={styles["aligned"]} aria-label={plainText(path, 200)} {...swipe}>
      <h2>
        <Foreign text={path} />
      </h2>
      {rows === null ? <p className={styles["plain"]}>{said.apart}</p> : null}
      {isNarrow ? (
        <select
          aria-label={said.column}
          value={compared.runs[chosen]?.run_id}
          onChange={({ target }) => choose(target.value)}
        >
          {compared.runs.map(({ run_id, agent }) => (
            <option key={run_id} value={run_id}>
              {`${plainText(agent, 40)} ${run_id.slice(-6)}`}
            </option>
          ))}
        </select>
      ) : null}
      {parts.map((shown) => {
        const own = rows ?? alignChanges(shown.map((at) => files[at] ?? null)) ?? [];
        const place = (at: number) => (rows === null ? shown.indexOf(at) : at);
        return (
          <div
            key={shown.join(" ")}
            className={styles["scroll"]}
            tabIndex={0}
            role="group"
            aria-label={words.run.parts.change}
          >
            <table className={styles["lines"]}>
              <thead>
                <tr>
                  <th scope="col" className={styles["base"]}>
                    <span className="unseen">{words.run.parts.base}</span>
                  </th>
                  {shown.map((at) => (
                    <th key={compared.runs[at]!.run_id} scope="col">
                      <Foreign text={plainText(compared.runs[at]!.agent, 40)} />{" "}
                      <code>{compared.runs[at]!.run_id.slice(-6)}</code>
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {own.slice(0, most).map((row, n) => (
                  <Line
                    key={String(n)}
                    row={row}
                    columns={shown.map(place)}
                    same={(column, hunk) => sameIn(rows === null ? shown[column]! : column, hunk)}
                  />
                ))}
              </tbody>
            </table>
            {own.length > most ? (
              <Button onPress={() => setMost(most + MOST_ROWS)}>{words.run.unfold(own.length - most)}</Button>
            ) : null}
          </div>
        );
      })}
    </section>
  );
}

function Line(props: {
  readonly row: AlignedRow;
  readonly columns: readonly number[];
  readonly same: (column: number, hunk: string) => number;
}): ReactNode {
  const { row, columns, same } = props;
  if (row.type === "skip") {
    return (
      <tr className={styles["skip"]}>
        <td colSpan={columns.length + 1}>{said.unchanged(row.lines)}</td>
      </tr>
    );
  }
  return (
    <tr>
      <td className={styles["base"]}>{row.base === null ? null : words.number(row.base)}</td>
      {columns.map((at) => {
        const cell = row.cells[at] ?? null;
        return <LineCell key={at} cell={cell} same={cell?.hunk == null ? 1 : same(at, cell.hunk)} />;
      })}
    </tr>
  );
}

function LineCell({ cell, same }: { readonly cell: Cell | null; readonly same: number }): ReactNode {
  if (cell === null) return <td className={styles["absent"]} />;
  return (
    <td data-kind={cell.kind} data-around={cell.isAround} data-sign={SIGNS[cell.kind]}>
      {same > 1 ? <span className={styles["same"]}>{said.same(same)}</span> : null}
      <bdi dir="ltr">{boxed(cell.text.slice(0, WIDEST))}</bdi>
      {cell.text.length > WIDEST ? (
        <span className={styles["plain"]}>{words.run.cut(cell.text.length - WIDEST)}</span>
      ) : null}
    </td>
  );
}
