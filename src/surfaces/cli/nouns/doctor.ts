import { printChecks } from "../checks-text.ts";
import { defineVerb, type Noun } from "../verb.ts";

export const noun: Noun = {
  verbs: [
    defineVerb("hall.doctor", {
      path: [],
      examples: ["verbatim doctor", "verbatim doctor --json"],
      render({ checks, ok }, io) {
        printChecks(checks, io);
        io.line(ok ? io.paint.good("everything required works") : io.paint.bad("something needs to be fixed"));
      },
      exit: ({ ok }) => (ok ? 0 : 1),
    }),
  ],
};
