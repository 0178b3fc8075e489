import { formatTable } from "../table.ts";
import { defineVerb, type Noun } from "../verb.ts";

export const noun: Noun = {
  verbs: [
    defineVerb("contract.list", {
      path: ["list"],
      examples: ["verbatim contract list", "verbatim contract list --json"],
      render({ objects }, io) {
        const rows = objects.map(({ id, media, summary }) => [id, media, summary]);
        const columns = [{ title: "object" }, { title: "form" }, { title: "description", shrink: true }];
        for (const line of formatTable(columns, rows, io.width)) io.line(line);
      },
    }),
    defineVerb("contract.show", {
      path: ["show"],
      args: [{ field: "object", label: "OBJECT" }],
      examples: ["verbatim contract show jobs/message", "verbatim contract show receipt --json"],
      render({ schema }, io) {
        io.line(JSON.stringify(schema, null, 2));
      },
    }),
    defineVerb("contract.check", {
      path: ["check"],
      args: [
        { field: "object", label: "OBJECT" },
        { field: "file", label: "FILE" },
      ],
      examples: [
        "verbatim contract check jobs/message message.json",
        "cat policy.json | verbatim contract check trust-policy -",
      ],
      render(judged, io) {
        for (const { code, where, pointer, message } of judged.problems) {
          const at = pointer === undefined || pointer === "" ? where : `${where} ${pointer}`;
          io.line(`${io.paint.bad(code)} at ${at}: ${message}`);
        }
        const count = judged.problems.length;
        io.line(
          judged.ok
            ? `${io.paint.good("valid")} ${judged.file} is a ${judged.object}`
            : `${io.paint.bad("not valid")} ${count} problem${count === 1 ? "" : "s"}; the contract: verbatim contract show ${judged.object}`,
        );
      },
      exit: ({ ok }) => (ok ? 0 : 1),
    }),
  ],
};
