import type { Progress } from "../../core/ports.ts";
import type { Streams } from "./io.ts";
import { showLine } from "./plain-text.ts";

/** A progress line on a terminal; silent in a pipe. */
export interface ProgressBar extends Progress {
  /** Wipes the line, so that something else can be written; the next report draws it again. */
  end(): void;
}

const WIDTH = 24;
const SMALLEST_STEP = 0.01;

/** Draws at most a hundred times per label, so that reporting costs nothing. */
export function createProgressBar(stream: Streams["stderr"], wanted: boolean): ProgressBar {
  if (!wanted || stream.isTTY !== true) return { report: () => undefined, end: () => undefined };
  let drawn = false;
  let label = "";
  let last = -1;
  return {
    report(step) {
      const share = step.total === undefined || step.total === 0 ? 0 : step.done / step.total;
      const due = step.label !== label || share >= 1 || share - last >= SMALLEST_STEP || step.total === undefined;
      if (!due) return;
      label = step.label;
      last = share;
      drawn = true;
      const bar = "█".repeat(Math.round(share * WIDTH)).padEnd(WIDTH, "░");
      const count = step.total === undefined ? `${step.done}` : `${step.done}/${step.total}`;
      stream.write(`\r\u001b[K${step.total === undefined ? "" : `${bar} `}${showLine(label)} ${count}`);
    },
    end() {
      if (!drawn) return;
      stream.write("\r\u001b[K");
      drawn = false;
      label = "";
    },
  };
}
