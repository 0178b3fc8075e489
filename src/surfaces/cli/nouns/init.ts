import type { Output } from "../../../app/operations.ts";
import type { Io } from "../io.ts";
import { formatTable } from "../table.ts";
import { defineVerb, type Noun } from "../verb.ts";

export const noun: Noun = {
  verbs: [
    defineVerb("hall.init", {
      path: [],
      flags: { write: { name: "yes" } },
      examples: ["verbatim init", "verbatim init --yes", "verbatim init --yes --docs", "verbatim init --json"],
      async prepare(given, io, app) {
        if (given.write === true || io.flags.json || !io.interactive) return given;
        const proposal = await app.call("hall.init", { write: false });
        showProposal(proposal, io);
        await io.flush();
        return { ...given, write: await io.confirm(`Write ${proposal.path}?`) };
      },
      render(outcome, io) {
        if (!io.interactive || outcome.written) showProposal(outcome, io);
        for (const path of outcome.docs) io.line(`${io.paint.good("written")} ${path}`);
        if (outcome.written) io.line(`${io.paint.good("written")} ${outcome.path}`);
        else io.line(`nothing was written; to write it: ${io.paint.bold("verbatim init --yes")}`);
        io.line(`next: ${io.paint.bold("verbatim doctor")}`);
      },
    }),
  ],
};

function showProposal(outcome: Output<"hall.init">, io: Io): void {
  const rows = outcome.sources.map(({ glob, files, bytes }) => [glob, String(files), String(bytes)]);
  const columns = [
    { title: "source", shrink: true },
    { title: "files", align: "right" },
    { title: "bytes", align: "right" },
  ] as const;
  if (rows.length > 0) for (const line of formatTable(columns, rows, io.width)) io.line(line);
  for (const reason of outcome.reasons) io.line(`- ${reason}`);
  io.line(JSON.stringify(outcome.config, null, 2));
}
