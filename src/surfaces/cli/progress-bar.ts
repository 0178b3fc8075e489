import { formatDuration, groupDigits } from "../../app/agent/explain-words.ts";
import type { Progress, ProgressStep } from "../../core/ports.ts";
import { FIRST_STEP } from "./first-sign.ts";
import type { Streams } from "./io.ts";
import { showLine } from "./plain-text.ts";

/** A progress line on a terminal; silent in a pipe. */
export interface ProgressBar extends Progress {
  /** Wipes the line, so that something else can be written; the next report draws it again. */
  end(): void;
}

const WIDTH = 24;
const SMALLEST_STEP = 0.01;
/** A line that stands still says at least how long it has. */
const TICK_MS = 1000;

/**
 * Draws at most a hundred times per label, so that reporting costs nothing, and once a second while nothing is reported.
 * `begun`: the line of the first sign stands there already.
 */
export function createProgressBar(stream: Streams["stderr"], wanted: boolean, begun = false): ProgressBar {
  if (!wanted || stream.isTTY !== true) return { report: () => undefined, end: () => undefined };
  let shown: ProgressStep | null = begun ? FIRST_STEP : null;
  let label = "";
  let last = -1;
  let since = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const draw = (step: ProgressStep) => {
    const ms = Math.round(performance.now() - since);
    const time = step.ended === true ? formatDuration(ms) : ms < 1000 ? "" : `${Math.floor(ms / 1000)} s`;
    const line = `${formatStep(step)}${time === "" ? "" : `  ${time}`}`;
    stream.write(`\r\u001b[K${line.slice(0, Math.max(20, (stream.columns || 80) - 1))}`);
  };
  const tick = () => {
    timer ??= setInterval(() => {
      if (shown !== null) draw(shown);
    }, TICK_MS).unref();
  };
  const rest = () => {
    clearInterval(timer);
    timer = undefined;
    shown = null;
    label = "";
  };
  if (begun) tick();
  return {
    report(step) {
      const share = step.total === undefined || step.total === 0 ? 0 : step.done / step.total;
      const due =
        step.ended === true ||
        step.label !== label ||
        share >= 1 ||
        share - last >= SMALLEST_STEP ||
        step.total === undefined;
      if (!due) return;
      if (step.label !== label && !(shown === FIRST_STEP && step.label === FIRST_STEP.label)) since = performance.now();
      label = step.label;
      last = share;
      shown = step;
      draw(step);
      if (step.ended !== true) return tick();
      stream.write("\n");
      rest();
    },
    end() {
      if (shown !== null) stream.write("\r\u001b[K");
      rest();
    },
  };
}

function formatStep({ label, done, total, unit }: ProgressStep): string {
  const name = showLine(label);
  const what = unit === undefined ? "" : ` ${unit}`;
  if (total === undefined) return done === 0 ? `${name} ...` : `${name}  ${groupDigits(done)}${what}`;
  const bar = "█".repeat(Math.round((total === 0 ? 0 : done / total) * WIDTH)).padEnd(WIDTH, "░");
  return `${bar} ${name}  ${groupDigits(done)} of ${groupDigits(total)}${what}`;
}
