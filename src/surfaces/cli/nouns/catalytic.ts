import type { Output } from "../../../app/operations.ts";
import { describeOutside } from "../../../core/contracts/guards.ts";
import { FINDINGS, type Finding } from "../../../core/errors/index.ts";
import { exitOfCondition } from "../../../core/exits.ts";
import type { Io } from "../io.ts";
import { formatTable } from "../table.ts";
import { defineVerb, type Noun } from "../verb.ts";

type Ran = Output<"catalytic.run">;
type Shown = Output<"catalytic.show">;

function sayFinding(code: string): string {
  return FINDINGS.catalytic[code as Finding<"catalytic">];
}

/** The summary goes to stderr: standard output belongs to the command that was run. */
function tellRun(ran: Ran, io: Io): void {
  if (ran.status === "declared") {
    io.note(`${io.paint.good("may run")} ${ran.run_id}: ${ran.message}`);
    return;
  }
  if (ran.accepted) {
    const from = ran.memo_hit ? ", reused from an identical run" : "";
    io.note(
      `${io.paint.good("proved")} run ${ran.run_id}: the domains are unchanged (${ran.duration_ms} ms, guard ${ran.guard}${from})`,
    );
  } else if (ran.status === "succeeded") {
    io.note(`run ${ran.run_id} ended: ${ran.message} (${ran.duration_ms} ms, guard ${ran.guard})`);
  } else io.note(`run ${ran.run_id} ${io.paint.bad(ran.status)}: ${ran.message}`);
  if (ran.proof_hash !== null) tellSummary(ran, io);
  if (ran.noise.length > 0) io.note(`  changed by other programs during the run: ${ran.noise.join(", ")}`);
  if (ran.next_step !== "") io.note(`  next: ${ran.next_step}`);
}

/** What the command did inside, what came of the outside, what stays, and the proof. */
function tellSummary(ran: Ran, io: Io): void {
  const { added, changed, removed } = ran.inside;
  const total = added + changed + removed;
  const restored = ran.status === "halted" ? "not everything was restored" : "all restored";
  io.note(
    `  inside: ${total === 0 ? "nothing changed" : `${added} added, ${changed} changed, ${removed} removed; ${restored}`}`,
  );
  const outside = ran.violations.filter(({ code }) => !code.startsWith("OUTPUT_"));
  const blocked = describeOutside(ran.guard);
  io.note(
    `  outside: ${outside.length === 0 ? "nothing changed" : `${outside.length} changed`} among ${ran.compared} paths compared; ${blocked}`,
  );
  for (const { code, path } of ran.violations) io.note(`    ${code} ${path}`);
  tellRefused(ran, io);
  for (const output of ran.outputs) io.note(`  output: ${output}`);
  for (const path of ran.quarantined) io.note(`  quarantine: ${ran.run_dir}/quarantine/${path}`);
  io.note(`  proof: ${ran.run_dir}/PROOF.json ${ran.proof_hash?.slice(0, 12) ?? ""}`);
}

/** Only the command is told what was refused, so what it printed about that is quoted. */
function tellRefused({ refused }: Ran, io: Io): void {
  if (refused.lines === 0) return;
  io.note(`  blocked: the command reported it in ${refused.lines} ${refused.lines === 1 ? "line" : "lines"}`);
  for (const line of refused.shown) io.note(`    ${line}`);
  if (refused.lines > refused.shown.length)
    io.note(`    and ${refused.lines - refused.shown.length} more in STDERR.log`);
}

function exitOfRun(ran: Ran): number {
  // A run that was only checked, and a skill that runs without a guard, have no condition.
  if (ran.condition === null) return ran.status === "declared" || ran.status === "succeeded" ? 0 : 1;
  return exitOfCondition(ran.condition, ran.interrupted_by);
}

function tellVerified(verified: Output<"catalytic.verify">, io: Io): void {
  const { accepted, genuine, run_id: run, errors, warnings, signature, tree } = verified;
  const word = accepted ? io.paint.good("accepted") : io.paint.bad("not accepted");
  io.line(
    `${word} ${run}: genuine: ${genuine ? "yes" : "no"}, ${verified.condition ?? "no verdict"}, signature ${signature.state}, tree ${tree}`,
  );
  for (const { code, file, path, message, fix } of errors) {
    io.line(`  ${io.paint.bad(code)} ${file ?? path ?? ""}: ${message}`);
    io.line(`    ${fix}`);
  }
  for (const { code, path, file, message } of warnings)
    io.line(`  ${io.paint.warn(code)} ${path ?? file ?? ""}: ${message}`);
  if (accepted && signature.state !== "pinned") {
    io.line("  no key is pinned: a consistent rewrite of every file would go unnoticed (use --sign and --pin)");
  }
}

const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
const words = (value: unknown): string =>
  Array.isArray(value) ? value.join(", ") : value === undefined || value === null ? "" : String(value);

async function tellShown(shown: Shown, io: Io): Promise<void> {
  if (shown.unpacked !== undefined) return io.line(`unpacked ${shown.unpacked} files of ${shown.run_id}`);
  if (shown.artifact_base64 !== undefined) {
    await io.out(Buffer.from(shown.artifact_base64, "base64"));
    return;
  }
  const { jobspec, status, proof } = shown;
  const guard = member(proof, "guard");
  const rows: [string, string][] = [
    ["run", shown.run_id],
    ["intent", words(member(jobspec, "intent"))],
    ["command", words(member(jobspec, "command"))],
    ["status", words(member(status, "status"))],
    ["verdict", words(member(status, "condition"))],
    [
      "guard",
      guard === undefined
        ? ""
        : `${words(member(guard, "name"))}, blocks ${words(member(guard, "blocks")) || "nothing"}`,
    ],
    ["domains", words(member(jobspec, "catalytic_domains"))],
  ];
  for (const [name, text] of rows) io.line(`${name.padEnd(8)} ${text}`);
  const state = member(proof, "pre_state");
  for (const domain of typeof state === "object" && state !== null ? Object.keys(state) : []) {
    const after = member(member(proof, "post_state"), domain);
    io.line(`         ${domain} ${words(member(member(state, domain), "tree_root"))}`);
    io.line(`         ${" ".repeat(domain.length)} ${words(member(after, "tree_root"))} afterwards`);
  }
  for (const output of shown.outputs) io.line(`output   ${words(member(output, "path"))}`);
  for (const path of shown.quarantined) io.line(`kept     ${path} (quarantine)`);
  const violations = member(proof, "violations");
  for (const one of Array.isArray(violations) ? (violations as unknown[]) : []) {
    io.line(`${io.paint.bad("broke")}    ${words(member(one, "code"))} ${words(member(one, "path"))}`);
  }
  const message = words(member(status, "message"));
  if (message !== "") io.line(`message  ${message}`);
  io.line(`next     ${nextStep(shown)}`);
}

/** What to do after looking at a run; a failed one says itself that it should be looked at. */
function nextStep({ run_id: run, status }: Shown): string {
  const said = words(member(status, "next_step"));
  if (said !== `verbatim catalytic show ${run}`) return said;
  return `verbatim catalytic show ${run} --artifact STDERR.log`;
}

export const noun: Noun = {
  verbs: [
    defineVerb("catalytic.run", {
      path: ["run"],
      args: [{ field: "command", label: "CMD", optional: true, variadic: true }],
      flags: {
        jobspec: { value: "FILE" },
        domain: { value: "P" },
        out: { value: "P" },
        out_root: { value: "P" },
        input: { value: "P" },
        env: { value: "NAME[=VALUE]" },
        timeout: { value: "T" },
        expect_exit: { value: "CODES" },
        skill: { value: "DIR" },
      },
      examples: [
        "verbatim catalytic run --domain .verbatim/scratch --out .verbatim/out/report.md -- node build.js",
        "verbatim catalytic run --jobspec job.json --guard require",
        "verbatim catalytic run --domain .verbatim/scratch --network none --timeout 5m -- npm test",
      ],
      render: tellRun,
      exit: (ran, { exit_code: whose }) =>
        whose === "command" && ran.exit_code !== null && ran.status !== "halted" ? ran.exit_code : exitOfRun(ran),
    }),
    defineVerb("catalytic.verify", {
      path: ["verify"],
      args: [{ field: "run", label: "RUN" }],
      flags: { pin: { value: "KEY" }, trust: { value: "POLICY" }, policy: { value: "FILE" } },
      examples: [
        "verbatim catalytic verify r-20260101t101500z-1a2b3c4d",
        "verbatim catalytic verify .verbatim/runs/nightly --tree none",
      ],
      render: tellVerified,
      exit: ({ accepted }) => (accepted ? 0 : 1),
    }),
    defineVerb("catalytic.show", {
      path: ["show"],
      args: [{ field: "run", label: "RUN" }],
      flags: { artifact: { value: "NAME" }, unpack: { value: "DIR" } },
      examples: [
        "verbatim catalytic show nightly",
        "verbatim catalytic show nightly --artifact RESTORE_DIFF.json",
        "verbatim catalytic show v-20250102t030405z-1a2b3c4d --unpack ../record",
      ],
      render: tellShown,
    }),
    defineVerb("catalytic.list", {
      path: ["list"],
      examples: ["verbatim catalytic list", "verbatim catalytic list --status halted --json"],
      render({ runs }, io) {
        if (runs.length === 0) {
          io.line(`no catalytic runs: ${io.paint.bold("verbatim catalytic run --help")}`);
          return;
        }
        const rows = runs.map((run) => [
          run.run_id,
          FINISHED.includes(run.status) ? run.status : `${run.status} !`,
          run.condition ?? "",
          run.started.slice(0, 16).replace("T", " "),
        ]);
        const columns = [
          { title: "run" },
          { title: "status" },
          { title: "condition", shrink: true },
          { title: "started" },
        ];
        for (const line of formatTable(columns, rows, io.width)) io.line(line);
      },
    }),
    defineVerb("catalytic.recover", {
      path: ["recover"],
      args: [{ field: "run", label: "RUN", optional: true }],
      examples: [
        "verbatim catalytic recover",
        "verbatim catalytic recover nightly --dry-run",
        'verbatim catalytic recover nightly --accept-current --by "Ada" --reason "the edit is mine"',
      ],
      render({ runs }, io) {
        if (runs.length === 0) io.line("nothing to recover");
        for (const run of runs) {
          const what = run.code === null ? run.action : `${run.action} ${run.code}`;
          io.line(`${run.run_id}: ${what}${run.final_status === null ? "" : `, now ${run.final_status}`}`);
          for (const step of run.steps) io.line(`  ${step}`);
          if (run.action === "halt")
            io.line(
              `  decide: verbatim catalytic recover ${run.run_id} --retry | --accept-current --by NAME --reason TEXT`,
            );
        }
      },
      exit: ({ runs }) =>
        runs.some(({ action }) => action === "halt" || action === "refuse" || action === "skip") ? 4 : 0,
    }),
    defineVerb("catalytic.doctor", {
      path: ["doctor"],
      examples: ["verbatim catalytic doctor", "verbatim catalytic doctor --json"],
      render(examined, io) {
        for (const { name, works, reason, blocks, gaps, fix } of examined.guards) {
          const word = works ? io.paint.good("works") : io.paint.warn(reason ?? "no");
          const open = gaps.length === 0 || blocks.length === 0 ? "" : `; not ${gaps.join(", ")}`;
          io.line(`${name.padEnd(11)} ${word}${works ? `, blocks ${blocks.join(", ") || "nothing"}${open}` : ""}`);
          if (fix !== null) io.line(`${" ".repeat(12)}${fix}`);
        }
        io.line(`chosen: ${examined.chosen}; network can be cut off: ${examined.network_none ? "yes" : "no"}`);
        for (const { holds, place, file_system } of examined.upper)
          io.line(`upper layers of ${holds}: on ${file_system ?? "unknown file system"}, ${place}`);
        for (const lock of examined.locks)
          io.line(`lock: ${lock.path} by ${lock.run_id}, ${lock.halted ? "halted" : lock.state}`);
        for (const run of examined.dead_runs) io.line(`dead run: ${run}; verbatim catalytic recover ${run}`);
      },
      exit: ({ chosen }) => (chosen === "audit" ? 1 : 0),
    }),
    defineVerb("catalytic.check-skill", {
      path: ["check-skill"],
      args: [{ field: "dir", label: "DIR" }],
      examples: ["verbatim catalytic check-skill skills/lint"],
      render({ ok, mode, errors, warnings }, io) {
        if (ok) io.line(`${io.paint.good("declared")} ${mode}`);
        for (const code of errors) io.line(`${io.paint.bad("refused")} ${code}: ${sayFinding(code)}`);
        for (const code of warnings) io.line(`${io.paint.warn(code)}: ${sayFinding(code)}`);
      },
      exit: ({ ok }) => (ok ? 0 : 2),
    }),
  ],
};

/** Runs that need nobody; the others are marked. */
const FINISHED: readonly string[] = ["succeeded", "failed"];
