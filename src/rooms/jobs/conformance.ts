import { encodeUtf8, type JsonObject, type JsonValue } from "../../core/canonical/index.ts";
import { given } from "../../core/conformance-input.ts";
import type { Crypto, SyncCrypto } from "../../core/ports.ts";
import { decodeBase64 } from "../../core/trust/index.ts";
import type { BundleFiles } from "./bundle/bundle-files.ts";
import { toArtifactId, toPlanHash, toRootHash } from "./bundle/bundle-hash.ts";
import { type BundleReport, verifyBundle } from "./bundle/bundle-verify.ts";
import { openMemoryBundle } from "./bundle/memory-bundle.ts";
import { replayBundle } from "./bundle/replay.ts";
import { LeaseTable } from "./conformance-leases.ts";
import { toJobId, toMessageId, toStepId } from "./message/ids.ts";
import { checkMessage } from "./message/message.ts";

interface Ports {
  readonly crypto: SyncCrypto;
}

/** What the areas of the jobs room answer for a vector's input. Problem lists are compared as sets. */
export const JOBS_AREAS = {
  "jobs.message": (input: JsonObject): JsonValue => ({
    problems: checkMessage(input["message"] ?? null).map(({ code, pointer }) => [code, pointer]),
  }),
  "jobs.ids": (input: JsonObject, { crypto }: Ports): JsonValue => {
    const { run_id, message } = input as { run_id: string; message: JsonObject };
    const message_id = toMessageId(crypto, run_id, message);
    const job_id = toJobId(crypto, message_id);
    const ops = message["ops"] as readonly JsonValue[];
    return { message_id, job_id, step_ids: ops.map((_, i) => toStepId(crypto, run_id, job_id, i + 1)) };
  },
  "jobs.artifact-id": async (input: JsonObject, { crypto }: Ports): Promise<JsonValue> => ({
    artifact_id: await toArtifactId(crypto, String(input["ref"]), String(input["slice"])),
  }),
  "jobs.root-hash": async (input: JsonObject, { crypto }: Ports): Promise<JsonValue> => ({
    root_hash: await toRootHash(crypto, given<{ artifact_id: string; sha256: string }[]>(input["artifacts"])),
  }),
  "jobs.plan-hash": (input: JsonObject, { crypto }: Ports): JsonValue => ({
    plan_hash: toPlanHash(crypto, String(input["run_id"]), input["steps"] as JsonObject[]),
  }),
  "jobs.bundle-verify": async (input: JsonObject, { crypto }: Ports): Promise<JsonValue> => {
    const files = openVectorBundle(crypto, input);
    return {
      default: toVerdict(await verifyBundle(crypto, files, { mode: "default" })),
      strict: toVerdict(await verifyBundle(crypto, files, { mode: "strict" })),
    };
  },
  "jobs.replay": async (input: JsonObject, { crypto }: Ports): Promise<JsonValue> => {
    const { jsonl, replay_hash, exit } = await replayBundle(crypto, openVectorBundle(crypto, input), "default");
    return { jsonl, replay_hash, exit };
  },
  "jobs.lease": (input: JsonObject): JsonValue => {
    const { ops, ttl_ms, breach_ordinal = null, events } = given<LeaseInput>(input);
    const table = new LeaseTable(ops, ttl_ms, breach_ordinal);
    const results = events.map((event) => playEvent(table, event) as JsonValue);
    return { results, final: table.statuses };
  },
} as const;

interface LeaseInput {
  readonly ops: readonly ("READ" | "WRITE" | "EXECUTE")[];
  readonly ttl_ms: number;
  readonly breach_ordinal?: number | null;
  readonly events: readonly LeaseEvent[];
}

interface LeaseEvent {
  readonly do: "claim" | "renew" | "commit" | "fail";
  readonly t: number;
  readonly worker: string;
  readonly ordinal: number;
  readonly token: number;
}

function playEvent(table: LeaseTable, { do: what, t, worker, ordinal, token }: LeaseEvent) {
  if (what === "claim") return table.claim(worker, t);
  if (what === "renew") return table.renew(ordinal, { worker, token }, t);
  return table.finish(ordinal, what === "commit" ? "COMMITTED" : "FAILED", { worker, token }, t);
}

function openVectorBundle(crypto: Crypto, input: JsonObject): BundleFiles {
  const files = new Map<string, Uint8Array>();
  for (const [path, text] of Object.entries((input["files"] ?? {}) as JsonObject))
    files.set(path, encodeUtf8(String(text)));
  for (const [path, text] of Object.entries((input["files_b64"] ?? {}) as JsonObject)) {
    files.set(path, decodeBase64(String(text))!);
  }
  const links = new Set(Object.keys((input["symlinks"] ?? {}) as JsonObject));
  const folders = new Set(((input["dirs"] ?? []) as readonly string[]).map((path) => path.replace(/\/$/, "")));
  return openMemoryBundle(crypto, { files, links, folders });
}

function toVerdict({ exit_code, problems }: BundleReport): JsonValue {
  const json_code = problems.find((one) => one.json_code !== undefined)?.json_code;
  return {
    exit: exit_code,
    problems: problems.map(({ code, pointer, path }) => (path === undefined ? [code, pointer] : [code, pointer, path])),
    ...(json_code === undefined ? {} : { json_code }),
  };
}
