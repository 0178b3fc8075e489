import { defineVerb, type Noun } from "../verb.ts";

export const noun: Noun = {
  verbs: [
    defineVerb("team.worker", {
      path: [],
      flags: { repository: { value: "NAME" }, label: { value: "LABEL" }, slots: { value: "N" }, grace: { value: "S" } },
      examples: ["verbatim worker --repository harbour --slots 2", "verbatim worker --once"],
      render: ({ worker, jobs }, io) => io.line(`${worker} ended; ${jobs} ${jobs === 1 ? "job" : "jobs"} done`),
    }),
  ],
};
