/** What a team's records and queue say of themselves at one moment. */
export interface TeamFigures {
  readonly queues: readonly {
    readonly queue: string;
    readonly ready: number;
    readonly active: number;
    readonly oldest_s: number;
  }[];
  readonly dead: number;
  readonly workers: Readonly<Record<"ready" | "paused" | "draining" | "gone", number>>;
  readonly slots: number;
  readonly busy: number;
  readonly entries: number;
  /** Entries since the newest checkpoint that the ledger records. */
  readonly unchecked: number;
  /** Agent runs that were asked for, by where they stand. */
  readonly runs: Readonly<Record<string, number>>;
}

type Labels = Readonly<Record<string, string>>;

/** Counters of one process, as Prometheus reads them. Names and labels are ours; only values come from what happens. */
export class Counters {
  readonly #values = new Map<string, { readonly name: string; readonly labels: Labels; value: number }>();

  add(name: string, labels: Labels = {}, by = 1): void {
    const key = `${name}${formatLabels(labels)}`;
    const known = this.#values.get(key);
    if (known === undefined) this.#values.set(key, { name, labels, value: by });
    else known.value += by;
  }

  list(): readonly { readonly name: string; readonly labels: Labels; readonly value: number }[] {
    return [...this.#values.values()];
  }
}

type Sample = readonly [labels: Labels, value: number];

/** The text that Prometheus reads: gauges of the team, then the counters of the process that answers. */
export function formatMetrics(figures: TeamFigures | null, counters: Counters, lagMs: number): string {
  const lines: string[] = [];
  const family = (name: string, type: "gauge" | "counter", samples: readonly Sample[]) => {
    if (samples.length === 0) return;
    lines.push(`# TYPE ${name} ${type}`);
    for (const [labels, value] of samples) lines.push(`${name}${formatLabels(labels)} ${value}`);
  };
  if (figures !== null) {
    const { queues, workers, runs } = figures;
    family(
      "verbatim_queue_ready",
      "gauge",
      queues.map(({ queue, ready }) => [{ queue }, ready]),
    );
    family(
      "verbatim_queue_active",
      "gauge",
      queues.map(({ queue, active }) => [{ queue }, active]),
    );
    family(
      "verbatim_queue_oldest_seconds",
      "gauge",
      queues.map(({ queue, oldest_s }) => [{ queue }, oldest_s]),
    );
    family("verbatim_queue_dead", "gauge", [[{}, figures.dead]]);
    family(
      "verbatim_workers",
      "gauge",
      Object.entries(workers).map(([state, n]) => [{ state }, n]),
    );
    family("verbatim_worker_slots", "gauge", [[{}, figures.slots]]);
    family("verbatim_worker_slots_busy", "gauge", [[{}, figures.busy]]);
    family("verbatim_ledger_entries", "gauge", [[{}, figures.entries]]);
    family("verbatim_ledger_unchecked_entries", "gauge", [[{}, figures.unchecked]]);
    family(
      "verbatim_agent_runs",
      "gauge",
      Object.entries(runs).map(([state, n]) => [{ state }, n]),
    );
  }
  family("verbatim_event_loop_lag_seconds", "gauge", [[{}, lagMs / 1000]]);
  const names = [...new Set(counters.list().map(({ name }) => name))].sort((a, b) => (a < b ? -1 : 1));
  for (const one of names) {
    const samples = counters.list().filter(({ name }) => name === one);
    family(
      one,
      "counter",
      samples.map(({ labels, value }) => [labels, value]),
    );
  }
  return `${lines.join("\n")}\n`;
}

function formatLabels(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${value.replaceAll(/[\\"\n]/g, escapeLabel)}"`);
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}

function escapeLabel(letter: string): string {
  return letter === "\n" ? "\\n" : `\\${letter}`;
}
