import { defineVerb, type Verb } from "../verb.ts";

/** Verbs about what others can check. */
export const EVIDENCE_VERBS: readonly Verb[] = [
  defineVerb("agent.attest", {
    path: ["attest"],
    args: [{ field: "run", label: "RUN" }],
    flags: { key: { value: "KEY" }, commit: { value: "HEX" }, out: { value: "FILE" } },
    examples: ["verbatim agent attest @ --key mira", "verbatim agent attest 20250102-030405 --key mira --commit HEAD"],
    render({ commit, signed_by, note, out }, io) {
      const keys = signed_by.map((id) => id.slice(0, 16)).join(", ");
      io.line(`${io.paint.good("attested")} ${commit.slice(0, 12)}, signed by ${keys}`);
      if (out !== null) io.line(`  file  ${out}`);
      if (note) io.line("  push  git push origin HEAD refs/notes/verbatim");
    },
  }),
  defineVerb("agent.check", {
    path: ["check"],
    args: [{ field: "range", label: "COMMIT|RANGE" }],
    flags: { trust: { value: "FILE" } },
    examples: [
      "verbatim agent check HEAD --trust ../agents.json",
      "verbatim agent check origin/main..HEAD --trust .github/agents.json --format github",
    ],
    render: ({ report }, io) => io.out(report),
    exit: ({ ok }) => (ok ? 0 : 1),
  }),
];
