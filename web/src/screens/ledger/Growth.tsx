import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";
import uPlot from "uplot";
import type { Output } from "../../api/client.ts";
import { reading } from "../../api/queries.ts";
import { useTheme } from "../../app/use-theme.ts";
import { Foreign } from "../../parts/Foreign.tsx";
import { formatClock } from "../../words/formats.ts";
import { words } from "../../words/words.ts";
import "uplot/dist/uPlot.min.css";
import styles from "./Growth.module.css";

type Growing = Output<"ledger.growth">;

const HIGH = 120;
const BUCKETS = 60;
/** One colour a room, in this order; more rooms begin again. */
const COLOURS = ["--accent", "--ok", "--warn", "--syntax-keyword", "--bad", "--muted"] as const;

interface Range {
  readonly from: string;
  readonly to: string;
}

/** How many entries each room wrote over the time: a plot for eyes, the same numbers as a table for everybody else. */
export function Growth(props: {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly choose: (range: Range) => void;
}): ReactNode {
  const { from, to, choose } = props;
  const query = useQuery(
    reading("ledger.growth", {
      buckets: BUCKETS,
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    }),
  );
  const { data } = query;
  if (data === undefined || data.buckets.length === 0) return <div className={styles["space"]} />;
  return (
    <figure className={styles["growth"]}>
      <figcaption>
        <strong>{words.ledger.growth}</strong>
        <ul className={styles["rooms"]} aria-label={words.ledger.rooms}>
          {data.rooms.map((room, n) => (
            <li key={room}>
              <span className={styles["sign"]} data-colour={n % COLOURS.length} aria-hidden />
              <Foreign text={room} />
            </li>
          ))}
        </ul>
        <span className={styles["how"]}>{words.ledger.growthHow}</span>
      </figcaption>
      <Plot growing={data} choose={choose} />
      <details className={styles["table"]}>
        <summary>{words.ledger.table}</summary>
        <div className={styles["scroll"]} tabIndex={0} role="region" aria-label={words.ledger.table}>
          <table>
            <thead>
              <tr>
                <th>{words.ledger.from}</th>
                {data.rooms.map((room) => (
                  <th key={room}>
                    <Foreign text={room} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {data.buckets.map(({ at, entries }) => (
                <tr key={at}>
                  <td>{formatClock(at)}</td>
                  {entries.map((number, n) => (
                    <td key={data.rooms[n]}>{words.number(number)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

function Plot({ growing, choose }: { readonly growing: Growing; readonly choose: (range: Range) => void }): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const chosen = useRef(choose);
  chosen.current = choose;
  const theme = useTheme();
  useEffect(() => {
    const target = place.current;
    // The colours on the canvas are those of the theme as it is now.
    if (target === null || theme === "") return;
    const plot = new uPlot(
      options(growing, target, (range) => chosen.current(range)),
      stack(growing),
      target,
    );
    const resized = new ResizeObserver(() => plot.setSize({ width: target.clientWidth, height: HIGH }));
    resized.observe(target);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [growing, theme]);
  return <div ref={place} className={styles["plot"]} aria-hidden />;
}

/** Every room on top of those before it; the highest is drawn first, so that the others lie over it. */
function stack({ rooms, buckets }: Growing): uPlot.AlignedData {
  const times = buckets.map(({ at }) => Date.parse(at) / 1000);
  const sums = rooms.map((_, room) =>
    buckets.map(({ entries }) => entries.slice(0, room + 1).reduce((sum, number) => sum + number, 0)),
  );
  return [times, ...sums.reverse()];
}

function options(growing: Growing, target: HTMLElement, choose: (range: Range) => void): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const bars = uPlot.paths.bars!({ size: [0.9, 64], gap: 1 });
  const axis: uPlot.Axis = {
    stroke: colour("--muted"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { stroke: colour("--line"), width: 1 },
    font: `12px ${colour("--sans")}`,
  };
  const from = Date.parse(growing.from!) / 1000;
  const to = Date.parse(growing.to!) / 1000;
  return {
    width: target.clientWidth,
    height: HIGH,
    legend: { show: false },
    cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false } },
    scales: { x: { time: true, min: from, max: to }, y: { range: (_plot, _low, high) => [0, Math.max(high, 1)] } },
    axes: [axis, { ...axis, size: 48, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 10_000, 100_000] }],
    series: [
      {},
      ...growing.rooms
        .map((_, room) => {
          const fill = colour(COLOURS[room % COLOURS.length]!);
          return { paths: bars, fill, stroke: fill, width: 0, points: { show: false } };
        })
        .reverse(),
    ],
    hooks: {
      setSelect: [
        (plot) => {
          if (plot.select.width < 4) return;
          const at = (x: number) => new Date(Math.round(plot.posToVal(x, "x") * 1000)).toISOString();
          choose({ from: at(plot.select.left), to: at(plot.select.left + plot.select.width) });
        },
      ],
    },
  };
}
