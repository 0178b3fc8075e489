import { printChecks } from "../checks-text.ts";
import { defineVerb, type Noun } from "../verb.ts";

export const noun: Noun = {
  verbs: [
    defineVerb("store.status", {
      path: ["status"],
      examples: ["verbatim store status", "verbatim store status --json"],
      render({ checks, ok }, io) {
        printChecks(checks, io);
        if (!ok) io.line(io.paint.bad("something needs to be fixed"));
      },
      exit: ({ ok }) => (ok ? 0 : 1),
    }),
    defineVerb("store.migrate", {
      path: ["migrate"],
      flags: { dry_run: {}, workspace: { value: "NAME" } },
      examples: ["verbatim store migrate --dry-run", "verbatim store migrate"],
      render({ where, from, to, steps, done, sql }, io) {
        for (const statement of sql) io.line(statement);
        const say = (text: string) => (sql.length === 0 ? io.line(text) : io.note(text));
        if (steps.length === 0) {
          say(`${where} has version ${to}: nothing to do`);
          return;
        }
        const names = steps.map(({ name }) => name).join(", ");
        const before = from === 0 ? "had no store" : `had version ${from}`;
        say(
          done
            ? `${io.paint.good("migrated")} ${where} to version ${to} (${before}): ${names}`
            : `${where} ${before}; this would bring it to version ${to}: ${names}`,
        );
      },
    }),
    defineVerb("store.requeue", {
      path: ["requeue"],
      examples: ["verbatim store requeue"],
      render: ({ sent }, io) =>
        io.line(sent === 0 ? "the queue has every open job" : `sent ${sent} ${sent === 1 ? "job" : "jobs"} again`),
    }),
  ],
};
