import { count } from "../../../core/text/index.ts";
import { formatTable, shortId } from "../table.ts";
import { defineVerb, type Noun } from "../verb.ts";

const REPLAYED_HASHES =
  "the content_hash of a replayed step is that of the artifact; it differs from the receipt's if a line feed was appended";

const PATH = [{ field: "path", label: "PATH" }] as const;

const verify = defineVerb("jobs.bundle-verify", {
  path: ["verify"],
  args: PATH,
  flags: { trust: { value: "POLICY" }, attestation: { value: "FILE" } },
  examples: ["verbatim bundle verify out/rules", "verbatim bundle verify out/rules --strict --trust trust.json"],
  render(report, io) {
    for (const { code, pointer, message, expected, actual, path } of report.problems) {
      const place = path ?? (pointer === "" ? "the bundle" : pointer);
      const values = expected === undefined ? "" : `; expected ${expected}, actual ${actual ?? "nothing"}`;
      io.line(`${io.paint.bad(`error[${code}]`)} at ${place}: ${message.replace(/[.]$/, "")}${values}`);
    }
    const { steps, artifacts, bytes } = report.counts;
    const word = report.ok ? io.paint.good("passed") : io.paint.bad(report.exit_code === 2 ? "not a bundle" : "failed");
    io.line(
      `${word} (${report.mode}) ${count(steps, "step")}, ${count(artifacts, "artifact")}, ${count(bytes, "byte")}`,
    );
    if (report.bundle_id !== null) io.line(`bundle ${report.bundle_id}`);
    const keys = report.trust.valid_keys.map((key) => shortId(key, io.flags.full)).join(", ");
    io.line(
      `trust  ${report.trust.verdict}${report.trust.code === null ? "" : ` (${report.trust.code})`} ${keys}`.trimEnd(),
    );
    for (const one of report.proves) io.line(`  proves: ${one}`);
    for (const one of report.does_not_prove) io.line(`  does not prove: ${one}`);
  },
  exit: ({ exit_code }) => exit_code,
});

const inspect = defineVerb("jobs.bundle-inspect", {
  path: ["inspect"],
  args: PATH,
  flags: { artifact: { value: "ID" } },
  examples: ["verbatim bundle inspect out/rules", "verbatim bundle inspect out/rules --artifact ID"],
  async render({ bundle, verifies, content }, io) {
    if (content !== null) {
      await io.out(content);
      return;
    }
    io.line(`bundle  ${bundle.bundle_id}`);
    io.line(`job     ${bundle.job_id}, message ${bundle.message_id}, run ${bundle.run_id}`);
    io.line(`plan    ${bundle.plan_hash}`);
    io.line(`root    ${bundle.root_hash}`);
    const rows = bundle.steps.map((step) => [
      String(step.ordinal),
      step.op,
      step.ref.startsWith("@") ? step.ref : shortId(step.ref, io.flags.full),
      step.slice ?? "",
      step.artifact_id ?? "none",
      String(step.bytes ?? ""),
    ]);
    const columns = [
      { title: "#", align: "right" },
      { title: "op" },
      { title: "ref", shrink: true },
      { title: "slice" },
      { title: "artifact" },
      { title: "bytes", align: "right" },
    ] as const;
    if (rows.length > 0) for (const line of formatTable(columns, rows, io.width)) io.line(line);
    for (const file of bundle.inputs.files) io.line(`file    ${file}`);
    if (Object.keys(bundle.provenance).length > 0) io.line(`provenance ${JSON.stringify(bundle.provenance)}`);
    if (!verifies) io.line(io.paint.bad("this bundle does not verify; see why: verbatim bundle verify"));
  },
});

export const noun: Noun = {
  verbs: [
    defineVerb("jobs.bundle-build", {
      path: ["build"],
      args: [{ field: "job_id", label: "JOB" }],
      flags: { out: { value: "DIR" }, sign: { value: "KEY" } },
      examples: ["verbatim bundle build JOB --out out/rules", "verbatim bundle build JOB --out out/rules --sign ci"],
      render(built, io) {
        io.line(
          `${io.paint.good("built")} ${built.path}: ${count(built.artifacts, "artifact")}, ${count(built.bytes, "byte")}`,
        );
        io.line(`bundle ${built.bundle_id}`);
        if (built.attestation !== null) io.line(`signed ${built.attestation}`);
        io.line(`next: ${io.paint.bold(`verbatim bundle verify ${built.path} --strict`)}`);
      },
    }),
    verify,
    inspect,
    defineVerb("jobs.bundle-diff", {
      path: ["diff"],
      args: [
        { field: "a", label: "A" },
        { field: "b", label: "B" },
      ],
      examples: ["verbatim bundle diff out/monday out/tuesday"],
      render(diff, io) {
        for (const { pointer, a, b } of diff.fields)
          io.line(`${pointer}: ${JSON.stringify(a)} -> ${JSON.stringify(b)}`);
        for (const [what, changes] of [
          ["step", diff.steps],
          ["artifact", diff.artifacts],
        ] as const) {
          for (const id of changes.added) io.line(`${io.paint.good("+")} ${what} ${id}`);
          for (const id of changes.removed) io.line(`${io.paint.bad("-")} ${what} ${id}`);
          for (const id of changes.changed) io.line(`~ ${what} ${id}`);
        }
        for (const { diff: text } of diff.lines) io.line(text.trimEnd());
        io.line(diff.equal ? io.paint.good("equal") : io.paint.bad("different"));
      },
      exit: ({ equal }) => (equal ? 0 : 1),
    }),
    defineVerb("jobs.bundle-replay", {
      path: ["replay"],
      args: PATH,
      flags: { out: { value: "FILE" } },
      lines: "unless-out",
      async prepare(given, io) {
        if (given.out === undefined && !io.flags.json) io.note(REPLAYED_HASHES);
        return given;
      },
      examples: [
        "verbatim bundle replay out/rules > receipts.jsonl",
        "verbatim bundle replay out/rules --strict --out receipts.jsonl",
      ],
      render(done, io) {
        io.line(`${io.paint.good("replayed")} ${done.receipts} receipts to ${done.path}, hash ${done.replay_hash}`);
        io.line(`  ${REPLAYED_HASHES}`);
      },
      exit: ({ exit }) => exit,
    }),
    defineVerb("jobs.bundle-attest", {
      path: ["attest"],
      args: PATH,
      examples: ["verbatim bundle attest out/rules --key ci"],
      render(done, io) {
        io.line(
          `${io.paint.good("signed")} ${done.path} with ${shortId(done.key_id, io.flags.full)}; ${done.signatures} signature${done.signatures === 1 ? "" : "s"}`,
        );
        const bundle = done.path.replace(/[.]dsse[.]json$/, "");
        io.line(`next: ${io.paint.bold(`verbatim bundle verify ${bundle} --trust POLICY`)}`);
      },
    }),
  ],
};
