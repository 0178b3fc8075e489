import type { Result, Sample } from "./harness.ts";

const HEAD = ["bench", "size", "ours", "baseline", "ratio", "goal", "growth", "met"];

/** All results as one table; the goal is judged in the row of the last size. */
export function formatTable(results: readonly Result[]): string {
  const rows = results.flatMap((result) =>
    result.samples.map((sample, i) => {
      const last = i === result.samples.length - 1;
      const verdict = last ? [result.goal, formatGrowth(result.growth), result.met ? "met" : "MISSED"] : ["", "", ""];
      const show = result.unit === "bytes" ? formatBytes : formatMs;
      const times = [show(sample.ours_ms), show(sample.baseline_ms), `${sample.ratio.toFixed(2)}x`];
      return [i === 0 ? result.name : "", String(sample.size), ...times, ...verdict];
    }),
  );
  const widths = HEAD.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => (isNumeric(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join("  ")
      .trimEnd();
  const notes = results.map(
    ({ name, what, baseline, corpus, samples }) =>
      `${name}: ${what}; baseline: ${baseline}; corpus: ${corpus}${formatTail(samples.at(-1))}`,
  );
  return [line(HEAD), line(widths.map((width) => "-".repeat(width))), ...rows.map(line), "", ...notes].join("\n");
}

/** What a row of a 95th percentile leaves out. */
function formatTail(sample: Sample | undefined): string {
  if (sample?.minima === undefined) return "";
  const { rounds, minima } = sample;
  return `; times are p95 of ${rounds} calls each, minima ${formatMs(minima.ours_ms)} and ${formatMs(minima.baseline_ms)}`;
}

function isNumeric(column: number): boolean {
  return column >= 1 && column <= 4;
}

function formatMs(ms: number): string {
  return ms < 10 ? `${ms.toFixed(2)} ms` : `${ms.toFixed(0)} ms`;
}

function formatBytes(bytes: number): string {
  return `${bytes.toFixed(0)} B`;
}

function formatGrowth(growth: number | null): string {
  return growth === null ? "-" : `n^${growth.toFixed(2)}`;
}
