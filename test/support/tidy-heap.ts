import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

// Loaded before every test file. A worker runs a hundred files, and where memory is plentiful V8 lets what they leave behind
// pile up to a gigabyte. To start a process then takes five times as long, because the kernel copies the tables of all of it;
// a collection takes a tenth of a second.

const PLENTY_BYTES = 150 * 1024 * 1024;

const slot = Symbol.for("verbatim.heap-after-collection");
const kept = globalThis as unknown as Record<symbol, number | undefined>;

if (process.memoryUsage().heapUsed - (kept[slot] ?? 0) > PLENTY_BYTES) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  kept[slot] = process.memoryUsage().heapUsed;
}
