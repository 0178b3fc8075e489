import type { Output } from "../../../app/operations.ts";
import type { Io } from "../io.ts";
import { formatTable } from "../table.ts";
import { defineVerb, type Noun } from "../verb.ts";

type Listed = Output<"team.worker-list">["workers"][number];

function renderWorkers(workers: readonly Listed[], io: Io): void {
  const rows = workers.map(({ name, state, reason, busy, slots, labels, repositories, version }) => [
    name,
    reason === null ? state : `${state}: ${reason}`,
    `${busy}/${slots}`,
    labels.join(" "),
    repositories.join(" "),
    version,
  ]);
  const columns = [
    { title: "worker" },
    { title: "state" },
    { title: "busy", align: "right" },
    { title: "labels", shrink: true },
    { title: "repositories", shrink: true },
    { title: "version" },
  ] as const;
  for (const line of formatTable(columns, rows, io.width)) io.line(line);
}

const queues = defineVerb("team.queues", {
  path: ["queues"],
  examples: ["verbatim worker queues", "verbatim worker queues --json"],
  render({ queues: rows, dead, slots, busy }, io) {
    const columns = [
      { title: "queue", shrink: true },
      { title: "ready", align: "right" },
      { title: "taken", align: "right" },
      { title: "oldest", align: "right" },
    ] as const;
    const cells = rows.map((row) => [
      row.queue,
      String(row.ready),
      String(row.active),
      `${Math.round(row.oldest_s)} s`,
    ]);
    if (rows.length > 0) for (const line of formatTable(columns, cells, io.width)) io.line(line);
    else io.line("nothing waits");
    io.line(`${busy} of ${slots} slots are busy`);
    if (dead > 0)
      io.line(io.paint.bad(`${dead} used up their retries: see verbatim job list, then verbatim job retry JOB`));
  },
});

export const noun: Noun = {
  verbs: [
    defineVerb("team.worker", {
      path: [],
      flags: {
        repository: { value: "NAME" },
        label: { value: "LABEL" },
        slots: { value: "N" },
        grace: { value: "S" },
        min_free: { value: "BYTES" },
        wait: { value: "S" },
        kinds: { value: "KIND" },
        agent_env: { value: "NAME" },
        agent_host: { value: "H[:PORT]" },
        health: { value: "H:P" },
        log_level: { value: "LEVEL" },
      },
      examples: ["verbatim worker --repository harbour --slots 2", "verbatim worker --once"],
      render: ({ worker, jobs }, io) => io.line(`${worker} ended; ${jobs} ${jobs === 1 ? "job" : "jobs"} done`),
    }),
    defineVerb("team.worker-list", {
      path: ["list"],
      examples: ["verbatim worker list"],
      render({ workers }, io) {
        if (workers.length > 0) renderWorkers(workers, io);
        else io.line("no worker is there: verbatim worker --repository NAME");
      },
    }),
    queues,
    defineVerb("team.worker-drain", {
      path: ["drain"],
      args: [{ field: "name", label: "NAME" }],
      examples: ["verbatim worker drain worker/build-3#4711"],
      render: ({ name }, io) => io.line(`${name} takes no new job, and ends when it is idle`),
    }),
  ],
};
