import { formatTable } from "../table.ts";
import { defineVerb, type Noun } from "../verb.ts";

interface Listed {
  readonly objects: readonly { readonly id: string; readonly media: string; readonly summary: string }[];
}

interface Judged {
  readonly ok: boolean;
  readonly object: string;
  readonly file: string;
  readonly problems: readonly {
    readonly code: string;
    readonly where: string;
    readonly pointer?: string | undefined;
    readonly message: string;
  }[];
}

export const noun: Noun = {
  verbs: [
    defineVerb<Listed>({
      path: ["list"],
      operation: "contract.list",
      examples: ["verbatim contract list", "verbatim contract list --json"],
      render({ objects }, io) {
        const rows = objects.map(({ id, media, summary }) => [id, media, summary]);
        const columns = [{ title: "object" }, { title: "form" }, { title: "what it is", shrink: true }];
        for (const line of formatTable(columns, rows, io.width)) io.line(line);
      },
    }),
    defineVerb<{ readonly schema: unknown }>({
      path: ["show"],
      operation: "contract.show",
      args: [{ field: "object", label: "OBJECT" }],
      examples: ["verbatim contract show jobs/message", "verbatim contract show receipt --json"],
      render({ schema }, io) {
        io.line(JSON.stringify(schema, null, 2));
      },
    }),
    defineVerb<Judged>({
      path: ["check"],
      operation: "contract.check",
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
