import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "../../core/canonical/index.ts";
import { limitsOf, type ViewOutcome } from "../../rooms/catalytic/index.ts";
import {
  CONTEXT_PACK_FILE,
  PATCH_GATE_FILE,
  type PatchGateRecord,
  PatchRefused,
  type PatchSection,
  parsePatch,
  type Run,
  VERIFY_REPORT_FILE,
  type VerifyReport,
} from "../../rooms/workflow/index.ts";
import type { Captured } from "./agent-capture.ts";
import type { AgentSummary } from "./agent-summary.ts";

/** What the proof of a view says, for people. */
export function readProof({ run, changes }: ViewOutcome, root: string): NonNullable<AgentSummary["proof"]> {
  const directory = resolve(root, run.run_dir);
  const proof = readObject(join(directory, "PROOF.json"));
  const guard = proof === null ? undefined : proof["guard"];
  const tripwire = isJsonObject(guard) ? guard["tripwire"] : undefined;
  const trusted = isJsonObject(tripwire) ? tripwire["stat_only_roots"] : undefined;
  const launcher = isJsonObject(guard) ? guard["launcher"] : undefined;
  return {
    catalytic_run: run.run_id,
    directory,
    accepted: run.accepted,
    condition: run.condition,
    proof_hash: run.proof_hash,
    guard: run.guard,
    launcher: typeof launcher === "string" ? launcher : null,
    tree_root_before: readRoot(proof, "pre_state"),
    tree_root_after: readRoot(proof, "post_state"),
    hashed: Array.isArray(trusted) && trusted.includes(".") ? "what could have changed" : "everything",
    violations: run.violations.map(({ code, path }) => `${code} ${path}`),
    limits: [...limitsOf(run.guard)],
    concurrent_changes: [...changes.concurrent],
  };
}

function readObject(file: string): JsonObject | null {
  const value = existsSync(file) ? parseJson(readFileSync(file)) : null;
  return isJsonObject(value) ? value : null;
}

function readRoot(proof: JsonObject | null, side: "pre_state" | "post_state"): string | null {
  const states = proof?.[side];
  const state = isJsonObject(states) ? states["."] : undefined;
  const root = isJsonObject(state) ? state["tree_root"] : undefined;
  return typeof root === "string" ? root : null;
}

/** Files and lines of a captured change. */
export function countChanges(captured: Captured, ignored: number): AgentSummary["changes"] {
  const sections = parseSections(captured.text);
  const files: AgentSummary["changes"]["files"] = sections.map((section) => ({
    path: section.new_path,
    operation: toOperation(section.operation, section.added + section.deleted),
    added: section.added,
    deleted: section.deleted,
  }));
  const counted = new Set(files.map(({ path }) => path));
  for (const { path, mode, isNew } of captured.files) {
    if (counted.has(path)) continue;
    files.push({ path, operation: mode === null ? "delete" : isNew ? "create" : "modify", added: 0, deleted: 0 });
  }
  const sum = (side: "added" | "deleted") => files.reduce((total, file) => total + file[side], 0);
  return {
    files,
    added_lines: sum("added"),
    deleted_lines: sum("deleted"),
    ignored,
    binaries: [...captured.binaries],
    links: [...captured.links],
    not_carried: captured.not_carried.map((one) => ({ ...one })),
  };
}

/** A name the gate will refuse anyway cannot be counted by its parser. */
function parseSections(text: Uint8Array): readonly PatchSection[] {
  if (text.length === 0) return [];
  try {
    return parsePatch(text, "posix");
  } catch (thrown) {
    if (thrown instanceof PatchRefused) return [];
    throw thrown;
  }
}

function toOperation(operation: string, lines: number): "create" | "modify" | "delete" | "mode" {
  if (operation === "create" || operation === "delete") return operation;
  return lines === 0 ? "mode" : "modify";
}

/** What the gate of a run said, if it was asked. */
export function readGate(run: Run): AgentSummary["gate"] {
  const record = readArtifact(run, PATCH_GATE_FILE) as PatchGateRecord | null;
  if (record === null) return null;
  const { result } = record;
  if (result.verdict === "accept") return { verdict: "accept", code: null, rule: null, findings: [] };
  const first = { code: result.code, rule: result.rule, path: result.path ?? null };
  const findings = result.findings?.map(({ code, rule, path }) => ({ code, rule, path: path ?? null })) ?? [first];
  return { verdict: "reject", code: result.code, rule: result.rule, findings };
}

/** Nobody was asked to verify the change. */
export const NOT_VERIFIED: NonNullable<AgentSummary["verify"]> = {
  result: "NONE",
  isolation: "none",
  catalytic_run: null,
  on: null,
  setup: [],
  also_fails: false,
  notices: [],
  commands: [],
  failures: [],
};

/** What the gates of the plan said about the patch in its isolated copy, if they ran. */
export function readVerify(run: Run): AgentSummary["verify"] {
  const report = readArtifact(run, VERIFY_REPORT_FILE) as VerifyReport | null;
  if (report === null) return run.state.candidates.at(-1)?.state === "unverified" ? NOT_VERIFIED : null;
  return {
    result: report.result,
    isolation: report.isolation,
    catalytic_run: report.catalytic_run_id ?? null,
    on: null,
    setup: [],
    also_fails: false,
    notices: [],
    commands: report.commands.map(({ cmd, exit_code, duration_ms }) => ({ cmd, exit_code, duration_ms })),
    failures: report.failures.map(({ kind, id, message }) => ({ kind, id, message })),
  };
}

/** What the agent was given to read. */
export function readShown(run: Run): AgentSummary["shown"] {
  const files = (readArtifact(run, CONTEXT_PACK_FILE) as { files?: { path: string; content: string }[] } | null)?.files;
  const bytes = (files ?? []).reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  return { files: (files ?? []).map(({ path }) => path), bytes };
}

function readArtifact(run: Run, path: string): unknown {
  const bytes = run.read(path);
  return bytes === null ? null : (parseJson(bytes) as JsonValue as unknown);
}
