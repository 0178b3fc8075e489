import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { AUDIT_RECORDS } from "../../src/app/team/records.ts";
import { isJsonObject, type JsonObject, parseJson } from "../../src/core/canonical/index.ts";
import { CATALYTIC_RECORDS } from "../../src/rooms/catalytic/contracts/records.ts";
import { CONTEXT_RECORDS } from "../../src/rooms/context/contracts/records.ts";
import { JOB_RECORDS } from "../../src/rooms/jobs/contracts/records.ts";
import { WORKFLOW_RECORDS } from "../../src/rooms/workflow/contracts/records.ts";
import { WORLD_RECORDS } from "../../src/rooms/world/contracts/records.ts";
import { ROOT } from "../../tools/stages.ts";

// Guards: every entry that a room ever wrote can be read as a record of its kind. The entries are those of the frozen
// runs, which nobody writes by hand, and one of each kind that no frozen run has.

const ROOMS = {
  catalytic: CATALYTIC_RECORDS,
  context: CONTEXT_RECORDS,
  job: JOB_RECORDS,
  workflow: WORKFLOW_RECORDS,
  world: WORLD_RECORDS,
  audit: AUDIT_RECORDS,
} as const;
type Room = keyof typeof ROOMS;

interface Entry {
  readonly stream: string;
  readonly kind: string;
  readonly body: JsonObject;
}

const HASH = "0".repeat(64);

function readFrozen(): Entry[] {
  const folder = join(ROOT, "test/pins/frozen/runs");
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"));
  const entries = lines.filter((line) => line.startsWith('{"actor":') && line.includes('"body_hash":'));
  return entries.map((line) => {
    // Words stand in place of what differs from machine to machine.
    const whole = line
      .replaceAll("<launcher>", '"perl"')
      .replaceAll("<duration>", "1")
      .replaceAll(/<hash [0-9]+>/g, HASH);
    return parseJson(whole) as unknown as Entry;
  });
}

function check({ stream, kind, body }: Entry): string | null {
  const room = stream.split("/")[0] as Room;
  const found = ROOMS[room].check(kind, body);
  return typeof found === "string" ? `${stream} ${kind} ${found}` : null;
}

const RUN = "3f0c9a52-7b1e-4c60-9d2a-5e8f1b7c6d40";
const SYMBOL = {
  symbol_id: "@DOC/A",
  target_type: "FILE",
  target_ref: "docs/a.md",
  default_slice_policy: "head(3)",
};

const AGENT = { state: "verified", reason: "because" } as const;
const CANDIDATE = {
  c: 1,
  candidate: HASH,
  candidate_sha256: HASH,
  patch_sha256: HASH,
  carried_sha256: null,
  files: 1,
  carried: 0,
  added: 2,
  deleted: 1,
};
const VERIFIED = { ...AGENT, v: 1, c: 1, candidate: HASH, base: { kind: "view", tree: HASH }, report_sha256: HASH };
const ONTO = { commit: HASH, tree: HASH };

/** What happens in an agent run, one of each kind. */
const AGENT_ENTRIES: Readonly<Record<string, JsonObject>> = {
  AGENT_STARTED: {
    ...AGENT,
    goal: "g",
    argv: ["a"],
    base: ONTO,
    created_at: "2026-11-15T22:18:51.000Z",
    run_dir: "/runs/r",
    repo: { id: "0".repeat(32), root: "/r", common_dir: null },
  },
  AGENT_ATTEMPT_STARTED: { ...AGENT, n: 1, argv: ["a"] },
  AGENT_ATTEMPT_ENDED: {
    ...AGENT,
    n: 1,
    end: "exited",
    code: 0,
    guard: "ns-overlay",
    catalytic_run: "r",
    proof_hash: HASH,
    attempt_sha256: HASH,
  },
  AGENT_LIMIT_HIT: { ...AGENT, n: 1, cap: "memory", limit: 1, used: 2 },
  AGENT_CAPTURED: { ...AGENT, attempt: 1, candidate: CANDIDATE },
  AGENT_SELECTED: { ...AGENT, parent: 1, candidate: CANDIDATE },
  AGENT_GATED: { ...AGENT, c: 1, candidate: HASH, verdict: "accept", codes: [], permit: [], gate_sha256: HASH },
  AGENT_SETUP_RAN: { ...AGENT, v: 1, commands: [{ cmd: "npm ci", exit_code: 0 }] },
  AGENT_VERIFIED: VERIFIED,
  AGENT_VERIFY_FAILED: VERIFIED,
  AGENT_LANDING_STARTED: { ...AGENT, l: 1, c: 1, onto: ONTO, plan_sha256: HASH },
  AGENT_LANDED: {
    ...AGENT,
    l: 1,
    c: 1,
    candidate: HASH,
    files: 1,
    added: 1,
    deleted: 0,
    merged: 0,
    verification: 1,
    without: [],
    result_sha256: HASH,
  },
  AGENT_LAND_REFUSED: { ...AGENT, l: null, c: 1, code: "LAND_CONFLICT", paths: ["a"] },
  AGENT_DISCARDED: AGENT,
  AGENT_UNDONE: { ...AGENT, l: 1, paths: ["a"] },
  AGENT_COMMENTED: {
    id: "c_0123456789ab",
    at: { candidate: 1, path: "a", side: "result", from: 1, to: null },
    quote: ["on"],
    text: "Why?",
  },
  AGENT_COMMENT_WITHDRAWN: { id: "c_0123456789ab" },
};

/** Kinds that no frozen run has. */
const RARE: readonly Entry[] = [
  ...Object.entries(AGENT_ENTRIES).map(([kind, body]) => ({ stream: "workflow/run", kind, body })),
  { stream: "context", kind: "SYMBOL_REPLACED", body: { old: SYMBOL, new: SYMBOL } },
  { stream: "context", kind: "SYMBOL_REMOVED", body: SYMBOL },
  {
    stream: "context",
    kind: "REFUSED",
    body: {
      operation: "context.expand",
      code: "BUDGET_BYTES",
      message: "m",
      where: "@DOC/A",
      input: { refs: ["@DOC/A"] },
    },
  },
  {
    stream: "job/job_0123456789abcdef",
    kind: "MESSAGE_REFUSED",
    body: { message: {}, problems: [], run_id: RUN, more_unrecorded: true },
  },
  {
    stream: "job/job_0123456789abcdef",
    kind: "WRITE_INTENT",
    body: { step_id: RUN, base_sha256: HASH, result_sha256: HASH },
  },
  {
    stream: "audit",
    kind: "TOKEN_ADDED",
    body: { name: "mira", role: "reviewer", expires: "2026-12-24T09:00:00.000Z" },
  },
  { stream: "world/w_a", kind: "WORLD_AVATAR_SET", body: { person_id: "ANA", sha256: HASH, media_type: "image/png" } },
  { stream: "audit", kind: "TOKEN_REVOKED", body: { name: "mira" } },
  {
    stream: "audit",
    kind: "REPOSITORY_ADDED",
    body: { id: RUN, name: "harbour", default_branch: "main", roots: ["1".repeat(40)] },
  },
  { stream: "catalytic/run", kind: "MEMO_MISS", body: { key: HASH, reason: "ABSENT" } },
  { stream: "catalytic/run", kind: "MEMO_HIT", body: { key: HASH, source_run_id: "r", source_proof_hash: HASH } },
  { stream: "catalytic/run", kind: "REFUSED", body: { code: "DOMAIN_UNREADABLE", path: "a" } },
  { stream: "catalytic/run", kind: "VIOLATION", body: { code: "OUTSIDE_WRITE", path: "a", fields: ["mode"] } },
  { stream: "catalytic/run", kind: "QUARANTINED", body: { paths: ["out/a"] } },
  { stream: "catalytic/run", kind: "RECOVERED", body: { condition: "RECOVERED_AFTER_CRASH", domains_identical: true } },
  { stream: "catalytic/run", kind: "HALT_ACCEPTED", body: { by: "mira", reason: "it is right now" } },
  { stream: "catalytic/run", kind: "HALT_RESOLVED", body: { domains: ["scratch"] } },
  {
    stream: "catalytic/_rejected",
    kind: "REJECTED",
    body: { run_id: "r", job_id: "j", errors: [{ code: "PATH_EMPTY", pointer: "/cwd" }] },
  },
  {
    stream: "catalytic/_skills",
    kind: "SKILL_RUN",
    body: {
      skill: "s",
      mode: "read_only",
      manifest_sha256: HASH,
      run_id: "r",
      guard: "audit",
      exit_code: 0,
      violations: [],
    },
  },
  { stream: "world/w_a", kind: "WORLD_REFUSED", body: { request_id: "r", code: "REHYDRATION_FAILED", where: null } },
  { stream: "world/w_a", kind: "WORLD_DELETED", body: { world_id: "w_a", erased_below: 4 } },
];

describe("the records of the rooms", () => {
  const frozen = readFrozen();

  it("are there in the frozen runs of every room", () => {
    const kinds = new Set(frozen.map(({ stream, kind }) => `${stream.split("/")[0]} ${kind}`));
    expect([...kinds].sort()).toEqual([
      "catalytic COMPARED",
      "catalytic DECLARED",
      "catalytic EXEC_ENDED",
      "catalytic EXEC_STARTED",
      "catalytic GUARD_SELECTED",
      "catalytic OUTPUTS_SEALED",
      "catalytic PUBLISHED",
      "catalytic RESTORED",
      "catalytic RUN",
      "catalytic SNAPSHOT",
      "context EXPANSION",
      "context INDEX_BUILT",
      "context SYMBOL_ADDED",
      "job BUNDLE_BUILT",
      "job EXPANSION",
      "job MESSAGE_ACCEPTED",
      "job PLAN",
      "job RECEIPT",
      "workflow CONTEXT_PACK",
      "workflow WORKFLOW_EVENT",
      "world WORLD_BEAT",
      "world WORLD_CREATED",
      "world WORLD_PRESENCE_SET",
    ]);
  });

  it("have the shape of their kind, frozen or rare", () => {
    expect([...frozen, ...RARE].map(check).filter((problem) => problem !== null)).toEqual([]);
  });

  it("are refused with a member of the wrong type", () => {
    const broken = RARE.filter(({ kind }) => kind !== "WORLD_REFUSED" && kind !== "MESSAGE_REFUSED").map((entry) => ({
      ...entry,
      body: Object.fromEntries(Object.entries(entry.body).map(([key, value]) => [key, isJsonObject(value) ? 7 : {}])),
    }));
    expect(broken.map(check).filter((problem) => problem === null)).toEqual([]);
  });
});
