import type { ContentStore, SyncCrypto } from "../../../core/ports.ts";
import {
  type AgentRecord,
  planLanding,
  readHunks,
  requireVerified,
  selectChanges,
  toLanding,
  type WantedFile,
} from "../../../rooms/workflow/index.ts";
import type { MadeCandidate } from "../capture/candidate.ts";
import { verificationOf } from "../judge/verified.ts";
import { type LandOptions, lookNow, pickParts, requireLandable, sayMoved } from "../landing/landable.ts";
import type { AgentPorts } from "../ports.ts";
import type { AgentSummary } from "../report/agent-summary.ts";
import { describeLanding, toSummary } from "../report/report.ts";

/**
 * What would become of each file if the change were applied now. It needs no lock: nothing is written to the tree or to
 * the record, and whoever is at work meanwhile is not disturbed.
 */
export async function foreseeLanding(
  outside: AgentPorts,
  record: AgentRecord,
  options: LandOptions,
): Promise<AgentSummary> {
  const { run, now } = record;
  if (now.state === "applied") return toSummary(record);
  const whole = requireLandable(record, options);
  const { candidate } = whole;
  const { landing, crypto } = run.ports;
  const content = inMemory(await outside.content("read"), crypto);
  const files = await pickFiles(record, whole, options, content);
  // A part is judged and verified only when it lands.
  if (files === candidate.files) {
    const verification = verificationOf(record, candidate);
    requireVerified({ run: run.id, kind: candidate.kind, verification, unverified: options.unverified });
  }
  const there = await lookNow(outside, run);
  const base = { tree: candidate.base.tree, objects: run.objects() };
  const plan = await planLanding({ ...landing, content, crypto }, base, files);
  const moved = there.tree === candidate.base.tree ? {} : { moved: await sayMoved(run, candidate, there) };
  const { here } = outside;
  const work_tree = here === null ? {} : { work_tree: { root: here.root, repo_id: here.repo_id } };
  const facts = { l: now.landings + 1, candidate: candidate.c, onto: there, ...moved, ...work_tree };
  const planned = toLanding(plan, facts);
  const verified = files === candidate.files && verificationOf(record, candidate) === "passed";
  return { ...toSummary(record), landing: describeLanding(planned, candidate.base.tree, verified) };
}

/** The files that were chosen, as they would be afterwards. */
async function pickFiles(
  record: AgentRecord,
  whole: MadeCandidate,
  options: LandOptions,
  content: Pick<ContentStore, "get" | "put">,
): Promise<readonly WantedFile[]> {
  const { candidate, patch } = whole;
  const picked = pickParts(record, whole, options);
  if (picked === null) return candidate.files;
  const { crypto, landing } = record.run.ports;
  const hunks = patch === null ? new Map() : readHunks(patch, crypto);
  const ports = { trees: landing.trees, content, crypto };
  const changes = await selectChanges(ports, record.run.base, candidate, hunks, picked);
  return changes.map(({ path, after }) => ({ path, mode: after?.mode ?? null, sha256: after?.sha256 ?? null }));
}

/** A content store whose additions nobody else sees. */
function inMemory(store: Pick<ContentStore, "get">, crypto: SyncCrypto): Pick<ContentStore, "get" | "put"> {
  const added = new Map<string, Uint8Array>();
  return {
    async put(bytes) {
      const hash = crypto.sha256(bytes);
      added.set(hash, bytes);
      return hash;
    },
    get: async (hash) => added.get(hash) ?? (await store.get(hash)),
  };
}
