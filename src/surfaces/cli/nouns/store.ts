import { count } from "../../../core/text/index.ts";
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
    defineVerb("store.backup", {
      path: ["backup"],
      flags: { out: { value: "DIR" } },
      examples: ["verbatim store backup --out backup-monday"],
      render({ folder, ledgers, bytes }, io) {
        io.line(`${io.paint.good("backed up")} to ${folder}: ${bytes} bytes`);
        for (const one of ledgers)
          io.line(`  ${one.workspace}: ${count(one.tree_size, "entry", "entries")}, root ${one.root_hash}`);
      },
    }),
    defineVerb("store.restore", {
      path: ["restore"],
      args: [{ field: "folder", label: "DIR" }],
      examples: ["verbatim store restore backup-monday"],
      render({ where, ledgers, now, open, unknown }, io) {
        io.line(`${io.paint.good("restored")} ${where}; it goes on as incarnation ${now}`);
        for (const one of ledgers) io.line(`  ${one.workspace}: ${count(one.tree_size, "entry", "entries")}, verified`);
        io.line(`${count(open, "job, run or merge", "jobs, runs and merges")} to go on`);
        for (const { repository, refs } of unknown) {
          if (refs === null)
            io.line(io.paint.bad(`the remote of ${repository} did not answer: its branches were not looked at`));
          for (const ref of refs ?? []) io.line(`  ${repository} has ${ref}, which came after the backup`);
        }
      },
    }),
    defineVerb("store.import", {
      path: ["import"],
      args: [{ field: "file", label: "FILE" }],
      flags: { workspace: { value: "NAME" } },
      examples: ["verbatim store import .verbatim/state/store.db --workspace harbour"],
      render({ where, workspace, tree_size, root_hash, payloads }, io) {
        const ledger = `${count(tree_size, "entry", "entries")}, root ${root_hash}, the same as in the file`;
        io.line(`${io.paint.good("imported")} into ${where} as ${workspace}: ${ledger}`);
        io.line(`  ${count(payloads, "payload")}; the file was not changed, and folders of runs stay where they are`);
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
