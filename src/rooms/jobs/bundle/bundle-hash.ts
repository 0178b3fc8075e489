import {
  compareCodePoints,
  encodeCanonical,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../core/canonical/index.ts";
import type { Awaitable, Crypto, SyncCrypto } from "../../../core/ports.ts";

const ARTIFACT_ID_LENGTH = 16;
const STEP_MEMBERS = ["step_id", "ordinal", "op", "refs", "constraints", "expected_outputs"] as const;

/** First 16 hex digits of the hash of `ref_slice`. */
export async function toArtifactId(crypto: Crypto, ref: string, slice: string): Promise<string> {
  return (await crypto.sha256(`${ref}_${slice}`)).slice(0, ARTIFACT_ID_LENGTH);
}

/** Bundle Protocol 4.1: over `artifact_id:sha256` lines sorted by id. */
export function toRootHash(
  crypto: Crypto,
  artifacts: readonly { readonly artifact_id: string; readonly sha256: string }[],
): Awaitable<string> {
  const sorted = [...artifacts].sort((a, b) => compareCodePoints(a.artifact_id, b.artifact_id));
  return crypto.sha256(`${sorted.map(({ artifact_id, sha256 }) => `${artifact_id}:${sha256}`).join("\n")}\n`);
}

/** Bundle Protocol 4.2: over the manifest with its own id and root emptied; `likely` is about how long it is. */
export function toBundleId(crypto: Crypto, manifest: JsonObject, likely?: number): Awaitable<string> {
  const hashes = isJsonObject(manifest["hashes"]) ? manifest["hashes"] : {};
  const emptied = { ...copy(manifest), bundle_id: "", hashes: { ...copy(hashes), root_hash: "" } };
  return crypto.sha256(encodeCanonical(emptied, likely));
}

/** Bundle Protocol 4.3: over the steps in order, six members each, absent ones as `{}`. */
export function toPlanHash(crypto: SyncCrypto, runId: string, steps: readonly JsonObject[]): string;
export function toPlanHash(crypto: Crypto, runId: string, steps: readonly JsonObject[]): Awaitable<string>;
export function toPlanHash(crypto: Crypto, runId: string, steps: readonly JsonObject[]): Awaitable<string> {
  const sorted = [...steps].sort(compareSteps).map((step) => {
    const members = STEP_MEMBERS.map((name) => [name, Object.hasOwn(step, name) ? step[name]! : {}] as const);
    return Object.fromEntries(members);
  });
  return crypto.sha256(encodeCanonical({ run_id: runId, steps: sorted }));
}

/** By ordinal as an integer of any size, then by id. */
export function compareSteps(a: JsonObject, b: JsonObject): number {
  const [x, y] = [a["ordinal"] as number | bigint, b["ordinal"] as number | bigint];
  if (x !== y) return x < y ? -1 : 1;
  return compareCodePoints(String(a["step_id"]), String(b["step_id"]));
}

// Object literals give `__proto__` a meaning; a copy without a prototype keeps it as a key.
function copy(object: JsonObject): JsonObject {
  return Object.assign(Object.create(null) as JsonObject, object) satisfies JsonValue;
}
