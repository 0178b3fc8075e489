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
    defineVerb("team.worker-drain", {
      path: ["drain"],
      args: [{ field: "name", label: "NAME" }],
      examples: ["verbatim worker drain worker/build-3#4711"],
      render: ({ name }, io) => io.line(`${name} takes no new job, and ends when it is idle`),
    }),
  ],
};
