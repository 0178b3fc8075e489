import { z } from "zod";
import { GUARD_CLASS_NAMES, GUARD_NAMES, GUARD_REQUESTS, RESTORE_METHODS } from "../../../core/contracts/guards.ts";
import { hashHex } from "../../../core/contracts/index.ts";
import { DETERMINISMS } from "./constants.ts";

export const runId = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/);
export const jobId = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,127}$/);
export const size = z.int().min(0);
const mode = z.string().regex(/^[0-7]{4}$/);
const mtime = z.string().regex(/^-?[0-9]{1,20}$/);
export const path = z.string().min(1);
export const time = z
  .string()
  .regex(
    /^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z$/,
  );
export const exitCode = z.int().min(0).max(255).nullable();
export const network = z.enum(["none", "inherit", "allow"]);

const fileEntry = z.strictObject({
  type: z.literal("file"),
  mode,
  size,
  sha256: hashHex,
  link_group: path.optional(),
  mtime_ns: mtime.optional(),
});
const folderEntry = z.strictObject({ type: z.literal("dir"), mode, mtime_ns: mtime.optional() });
const linkEntry = z.strictObject({ type: z.literal("symlink"), target: path, mtime_ns: mtime.optional() });
export const entry = z.union([fileEntry, folderEntry, linkEntry]);
export const tree = z.record(path, entry);
export const manifest = z.record(path, hashHex);
const changed = z.strictObject({ before: entry, after: entry, fields: z.array(z.string()).min(1) });
export const domainDiff = z.strictObject({ added: tree, removed: tree, changed: z.record(path, changed) });

export const output = z.union([fileEntry.extend({ path }), folderEntry.extend({ path }), linkEntry.extend({ path })]);

export const commandResult = z.strictObject({
  executed: z.boolean(),
  exit_code: exitCode,
  signal: z.string().nullable(),
  timed_out: z.boolean(),
  interrupted: z.boolean(),
  orphans_killed: size,
});

export const violation = z.strictObject({ code: z.string(), path: z.string(), fields: z.array(z.string()).optional() });

export const guard = z.strictObject({
  name: z.enum(GUARD_NAMES),
  class: z.enum(GUARD_CLASS_NAMES),
  requested: z.enum(GUARD_REQUESTS),
  network,
  restore_method: z.enum(RESTORE_METHODS),
  blocks: z.array(z.string()),
  detects: z.array(z.string()),
  tripwire: z.strictObject({
    scope: z.enum(["full", "forbidden"]),
    entries: size,
    noise: z.array(z.string()).optional(),
    stat_only_roots: z.array(z.string()).optional(),
  }),
  launcher: z.string().optional(),
});

export const state = z.strictObject({
  exists: z.boolean(),
  content_root: hashHex,
  tree_root: hashHex,
  entries: size,
  bytes: size,
  error: z.string().optional(),
});

export const mismatch = z.strictObject({
  domain: path,
  path,
  type: z.enum(["missing", "extra", "hash_mismatch", "metadata_mismatch"]),
  expected: hashHex.nullable(),
  actual: hashHex.nullable(),
  fields: z.array(z.string()).optional(),
});

export const conditions = z.enum([
  "RESTORED_IDENTICAL",
  "GUARD_VIOLATION",
  "RECOVERED_AFTER_CRASH",
  "INTERRUPTED",
  "COMMAND_TIMED_OUT",
  "COMMAND_FAILED",
  "OUTPUT_VIOLATION",
  "RESTORATION_FAILED_DOMAIN_UNREACHABLE",
  "RESTORATION_FAILED_HASH_MISMATCH",
  "RESTORATION_FAILED_MISSING_FILES",
  "RESTORATION_FAILED_EXTRA_FILES",
  "RESTORATION_FAILED_METADATA_MISMATCH",
]);

export const runInfo = z.strictObject({
  run_id: runId,
  job_id: jobId,
  timestamp: time,
  ended_at: time,
  intent: z.string(),
  catalytic_domains: z.array(path),
  determinism: z.enum(DETERMINISMS),
  exit_code: exitCode,
  restoration_verified: z.boolean(),
  guard: z.string(),
  network,
  tool_version: z.string(),
});
