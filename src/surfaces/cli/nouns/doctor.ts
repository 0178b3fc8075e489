import { defineVerb, type Noun } from "../verb.ts";

export const noun: Noun = {
  verbs: [
    defineVerb("hall.doctor", {
      path: [],
      examples: ["verbatim doctor", "verbatim doctor --json"],
      render({ checks, ok }, io) {
        const paint = { ok: io.paint.good, warn: io.paint.warn, fail: io.paint.bad };
        for (const { name, status, message, fix } of checks) {
          io.line(`${paint[status](status.padEnd(4))}  ${name.padEnd(12)} ${message}`);
          if (fix !== null) io.line(`      ${"".padEnd(12)} fix: ${fix}`);
        }
        io.line(ok ? io.paint.good("everything required works") : io.paint.bad("something needs to be fixed"));
      },
      exit: ({ ok }) => (ok ? 0 : 1),
    }),
  ],
};
