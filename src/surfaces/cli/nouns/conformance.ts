import { defineVerb, type Noun } from "../verb.ts";

export const noun: Noun = {
  verbs: [
    defineVerb("hall.conformance", {
      path: [],
      args: [{ field: "files", label: "FILE", variadic: true }],
      flags: { area: { value: "PREFIX" } },
      examples: [
        "verbatim conformance test/vectors/canonical-json.json",
        "verbatim conformance test/vectors/bundle.json --area ledger.",
      ],
      render(report, io) {
        for (const one of report.mismatches) {
          io.line(
            `${io.paint.bad("mismatch")} ${one.id} [${one.area}] ${one.name}: expected ${one.expected}, got ${one.actual}`,
          );
        }
        for (const one of report.skips) io.line(`${io.paint.warn("skipped")} ${one.id}: ${one.reason}`);
        io.line(`${report.passed} passed, ${report.failed} failed, ${report.skipped} skipped`);
      },
      exit: (report) => (report.failed > 0 ? 1 : 0),
    }),
  ],
};
