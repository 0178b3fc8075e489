import { sortedByCodePoint } from "../../../core/canonical/index.ts";

const PREFIX = "verbatim_world_";

/** Counts and durations since the start. Labels are codes and names of ours, never ids, titles or text. */
export class Metrics {
  readonly #counts = new Map<string, number>();
  readonly #sums = new Map<string, { count: number; seconds: number }>();

  /** Counts one more. */
  count(name: string, label?: { readonly name: string; readonly value: string }): void {
    const key = label === undefined ? name : `${name}{${label.name}="${label.value}"}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** Adds a duration. */
  observe(name: string, ms: number): void {
    const sum = this.#sums.get(name) ?? { count: 0, seconds: 0 };
    sum.count++;
    sum.seconds += ms / 1000;
    this.#sums.set(name, sum);
  }

  /** Everything in the text format of Prometheus. */
  format(): string {
    const lines: string[] = [];
    const typed = new Set<string>();
    // A name's lines must stand together, under one line that says what it is.
    for (const key of sortedByCodePoint(this.#counts.keys())) {
      const name = key.replace(/\{.*/, "");
      if (!typed.has(name)) lines.push(`# TYPE ${PREFIX}${name} counter`);
      typed.add(name);
      lines.push(`${PREFIX}${key} ${this.#counts.get(key)}`);
    }
    for (const [name, { count, seconds }] of this.#sums) {
      lines.push(`# TYPE ${PREFIX}${name} summary`);
      lines.push(`${PREFIX}${name}_count ${count}`, `${PREFIX}${name}_sum ${seconds}`);
    }
    return lines.map((line) => `${line}\n`).join("");
  }
}
