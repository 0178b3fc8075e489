import { count, formatSize } from "../../../app/agent/report/explain-words.ts";
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
  defineVerb("agent.export", {
    path: ["export"],
    args: [{ field: "run", label: "RUN" }],
    flags: { format: { value: "FORMAT" }, out: { value: "FILE" } },
    examples: ["verbatim agent export @ --out trace.json", "verbatim agent export @ --format transcript --content"],
    async render({ format, text, out }, io) {
      if (text === null) io.line(`written ${out}, ${format}`);
      else await io.out(text);
    },
  }),
  defineVerb("agent.pin", {
    path: ["pin"],
    args: [{ field: "run", label: "RUN" }],
    examples: ["verbatim agent pin @", "verbatim agent pin 20250102-030405 --unpin"],
    render: ({ run_id, pinned }, io) =>
      io.line(pinned ? `${run_id} is kept whole until it is unpinned` : `${run_id} may be pruned again`),
  }),
  defineVerb("agent.prune", {
    path: ["prune"],
    flags: { older_than: { value: "T" }, keep: { value: "N" }, max_size: { value: "SIZE" } },
    examples: ["verbatim agent prune --dry-run", "verbatim agent prune --older-than 14d --keep 20"],
    render({ runs, bytes, pieces, slimmed, dry_run }, io) {
      for (const { run_id, outcome, bytes: own } of runs) {
        io.line(`${run_id}  ${outcome.replaceAll("_", " ")}  ${formatSize(own)}`);
      }
      const what = `logs, transcripts and proofs of ${count(runs.length, "run")}, ${formatSize(bytes)}`;
      if (dry_run) return io.line(`would go: ${what}; nothing was changed: --dry-run`);
      io.line(`gone: ${what}${pieces === 0 ? "" : `, and ${count(pieces, "shared piece")} that nobody else used`}`);
      if (slimmed > 0) io.line(`${formatSize(slimmed)} of proofs are kept in shared pieces now`);
    },
  }),
];
